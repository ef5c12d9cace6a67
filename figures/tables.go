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
	"hambench/bench/table"
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

// drawTable makes the table of a study's cells; nil is what the figure has. Means are over
// what is neither a row nor a column.
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
	var by []string
	for _, h := range heads {
		by = append(by, bench.ColumnsOf(h.settings...)...)
	}
	of := bench.ColumnsOf(columns...)
	there := present(d.cells).Sort(by...)
	all := there.GroupBy(of...)
	var lines [][]entry
	for _, g := range there.GroupBy(by...) {
		var line []entry
		for _, h := range heads {
			line = append(line, h.entry(g.Rows()[0]))
		}
		if len(columns) == 0 {
			lines = append(lines, append(line, means(g.Table, values)...))
			continue
		}
		at, levels := byKey(g.GroupBy(of...)), []level(nil)
		for _, l := range all {
			levels = append(levels, newLevel(columns, l, at[l.Key]))
		}
		lines = append(lines, append(line, compared(g.Table, levels, values)...))
	}
	var parts []*table.Table
	for _, g := range there.GroupBy(slices.Concat(by, of)...) {
		parts = append(parts, g.Table)
	}
	notes := tableNotes(values, len(all), len(columns) == 0, mixed(parts))
	if spec.Note != "" {
		notes = append(notes, spec.Note)
	}
	d.table(id, lines, notes...)
	return nil
}

// tableNotes say what the means of a table are over, besides splits, and how distances are
// judged, with columns of some levels or without any.
func tableNotes(values []bench.Observation, levels int, plain bool, over []string) []string {
	list := strings.Join(append([]string{"splits"}, over...), ", ")
	judged := slices.ContainsFunc(values, isDistance)
	if !judged || plain {
		lost := "has no scores."
		if judged {
			lost = "counts as distance 1 and has no scores."
		}
		notes := []string{"Means over " + list + "; ±: standard deviation. A chain that diverged " + lost}
		if judged {
			notes = append(notes, "In band: the distance is at most the 95 % quantile of the "+
				"self-distance of independent chains.")
		}
		return notes
	}
	notes := []string{"Kolmogorov distances are to the same oracle."}
	if len(over) > 0 {
		notes = append(notes, "Means over "+list+".")
	}
	if levels == 2 {
		notes = append(notes, "Alike: Δ is at most half the width of the band of self-distance, "+
			"and as many chains diverged.")
	}
	return notes
}

func isDistance(o bench.Observation) bool { return o.Name == distance }

// head is a column of a table that tells its rows apart: a setting, or all that name the
// lines of a figure.
type head struct {
	settings []bench.Setting
	line     bool
}

// entry is the head of a row.
func (h head) entry(r table.Row) entry {
	if h.line {
		return plain("line", 0, "line", bench.TextOf(h.settings, r))
	}
	s := h.settings[0]
	return entry{s.Label, 0, s.Plain(r), s.Column, []any{fieldOf(s, r)}}
}

// headsOf are what a study says that its rows differ in, or what its figure has, without
// what columns differ in.
func headsOf(d *drawing, spec *bench.TableSpec) (heads []head, err error) {
	var lines []bench.Setting
	add := func(settings ...bench.Setting) {
		for _, s := range settings {
			if !slices.Contains(spec.Columns, s.Name) {
				heads = append(heads, head{settings: []bench.Setting{s}})
			}
		}
	}
	if len(spec.Rows) > 0 {
		rows, err := bench.LookupSettings(spec.Rows, d.cells)
		add(withModels(rows, d.cells)...)
		return heads, err
	}
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

// valuesOf are the observations of a table: what its study says, or the distance, all
// scores that there are, and the cost.
func valuesOf(d *drawing, spec *bench.TableSpec) (out []bench.Observation, err error) {
	if len(spec.Values) == 0 {
		return slices.DeleteFunc(bench.Observations(), func(o bench.Observation) bool {
			return !o.Shown || len(d.cells.Numbers(o.Column)) == 0
		}), nil
	}
	for _, name := range spec.Values {
		o, err := bench.LookupObservation(name)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// means are the counts of chains and, for each observation, its mean.
func means(t *table.Table, observations []bench.Observation) []entry {
	out := []entry{splitsEntry(0, t)}
	for i, o := range observations {
		mean, sd := stat.MeanStdDev(t.Numbers(o.Column), nil)
		if !isDistance(o) {
			out = append(out, rounded(o.Name, i, o.Column, mean, o.Digits))
			continue
		}
		inBand := mean <= selfBand(t).high
		out = append(out, deviating(o.Name, o.Column, mean, sd, o.Digits),
			entry{"in band", 0, yesNo(inBand), "in_band", []any{inBand}})
	}
	return out
}

// level is what a row has of one value of the columns' settings.
type level struct {
	name, label  string // of the value, for programs and for people
	*table.Table        // empty where the row lacks it
}

// newLevel is the level of a group of all rows in one of them.
func newLevel(columns []bench.Setting, of table.Group, in *table.Table) level {
	r := of.Rows()[0]
	names := make([]string, len(columns))
	for i, s := range columns {
		names[i] = s.Plain(r)
	}
	return level{strings.Join(names, "_"), bench.TextOf(columns, r), cmp.Or(in, new(table.Table))}
}

// compared are, for each observation, its mean by the values of the columns' settings. Where
// these are two, distances have their difference, and whether it is more than the noise.
func compared(row *table.Table, of []level, observations []bench.Observation) (out []entry) {
	for _, o := range observations {
		var means []float64
		for i, l := range of {
			means = append(means, stat.Mean(l.Numbers(o.Column), nil))
			if len(observations) > 1 {
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
			out = append(out, entry{"Δ", 0, signed(difference, 3), "difference", []any{difference}})
			if of[0].Len() > 0 && of[1].Len() > 0 {
				is := lost(of[0].Table) == lost(of[1].Table) &&
					math.Abs(difference) <= (self.high-self.low)/2
				alike.text, alike.fields = yesNo(is), []any{is}
			}
		}
		text := decimals(self.mean, 3) + " (" + decimals(self.low, 3) + "–" + decimals(self.high, 3) + ")"
		out = append(out, entry{"self-distance (5–95 %)", 1, text,
			"self_distance,self_distance_p05,self_distance_p95", []any{self.mean, self.low, self.high}})
		for _, l := range of {
			out = append(out, entry{names: "diverged_" + l.name, fields: []any{lost(l.Table)}})
		}
		if len(of) == 2 {
			out = append(out, alike)
		}
	}
	return out
}

// scores are the scores of a name that chains have: those that stayed finite.
func scores(t *table.Table, name string) (values []float64) {
	for _, r := range t.Rows() {
		result := resultOf(r)
		if v, ok := result.Scores[name]; ok && !result.Diverged && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// againstPaper are the mean of a score over splits, the paper's for a data set and a method,
// and their difference. Columns are named by the score; in deviations is what the paper's
// standard deviations divide the difference by, where it states them.
type againstPaper struct{ mean, sd, paper, paperSD float64 }

// compareScore compares a score of chains with the paper's.
func compareScore(t *table.Table, dataset, method, score string) againstPaper {
	c := againstPaper{paper: math.NaN(), paperSD: math.NaN()}
	c.mean, c.sd = stat.MeanStdDev(scores(t, score), nil)
	if p, ok := paper.PublishedFor(dataset, method, score); ok {
		c.paper, c.paperSD = p.Mean, p.SD
	}
	return c
}

// drawScores makes the paper's table of test scores with ours beside it, a line per data
// set, the paper's first, and method. Means are over the splits whose chains stayed finite.
// What the paper states of its data sets goes before what the plan knows of ours.
func drawScores(d *drawing) error {
	score, label, kind := "rmse", "RMSE", "σ²"
	if slices.ContainsFunc(d.plan.Data, func(d bench.Data) bool { return d.Classes > 0 }) {
		score, label, kind = "accuracy", "accuracy", "classes"
	}
	there, setups := present(d.cells), paper.Setups()
	for _, v := range there.Values("dataset") {
		set := v.Text()
		if !slices.ContainsFunc(setups, func(s paper.Setup) bool { return s.Dataset == set }) {
			data, _ := d.plan.Dataset(set)
			setups = append(setups, paper.Setup{Dataset: set, Classes: data.Classes, Train: data.Rows})
		}
	}
	var rows [][]entry
	for _, s := range setups {
		classes, variance := orNothing(s.Classes), orNothing(s.NoiseVariance)
		set := []entry{
			plain("data set", 0, "dataset", s.Dataset),
			{"train/test", 3, sizesText(s), "train,test", []any{orNothing(s.Train), orNothing(s.Test)}},
			{kind, 4, cmp.Or(fieldText(classes), fieldText(variance), "–"), "noise_variance,classes",
				[]any{variance, classes}},
		}
		for _, method := range []string{paper.SHMC, paper.SGHMC} {
			of := there.Where("dataset", s.Dataset).Filter(func(r table.Row) bool {
				return paper.MethodOf(resultOf(r).Cell) == method
			})
			if of.Len() == 0 {
				continue
			}
			var steps []string
			for _, v := range of.Sort("h").Values("h") {
				steps = append(steps, decimal(v.Number()))
			}
			row := append(slices.Clone(set), plain("method", 0, "method", method),
				entry{names: "integrator", fields: []any{of.Rows()[0].Text("integrator")}},
				entry{"η", 2, strings.Join(steps, ", "), "h", []any{strings.Join(steps, " ")}},
				splitsEntry(0, of))
			if lost(d.cells) == 0 {
				row[len(row)-1].minor = 1
			}
			for _, of2 := range [][2]string{{label, score}, {"MNLL", "mnll"}} {
				c := compareScore(of, s.Dataset, method, of2[1])
				difference := (c.mean - c.paper) / c.paperSD
				row = append(row, deviating(of2[0], of2[1], c.mean, c.sd, 3),
					deviating("paper", of2[1]+"_paper", c.paper, c.paperSD, 3),
					entry{"Δ/sd", 0, inDeviations(difference), of2[1] + "_difference_in_sd", []any{difference}})
			}
			rows = append(rows, row)
			for i := range set { // said once
				set[i].text = ""
			}
		}
	}
	d.table(d.plan.ID, rows,
		"SHMC: leapfrog; SGHMC: adaptive (the oracle). Full batch. "+
			"η: the largest of 0.005, 0.002, 0.001 at which no chain diverged.",
		"±: standard deviation over splits. Δ/sd: difference from the paper in units of "+
			"the paper's standard deviation; * beyond two.")
	return nil
}

// drawAutocorrelation makes the paper's table of lag-1 autocorrelations with ours beside it,
// and what else is known of the quality of the oracles.
func drawAutocorrelation(d *drawing) error {
	var rows [][]entry
	for _, of := range present(d.cells).GroupBy("dataset") {
		set := of.Get("dataset").Text()
		lag1 := compareScore(of.Table, set, paper.SGHMC, "lag1")
		difference := lag1.mean - lag1.paper
		score := func(label string, minor int, name string, digits int) entry {
			return rounded(label, minor, name, stat.Mean(scores(of.Table, name), nil), digits)
		}
		rows = append(rows, []entry{
			plain("data set", 0, "dataset", set),
			plain("splits", 6, "splits", of.Len()),
			deviating("lag-1", "lag1", lag1.mean, lag1.sd, 3),
			rounded("paper", 0, "lag1_paper", lag1.paper, 2),
			{"Δ", 0, signed(difference, 3), "lag1_difference", []any{difference}},
			score("ESS", 3, "ess", 0),
			score("split-R̂ (95 %)", 4, "rhat_p95", 3),
			rounded("self-distance", 1, "self_distance", selfBand(of.Table).mean, 3),
			score("Metropolis chain", 2, "metropolis_distance", 3),
			score("accepted", 5, "metropolis_acceptance", 2),
			plain("checks failed", 0, "checks_failed", int(floats.Sum(scores(of.Table, "checks_failed")))),
		})
	}
	counts := distinct.Of(d.plan.References, func(r bench.ReferenceJob) string {
		return strconv.Itoa(r.Spec.Chains)
	})
	lengths := distinct.Of(d.plan.References, func(r bench.ReferenceJob) string {
		return strconv.Itoa(r.Spec.Samples)
	})
	chains := strings.Join(counts, " or ") + " chains"
	d.table(d.plan.ID, rows,
		"Of the predictive values of the oracles (adaptive SGHMC, "+chains+" of "+
			strings.Join(lengths, " or ")+"), averaged over the test points.",
		"Δ: difference from the paper, which states no deviations. ESS: of the "+chains+" together.",
		"Metropolis chain: distance of a chain without step-size bias to the oracle. "+
			"Checks failed: of six for each oracle; hambench judge --dataset NAME --checks shows them.")
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
func splitsEntry(minor int, t *table.Table) entry {
	text, diverged := strconv.Itoa(t.Len()), lost(t)
	if diverged > 0 {
		text += fmt.Sprintf(" (%d diverged)", diverged)
	}
	return entry{"splits", minor, text, "splits,splits_diverged", []any{t.Len(), diverged}}
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
