package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/paper"
)

// value is a score over splits beside the paper's.
type value struct {
	Mean       *float64 `json:"mean"` // null if unknown
	SD         *float64 `json:"sd"`   // over splits; null with fewer than two
	Paper      *float64 `json:"paper"`
	PaperSD    *float64 `json:"paper_sd"`
	Difference *float64 `json:"difference"` // from the paper's mean, in units of its standard deviation; of the lag-1 autocorrelation, plain
}

// newValue compares scores, one per split, with the paper's number for a data
// set, method and score, which may be absent.
func newValue(scores []float64, dataset, method, score string) value {
	mean, sd := stat.MeanStdDev(scores, nil)
	v := value{Mean: finite(mean), SD: finite(sd)}
	if p, ok := paper.PublishedFor(dataset, method, score); ok {
		v.Paper = &p.Mean
		difference := mean - p.Mean
		if p.SD > 0 {
			v.PaperSD = &p.SD
			difference /= p.SD
		}
		v.Difference = finite(difference)
	}
	return v
}

// finite is null in JSON where there is no number: for no scores, and for a
// deviation of one.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
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

// scoreRow is a data set under one method.
type scoreRow struct {
	Dataset       string    `json:"dataset"`
	Classes       int       `json:"classes,omitempty"`
	Train         int       `json:"train,omitempty"`
	Test          int       `json:"test,omitempty"`
	NoiseVariance float64   `json:"noise_variance,omitempty"`
	Method        string    `json:"method"`
	Integrator    string    `json:"integrator"`
	Steps         []float64 `json:"h"`
	Splits        int       `json:"splits"`
	Diverged      int       `json:"splits_diverged"`
	First         value     `json:"-"` // rmse or accuracy
	MNLL          value     `json:"-"`
}

// scoreTable is one of the two tables of scores.
type scoreTable struct {
	plan   bench.Plan
	score  string // key of the first score
	header string // of its column
}

// digits of scores.
const digits = 3

// newScoreTable goes by what the data sets of the plan are.
func newScoreTable(p bench.Plan) scoreTable {
	if slices.ContainsFunc(p.Data, func(d bench.Data) bool { return d.Classes > 0 }) {
		return scoreTable{p, "accuracy", "accuracy"}
	}
	return scoreTable{p, "rmse", "RMSE"}
}

// rows makes a row per data set and method.
func (t scoreTable) rows(results []bench.Result) []scoreRow {
	var sets []string
	for _, r := range results {
		sets = appendNew(sets, r.Cell.Dataset)
	}
	slices.SortStableFunc(sets, func(a, b string) int { return t.rank(a) - t.rank(b) })
	var rows []scoreRow
	for _, set := range sets {
		for _, method := range []string{paper.SHMC, paper.SGHMC} {
			of := slices.DeleteFunc(slices.Clone(results), func(r bench.Result) bool { return r.Cell.Dataset != set || paper.MethodOf(r.Cell) != method })
			if len(of) > 0 {
				rows = append(rows, t.row(set, method, of))
			}
		}
	}
	return rows
}

// rank is a data set's place in the paper's tables; others come last.
func (t scoreTable) rank(set string) int {
	i := slices.IndexFunc(paper.Setups, func(s paper.Setup) bool { return s.Dataset == set })
	if i < 0 {
		return len(paper.Setups)
	}
	return i
}

// row takes means over the splits whose chains stayed finite. What the paper
// states of its data sets goes before what the plan knows of ours.
func (t scoreTable) row(set, method string, results []bench.Result) scoreRow {
	row := scoreRow{Dataset: set, Method: method, Integrator: results[0].Cell.Integrator, Splits: len(results)}
	if i := t.rank(set); i < len(paper.Setups) {
		s := paper.Setups[i]
		row.Classes, row.Train, row.Test, row.NoiseVariance = s.Classes, s.Train, s.Test, s.NoiseVariance
	} else if d, ok := t.plan.Dataset(set); ok {
		row.Classes, row.Train = d.Classes, d.Rows
	}
	finished := slices.DeleteFunc(slices.Clone(results), func(r bench.Result) bool { return r.Diverged })
	row.Diverged = len(results) - len(finished)
	for _, r := range results {
		row.Steps = appendNew(row.Steps, r.Cell.Step)
	}
	slices.Sort(row.Steps)
	row.First = newValue(scoresOf(finished, t.score), set, method, t.score)
	row.MNLL = newValue(scoresOf(finished, "mnll"), set, method, "mnll")
	return row
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

// drawScores writes the paper's table of test scores with ours beside it, a line
// per data set and method.
func drawScores(d *drawing) error {
	t := newScoreTable(d.plan)
	rows := t.rows(d.results)
	kind := "σ²"
	if t.score == "accuracy" {
		kind = "classes"
	}
	said := make(map[string]bool) // what a data set's second line leaves out
	return listing[scoreRow]{
		rows:   rows,
		header: "data set,train/test," + kind + ",method,η,splits," + t.header + ",paper,Δ/sd,MNLL,paper,Δ/sd",
		text: func(r scoreRow) []string {
			head := []string{r.Dataset, sizesText(r), t.kind(r)}
			if said[r.Dataset] {
				head = []string{"", "", ""}
			}
			said[r.Dataset] = true
			return slices.Concat(head, []string{r.Method, stepsText(r.Steps, ", ", decimal), splitsText(r.Splits, r.Diverged)}, r.First.text(), r.MNLL.text())
		},
		csvHeader: "dataset,train,test,noise_variance,classes,method,integrator,h,splits,splits_diverged" + valueHeader(t.score) + valueHeader("mnll"),
		csv: func(r scoreRow) []string {
			head := fields(r.Dataset, orNothing(r.Train), orNothing(r.Test), orNothing(r.NoiseVariance), orNothing(r.Classes), r.Method, r.Integrator,
				stepsText(r.Steps, " ", number), r.Splits, r.Diverged)
			return slices.Concat(head, r.First.csv(), r.MNLL.csv())
		},
		json: t.json(rows),
		notes: []string{
			"SHMC: leapfrog; SGHMC: adaptive (the oracle). Full batch. η: the largest of 0.005, 0.002, 0.001 at which no chain diverged.",
			"±: standard deviation over splits. Δ/sd: difference from the paper in units of the paper's standard deviation; * beyond two.",
		},
	}.write(d)
}

// kind is the column that tells regression from classification.
func (t scoreTable) kind(r scoreRow) string {
	switch {
	case t.score == "accuracy":
		return strconv.Itoa(r.Classes)
	case r.NoiseVariance == 0:
		return "–"
	}
	return decimal(r.NoiseVariance)
}

// text is the score, the paper's, and the difference.
func (v value) text() []string {
	return []string{show(v.Mean, v.SD, digits), show(v.Paper, v.PaperSD, digits), inDeviations(v.Difference)}
}

// csv has the columns of valueHeader.
func (v value) csv() []string { return fields(v.Mean, v.SD, v.Paper, v.PaperSD, v.Difference) }

// valueHeader are the columns of a score, each with a comma before it.
func valueHeader(score string) string {
	return strings.ReplaceAll(",s,s_sd,s_paper,s_paper_sd,s_difference_in_sd", ",s", ","+score)
}

// stepsText joins step sizes.
func stepsText(steps []float64, separator string, format func(float64) string) string {
	var out []string
	for _, h := range steps {
		out = append(out, format(h))
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

// inDeviations prints a difference in standard deviations, with a mark beyond
// two.
func inDeviations(x *float64) string {
	s := signed(x, 2)
	if x != nil && math.Abs(*x) > 2 {
		s += " *"
	}
	return s
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

// orNothing is nothing in a CSV for what does not apply.
func orNothing[N int | float64](n N) any {
	if n == 0 {
		return ""
	}
	return n
}

// json names the first score by its own name.
func (t scoreTable) json(rows []scoreRow) any {
	type named struct {
		scoreRow
		Scores map[string]value `json:"scores"`
	}
	var out []named
	for _, r := range rows {
		out = append(out, named{r, map[string]value{t.score: r.First, "mnll": r.MNLL}})
	}
	return out
}

// lagRow is a row of the table of autocorrelations.
type lagRow struct {
	Dataset string `json:"dataset"`
	Splits  int    `json:"splits"`
	Lag1    value  `json:"lag1"`
	// Means over splits of the oracle's other diagnostics, over its five
	// chains together.
	ESS     *float64 `json:"ess"`
	RHatP95 *float64 `json:"rhat_p95"`
	Self    *float64 `json:"self_distance"`
	// Metropolis is the distance of the Metropolis-corrected chain to the
	// oracle, Acceptance its mean acceptance probability.
	Metropolis *float64 `json:"metropolis_distance"`
	Acceptance *float64 `json:"metropolis_acceptance"`
	// Failed counts the checks of the oracles that did not pass.
	Failed int `json:"checks_failed"`
}

// drawAutocorrelation writes the paper's table of lag-1 autocorrelations with
// ours beside it, and what else is known of the quality of the oracles.
func drawAutocorrelation(d *drawing) error {
	return listing[lagRow]{
		rows:   lagRows(d.results),
		header: "data set,splits,lag-1,paper,Δ,ESS,split-R̂ (95 %),self-distance,Metropolis chain,accepted,checks failed",
		text: func(r lagRow) []string {
			return fields(r.Dataset, r.Splits, show(r.Lag1.Mean, r.Lag1.SD, 3), show(r.Lag1.Paper, nil, 2), signed(r.Lag1.Difference, 3),
				show(r.ESS, nil, 0), show(r.RHatP95, nil, 3), show(r.Self, nil, 3), show(r.Metropolis, nil, 3), show(r.Acceptance, nil, 2), r.Failed)
		},
		csvHeader: "dataset,splits,lag1,lag1_sd,lag1_paper,lag1_difference,ess,rhat_p95,self_distance,metropolis_distance,metropolis_acceptance,checks_failed",
		csv: func(r lagRow) []string {
			return fields(r.Dataset, r.Splits, r.Lag1.Mean, r.Lag1.SD, r.Lag1.Paper, r.Lag1.Difference,
				r.ESS, r.RHatP95, r.Self, r.Metropolis, r.Acceptance, r.Failed)
		},
		notes: []string{
			"Of the predictive values of the oracles (adaptive SGHMC, five chains of 200), averaged over the test points.",
			"Δ: difference from the paper, which states no deviations. ESS: of the five chains together.",
			"Metropolis chain: distance of a chain without step-size bias to the oracle. Checks failed: of six for each oracle; hambench oracle --dataset NAME shows them.",
		},
	}.write(d)
}

// lagRows makes a row per data set, of means over its splits.
func lagRows(results []bench.Result) []lagRow {
	var sets []string
	of := make(map[string][]bench.Result)
	for _, r := range results {
		sets = appendNew(sets, r.Cell.Dataset)
		of[r.Cell.Dataset] = append(of[r.Cell.Dataset], r)
	}
	var rows []lagRow
	for _, set := range sets {
		mean := func(name string) *float64 { return meanOf(scoresOf(of[set], name)) }
		row := lagRow{
			Dataset: set, Splits: len(of[set]), Lag1: newValue(scoresOf(of[set], "lag1"), set, paper.SGHMC, "lag1"),
			ESS: mean("ess"), RHatP95: mean("rhat_p95"), Metropolis: mean("metropolis_distance"), Acceptance: mean("metropolis_acceptance"),
		}
		var self []float64
		for _, r := range of[set] {
			self = append(self, r.KSSelf)
			row.Failed += int(r.Scores["checks_failed"])
		}
		row.Self = meanOf(self)
		rows = append(rows, row)
	}
	return rows
}

// meanOf is null for nothing.
func meanOf(x []float64) *float64 { return finite(stat.Mean(x, nil)) }
