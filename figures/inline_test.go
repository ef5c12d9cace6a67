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

// What is drawn stays: each step ends where it ended, to a tenth of a point.
func TestPathsOfAPageAreShort(t *testing.T) {
	for d, want := range map[string]string{
		` d="M1.04,2.06L3,4.5L3,6L-1.5,6Z"`: ` d="m1 2.1l2 2.4v1.5h-4.5z"`,
		// After Z the pen is where the subpath began, from which the next one counts.
		` d="M5,5L6,6L7,5ZM8,7L9,8"`:                           ` d="m5 5l1 1l1-1zm3 2l1 1"`,
		` d="M4.2,3A2.2,2.2 0 1 1 -0.2,3A2.2,2.2 0 0 0 4.2,3"`: ` d="m4.2 3a2.2 2.2 0 1 1-4.4 0a2.2 2.2 0 0 0 4.4 0"`,
		` d="M1,1Q2,3,4,1C5,0,6,0.5,7,1e-05"`:                  ` d="m1 1q1 2 3 0c1-1 2-0.5 3-1"`,
		` d="M1,1LNaN,2"`:                                      ` d="m1 1LNaN,2"`, // as it was
	} {
		if got := string(shorten([]byte(d))); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
