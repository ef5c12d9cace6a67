package page

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

// luminance is that of a colour as #rrggbb, as WCAG defines it.
func luminance(t *testing.T, hex string) (l float64) {
	t.Helper()
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		l += weight * c
	}
	return l
}

// Verdicts are read on white and on the dark ground of browsers: WCAG asks for a contrast of 4.5.
func TestVerdictsHaveContrast(t *testing.T) {
	of := regexp.MustCompile(`\.(accepted|refused|undecided) \{ color: (#\w{6}) \}`).FindAllStringSubmatch(text, -1)
	if len(of) != 6 {
		t.Fatalf("%d colours of verdicts, want three on light and three on dark ground", len(of))
	}
	for i, m := range of {
		ground := []string{"#ffffff", "#121212"}[i/3]
		a, b := luminance(t, m[2])+0.05, luminance(t, ground)+0.05
		if r := max(a/b, b/a); r < 4.5 {
			t.Errorf("%s: %s on %s has a contrast of %.1f", m[1], m[2], ground, r)
		}
	}
}

// The band of a column of two values, which has one cut, is a line: without a stroke it is not seen.
func TestABandOfOneCutIsSeen(t *testing.T) {
	if !regexp.MustCompile(`\.band \{[^}]*stroke: #`).MatchString(text) {
		t.Error("the band has no stroke")
	}
}
