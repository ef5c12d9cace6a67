package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/paper"
)

// column is a column of a table of rows of type R: as people read it, as
// programs do, or both.
type column[R any] struct {
	label  string         // "" for programs alone
	minor  int            // as of Column
	text   func(R) string // nil: the first of the fields
	names  string         // for programs, separated by commas; "" for people alone
	fields func(R) []any  // of names
}

// newTable makes a table of rows, with what captions state as its last note.
func newTable[R any](d *drawing, id string, rows []R, columns []column[R], notes ...string) *Table {
	t := &Table{ID: id, Title: d.plan.Title, Warning: d.replaced(), Notes: notes}
	if c := d.caption(); c != "" {
		t.Notes = append(t.Notes, c)
	}
	for _, c := range columns {
		if c.label != "" {
			t.Columns = append(t.Columns, Column{c.label, c.minor})
		}
		if c.names != "" {
			t.Data.Columns = append(t.Data.Columns, strings.Split(c.names, ",")...)
		}
	}
	for _, r := range rows {
		var text []string
		var fields []any
		for _, c := range columns {
			if c.names != "" {
				fields = append(fields, c.fields(r)...)
			}
			switch {
			case c.label == "":
			case c.text != nil:
				text = append(text, c.text(r))
			default:
				text = append(text, fieldText(c.fields(r)[0]))
			}
		}
		t.Rows = append(t.Rows, text)
		t.Data.add(fields...)
	}
	return t
}

// row is a row of a study's table: all that there is of the cells that agree in
// the settings of the rows.
type row struct {
	cell bench.Cell
	all  []bench.Result
	of   map[string][]bench.Result // by the values of the columns' settings
	self band
}

func (r row) diverged() int { return point{results: r.all}.diverged() }

// drawTable makes the table of a study's cells; nil is what the figure has.
func drawTable(d *drawing, id string, spec *bench.TableSpec) error {
	if spec == nil {
		spec = &bench.TableSpec{}
	}
	t, err := tabulate(d, id, *spec)
	if err != nil {
		return fmt.Errorf("figures: study %s: %w", d.plan.ID, err)
	}
	d.out.Tables = append(d.out.Tables, t)
	return nil
}

// tabulate takes means over what is neither a row nor a column.
func tabulate(d *drawing, id string, spec bench.TableSpec) (*Table, error) {
	heads, err := rowSettings(d.plan, spec)
	if err != nil {
		return nil, err
	}
	levels, err := lookup(spec.Columns, d.plan.Cells)
	if err != nil {
		return nil, err
	}
	var rows []*row
	var names []string // of the columns' values, for programs
	labels := make(map[string]string)
	at := make(map[string]*row)
	for _, j := range sortedJobs(d.plan.Cells, heads) {
		r, ok := d.Results.Result(j.Key)
		if !ok {
			continue
		}
		name := strings.TrimPrefix(joined(levels, j.Cell, "_"), "_")
		names, labels[name] = appendNew(names, name), textOf(levels, j.Cell)
		key := joined(heads, j.Cell, " ")
		if at[key] == nil {
			at[key] = &row{cell: j.Cell, of: make(map[string][]bench.Result)}
			rows = append(rows, at[key])
		}
		at[key].all, at[key].of[name] = append(at[key].all, r), append(at[key].of[name], r)
	}
	for _, r := range rows {
		r.self = selfBand(r.all)
	}
	var columns []column[*row]
	for _, h := range heads {
		columns = append(columns, column[*row]{
			label: h.label, text: func(r *row) string { return h.plain(r.cell) },
			names: h.column, fields: func(r *row) []any { return []any{h.field(r.cell)} },
		})
	}
	values, err := valuesOf(spec, rows)
	if err != nil {
		return nil, err
	}
	notes := []string{
		"Means over splits; ±: standard deviation. A chain that diverged counts as distance 1 and has no scores.",
		"In band: the distance is at most the 95 % quantile of the self-distance of independent chains.",
	}
	if len(levels) == 0 {
		columns = append(columns, valueColumns(values)...)
	} else {
		columns = append(columns, levelColumns(names, labels, values)...)
		notes = []string{"Kolmogorov distances are to the same oracle."}
		if len(names) == 2 {
			notes = append(notes, "Alike: Δ is at most half the width of the band of self-distance, and as many chains diverged.")
		}
	}
	if spec.Note != "" {
		notes = append(notes, spec.Note)
	}
	return newTable(d, id, rows, columns, notes...), nil
}

// rowSettings are the settings of a table's rows: what its study says, or those
// of its figure.
func rowSettings(p bench.Plan, spec bench.TableSpec) ([]setting, error) {
	if len(spec.Rows) > 0 {
		return lookup(spec.Rows, p.Cells)
	}
	s, err := newLayout(p)
	if err != nil {
		return nil, err
	}
	heads := slices.DeleteFunc(slices.Clone(s.panels), func(h setting) bool { return slices.Contains(spec.Columns, h.name) })
	heads = append(heads, setting{name: "line", column: "line", label: "line", value: func(c bench.Cell) any { return textOf(s.lines, c) }})
	if s.x == nil {
		step, err := lookup([]string{"step"}, nil)
		return append(heads, step...), err
	}
	return append(heads, *s.x), nil
}

// valuesOf are the observations of a table: what its study says, or the
// distance, all scores that there are, and the cost.
func valuesOf(spec bench.TableSpec, rows []*row) (out []observation, err error) {
	for _, name := range orElse(spec.Values, slices.Concat([]string{distance}, scores, []string{"gradients"})...) {
		o, err := observe(name)
		if err != nil {
			return nil, err
		}
		if len(spec.Values) > 0 || slices.ContainsFunc(rows, func(r *row) bool { return len(o.of(r.all)) > 0 }) {
			out = append(out, o)
		}
	}
	return out, nil
}

// valueColumns have the counts of chains and, for each observation, its mean.
func valueColumns(values []observation) []column[*row] {
	columns := []column[*row]{{
		label: "splits", text: func(r *row) string { return splitsText(len(r.all), r.diverged()) },
		names: "splits,splits_diverged", fields: func(r *row) []any { return []any{len(r.all), r.diverged()} },
	}}
	for i, o := range values {
		of := func(r *row) (mean, sd float64) { return stat.MeanStdDev(o.of(r.all), nil) }
		if o.name != distance {
			columns = append(columns, column[*row]{
				label: o.name, minor: i, text: func(r *row) string { mean, _ := of(r); return show(finite(mean), nil, o.digits) },
				names: o.column, fields: func(r *row) []any { mean, _ := of(r); return []any{mean} },
			})
			continue
		}
		inBand := func(r *row) bool { mean, _ := of(r); return mean <= r.self.high }
		columns = append(columns, column[*row]{
			label: o.name, text: func(r *row) string { mean, sd := of(r); return show(finite(mean), finite(sd), o.digits) },
			names: "ks,ks_sd", fields: func(r *row) []any { mean, sd := of(r); return []any{mean, sd} },
		}, column[*row]{
			label: "in band", text: func(r *row) string { return yesNo(inBand(r)) },
			names: "in_band", fields: func(r *row) []any { return []any{inBand(r)} },
		})
	}
	return columns
}

// levelColumns have, for each observation, a column per value of the columns'
// settings. Where these are two, distances have their difference, and whether it
// is more than the noise.
func levelColumns(names []string, labels map[string]string, values []observation) []column[*row] {
	var columns []column[*row]
	for _, o := range values {
		mean := func(r *row, name string) float64 { return stat.Mean(o.of(r.of[name]), nil) }
		diverged := func(r *row, name string) int { return point{results: r.of[name]}.diverged() }
		for _, name := range names {
			label := labels[name]
			if len(values) > 1 {
				label = o.name + " " + label
			}
			columns = append(columns, column[*row]{
				label: label, text: func(r *row) string {
					if n := len(r.of[name]); o.name == distance && n > 0 && diverged(r, name) == n {
						return "diverged"
					}
					return show(finite(mean(r, name)), nil, o.digits)
				},
				names: o.column + "_" + name, fields: func(r *row) []any { return []any{mean(r, name)} },
			})
		}
		if o.name != distance {
			continue
		}
		if len(names) == 2 {
			columns = append(columns, column[*row]{
				label: "Δ", text: func(r *row) string { return signed(finite(mean(r, names[1])-mean(r, names[0])), 3) },
				names: "difference", fields: func(r *row) []any { return []any{mean(r, names[1]) - mean(r, names[0])} },
			})
		}
		columns = append(columns, column[*row]{
			label: "self-distance (5–95 %)", minor: 1,
			text: func(r *row) string {
				return decimals(r.self.mean, 3) + " (" + decimals(r.self.low, 3) + "–" + decimals(r.self.high, 3) + ")"
			},
			names: "self_distance,self_distance_p05,self_distance_p95", fields: func(r *row) []any { return []any{r.self.mean, r.self.low, r.self.high} },
		})
		for _, name := range names {
			columns = append(columns, column[*row]{names: "diverged_" + name, fields: func(r *row) []any { return []any{diverged(r, name)} }})
		}
		if len(names) == 2 {
			alike := func(r *row) any {
				if len(r.of) < 2 {
					return nil
				}
				return diverged(r, names[0]) == diverged(r, names[1]) && math.Abs(mean(r, names[1])-mean(r, names[0])) <= (r.self.high-r.self.low)/2
			}
			columns = append(columns, column[*row]{
				label: "alike", text: func(r *row) string {
					return map[any]string{nil: "–", true: yesNo(true), false: yesNo(false)}[alike(r)]
				},
				names: "alike", fields: func(r *row) []any { return []any{alike(r)} },
			})
		}
	}
	return columns
}

// value is a score over splits beside the paper's.
type value struct {
	mean, sd       *float64 // nil if unknown; sd over splits, with two or more
	paper, paperSD *float64
	difference     *float64 // from the paper's mean, in units of its standard deviation; of the lag-1 autocorrelation, plain
}

// newValue compares scores, one per split, with the paper's number for a data
// set, method and score, which may be absent.
func newValue(scores []float64, dataset, method, score string) value {
	mean, sd := stat.MeanStdDev(scores, nil)
	v := value{mean: finite(mean), sd: finite(sd)}
	if p, ok := paper.PublishedFor(dataset, method, score); ok {
		v.paper = &p.Mean
		difference := mean - p.Mean
		if p.SD > 0 {
			v.paperSD = &p.SD
			difference /= p.SD
		}
		v.difference = finite(difference)
	}
	return v
}

// scoresOf are the scores of a name, of the results that have it.
func scoresOf(results []bench.Result, name string) []float64 {
	var out []float64
	for _, r := range results {
		if v, ok := r.Scores[name]; ok {
			out = append(out, v)
		}
	}
	return out
}

// scoreRow is a data set under one method.
type scoreRow struct {
	paper.Setup
	method, integrator string
	steps              []float64
	splits, diverged   int
	first, mnll        value // first: rmse or accuracy
	again              bool  // the data set has a row above
}

// drawScores makes the paper's table of test scores with ours beside it, a line
// per data set and method.
func drawScores(d *drawing) error {
	score, label, kind := "rmse", "RMSE", "σ²"
	if slices.ContainsFunc(d.plan.Data, func(d bench.Data) bool { return d.Classes > 0 }) {
		score, label, kind = "accuracy", "accuracy", "classes"
	}
	head := func(text func(scoreRow) string) func(scoreRow) string {
		return func(r scoreRow) string {
			if r.again {
				return ""
			}
			return text(r)
		}
	}
	rows := scoreRows(d, score)
	splits := column[scoreRow]{
		label: "splits", minor: 1, text: func(r scoreRow) string { return splitsText(r.splits, r.diverged) },
		names: "splits,splits_diverged", fields: func(r scoreRow) []any { return []any{r.splits, r.diverged} },
	}
	if slices.ContainsFunc(rows, func(r scoreRow) bool { return r.diverged > 0 }) {
		splits.minor = 0
	}
	columns := []column[scoreRow]{
		{label: "data set", text: head(func(r scoreRow) string { return r.Dataset }), names: "dataset", fields: func(r scoreRow) []any { return []any{r.Dataset} }},
		{label: "train/test", minor: 3, text: head(sizesText), names: "train,test", fields: func(r scoreRow) []any { return []any{orNothing(r.Train), orNothing(r.Test)} }},
		{label: kind, minor: 4, text: head(func(r scoreRow) string {
			return cmp.Or(fieldText(orNothing(r.Classes)), fieldText(orNothing(r.NoiseVariance)), "–")
		}), names: "noise_variance,classes", fields: func(r scoreRow) []any { return []any{orNothing(r.NoiseVariance), orNothing(r.Classes)} }},
		{label: "method", names: "method", fields: func(r scoreRow) []any { return []any{r.method} }},
		{names: "integrator", fields: func(r scoreRow) []any { return []any{r.integrator} }},
		{label: "η", minor: 2, text: func(r scoreRow) string { return stepsText(r.steps, ", ") }, names: "h", fields: func(r scoreRow) []any { return []any{stepsText(r.steps, " ")} }},
		splits,
	}
	columns = append(columns, scoreColumns(label, score, func(r scoreRow) value { return r.first })...)
	columns = append(columns, scoreColumns("MNLL", "mnll", func(r scoreRow) value { return r.mnll })...)
	d.out.Tables = append(d.out.Tables, newTable(d, d.plan.ID, rows, columns,
		"SHMC: leapfrog; SGHMC: adaptive (the oracle). Full batch. η: the largest of 0.005, 0.002, 0.001 at which no chain diverged.",
		"±: standard deviation over splits. Δ/sd: difference from the paper in units of the paper's standard deviation; * beyond two."))
	return nil
}

// scoreColumns are a score, the paper's, and the difference.
func scoreColumns(label, name string, of func(scoreRow) value) []column[scoreRow] {
	return []column[scoreRow]{
		{label: label, text: func(r scoreRow) string { return show(of(r).mean, of(r).sd, 3) }, names: name + "," + name + "_sd",
			fields: func(r scoreRow) []any { return []any{of(r).mean, of(r).sd} }},
		{label: "paper", text: func(r scoreRow) string { return show(of(r).paper, of(r).paperSD, 3) }, names: name + "_paper," + name + "_paper_sd",
			fields: func(r scoreRow) []any { return []any{of(r).paper, of(r).paperSD} }},
		{label: "Δ/sd", text: func(r scoreRow) string { return inDeviations(of(r).difference) }, names: name + "_difference_in_sd",
			fields: func(r scoreRow) []any { return []any{of(r).difference} }},
	}
}

// scoreRows makes a row per data set and method, the paper's data sets first, of
// means over the splits whose chains stayed finite. What the paper states of its
// data sets goes before what the plan knows of ours.
func scoreRows(d *drawing, score string) []scoreRow {
	rank := func(set string) int {
		if i := slices.IndexFunc(paper.Setups, func(s paper.Setup) bool { return s.Dataset == set }); i >= 0 {
			return i
		}
		return len(paper.Setups) // others come last
	}
	var sets []string
	for _, r := range d.results {
		sets = appendNew(sets, r.Cell.Dataset)
	}
	slices.SortStableFunc(sets, func(a, b string) int { return rank(a) - rank(b) })
	var rows []scoreRow
	for _, set := range sets {
		for _, method := range []string{paper.SHMC, paper.SGHMC} {
			of := slices.DeleteFunc(slices.Clone(d.results), func(r bench.Result) bool { return r.Cell.Dataset != set || paper.MethodOf(r.Cell) != method })
			if len(of) == 0 {
				continue
			}
			row := scoreRow{method: method, integrator: of[0].Cell.Integrator, splits: len(of)}
			if i := rank(set); i < len(paper.Setups) {
				row.Setup = paper.Setups[i]
			} else {
				data, _ := d.plan.Dataset(set)
				row.Setup = paper.Setup{Dataset: set, Classes: data.Classes, Train: data.Rows}
			}
			finished := slices.DeleteFunc(slices.Clone(of), func(r bench.Result) bool { return r.Diverged })
			row.diverged = len(of) - len(finished)
			for _, r := range of {
				row.steps = appendNew(row.steps, r.Cell.Step)
			}
			slices.Sort(row.steps)
			row.first = newValue(scoresOf(finished, score), set, method, score)
			row.mnll = newValue(scoresOf(finished, "mnll"), set, method, "mnll")
			row.again = len(rows) > 0 && rows[len(rows)-1].Dataset == set
			rows = append(rows, row)
		}
	}
	return rows
}

// drawAutocorrelation makes the paper's table of lag-1 autocorrelations with
// ours beside it, and what else is known of the quality of the oracles.
func drawAutocorrelation(d *drawing) error {
	var rows []*row
	for _, r := range d.results {
		i := slices.IndexFunc(rows, func(x *row) bool { return x.cell.Dataset == r.Cell.Dataset })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &row{cell: r.Cell})
		}
		rows[i].all = append(rows[i].all, r)
		rows[i].self = selfBand(rows[i].all)
	}
	lag1 := func(r *row) value { return newValue(scoresOf(r.all, "lag1"), r.cell.Dataset, paper.SGHMC, "lag1") }
	plain := func(label string, minor int, name string, digits int, of func(*row) *float64) column[*row] {
		return column[*row]{label: label, minor: minor, text: func(r *row) string { return show(of(r), nil, digits) }, names: name, fields: func(r *row) []any { return []any{of(r)} }}
	}
	score := func(name string) func(*row) *float64 {
		return func(r *row) *float64 { return finite(stat.Mean(scoresOf(r.all, name), nil)) }
	}
	difference := plain("Δ", 0, "lag1_difference", 3, func(r *row) *float64 { return lag1(r).difference })
	difference.text = func(r *row) string { return signed(lag1(r).difference, 3) }
	columns := []column[*row]{
		{label: "data set", names: "dataset", fields: func(r *row) []any { return []any{r.cell.Dataset} }},
		{label: "splits", minor: 6, names: "splits", fields: func(r *row) []any { return []any{len(r.all)} }},
		{label: "lag-1", text: func(r *row) string { return show(lag1(r).mean, lag1(r).sd, 3) }, names: "lag1,lag1_sd", fields: func(r *row) []any { return []any{lag1(r).mean, lag1(r).sd} }},
		plain("paper", 0, "lag1_paper", 2, func(r *row) *float64 { return lag1(r).paper }),
		difference,
		plain("ESS", 3, "ess", 0, score("ess")),
		plain("split-R̂ (95 %)", 4, "rhat_p95", 3, score("rhat_p95")),
		plain("self-distance", 1, "self_distance", 3, func(r *row) *float64 { return finite(r.self.mean) }),
		plain("Metropolis chain", 2, "metropolis_distance", 3, score("metropolis_distance")),
		plain("accepted", 5, "metropolis_acceptance", 2, score("metropolis_acceptance")),
		{label: "checks failed", names: "checks_failed", fields: func(r *row) []any { return []any{int(floats.Sum(scoresOf(r.all, "checks_failed")))} }},
	}
	d.out.Tables = append(d.out.Tables, newTable(d, d.plan.ID, rows, columns,
		"Of the predictive values of the oracles (adaptive SGHMC, five chains of 200), averaged over the test points.",
		"Δ: difference from the paper, which states no deviations. ESS: of the five chains together.",
		"Metropolis chain: distance of a chain without step-size bias to the oracle. Checks failed: of six for each oracle; hambench oracle --dataset NAME shows them."))
	return nil
}

// show prints mean ± sd: without ± if there is no deviation, "–" if there is
// no mean.
func show(mean, sd *float64, digits int) string {
	switch {
	case mean == nil:
		return "–"
	case sd == nil:
		return decimals(*mean, digits)
	}
	return decimals(*mean, digits) + " ± " + decimals(*sd, digits-1)
}

// decimals rounds as the paper does, to a fixed number of digits; a number far
// beyond, as a score of a chain that went astray, has an exponent.
func decimals(x float64, digits int) string {
	if digits > 0 && math.Abs(x) >= 1e6 {
		return strconv.FormatFloat(x, 'e', digits, 64)
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// signed always has a sign: differences are read by it.
func signed(x *float64, digits int) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%+.*f", digits, *x)
}

// inDeviations prints a difference in standard deviations, with a mark beyond
// two.
func inDeviations(x *float64) string {
	s := signed(x, 2)
	if x != nil && math.Abs(*x) > 2 {
		s += " *"
	}
	return s
}

// stepsText joins step sizes.
func stepsText(steps []float64, separator string) string {
	var out []string
	for _, h := range steps {
		out = append(out, decimal(h))
	}
	return strings.Join(out, separator)
}

// splitsText counts splits, and those of them whose chain diverged.
func splitsText(splits, diverged int) string {
	if diverged == 0 {
		return strconv.Itoa(splits)
	}
	return fmt.Sprintf("%d (%d diverged)", splits, diverged)
}

// sizesText is train/test; what is not known is a dash.
func sizesText(r scoreRow) string {
	switch {
	case r.Train == 0:
		return "–"
	case r.Test == 0:
		return strconv.Itoa(r.Train) + "/–"
	}
	return fmt.Sprintf("%d/%d", r.Train, r.Test)
}

// orNothing is nothing for programs where a number does not apply.
func orNothing[N int | float64](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

// yesNo is loud where a reader should look.
func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}
