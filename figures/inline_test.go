package figures

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
)

// A page gets the drawing of the file, with the numbers of every point, and without
// what the page says itself.
func TestInlineFiguresStateTheNumbersOfTheirPoints(t *testing.T) {
	f := &Figure{
		ID: "f", Title: `Errors & "orders"`, Warning: "a warning", Caption: "a caption", width: 200, height: 150,
		legend: []legendEntry{{Name: "a", Label: "leapfrog", Style: categorical(0)}},
		panels: [][]*panel{{{
			X: axis{Label: "η", Log: true, Low: 0.01, High: 0.1}, Y: axis{Label: "error", Log: true, Low: 0.001, High: 1, Lost: "unstable"},
			Series: []curve{{
				Name: "a", Style: categorical(0), X: []float64{0.02, 0.04, 0.08}, Y: []float64{0.01, 0.04, math.NaN()}, Low: []float64{0.005, 0.04, math.NaN()},
				High: []float64{0.02, 0.04, math.NaN()}, Lost: []float64{0, 0.5, 1},
			}},
		}, nil, {X: axis{Label: "η", Log: true, Low: 0.01, High: 0.1}, Y: axis{Label: "bias", High: 1, Ticks: 2}}}},
	}
	inline, err := f.Inline()
	if err != nil {
		t.Fatal(err)
	}
	got := string(inline)
	for want, n := range map[string]int{
		"<title>leapfrog, η = 0.02, error = 0.01 (0.005 to 0.02)</title>":                  1,
		"<title>leapfrog, η = 0.04, 50 % unstable, error = 0.04, local slope 2.00</title>": 2, // and on the strip
		"<title>leapfrog, η = 0.08, unstable</title>":                                      1,
		`aria-label="Errors &amp; &#34;orders&#34;: error against η; bias against η"`:      1,
		"a warning": 0, "a caption": 0, "font-family": 0, "#FFFFFF": 0, "<?xml": 0, "</svg>": 1,
	} {
		if k := strings.Count(got, want); k != n {
			t.Errorf("%q is there %d times, want %d", want, k, n)
		}
	}
	if fine := regexp.MustCompile(` d="[^"]*[0-9]\.[0-9]{2}`).FindString(got); fine != "" {
		t.Errorf("a path has a number finer than a tenth of a point: %.80s", fine)
	}
	file, err := f.layout().svg()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file, []byte("<title>")) || !bytes.Contains(file, []byte("a caption")) {
		t.Error("the file has a page's titles, or lacks its caption")
	}
}
