package figures

import "testing"

// Paths of one style in a row are one, unless what is below shines through; what stands between
// two paths keeps its place.
func TestPathsOfOneStyleAreJoined(t *testing.T) {
	path := func(d, style string) string { return `<path d="` + d + `" style="` + style + "\" />\n" }
	const red, blue, glass = "fill:red", "fill:blue", "fill:red;fill-opacity:0.2"
	text := "<text>a</text>\n"
	svg := "<g>\n" + path("A", red) + path("B", red) + path("C", blue) + text + path("D", blue) +
		path("E", glass) + path("F", glass) + path("G", red) + "</g>"
	want := "<g>\n" + path("AB", red) + path("C", blue) + text + path("D", blue) +
		path("E", glass) + path("F", glass) + path("G", red) + "</g>"
	if got := string(joinPaths([]byte(svg))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, same := range []string{"", "<g></g>", path("A", red), text + text} {
		if got := string(joinPaths([]byte(same))); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
}
