package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/internal/distinct"
	"hambench/models/datasets"
	"hambench/paper"
)

// Tables are groups of the rows of cells, each of which is printed by entries: the heads that
// tell groups apart, then numbers over the group. A table has two forms with the same rows: for
// people, with rounded numbers and few columns, and for programs, with all of them in full.

// entry is what a row of a table has in one column: as people read it, as programs do, or
// both. All rows of a table have the same columns, which the first row's entries name.
type entry struct {
	label string // heads the column for people; "" for what only programs get
	minor int    // as of Column: what is left out first where room is short
	text  string // what people read
	// names are the columns for programs, separated by commas: a mean and its deviation are
	// one entry for people and two for programs. "" for what only people get.
	names  string
	fields []any // the values of names
}

// plain is an entry that people read as programs do: a name, a count.
func plain(label string, minor int, name string, v any) entry {
	return entry{label, minor, fieldText(v), name, []any{v}}
}

// rounded is an entry of a number, with some digits after the point for people. NaN is a dash for
// people and nothing for programs.
func rounded(label string, minor int, name string, x float64, digits int) entry {
	return entry{label, minor, show(x, math.NaN(), digits), name, []any{x}}
}

// deviating is an entry of a mean with its standard deviation, which programs have as
// name_sd. Either may be NaN: of no chain there is no mean, of one no deviation.
func deviating(label, name string, mean, sd float64, digits int) entry {
	return entry{label, 0, show(mean, sd, digits), name + "," + name + "_sd", []any{mean, sd}}
}

// table adds a table of rows to the study's, with what captions state as its last note: the
// profile, the length of chains, and what is missing. Columns are those of the first row, so
// that a table without rows has none.
func (d *drawing) table(id string, rows [][]entry, notes ...string) {
	t := &Table{ID: id, Title: d.plan.Title, Warning: d.replaced(), Notes: notes}
	if c := d.caption(); c != "" {
		t.Notes = append(t.Notes, c)
	}
	for i, row := range rows {
		// An entry has a label, and is for people; or names, and is for programs; or both.
		var text []string
		var fields []any
		for _, e := range row {
			if e.label != "" {
				text = append(text, e.text)
			}
			if e.label != "" && i == 0 {
				t.Columns = append(t.Columns, Column{e.label, e.minor})
			}
			if e.names != "" && i == 0 {
				t.Data.Columns = append(t.Data.Columns, strings.Split(e.names, ",")...)
			}
			fields = append(fields, e.fields...)
		}
		t.Rows = append(t.Rows, text)
		t.Data.add(fields...)
	}
	d.out.Tables = append(d.out.Tables, t)
}

// drawTable makes the table of a study's cells that have results: a row for each combination
// of what heads differ in and, if the study says so, columns for each combination of what
// these differ in. Means are over all else. A nil spec is what the figure has.
//
// For programs, a table without such columns has, behind its heads, chains, chains_diverged and a
// column of each observation, of which ks has a deviation, ks_sd, and right beside it. One with
// them has a column of each observation at each level, such as ks_float32, and for ks the columns
// of compared.
func drawTable(d *drawing, id string, spec *bench.TableSpec) error {
	spec = cmp.Or(spec, new(bench.TableSpec))
	heads, err := headsOf(d, spec)
	if err != nil {
		return err
	}
	columns, err := bench.LookupSettings(spec.Columns, d.cells)
	if err != nil {
		return err
	}
	values, err := valuesOf(d, spec)
	if err != nil {
		return err
	}
	// A row of the table is a group by the columns of all heads, a level one by those of columns.
	var by []string
	for _, h := range heads {
		by = append(by, bench.ColumnsOf(h.settings...)...)
	}
	of := bench.ColumnsOf(columns...)
	there := present(d.cells).Sort(by...) // numbers ascend, texts as the study lists them
	all := there.GroupBy(of...)           // the levels; one without columns
	ofRegimes := len(columns) == 0 && slices.ContainsFunc(finite(there).Rows(), hasRegime)
	// What cells of one mean differ in, in any row and at any level, is for the notes.
	var parts []*table.Table
	for _, g := range there.GroupBy(slices.Concat(by, of)...) {
		parts = append(parts, g.Table)
	}
	groups := there.GroupBy(by...)
	apart := slices.ContainsFunc(groups, func(g table.Group) bool {
		return !ofOneTruth(g.GroupBy(of...))
	})
	var lines [][]entry // of the table, a group of cells each
	for _, g := range groups {
		var line []entry
		for _, h := range heads {
			line = append(line, h.entry(g.Rows()[0]))
		}
		if len(columns) == 0 {
			line = append(line, means(g.Table, values)...)
			if ofRegimes {
				line = append(line, regimeEntries(g.Table)...)
			}
			lines = append(lines, line)
			continue
		}
		// Each row has every level, so that columns stay aligned where it lacks one.
		at, levels := table.ByKey(g.GroupBy(of...)), []level(nil)
		for _, l := range all {
			levels = append(levels, newLevel(columns, l, at[l.Key]))
		}
		lines = append(lines, append(line, compared(g.Table, levels, values, apart)...))
	}
	list := mixed(parts)
	if slices.ContainsFunc(parts, repeated) {
		list = slices.Insert(list, 0, replicates(parts))
	}
	notes := tableNotes(values, len(all), len(columns) == 0, apart, list)
	if text := ofAll(there, heads, columns); text != "" {
		notes = slices.Insert(notes, 0, text)
	}
	if text := d.away(there); text != "" {
		notes = append(notes, text)
	}
	if ofRegimes {
		notes = append(notes, regimeNote)
	}
	if spec.Note != "" {
		notes = append(notes, spec.Note)
	}
	d.table(id, lines, notes...)
	return nil
}

// ofAll states what is the same in all cells of a table and not told by heads or columns.
func ofAll(there *table.Table, heads []head, columns []bench.Setting) string {
	shown := distinct.Of(columns, nameOf)
	for _, h := range heads {
		shown = append(shown, distinct.Of(h.settings, nameOf)...)
	}
	if there.Len() == 0 {
		return ""
	}
	var same []bench.Setting
	first, batch := there.Rows()[0], ""
	for _, k := range bench.ShownSettings() {
		differs := slices.ContainsFunc(k.Columns(), there.Varies)
		// The number of samples is in the caption's last note.
		untold := k.Name == "seed" || k.Name == "samples"
		if differs || untold || slices.Contains(shown, k.Name) {
			continue
		}
		text := k.Text(first)
		switch {
		case k.Name == "batch" && there.Varies("K"): // which differs from set to set
			batch, _, _ = strings.Cut(text, " (")
		case k.Name == "batch":
			batch = text
		case k.Name == "data" && text != datasets.None, k.Name == "scheme" && text != "",
			told(k, there):
			same = append(same, k)
		}
	}
	text := strings.Trim(statement(same, first)+", "+batch, ", ")
	if text == "" {
		return ""
	}
	return "All chains: " + text + "."
}

// away counts the chains of a table that left the posterior: means are over them, too.
func (d *drawing) away(there *table.Table) string {
	n := there.Filter(paper.LeftPosterior(present(d.cells))).Len()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Of the chains that stayed finite, %d left the posterior (RMSE above %d "+
		"times the least of their set): means are over these, too, and their distances need not "+
		"be those of a stationary law.", n, paper.TooFar)
}

// hasRegime reports whether it is known which law describes the mini-batch error of a cell.
func hasRegime(r table.Row) bool { return r.Text("regime") != "" }

// regimeNote says what a row's regime is, and what other settings would change.
const regimeNote = "Regime of the mini-batch error along the stiffest directions, where a law is " +
	"proven of integrator, scheme and estimator: under heat the temperature is too high, in the " +
	"mean and to first order by ηV/(2C), and more along stiff directions. Half the step or twice " +
	"the friction C then halves the error of the mean energy; distances near their largest gain " +
	"less. Random orders take away about two thirds of it or less, the less the longer the " +
	"epoch, unless Kηω is made small (batches drawn independently are always here). Under orders " +
	"the error falls like η² and C does not matter, or where Kηω is above C/ω like η³/C; " +
	"independent batches would bring the heat back. Between them, a smaller step gains most. " +
	"ω: largest frequency, V: mean square of a batch gradient's error by parameter, at one " +
	"draw of the truth."

// regimeEntries are the regime of a group of cells, or its regimes where they differ, and means
// of what decides it. The full batch has none, and neither have chains that diverged: there is no
// error that a law could describe.
func regimeEntries(t *table.Table) []entry {
	// Numbers are means even over regimes that differ: the names say that they do.
	t = t.Filter(func(r table.Row) bool { return !r.Get("diverged").Truth() })
	names := distinct.Of(t.Filter(hasRegime).Values("regime"), table.Value.Text)
	regime := entry{"regime", 0, "–", "regime", []any{nil}}
	if len(names) > 0 {
		regime.text = strings.Join(names, ", ")
		regime.fields = []any{regime.text}
	}
	mean := func(column string) float64 { return stat.Mean(t.Numbers(column), nil) }
	number := func(label, column string) entry {
		return entry{label, 1, significant(mean(column)), column, []any{mean(column)}}
	}
	return []entry{regime, number("Kηω", "k_eta_omega"), number("C/ω", "c_over_omega"),
		number("ηV/C", "eta_v_over_c")}
}

// significant is a number with two digits for people; a dash for NaN.
func significant(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.2g", x)
}

// tableNotes are the notes below a table of values: what its means are over, replicates first,
// and how distances are judged. A plain table has the entries of means; one that is not has
// some levels side by side, those of compared, which may be apart: judged by different truths.
func tableNotes(values []bench.Observation, levels int, plain, apart bool,
	over []string) []string {
	list := strings.Join(over, ", ")
	judged, lost := slices.ContainsFunc(values, isDistance), "no scores."
	if judged {
		lost = "no distance and no scores."
	}
	means := "A chain that diverged has " + lost
	if len(over) > 0 {
		means = "Means over " + list + "; ±: standard deviation. " + means
	}
	switch {
	case !judged:
		return []string{means}
	case plain:
		return []string{means, "Right: the distance, less the reference's own error, is one that " +
			"about 99 of 100 right chains of its lag-1 autocorrelation do not exceed; –: that " +
			"cannot be decided, as where that is above 0.4, or of chains that differ in more " +
			"than their split and seed."}
	}
	notes := []string{"Kolmogorov distances are to the same truth."}
	if apart {
		notes = []string{"Distances are each to its own truth."}
	}
	if len(over) > 0 {
		notes = append(notes, "Means over "+list+".")
	}
	if levels == 2 && !apart {
		notes = append(notes, "Alike: as many chains diverged, and both are where 99 of 100 right "+
			"chains are; – where none is: one pair does not say how wrong chains scatter.")
	}
	return notes
}

// isDistance reports whether the observation is the one by which chains are judged: tables show
// it with the self-distance, which is what right chains have.
func isDistance(o bench.Observation) bool { return o.Name == distance }

// head is a column that tells the rows of a table apart: one setting or, as the column "line",
// all those that name the lines of the study's figure.
type head struct {
	settings []bench.Setting
	line     bool // the column is "line"
}

// entry is what the head has of a group of rows, by any of them: the value of its setting or, of
// lines, the name that the legend has. Programs get the values of settings in full.
func (h head) entry(r table.Row) entry {
	if h.line {
		return plain("line", 0, "line", bench.TextOf(h.settings, r))
	}
	s := h.settings[0]
	return entry{s.Label, 0, s.Plain(r), s.Column, []any{fieldOf(s, r)}}
}

// headsOf returns what tells the rows of a table apart: the settings that the study names or,
// by default, those of the panels, the lines and the x axis of its figure. What columns differ
// in is none of them. An unknown name is a usage error.
func headsOf(d *drawing, spec *bench.TableSpec) (heads []head, err error) {
	var lines []bench.Setting
	add := func(settings ...bench.Setting) {
		for _, s := range settings {
			if !slices.Contains(spec.Columns, s.Name) {
				heads = append(heads, head{settings: []bench.Setting{s}})
			}
		}
	}
	// Models of one data set have rows of their own, as they have panels.
	if len(spec.Rows) > 0 {
		rows, err := bench.LookupSettings(spec.Rows, d.cells)
		add(withModels(rows, rows, d.cells)...)
		return heads, err
	}
	// What the figure tells apart the table does, line by line.
	s, err := newSampled(d.plan, d.cells)
	if err != nil {
		return nil, err
	}
	add(slices.Concat(s.ofRows, s.ofColumns)...)
	for _, k := range s.ofLines {
		if !slices.Contains(spec.Columns, k.Name) {
			lines = append(lines, k)
		}
	}
	if len(lines) > 0 {
		heads = append(heads, head{lines, true})
	}
	add(s.ofX)
	return heads, nil
}

// valuesOf returns the observations of a table: those that its study names or, by default, all
// that any cell has and that tables show unasked: the distance, scores, and the cost.
func valuesOf(d *drawing, spec *bench.TableSpec) (out []bench.Observation, err error) {
	if len(spec.Values) == 0 {
		return slices.DeleteFunc(bench.Observations(), func(o bench.Observation) bool {
			return !o.Shown || len(d.cells.Numbers(o.Column)) == 0
		}), nil
	}
	// What is asked for is shown, even if no cell has it.
	for _, name := range spec.Values {
		o, err := bench.LookupObservation(name)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// means are the entries of a group of cells in a table without levels: the counts of chains, and,
// for each observation, its mean over those that have it: a distance over those that stayed finite,
// with whether chains are where right ones are, which is null if nothing decides that.
func means(t *table.Table, observations []bench.Observation) []entry {
	out := []entry{countEntry("chains", 0, t)}
	// A distance has its deviation and a verdict; other observations have a mean alone.
	for i, o := range observations { // on narrow terminals the last ones are left out first
		if !isDistance(o) {
			mean := stat.Mean(t.Numbers(o.Column), nil)
			out = append(out, rounded(o.Name, i, o.Column, mean, o.Digits))
			continue
		}
		mean, sd := stat.MeanStdDev(finite(t).Numbers(o.Column), nil)
		right := entry{bench.RightColumn, 0, "–", bench.RightColumn, []any{nil}}
		if is, decided := rightOf(t); decided {
			right.text, right.fields = yesNo(is), []any{is}
		}
		out = append(out, deviating(o.Name, o.Column, mean, sd, o.Digits), right)
	}
	return out
}

// rightOf reports whether chains are where right ones are. It is decided of repetitions of one
// chain: of others, a wrong one would hide behind several right ones.
func rightOf(t *table.Table) (is, decided bool) {
	if len(mixed([]*table.Table{t})) > 0 {
		return false, false
	}
	return bench.Right(t.Rows()...)
}

// level holds the cells of one row of a table that have one combination of values of the
// settings that columns differ in.
//
// The embedded table has the cells of the row at that level. Every row has all levels of the whole
// table, in the same order.
type level struct {
	name, label  string // of the values, for programs and for people
	*table.Table        // empty where the row has no such cell
}

// newLevel makes a level of the cells of one row, nil if there are none. All cells of the level,
// in whichever row, are of: they have its values.
func newLevel(columns []bench.Setting, of table.Group, in *table.Table) level {
	// For programs the values of several settings are one word: float32_8.
	r := of.Rows()[0]
	names := make([]string, len(columns))
	for i, s := range columns {
		names[i] = s.Plain(r)
	}
	return level{strings.Join(names, "_"), bench.TextOf(columns, r), cmp.Or(in, new(table.Table))}
}

// truthColumns tell truths apart: what is sampled, and what judges it.
var truthColumns = []string{"dataset", "split", "model", "oracle", "temperature", "localisation"}

// ofOneTruth reports whether the levels of a row, of those that it has, are judged by the same
// truths: by one, or each by those of the same splits. A difference between others is of nothing.
func ofOneTruth(levels []table.Group) bool {
	var truths []map[table.Key]*table.Table
	for _, l := range levels {
		truths = append(truths, table.ByKey(l.GroupBy(truthColumns...)))
	}
	return !slices.ContainsFunc(truths, func(of map[table.Key]*table.Table) bool {
		return !maps.EqualFunc(of, truths[0], func(_, _ *table.Table) bool { return true })
	})
}

// compared are the entries of a row with levels side by side, as in
//
//	| float32 | float64 | Δ      | self-distance (5–95 %) | alike |
//	| 0.452   | 0.463   | +0.011 | 0.086 (0.050–0.143)    | yes   |
//
// For each observation there is its mean at each level, of a distance that of the chains that
// stayed finite. Distances have the self-distance of the row's references, which is the same for
// all levels, the chains that diverged and, of two levels, their difference. Two levels are alike
// if both are right. They are not if only one is right, or if different numbers of their chains
// diverged. Otherwise alike is null: if neither is right, since nothing says how wrong chains
// scatter, if it is not decided whether both are, or if one has no chain. In a table whose levels
// are apart, judged by different truths, people get the distances alone, and the columns of what
// compares them are empty.
func compared(row *table.Table, of []level, observations []bench.Observation, apart bool) (
	out []entry) {
	// compare adds an entry that is of all levels.
	compare := func(e entry) {
		if apart {
			e = entry{names: e.names, fields: make([]any, len(e.fields))}
		}
		out = append(out, e)
	}
	for _, o := range observations {
		var means []float64 // by level; NaN where no chain has one
		for i, l := range of {
			chains := l.Table
			if isDistance(o) {
				chains = finite(chains)
			}
			means = append(means, stat.Mean(chains.Numbers(o.Column), nil))
			if len(observations) > 1 { // else the level says all
				l.label = o.Name + " " + l.label
			}
			e := rounded(l.label, 0, o.Column+"_"+l.name, means[i], o.Digits)
			if isDistance(o) && l.Len() > 0 && lost(l.Table) == l.Len() {
				e.text = "diverged"
			}
			out = append(out, e)
		}
		if !isDistance(o) {
			continue
		}
		self := selfBand(row)
		alike := entry{"alike", 0, "–", "alike", []any{nil}}
		if len(of) == 2 {
			difference := means[1] - means[0]
			compare(entry{"Δ", 0, signed(difference, 3), "difference", []any{difference}})
			// The scatter of a distance is known of right chains alone.
			a, decidedA := rightOf(of[0].Table)
			b, decidedB := rightOf(of[1].Table)
			switch there := of[0].Len() > 0 && of[1].Len() > 0; {
			case there && lost(of[0].Table) != lost(of[1].Table):
				alike.text, alike.fields = yesNo(false), []any{false}
			case there && decidedA && decidedB && (a || b):
				alike.text, alike.fields = yesNo(a && b), []any{a && b}
			}
		}
		text := fmt.Sprintf("%s (%s–%s)",
			decimals(self.mean, 3), decimals(self.low, 3), decimals(self.high, 3))
		compare(entry{"self-distance (5–95 %)", 1, text,
			"self_distance,self_distance_p05,self_distance_p95",
			[]any{self.mean, self.low, self.high}})
		// People see the word "diverged" in place of a distance; programs get counts.
		for _, l := range of {
			out = append(out, entry{names: "diverged_" + l.name, fields: []any{lost(l.Table)}})
		}
		if len(of) == 2 {
			compare(alike)
		}
	}
	return out
}

// scores returns the scores of a name, in the units of the target, of the chains that have
// it: a chain that diverged has none.
func scores(t *table.Table, name string) (values []float64) {
	for _, r := range t.Rows() {
		result := resultOf(r)
		if v, ok := result.Scores[name]; ok && !result.Diverged && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// scoreEntries are the mean of a score over the splits of one data set's chains of one method,
// the paper's, and their difference in units of the paper's standard deviation. What there is not
// is NaN, as the deviation of one split.
func scoreEntries(t *table.Table, label, name string) []entry {
	mean, sd := stat.MeanStdDev(scores(t, name), nil)
	// All chains of a group are of one data set and method.
	cell := resultOf(t.Rows()[0]).Cell
	p := paper.PublishedFor(cell.Dataset, paper.MethodOf(cell), name)
	off := p.Deviations(mean)
	return []entry{
		deviating(label, name, mean, sd, 3),
		deviating("paper", name+"_paper", p.Mean, p.SD, 3),
		// In deviations, not in percent: scores scatter over splits by so much.
		{"Δ/sd", 0, inDeviations(off), name + "_difference_in_sd", []any{off}},
	}
}

// drawScores makes the paper's table of test scores with ours beside it, as in
//
//	| data set | method | RMSE         | paper        | Δ/sd  |
//	| boston   | SHMC   | 2.805 ± 0.72 | 2.821 ± 0.61 | -0.03 |
//	| boston   | SGHMC  | 2.814 ± 0.70 | 2.825 ± 0.63 | -0.02 |
//
// There is a line per data set and method, the paper's data sets first, in its order. Means are
// over the splits whose chains stayed finite. Of its own data sets the paper states sizes and
// noise variances, which are shown in place of what the plan knows; of others the plan's are.
func drawScores(d *drawing) error {
	// The first score is that of the task, which all data sets of the study share.
	score, label, kind := "rmse", "RMSE", "σ²"
	if slices.ContainsFunc(d.plan.Data, func(d bench.Data) bool { return d.Classes > 0 }) {
		score, label, kind = "accuracy", "accuracy", "classes"
	}
	there, setups := present(d.cells), paper.Setups()
	// Data sets of the study that the paper does not have come behind its own.
	for _, v := range there.Values("dataset") {
		set := v.Text()
		if !slices.ContainsFunc(setups, func(s paper.Setup) bool { return s.Dataset == set }) {
			data, _ := d.plan.Dataset(set)
			own := paper.Setup{Dataset: set, Classes: data.Classes, Train: data.Rows}
			setups = append(setups, own)
		}
	}
	var rows [][]entry
	for _, s := range setups {
		// Both rows of a data set say what they share: on the page rows are sorted.
		classes, variance := orNothing(s.Classes), orNothing(s.NoiseVariance)
		set := []entry{
			plain("data set", 0, "dataset", s.Dataset),
			{"train/test", 3, sizesText(s), "train,test",
				[]any{orNothing(s.Train), orNothing(s.Test)}},
			{kind, 4, cmp.Or(fieldText(classes), fieldText(variance), "–"),
				"noise_variance,classes", []any{variance, classes}},
		}
		// The oracle's chains are the paper's adaptive SGHMC, the study's cells its SHMC.
		for _, method := range []string{paper.SHMC, paper.SGHMC} {
			of := there.Where("dataset", s.Dataset).Filter(func(r table.Row) bool {
				return paper.MethodOf(resultOf(r).Cell) == method
			})
			if of.Len() == 0 {
				continue
			}
			var steps []string // each at which any split ran
			for _, v := range of.Sort("h").Values("h") {
				steps = append(steps, decimal(v.Number()))
			}
			row := append(slices.Clone(set), plain("method", 0, "method", method),
				entry{names: "integrator", fields: []any{of.Rows()[0].Text("integrator")}},
				entry{"η", 2, strings.Join(steps, ", "), "h", []any{strings.Join(steps, " ")}},
				countEntry("splits", 0, of))
			if lost(d.cells) == 0 { // then the column says the same of all
				row[len(row)-1].minor = 1
			}
			row = append(row, scoreEntries(of, label, score)...)
			row = append(row, scoreEntries(of, "MNLL", "mnll")...)
			rows = append(rows, row)
		}
	}
	methods := "SHMC: leapfrog; SGHMC: adaptive (the reference). Full batch."
	if d.plan.BuiltIn() { // a user's study has other steps
		methods += " η: of 0.005, 0.002 and 0.001 the largest at which an earlier run " +
			"stayed finite."
	}
	d.table(d.plan.ID, rows, methods,
		"±: standard deviation over splits. Δ/sd: difference from the paper in units of "+
			"the paper's standard deviation, as the claims have it: 0.005 larger than printed, "+
			"since it has two digits; * beyond two.")
	return nil
}

// drawAutocorrelation makes the paper's table of lag-1 autocorrelations with ours beside it, a
// line per data set, and what else is known of the quality of the references: means over splits
// and, of the checks that failed, their sum.
func drawAutocorrelation(d *drawing) error {
	var rows [][]entry
	for _, of := range present(d.cells).GroupBy("dataset") { // the references' own cells
		set := of.Get("dataset").Text()
		// The autocorrelation of the predictive values of successive draws.
		lag1, sd := stat.MeanStdDev(scores(of.Table, "lag1"), nil)
		published := paper.PublishedFor(set, paper.SGHMC, "lag1").Mean
		difference := lag1 - published
		// Diagnostics are recorded with the scores, without being observations of chains.
		score := func(label string, minor int, name string, digits int) entry {
			return rounded(label, minor, name, stat.Mean(scores(of.Table, name), nil), digits)
		}
		failed := int(floats.Sum(scores(of.Table, "checks_failed")))
		rows = append(rows, []entry{
			plain("data set", 0, "dataset", set),
			plain("splits", 6, "splits", of.Len()),
			deviating("lag-1", "lag1", lag1, sd, 3),
			rounded("paper", 0, "lag1_paper", published, 2),
			{"Δ", 0, signed(difference, 3), "lag1_difference", []any{difference}},
			score("ESS", 3, "ess", 0),
			score("split-R̂ (95 %)", 4, "rhat_p95", 3),
			rounded("self-distance", 1, "self_distance", selfBand(of.Table).mean, 3),
			score("Metropolis chain", 2, "metropolis_distance", 3),
			score("accepted", 5, "metropolis_acceptance", 2),
			plain("checks failed", 0, "checks_failed", failed),
		})
	}
	// The references of a study may be made in several ways: the notes state all.
	counts := distinct.Of(d.plan.References, func(r bench.ReferenceJob) string {
		return strconv.Itoa(r.Spec.Chains)
	})
	lengths := distinct.Of(d.plan.References, func(r bench.ReferenceJob) string {
		return strconv.Itoa(r.Spec.Samples)
	})
	// "4 chains of 200", or of what the study says.
	chains := strings.Join(counts, " or ") + " chains"
	apart := distinct.Of(d.plan.References, func(r bench.ReferenceJob) string {
		return decimal(float64(r.Spec.Thin) * r.Spec.Step)
	})
	d.table(d.plan.ID, rows,
		"Of the predictive values of the references (adaptive SGHMC, "+chains+" of "+
			strings.Join(lengths, " or ")+"), averaged over the test points. Time "+
			"between two draws: "+strings.Join(apart, " or ")+
			", twice or more where a reference had to be longer; the paper's is 2.5.",
		"Δ: difference from the paper, which states no deviations. "+
			"ESS: of the "+chains+" together.",
		"Metropolis chain: distance of a chain without step-size bias to the reference. "+
			"Checks failed: of a reference, but for that of its own error; "+
			"hambench judge --dataset NAME --checks shows them.")
	return nil
}

// show prints mean ± sd, the deviation with a digit less: without ± if there is no deviation,
// "–" if there is no mean.
func show(mean, sd float64, digits int) string {
	switch {
	case !isFinite(mean):
		return "–"
	case !isFinite(sd):
		return decimals(mean, digits)
	case sd < 1e-12*math.Abs(mean): // of equal numbers, but for rounding
		sd = 0
	}
	return decimals(mean, digits) + " ± " + decimals(sd, digits-1)
}

// decimals rounds as the paper does, to a fixed number of digits after the point; a number far
// beyond, as a score of a chain that went astray, has an exponent, and one that would be rounded to
// zero, as a score in small units, has two significant digits.
func decimals(x float64, digits int) string {
	size := math.Abs(x)
	switch {
	case digits > 0 && size >= 1e6: // counts, of no digits, stay whole
		return strconv.FormatFloat(x, 'e', digits, 64)
	case size > 0 && size < math.Pow10(-digits)/2:
		return significant(x)
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// signed prints a difference with some digits after the point, always with its sign; "–" for
// none.
func signed(x float64, digits int) string {
	if !isFinite(x) {
		return "–"
	}
	return fmt.Sprintf("%+.*f", digits, x)
}

// inDeviations prints a difference in standard deviations, marked where it is beyond two, as one
// of twenty is by chance.
func inDeviations(x float64) string {
	s := signed(x, 2)
	if isFinite(x) && math.Abs(x) > 2 {
		s += " *"
	}
	return s
}

// countEntry counts the chains of a group, as splits where each has one, and those that diverged,
// which are among them. A minor one is left out where room is short.
func countEntry(name string, minor int, t *table.Table) entry {
	// lost counts diverged chains here: cells have no spectral radius.
	text, diverged := strconv.Itoa(t.Len()), lost(t)
	if diverged > 0 {
		text += fmt.Sprintf(" (%d diverged)", diverged)
	}
	return entry{name, minor, text, name + "," + name + "_diverged", []any{t.Len(), diverged}}
}

// sizesText is the numbers of rows for training and for tests, as in 455/51; what is not known is
// a dash.
func sizesText(s paper.Setup) string {
	if s.Train == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%s", s.Train, cmp.Or(fieldText(orNothing(s.Test)), "–"))
}

// orNothing is a field without a value where a number is 0 because it does not apply.
func orNothing[N int | float64](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

// yesNo answers a question to which yes is the rule: it is loud where a reader should look.
func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}
