package figures

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"hambench/bench"
)

// attribute is something in which the lines of a sweep may differ.
type attribute struct {
	text    func(bench.Cell) string // "" where a cell does not have it
	ordered bool                    // a number: lines are coloured in its order
	hidden  bool                    // stated in captions only where it varies
}

// attributes are what cells may differ in beside data set, batch size, step,
// split and seed, which are the axes and what is averaged.
var attributes = []attribute{
	{text: func(c bench.Cell) string { return c.Integrator + valuesText(c.Values) }},
	{text: func(c bench.Cell) string { return fmt.Sprintf("N_l = %d", c.Inner) }, ordered: true, hidden: true},
	{text: func(c bench.Cell) string { return "C = " + frictionText(c) }, ordered: true},
	{text: func(c bench.Cell) string { return c.Estimator }, hidden: true},
	{text: func(c bench.Cell) string {
		if c.Batches == 1 {
			return ""
		}
		return c.Scheme
	}, hidden: true},
	{text: func(c bench.Cell) string { return c.Precision }, hidden: true},
}

// varies reports whether the attribute differs among the cells of a panel. A
// model or a precision that only goes with the data set does not.
func (a attribute) varies(cells []bench.Job) bool {
	seen := make(map[string]string)
	for _, j := range cells {
		c := j.Cell
		text, panel := a.text(c), fmt.Sprint(c.Dataset, c.Batches)
		if old, ok := seen[panel]; ok && old != text {
			return true
		}
		seen[panel] = text
	}
	return false
}

// valuesText states the values of an integrator's own parameters.
func valuesText(values map[string]float64) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, ", %s = %s", name, decimal(values[name]))
	}
	return b.String()
}

// family is how a sweep is shown: its cells make one line for each combination
// of the attributes that vary, and the caption states the others. What varies
// is found in the plan, so that a study says nothing about its figure.
type family struct {
	vary, fixed []attribute
	// logY: exact errors, which span decades, stand below the distances.
	logY  bool
	truth string // what distances are to
}

// newFamily finds what varies in a plan.
func newFamily(p bench.Plan) family {
	f := family{logY: len(p.Exact) > 0, truth: "posterior"}
	for _, a := range attributes {
		switch {
		case a.varies(p.Cells):
			f.vary = append(f.vary, a)
		case !a.hidden:
			f.fixed = append(f.fixed, a)
		}
	}
	if len(f.vary) == 0 {
		f.vary, f.fixed = f.fixed[:1], f.fixed[1:]
	}
	if slices.ContainsFunc(p.Cells, func(j bench.Job) bool { return j.Cell.Oracle != bench.Analytic }) {
		f.truth = "oracle"
	}
	return f
}

// textOf joins what the attributes say of a cell.
func textOf(as []attribute, c bench.Cell) string {
	var out []string
	for _, a := range as {
		if t := a.text(c); t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, ", ")
}

// name identifies and labels a cell's line.
func (f family) name(c bench.Cell) string { return textOf(f.vary, c) }

// look is that of the i-th of n lines.
func (f family) look(i, n int, name string) look {
	switch {
	case len(f.vary) > 1:
		return categorical(i)
	case f.vary[0].ordered:
		return sequential(i, n)
	}
	return integratorLook(i, name)
}

// frictionText is C as people read it.
func frictionText(c bench.Cell) string {
	if math.IsInf(float64(c.Friction), 1) {
		return "∞"
	}
	return decimal(float64(c.Friction))
}

// withOrder adds the order of an integrator's law of θ, on which all
// distances depend, to its name.
func withOrder(p bench.Plan, name string) string {
	m, ok := p.Method(baseName(name))
	if order := float64(m.Position); ok && order > 0 && !math.IsInf(order, 0) {
		return name + " (order " + decimal(order) + ")"
	}
	return name
}

// byModel names the data set of cells by its model, too, where it has several:
// each then has panels of its own, since each has its own self-distance.
func byModel(jobs []bench.Job) []bench.Job {
	model, several := make(map[string]string), make(map[string]bool)
	for _, j := range jobs {
		c := j.Cell
		first, ok := model[c.Dataset]
		several[c.Dataset] = several[c.Dataset] || ok && first != c.Model
		if !ok {
			model[c.Dataset] = c.Model
		}
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		if c := &jobs[i].Cell; several[c.Dataset] {
			c.Dataset += ", " + c.Model
		}
	}
	return jobs
}

// drawSweep draws distances, writes their table, and draws the twin of a study
// that has exact errors, too.
func drawSweep(d *drawing) error {
	d.plan.Cells = byModel(d.plan.Cells)
	f := newFamily(d.plan)
	s := newSweep(d.plan.Cells, d.Results.Result, f.name)
	if err := d.csv(sweepHeader, s.rows()); err != nil {
		return err
	}
	if err := d.save(f.sheet(d, s)); err != nil {
		return err
	}
	if err := writeSummary(d.named("-table"), s); err != nil || len(d.plan.Exact) == 0 {
		return err
	}
	return drawTwin(d, f, s)
}

const stepLabel = "step size η (simulation time)"

// edge is the space between the outermost steps and the edges of a panel.
const edge = vg.Length(12)

// size is the size of a panel in a grid of n columns.
func (f family) size(columns int) (width, height vg.Length) {
	switch {
	case columns <= 2:
		return 302, 235
	case columns == 3:
		return 210, 126
	case columns == 4:
		return 170, 122
	}
	return 145, 120
}

// sheet has a row per data set and a column per batch size, all with the same
// axes. Places without cells stay empty; the axis labels move to the next panel.
func (f family) sheet(d *drawing, s *sweep) *sheet {
	sh := &sheet{
		title:  d.plan.Title,
		xLabel: stepLabel, yLabels: []string{"mean Kolmogorov distance to the " + f.truth},
	}
	sh.width, sh.height = f.size(len(s.batches))
	data := vg.Point{X: sh.width - panelGap - 8, Y: sh.height - panelTitle - 6} // a panel without title and labels
	x := logRange(s.steps).padded(float64(edge / (data.X - 2*edge)))
	x.ticks = logTicks(x.low, x.high, data.X, across)
	y := f.distances(s, data.Y)
	shown := y
	if s.diverged() {
		shown = withStrip(y, "diverged", data.Y)
	}
	for range s.datasets {
		sh.panels = append(sh.panels, make([]panel, len(s.batches)))
	}
	lowest := make(map[int]*plot.Plot) // of each column
	for k, b := range s.blocks {
		p := f.panel(s, b, y, shown)
		shown.apply(&p.Y, k == 0 || s.blocks[k-1].dataset != b.dataset) // the leftmost of a row
		x.apply(&p.X, false)
		lowest[b.batch] = p
		sh.panels[slices.Index(s.datasets, b.dataset)][slices.Index(s.batches, b.batch)] = panel{title: b.title(), Plot: p}
	}
	for _, p := range lowest {
		x.apply(&p.X, true)
	}
	f.legend(sh, d.plan, s)
	sh.caption = d.caption(f.notes(d, s)...)
	sh.warning = d.replaced()
	return sh
}

// distances is the vertical axis that all panels share.
func (f family) distances(s *sweep, height vg.Length) axis {
	if !f.logY {
		return axis{low: 0, high: 1, ticks: linearTicks(0, 1, 4)}
	}
	var values []float64
	for _, b := range s.blocks {
		if b.self.known {
			values = append(values, b.self.low)
		}
	}
	s.each(func(_ block, _ line, p point) { values = append(values, p.mean) })
	a := logRange(append(values, 1)).padded(0.03)
	a.high = 1
	a.ticks = logTicks(a.low, a.high, height, upwards)
	return a
}

// withStrip lengthens an axis by the strip for diverged cells, with its label,
// on a panel of the given height.
func withStrip(y axis, label string, height vg.Length) axis {
	without := height - stripHeight
	tick := plot.Tick{Value: y.at(float64((without + stripMiddle) / without)), Label: label}
	y.high = y.at(float64(height / without))
	y.ticks = append(slices.Clone(y.ticks), tick)
	return y
}

// panel draws from the back to the front: strip, grid, self-distance, all error
// bands, all curves.
func (f family) panel(s *sweep, b block, y, shown axis) *plot.Plot {
	p := newPlot()
	hasStrip := shown.high > y.high
	if hasStrip {
		p.Add(strip{})
	}
	p.Add(gridLines{y.ticks}, selfDistance{band: b.self, axis: y})
	var curves []plot.Plotter
	for _, l := range b.lines {
		lane := slices.Index(s.names, l.name)
		k := curve{look: f.look(lane, len(s.names), l.name), points: l.points, axis: y, lane: lane, lanes: len(s.names), strip: hasStrip}
		p.Add(errorBand{k})
		curves = append(curves, k)
	}
	p.Add(curves...)
	return p
}

// title names what the panel's cells share.
func (b block) title() string {
	if b.batch == bench.Full {
		return b.dataset + ", full batch"
	}
	return fmt.Sprintf("%s, B = %d (K = %d)", b.dataset, b.batch, b.k)
}

// legend has a swatch per line. On a logarithmic axis slopes can be seen, so
// labels state the orders that they should have.
func (f family) legend(sh *sheet, p bench.Plan, s *sweep) {
	for i, name := range s.names {
		label := name
		if f.logY {
			label = withOrder(p, name)
		}
		sh.legend = append(sh.legend, lineSwatch(f.look(i, len(s.names), name), label))
	}
	sh.legend = append(sh.legend, selfSwatch("self-distance (5–95 %)"))
	if s.diverged() {
		sh.legend = append(sh.legend, divergedSwatch(true, "diverged"))
		if s.splits() > 1 {
			sh.legend = append(sh.legend, divergedSwatch(false, "diverged in some splits"))
		}
	}
}

// notes are the sentences of the caption that a sweep needs.
func (f family) notes(d *drawing, s *sweep) []string {
	var notes, fixed []string
	for _, j := range d.plan.Cells {
		fixed = appendNew(fixed, textOf(f.fixed, j.Cell))
	}
	if text := strings.Join(fixed, " or "); text != "" {
		notes = append(notes, text+".")
	}
	notes = append(notes, "B: rows per mini-batch, K: mini-batches per epoch"+schemeText(d.plan.Cells)+".")
	if n := s.splits(); n > 1 {
		notes = append(notes, fmt.Sprintf("Lines: mean over %d splits (seeds where a set has no splits); bands: one standard deviation to both sides.", n))
	} else {
		notes = append(notes, "One split: no error bands.")
	}
	if s.diverged() {
		notes = append(notes, "A chain that diverged counts as distance 1.")
	}
	if n := s.count(func(p point) bool { return p.known() && !(p.mean > 0) }); f.logY && n > 0 {
		notes = append(notes, fmt.Sprintf("%d points at distance 0 have no place on a logarithmic axis.", n))
	}
	return notes
}

// schemeText names the mini-batch schemes of the cells.
func schemeText(jobs []bench.Job) string {
	var names []string
	for _, j := range jobs {
		if j.Cell.Batches > 1 {
			names = appendNew(names, j.Cell.Scheme)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// sweepHeader are the columns of rows.
var sweepHeader = []string{
	"dataset", "batch", "K", "scheme", "integrator", "nl", "friction", "h", "cells", "cells_expected", "cells_diverged",
	"ks_mean", "ks_sd", "self_mean", "self_p05", "self_p95",
}

// rows are the numbers drawn, a row per point.
func (s *sweep) rows() [][]string {
	var out [][]string
	s.each(func(b block, l line, p point) {
		c := l.cell
		out = append(out, fields(b.dataset, b.batch, b.k, c.Scheme, c.Integrator, c.Inner, strings.Replace(frictionText(c), "∞", "inf", 1), p.h,
			p.have, p.expected, p.diverged, p.mean, p.sd, b.self.mean, b.self.low, b.self.high))
	})
	return out
}
