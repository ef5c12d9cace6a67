package figures

import (
	"cmp"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// grid is a log-density on a rectangular grid, value[j*len(x)+i] at (x[i],
// y[j]).
type grid struct{ x, y, value []float64 }

// massLevels returns the log-densities whose superlevel sets hold the given
// shares of the mass on the grid (highest-density regions).
func (g grid) massLevels(shares []float64) []float64 {
	sorted := slices.Clone(g.value)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	var total float64
	for _, v := range sorted {
		total += math.Exp(v - sorted[0])
	}
	levels := make([]float64, len(shares))
	for k, share := range shares {
		levels[k] = sorted[len(sorted)-1]
		var sum float64
		for _, v := range sorted {
			if sum += math.Exp(v - sorted[0]); sum >= share*total {
				levels[k] = v
				break
			}
		}
	}
	return levels
}

// segment is a straight piece of a contour, in data units.
type segment [2][2]float64

// contour returns the pieces of the curve on which the value is level. Each
// cell of the grid is cut into two triangles, in which interpolation is
// linear and a contour is one straight piece, so that no saddle is ambiguous.
func (g grid) contour(level float64) []segment {
	var out []segment
	n := len(g.x)
	corner := func(i, j int) [3]float64 { return [3]float64{g.x[i], g.y[j], g.value[j*n+i] - level} }
	for j := range len(g.y) - 1 {
		for i := range n - 1 {
			a, b, c, d := corner(i, j), corner(i+1, j), corner(i+1, j+1), corner(i, j+1)
			out = appendCrossing(out, a, b, c)
			out = appendCrossing(out, a, c, d)
		}
	}
	return out
}

// appendCrossing appends the piece on which the linear function on a
// triangle with the corners (x, y, value) is 0, if there is one.
func appendCrossing(out []segment, corners ...[3]float64) []segment {
	var ends [][2]float64
	for k, p := range corners {
		q := corners[(k+1)%3]
		if (p[2] >= 0) != (q[2] >= 0) {
			t := p[2] / (p[2] - q[2])
			ends = append(ends, [2]float64{p[0] + t*(q[0]-p[0]), p[1] + t*(q[1]-p[1])})
		}
	}
	if len(ends) == 2 {
		out = append(out, segment{ends[0], ends[1]})
	}
	return out
}

// contours draws highest-density regions of a grid: their boundaries, and
// the density as a heat map behind them if filled.
type contours struct {
	grid
	levels []float64
	filled bool
}

// contourStyle is black over the heat map; over paths contours are grey.
var contourStyle = draw.LineStyle{Color: okabeIto[6], Width: 0.45}

// Plot draws the contours.
func (k contours) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if k.filled {
		k.fill(&c, x, y)
	}
	style := contourStyle
	if !k.filled {
		style.Color = selfGrey
	}
	for _, level := range k.levels {
		var path vg.Path
		for _, s := range k.contour(level) {
			path.Move(vg.Point{X: x(s[0][0]), Y: y(s[0][1])})
			path.Line(vg.Point{X: x(s[1][0]), Y: y(s[1][1])})
		}
		if len(path) > 0 {
			c.SetLineStyle(style)
			c.Stroke(path)
		}
	}
}

// fillFinesse is how many pixels of the heat map lie between two points of
// the grid.
const fillFinesse = 4

// heat are the colours from no density to the mode.
var heat = []color.NRGBA{
	{R: 0xff, G: 0xff, B: 0xff, A: 0xff}, {R: 0xd6, G: 0xe6, B: 0xf2, A: 0xff}, {R: 0x8d, G: 0xbc, B: 0xdc, A: 0xff}, {R: 0x3f, G: 0x88, B: 0xbd, A: 0xff},
}

// fill draws the density as an image over the grid's box.
func (k contours) fill(c *draw.Canvas, x, y func(float64) vg.Length) {
	n, m := len(k.x), len(k.y)
	top := slices.Max(k.value)
	w, h := (n-1)*fillFinesse+1, (m-1)*fillFinesse+1
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for py := range h {
		for px := range w {
			v := k.bilinear(float64(px)/fillFinesse, float64(h-1-py)/fillFinesse)
			img.SetNRGBA(px, py, interpolate(heat, math.Exp(v-top)))
		}
	}
	c.DrawImage(vg.Rectangle{Min: vg.Point{X: x(k.x[0]), Y: y(k.y[0])}, Max: vg.Point{X: x(k.x[n-1]), Y: y(k.y[m-1])}}, img)
}

// bilinear interpolates at a fractional index.
func (g grid) bilinear(i, j float64) float64 {
	n := len(g.x)
	i0, j0 := min(int(i), n-2), min(int(j), len(g.y)-2)
	a, b := i-float64(i0), j-float64(j0)
	at := func(i, j int) float64 { return g.value[j*n+i] }
	return (1-b)*((1-a)*at(i0, j0)+a*at(i0+1, j0)) + b*((1-a)*at(i0, j0+1)+a*at(i0+1, j0+1))
}
