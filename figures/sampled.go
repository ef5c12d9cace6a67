package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/internal/distinct"
	"hambench/paper"
	"hambench/usage"
)

// sampled is a study's cells as its figure shows them: which settings stand where, and the
// grid of what was observed.
type sampled struct {
	*grid
	ofRows, ofColumns []bench.Setting // tell panels apart, and make their titles
	ofLines           []bench.Setting // tell lines apart, and make their names
	stated            []bench.Setting // do not vary: captions state them
	ofX               bench.Setting   // tells the points of a line apart
	shown             bench.Observation
	// xObserved is what the x axis shows in place of the step, such as the gradients that a chain
	// took; nil for ofX itself.
	xObserved  *bench.Observation
	logX, logY bool
	// posterior says that all chains are judged by posteriors that are known.
	posterior bool
	// floors are those of each panel, where distances are shown.
	floors map[*facet]floor
}

// A study says where its settings stand (bench.FigureSpec); what it leaves out follows from the
// settings' declarations and from what varies. So a study of one more setting needs no change
// here: if it is declared to make lines, it makes lines, and names them.

// newSampled arranges the cells of a plan, missing ones included, as its study says. By
// default there is a panel per data set and batch size with the distance against the step, and
// a line for each combination of all that varies besides. Distances stand on a logarithmic
// axis, from their floor upwards. What the study names and no cell has is a usage error.
func newSampled(p bench.Plan, cells *table.Table) (s *sampled, err error) {
	spec := *cmp.Or(p.Figure, new(bench.FigureSpec))
	s = &sampled{logX: spec.XScale != "linear", floors: make(map[*facet]floor)}
	if s.shown, err = bench.LookupObservation(cmp.Or(spec.Y, distance)); err != nil {
		return nil, err
	}
	judged := isDistance(s.shown)
	s.logY = spec.YScale == "log" || spec.YScale == "" && judged
	if err := s.findAxes(spec, cells); err != nil {
		return nil, err
	}
	// Distances are to what judges the chains, of which the axis tells.
	s.posterior = cells.Where("oracle", bench.Analytic).Len() == cells.Len()
	if judged && s.posterior {
		s.shown.Label += " to the posterior"
	} else if judged {
		s.shown.Label += " to the reference"
	}
	// Settings become the columns that tell their values apart: an integrator's are two.
	c := chart{
		rows: bench.ColumnsOf(s.ofRows...), columns: bench.ColumnsOf(s.ofColumns...),
		lines: bench.ColumnsOf(s.ofLines...), x: s.ofX.Columns(),
		at: func(t *table.Table) float64 { return s.place(p, t) },
		y:  func(r table.Row) float64 { return r.Number(s.shown.Column) },
		name: func(r table.Row) string {
			return bench.TextOf(s.ofLines, r, slices.Concat(s.ofRows, s.ofColumns)...)
		},
	}
	if judged {
		c.left = paper.LeftPosterior(present(cells))
	}
	s.grid = c.arrange(cells, nil)
	// Only the arranged grid tells how many rows a point has. If each has one, there is no scatter
	// to show: the grid is arranged again, with the standard error of the row as the band.
	if s.most == 1 && s.shown.Error != "" { // replicates show their scatter
		c.err = func(r table.Row) float64 { return r.Number(s.shown.Error) }
		s.grid = c.arrange(cells, nil)
	}
	// What is observed may be 0 or less, as a negative log-likelihood: it has no logarithm.
	if s.xObserved != nil && spec.XScale == "" {
		negative := func(x float64) bool { return isFinite(x) && x <= 0 }
		s.logX = !slices.ContainsFunc(s.xs, negative)
	}
	if judged {
		measured := paper.FloorChains(cells)
		for _, p := range s.all() {
			s.floors[p] = newFloor(p, s.ofX, measured)
		}
	}
	return s, nil
}

// findAxes looks up the settings that a study names, and finds those that lines and captions
// have to name besides: of those that are declared to make lines, the ones that vary within
// panels are named by lines, unless the study names its own, and the others by the caption,
// if they are declared to be stated. A figure whose cells differ in nothing has one line, which
// is named all the same: by the first setting that the caption would state.
func (s *sampled) findAxes(spec bench.FigureSpec, cells *table.Table) error {
	if len(spec.Panels) == 0 {
		spec.Panels = []string{"data", "batch"}
	}
	// The first setting is that of the rows of panels, all others are of the columns.
	panels, err := bench.LookupSettings(spec.Panels, cells)
	if err != nil {
		return err
	}
	s.ofRows = withModels(panels[:1], panels, cells)
	s.ofColumns = withModels(panels[1:], panels, cells)
	if s.ofLines, err = bench.LookupSettings(spec.Lines, cells); err != nil {
		return err
	}
	// x names an observation, the step relative to the largest stable one, or a setting.
	// Under an observed x the steps tell the points of a line apart: what is observed at one
	// step is averaged, too.
	x := cmp.Or(spec.X, "step")
	if o, err := bench.LookupObservation(x); err == nil {
		s.xObserved, x = &o, "step"
	} else if x == bench.OnRelative {
		s.xObserved, x = &relativeStep, "step"
	}
	found, err := bench.LookupSettings([]string{x}, cells)
	if err != nil || found[0].Kind != table.Number {
		return usage.Errorf("x = %q is no number of a cell, and nothing that is observed", x)
	}
	s.ofX = found[0]
	// Lines may differ in these, unless the study says in which.
	lines := func(k bench.Setting) bool { return k.Axis == bench.OnLines || k.Axis == bench.Stated }
	// bench.Settings come in the order in which legends and captions name them.
	axes := distinct.Of(slices.Concat(panels, s.ofLines, found), nameOf)
	for _, k := range bench.ShownSettings() {
		varies := variesInPanels(k, cells)
		if !lines(k) { // it is stated if it is the same everywhere
			varies = slices.ContainsFunc(k.Columns(), cells.Varies)
		}
		switch {
		case slices.Contains(axes, k.Name) || slices.Contains(elsewhere, k.Name):
		case varies && lines(k) && len(spec.Lines) == 0:
			s.ofLines = append(s.ofLines, k)
		case !varies && told(k, cells):
			s.stated = append(s.stated, k)
		}
	}
	// A line needs a name: what the caption would state first goes into the legend, if lines may
	// differ in it.
	switch {
	case len(s.ofLines) > 0:
	case len(s.stated) > 0 && lines(s.stated[0]):
		s.ofLines, s.stated = s.stated[:1], s.stated[1:]
	default:
		s.ofLines = []bench.Setting{setting("integrator")}
	}
	return nil
}

// relativeStep is what a study's own text says of a step, and no result: its share of the largest
// stable one.
var relativeStep = bench.Observation{Name: bench.OnRelative, Column: "relative",
	Label: "step η over the largest stable step"}

// elsewhere are settings of which captions speak in sentences of their own, and the seed.
var elsewhere = []string{"data", "batch", "K", "samples", "seed"}

// withModels puts the model behind the data set where a data set has several models, and none of
// all settings that are named is the model: each has references, and so a self-distance, of its
// own.
func withModels(of, all []bench.Setting, cells *table.Table) []bench.Setting {
	several := func(g table.Group) bool { return g.Varies("model") }
	i := slices.Index(distinct.Of(of, nameOf), "data")
	if i < 0 || slices.Contains(distinct.Of(all, nameOf), "model") ||
		!slices.ContainsFunc(cells.GroupBy("dataset"), several) {
		return of
	}
	return slices.Insert(slices.Clone(of), i+1, setting("model"))
}

// variesInPanels reports whether the setting differs among the cells on one data set with one
// number of batches, which the panels of any figure at least tell apart by default. A model or
// a precision that only goes with the data set does not.
func variesInPanels(s bench.Setting, cells *table.Table) bool {
	return slices.ContainsFunc(cells.GroupBy("dataset", "K"), func(g table.Group) bool {
		return slices.ContainsFunc(s.Columns(), g.Varies)
	})
}

// place is where the rows of a point stand on the x axis, in the units of its setting or
// observation: NaN if no row has it. The full batch, whose size is infinite, is as large as its
// data set.
func (s *sampled) place(p bench.Plan, t *table.Table) float64 {
	if s.xObserved != nil {
		return stat.Mean(t.Numbers(s.xObserved.Column), nil)
	}
	first := t.Rows()[0] // as all of the point
	x := first.Number(s.ofX.Column)
	if s.ofX.Name == "batch" && math.IsInf(x, 1) {
		d, _ := p.Dataset(first.Text("dataset"))
		x = float64(d.Rows)
	}
	return x
}

// mostColumns is how many panels stand side by side at most, where they make a single column, or
// where two of more than mostRows rows stand side by side: twenty data sets are five rows of four,
// or with two batch sizes ten.
const (
	mostColumns = 4
	mostRows    = 8
)

// figure draws all panels on the same axes, in rows and columns or, if they make a single or a
// long column, row by row. Places without cells stay empty.
func (s *sampled) figure(d *drawing) *Figure {
	f := &Figure{ID: d.plan.ID, Title: d.plan.Title, Warning: d.replaced(), Data: s.records()}
	columns := len(s.facets[0])
	switch {
	case columns == 1: // one facet a row would leave the sheet empty
		columns = min(mostColumns, len(s.facets))
	case len(s.facets) > mostRows && 2*columns <= mostColumns:
		columns *= 2
	}
	// The more panels side by side, the smaller each.
	size := sizes[min(columns, len(sizes))-1]
	f.width, f.height = size[0], size[1]
	x, y := s.axes(f.width)
	var panels []*panel
	for _, p := range slices.Concat(s.facets...) {
		panels = append(panels, s.drawn(p, x, y))
	}
	f.panels = inRows(panels, columns)
	ordered := false
	f.legend = s.legend(func(i int) string {
		order := s.order(d.plan, i)
		ordered = ordered || order != ""
		return s.names[i] + order
	}, s.style)
	f.legend = append(f.legend, s.floorEntries(d.cells)...)
	if slices.ContainsFunc(s.all(), func(p *facet) bool { return s.known(p) != nil }) {
		estimated, _ := bench.LookupObservation(s.shown.Known)
		f.legend = append(f.legend, legendEntry{Label: estimated.Label, Style: levelStyle})
	}
	if s.anyLost {
		f.legend = append(f.legend, legendEntry{
			Label: "share of chains that diverged", Style: style{Color: ink}, Lost: 0.6})
	}
	notes := s.notes(d.cells, x)
	if ordered {
		notes = append(notes, "Orders are those with the full batch.")
	}
	f.Caption = d.caption(notes...)
	return f
}

// sizes are the width and the height of a panel among one, two … panels in a row, in points, with
// its share of axes and gaps; five and more are as five. A sheet is about as wide as a page.
var sizes = [][2]float64{{302, 235}, {302, 235}, {210, 126}, {170, 122}, {145, 120}}

// axes are those that all panels share, on panels of a width in points. The vertical one spans
// the values with their bands, and the floors.
func (s *sampled) axes(width float64) (x, y axis) {
	x = axis{Log: s.logX, Ticks: 4, Label: axisLabel(s.ofX)}
	switch {
	case s.xObserved != nil:
		x.Label = s.xObserved.Label
	case s.ofX.Name == "step":
		x.Unit = timeUnit
	}
	y = axis{Log: s.logY, Ticks: 4, Label: s.shown.Label, Grid: true}
	// Edges of bands hold the medians, which lie between them.
	ys := slices.Clone(s.edges)
	for _, f := range s.floors {
		ys = append(append(ys, f.self.mean), f.medians()...)
	}
	for _, p := range s.all() {
		ys = append(ys, s.known(p)...)
	}
	y = y.over(ys).padded(0.06)
	if s.anyLost {
		y.Lost = "diverged"
	}
	return x.over(s.xs).roomy(width), y
}

// style is that of the i-th line: lines that differ in a number alone are coloured in its
// order, those that differ in their integrator alone as in all other figures.
func (s *sampled) style(i int) style {
	switch {
	case len(s.ofLines) > 1:
		return categorical(i)
	case s.ofLines[0].Kind == table.Number:
		return sequential(i, len(s.names))
	}
	return stylesOf(s.names)[i]
}

// drawn is the panel of a facet: the floors across it, where distances are shown, behind the
// lines. It is nil where there are no cells.
func (s *sampled) drawn(p *facet, x, y axis) *panel {
	if p == nil {
		return nil
	}
	behind := s.floors[p].curves(x, s.style)
	for _, v := range s.known(p) {
		behind = append(behind, across(x, "known", v, levelStyle))
	}
	out := s.draw(p, x, y, s.style, behind...)
	out.Title = s.title(p)
	return out
}

// known are the values that the chains of a panel estimate, where they are known.
func (s *sampled) known(p *facet) (values []float64) {
	if s.shown.Known == "" {
		return nil
	}
	for _, v := range p.Values(s.shown.Known) {
		if x := v.Number(); isFinite(x) {
			values = append(values, x)
		}
	}
	return values
}

// title names a panel by the settings that tell panels apart.
func (s *sampled) title(p *facet) string {
	return bench.TextOf(slices.Concat(s.ofRows, s.ofColumns), p.Rows()[0])
}

// order states the order of the integrator with the full batch behind the name of a line that
// has one integrator, where slopes of distances along the step can be seen and the line has any
// chain of the full batch: that of the law of θ, on which all distances depend, and that of the
// joint law where it is another.
func (s *sampled) order(p bench.Plan, line int) string {
	// The plan states the orders of integrators that it knows; a user's own may claim none (0),
	// and that of an exact flow is infinite.
	// Claims are of an integrator's own parameters at their defaults: mt3's order is lost with any
	// other variance of its second noise.
	of := s.lines[line]
	m, ok := p.Method(of.Get("integrator").Text())
	order, joint := float64(m.Position), float64(m.Joint)
	named := s.logY && len(s.floors) > 0 && s.alongStep() && of.Where("K", 1).Len() > 0 &&
		slices.Contains(distinct.Of(s.ofLines, nameOf), "integrator")
	usual := of.Get("parameters").Text() == ""
	switch {
	case !ok || !named || !usual || order <= 0 || math.IsInf(order, 0):
		return ""
	case order == joint:
		return " (order " + decimal(order) + ")"
	}
	return " (order " + decimal(order) + " in θ, " + decimal(joint) + " jointly)"
}

// notes are the sentences of the caption: what does not vary, what lines, bands and bars are,
// where lines leave the floor, and what the axes cannot show.
func (s *sampled) notes(cells *table.Table, x axis) (notes []string) {
	// What does not vary stands first: it holds for all that follows.
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	state := func(r table.Row) string { return statement(s.stated, r) }
	if text := strings.Join(distinct.Of(cells.Rows(), state), " or "); text != "" {
		note("%s.", text)
	}
	axes := slices.Concat(s.ofRows, s.ofColumns, s.ofLines, []bench.Setting{s.ofX})
	// B and K are the letters of panels' titles, or of lines' names.
	lettered := func(s bench.Setting) bool { return s.Name == "batch" || s.Name == "K" }
	mini := cells.Filter(func(r table.Row) bool { return r.Number("K") > 1 })
	schemes := strings.Join(distinct.Of(mini.Values("scheme"), table.Value.Text), ", ")
	if schemes != "" {
		schemes = " (" + schemes + ")"
	}
	switch numbers := distinct.Of(mini.Sort("K").Rows(), setting("K").Plain); {
	case slices.ContainsFunc(append(axes, s.stated...), lettered):
		note("B: rows per mini-batch, K: mini-batches per epoch%s.", schemes)
	case len(numbers) > 0: // Nothing else tells how many batches there are.
		if slices.Contains(distinct.Of(axes, nameOf), "scheme") {
			schemes = ""
		}
		note("Mini-batches per epoch: %s%s.", strings.Join(numbers, " or "), schemes)
	}
	if len(s.floors) > 0 {
		note("Distance: Kolmogorov distance of a chain's predictions to those of %s, mean over "+
			"predicted values.", s.truths(cells))
	}
	for _, row := range s.facets {
		if slices.Contains(row, nil) {
			note("An empty place was not run.")
			break
		}
	}
	// Points that have results, and no place on an axis.
	var noX, noY int
	var points []*table.Table
	for _, at := range s.points() {
		points = append(points, at.Table)
		switch {
		case present(at.Table).Len() == 0:
		case !x.shows(at.x):
			noX++
		case s.logY && at.y <= 0:
			noY++
		}
	}
	// A difference of coupled chains that chance alone makes is in records, and in no column.
	var chances []float64
	for _, r := range present(cells).Rows() {
		if v, ok := resultOf(r).Scores["coupled-chance"]; ok && s.shown.Name == "coupled" {
			chances = append(chances, v)
		}
	}
	if low, median, high := spread(chances); len(chances) > 0 {
		note("Chance alone makes differences of %s to %s, in the median %s.", significant(low),
			significant(high), significant(median))
	}
	if s.shown.Name == "llc" {
		note("n: rows, β = 1/T, L̄: a chain's mean loss by row, L₀: the loss where it began.")
	}
	// The distance of draws falls with their number.
	lengths := func(p *facet) bool { return present(p.Table).Varies("samples") }
	if len(s.floors) > 0 && slices.ContainsFunc(s.all(), lengths) {
		note("The %s is the mean over chains of several lengths: shorter ones are further apart.",
			s.selfLabel())
	}
	// One step does not show whether the full batch has an error of its own there.
	full := present(cells.Where("K", 1)).GroupBy("dataset", "model")
	several := func(g table.Group) bool { return g.Varies("h") }
	if len(s.floors) > 0 && len(full) > 0 && !slices.ContainsFunc(full, several) {
		note("Of the full batch there is one step: what is measured there may be more than the " +
			"floor, and points may lie below.")
	}
	// Without replicates there is no band, and nothing to say of it.
	const band = "bands: from the smallest to the largest."
	switch over := mixed(points); {
	case len(over) > 0:
		if slices.ContainsFunc(points, repeated) {
			over = slices.Insert(over, 0, replicates(points))
		}
		note("Lines: median of the finite ones of up to %d chains, which differ in %s; %s",
			s.most, strings.Join(over, ", "), band)
	case s.most > 1:
		note("Lines: median of the chains that stayed finite, of %d %s; %s", s.most,
			replicates(points), band)
	case s.err != nil:
		note("Bands: from a standard error below to one above, autocorrelation included.")
	default:
		note("One chain a point: no bands.")
	}
	if also := s.along(); len(also) > 0 {
		note("Along a line these change, too: %s.", strings.Join(also, ", "))
	}
	if s.anyLost {
		note("Bars at the top: the share of the chains that diverged; at full height all did.")
	}
	if len(s.floors) > 0 {
		notes = append(notes, s.runaways(cells)...)
	}
	if len(s.floors) > 0 && len(s.facets) == 1 { // of more rows there would be too much to say
		for _, text := range distinct.Of(s.all(), s.leaving) {
			if text != "" {
				notes = append(notes, text)
			}
		}
	}
	// What a reader would miss on the panels is counted.
	if noX > 0 {
		notes = append(notes, offAxis(noX, x))
	}
	if noY > 0 {
		notes = append(notes, placeless(noY, "a logarithmic axis", s.shown.Label, "0 or less"))
	}
	return notes
}

// truths names what judges the chains.
func (s *sampled) truths(cells *table.Table) string {
	if s.posterior {
		return exactText(cells)
	}
	known := cells.Where("oracle", bench.Analytic)
	of := known.Values("dataset")
	if len(of) == 0 {
		return "reference chains"
	}
	sets := strings.Join(distinct.Of(of, table.Value.Text), ", ")
	return "reference chains (" + sets + ": of " + exactText(known) + ")"
}

// exactText names what judges chains on posteriors that are known: as a rule draws, which are
// farther from a chain's than the law itself.
func exactText(cells *table.Table) string {
	return strings.Join(distinct.Of(cells.Rows(), func(r table.Row) string {
		d := resultOf(r).Cell.ExactDraws
		if d == nil {
			return "the exact posterior"
		}
		return fmt.Sprintf("%d sets of %d exact draws", d.Chains, d.Samples)
	}), " or ")
}

// offAxis counts points that have results and no place on the horizontal axis.
func offAxis(n int, x axis) string {
	why := "infinite, or not known"
	if x.Log {
		why = "0 or less, " + why
	}
	return placeless(n, "the axis", x.Label, why)
}

// placeless says of points that an axis cannot show them, and why.
func placeless(n int, axis, label, why string) string {
	if n == 1 {
		return fmt.Sprintf("1 point has no place on %s: its %s is %s.", axis, label, why)
	}
	return fmt.Sprintf("%d points have no place on %s: their %s is %s.", n, axis, label, why)
}

// runaways counts the chains of each set that left the posterior, and says how their points look.
func (s *sampled) runaways(cells *table.Table) (notes []string) {
	var sets []string
	for _, set := range present(cells).Filter(s.left).GroupBy("dataset") {
		sets = append(sets, fmt.Sprint(set.Len(), " on ", set.Get("dataset").Text()))
	}
	if len(sets) > 0 {
		notes = append(notes, fmt.Sprintf("Of the chains that stayed finite, %s left the "+
			"posterior (RMSE above %d times the least of their set): their distances need not be "+
			"those of a stationary law.", strings.Join(sets, " and "), paper.TooFar))
	}
	hollow, crossed := false, ""
	for _, at := range s.points() {
		if !at.left {
			continue
		}
		hollow = true
		// A marker that is hollow by itself becomes a cross (style.hollow).
		if _, open := s.style(at.line).Marker.shape(); open {
			crossed = " (crosses where a line's own are)"
		}
	}
	if hollow {
		notes = append(notes, "Hollow markers"+crossed+", to which no line leads: half or more "+
			"of the finite chains left the posterior.")
	}
	return notes
}

// repeated reports whether chains of a point differ in their split or seed.
func repeated(point *table.Table) bool { return point.Varies("split") || point.Varies("seed") }

// replicates are what tells the chains of the points apart.
func replicates(points []*table.Table) string {
	vary := func(column string) bool {
		return slices.ContainsFunc(points, func(t *table.Table) bool { return t.Varies(column) })
	}
	both := func(t *table.Table) bool { return t.Varies("split") && t.Varies("seed") }
	switch splits, seeds := vary("split"), vary("seed"); {
	case slices.ContainsFunc(points, both):
		return "splits and seeds"
	case splits && seeds:
		return "splits (seeds where a set has no splits)"
	case seeds:
		return "seeds"
	}
	return "splits"
}

// mixed names what the results of any of the groups differ in, besides splits and seeds: over
// that, too, their means are, which a reader should know.
func mixed(groups []*table.Table) (labels []string) {
	// Splits and seeds are replicates: what means are over by design.
	for _, s := range bench.ShownSettings() {
		differ := func(t *table.Table) bool {
			return slices.ContainsFunc(s.Columns(), present(t).Varies)
		}
		replicate := s.Name == "split" || s.Name == "seed"
		if !replicate && slices.ContainsFunc(groups, differ) {
			labels = append(labels, s.Label)
		}
	}
	return labels
}

// along names what differs from point to point of a line, besides the horizontal axis and what
// follows from it, or is replicated at each point: a slope is of that, too.
func (s *sampled) along() (labels []string) {
	follows := []string{"split", "seed", s.ofX.Name}
	switch s.ofX.Name {
	case "step":
		follows = append(follows, "thin", "burn")
	case "batch", "K":
		follows = append(follows, "batch", "K", "scheme")
	}
	for _, of := range bench.ShownSettings() {
		differs := func(line []point) bool {
			var keys []table.Key // of a chain of each point
			for _, at := range line {
				if rows := present(at.Table).Rows(); len(rows) > 0 {
					keys = append(keys, rows[0].Key(of.Columns()...))
				}
			}
			return len(slices.Compact(keys)) > 1
		}
		any := func(p *facet) bool { return slices.ContainsFunc(p.lines, differs) }
		if !slices.Contains(follows, of.Name) && slices.ContainsFunc(s.all(), any) {
			labels = append(labels, of.Label)
		}
	}
	return labels
}

// always are the settings that the CSV of every figure of cells has, in this order, so that
// files of several studies can be read as one.
var always = []string{"data", "batch", "K", "scheme", "integrator", "nl", "friction", "step"}

// records are the numbers drawn, a row per point: its settings, of which a full batch is 0; how
// many cells it stands for (cells_expected), how many of them have a result (cells) and how many
// diverged; the mean and the deviation of what is shown over the chains that stayed finite, such
// as ks_mean and ks_sd; the self-distance of its panel with its quantiles; and what is drawn: the
// median of those chains, such as ks_median, the smallest and the largest of them, the share that
// diverged, the measured floor of the line and, where it makes the band, the standard error. A
// point of no result has a row without numbers.
func (s *sampled) records() (out Records) {
	// What tells points apart comes behind what all files have, unless it is among that.
	var columns []bench.Setting
	for _, name := range always {
		columns = append(columns, setting(name))
	}
	for _, e := range slices.Concat(s.ofRows, s.ofColumns, s.ofLines, []bench.Setting{s.ofX}) {
		if !slices.Contains(distinct.Of(columns, nameOf), e.Name) {
			columns = append(columns, e)
		}
	}
	out.Columns = distinct.Of(columns, func(s bench.Setting) string { return s.Column })
	if s.xObserved != nil {
		out.Columns = append(out.Columns, s.xObserved.Column)
	}
	// Numbers of cells first: a mean over fewer than expected is another mean.
	out.Columns = append(out.Columns, "cells", "cells_expected", "cells_diverged",
		s.shown.Column+"_mean", s.shown.Column+"_sd", "self_mean", "self_p05", "self_p95",
		s.shown.Column+"_median", s.shown.Column+"_min", s.shown.Column+"_max",
		"share_diverged", "floor")
	if s.err != nil {
		out.Columns = append(out.Columns, s.shown.Error)
	}
	selves := make(map[*facet]band)
	for _, p := range s.all() {
		selves[p] = selfBand(p.Table)
	}
	for p, at := range s.points() {
		row := fieldsOf(columns, at.Rows()[0])
		for i, c := range columns {
			// A point of several settings has none to state.
			if slices.ContainsFunc(c.Columns(), at.Varies) {
				row[i] = nil
			}
		}
		if s.xObserved != nil {
			row = append(row, at.x)
		}
		there, self := present(at.Table), selves[p]
		// Columns of the smallest and the largest chain have the one chain that there is.
		if s.err != nil { // the band is no spread of chains
			at.low, at.high = at.y, at.y
		}
		// Without results the share that diverged is 0/0: NaN, which a file leaves empty.
		row = append(row, there.Len(), at.Len(), lost(there), at.mean, at.sd,
			self.mean, self.low, self.high, at.y, at.low, at.high,
			float64(lost(there))/float64(there.Len()), s.floors[p].of(at.line, at.x))
		if s.err != nil {
			row = append(row, s.err(at.Rows()[0]))
		}
		out.add(row...)
	}
	return out
}

// drawSampled makes the figure of a study's cells, its table, and the same figure above exact
// errors of a study that has these, too. A study may have a table in place of the figure. Cells
// that recorded something else than what is to be shown are a usage error: another kind of
// figure, which the study does not name, would show them.
func drawSampled(d *drawing) error {
	// Some record a number that only a figure that says so shows.
	shown := bench.Distance
	if d.plan.Figure != nil {
		shown = bench.Recorded(d.plan.Figure.Y)
	}
	// A cell records one thing: distances and scores, or series that kinds of figures show.
	for _, o := range d.cells.Values("observe") {
		is := bench.Observable(o.Text())
		if is != bench.Distance && is != shown {
			return usage.Errorf("study %s records %s, and names no kind of figure for it: "+
				"a run of this version writes one", d.plan.ID, is)
		}
	}
	if d.plan.Figure == nil && d.plan.Table != nil { // the study is its table
		err := drawTable(d, d.plan.ID, d.plan.Table)
		if err == nil && len(d.plan.Exact) > 0 {
			writeBeside(d)
		}
		return err
	}
	s, err := newSampled(d.plan, d.cells)
	if err != nil {
		return err
	}
	// The table has the numbers of the figure and scores besides, whatever the figure shows.
	d.out.Figures = append(d.out.Figures, s.figure(d))
	err = drawTable(d, d.plan.ID+"-table", d.plan.Table)
	if err != nil || len(d.plan.Exact) == 0 {
		return err
	}
	return drawAboveExact(d, s)
}
