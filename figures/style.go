package figures

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Font sizes in points.
const (
	titleSize   = 12
	labelSize   = 10
	legendSize  = 9.5
	panelSize   = 9.5
	tickSize    = 8.5
	captionSize = 8.5
)

// The greys of what is no data, and the colour of warnings.
var (
	ink       = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	axisGrey  = color.NRGBA{R: 0x66, G: 0x66, B: 0x66, A: 0xff}
	selfGrey  = color.NRGBA{R: 0x7f, G: 0x7f, B: 0x7f, A: 0xff}
	bandGrey  = color.NRGBA{R: 0xe9, G: 0xe9, B: 0xe9, A: 0xff}
	gridGrey  = color.NRGBA{R: 0xf0, G: 0xf0, B: 0xf0, A: 0xff}
	stripGrey = color.NRGBA{R: 0xfb, G: 0xf3, B: 0xea, A: 0xff}
	warning   = color.NRGBA{R: 0xb0, G: 0x3a, B: 0x00, A: 0xff}
)

// okabeIto are the colours of Okabe & Ito, Color Universal Design (2008),
// that are dark enough for a line on white.
var okabeIto = []color.NRGBA{
	{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
	{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermilion
	{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // bluish green
	{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // reddish purple
	{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
	{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky blue
	{R: 0x22, G: 0x22, B: 0x22, A: 0xff}, // black
}

// viridis are ten stops of the map of Smith & van der Walt (matplotlib, 2015).
var viridis = []color.NRGBA{
	{R: 0x44, G: 0x01, B: 0x54, A: 0xff}, {R: 0x48, G: 0x28, B: 0x78, A: 0xff}, {R: 0x3e, G: 0x49, B: 0x89, A: 0xff},
	{R: 0x31, G: 0x68, B: 0x8e, A: 0xff}, {R: 0x26, G: 0x82, B: 0x8e, A: 0xff}, {R: 0x1f, G: 0x9e, B: 0x89, A: 0xff},
	{R: 0x35, G: 0xb7, B: 0x79, A: 0xff}, {R: 0x6e, G: 0xce, B: 0x58, A: 0xff}, {R: 0xb5, G: 0xde, B: 0x2b, A: 0xff},
	{R: 0xfd, G: 0xe7, B: 0x25, A: 0xff},
}

// brightest is how far up the viridis map lines go: beyond, they are too
// light for white paper.
const brightest = 0.86

// interpolate returns the colour at t in [0, 1] between the stops.
func interpolate(stops []color.NRGBA, t float64) color.NRGBA {
	at := min(max(t, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	f := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-f) + float64(b)*f)) }
	a, b := stops[i], stops[i+1]
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff}
}

// look is how one line of a figure is drawn.
type look struct {
	color  color.NRGBA
	dashes []vg.Length
	marker marker
}

// stroke is the style of the line.
func (l look) stroke() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: lineWidth, Dashes: l.dashes}
}

// dashings and markers distinguish lines without colour: in print, and for
// readers who do not see it.
var dashings = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}, {9, 2.5}, {3, 1.5}, {6, 1.5, 1.5, 1.5, 1.5, 1.5}}

// categorical returns the i-th of the looks for unordered names. After one
// round the colours come again with other dashes and markers.
func categorical(i int) look {
	shift := 2 * (i / len(okabeIto))
	return look{color: okabeIto[i%len(okabeIto)], dashes: dashings[(i+shift)%len(dashings)], marker: markers[(i+shift)%len(markers)]}
}

// sequential returns the i-th of n looks for ordered values: from dark to
// light along viridis.
func sequential(i, n int) look {
	t := 0.0
	if n > 1 {
		t = float64(i) / float64(n-1)
	}
	return look{color: interpolate(viridis, t*brightest), marker: markers[i%filledMarkers]}
}

// integratorLooks keeps an integrator's look the same in every figure: the
// place in the list. sghmc, whose results are nearly leapfrog's, gets an open
// marker.
var integratorLooks = []string{
	"leapfrog", "lietrotter", "symmetric", "mt3", "euler", "rk2", "sghmc",
	"baoab", "aboba", "obabo", "baoa", "ubu", "exact", "sghmc-adaptive",
}

// integratorLook returns the look of the integrator that is the i-th name of
// a figure. One that is not in the list, such as a splitting word or a scheme
// from elsewhere, gets a look that no other of the figure has.
func integratorLook(i int, name string) look {
	if listed := slices.Index(integratorLooks, name); listed >= 0 {
		return categorical(listed)
	}
	return categorical(len(integratorLooks) + i)
}

// translucent is the colour for the bands behind n lines: so faint that all
// of them over each other let the lines stand out.
func translucent(c color.NRGBA, n int) color.NRGBA {
	c.A = uint8(min(0x38, 0xc0/max(n, 1)))
	return c
}

// marker is a point's shape: a polygon in units of the radius, or a circle.
type marker struct {
	polygon []vg.Point
	open    bool
}

var markers = []marker{
	{}, // circle
	{polygon: []vg.Point{{X: -0.9, Y: -0.9}, {X: 0.9, Y: -0.9}, {X: 0.9, Y: 0.9}, {X: -0.9, Y: 0.9}}},
	{polygon: []vg.Point{{X: 0, Y: 1.25}, {X: -1.1, Y: -0.75}, {X: 1.1, Y: -0.75}}},
	{polygon: []vg.Point{{X: 0, Y: 1.3}, {X: -1.1, Y: 0}, {X: 0, Y: -1.3}, {X: 1.1, Y: 0}}},
	{polygon: []vg.Point{{X: 0, Y: -1.25}, {X: -1.1, Y: 0.75}, {X: 1.1, Y: 0.75}}},
	{polygon: []vg.Point{{X: -0.9, Y: -0.9}, {X: 0.9, Y: -0.9}, {X: 0.9, Y: 0.9}, {X: -0.9, Y: 0.9}}, open: true},
	{open: true},
}

// filledMarkers is how many of the markers, from the first, are filled.
// Ordered lines use these alone: open ones look like a second group.
const filledMarkers = 5

// Sizes of lines, in points.
const (
	markerRadius = vg.Length(2.2)
	lineWidth    = vg.Length(1.1)
)

// draw draws the marker around a point. Open markers are larger, so that
// they stay visible around a filled one at the same place.
func (m marker) draw(c *draw.Canvas, col color.Color, at vg.Point) {
	r := markerRadius
	if m.open {
		r *= 1.45
	}
	p := circle(at, r)
	if m.polygon != nil {
		p = nil
		for _, q := range m.polygon {
			p.Line(at.Add(q.Scale(r)))
		}
		p[0].Type = vg.MoveComp
		p.Close()
	}
	c.SetColor(col)
	if !m.open {
		c.Fill(p)
		return
	}
	c.SetLineWidth(0.9)
	c.SetLineDash(nil, 0)
	c.Stroke(p)
}

// circle is the outline of one.
func circle(at vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Arc(at, r, 0, 2*math.Pi)
	p.Close()
	return p
}

// sans is the style of all text. The weight is regular throughout: the PDF
// writer of gonum/plot cannot take bold fonts.
func sans(size float64, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)},
		Handler: plot.DefaultTextHandler,
	}
}

// plotOf returns a panel with plotters on it, from the back to the front.
func plotOf(plotters ...plot.Plotter) *plot.Plot {
	p := newPlot()
	p.Add(plotters...)
	return p
}

// newPlot returns an empty panel in the style of the figures. It has no
// labels: the sheet writes those that panels share.
func newPlot() *plot.Plot {
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color = axisGrey, axisGrey
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.6, 0.6
		a.Padding, a.Tick.Length = 0, 3.5
		style := sans(tickSize, ink)
		style.XAlign, style.YAlign = a.Tick.Label.XAlign, a.Tick.Label.YAlign
		a.Tick.Label = style
	}
	return p
}
