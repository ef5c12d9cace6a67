package figures

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Font sizes in points.
const (
	titleSize   = 12
	labelSize   = 10
	legendSize  = 9.5
	panelSize   = 9.5
	tickSize    = 8.5
	captionSize = 8.5
	noteSize    = 8
)

// The greys of what is no data, and the colour of warnings.
const (
	ink       = colour(0x222222ff)
	axisGrey  = colour(0x666666ff)
	selfGrey  = colour(0x7f7f7fff)
	gridGrey  = colour(0xf0f0f0ff)
	stripGrey = colour(0xfbf3eaff)
	warning   = colour(0xb03a00ff)
	notePaper = colour(0xfdfdfcc0) // the page's, which is not white
)

// okabeIto are the colours of Okabe & Ito, Color Universal Design (2008), that
// are dark enough for a line on white: blue, vermilion, bluish green, reddish
// purple, orange, sky blue, black.
var okabeIto = []colour{
	0x0072b2ff, 0xd55e00ff, 0x009e73ff, 0xcc79a7ff, 0xe69f00ff, 0x56b4e9ff, 0x222222ff,
}

// palette are the colours of lines: those above, and three of Tol, Colour schemes (2021), muted,
// that are unlike them: wine, olive and indigo.
var palette = append(slices.Clip(okabeIto), 0x882255ff, 0x999933ff, 0x332288ff)

// viridis are ten stops of the map of Smith & van der Walt (matplotlib, 2015).
var viridis = []colour{
	0x440154ff, 0x482878ff, 0x3e4989ff, 0x31688eff, 0x26828eff,
	0x1f9e89ff, 0x35b779ff, 0x6ece58ff, 0xb5de2bff, 0xfde725ff,
}

// brightest is how far up the viridis map lines go: beyond, they are too
// light for white paper.
const brightest = 0.7

// interpolate returns the opaque colour at t in [0, 1] between the stops.
func interpolate(stops []colour, t float64) colour {
	at := min(max(t, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2) // the stop below
	f := at - float64(i)            // the weight of the one above
	var out colour
	for shift := 8; shift <= 24; shift += 8 { // blue, green, red: each channel by itself
		a, b := float64(stops[i]>>shift&0xff), float64(stops[i+1]>>shift&0xff)
		out |= colour(math.Round(a*(1-f)+b*f)) << shift
	}
	return out | 0xff
}

// translucent is the colour for the bands behind n lines: so faint that all
// of them over each other let the lines stand out. Their opacities add up to
// three quarters at most, and none is above 22 %.
func translucent(c colour, n int) colour {
	return c&^0xff | colour(min(0x38, 0xc0/max(n, 1)))
}

// lineWidth is that of lines with markers, in points.
const lineWidth = 1.1

// dashings and markers distinguish lines without colour: in print, and for
// readers who do not see it.
var dashings = [][]float64{
	nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}, {9, 2.5}, {3, 1.5}, {6, 1.5, 1.5, 1.5, 1.5, 1.5},
}

// categorical returns the i-th style for unordered names. After one round the
// colours repeat, with other dashes and markers.
func categorical(i int) style {
	// Of seven dashes and seven markers all 49 pairs occur before one is repeated, so that lines
	// are told apart in grey, too.
	return style{
		Color: palette[i%len(palette)], Width: lineWidth,
		Dashes: dashings[i%len(dashings)], Marker: markers[(i+i/len(dashings))%len(markers)],
	}
}

// sequential returns the i-th of n styles for ordered values: from dark to
// light along viridis.
func sequential(i, n int) style {
	t := float64(i) / float64(max(1, n-1))
	return style{
		Color: interpolate(viridis, t*brightest), Width: lineWidth,
		Marker: markers[i%filledMarkers],
	}
}

// integratorStyles keeps an integrator's style the same in every figure: the
// place in the list. sghmc, whose results are nearly leapfrog's, gets an open
// marker.
var integratorStyles = []string{
	"leapfrog", "lietrotter", "symmetric", "mt3", "euler", "rk2", "sghmc",
	"baoab", "aboba", "obabo", "baoa", "ubu", "exact", "sghmc-adaptive",
}

// schemeStyles does the same for schemes, which stand for themselves alone in legends.
var schemeStyles = []string{
	"full", "reshuffle", "replacement", "cyclic", "symmetric", "repartition", "window", "iid",
}

// stylesOf returns the styles of a figure's integrators or schemes. One that is not in the lists,
// such as a splitting word or a user's own integrator, or whose colour another one before it has,
// gets a colour that no other in the figure has, and a marker, as long as any are left.
func stylesOf(names []string) []style {
	styles := make([]style, len(names))
	for i, name := range names {
		scheme := strings.TrimSuffix(name, " batch") // full batch
		listed := max(slices.Index(integratorStyles, name), slices.Index(schemeStyles, scheme))
		if listed < 0 {
			continue
		}
		own := categorical(listed)
		if !slices.ContainsFunc(styles, func(s style) bool { return s.Color == own.Color }) {
			styles[i] = own
		}
	}
	// Those that are listed have theirs now, so that the others can avoid them.
	for i := range names {
		if styles[i].Width == 0 {
			styles[i] = unlike(styles, len(integratorStyles)+i)
		}
	}
	return styles
}

// unlike returns a style whose colour and marker none of the styles has, or else one whose colour
// none has, or the i-th if all are taken.
func unlike(styles []style, i int) style {
	for _, marked := range []bool{true, false} {
		for k := range len(palette) * len(markers) {
			own := categorical(len(integratorStyles) + k)
			taken := func(s style) bool {
				return s.Color == own.Color || marked && s.Marker == own.Marker
			}
			if !slices.ContainsFunc(styles, taken) {
				return own
			}
		}
	}
	return categorical(i)
}

// dotted is the style of what is no method's line: self-distances and theory.
func dotted(width float64) style {
	return style{Color: selfGrey, Width: width, Dashes: []float64{1.2, 1.8}}
}

// marker is the shape of a point.
type marker string

// dot is a small translucent point, for data, of which there are many.
const dot marker = "dot"

var markers = []marker{
	"circle", "square", "triangle", "diamond", "nabla", "open square", "open circle",
}

// filledMarkers is how many of the markers, from the first, are filled.
// Ordered lines use these alone: open ones look like a second group.
const filledMarkers = 5

// polygons are the shapes of markers that are no circles, in units of the
// radius.
var polygons = map[string][]vg.Point{
	"square":   {{X: -0.9, Y: -0.9}, {X: 0.9, Y: -0.9}, {X: 0.9, Y: 0.9}, {X: -0.9, Y: 0.9}},
	"triangle": {{X: 0, Y: 1.25}, {X: -1.1, Y: -0.75}, {X: 1.1, Y: -0.75}},
	"diamond":  {{X: 0, Y: 1.3}, {X: -1.1, Y: 0}, {X: 0, Y: -1.3}, {X: 1.1, Y: 0}},
	"nabla":    {{X: 0, Y: -1.25}, {X: -1.1, Y: 0.75}, {X: 1.1, Y: 0.75}},
	// Drawn open, its outline is ×.
	"cross": {{X: -1, Y: -1}, {X: 1, Y: 1}, {}, {X: -1, Y: 1}, {X: 1, Y: -1}, {}},
}

// hollow is the style with markers that are not filled, or crosses where its own are not.
func (s style) hollow() style {
	if _, open := s.Marker.shape(); open {
		s.Marker = "cross"
	}
	s.Marker = "open " + s.Marker
	return s
}

// shape returns the corners of a marker in units of its radius, y upwards; nil
// means a circle. Open markers are not filled.
func (m marker) shape() (corners []vg.Point, open bool) {
	name, open := strings.CutPrefix(string(m), "open ")
	return polygons[name], open
}

// sans is the style of all text. The weight is regular throughout: the PDF
// writer of gonum/plot cannot take bold fonts.
func sans(size float64, c colour) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)},
		Handler: plot.DefaultTextHandler,
	}
}
