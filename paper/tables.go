package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
)

// The tables of the paper have means and standard deviations over five splits of a data
// set. Ours are over the splits of the profile. The regression sets have published splits,
// which both took: there only the noise of chains lies between the numbers (sameSplits).
// Which splits of the classification sets the paper took is not known, so the means of two
// samples are compared, and each difference is in units of the paper's standard deviation.

// paperSplits is over how many splits the paper's means are.
const paperSplits = 5

// rounding is how far a standard deviation that is printed to two digits may
// be below the true one.
const rounding = 0.005

// lagError is the standard error of a lag-1 autocorrelation that is averaged
// over five chains of 200 samples, were all predicted values of a chain one
// and the same: 1/√(5·200). More values only make it smaller.
const lagError = 0.032

// tableEntry is a number of a table beside ours. Differences are judged by the
// paper's standard deviations; those of autocorrelations, for which it states none,
// by their standard error.
type tableEntry struct {
	Published
	ours       []float64 // one a split
	chains     float64   // standard error of a difference of means by the chains' noise
	mean       float64   // of ours
	difference float64   // of the means, in the paper's standard deviations if it states any
}

// limits are the largest difference that confirms, and what chance exceeds in 1 % of tables
// of so many entries (Bonferroni).
func (t tableEntry) limits(of int) (near, limit float64) {
	// Our autocorrelation and the paper's have the standard error lagError each, their difference
	// √2 times that. In about 1 % of tables of six, chance makes one beyond 3.1 standard errors.
	if t.SD == 0 {
		return 2 * lagError * math.Sqrt2, 3.1 * lagError * math.Sqrt2
	}
	return 2, studentLimit(len(t.ours), paperSplits, of)
}

// noise is the standard deviation of a difference.
func (t tableEntry) noise() float64 {
	if t.SD == 0 {
		return lagError * math.Sqrt2
	}
	return math.Sqrt(1/float64(len(t.ours)) + 1./paperSplits)
}

// name names the number for people.
func (t tableEntry) name() string {
	if t.SD == 0 {
		return t.Dataset
	}
	return fmt.Sprintf("%s, %s, %s", t.Dataset, t.Method, t.Score)
}

// text has our number, the paper's, and their difference.
func (t tableEntry) text() string {
	if t.SD == 0 {
		return fmt.Sprintf("%.3f, paper %.2f: %+.3f", t.mean, t.Mean, t.difference)
	}
	return fmt.Sprintf("%.3f, paper %.3f ± %.2f: %+.2f standard deviations, %d splits",
		t.mean, t.Mean, t.SD, t.difference, len(t.ours))
}

// compareScores finds our scores for the numbers of a table. Chains that diverged have
// none, and a number without scores is left out.
func compareScores(published []Published, rows *table.Table) (out []tableEntry) {
	for _, p := range published {
		of := rows.Where("dataset", p.Dataset)
		t := tableEntry{Published: p, chains: chainNoise(of, p.Score)}
		for _, split := range of.GroupBy("split") {
			if ours := scoresOf(p.Method, split.Table, p.Score); len(ours) > 0 {
				t.ours = append(t.ours, stat.Mean(ours, nil))
			}
		}
		if len(t.ours) == 0 {
			continue
		}
		t.mean = stat.Mean(t.ours, nil)
		t.difference = t.mean - p.Mean
		if p.SD > 0 {
			t.difference = p.Deviations(t.mean)
		}
		out = append(out, t)
	}
	return out
}

// scoresOf are the scores of one of the two methods, a number a seed: SGHMC is the references'.
func scoresOf(method string, rows *table.Table, score string) []float64 {
	return rows.Filter(func(r table.Row) bool {
		return (r.Text("observe") == string(bench.Reference)) == (method == SGHMC)
	}).Numbers(score)
}

// chainNoise is the standard error of the difference of two means of a score over the same
// splits, were both of right chains of one posterior: from the differences between our
// two methods, split by split. NaN on fewer than two splits.
func chainNoise(rows *table.Table, score string) float64 {
	var differences []float64
	for _, g := range rows.GroupBy("split") {
		a, b := scoresOf(SHMC, g.Table, score), scoresOf(SGHMC, g.Table, score)
		if len(a) > 0 && len(b) > 0 {
			differences = append(differences, stat.Mean(a, nil)-stat.Mean(b, nil))
		}
	}
	if len(differences) < 2 {
		return math.NaN()
	}
	return stat.StdDev(differences, nil) / math.Sqrt(float64(len(differences)))
}

// lean is by how many of its standard deviations the sum over data sets of their mean
// differences, larger meaning worse, is off 0, and whether all have one sign. The numbers
// of a data set come from the same splits, so they count as one: their mean, with the
// noise of one of them.
func lean(entries []tableEntry) (z float64, sets int, oneSide bool) {
	differences, noise := make(map[string][]float64), make(map[string]float64)
	for _, t := range entries {
		d := t.difference // above 0 where ours is worse: of an accuracy the opposite
		if t.Score == "accuracy" {
			d = -d
		}
		differences[t.Dataset] = append(differences[t.Dataset], d)
		noise[t.Dataset] = max(noise[t.Dataset], t.noise()) // were all the same number
	}
	sum, variance, above, below := 0.0, 0.0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(differences)) { // sums in one order
		m := stat.Mean(differences[name], nil)
		sum += m
		variance += noise[name] * noise[name]
		above += int(indicator(m > 0))
		below += int(indicator(m < 0))
	}
	sets = len(differences)
	return sum / math.Sqrt(variance), sets, above == sets || below == sets
}

// published refutes a table of the paper if a difference, or all together, are more than
// chance allows, and confirms it if all are near and none is missing. The table is that of
// the study whose cells the case selects. Together they refute beyond 2.576 standard
// deviations (1 %), and leave open beyond 1.96 (5 %), or if six sets or more lie on one side.
func (x *evaluation) published() Finding {
	id := x.study()
	entries := compareScores(PublishedIn(id), x.selected)
	n, missing := len(entries), len(PublishedIn(id))-len(entries)
	if n == 0 {
		return x.nothing()
	}
	if x.SameSplits {
		return x.sameSplits(entries, missing)
	}
	var f Finding
	var worst tableEntry
	// near counts the differences that confirm; splits are the fewest of any number.
	near, beyond, splits := 0, false, math.MaxInt
	for _, t := range entries {
		f.note(t.name(), t.mean, t.text())
		d := math.Abs(t.difference)
		within, limit := t.limits(n)
		if d >= math.Abs(worst.difference) {
			worst = t
		}
		near += int(indicator(d <= within))
		beyond = beyond || d > limit
		splits = min(splits, len(t.ours))
	}
	z, sets, oneSide := lean(entries)
	f.add("all data sets together, in standard deviations of the sum", z, "%+.1f")
	noun := "sets"
	found := fmt.Sprintf("largest difference %+.3f (%s)", worst.difference, worst.name())
	if worst.SD > 0 {
		noun = "numbers"
		const summary = "%d of %d numbers within 2 standard deviations; " +
			"largest difference %+.1f (%s)"
		found = fmt.Sprintf(summary, near, n, worst.difference, worst.name())
	}
	f.Summary = fmt.Sprintf("%s; together %+.1f σ", found, z)
	if splits == 1 {
		f.Summary += "; one split"
	}
	// A missing number could not take back a refutation, but could be the one that is not near.
	switch {
	case beyond || math.Abs(z) > 2.576:
		f.Verdict = Refuted
	case missing > 0:
		f.Verdict = NotDecided
		f.Summary += fmt.Sprintf("; %d %s are missing: run %s", missing, noun, reproduce+id)
	case near < n || math.Abs(z) > 1.96 || oneSide && sets >= 6:
		f.Verdict = NotDecided
	default:
		f.Verdict = Confirmed
	}
	return f
}

// nearScore is how many of the paper's standard deviations a mean over the same splits may
// differ by and count as the same number.
const nearScore = 0.5

// sameSplits decides by a table whose splits are ours. The scatter over splits is then the
// same on both sides and cancels, and the noise of chains is left, which is much smaller.
// A difference is real if it exceeds what Student's law allows for that noise, at 1 % in
// all (Bonferroni), and the rounding of a printed number to three decimals.
func (x *evaluation) sameSplits(entries []tableEntry, missing int) (f Finding) {
	const printed = 0.0005
	f.Verdict = NotDecided
	var real []string
	near, splits := 0, math.MaxInt
	for _, t := range entries {
		splits = min(splits, len(t.ours))
		text := t.text() + "; the noise of chains was not measured"
		off := math.Abs(t.mean - t.Mean)
		if t.chains == t.chains {
			limit := printed + t.chains*quantile(0.01/float64(len(entries)), len(t.ours)-1)
			text = fmt.Sprintf("%s; off by %.4f, chance %.4f", t.text(), off, limit)
			if off > limit {
				real = append(real, fmt.Sprintf("%s is %+.3f off (chance %.3f)",
					t.name(), t.mean-t.Mean, limit))
			}
		}
		near += int(indicator(math.Abs(t.difference) <= nearScore))
		f.note(t.name(), t.mean, text)
	}
	f.Summary = fmt.Sprintf("%d of %d numbers within half a standard deviation",
		near, len(entries))
	switch {
	case splits < 2:
		f.Summary += "; one split, on which the noise of chains is not known"
	case len(real) > 0:
		f.Verdict = Refuted
		f.Summary += "; " + strings.Join(real, "; ")
	case missing > 0:
		f.Summary += fmt.Sprintf("; %d numbers are missing: run %s", missing, reproduce+x.study())
	case near == len(entries): // others may still be the same but for noise
		f.Verdict = Confirmed
	}
	return f
}

// studentLimit is what the difference of the means of n1 and n2 normal values, in units
// of the standard deviation that the second sample gives, exceeds in size with
// probability 0.01/tests or less, were their laws the same.
func studentLimit(n1, n2, tests int) float64 {
	return quantile(0.01/float64(tests), n2-1) * math.Sqrt(1/float64(n1)+1/float64(n2))
}
