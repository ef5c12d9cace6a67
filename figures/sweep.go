package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/internal/distinct"
	"hambench/usage"
)

// chains are the cells at one place of a figure or a table: of a panel, at a point
// of a line, in a row.
type chains struct {
	cell     bench.Cell // the first
	expected int
	results  []bench.Result // that there are
	diverged int            // of these
	self     band
}

// gather puts jobs together whose cells have the same key, in the order in which
// these occur.
func gather[K comparable](jobs []bench.Job, results map[string]bench.Result, key func(bench.Cell) K) (all []*chains, at map[K]*chains) {
	at = make(map[K]*chains)
	for _, j := range jobs {
		k := key(j.Cell)
		c := at[k]
		if c == nil {
			c = &chains{cell: j.Cell}
			at[k], all = c, append(all, c)
		}
		c.expected++
		r, ok := results[j.Key]
		if ok {
			c.results = append(c.results, r)
		}
		if r.Diverged {
			c.diverged++
		}
	}
	for _, c := range all {
		c.self = selfBand(c.results)
	}
	return all, at
}

// band is the self-distance: a mean with its 5 and 95 % quantiles. All are NaN
// without results.
type band struct{ mean, low, high float64 }

// selfBand is the mean self-distance over the splits. All results of a split
// (or seed) that are judged by one truth carry the same one: each counts once.
func selfBand(results []bench.Result) band {
	seen := make(map[[6]any]bool)
	var mean, low, high []float64
	for _, r := range results {
		c := r.Cell
		truth := [...]any{c.Dataset, c.Model, c.Oracle, c.Samples, c.Split, c.Seed}
		if !seen[truth] {
			mean, low, high = append(mean, r.KSSelf), append(low, r.KSSelfLow), append(high, r.KSSelfHigh)
		}
		seen[truth] = true
	}
	return band{stat.Mean(mean, nil), stat.Mean(low, nil), stat.Mean(high, nil)}
}

// point is a point of a line: the mean over its cells, one per split (or seed), of
// what was observed.
type point struct {
	*chains
	place     [2]string // of its panel
	line      string    // its name
	x         float64
	mean, sd  float64 // NaN without values; sd is for fewer than two
	low, high float64 // edges of the band: a deviation to both sides
}

// sweep is a study's cells as its figure shows them: its panels, the lines in
// them, and the axes.
type sweep struct {
	panels, lines []setting
	fixed         []setting          // that do not vary and captions state
	x             setting            // tells the points of a line apart
	xObserved     *bench.Observation // where they stand; nil for x
	y             bench.Observation
	logX, logY    bool

	rows, columns []string              // what panels have in common
	names         []string              // of lines
	groups        map[[2]string]*chains // of panels
	points        []*point              // row by row, line by line, by ascending x; one for every x that was asked for
	means         []*chains             // of the points
	splits        int                   // cells of a point, at most
	diverged      bool                  // any cell
}

// newSweep groups a plan's cells, and the results that there are of them, as its
// figure says. The orders of panels and lines are those of the cells, numbers
// ascending and the full batch last. Under an observed x, points are told apart
// by their steps.
func newSweep(p bench.Plan, results map[string]bench.Result) (*sweep, error) {
	s, err := newLayout(p)
	if err != nil {
		return nil, err
	}
	s.rows = distinct.Of(sortedJobs(p.Cells, s.panels[:1]), func(j bench.Job) string { return s.place(j.Cell)[0] })
	s.columns = distinct.Of(sortedJobs(p.Cells, s.panels[1:]), func(j bench.Job) string { return s.place(j.Cell)[1] })
	s.names = distinct.Of(p.Cells, func(j bench.Job) string { return textOf(s.lines, j.Cell) })
	_, s.groups = gather(p.Cells, results, s.place)
	line := setting{value: func(c bench.Cell) any { return textOf(s.lines, c) }}
	x := setting{value: func(c bench.Cell) any { return s.at(p, c) }}
	axes := slices.Concat(s.panels, []setting{line, x})
	s.means, _ = gather(sortedJobs(p.Cells, axes), results, func(c bench.Cell) string { return joined(axes, c, "\n") })
	for _, c := range s.means {
		at := &point{chains: c, place: s.place(c.cell), line: textOf(s.lines, c.cell), x: s.at(p, c.cell)}
		at.mean, at.sd = stat.MeanStdDev(observed(s.y, c.results), nil)
		if at.low, at.high = at.mean, at.mean; isFinite(at.sd) {
			at.low, at.high = at.mean-at.sd, at.mean+at.sd
		}
		if s.y.Name == distance {
			at.low, at.high = max(at.low, 0), min(at.high, 1)
		}
		s.points = append(s.points, at)
		s.splits, s.diverged = max(s.splits, c.expected), s.diverged || c.diverged > 0
	}
	if s.xObserved != nil {
		for _, at := range s.points {
			at.x = stat.Mean(observed(*s.xObserved, at.results), nil)
		}
	}
	return s, nil
}

// at is where a cell stands on the x axis. The full batch is as large as its data
// set.
func (s *sweep) at(p bench.Plan, c bench.Cell) float64 {
	x, _ := s.x.number(c)
	if s.x.name == "batch" && c.BatchSize == bench.Full {
		d, _ := p.Dataset(c.Dataset)
		x = float64(d.Rows)
	}
	return x
}

// compareIn compares the places of two strings in a list.
func compareIn(list []string, a, b string) int {
	return cmp.Compare(slices.Index(list, a), slices.Index(list, b))
}

// newLayout finds what the figure of a plan shows: what its study says, and else
// a panel per data set and batch size with the distance against the step, and
// a line for each combination of all that varies beside.
func newLayout(p bench.Plan) (s *sweep, err error) {
	spec := *cmp.Or(p.Figure, new(bench.FigureSpec))
	s = &sweep{logX: spec.XScale != "linear", logY: spec.YScale == "log" || spec.YScale == "" && len(p.Exact) > 0}
	if s.y, err = observe(cmp.Or(spec.Y, distance)); err != nil {
		return nil, err
	}
	switch {
	case s.y.Name != distance:
	case slices.ContainsFunc(p.Cells, func(j bench.Job) bool { return j.Cell.Oracle != bench.Analytic }):
		s.y.Label += " to the oracle"
	default:
		s.y.Label += " to the posterior"
	}
	if len(spec.Panels) == 0 {
		spec.Panels = []string{"data", "batch"}
	}
	if s.panels, err = lookup(spec.Panels, p.Cells); err != nil {
		return nil, err
	}
	if s.lines, err = lookup(spec.Lines, p.Cells); err != nil {
		return nil, err
	}
	x := cmp.Or(spec.X, "step")
	if o, err := observe(x); err == nil {
		s.xObserved, x = &o, "step"
	}
	found, err := lookup([]string{x}, p.Cells)
	if err != nil || !found[0].isNumber() {
		return nil, usage.Errorf("x = %q is no number of a cell, and nothing that is observed", x)
	}
	s.x = found[0]
	axes := slices.Concat(s.panels, s.lines, found)
	for _, k := range settings {
		switch varies := k.varies(p.Cells); {
		case !k.onLines() || slices.ContainsFunc(axes, func(a setting) bool { return a.name == k.name }):
		case varies && len(spec.Lines) == 0:
			s.lines = append(s.lines, k)
		case !varies && k.axis == bench.Stated:
			s.fixed = append(s.fixed, k)
		}
	}
	switch {
	case len(s.lines) > 0:
	case len(s.fixed) > 0:
		s.lines, s.fixed = s.fixed[:1], s.fixed[1:]
	default:
		s.lines, _ = lookup([]string{"integrator"}, nil)
	}
	return s, nil
}

// mostColumns is how many panels of one setting stand side by side.
const mostColumns = 4

// place is a cell's row and column among the panels. Batches of one size share
// a column, though their number differs between data sets.
func (s *sweep) place(c bench.Cell) [2]string {
	return [2]string{joined(s.panels[:1], c, " "), joined(s.panels[1:], c, " ")}
}

// sortedJobs sorts by the settings, one after another: numbers ascend, with the
// full batch last; names keep the order in which they occur.
func sortedJobs(jobs []bench.Job, by []setting) []bench.Job {
	sorted := slices.Clone(jobs)
	for _, s := range slices.Backward(by) {
		names := distinct.Of(jobs, func(j bench.Job) string { return s.text(j.Cell) })
		slices.SortStableFunc(sorted, func(a, b bench.Job) int {
			x, isNumber := s.number(a.Cell)
			y, _ := s.number(b.Cell)
			if isNumber {
				return cmp.Compare(x, y)
			}
			return compareIn(names, s.text(a.Cell), s.text(b.Cell))
		})
	}
	return sorted
}

// byModel makes a data set of each model where a data set has several: each then has
// panels of its own, since each has its own self-distance.
func byModel(p bench.Plan) bench.Plan {
	models := make(map[string][]string)
	for _, j := range p.Cells {
		models[j.Cell.Dataset] = distinct.Append(models[j.Cell.Dataset], j.Cell.Model)
	}
	named := func(dataset, model string) string { return dataset + ", " + model }
	p.Cells, p.Data = slices.Clone(p.Cells), slices.Clip(p.Data)
	for i := range p.Cells {
		if c := &p.Cells[i].Cell; len(models[c.Dataset]) > 1 {
			c.Dataset = named(c.Dataset, c.Model)
		}
	}
	for name, of := range models {
		d, ok := p.Dataset(name)
		if d.For = nil; !ok || len(of) == 1 {
			continue
		}
		for _, model := range of {
			d.Name = named(name, model)
			p.Data = append(p.Data, d)
		}
	}
	return p
}

// style is that of the i-th line: lines that differ in a number alone are coloured in
// its order.
func (s *sweep) style(i int) Style {
	switch {
	case len(s.lines) > 1:
		return Categorical(i)
	case s.lines[0].isNumber():
		return sequential(i, len(s.names))
	}
	return stylesOf(s.names)[i]
}

// figure has all panels on the same axes. Places without cells stay empty.
func (s *sweep) figure(d *drawing) *Figure {
	f := &Figure{ID: d.plan.ID, Title: d.plan.Title, Warning: d.replaced(), Data: s.records()}
	columns := len(s.columns)
	if len(s.panels) == 1 {
		columns = min(mostColumns, len(s.rows))
	}
	f.Width, f.Height = size(columns)
	x, y := s.axes(f.Width)
	var panels []*Panel
	for _, row := range s.rows {
		for _, column := range s.columns {
			panels = append(panels, s.panel([2]string{row, column}, x, y))
		}
	}
	f.Rows = Grid(panels, columns)
	for i, name := range s.names {
		label := name
		if s.logY { // where slopes can be seen
			label = s.withOrder(d.plan, name)
		}
		f.Legend = append(f.Legend, Entry{Name: name, Label: label, Style: s.style(i)})
	}
	if s.y.Name == distance {
		f.Legend = append(f.Legend, Entry{Label: "self-distance (5–95 %)", Style: selfStyle()})
	}
	if s.diverged {
		f.Legend = append(f.Legend, Entry{Label: "diverged", Style: Style{Color: ink}, Lost: 1})
		if s.splits > 1 {
			f.Legend = append(f.Legend, Entry{Label: "diverged in some splits", Style: Style{Color: ink}, Lost: 0.5})
		}
	}
	f.Caption = d.caption(s.notes(d.plan, x)...)
	return f
}

// size is the size of a panel in a grid of n columns.
func size(columns int) (width, height float64) {
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

// axes are those that all panels share.
func (s *sweep) axes(width float64) (x, y Axis) {
	var xs, ys, bands []float64
	for _, p := range s.points {
		xs, ys = append(xs, p.x), append(ys, p.mean)
		bands = append(bands, p.low, p.high)
	}
	x, y = Axis{Log: s.logX, Ticks: 4}, Axis{Log: s.logY, Ticks: 4, Label: s.y.Label, Grid: true}
	switch {
	case s.xObserved != nil:
		x.Label = s.xObserved.Label
	case s.x.name == "step":
		x.Label, x.Unit = stepLabel, timeUnit
	default:
		x.Label = s.x.label
	}
	x = x.over(xs).roomy(width)
	switch {
	case s.y.Name != distance && s.logY:
		y = y.over(ys).padded(0.06)
	case s.y.Name != distance:
		y = y.over(bands).padded(0.06)
	case s.logY:
		for _, g := range s.groups {
			ys = append(ys, g.self.low)
		}
		y = y.over(ys, []float64{1}).padded(0.03)
		y.High = 1
	default:
		y.Low, y.High = 0, 1
	}
	if s.diverged {
		y.Lost = "diverged"
	}
	return x, y
}

// selfStyle is that of the band of self-distance with its mean.
func selfStyle() Style {
	style := dotted(1)
	style.Fill = bandGrey
	return style
}

// panel has the self-distance and a line per name; nil where there are no cells.
func (s *sweep) panel(place [2]string, x, y Axis) *Panel {
	g := s.groups[place]
	if g == nil {
		return nil
	}
	p := &Panel{Title: textOf(s.panels, g.cell), X: x, Y: y}
	if s.y.Name == distance && isFinite(g.self.mean) {
		twice := func(v float64) []float64 { return []float64{v, v} }
		p.Series = append(p.Series, Series{
			Style: selfStyle(), X: []float64{x.Low, x.High}, Y: twice(g.self.mean), Low: twice(g.self.low), High: twice(g.self.high),
		})
	}
	for i, name := range s.names {
		line := Series{Name: name, Style: s.style(i)}
		line.Style.Fill = translucent(line.Style.Color, len(s.names))
		for _, at := range s.points {
			if at.place != place || at.line != name {
				continue
			}
			line.X, line.Y = append(line.X, at.x), append(line.Y, at.mean)
			line.Low, line.High = append(line.Low, at.low), append(line.High, at.high)
			line.Lost = append(line.Lost, float64(at.diverged)/float64(max(1, len(at.results))))
		}
		if line.X != nil {
			p.Series = append(p.Series, line)
		}
	}
	return p
}

// withOrder adds the order of an integrator's law of θ with the full batch, on which all
// distances depend, to the name of a line that has one integrator.
func (s *sweep) withOrder(p bench.Plan, name string) string {
	ofLine := func(j bench.Job) bool { return textOf(s.lines, j.Cell) == name }
	i := slices.IndexFunc(p.Cells, ofLine)
	if i < 0 || !slices.ContainsFunc(s.lines, func(l setting) bool { return l.name == "integrator" }) {
		return name
	}
	m, ok := p.Method(p.Cells[i].Cell.Integrator)
	if order := float64(m.Position); ok && order > 0 && !math.IsInf(order, 0) {
		return name + " (order " + decimal(order) + ")"
	}
	return name
}

// notes are the sentences of the caption that a sweep needs.
func (s *sweep) notes(p bench.Plan, x Axis) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	fixed := distinct.Of(p.Cells, func(j bench.Job) string { return textOf(s.fixed, j.Cell) })
	if text := strings.Join(fixed, " or "); text != "" {
		note("%s.", text)
	}
	text := "B: rows per mini-batch, K: mini-batches per epoch"
	mini := slices.DeleteFunc(slices.Clone(p.Cells), func(j bench.Job) bool { return j.Cell.Batches < 2 })
	if len(mini) > 0 {
		text += " (" + strings.Join(distinct.Of(mini, func(j bench.Job) string { return j.Cell.Scheme }), ", ") + ")"
	}
	note("%s.", text)
	several := func(g *chains) bool {
		return len(distinct.Of(g.results, func(r bench.Result) int { return r.Cell.Samples })) > 1
	}
	if s.y.Name == distance && slices.ContainsFunc(slices.Collect(maps.Values(s.groups)), several) {
		note("The band of self-distance is the mean over chains of several lengths: shorter ones are further apart.")
	}
	const deviation = "bands: one standard deviation to both sides."
	noX, noY := 0, 0
	for _, at := range s.points {
		switch {
		case len(at.results) == 0:
		case !x.Shows(at.x):
			noX++
		case s.logY && !(at.mean > 0):
			noY++
		}
	}
	switch over := mixed(s.means); {
	case len(over) > 0:
		note("Lines: mean over up to %d chains, which differ in %s; %s", s.splits, strings.Join(over, ", "), deviation)
	case s.splits > 1:
		note("Lines: mean over %d splits (seeds where a set has no splits); %s", s.splits, deviation)
	default:
		note("One split: no error bands.")
	}
	if s.diverged {
		counted := !math.IsNaN(s.y.Of(bench.Result{Diverged: true}))
		switch {
		case s.y.Name == distance:
			note("A chain that diverged counts as distance 1.")
		case counted:
			note("A chain that diverged counts with its %s up to there.", s.y.Name)
		default:
			note("A chain that diverged has no %s.", s.y.Name)
		}
		if len(s.names) > 1 {
			note("Marks of divergence at one place of the axis stand side by side, in the order of the legend.")
		}
	}
	if noX > 0 {
		note("%d points have no place on the axis: their %s is 0, infinite, or not known.", noX, x.Label)
	}
	if noY > 0 {
		note("%d points at %s 0 have no place on a logarithmic axis.", noY, s.y.Name)
	}
	return notes
}

// always are the settings that the CSV of every sweep has.
var always = []string{"data", "batch", "K", "scheme", "integrator", "nl", "friction", "step"}

// records are the numbers drawn, a row per point.
func (s *sweep) records() (out Records) {
	columns, _ := lookup(always, nil)
	for _, e := range slices.Concat(s.panels, s.lines, []setting{s.x}) {
		if !slices.ContainsFunc(columns, func(c setting) bool { return c.name == e.name }) {
			columns = append(columns, e)
		}
	}
	out.Columns = columnsOf(columns)
	if s.xObserved != nil {
		out.Columns = append(out.Columns, s.xObserved.Column)
	}
	out.Columns = append(out.Columns, "cells", "cells_expected", "cells_diverged", s.y.Column+"_mean", s.y.Column+"_sd", "self_mean", "self_p05", "self_p95")
	for _, p := range s.points {
		row := fieldsOf(columns, p.cell)
		if s.xObserved != nil {
			row = append(row, p.x)
		}
		self := s.groups[p.place].self
		out.add(append(row, len(p.results), p.expected, p.diverged, p.mean, p.sd, self.mean, self.low, self.high)...)
	}
	return out
}

// drawSweep makes a sweep's figure, its table, and the twin of a study that has
// exact errors, too.
func drawSweep(d *drawing) error {
	for _, j := range d.plan.Jobs() {
		if o := j.Cell.Observe; o != bench.Distance && !(o == bench.Coupled && d.plan.Figure != nil && d.plan.Figure.Y == "coupled") {
			return usage.Errorf("study %s records %s, and names no kind of figure for it: a run of this version writes one", d.plan.ID, j.Cell.Observe)
		}
	}
	d.plan = byModel(d.plan)
	if d.plan.Figure == nil && d.plan.Table != nil {
		return drawTable(d, d.plan.ID, d.plan.Table)
	}
	s, err := newSweep(d.plan, d.byKey)
	if err != nil {
		return err
	}
	d.out.Figures = append(d.out.Figures, s.figure(d))
	if err := drawTable(d, d.plan.ID+"-table", d.plan.Table); err != nil || len(d.plan.Exact) == 0 {
		return err
	}
	return drawTwin(d, s)
}
