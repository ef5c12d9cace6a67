package figures

import (
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The strip for lost points, at the top of a panel: its height, and where on it
// the marks stand, far enough above the axis's last label.
const (
	stripHeight = 16
	stripMiddle = 10
)

// canvas is a panel in the making.
type canvas struct {
	*panel
	legend []legendEntry
	lanes  []string
	grid   []plot.Tick
	tips   *[]tip
}

// lanes returns the names of a legend's lines, in the order in which marks of lost
// points stand side by side.
func lanes(legend []legendEntry) (names []string) {
	for _, e := range legend {
		if e.Name != "" && e.Style.Marker != "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// plot makes a panel a plot, with labels at the ticks of its axes or without.
// It has no other labels: those that panels share are the layout's.
func (l layout) plot(p *panel, labelX, labelY bool) *plot.Plot {
	out := plot.New()
	height := dataHeight(l.height)
	k := canvas{p, l.legend, lanes(l.legend), p.Y.place(height, true), l.tips}
	apply(&out.X, p.X, p.X.place(dataWidth(l.width), false), labelX)
	shown, ticks := p.Y, k.grid
	if p.Y.Lost != "" {
		without := height - stripHeight
		ticks = append(slices.Clip(ticks), plot.Tick{Value: p.Y.at((without + stripMiddle) / without), Label: p.Y.Lost})
		shown.High = p.Y.at(height / without)
	}
	apply(&out.Y, shown, ticks, labelY)
	out.Add(k)
	return out
}

// apply sets an axis of a plot. Labels are left out where a neighbour has them.
func apply(to *plot.Axis, a axis, ticks []plot.Tick, labels bool) {
	to.LineStyle.Color, to.Tick.LineStyle.Color = axisGrey, axisGrey
	to.LineStyle.Width, to.Tick.LineStyle.Width = 0.6, 0.6
	to.Padding, to.Tick.Length = 0, 3.5
	style := sans(tickSize, ink)
	style.XAlign, style.YAlign = to.Tick.Label.XAlign, to.Tick.Label.YAlign
	to.Tick.Label = style
	to.Min, to.Max = a.Low, a.High
	if a.Log {
		to.Scale = plot.LogScale{}
	}
	ticks = slices.Clone(ticks)
	for i := range ticks {
		if !labels {
			ticks[i].Label = ""
		}
	}
	to.Tick.Marker = plot.ConstantTicks(ticks)
}

// Plot draws from the back to the front: the strip, the grid, the heat map, all
// bands, all lines, and the marks of lost points.
func (k canvas) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if k.Y.Lost != "" {
		c.SetColor(stripGrey)
		c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: c.Max.Y - stripHeight + 3}, Max: c.Max}.Path())
	}
	for _, t := range k.grid {
		if k.Y.Grid && t.Label != "" && t.Value > p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(draw.LineStyle{Color: gridGrey, Width: 0.5}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
	if k.Heat != nil {
		k.Heat.fill(&c, x, y)
	}
	place := func(s curve, values []float64, at [2]int) (out []vg.Point) {
		for i := at[0]; i < at[1]; i++ {
			out = append(out, vg.Point{X: x(s.X[i]), Y: y(k.Y.clamp(values[i]))})
		}
		return out
	}
	for _, s := range k.Series {
		for _, at := range k.stretches(s) {
			if s.Low == nil || at[1]-at[0] < 2 || slices.Equal(s.Low[at[0]:at[1]], s.High[at[0]:at[1]]) {
				continue
			}
			down := place(s, s.Low, at)
			slices.Reverse(down)
			c.FillPolygon(s.Style.Fill, append(place(s, s.High, at), down...))
		}
	}
	for _, s := range k.Series {
		var path vg.Path
		var marks []vg.Point // none where all chains diverged
		for _, at := range k.stretches(s) {
			for i, p := range place(s, s.Y, at) {
				if i == 0 {
					path.Move(p)
				} else {
					path.Line(p)
				}
				if s.Lost == nil || s.Lost[at[0]+i] < 1 {
					marks = append(marks, p)
					k.tip(s, at[0]+i, p)
				}
			}
		}
		if s.Style.Width > 0 && path != nil {
			c.SetLineStyle(s.Style.line())
			c.Stroke(path)
		}
		for _, p := range marks {
			s.Style.mark(&c, p)
		}
	}
	for _, s := range k.Series {
		k.lost(&c, s, x)
	}
}

// shown reports whether the i-th point of a series has a place on the panel.
func (p *panel) shown(s curve, i int) bool { return p.X.shows(s.X[i]) && p.Y.shows(s.Y[i]) }

// stretches returns the ranges of indices, between the gaps of a series, whose
// points can be drawn.
func (p *panel) stretches(s curve) [][2]int {
	var out [][2]int
	for i := range s.X {
		switch last := len(out) - 1; {
		case !p.shown(s, i):
		case last >= 0 && out[last][1] == i:
			out[last][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// lost marks lost points on the strip. Marks of several lines at one place stand
// side by side around it.
func (k canvas) lost(c *draw.Canvas, s curve, x func(float64) vg.Length) {
	room, last := 24.0, math.Inf(-1)
	for _, v := range s.X {
		if k.X.shows(v) {
			room, last = min(room, math.Abs(float64(x(v))-last)), float64(x(v))
		}
	}
	pitch := min(vg.Length(room)*0.85, 2*(edge-3)) / vg.Length(max(1, len(k.lanes)))
	for i, share := range s.Lost {
		if share > 0 && k.X.shows(s.X[i]) {
			there := k.lostAt(s.X[i])
			beside := pitch * (vg.Length(slices.Index(there, s.Name)) - vg.Length(len(there)-1)/2)
			place := vg.Point{X: x(s.X[i]) + beside, Y: c.Max.Y - stripHeight + stripMiddle}
			drawLost(c, s.Style.Color, place, share)
			k.tip(s, i, place)
		}
	}
}

// lostAt are the lines that are lost at a place, in the order of the legend.
func (k canvas) lostAt(x float64) []string {
	return slices.DeleteFunc(slices.Clone(k.lanes), func(name string) bool {
		return !slices.ContainsFunc(k.Series, func(s curve) bool {
			i := slices.Index(s.X, x)
			return s.Name == name && i >= 0 && s.Lost != nil && s.Lost[i] > 0
		})
	})
}

// drawLost draws a cross for "all" and a ring for "some". A ring does not look
// like a cross even where lines are so close that marks overlap.
func drawLost(c *draw.Canvas, col colour, at vg.Point, share float64) {
	const r = 2
	style := draw.LineStyle{Color: col, Width: 1}
	if share == 1 {
		c.StrokeLine2(style, at.X-r, at.Y-r, at.X+r, at.Y+r)
		c.StrokeLine2(style, at.X-r, at.Y+r, at.X+r, at.Y-r)
		return
	}
	c.SetLineStyle(style)
	c.Stroke(circle(at, r))
}

// line is the style of the line as gonum/plot has it.
func (s style) line() draw.LineStyle {
	out := draw.LineStyle{Color: s.Color, Width: vg.Length(s.Width)}
	for _, d := range s.Dashes {
		out.Dashes = append(out.Dashes, vg.Length(d))
	}
	return out
}

// mark draws the marker around a point, if there is one. Open markers are larger, so
// that they stay visible around a filled one at the same place.
func (s style) mark(c *draw.Canvas, at vg.Point) {
	r := vg.Length(2.2)
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
	if corners != nil {
		p = nil
		for _, q := range corners {
			p.Line(at.Add(q.Scale(r)))
		}
		p[0].Type = vg.MoveComp
		p.Close()
	}
	c.SetColor(s.Color)
	if !open {
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

// heat are the colours from no density to the mode.
var heat = []colour{0xffffffff, 0xd6e6f2ff, 0x8dbcdcff, 0x3f88bdff}

// fill draws the density as an image over the grid's box.
func (h *density) fill(c *draw.Canvas, x, y func(float64) vg.Length) {
	const finesse = 4 // pixels between two points of the grid
	n, m := len(h.X), len(h.Y)
	top := slices.Max(h.Value)
	width, height := (n-1)*finesse+1, (m-1)*finesse+1
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for py := range height {
		for px := range width {
			v := h.bilinear(float64(px)/finesse, float64(height-1-py)/finesse)
			img.Set(px, py, interpolate(heat, math.Exp(v-top)))
		}
	}
	c.DrawImage(vg.Rectangle{Min: vg.Point{X: x(h.X[0]), Y: y(h.Y[0])}, Max: vg.Point{X: x(h.X[n-1]), Y: y(h.Y[m-1])}}, img)
}

// bilinear interpolates at a fractional index.
func (h *density) bilinear(i, j float64) float64 {
	n := len(h.X)
	i0, j0 := min(int(i), n-2), min(int(j), len(h.Y)-2)
	a, b := i-float64(i0), j-float64(j0)
	at := func(i, j int) float64 { return h.Value[j*n+i] }
	return (1-b)*((1-a)*at(i0, j0)+a*at(i0+1, j0)) + b*((1-a)*at(i0, j0+1)+a*at(i0+1, j0+1))
}
