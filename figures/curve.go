package figures

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The strip for diverged cells, at the top of a panel: its height, and where
// on it the marks stand, far enough above the axis's last label.
const (
	stripHeight = vg.Length(16)
	stripMiddle = vg.Length(10)
)

// curve is one line of a sweep: the means with markers, and, on the strip
// above, what diverged. A point without results leaves a gap.
type curve struct {
	look
	points []point
	axis   axis // of the distances, without the strip
	lane   int  // place among the lanes crosses are spread over
	lanes  int
	strip  bool
}

// segments are the stretches of points that can be drawn, without the gaps.
func (k curve) segments() [][]point {
	var out [][]point
	open := false
	for _, s := range k.points {
		if !s.known() || !k.axis.shows(s.mean) {
			open = false
			continue
		}
		if !open {
			out = append(out, nil)
			open = true
		}
		out[len(out)-1] = append(out[len(out)-1], s)
	}
	return out
}

// Plot draws the curve.
func (k curve) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, seg := range k.segments() {
		var pts []vg.Point
		for _, s := range seg {
			pts = append(pts, vg.Point{X: x(s.h), Y: y(k.axis.clamp(s.mean))})
		}
		c.StrokeLines(k.stroke(), pts)
		for i, s := range seg {
			if s.diverged < s.have {
				k.marker.draw(&c, k.color, pts[i])
			}
		}
	}
	if k.strip {
		k.crosses(&c, x)
	}
}

// errorBand is the band of a curve. It is drawn before all curves.
type errorBand struct{ curve }

// Plot draws the band.
func (b errorBand) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, seg := range b.segments() {
		var up, down []vg.Point
		for _, s := range seg {
			up = append(up, vg.Point{X: x(s.h), Y: y(b.axis.clamp(s.high()))})
			down = append(down, vg.Point{X: x(s.h), Y: y(b.axis.clamp(s.low()))})
		}
		slices.Reverse(down)
		if len(seg) > 1 && slices.ContainsFunc(seg, func(s point) bool { return spread(s) > 0 }) {
			c.FillPolygon(translucent(b.color, b.lanes), append(up, down...))
		}
	}
}

// crosses marks diverged cells on the strip: a cross where all diverged, a
// ring where some did. Lines stand side by side.
func (k curve) crosses(c *draw.Canvas, x func(float64) vg.Length) {
	room := vg.Length(24)
	for i := 1; i < len(k.points); i++ {
		room = min(room, x(k.points[i].h)-x(k.points[i-1].h))
	}
	pitch := min(room*0.85, 2*(edge-3)) / vg.Length(k.lanes)
	at := c.Max.Y - stripHeight + stripMiddle
	for _, s := range k.points {
		if s.diverged == 0 {
			continue
		}
		drawDiverged(c, k.look, vg.Point{X: x(s.h) + pitch*(vg.Length(k.lane)-vg.Length(k.lanes-1)/2), Y: at}, s.diverged == s.have)
	}
}

// drawDiverged draws a cross for "all" and a ring for "some". A ring does not
// look like a cross even where lines are so close that marks overlap.
func drawDiverged(c *draw.Canvas, l look, at vg.Point, all bool) {
	const r = 2
	style := draw.LineStyle{Color: l.color, Width: 1}
	if all {
		c.StrokeLine2(style, at.X-r, at.Y-r, at.X+r, at.Y+r)
		c.StrokeLine2(style, at.X-r, at.Y+r, at.X+r, at.Y-r)
		return
	}
	c.SetLineStyle(style)
	c.Stroke(circle(at, r))
}

// strip is the background of the place for diverged cells.
type strip struct{}

func (strip) Plot(c draw.Canvas, _ *plot.Plot) {
	low := c.Max.Y - stripHeight + 3
	c.SetColor(stripGrey)
	c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: low}, Max: c.Max}.Path())
}

// selfDistance draws the oracle's self-distance: a band and a dotted line.
type selfDistance struct {
	band
	axis axis
}

// selfStyle is dotted: no method's line is grey and dotted.
var selfStyle = draw.LineStyle{Color: selfGrey, Width: 1, Dashes: []vg.Length{1.2, 1.8}}

func (s selfDistance) Plot(c draw.Canvas, p *plot.Plot) {
	if !s.known {
		return
	}
	_, y := p.Transforms(&c)
	height := func(v float64) vg.Length { return y(s.axis.clamp(v)) }
	box := vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: height(s.low)}, Max: vg.Point{X: c.Max.X, Y: height(s.high)}}
	c.SetColor(bandGrey)
	c.Fill(box.Path())
	c.StrokeLine2(selfStyle, c.Min.X, height(s.mean), c.Max.X, height(s.mean))
}
