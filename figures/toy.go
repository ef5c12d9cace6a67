package figures

import (
	"fmt"
	"image/color"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/bench"
)

// histogram is one panel of the toy figure: a chain's law as a density, and
// the exact posterior N(mean, sd²).
type histogram struct {
	cell            bench.Cell
	edges, density  []float64 // density of bin i, between edges i and i + 1
	counts          []float64
	mean, sd, total float64
}

// newHistogram checks the series and makes a density of the counts.
func newHistogram(r bench.Result) (histogram, error) {
	h := histogram{cell: r.Cell, edges: r.Series["edges"], counts: r.Series["counts"]}
	mean, sd := r.Series["mean"], r.Series["sd"]
	if len(h.counts) == 0 || len(h.edges) != len(h.counts)+1 || len(mean) != 1 || len(sd) != 1 {
		return h, lacks(r, "the series of a histogram")
	}
	h.mean, h.sd = mean[0], sd[0]
	h.total = floats.Sum(h.counts)
	for i, n := range h.counts {
		h.density = append(h.density, n/(h.total*(h.edges[i+1]-h.edges[i])))
	}
	return h, nil
}

// exact is the density of the posterior.
func (h histogram) exact(x float64) float64 {
	return distuv.Normal{Mu: h.mean, Sigma: h.sd}.Prob(x)
}

// title says how the chain saw its data.
func (h histogram) title() string {
	if h.cell.Batches == 1 {
		return "full batch"
	}
	return "mini-batches: " + h.cell.Scheme
}

// histogramFill is translucent: the grid and the truth show through.
func histogramFill() color.NRGBA {
	fill := okabeIto[5]
	fill.A = 0x90
	return fill
}

// Plot draws the bins as one filled shape.
func (h histogram) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var outline []vg.Point
	for i, d := range h.density {
		low, high := max(h.edges[i], p.X.Min), min(h.edges[i+1], p.X.Max)
		if low < high {
			outline = append(outline, vg.Point{X: x(low), Y: y(d)}, vg.Point{X: x(high), Y: y(d)})
		}
	}
	first, last := outline[0], outline[len(outline)-1]
	outline = append([]vg.Point{{X: first.X, Y: y(0)}}, append(outline, vg.Point{X: last.X, Y: y(0)})...)
	c.FillPolygon(histogramFill(), outline)
	c.StrokeLines(draw.LineStyle{Color: okabeIto[0], Width: 0.6}, outline)
}

// truth draws the posterior's density as a grey dotted line.
type truth struct{ histogram }

// truthStyle is that of the paper's Figure 3: dotted.
var truthStyle = draw.LineStyle{Color: ink, Width: 1.3, Dashes: []vg.Length{1.3, 2}}

func (t truth) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const n = 300
	var pts []vg.Point
	for i := range n + 1 {
		v := p.X.Min + (p.X.Max-p.X.Min)*float64(i)/n
		pts = append(pts, vg.Point{X: x(v), Y: y(t.exact(v))})
	}
	c.StrokeLines(truthStyle, pts)
}

// drawToy draws stationary laws of a one-parameter target as histograms beside
// the exact posterior, a panel per chain: the paper's Figure 3.
func drawToy(d *drawing) error {
	var hs []histogram
	for _, r := range d.results {
		h, err := newHistogram(r)
		if err != nil {
			return err
		}
		hs = append(hs, h)
	}
	if err := d.csv(toyHeader, toyRows(hs)); err != nil {
		return err
	}
	return d.save(toySheet(d, hs))
}

// toySheet is one row of panels with common axes.
func toySheet(d *drawing, hs []histogram) *sheet {
	sh := &sheet{
		title: d.plan.Title, width: 232, height: 200, xLabel: "parameter θ", yLabels: []string{"density"},
		legend: []swatch{bandSwatch(histogramFill(), "stationary law of the chain"), strokeSwatch(truthStyle, "exact posterior")},
	}
	x, y := toyAxes(hs)
	var row []panel
	for i, h := range hs {
		p := plotOf(gridLines{y.ticks}, h, truth{h})
		x.apply(&p.X, true)
		y.apply(&p.Y, i == 0)
		row = append(row, panel{title: h.title(), Plot: p})
	}
	sh.panels = [][]panel{row}
	c := hs[0].cell
	sh.caption = d.caption(fmt.Sprintf("%s flow of each batch, η = %s, C = %s.", capital(c.Integrator), decimal(c.Step), frictionText(c)),
		"Irrespective of the integrator's order, a step that sees a part of the data alone has another stationary law than the posterior.")
	return sh
}

// capital makes the first letter a capital.
func capital(s string) string {
	if s == "" {
		return ""
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// toyAxes span three and a half standard deviations of the posterior, all
// bins with more than a thousandth of the draws, and all densities.
func toyAxes(hs []histogram) (x, y axis) {
	var xs []float64
	top := []float64{0}
	for _, h := range hs {
		top = append(top, h.exact(h.mean))
		for i, n := range h.counts {
			top = append(top, h.density[i])
			if n > h.total/1000 {
				xs = append(xs, h.edges[i], h.edges[i+1])
			}
		}
		xs = append(xs, h.mean-3.5*h.sd, h.mean+3.5*h.sd)
	}
	x = linearRange(xs).padded(0.02)
	x.ticks = linearTicks(x.low, x.high, 5)
	y = linearRange(top)
	y.high *= 1.05
	y.ticks = linearTicks(y.low, y.high, 5)
	return x, y
}

// toyHeader are the columns of toyRows, which have a row per bin.
var toyHeader = []string{"scheme", "K", "theta_low", "theta_high", "count", "density", "exact_density_at_middle"}

func toyRows(hs []histogram) [][]string {
	var rows [][]string
	for _, h := range hs {
		for i, n := range h.counts {
			low, high := h.edges[i], h.edges[i+1]
			rows = append(rows, fields(h.cell.Scheme, h.cell.Batches, low, high, n, h.density[i], h.exact((low+high)/2)))
		}
	}
	return rows
}
