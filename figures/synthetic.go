package figures

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/bench"
)

// marginals are the predictive laws along a one-dimensional input, by
// ascending x.
type marginals struct {
	x, mean, sd, q05, q50, q95 []float64
	trainX, trainY             []float64
}

// newMarginals checks the series and sorts them by x: test inputs come in the
// order of the data set.
func newMarginals(r bench.Result) (*marginals, error) {
	s := r.Series
	n := len(s["x"])
	for _, name := range []string{"exact_mean", "exact_sd", "q05", "q50", "q95"} {
		if n == 0 || len(s[name]) != n {
			return nil, lacks(r, "the series "+name+" of marginals")
		}
	}
	if len(s["train_x"]) != len(s["train_y"]) {
		return nil, fmt.Errorf("figures: result %.12s (%v): series train_x and train_y differ in length", r.Key, r.Cell)
	}
	x, order := slices.Clone(s["x"]), make([]int, n)
	floats.ArgsortStable(x, order)
	sorted := func(name string) []float64 {
		out := make([]float64, n)
		for i, from := range order {
			out[i] = s[name][from]
		}
		return out
	}
	return &marginals{
		x: x, mean: sorted("exact_mean"), sd: sorted("exact_sd"),
		q05: sorted("q05"), q50: sorted("q50"), q95: sorted("q95"), trainX: s["train_x"], trainY: s["train_y"],
	}, nil
}

// normal95 is the 95 % quantile of the standard normal law.
var normal95 = distuv.UnitNormal.Quantile(0.95)

// shifted returns mean + z·sd.
func (m *marginals) shifted(z float64) []float64 {
	return floats.AddScaledTo(make([]float64, len(m.mean)), m.mean, z, m.sd)
}

// The exact law is blue and filled, what was sampled is vermilion and dashed.
var (
	wideBand     = color.NRGBA{R: 0xdb, G: 0xe9, B: 0xf4, A: 0xff}
	narrowBand   = color.NRGBA{R: 0xae, G: 0xce, B: 0xe6, A: 0xff}
	exactStyle   = draw.LineStyle{Color: okabeIto[0], Width: 1.3}
	sampledStyle = draw.LineStyle{Color: okabeIto[1], Width: 1.1, Dashes: []vg.Length{4, 2}}
)

// Plot draws the exact law as bands and the sampled quantiles over it.
func (m *marginals) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	points := func(v []float64) []vg.Point {
		pts := make([]vg.Point, len(v))
		for i := range v {
			pts[i] = vg.Point{X: x(m.x[i]), Y: y(v[i])}
		}
		return pts
	}
	between := func(col color.Color, low, high []float64) {
		down := points(low)
		slices.Reverse(down)
		c.FillPolygon(col, append(points(high), down...))
	}
	between(wideBand, m.shifted(-2), m.shifted(2))
	between(narrowBand, m.shifted(-normal95), m.shifted(normal95))
	for i := range m.trainX {
		drawDatum(&c, vg.Point{X: x(m.trainX[i]), Y: y(m.trainY[i])})
	}
	c.StrokeLines(exactStyle, points(m.mean))
	for _, q := range [][]float64{m.q05, m.q50, m.q95} {
		c.StrokeLines(sampledStyle, points(q))
	}
}

// drawDatum draws a training point, translucent: they are many.
func drawDatum(c *draw.Canvas, at vg.Point) {
	c.SetColor(color.NRGBA{R: 0x55, G: 0x55, B: 0x55, A: 0xa0})
	c.Fill(circle(at, 1.3))
}

// drawSynthetic draws the predictive posterior along a one-dimensional input:
// the exact law and the sampled quantiles of one chain, the study's first.
func drawSynthetic(d *drawing) error {
	r := d.results[0]
	m, err := newMarginals(r)
	if err != nil {
		return err
	}
	var rows [][]string
	for i := range m.x {
		rows = append(rows, fields(m.x[i], m.mean[i], m.sd[i], m.q05[i], m.q50[i], m.q95[i]))
	}
	if err := d.csv([]string{"x", "exact_mean", "exact_sd", "sampled_q05", "sampled_q50", "sampled_q95"}, rows); err != nil {
		return err
	}
	return d.save(syntheticSheet(d, r, m))
}

// syntheticSheet is one wide panel.
func syntheticSheet(d *drawing, r bench.Result, m *marginals) *sheet {
	x := linearRange(m.x).padded(0.02)
	x.ticks = linearTicks(x.low, x.high, 8)
	y := linearRange(m.shifted(-2), m.shifted(2), m.q05, m.q95, m.trainY).padded(0.04)
	y.ticks = linearTicks(y.low, y.high, 6)
	p := plotOf(gridLines{y.ticks}, m)
	x.apply(&p.X, true)
	y.apply(&p.Y, true)
	c := r.Cell
	return &sheet{
		title: d.plan.Title, width: 510, height: 270, xLabel: "input x", yLabels: []string{"target y"},
		panels: [][]panel{{{Plot: p}}},
		legend: []swatch{
			bandSwatch(wideBand, "true posterior, mean ± 2 sd"), bandSwatch(narrowBand, "its 5–95 %"),
			strokeSwatch(exactStyle, "its mean"), strokeSwatch(sampledStyle, "sampled 5, 50, 95 %"),
			{name: "data", draw: func(c *draw.Canvas, b vg.Rectangle) {
				for _, f := range []vg.Length{0.25, 0.5, 0.75} {
					drawDatum(c, middle(b, f))
				}
			}},
		},
		caption: d.caption(
			fmt.Sprintf("Laws of f(x), without the noise of the observations. %s, %s, η = %s, C = %s;", capital(c.Integrator), batchText(c), decimal(c.Step), frictionText(c)),
			fmt.Sprintf("mean Kolmogorov distance to the posterior %.3f (independent draws: %.3f).", r.KS, r.KSSelf)),
	}
}

// batchText is a cell's mini-batches as captions state them.
func batchText(c bench.Cell) string {
	if c.Batches == 1 {
		return "full batch"
	}
	return fmt.Sprintf("B = %d, %s", c.BatchSize, c.Scheme)
}
