package figures

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/internal/distinct"
)

// histogram is one panel of the toy figure: a chain's law as a density, and the exact posterior,
// which is normal.
type histogram struct {
	row            table.Row // of the chain
	edges, density []float64 // density of bin i, between edges i and i + 1
	counts         []float64 // draws in each bin
	total          float64   // of counts
	exact          distuv.Normal
}

// isHistogram reports whether a result has the series of one, and the mean and the deviation of
// the posterior.
func isHistogram(r bench.Result) bool {
	s := r.Series
	bins := len(s["counts"])
	return bins > 0 && len(s["edges"]) == bins+1 && len(s["mean"]) == 1 && len(s["sd"]) == 1
}

// newHistogram makes a density of a chain's counts, n / (N w) for n of the N counted draws in a
// bin of width w: its integral over the bins is 1.
func newHistogram(row table.Row) histogram {
	r := resultOf(row)
	h := histogram{row: row, edges: r.Series["edges"], counts: r.Series["counts"]}
	// The posterior of one parameter under a normal likelihood and prior is normal.
	h.exact = distuv.Normal{Mu: r.Series["mean"][0], Sigma: r.Series["sd"][0]}
	h.total = floats.Sum(h.counts)
	for i, n := range h.counts {
		h.density = append(h.density, n/(h.total*(h.edges[i+1]-h.edges[i])))
	}
	return h
}

// toyTitle says how a chain saw its data: what the figure's panels differ in. Seeds and sizes of
// batches are added where two panels would have one title.
func toyTitle(r table.Row) string {
	if r.Number("K") == 1 {
		return "full batch"
	}
	return "mini-batches: " + r.Text("scheme")
}

// histogramFill is translucent: the grid and the truth, which are drawn before and after it,
// show through.
const histogramFill = colour(0x56b4e990)

var (
	// histogramStyle is that of a chain's law.
	histogramStyle = style{Color: okabeIto[0], Fill: histogramFill, Width: 0.6}
	// truthStyle is that of the paper's Figure 3: dotted.
	truthStyle = style{Color: ink, Width: 1.3, Dashes: []float64{1.3, 2}}
)

// outline is the bins as one filled shape, within the axis: steps from 0 up and down to 0, as
// the upper edge of a band.
func (h histogram) outline(x axis) curve {
	s := curve{Name: "law", Style: histogramStyle}
	for i, d := range h.density {
		// A bin has two points, at its edges; one beyond the axis has none.
		if low, high := max(h.edges[i], x.Low), min(h.edges[i+1], x.High); low < high {
			s.X, s.Y = append(s.X, low, high), append(s.Y, d, d)
		}
	}
	// The line begins and ends on the axis; the band below it is the filled area. s.X is not empty:
	// one of the 120 bins has at least 1/120 of the draws, and toyAxes shows all with over 1/1000.
	s.X = slices.Concat(s.X[:1], s.X, s.X[len(s.X)-1:])
	s.Y = slices.Concat([]float64{0}, s.Y, []float64{0})
	s.Low, s.High = make([]float64, len(s.Y)), s.Y
	return s
}

// truth is the posterior's density along the axis.
func (h histogram) truth(x axis) curve {
	s := curve{Name: "truth", Style: truthStyle}
	s.X, s.Y = x.along(300, h.exact.Prob) // which looks smooth on a panel of 232 points
	return s
}

// drawToy makes the figure of stationary laws of a one-parameter target as
// histograms beside the exact posterior, a panel per chain: the paper's Figure 3.
func drawToy(d *drawing) error {
	rows, err := d.finite(isHistogram)
	if err != nil {
		return err
	}
	var hs []histogram // of the chains that stayed finite
	for _, r := range rows {
		hs = append(hs, newHistogram(r))
	}
	titles, stated := titlesOf(rows, toyTitle) // one of each chain
	f := &Figure{
		ID: d.plan.ID, Title: d.plan.Title, width: 232, height: 200,
		panels: [][]*panel{nil}, Data: toyRecords(hs, stated),
		legend: []legendEntry{
			{Name: "law", Label: "stationary law of the chain", Style: histogramStyle},
			{Name: "truth", Label: "exact posterior", Style: truthStyle},
		},
	}
	x, y := toyAxes(hs)    // in common, so that widths of laws can be compared
	for i, h := range hs { // panels stand in one row, in the order of the cells
		f.panels[0] = append(f.panels[0], &panel{Title: titles[i], X: x, Y: y,
			Series: []curve{h.outline(x), h.truth(x)}})
	}
	// Exact flows have no error of their own: what is wrong is due to batches.
	r := rows[0] // bench sees to it that the others differ in batches and scheme alone
	f.Caption = d.caption(fmt.Sprintf("%s flow of each batch, %s, %s%s.",
		capital(r.Text("integrator")), setting("step").Text(r), setting("friction").Text(r),
		unusual(r)),
		"The flow has no error of its own: steps that see a part of the data alone have another "+
			"stationary law than the posterior.", strings.Join(toyNotes(hs, x), " "))
	d.out.Figures = append(d.out.Figures, f)
	return nil
}

// toySchemes are what the caption says of the schemes of its panels.
var toySchemes = map[string]string{
	"replacement": "Replacement: a batch drawn at every step.",
	"reshuffle":   "Reshuffle: all batches in a fresh random order in every epoch.",
}

// toyNotes explain schemes, and say how many draws lie beyond the axis: of a bin across its end the
// part that does.
func toyNotes(hs []histogram, x axis) (notes []string) {
	for _, h := range hs {
		if text := toySchemes[h.row.Text("scheme")]; text != "" && h.row.Number("K") > 1 {
			notes = distinct.Append(notes, text)
		}
	}
	most := 0. // share of a chain's draws
	for _, h := range hs {
		beyond := 0.
		for i, n := range h.counts {
			low, high := h.edges[i], h.edges[i+1]
			beyond += n * (1 - (x.clamp(high)-x.clamp(low))/(high-low))
		}
		most = max(most, beyond/h.total)
	}
	if most > 0 {
		notes = append(notes, fmt.Sprintf("Beyond the axis: up to %s %% of a chain's draws.",
			significant(100*most)))
	}
	return notes
}

// toyAxes are common to all panels. They span three and a half standard deviations of the
// posterior to both sides, all bins with more than a thousandth of their chain's draws, and all
// densities with a twentieth above them.
func toyAxes(hs []histogram) (x, y axis) {
	// Rare draws far out would leave the laws no room.
	var xs []float64
	top := []float64{0} // what the vertical axis spans
	for _, h := range hs {
		top = append(append(top, h.exact.Prob(h.exact.Mu)), h.density...)
		for i, n := range h.counts {
			if n > h.total/1000 {
				xs = append(xs, h.edges[i], h.edges[i+1])
			}
		}
		xs = append(xs, h.exact.Mu-3.5*h.exact.Sigma, h.exact.Mu+3.5*h.exact.Sigma)
	}
	x = axis{Label: "parameter θ", Ticks: 5}.over(xs).padded(0.02)
	// Densities begin at 0, which is among what the axis spans.
	y = axis{Label: "density", Ticks: 5, Grid: true}.over(top)
	y.High *= 1.05
	return x, y
}

// toyRecords have a row per bin of each chain: what tells the chain apart, the bin's edges, how
// many draws it has, and the density of the chain and of the posterior there.
func toyRecords(hs []histogram, stated []bench.Setting) Records {
	// Counts are whole numbers, which the store keeps as floating-point ones.
	columns := []string{"scheme", "K", "theta_low", "theta_high", "count", "density",
		"exact_density_at_middle"}
	out := Records{Columns: append(columns, bench.ColumnsOf(stated...)...)}
	// Stated settings come last, behind the columns that every file has.
	of := append([]bench.Setting{setting("scheme"), setting("K")}, stated...)
	for _, h := range hs {
		fields := fieldsOf(of, h.row)
		for i, n := range h.counts {
			low, high := h.edges[i], h.edges[i+1]
			out.add(slices.Concat(fields[:2], []any{low, high, n, h.density[i],
				h.exact.Prob((low + high) / 2)}, fields[2:])...)
		}
	}
	return out
}
