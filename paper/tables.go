package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hambench/certify"
)

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
	mean       float64   // of ours
	difference float64   // of the means, in units of the paper's standard deviation if it states one
}

// limits are the largest difference that confirms, and what chance exceeds in 1 %
// of tables of so many entries.
func (t tableEntry) limits(of int) (near, limit float64) {
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

func (t tableEntry) name() string {
	if t.SD == 0 {
		return t.Dataset
	}
	return fmt.Sprintf("%s, %s, %s", t.Dataset, t.Method, t.Score)
}

func (t tableEntry) text() string {
	if t.SD == 0 {
		return fmt.Sprintf("%.3f, paper %.2f: %+.3f", t.mean, t.Mean, t.difference)
	}
	return fmt.Sprintf("%.3f, paper %.3f ± %.2f: %+.2f standard deviations, %d splits", t.mean, t.Mean, t.SD, t.difference, len(t.ours))
}

// compareScores finds our scores for the numbers of a table. Chains that
// diverged have none, and a number without scores is left out.
func (e *Evidence) compareScores(table string) []tableEntry {
	var out []tableEntry
	for _, p := range PublishedIn(table) {
		t := tableEntry{Published: p}
		for _, r := range e.Results(table) {
			if v, ok := r.Scores[p.Score]; ok && !r.Diverged && r.Cell.Dataset == p.Dataset && MethodOf(r.Cell) == p.Method {
				t.ours = append(t.ours, v)
			}
		}
		if len(t.ours) > 0 {
			t.mean = stat.Mean(t.ours, nil)
			t.difference = t.mean - p.Mean
			if p.SD > 0 {
				t.difference /= p.SD + rounding
			}
			out = append(out, t)
		}
	}
	return out
}

// lean is by how many of its standard deviations the sum over data sets of
// their mean differences, larger meaning worse, is off 0, and whether all have
// one sign.
func lean(entries []tableEntry) (z float64, sets int, oneSide bool) {
	differences, noise := make(map[string][]float64), make(map[string]float64)
	for _, t := range entries {
		d := t.difference
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
		above += indicator(m > 0)
		below += indicator(m < 0)
	}
	sets = len(differences)
	return sum / math.Sqrt(variance), sets, above == sets || below == sets
}

// decideTable refutes a table if a difference, or all together, are more than
// chance allows, and confirms it if all are near.
func (e *Evidence) decideTable(id string) Finding {
	entries := e.compareScores(id)
	n, missing := len(entries), len(PublishedIn(id))-len(entries)
	if n == 0 {
		return unavailable(reproduce + id)
	}
	var f Finding
	var worst tableEntry
	near, beyond, splits := 0, false, math.MaxInt
	for _, t := range entries {
		f.Numbers = append(f.Numbers, Number{t.name(), certify.Number(t.mean), t.text()})
		d := math.Abs(t.difference)
		within, limit := t.limits(n)
		if d >= math.Abs(worst.difference) {
			worst = t
		}
		near += indicator(d <= within)
		beyond = beyond || d > limit
		splits = min(splits, len(t.ours))
	}
	z, sets, oneSide := lean(entries)
	f.add("all data sets together, in standard deviations of the sum", z, "%+.1f")
	noun, found := "numbers", fmt.Sprintf("%d of %d numbers within 2 standard deviations; largest difference %+.1f (%s)", near, n, worst.difference, worst.name())
	if worst.SD == 0 {
		noun, found = "sets", fmt.Sprintf("largest difference %+.3f (%s)", worst.difference, worst.name())
	}
	f.Summary = fmt.Sprintf("%s; together %+.1f σ", found, z)
	if splits == 1 {
		f.Summary += "; one split"
	}
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
