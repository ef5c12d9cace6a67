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
	"hambench/internal/distinct"
	"hambench/paper"
)

// entry is what a row of a table has in one column: as people read it, as programs
// do, or both. All rows of a table have the same columns.
type entry struct {
	label  string // of the column; "" for programs alone
	minor  int    // as of Column
	text   string
	names  string // of the column for programs, separated by commas; "" for people alone
	fields []any  // of names
}

// plain is what people read as programs do.
func plain(label string, minor int, name string, v any) entry {
	return entry{label, minor, fieldText(v), name, []any{v}}
}

// rounded is a number, with some digits for people.
func rounded(label string, minor int, name string, x float64, digits int) entry {
	return entry{label, minor, show(x, math.NaN(), digits), name, []any{x}}
}

// deviating is a mean with its standard deviation, which programs have as name_sd.
func deviating(label, name string, mean, sd float64, digits int) entry {
	return entry{label, 0, show(mean, sd, digits), name + "," + name + "_sd", []any{mean, sd}}
}

// table adds a table of rows to the study's, with what captions state as its last
// note.
func (d *drawing) table(id string, rows [][]entry, notes ...string) {
	t := &Table{ID: id, Title: d.plan.Title, Warning: d.replaced(), Notes: notes}
	if c := d.caption(); c != "" {
		t.Notes = append(t.Notes, c)
	}
	for i, row := range rows {
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

// drawTable makes the table of a study's cells; nil is what the figure has. Means
// are over what is neither a row nor a column.
func drawTable(d *drawing, id string, spec *bench.TableSpec) error {
	spec = cmp.Or(spec, new(bench.TableSpec))
	heads, err := rowSettings(d.plan, spec)
	if err != nil {
		return err
	}
	columns, err := lookup(spec.Columns, d.plan.Cells)
	if err != nil {
		return err
	}
	values, err := valuesOf(d, spec)
	if err != nil {
		return err
	}
	there := slices.DeleteFunc(sortedJobs(d.plan.Cells, heads), func(j bench.Job) bool { _, ok := d.byKey[j.Key]; return !ok })
	rowOf := func(c bench.Cell) string { return joined(heads, c, " ") }
	levelOf := func(c bench.Cell) string { return strings.TrimPrefix(joined(columns, c, "_"), "_") }
	rows, _ := gather(there, d.byKey, rowOf)
	parts, at := gather(there, d.byKey, func(c bench.Cell) [2]string { return [2]string{rowOf(c), levelOf(c)} })
	levels := distinct.Of(there, func(j bench.Job) string { return levelOf(j.Cell) })
	labels := make(map[string]string)
	for _, j := range there {
		labels[levelOf(j.Cell)] = textOf(columns, j.Cell)
	}
	var lines [][]entry
	for _, r := range rows {
		var line []entry
		for _, h := range heads {
			line = append(line, entry{h.label, 0, h.plain(r.cell), h.column, []any{h.field(r.cell)}})
		}
		if len(columns) == 0 {
			lines = append(lines, append(line, r.values(values)...))
			continue
		}
		of := make([]level, len(levels))
		for i, name := range levels {
			of[i] = level{name, labels[name], cmp.Or(at[[2]string{rowOf(r.cell), name}], new(chains))}
		}
		lines = append(lines, append(line, r.levels(of, values)...))
	}
	over := strings.Join(append([]string{"splits"}, mixed(parts)...), ", ")
	var notes []string
	switch judged := slices.ContainsFunc(values, func(o bench.Observation) bool { return o.Name == distance }); {
	case !judged:
		notes = append(notes, "Means over "+over+"; ±: standard deviation. A chain that diverged has no scores.")
	case len(columns) == 0:
		notes = append(notes, "Means over "+over+"; ±: standard deviation. A chain that diverged counts as distance 1 and has no scores.",
			"In band: the distance is at most the 95 % quantile of the self-distance of independent chains.")
	default:
		notes = append(notes, "Kolmogorov distances are to the same oracle.")
		if over != "splits" {
			notes = append(notes, "Means over "+over+".")
		}
		if len(levels) == 2 {
			notes = append(notes, "Alike: Δ is at most half the width of the band of self-distance, and as many chains diverged.")
		}
	}
	if spec.Note != "" {
		notes = append(notes, spec.Note)
	}
	d.table(id, lines, notes...)
	return nil
}

// rowSettings are the settings of a table's rows: what its study says, or those
// of its figure.
func rowSettings(p bench.Plan, spec *bench.TableSpec) ([]setting, error) {
	if len(spec.Rows) > 0 {
		return lookup(spec.Rows, p.Cells)
	}
	s, err := newLayout(p)
	if err != nil {
		return nil, err
	}
	other := func(of ...setting) []setting {
		return slices.DeleteFunc(slices.Clone(of), func(h setting) bool { return slices.Contains(spec.Columns, h.name) })
	}
	heads, lines := other(s.panels...), other(s.lines...)
	if len(lines) > 0 {
		heads = append(heads, setting{name: "line", column: "line", label: "line", value: func(c bench.Cell) any { return textOf(lines, c) }})
	}
	return append(heads, other(s.x)...), nil
}

// valuesOf are the observations of a table: what its study says, or the
// distance, all scores that there are, and the cost.
func valuesOf(d *drawing, spec *bench.TableSpec) (out []bench.Observation, err error) {
	if len(spec.Values) == 0 {
		return slices.DeleteFunc(bench.Observations(), func(o bench.Observation) bool { return !o.Shown || len(observed(o, d.results)) == 0 }), nil
	}
	for _, name := range spec.Values {
		o, err := observe(name)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// values are the counts of chains and, for each observation, its mean.
func (r *chains) values(observations []bench.Observation) []entry {
	out := []entry{splitsEntry(0, r)}
	for i, o := range observations {
		mean, sd := stat.MeanStdDev(observed(o, r.results), nil)
		if o.Name != distance {
			out = append(out, rounded(o.Name, i, o.Column, mean, o.Digits))
			continue
		}
		inBand := mean <= r.self.high
		out = append(out, deviating(o.Name, o.Column, mean, sd, o.Digits), entry{"in band", 0, yesNo(inBand), "in_band", []any{inBand}})
	}
	return out
}

// level is what a row has of one value of the columns' settings.
type level struct {
	name, label string // of the value, for programs and for people
	*chains
}

// levels are, for each observation, its mean by the values of the columns'
// settings. Where these are two, distances have their difference, and whether it
// is more than the noise.
func (r *chains) levels(of []level, observations []bench.Observation) (out []entry) {
	for _, o := range observations {
		var means []float64
		for i, l := range of {
			means = append(means, stat.Mean(observed(o, l.results), nil))
			if len(observations) > 1 {
				l.label = o.Name + " " + l.label
			}
			e := rounded(l.label, 0, o.Column+"_"+l.name, means[i], o.Digits)
			if o.Name == distance && len(l.results) > 0 && l.diverged == len(l.results) {
				e.text = "diverged"
			}
			out = append(out, e)
		}
		if o.Name != distance {
			continue
		}
		if len(of) == 2 {
			difference := means[1] - means[0]
			out = append(out, entry{"Δ", 0, signed(difference, 3), "difference", []any{difference}})
		}
		self := decimals(r.self.mean, 3) + " (" + decimals(r.self.low, 3) + "–" + decimals(r.self.high, 3) + ")"
		out = append(out, entry{"self-distance (5–95 %)", 1, self, "self_distance,self_distance_p05,self_distance_p95", []any{r.self.mean, r.self.low, r.self.high}})
		for _, l := range of {
			out = append(out, entry{names: "diverged_" + l.name, fields: []any{l.diverged}})
		}
		if len(of) == 2 {
			e := entry{"alike", 0, "–", "alike", []any{nil}}
			if of[0].results != nil && of[1].results != nil {
				alike := of[0].diverged == of[1].diverged && math.Abs(means[1]-means[0]) <= (r.self.high-r.self.low)/2
				e.text, e.fields = yesNo(alike), []any{alike}
			}
			out = append(out, e)
		}
	}
	return out
}

// published is the paper's number for a data set, method and score: NaN if it has
// none.
func published(dataset, method, score string) (mean, sd float64) {
	if p, ok := paper.PublishedFor(dataset, method, score); ok {
		return p.Mean, p.SD
	}
	return math.NaN(), math.NaN()
}

// scoresOf are the scores of a name, of the results that have it.
func scoresOf(results []bench.Result, name string) []float64 {
	return observed(bench.Observation{Name: name}, results)
}

// drawScores makes the paper's table of test scores with ours beside it, a line
// per data set, the paper's first, and method. Means are over the splits whose
// chains stayed finite. What the paper states of its data sets goes before what
// the plan knows of ours.
func drawScores(d *drawing) error {
	score, label, kind := "rmse", "RMSE", "σ²"
	if slices.ContainsFunc(d.plan.Data, func(d bench.Data) bool { return d.Classes > 0 }) {
		score, label, kind = "accuracy", "accuracy", "classes"
	}
	splitsMinor := 1
	if slices.ContainsFunc(d.results, func(r bench.Result) bool { return r.Diverged }) {
		splitsMinor = 0
	}
	setups := paper.Setups()
	for _, r := range d.results {
		if set := r.Cell.Dataset; !slices.ContainsFunc(setups, func(s paper.Setup) bool { return s.Dataset == set }) {
			data, _ := d.plan.Dataset(set)
			setups = append(setups, paper.Setup{Dataset: set, Classes: data.Classes, Train: data.Rows})
		}
	}
	_, at := gather(d.plan.Jobs(), d.byKey, func(c bench.Cell) [2]string { return [2]string{c.Dataset, paper.MethodOf(c)} })
	var rows [][]entry
	for _, s := range setups {
		again := false // the data set has a row above
		for _, method := range []string{paper.SHMC, paper.SGHMC} {
			of := at[[2]string{s.Dataset, method}]
			if of == nil || of.results == nil {
				continue
			}
			var steps []string
			for _, h := range slices.Sorted(slices.Values(distinct.Of(of.results, func(r bench.Result) float64 { return r.Cell.Step }))) {
				steps = append(steps, decimal(h))
			}
			classes, variance := orNothing(s.Classes), orNothing(s.NoiseVariance)
			row := []entry{
				plain("data set", 0, "dataset", s.Dataset),
				{"train/test", 3, sizesText(s), "train,test", []any{orNothing(s.Train), orNothing(s.Test)}},
				{kind, 4, cmp.Or(fieldText(classes), fieldText(variance), "–"), "noise_variance,classes", []any{variance, classes}},
			}
			for i := range row {
				if again {
					row[i].text = ""
				}
			}
			again = true
			row = append(row, plain("method", 0, "method", method),
				entry{names: "integrator", fields: []any{of.results[0].Cell.Integrator}},
				entry{"η", 2, strings.Join(steps, ", "), "h", []any{strings.Join(steps, " ")}},
				splitsEntry(splitsMinor, of))
			row = append(row, of.besidePaper(label, score)...)
			rows = append(rows, append(row, of.besidePaper("MNLL", "mnll")...))
		}
	}
	d.table(d.plan.ID, rows,
		"SHMC: leapfrog; SGHMC: adaptive (the oracle). Full batch. η: the largest of 0.005, 0.002, 0.001 at which no chain diverged.",
		"±: standard deviation over splits. Δ/sd: difference from the paper in units of the paper's standard deviation; * beyond two.")
	return nil
}

// besidePaper are a score over splits, the paper's, and the difference in units of the
// paper's standard deviation.
func (r *chains) besidePaper(label, name string) []entry {
	mean, sd := stat.MeanStdDev(scoresOf(r.results, name), nil)
	itsMean, itsSD := published(r.cell.Dataset, paper.MethodOf(r.cell), name)
	difference := (mean - itsMean) / itsSD
	return []entry{
		deviating(label, name, mean, sd, 3),
		deviating("paper", name+"_paper", itsMean, itsSD, 3),
		{"Δ/sd", 0, inDeviations(difference), name + "_difference_in_sd", []any{difference}},
	}
}

// drawAutocorrelation makes the paper's table of lag-1 autocorrelations with
// ours beside it, and what else is known of the quality of the oracles.
func drawAutocorrelation(d *drawing) error {
	all, _ := gather(d.plan.Cells, d.byKey, func(c bench.Cell) string { return c.Dataset })
	var rows [][]entry
	for _, of := range all {
		if of.results == nil {
			continue
		}
		set := of.cell.Dataset
		lag1, sd := stat.MeanStdDev(scoresOf(of.results, "lag1"), nil)
		its, _ := published(set, paper.SGHMC, "lag1")
		score := func(name string) float64 { return stat.Mean(scoresOf(of.results, name), nil) }
		rows = append(rows, []entry{
			plain("data set", 0, "dataset", set),
			plain("splits", 6, "splits", len(of.results)),
			deviating("lag-1", "lag1", lag1, sd, 3),
			rounded("paper", 0, "lag1_paper", its, 2),
			{"Δ", 0, signed(lag1-its, 3), "lag1_difference", []any{lag1 - its}},
			rounded("ESS", 3, "ess", score("ess"), 0),
			rounded("split-R̂ (95 %)", 4, "rhat_p95", score("rhat_p95"), 3),
			rounded("self-distance", 1, "self_distance", of.self.mean, 3),
			rounded("Metropolis chain", 2, "metropolis_distance", score("metropolis_distance"), 3),
			rounded("accepted", 5, "metropolis_acceptance", score("metropolis_acceptance"), 2),
			plain("checks failed", 0, "checks_failed", int(floats.Sum(scoresOf(of.results, "checks_failed")))),
		})
	}
	counts := distinct.Of(d.plan.References, func(r bench.ReferenceJob) string { return strconv.Itoa(r.Spec.Chains) })
	lengths := distinct.Of(d.plan.References, func(r bench.ReferenceJob) string { return strconv.Itoa(r.Spec.Samples) })
	together := strings.Join(counts, " or ") + " chains"
	d.table(d.plan.ID, rows,
		"Of the predictive values of the oracles (adaptive SGHMC, "+together+" of "+strings.Join(lengths, " or ")+"), averaged over the test points.",
		"Δ: difference from the paper, which states no deviations. ESS: of the "+together+" together.",
		"Metropolis chain: distance of a chain without step-size bias to the oracle. Checks failed: of six for each oracle; hambench judge --dataset NAME --checks shows them.")
	return nil
}

// show prints mean ± sd: without ± if there is no deviation, "–" if there is
// no mean.
func show(mean, sd float64, digits int) string {
	switch {
	case !isFinite(mean):
		return "–"
	case !isFinite(sd):
		return decimals(mean, digits)
	}
	return decimals(mean, digits) + " ± " + decimals(sd, digits-1)
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
func signed(x float64, digits int) string {
	if !isFinite(x) {
		return "–"
	}
	return fmt.Sprintf("%+.*f", digits, x)
}

// inDeviations prints a difference in standard deviations, with a mark beyond
// two.
func inDeviations(x float64) string {
	s := signed(x, 2)
	if isFinite(x) && math.Abs(x) > 2 {
		s += " *"
	}
	return s
}

// splitsEntry counts splits, and those of them whose chain diverged.
func splitsEntry(minor int, of *chains) entry {
	text := strconv.Itoa(len(of.results))
	if of.diverged > 0 {
		text += fmt.Sprintf(" (%d diverged)", of.diverged)
	}
	return entry{"splits", minor, text, "splits,splits_diverged", []any{len(of.results), of.diverged}}
}

// sizesText is train/test; what is not known is a dash.
func sizesText(s paper.Setup) string {
	if s.Train == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%s", s.Train, cmp.Or(fieldText(orNothing(s.Test)), "–"))
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
