package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"

	"hambench/figures"
)

// The layout of a chart, in the units of its view box.
const (
	chartWidth, chartHeight = 320.0, 230.0
	chartLeft, chartRight   = 44.0, 8.0
	chartTop, chartBottom   = 8.0, 34.0
	lostStrip               = 14.0 // for points without a value, above the axis
)

// chart draws a panel as SVG in the page: a group per series, a mark per point
// that says its numbers, so that the page needs no script to be read.
type chart struct {
	*figures.Panel
	strings.Builder
	labels map[string]string // of series, as the legend has them
	lanes  []string          // figures.Lanes
	top    float64           // of the axis
}

// newChart returns the SVG of a panel with a legend.
func newChart(p *figures.Panel, legend []figures.Entry) template.HTML {
	c := &chart{Panel: p, labels: make(map[string]string), lanes: figures.Lanes(legend), top: chartTop}
	for _, e := range legend {
		c.labels[e.Name] = e.Label
	}
	if p.Y.Lost != "" {
		c.top += lostStrip
	}
	c.printf(`<svg class="chart" viewBox="0 0 %g %g" role="img" tabindex="0" aria-label="%s">`, chartWidth, chartHeight,
		html.EscapeString(p.Title+": "+p.Y.Title()+" against "+p.X.Title()))
	c.axes()
	for _, s := range p.Series {
		c.band(s)
	}
	for _, s := range p.Series {
		c.series(s)
	}
	c.printf(`</svg>`)
	return template.HTML(c.String())
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// x and y are where a value stands.
func (c *chart) x(v float64) float64 {
	return chartLeft + c.X.Fraction(v)*(chartWidth-chartLeft-chartRight)
}

func (c *chart) y(v float64) float64 {
	return c.top + (1-c.Y.Fraction(c.Y.Clamp(v)))*(chartHeight-c.top-chartBottom)
}

func (c *chart) axes() {
	bottom, right := chartHeight-chartBottom, chartWidth-chartRight
	if c.Y.Lost != "" {
		c.printf(`<rect class="strip" x="%g" y="%g" width="%g" height="%g"/>`, chartLeft, chartTop, right-chartLeft, lostStrip)
		c.printf(`<text class="tick" x="%g" y="%g">%s</text>`, chartLeft+3, chartTop+lostStrip-3.5, html.EscapeString(c.Y.Lost))
	}
	for _, t := range c.Y.Place(bottom-c.top, true) {
		if t.Label == "" {
			continue
		}
		at := c.y(t.Value)
		c.printf(`<path class="grid" d="M%g %.1fH%g"/><text class="tick" x="%g" y="%.1f" text-anchor="end">%s</text>`, chartLeft, at, right, chartLeft-4, at+3.5, t.Label)
	}
	for _, t := range c.X.Place(right-chartLeft, false) {
		at := c.x(t.Value)
		c.printf(`<path class="axis" d="M%.1f %gv3"/>`, at, bottom)
		if t.Label != "" {
			c.printf(`<text class="tick" x="%.1f" y="%g" text-anchor="middle">%s</text>`, at, bottom+13, t.Label)
		}
	}
	c.printf(`<path class="axis" d="M%g %gV%gH%g"/>`, chartLeft, chartTop, bottom, right)
	c.printf(`<text class="label" x="%g" y="%g" text-anchor="middle">%s</text>`, (chartLeft+right)/2, chartHeight-5, html.EscapeString(c.X.Title()))
	c.printf(`<text class="label" transform="translate(10 %g) rotate(-90)" text-anchor="middle">%s</text>`, (c.top+bottom)/2, html.EscapeString(c.Y.Title()))
}

// band fills what lies between a series's edges.
func (c *chart) band(s figures.Series) {
	for _, at := range c.Stretches(s) {
		if s.Low == nil || s.Style.Fill == 0 || at[1]-at[0] < 2 {
			continue
		}
		var high, low string
		for i := at[0]; i < at[1]; i++ {
			high += fmt.Sprintf("L%.1f %.1f", c.x(s.X[i]), c.y(s.High[i]))
			low = fmt.Sprintf("L%.1f %.1f", c.x(s.X[i]), c.y(s.Low[i])) + low
		}
		c.printf(`<path class="band"%s style="fill:%s" d="M%s%sZ"/>`, c.name(s), s.Style.Fill, high[1:], low)
	}
}

// name marks what belongs to a series, for the script to switch.
func (c *chart) name(s figures.Series) string {
	if s.Name == "" {
		return ""
	}
	return ` data-line="` + html.EscapeString(s.Name) + `"`
}

// series draws a line without its gaps, and its points.
func (c *chart) series(s figures.Series) {
	c.printf(`<g%s style="color:%s">`, c.name(s), s.Style.Color)
	var line string
	for _, at := range c.Stretches(s) {
		for i, command := at[0], "M"; i < at[1]; i, command = i+1, "L" {
			line += fmt.Sprintf("%s%.1f %.1f", command, c.x(s.X[i]), c.y(s.Y[i]))
		}
	}
	if s.Style.Width > 0 && line != "" {
		c.printf(`<path class="line"%s d="%s"/>`, dashes(s.Style), line)
	}
	if s.Style.Marker != "" {
		for i := range s.X {
			c.point(s, i)
		}
	}
	c.printf(`</g>`)
}

// dashes is the attribute of a dashed line.
func dashes(s figures.Style) string {
	if len(s.Dashes) == 0 {
		return ""
	}
	return fmt.Sprintf(` stroke-dasharray="%s"`, strings.Trim(fmt.Sprint(s.Dashes), "[]"))
}

// point draws one point with its numbers: a mark, a cross on the strip where all
// its chains were lost, a ring where some were.
func (c *chart) point(s figures.Series, i int) {
	lost := 0.0
	if s.Lost != nil {
		lost = s.Lost[i]
	}
	if lost > 0 && c.X.Shows(s.X[i]) {
		lane := float64(slices.Index(c.lanes, s.Name)) - float64(len(c.lanes)-1)/2
		x := c.x(s.X[i]) + lane*min(7, 24/float64(max(1, len(c.lanes))))
		c.printf(`<path class="lost" d="%s"><title>%s</title></path>`, lostMark(x, chartTop+lostStrip/2, lost), html.EscapeString(c.reading(s, i, lost)))
	}
	if lost == 1 || !c.Shown(s, i) {
		return
	}
	c.printf(`<path %s><title>%s</title></path>`, mark(s.Style.Marker, c.x(s.X[i]), c.y(s.Y[i])), html.EscapeString(c.reading(s, i, lost)))
}

// reading is what a point says: its values, its band, the local slope where axes
// are logarithmic, and what was lost.
func (c *chart) reading(s figures.Series, i int, lost float64) string {
	name := s.Name
	if l := c.labels[s.Name]; l != "" {
		name = l
	}
	if s.Points != nil {
		name = s.Points[i] + ": " + name
	}
	parts := []string{name, fmt.Sprintf("%s = %.4g", c.X.Label, s.X[i])}
	switch {
	case lost == 1:
		return strings.Join(append(parts, c.Y.Lost), ", ")
	case lost > 0:
		parts = append(parts, fmt.Sprintf("%.0f %% %s", 100*lost, c.Y.Lost))
	}
	value := fmt.Sprintf("%s = %.4g", c.Y.Label, s.Y[i])
	if s.Low != nil && s.High[i] > s.Low[i] {
		value += fmt.Sprintf(" (%.3g to %.3g)", s.Low[i], s.High[i])
	}
	parts = append(parts, value)
	if i > 0 && c.X.Log && c.Shown(s, i-1) && c.Shown(s, i) && s.Y[i] > 0 && s.Y[i-1] > 0 {
		parts = append(parts, fmt.Sprintf("local slope %.2f", math.Log(s.Y[i]/s.Y[i-1])/math.Log(s.X[i]/s.X[i-1])))
	}
	return strings.Join(parts, ", ")
}

// lostMark is a cross for all, a ring for some.
func lostMark(x, y, share float64) string {
	const r = 3.0
	if share == 1 {
		return fmt.Sprintf("M%.1f %.1fl%g %gm%g 0l%g %g", x-r, y-r, 2*r, 2*r, -2*r, 2*r, -2*r)
	}
	return circlePath(x, y, r)
}

func circlePath(x, y, r float64) string {
	return fmt.Sprintf("M%.1f %.1fa%g %g 0 1 0 %g 0a%g %g 0 1 0 %g 0Z", x-r, y, r, r, 2*r, r, r, -2*r)
}

// mark are the attributes of a point's path: what it looks like and its outline.
func mark(m figures.Marker, x, y float64) string {
	r := 3.2
	corners, open := m.Shape()
	class, outline := "point", ""
	if open {
		class = "point open"
	}
	for _, p := range corners {
		outline += fmt.Sprintf("L%.1f %.1f", x+r*float64(p.X), y-r*float64(p.Y))
	}
	switch {
	case m == figures.Dot:
		outline = circlePath(x, y, r/2)
	case corners == nil:
		outline = circlePath(x, y, r)
	default:
		outline = "M" + outline[1:] + "Z"
	}
	return fmt.Sprintf(`class="%s" d="%s"`, class, outline)
}

// swatch is a sample of a legend's entry.
func swatch(e figures.Entry) template.HTML {
	c := &chart{}
	c.printf(`<svg class="swatch" viewBox="0 0 26 12" aria-hidden="true">`)
	if e.Style.Fill != 0 {
		c.printf(`<rect width="26" height="12" style="fill:%s"/>`, e.Style.Fill)
	}
	c.printf(`<g style="color:%s">`, e.Style.Color)
	if e.Style.Width > 0 {
		c.printf(`<path class="line"%s d="M0 6H26"/>`, dashes(e.Style))
	}
	switch {
	case e.Lost > 0:
		c.printf(`<path class="lost" d="%s"/>`, lostMark(13, 6, e.Lost))
	case e.Style.Marker != "":
		c.printf(`<path %s/>`, mark(e.Style.Marker, 13, 6))
	}
	c.printf(`</g></svg>`)
	return template.HTML(c.String())
}
