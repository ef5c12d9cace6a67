package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/internal/distinct"
	"hambench/usage"
)

// point is the cells at one place of a line, one per split (or seed), and the
// mean of what was observed.
type point struct {
	*group
	line     string // its name
	x        float64
	cell     bench.Cell // the first of the cells
	expected int
	results  []bench.Result
	mean, sd float64 // NaN without values; sd is for fewer than two
}

// group is what one panel of a sweep shows.
type group struct {
	place [2]string  // its row and column
	first bench.Cell // for what its cells share
	self  band
}

// diverged counts the chains that did.
func (p point) diverged() int {
	n := 0
	for _, r := range p.results {
		if r.Diverged {
			n++
		}
	}
	return n
}

// spread is sd, and 0 where one cell has none.
func (p point) spread() float64 {
	if math.IsNaN(p.sd) {
		return 0
	}
	return p.sd
}

// band is the self-distance: a mean with its 5 and 95 % quantiles. All are NaN
// without results.
type band struct{ mean, low, high float64 }

// selfBand is the mean self-distance over the splits. All results of a split
// (or seed) that are judged by one truth carry the same one: each counts once.
func selfBand(results []bench.Result) band {
	type split struct {
		data, model, oracle string
		samples, index      int
		seed                uint64
	}
	var seen []split
	var mean, low, high []float64
	for _, r := range results {
		c := r.Cell
		at := split{c.Dataset, c.Model, c.Oracle, c.Samples, c.Split, c.Seed}
		if slices.Contains(seen, at) {
			continue
		}
		seen = append(seen, at)
		mean, low, high = append(mean, r.KSSelf), append(low, r.KSSelfLow), append(high, r.KSSelfHigh)
	}
	return band{stat.Mean(mean, nil), stat.Mean(low, nil), stat.Mean(high, nil)}
}

// sweep is a study's cells as its figure shows them: its panels, the lines in
// them, and the axes.
type sweep struct {
	panels, lines []setting
	fixed         []setting    // that do not vary and captions state
	x             *setting     // nil if it is observed
	xObserved     *observation // nil if it is a setting
	y             observation
	logX, logY    bool
	truth         string // what distances are to

	rows, columns []string // what panels have in common
	names         []string // of lines
	groups        map[[2]string]*group
	points        []*point // row by row, line by line, by ascending x; one for every x that was asked for
}

// newSweep groups a plan's cells, and the results that there are of them, as its
// figure says. The orders of panels and lines are those of the cells, numbers
// ascending and the full batch last.
func newSweep(p bench.Plan, get bench.Getter) (*sweep, error) {
	s, err := newLayout(p)
	if err != nil {
		return nil, err
	}
	first := min(1, len(s.panels))
	for _, j := range sortedJobs(p.Cells, s.panels[:first]) {
		s.rows = distinct.Append(s.rows, s.place(j.Cell)[0])
	}
	for _, j := range sortedJobs(p.Cells, s.panels[first:]) {
		s.columns = distinct.Append(s.columns, s.place(j.Cell)[1])
	}
	rows := func(dataset string) int {
		name, _, _ := strings.Cut(dataset, ", ") // without the model that byModel adds
		d, _ := p.Dataset(name)
		return d.Rows
	}
	s.addPoints(p.Cells, get, rows)
	slices.SortStableFunc(s.points, func(a, b *point) int {
		return cmp.Or(compareIn(s.rows, a.place[0], b.place[0]), compareIn(s.columns, a.place[1], b.place[1]), compareIn(s.names, a.line, b.line), cmp.Compare(a.x, b.x))
	})
	results := make(map[*group][]bench.Result)
	for _, p := range s.points {
		p.mean, p.sd = stat.MeanStdDev(s.y.of(p.results), nil)
		if s.xObserved != nil {
			p.x = stat.Mean(s.xObserved.of(p.results), nil)
		}
		results[p.group] = append(results[p.group], p.results...)
	}
	for _, g := range s.groups {
		g.self = selfBand(results[g])
	}
	return s, nil
}

// compareIn compares the places of two strings in a list.
func compareIn(list []string, a, b string) int {
	return cmp.Compare(slices.Index(list, a), slices.Index(list, b))
}

// addPoints has a point for every x that was asked for on a line: what is
// missing is a point without results. Under an observed x, points are told apart
// by their steps.
func (s *sweep) addPoints(jobs []bench.Job, get bench.Getter, rows func(string) int) {
	type key struct {
		place [2]string
		line  string
		x     float64
	}
	s.groups = make(map[[2]string]*group)
	points := make(map[key]*point)
	for _, j := range jobs {
		at := key{s.place(j.Cell), textOf(s.lines, j.Cell), j.Cell.Step}
		if s.x != nil {
			at.x, _ = s.x.number(j.Cell, rows)
		}
		s.names = distinct.Append(s.names, at.line)
		if s.groups[at.place] == nil {
			s.groups[at.place] = &group{place: at.place, first: j.Cell}
		}
		p := points[at]
		if p == nil {
			p = &point{group: s.groups[at.place], line: at.line, x: at.x, cell: j.Cell}
			points[at], s.points = p, append(s.points, p)
		}
		p.expected++
		if r, ok := get(j.Key); ok {
			p.results = append(p.results, r)
		}
	}
}

// newLayout finds what the figure of a plan shows: what its study says, and else
// a panel per data set and batch size with the distance against the step, and
// a line for each combination of all that varies beside.
func newLayout(p bench.Plan) (s *sweep, err error) {
	spec := bench.FigureSpec{}
	if p.Figure != nil {
		spec = *p.Figure
	}
	s = &sweep{truth: "posterior", logX: spec.XScale != "linear", logY: spec.YScale == "log" || spec.YScale == "" && len(p.Exact) > 0}
	if s.y, err = observe(cmp.Or(spec.Y, distance)); err != nil {
		return nil, err
	}
	if s.panels, err = lookup(orElse(spec.Panels, "data", "batch"), p.Cells); err != nil {
		return nil, err
	}
	if x, err := lookup([]string{cmp.Or(spec.X, "step")}, p.Cells); err == nil {
		s.x = &x[0]
		if _, ok := s.x.number(bench.Cell{}, func(string) int { return 0 }); !ok {
			return nil, usage.Errorf("%q is no number: want one for the x axis", spec.X)
		}
	} else if o, err := observe(spec.X); err == nil {
		s.xObserved = &o
	} else {
		return nil, usage.Errorf("x = %q: want a setting of a cell that is a number, or what is observed", spec.X)
	}
	if s.lines, err = lookup(spec.Lines, p.Cells); err != nil {
		return nil, err
	}
	for _, k := range settings {
		isAxis := slices.ContainsFunc(append(slices.Clone(s.panels), s.lines...), func(a setting) bool { return a.name == k.name }) || s.x != nil && s.x.name == k.name
		switch varies := k.varies(p.Cells); {
		case isAxis || k.beside == 0:
		case varies && len(spec.Lines) == 0:
			s.lines = append(s.lines, k)
		case !varies && k.beside == stated:
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
	if slices.ContainsFunc(p.Cells, func(j bench.Job) bool { return j.Cell.Oracle != bench.Analytic }) {
		s.truth = "oracle"
	}
	return s, nil
}

// orElse is the names, or others if there are none.
func orElse(names []string, others ...string) []string {
	if len(names) == 0 {
		return others
	}
	return names
}

// mostColumns is how many panels of one setting stand side by side.
const mostColumns = 4

// place is a cell's row and column among the panels. Batches of one size share
// a column, though their number differs between data sets.
func (s *sweep) place(c bench.Cell) [2]string {
	rows := s.panels[:min(1, len(s.panels))]
	return [2]string{joined(rows, c, " "), joined(s.panels[len(rows):], c, " ")}
}

// sortedJobs sorts by the settings, one after another: numbers ascend, with the
// full batch last; names keep the order in which they occur.
func sortedJobs(jobs []bench.Job, by []setting) []bench.Job {
	rank := make(map[string]int)
	for _, j := range jobs {
		for _, s := range by {
			if k := s.name + " " + s.text(j.Cell); rank[k] == 0 {
				rank[k] = len(rank) + 1
			}
		}
	}
	place := func(j bench.Job, s setting) float64 {
		if x, ok := s.number(j.Cell, func(string) int { return math.MaxInt }); ok {
			return x
		}
		return float64(rank[s.name+" "+s.text(j.Cell)])
	}
	return slices.SortedStableFunc(slices.Values(jobs), func(a, b bench.Job) int {
		for _, s := range by {
			if c := cmp.Compare(place(a, s), place(b, s)); c != 0 {
				return c
			}
		}
		return 0
	})
}

// diverged reports whether any cell did.
func (s *sweep) diverged() bool {
	return slices.ContainsFunc(s.points, func(p *point) bool { return p.diverged() > 0 })
}

// splits is the largest number of cells per point.
func (s *sweep) splits() int {
	n := 0
	for _, p := range s.points {
		n = max(n, p.expected)
	}
	return n
}

// byModel names the data set of cells by its model, too, where it has several:
// each then has panels of its own, since each has its own self-distance.
func byModel(jobs []bench.Job) []bench.Job {
	models := make(map[string][]string)
	for _, j := range jobs {
		models[j.Cell.Dataset] = distinct.Append(models[j.Cell.Dataset], j.Cell.Model)
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		if c := &jobs[i].Cell; len(models[c.Dataset]) > 1 {
			c.Dataset += ", " + c.Model
		}
	}
	return jobs
}

// style is that of the i-th line.
func (s *sweep) style(i int) Style {
	switch {
	case len(s.lines) > 1:
		return Categorical(i)
	case s.lines[0].ordered():
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
			var p *Panel
			if g := s.groups[[2]string{row, column}]; g != nil {
				p = s.panel(g, x, y)
			}
			panels = append(panels, p)
		}
	}
	for len(panels)%columns > 0 {
		panels = append(panels, nil)
	}
	f.Rows = slices.Collect(slices.Chunk(panels, columns))
	for i, name := range s.names {
		label := name
		if s.logY { // where slopes can be seen
			label = withOrder(d.plan, name)
		}
		f.Legend = append(f.Legend, Entry{Name: name, Label: label, Style: s.style(i)})
	}
	if s.y.name == distance {
		f.Legend = append(f.Legend, Entry{Label: "self-distance (5–95 %)", Style: selfStyle()})
	}
	if s.diverged() {
		f.Legend = append(f.Legend, Entry{Label: "diverged", Style: Style{Color: ink}, Lost: 1})
		if s.splits() > 1 {
			f.Legend = append(f.Legend, Entry{Label: "diverged in some splits", Style: Style{Color: ink}, Lost: 0.5})
		}
	}
	f.Caption = d.caption(s.notes(d.plan)...)
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
		bands = append(bands, p.mean-p.spread(), p.mean+p.spread())
	}
	x, y = Axis{Log: s.logX, Ticks: 4}, Axis{Log: s.logY, Ticks: 4, Label: s.y.label, Grid: true}
	switch {
	case s.xObserved != nil:
		x.Label = s.xObserved.label
	case s.x.name == "step":
		x.Label, x.Unit = stepLabel, timeUnit
	default:
		x.Label = s.x.label
	}
	x = x.over(xs).roomy(width)
	switch {
	case s.y.name != distance && s.logY:
		y = y.over(ys).padded(0.06)
	case s.y.name != distance:
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
	if s.y.name == distance {
		y.Label += " to the " + s.truth
	}
	if s.diverged() {
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

// panel has the self-distance and a line per name.
func (s *sweep) panel(g *group, x, y Axis) *Panel {
	p := &Panel{Title: textOf(s.panels, g.first), X: x, Y: y}
	if s.y.name == distance && isFinite(g.self.mean) {
		twice := func(v float64) []float64 { return []float64{v, v} }
		p.Series = append(p.Series, Series{
			Style: selfStyle(), X: []float64{x.Low, x.High}, Y: twice(g.self.mean), Low: twice(g.self.low), High: twice(g.self.high),
		})
	}
	bottom, top := math.Inf(-1), math.Inf(1)
	if s.y.name == distance {
		bottom, top = 0, 1
	}
	for i, name := range s.names {
		line := Series{Name: name, Style: s.style(i)}
		line.Style.Fill = translucent(line.Style.Color, len(s.names))
		lost := false
		for _, pt := range s.points {
			if pt.group != g || pt.line != name {
				continue
			}
			line.X, line.Y = append(line.X, pt.x), append(line.Y, pt.mean)
			line.Low, line.High = append(line.Low, max(bottom, pt.mean-pt.spread())), append(line.High, min(top, pt.mean+pt.spread()))
			line.Lost = append(line.Lost, share(pt.diverged(), len(pt.results)))
			lost = lost || pt.diverged() > 0
		}
		if !lost {
			line.Lost = nil
		}
		if line.X != nil {
			p.Series = append(p.Series, line)
		}
	}
	return p
}

// share is a part of a whole, and 0 of nothing.
func share(part, whole int) float64 { return float64(part) / float64(max(1, whole)) }

// withOrder adds the order of an integrator's law of θ with the full batch, on
// which all distances depend, to its name.
func withOrder(p bench.Plan, name string) string {
	m, ok := p.Method(baseName(name))
	if order := float64(m.Position); ok && order > 0 && !math.IsInf(order, 0) {
		return name + " (order " + decimal(order) + ")"
	}
	return name
}

// baseName is an integrator's name without its parameters and N_l.
func baseName(name string) string {
	base, _, _ := strings.Cut(name, ",")
	return base
}

// notes are the sentences of the caption that a sweep needs.
func (s *sweep) notes(p bench.Plan) []string {
	var notes, fixed []string
	for _, j := range p.Cells {
		fixed = distinct.Append(fixed, textOf(s.fixed, j.Cell))
	}
	if text := strings.Join(fixed, " or "); text != "" {
		notes = append(notes, text+".")
	}
	notes = append(notes, "B: rows per mini-batch, K: mini-batches per epoch"+schemeText(p.Cells)+".")
	var means [][]bench.Result
	lengths := make(map[*group]int)
	several := false
	for _, p := range s.points {
		means = append(means, p.results)
		for _, r := range p.results {
			several = several || lengths[p.group] != 0 && lengths[p.group] != r.Cell.Samples
			lengths[p.group] = r.Cell.Samples
		}
	}
	if several && s.y.name == distance {
		notes = append(notes, "The band of self-distance is the mean over chains of several lengths: shorter ones are further apart.")
	}
	n, over := s.splits(), mixed(means...)
	switch {
	case len(over) > 0:
		notes = append(notes, fmt.Sprintf("Lines: mean over up to %d chains, which differ in %s; bands: one standard deviation to both sides.", n, strings.Join(over, ", ")))
	case n > 1:
		notes = append(notes, fmt.Sprintf("Lines: mean over %d splits (seeds where a set has no splits); bands: one standard deviation to both sides.", n))
	default:
		notes = append(notes, "One split: no error bands.")
	}
	if s.diverged() {
		_, counted := s.y.value(bench.Result{Diverged: true})
		switch {
		case s.y.name == distance:
			notes = append(notes, "A chain that diverged counts as distance 1.")
		case counted:
			notes = append(notes, "A chain that diverged counts with its "+s.y.name+" up to there.")
		default:
			notes = append(notes, "A chain that diverged has no "+s.y.name+".")
		}
		if len(s.names) > 1 {
			notes = append(notes, "Marks of divergence at one place of the axis stand side by side, in the order of the legend.")
		}
	}
	width, _ := size(1)
	x, _ := s.axes(width)
	noX, noY := 0, 0
	for _, p := range s.points {
		switch {
		case len(p.results) == 0:
		case !x.Shows(p.x):
			noX++
		case s.logY && !(p.mean > 0):
			noY++
		}
	}
	if noX > 0 {
		notes = append(notes, fmt.Sprintf("%d points have no place on the axis: their %s is 0, infinite, or not known.", noX, x.Label))
	}
	if noY > 0 {
		notes = append(notes, fmt.Sprintf("%d points at %s 0 have no place on a logarithmic axis.", noY, s.y.name))
	}
	return notes
}

// schemeText names the mini-batch schemes of the cells.
func schemeText(jobs []bench.Job) string {
	var names []string
	for _, j := range jobs {
		if j.Cell.Batches > 1 {
			names = distinct.Append(names, j.Cell.Scheme)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// always are the settings that the CSV of every sweep has.
var always = []string{"data", "batch", "K", "scheme", "integrator", "nl", "friction", "step"}

// records are the numbers drawn, a row per point.
func (s *sweep) records() Records {
	columns, _ := lookup(always, nil)
	extra := append(slices.Clone(s.panels), s.lines...)
	if s.x != nil {
		extra = append(extra, *s.x)
	}
	for _, e := range extra {
		if !slices.ContainsFunc(columns, func(c setting) bool { return c.name == e.name }) {
			columns = append(columns, e)
		}
	}
	var out Records
	for _, c := range columns {
		out.Columns = append(out.Columns, c.column)
	}
	if s.xObserved != nil {
		out.Columns = append(out.Columns, s.xObserved.column)
	}
	out.Columns = append(out.Columns, "cells", "cells_expected", "cells_diverged", s.y.column+"_mean", s.y.column+"_sd", "self_mean", "self_p05", "self_p95")
	for _, p := range s.points {
		var row []any
		for _, c := range columns {
			row = append(row, c.field(p.cell))
		}
		if s.xObserved != nil {
			row = append(row, p.x)
		}
		out.add(append(row, len(p.results), p.expected, p.diverged(), p.mean, p.sd, p.self.mean, p.self.low, p.self.high)...)
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
	cells := slices.Clone(d.plan.Cells)
	for _, c := range d.plan.Choices {
		r, job, ok := c.Settle(d.Results.Result)
		if ok {
			job = bench.Job{Key: r.Key, Cell: r.Cell}
		}
		cells = append(cells, job)
	}
	d.plan.Cells = byModel(cells)
	if d.plan.Figure == nil && d.plan.Table != nil {
		return drawTable(d, d.plan.ID, d.plan.Table)
	}
	s, err := newSweep(d.plan, d.Results.Result)
	if err != nil {
		return fmt.Errorf("figures: study %s: %w", d.plan.ID, err)
	}
	d.out.Figures = append(d.out.Figures, s.figure(d))
	if err := drawTable(d, d.plan.ID+"-table", d.plan.Table); err != nil || len(d.plan.Exact) == 0 {
		return err
	}
	return drawTwin(d, s)
}
