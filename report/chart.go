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
	lanes  []string          // series, in the order in which marks of lost points stand side by side
	top    float64           // of the axis
}

// newChart returns the SVG of a panel with a legend.
func newChart(p *figures.Panel, legend []figures.Entry) template.HTML {
	c := &chart{Panel: p, labels: make(map[string]string), top: chartTop}
	for _, e := range legend {
		c.labels[e.Name] = e.Label
		if e.Name != "" && e.Style.Marker != "" {
			c.lanes = append(c.lanes, e.Name)
		}
	}
	if p.Y.Lost != "" {
		c.top += lostStrip
	}
	c.printf(`<svg class="chart" viewBox="0 0 %g %g" role="img" tabindex="0" aria-label="%s">`, chartWidth, chartHeight,
		html.EscapeString(p.Title+": "+p.Y.Title()+" against "+p.X.Title()))
	c.axes()
	for i := range p.Series {
		c.band(&p.Series[i])
	}
	for i := range p.Series {
		c.series(&p.Series[i])
	}
	c.printf(`</svg>`)
	return template.HTML(c.String())
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// x and y are where a value stands.
func (c *chart) x(v float64) float64 {
	return chartLeft + fraction(c.X, v)*(chartWidth-chartLeft-chartRight)
}

func (c *chart) y(v float64) float64 {
	v = min(max(v, c.Y.Low), c.Y.High)
	return c.top + (1-fraction(c.Y, v))*(chartHeight-c.top-chartBottom)
}

// fraction is the place of a value on an axis, from 0 to 1.
func fraction(a figures.Axis, v float64) float64 {
	if a.Log {
		return math.Log(v/a.Low) / math.Log(a.High/a.Low)
	}
	return (v - a.Low) / (a.High - a.Low)
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

// shown reports whether a point has a place.
func (c *chart) shown(s *figures.Series, i int) bool {
	on := func(a figures.Axis, v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0) }
	return on(c.X, s.X[i]) && on(c.Y, s.Y[i])
}

// band fills what lies between a series's edges.
func (c *chart) band(s *figures.Series) {
	if s.Low == nil || s.Style.Fill == 0 {
		return
	}
	var shown []int
	for i := range s.X {
		if c.shown(s, i) && !math.IsNaN(s.Low[i]) && !math.IsNaN(s.High[i]) {
			shown = append(shown, i)
		}
	}
	if len(shown) < 2 {
		return
	}
	var d strings.Builder
	for _, i := range shown {
		fmt.Fprintf(&d, "L%.1f %.1f", c.x(s.X[i]), c.y(s.High[i]))
	}
	for _, i := range slices.Backward(shown) {
		fmt.Fprintf(&d, "L%.1f %.1f", c.x(s.X[i]), c.y(s.Low[i]))
	}
	c.printf(`<path class="band"%s style="fill:%s" d="M%sZ"/>`, c.name(s), css(s.Style.Fill), d.String()[1:])
}

// name marks what belongs to a series, for the script to switch.
func (c *chart) name(s *figures.Series) string {
	if s.Name == "" {
		return ""
	}
	return ` data-line="` + html.EscapeString(s.Name) + `"`
}

func (c *chart) series(s *figures.Series) {
	color := css(s.Style.Color)
	c.printf(`<g%s style="color:%s">`, c.name(s), color)
	if s.Style.Width > 0 {
		c.line(s)
	}
	if s.Style.Marker != "" {
		for i := range s.X {
			c.point(s, i)
		}
	}
	c.printf(`</g>`)
}

// line draws a series without its gaps.
func (c *chart) line(s *figures.Series) {
	var d strings.Builder
	command := "M"
	for i := range s.X {
		if !c.shown(s, i) {
			command = "M"
			continue
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", command, c.x(s.X[i]), c.y(s.Y[i]))
		command = "L"
	}
	dashes := ""
	if len(s.Style.Dashes) > 0 {
		dashes = fmt.Sprintf(` stroke-dasharray="%s"`, strings.Trim(fmt.Sprint(s.Style.Dashes), "[]"))
	}
	if d.Len() > 0 {
		c.printf(`<path class="line"%s d="%s"/>`, dashes, d.String())
	}
}

// point draws one point with its numbers: a mark, a cross on the strip where all
// its chains were lost, a ring where some were.
func (c *chart) point(s *figures.Series, i int) {
	lost := 0.0
	if s.Lost != nil {
		lost = s.Lost[i]
	}
	if lost > 0 && !math.IsNaN(s.X[i]) {
		lane := float64(slices.Index(c.lanes, s.Name)) - float64(len(c.lanes)-1)/2
		x := c.x(s.X[i]) + lane*min(7, 24/float64(max(1, len(c.lanes))))
		c.printf(`<path class="lost" d="%s"><title>%s</title></path>`, lostMark(x, chartTop+lostStrip/2, lost), html.EscapeString(c.reading(s, i, lost)))
	}
	if lost == 1 || !c.shown(s, i) {
		return
	}
	d, open := mark(string(s.Style.Marker), c.x(s.X[i]), c.y(s.Y[i]))
	class := "point"
	if open {
		class = "point open"
	}
	c.printf(`<path class="%s" d="%s"><title>%s</title></path>`, class, d, html.EscapeString(c.reading(s, i, lost)))
}

// reading is what a point says: its values, its band, the local slope where axes
// are logarithmic, and what was lost.
func (c *chart) reading(s *figures.Series, i int, lost float64) string {
	name := s.Name
	if l := c.labels[s.Name]; l != "" {
		name = l
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
	if i > 0 && c.X.Log && c.shown(s, i-1) && c.shown(s, i) && s.Y[i] > 0 && s.Y[i-1] > 0 {
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

// mark is the outline of a marker, and whether it is not filled.
func mark(shape string, x, y float64) (d string, open bool) {
	const r = 3.2
	shape, open = strings.CutPrefix(shape, "open ")
	switch shape {
	case "square":
		return fmt.Sprintf("M%.1f %.1fh%gv%gh%gZ", x-r*0.9, y-r*0.9, 1.8*r, 1.8*r, -1.8*r), open
	case "triangle":
		return fmt.Sprintf("M%.1f %.1fl%g %gh%gZ", x, y-1.25*r, 1.1*r, 2*r, -2.2*r), open
	case "nabla":
		return fmt.Sprintf("M%.1f %.1fl%g %gh%gZ", x, y+1.25*r, 1.1*r, -2*r, -2.2*r), open
	case "diamond":
		return fmt.Sprintf("M%.1f %.1fl%g %gl%g %gl%g %gZ", x, y-1.3*r, r, 1.3*r, -r, 1.3*r, -r, -1.3*r), open
	case "dot":
		return circlePath(x, y, 1.6), open
	}
	return circlePath(x, y, r), open
}

// css is a colour as style sheets have it.
func css(c figures.Color) string { return fmt.Sprintf("#%08x", uint32(c)) }

// swatch is a sample of a legend's entry.
func swatch(e figures.Entry) template.HTML {
	c := &chart{}
	c.printf(`<svg class="swatch" viewBox="0 0 26 12" aria-hidden="true">`)
	if e.Style.Fill != 0 {
		c.printf(`<rect width="26" height="12" style="fill:%s"/>`, css(e.Style.Fill))
	}
	c.printf(`<g style="color:%s">`, css(e.Style.Color))
	if e.Style.Width > 0 {
		dashes := strings.Trim(fmt.Sprint(e.Style.Dashes), "[]")
		c.printf(`<path class="line" stroke-dasharray="%s" d="M0 6H26"/>`, dashes)
	}
	switch {
	case e.Lost > 0:
		c.printf(`<path class="lost" d="%s"/>`, lostMark(13, 6, e.Lost))
	case e.Style.Marker != "":
		d, open := mark(string(e.Style.Marker), 13, 6)
		class := "point"
		if open {
			class = "point open"
		}
		c.printf(`<path class="%s" d="%s"/>`, class, d)
	}
	c.printf(`</g></svg>`)
	return template.HTML(c.String())
}
