package page

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hambench/compare"
)

// pageOf is the page of one comparison of n columns.
func pageOf(t *testing.T, n int) string {
	t.Helper()
	row := Row{Posterior: "p", Of: "draws.csv"}
	for i := range n {
		row.Columns = append(row.Columns, compare.Column{Name: fmt.Sprint("theta.", i)})
	}
	var b bytes.Buffer
	if err := Write(&b, []Row{row}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A page that shows the worst columns alone says so, and of how many they are.
func TestThePageSaysOfHowManyColumnsTheWorstAreShown(t *testing.T) {
	for n, want := range map[int][2]bool{9: {}, 10: {true, false}, 120: {true, true}} {
		html := pageOf(t, n)
		drawn, listed := fmt.Sprintf("Of %d columns the 9 worst are drawn.", n), fmt.Sprintf("Of %d columns the 100 worst are listed.", n)
		if got := [2]bool{strings.Contains(html, drawn), strings.Contains(html, listed)}; got != want || strings.Count(html, "<svg") != min(n, 9) {
			t.Errorf("%d columns, %d drawn: the page says so of curves and of rows: %t, want %t", n, strings.Count(html, "<svg"), got, want)
		}
	}
}

// Headings step by one, heads of tables are of their columns, and boxes that scroll are reached by
// the keyboard.
func TestThePageHasLandmarks(t *testing.T) {
	html := pageOf(t, 3)
	if strings.Count(html, "<main>") != 1 || !strings.Contains(html, "<h2>") || strings.Contains(html, "<h3") {
		t.Error("want a main part, and headings of the second level below the first")
	}
	if strings.Contains(html, "<th>") || strings.Count(html, `class="scroll"`) != strings.Count(html, `class="scroll" tabindex="0" role="group" aria-label=`) {
		t.Error("a head of a table has no scope, or a box that scrolls cannot be reached")
	}
}

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
