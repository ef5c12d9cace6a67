// Package page writes reports of package compare as an HTML file that needs no other: verdicts,
// power, and the differences of distribution functions with their bands.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"hambench/compare"
)

// Row is one comparison: of some draws with a posterior's reference.
type Row struct {
	Posterior string `json:"posterior"`
	Of        string `json:"of"` // the file of the draws
	compare.Report
}

//go:embed page.html
var text string

var tmpl = template.Must(template.New("page").Funcs(template.FuncMap{
	"curves": curves, "number": number, "names": compare.Listed, "size": size,
	"worst":  func(c []compare.Column) []compare.Column { return c[:min(len(c), maxRows)] },
	"beyond": beyond,
	"drawn":  func() int { return maxCurves }, "listed": func() int { return maxRows },
}).Parse(text))

// maxRows is how many columns a table has, maxCurves how many are drawn.
const maxRows, maxCurves = 100, 9

// beyond says of how many columns the worst are shown, if not all of them are.
func beyond(columns []compare.Column, most int, shown string) string {
	if len(columns) <= most {
		return ""
	}
	return fmt.Sprintf("Of %d columns the %d worst are %s.", len(columns), most, shown)
}

// Write writes the page of one comparison or, with a row for each, of several. Of several, the
// details are folded.
func Write(w io.Writer, rows []Row) error { return tmpl.Execute(w, rows) }

// number writes a number with four digits.
func number(x float64) string { return fmt.Sprintf("%.4g", x) }

// size is an effective size; – where nothing was tested.
func size(x float64) string {
	if x == 0 {
		return "–"
	}
	return number(x)
}

// Of one panel, in points: its size, the margins for the labels of the vertical axis and the
// column's name, and the width of what is drawn within.
const (
	width, height = 260.0, 150.0
	left, top     = 44.0, 20.0
	inner         = width - left - 8
)

// curves draws the difference of the distribution functions of the worst columns over the
// reference's share of draws below, with simultaneous bands; all panels have one scale.
func curves(columns []compare.Column) template.HTML {
	columns = columns[:min(len(columns), maxCurves)]
	largest := 0.01 // of the scale: not all of it for rounding
	for _, c := range columns {
		for _, p := range c.Curve {
			largest = max(largest, math.Abs(p.Difference), p.Band)
		}
	}
	var b strings.Builder
	for _, c := range columns {
		// In points of the panel: x is where a share lies, from 0 at the left to 1, and y where a
		// difference does, positive ones above the middle.
		x := func(share float64) float64 { return left + inner*share }
		middle := top + (height-top-26)/2 // where the difference is 0; 26 points are below the axis
		y := func(d float64) float64 { return middle - d/largest*(middle-top) }
		// The band is one polygon: its upper edge from left to right, the lower one back. The line
		// starts and ends at 0, as differences of distribution functions do.
		var line, upper, lower strings.Builder
		fmt.Fprintf(&line, "%.1f,%.1f ", x(0), y(0))
		for _, p := range c.Curve {
			fmt.Fprintf(&line, "%.1f,%.1f ", x(p.Share), y(p.Difference))
			fmt.Fprintf(&upper, "%.1f,%.1f ", x(p.Share), y(p.Band))
		}
		for i := len(c.Curve) - 1; i >= 0; i-- {
			fmt.Fprintf(&lower, "%.1f,%.1f ", x(c.Curve[i].Share), y(-c.Curve[i].Band))
		}
		fmt.Fprintf(&line, "%.1f,%.1f", x(1), y(0))
		// Argument 4 is the column's name, which stands twice; a verb without a number takes the
		// argument behind the last one.
		fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" width="%g" role="img" aria-label="%[4]s">`+
			`<text x="%g" y="13" class="name">%[4]s</text>`+
			`<polygon points="%[6]s%[7]s" class="band"/>`+
			`<path d="M%.1f,%.1fH%.1f" class="zero"/><polyline points="%s" class="line"/>`,
			width, height, width, template.HTMLEscapeString(c.Name), left, upper.String(),
			lower.String(), x(0), y(0), x(1), line.String())
		for _, d := range []float64{-largest, 0, largest} {
			fmt.Fprintf(&b, `<text x="%g" y="%.1f" class="y">%.2g</text>`, left-5, y(d)+4, d)
		}
		for _, share := range []float64{0, 0.5, 1} {
			fmt.Fprintf(&b, `<text x="%.1f" y="%g" class="x">%g</text>`, x(share), height-8, share)
		}
		b.WriteString("</svg>\n")
	}
	return template.HTML(b.String())
}
