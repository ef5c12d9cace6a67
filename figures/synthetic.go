package figures

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/bench"
)

// marginals are the predictive laws along a one-dimensional input, by ascending x: the series of
// a result by their names. Besides those along x there are the inputs and targets of the
// training data, train_x and train_y.
type marginals map[string][]float64

// isMarginal reports whether a result has the series of marginals, of equal lengths.
func isMarginal(r bench.Result) bool {
	n := len(r.Series["x"])
	return n > 0 && len(r.Series["train_x"]) == len(r.Series["train_y"]) &&
		!slices.ContainsFunc(alongX, func(name string) bool { return len(r.Series[name]) != n })
}

// alongX are the series with a number for each x: the mean and the deviation of the exact law,
// and quantiles of the sampled one.
var alongX = []string{"x", "exact_mean", "exact_sd", "q05", "q50", "q95"}

// newMarginals sorts the series by x: test inputs come in the order of the data set, which a line
// cannot follow.
func newMarginals(r bench.Result) marginals {
	m := marginals{"train_x": r.Series["train_x"], "train_y": r.Series["train_y"]}
	order := make([]int, len(r.Series["x"])) // places of ascending x
	floats.ArgsortStable(slices.Clone(r.Series["x"]), order)
	for _, name := range alongX { // the training data keep their order
		for _, from := range order {
			m[name] = append(m[name], r.Series[name][from])
		}
	}
	return m
}

// shifted returns mean + z·sd of the exact law, for each x.
func (m marginals) shifted(z float64) []float64 {
	return floats.AddScaledTo(make([]float64, len(m["x"])), m["exact_mean"], z, m["exact_sd"])
}

// drawSynthetic makes the figure of the predictive posterior along a one-dimensional input: the
// exact law, blue and filled, and the sampled quantiles of one chain, the study's first that
// stayed finite, vermilion and dashed. Quantiles of several chains would hide each other; the
// caption counts them.
func drawSynthetic(d *drawing) error {
	rows, err := d.finite(isMarginal)
	if err != nil {
		return err
	}
	r := resultOf(rows[0])
	m := newMarginals(r)
	// The exact law is normal: its quantiles follow from its mean and deviation.
	// Its 5 and 95 % quantiles are mean ∓ normal95 deviations.
	normal95 := distuv.UnitNormal.Quantile(0.95)
	// A law is its mean with a band of z deviations to both sides.
	law := func(name string, fill colour, z float64) curve {
		return curve{Name: name, Style: style{Fill: fill}, X: m["x"], Y: m["exact_mean"],
			Low: m.shifted(-z), High: m.shifted(z)}
	}
	// Lines are told from the exact law's by colour and by dashes, for readers of print.
	sampled := style{Color: okabeIto[1], Width: 1.1, Dashes: []float64{4, 2}}
	// Sampled quantiles and the data, too, must be on the axes.
	p := &panel{
		X: axis{Label: "input x", Ticks: 8}.over(m["x"]).padded(0.02),
		Y: axis{Label: "target y", Ticks: 6, Grid: true}.
			over(m.shifted(-2), m.shifted(2), m["q05"], m["q95"], m["train_y"]).padded(0.04),
		// From the back to the front; the legend has another order.
		Series: []curve{
			law("wide", 0xdbe9f4ff, 2), law("narrow", 0xaecee6ff, normal95),
			{Name: "data", Style: style{Color: 0x555555a0, Marker: dot},
				X: m["train_x"], Y: m["train_y"]},
			{Name: "mean", Style: style{Color: okabeIto[0], Width: 1.3},
				X: m["x"], Y: m["exact_mean"]},
		},
	}
	for _, q := range []string{"q05", "q50", "q95"} {
		p.Series = append(p.Series, curve{Name: "sampled", Style: sampled, X: m["x"], Y: m[q]})
	}
	f := &Figure{ID: d.plan.ID, Title: d.plan.Title, width: 510, height: 270,
		panels: [][]*panel{{p}}}
	// Each entry has the style of a series that it stands for.
	for _, e := range []struct {
		series int
		label  string
	}{
		{0, "true posterior, mean ± 2 sd"}, {1, "posterior, 5–95 %"}, {3, "posterior, mean"},
		{4, "sampled 5, 50, 95 %"}, {2, "data"},
	} {
		s := p.Series[e.series]
		f.legend = append(f.legend, legendEntry{Name: s.Name, Label: e.label, Style: s.Style})
	}
	// The training data are the study's own, and not repeated.
	f.Data.Columns = []string{"x", "exact_mean", "exact_sd", "sampled_q05", "sampled_q50",
		"sampled_q95"}
	for i, x := range m["x"] {
		f.Data.add(x, m["exact_mean"][i], m["exact_sd"][i], m["q05"][i], m["q50"][i], m["q95"][i])
	}
	// What the chain was, and how far its law is from the exact one, next to what draws of the
	// exact law would show.
	c := r.Cell
	about := []string{
		fmt.Sprintf("Laws of f(x), without the noise of the observations. %s, %s, %s, %s%s;",
			capital(c.Integrator), batchText(c), setting("step").Text(rows[0]),
			setting("friction").Text(rows[0]), unusual(rows[0])),
		fmt.Sprintf("this chain's mean Kolmogorov distance to %s is %.3f (independent draws: "+
			"%.3f).", exactText(d.cells), r.KS, r.KSSelf),
	}
	if n := len(rows); n > 1 {
		about = append(about, fmt.Sprintf("The first of %d chains is shown: split %d, seed %d.",
			n, c.Split, c.Seed))
	}
	f.Caption = d.caption(about...)
	d.out.Figures = append(d.out.Figures, f)
	return nil
}
