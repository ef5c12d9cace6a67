package figures

import (
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The strip for lost points, at the top of a panel, in points: its height, and the bars on it,
// which stand far enough above the axis's last label.
const (
	stripHeight = 19
	stripFoot   = 5 // of bars
	barHeight   = 13
	barWidth    = 3.2 // at most
	stripMiddle = stripFoot + barHeight/2.
)

// A panel is drawn as one plot: gonum/plot makes its axes and ticks, and maps values to points;
// all that is between the axes is drawn here, in one order for all series, so that no band lies
// over a line. What is lost, having diverged or no stationary law, has a place of its own: a
// strip beyond the upper end of the vertical axis, so that it is neither missing nor at a value.
// There a bar for each line shows the share that is lost.
//
//	lost ──┤ strip:  █ all lost   ▄ some lost   ├── stripHeight
//	High ──┤ ---------------------------------- ├
//	       │ bands, then lines with markers     │
//	Low  ──┴────────────────────────── note ────┘

// canvas draws a panel, as a plot.Plotter of gonum/plot, whose own plotters have neither gaps
// nor marks beyond the axis.
type canvas struct {
	*panel
	legend []legendEntry // of the figure
	lanes  []string      // names of the lines whose bars stand side by side
	grid   []plot.Tick   // of the vertical axis
	tips   *[]tip        // as of layout
}

// lanes returns the names of a legend's lines, in the order in which bars of lost points stand
// side by side: of the entries with a marker, which are lines of points.
func lanes(legend []legendEntry) (names []string) {
	for _, e := range legend {
		if e.Name != "" && e.Style.Marker != "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// plot makes a panel a plot, with labels at the ticks of its axes or without. It has no other
// labels: those that panels share are the layout's. The vertical axis goes on into the strip,
// where no value is drawn, if any panel of the figure has lost points.
func (l layout) plot(p *panel, labelX, labelY bool) *plot.Plot {
	out := plot.New()
	height := dataHeight(float64(l.rowHeight()))
	// A strip takes its height from that of the data, on a linear and a logarithmic axis alike:
	// fractions of the axis beyond 1 lie in it.
	k := canvas{p, l.legend, lanes(l.legend), p.Y.place(height, true), l.tips}
	apply(&out.X, p.X, p.X.place(dataWidth(l.width), false), labelX)
	shown, ticks := p.Y, k.grid
	if p.Y.Lost != "" {
		// The data's part of the height is that from Low to High, so that a fraction of it beyond
		// 1 is a place in the strip.
		without := height - stripHeight
		strip := plot.Tick{Value: p.Y.at((without + stripMiddle) / without), Label: p.Y.Lost}
		ticks = append(slices.Clip(ticks), strip)
		shown.High = p.Y.at(height / without)
	}
	apply(&out.Y, shown, ticks, labelY)
	out.Add(k)
	return out
}

// apply sets an axis of a plot, with its ticks. Their labels are left out where a neighbour
// has them.
func apply(to *plot.Axis, a axis, ticks []plot.Tick, labels bool) {
	to.LineStyle.Color, to.Tick.LineStyle.Color = axisGrey, axisGrey
	to.LineStyle.Width, to.Tick.LineStyle.Width = 0.6, 0.6
	to.Padding, to.Tick.Length = 0, 3.5 // points; axes meet in the corner
	// The plot's own alignment of labels stays, with another font.
	style := sans(tickSize, ink)
	style.XAlign, style.YAlign = to.Tick.Label.XAlign, to.Tick.Label.YAlign
	to.Tick.Label = style
	to.Min, to.Max = a.Low, a.High
	if a.Log {
		to.Scale = plot.LogScale{}
	}
	ticks = slices.Clone(ticks) // which the grid needs with their labels
	for i := range ticks {
		if !labels {
			ticks[i].Label = ""
		}
	}
	to.Tick.Marker = plot.ConstantTicks(ticks)
}

// Plot implements plot.Plotter. It draws from the back to the front: the strip, the grid, the heat
// map, all bands, all lines, and the bars of lost points.
func (k canvas) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c) // from values to points on the sheet
	if k.Y.Lost != "" {      // the strip is there in all panels of a figure, if in one
		c.SetColor(stripGrey)
		bottom := vg.Point{X: c.Min.X, Y: c.Max.Y - stripHeight + stripFoot - 1}
		c.Fill(vg.Rectangle{Min: bottom, Max: c.Max}.Path())
	}
	faint := draw.LineStyle{Color: gridGrey, Width: 0.5}
	for _, t := range k.grid {
		if k.Y.Grid && t.Label != "" && t.Value > p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(faint, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
	if k.Heat != nil {
		k.Heat.fill(&c, x, y)
	}
	// Values beyond the axis are drawn at its end: edges of bands may reach there.
	place := func(s curve, values []float64, at [2]int) (out []vg.Point) {
		for i := at[0]; i < at[1]; i++ {
			out = append(out, vg.Point{X: x(s.X[i]), Y: y(k.Y.clamp(values[i]))})
		}
		return out
	}
	// Passes over all series: no band lies over a line.
	for _, s := range k.Series {
		k.band(&c, s, place)
	}
	for _, s := range k.Series {
		k.line(&c, s, place)
	}
	for _, s := range k.Series {
		k.lost(&c, s, x)
	}
	for _, w := range k.Words {
		write(&c, sans(noteSize, axisGrey), vg.Point{X: x(w.X), Y: y(w.Y)}, center, w.Text)
	}
}

// placer returns the places of some values of a series, those of the indices from at[0] to
// before at[1].
type placer = func(s curve, values []float64, at [2]int) []vg.Point

// band fills the area between the edges of a series' band. Where they are equal, as those of a
// mean over one chain are, there is none.
func (k canvas) band(c *draw.Canvas, s curve, place placer) {
	for _, at := range k.stretches(s) {
		from, to := at[0], at[1]
		if s.Low == nil || to-from < 2 || slices.Equal(s.Low[from:to], s.High[from:to]) {
			continue
		}
		// The outline runs along the upper edge and back along the lower one.
		down := place(s, s.Low, at)
		slices.Reverse(down)
		c.FillPolygon(s.Style.Fill, append(place(s, s.High, at), down...))
	}
}

// On a line of more than manyPoints points markers that are nearer than markGap, in points of the
// sheet, to the last one are left out: they would hide the dashes.
const (
	manyPoints = 20
	markGap    = vg.Length(12)
)

// line draws a series between its gaps, and its markers.
func (k canvas) line(c *draw.Canvas, s curve, place placer) {
	var path vg.Path
	var marks, hollow []vg.Point // drawn over the line
	many := s.Style.Width > 0 && len(s.X) > manyPoints
	for _, at := range k.stretches(s) {
		var last vg.Point // that has a marker
		for i, p := range place(s, s.Y, at) {
			if i == 0 {
				path.Move(p)
			} else {
				path.Line(p)
			}
			if s.left(at[0] + i) {
				hollow = append(hollow, p)
			} else if d := p.Sub(last); !many || i == 0 || d.Dot(d) >= markGap*markGap {
				marks, last = append(marks, p), p
			}
			k.tip(s, at[0]+i, p)
		}
	}
	if s.Style.Width > 0 && path != nil {
		c.SetLineStyle(s.Style.line())
		c.Stroke(path)
	}
	for _, p := range marks {
		s.Style.mark(c, p)
	}
	for _, p := range hollow {
		s.Style.hollow().mark(c, p)
	}
}

// shown reports whether the i-th point of a series has a place on the panel: numbers for x and
// y which the axes can show.
func (p *panel) shown(s curve, i int) bool { return p.X.shows(s.X[i]) && p.Y.shows(s.Y[i]) }

// stretches returns the ranges of indices, from the first to before the last, between the gaps
// of a series, whose points can be drawn. A point of chains that left the posterior is a range
// of its own, so that no line and no band leads there.
func (p *panel) stretches(s curve) [][2]int {
	var out [][2]int
	for i := range s.X {
		switch last := len(out) - 1; {
		case !p.shown(s, i):
		case last >= 0 && out[last][1] == i && !s.left(i-1) && !s.left(i):
			// The point before it is shown, too.
			out[last][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// lost draws the bars of lost points on the strip. Those of several lines at one place stand side
// by side around it, as close as the next place of the axis demands.
func (k canvas) lost(c *draw.Canvas, s curve, x func(float64) vg.Length) {
	room, last := 24.0, math.Inf(-1) // the least distance of two places, in points; 24 of one
	for _, v := range s.X {
		if k.X.shows(v) && len(k.lostAt(v)) > 0 {
			room, last = min(room, math.Abs(float64(x(v))-last)), float64(x(v))
		}
	}
	// All lanes fit between two places, and none goes beyond the panel at its edges. Of the room
	// between two places 15 % stay free, so that bars of neighbours are told apart.
	pitch := min(vg.Length(room)*0.85, 2*(edge-3)) / vg.Length(max(1, len(k.lanes)))
	for i, share := range s.Lost { // nil where nothing can be lost
		if share > 0 && k.X.shows(s.X[i]) {
			there := k.lostAt(s.X[i]) // itself among them
			// The middle of all bars at a place is the place itself.
			beside := pitch * (vg.Length(slices.Index(there, s.Name)) - vg.Length(len(there)-1)/2)
			place := vg.Point{X: x(s.X[i]) + beside, Y: c.Max.Y - stripHeight + stripMiddle}
			drawShare(c, s.Style.Color, place, min(0.85*pitch, barWidth), barHeight, share)
			k.tip(s, i, place)
		}
	}
}

// lostAt are the names of the lines that are lost at a place, in whole or in part, in the order
// of the legend: bars of other lines leave no gaps between them.
func (k canvas) lostAt(x float64) []string {
	// Places are equal if they are the same number, as the steps of a study's lines are.
	return slices.DeleteFunc(slices.Clone(k.lanes), func(name string) bool {
		return !slices.ContainsFunc(k.Series, func(s curve) bool {
			i := slices.Index(s.X, x)
			return s.Name == name && i >= 0 && s.Lost != nil && s.Lost[i] > 0
		})
	})
}

// drawShare draws a share as a bar that is filled from below, around its middle; what is not
// filled is pale, so that a reader sees the whole.
func drawShare(c *draw.Canvas, col colour, middle vg.Point, width, height vg.Length,
	share float64) {
	box := vg.Rectangle{
		Min: vg.Point{X: middle.X - width/2, Y: middle.Y - height/2},
		Max: vg.Point{X: middle.X + width/2, Y: middle.Y + height/2},
	}
	c.SetColor(col&^0xff | 0x38) // the same colour, at an opacity of 22 %
	c.Fill(box.Path())
	box.Max.Y = box.Min.Y + height*vg.Length(share)
	c.SetColor(col)
	c.Fill(box.Path())
}

// line is the style of a series' line as gonum/plot has it, with widths and dashes in points.
func (s style) line() draw.LineStyle {
	out := draw.LineStyle{Color: s.Color, Width: vg.Length(s.Width)}
	for _, d := range s.Dashes {
		out.Dashes = append(out.Dashes, vg.Length(d))
	}
	return out
}

// mark draws the marker around a point, if there is one. Open markers are larger, so that they
// stay visible around a filled one at the same place; dots, of which there are many, smaller.
func (s style) mark(c *draw.Canvas, at vg.Point) {
	r := vg.Length(2.2) // in points
	corners, open := s.Marker.shape()
	switch {
	case s.Marker == "":
		return
	case s.Marker == dot:
		r = 1.3
	case open:
		r *= 1.45
	}
	p := circle(at, r)
	// A polygon takes the place of the circle: its corners are in units of the radius.
	if corners != nil {
		p = nil
		for _, q := range corners {
			p.Line(at.Add(q.Scale(r)))
		}
		p[0].Type = vg.MoveComp // a path begins where it is moved to
		p.Close()
	}
	c.SetColor(s.Color)
	if !open { // filled, without an outline
		c.Fill(p)
		return
	}
	c.SetLineWidth(0.9) // whole, whatever the line's dashes are
	c.SetLineDash(nil, 0)
	c.Stroke(p)
}

// circle is the outline of a circle of radius r around a point, in points. gonum/plot's own glyphs
// have neither diamonds nor triangles on their tips.
func circle(at vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Arc(at, r, 0, 2*math.Pi)
	p.Close()
	return p
}

// heat are the colours of a density, from none, which is white paper, to the mode's: light enough
// for contours in black.
var heat = []colour{0xffffffff, 0xd6e6f2ff, 0x8dbcdcff, 0x3f88bdff}

// fill draws the density, relative to its mode, as an image over the grid's box. An image stays
// small as vector graphics of as many cells would not.
func (h *density) fill(c *draw.Canvas, x, y func(float64) vg.Length) {
	const finesse = 4 // pixels from one point of the grid to the next, so that none shows
	n, m := len(h.X), len(h.Y)
	top := slices.Max(h.Value) // at the mode, or near it
	width, height := (n-1)*finesse+1, (m-1)*finesse+1
	// The outermost pixels lie on the outermost points of the grid.
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for py := range height { // from the top, where images begin and the grid ends
		for px := range width {
			v := h.bilinear(float64(px)/finesse, float64(height-1-py)/finesse)
			// The share of the mode's density picks the colour.
			img.Set(px, py, interpolate(heat, math.Exp(v-top)))
		}
	}
	low, high := vg.Point{X: x(h.X[0]), Y: y(h.Y[0])}, vg.Point{X: x(h.X[n-1]), Y: y(h.Y[m-1])}
	c.DrawImage(vg.Rectangle{Min: low, Max: high}, img)
}

// bilinear interpolates the log-density at a fractional index, i along X and j along Y. Between
// logarithms the density stays positive and its peaks round.
func (h *density) bilinear(i, j float64) float64 {
	n := len(h.X)
	i0, j0 := min(int(i), n-2), min(int(j), len(h.Y)-2) // lower corner of the cell
	a, b := i-float64(i0), j-float64(j0)                // weights of the upper corners
	at := func(i, j int) float64 { return h.Value[j*n+i] }
	return (1-b)*((1-a)*at(i0, j0)+a*at(i0+1, j0)) + b*((1-a)*at(i0, j0+1)+a*at(i0+1, j0+1))
}
