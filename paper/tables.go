package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
)

// paperSplits is over how many splits the paper's means are.
const paperSplits = 5

// rounding is how far a standard deviation that is printed to two digits may
// be below the true one.
const rounding = 0.005

func tableRegression() Claim {
	return scoreTable("regression", "Test RMSE and MNLL of the regression networks", "appendix, Table tab:regression")
}

func tableClassification() Claim {
	return scoreTable("classification", "Test accuracy and MNLL of the classification networks", "appendix, Table tab:classification")
}

// scoreTable is the claim that a table of scores can be repeated.
func scoreTable(id, what, where string) Claim {
	return Claim{
		ID: "table-" + id, By: ByPaper,
		Statement: what + " are those of the paper's table, for SHMC (leapfrog) and SGHMC.",
		Where:     where,
		Test: "Differences from the paper's means in units of its standard deviations over 5 splits (printed to two digits: the upper end). " +
			"Confirmed if every difference is within 2. Refuted if one exceeds what Student's law allows for the means of our splits and of the paper's five, at 1 % in all (Bonferroni).",
		Decide: func(e *Evidence) Finding {
			return decideTable(compareScores(PublishedIn(id), e.Results(id)), "hambench reproduce --only "+id)
		},
	}
}

// entry of a table: our scores, one a split, beside the paper's.
type tableEntry struct {
	Published
	ours []float64
}

func (t tableEntry) mean() float64 { return stat.Mean(t.ours, nil) }

// difference is that of the means in the paper's standard deviations.
func (t tableEntry) difference() float64 { return (t.mean() - t.Mean) / (t.SD + rounding) }

func (t tableEntry) name() string { return fmt.Sprintf("%s, %s, %s", t.Dataset, t.Method, t.Score) }

// compareScores finds our scores for every number of the paper. Chains that
// diverged have none.
func compareScores(published []Published, results []bench.Result) []tableEntry {
	var out []tableEntry
	for _, p := range published {
		t := tableEntry{Published: p}
		for _, r := range results {
			if v, ok := r.Scores[p.Score]; ok && !r.Diverged && r.Cell.Dataset == p.Dataset && MethodOf(r.Cell) == p.Method {
				t.ours = append(t.ours, v)
			}
		}
		out = append(out, t)
	}
	return out
}

// decideTable judges the differences of a table whose numbers have standard
// deviations.
func decideTable(entries []tableEntry, command string) Finding {
	have := slices.DeleteFunc(slices.Clone(entries), func(t tableEntry) bool { return len(t.ours) == 0 })
	if len(have) == 0 {
		return unavailable(command)
	}
	var f Finding
	var far, beyond []string
	worst := have[0]
	for _, t := range have {
		d := t.difference()
		f.Numbers = append(f.Numbers, Number{t.name(), number("", t.mean(), "%g").Value,
			fmt.Sprintf("%.3f, paper %.3f ± %.2f: %+.2f standard deviations, %d splits", t.mean(), t.Mean, t.SD, d, len(t.ours))})
		if math.Abs(d) > math.Abs(worst.difference()) {
			worst = t
		}
		if math.Abs(d) > 2 {
			far = append(far, t.name())
		}
		if math.Abs(d) > studentLimit(len(t.ours), paperSplits, len(have)) {
			beyond = append(beyond, t.name())
		}
	}
	f.Summary = fmt.Sprintf("%d of %d numbers within 2 standard deviations; largest difference %+.1f (%s)", len(have)-len(far), len(have), worst.difference(), worst.name())
	switch {
	case len(beyond) > 0:
		f.Verdict = Refuted
	case len(have) < len(entries):
		f.Verdict = NotDecided
		f.Summary += fmt.Sprintf("; %d numbers are missing: run %s", len(entries)-len(have), command)
	case len(far) > 0:
		f.Verdict = NotDecided
	default:
		f.Verdict = Confirmed
	}
	return f
}

// lagError is the standard error of a lag-1 autocorrelation that is averaged
// over five chains of 200 samples, were all predicted values of a chain one
// and the same: 1/√(5·200). More values only make it smaller.
const lagError = 0.032

func tableAutocorrelation() Claim {
	const id = "autocorrelation"
	return Claim{
		ID: "table-autocorrelation", By: ByPaper,
		Statement: "The lag-1 autocorrelations of the oracles are those of the paper's table.",
		Where:     "appendix, Table tab:acf",
		Test: "Differences from the paper, which states no deviations: the standard error of each number is at most 0.032, of a difference 0.045. " +
			"Confirmed if every difference is within 2 such errors (0.09), refuted if one exceeds 3.1 of them (0.14; 1 % in all for six sets).",
		Decide: func(e *Evidence) Finding {
			return decideLags(compareScores(PublishedIn(id), e.Results(id)), "hambench reproduce --only "+id)
		},
	}
}

// decideLags judges autocorrelations, which have no stated deviations, by their
// standard error.
func decideLags(entries []tableEntry, command string) Finding {
	const sd = lagError * math.Sqrt2
	have := slices.DeleteFunc(slices.Clone(entries), func(t tableEntry) bool { return len(t.ours) == 0 })
	if len(have) == 0 {
		return unavailable(command)
	}
	var f Finding
	worst, name := 0.0, ""
	for _, t := range have {
		d := t.mean() - t.Mean
		f.Numbers = append(f.Numbers, Number{t.Dataset, number("", t.mean(), "%g").Value, fmt.Sprintf("%.3f, paper %.2f: %+.3f", t.mean(), t.Mean, d)})
		if math.Abs(d) >= math.Abs(worst) {
			worst, name = d, t.Dataset
		}
	}
	f.Summary = fmt.Sprintf("largest difference %+.3f (%s)", worst, name)
	switch {
	case math.Abs(worst) > 3.1*sd:
		f.Verdict = Refuted
	case len(have) < len(entries):
		f.Verdict = NotDecided
		f.Summary += fmt.Sprintf("; %d sets are missing: run %s", len(entries)-len(have), command)
	case math.Abs(worst) > 2*sd:
		f.Verdict = NotDecided
	default:
		f.Verdict = Confirmed
	}
	return f
}
