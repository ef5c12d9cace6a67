package gate

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// power is the share of runs in which a change of the least effect is found. Nothing
// passes of which less can be said.
const power = 0.9

// mostRuns is where the search for the number of further runs ends.
const mostRuns = 1000

// comparison is a cell whose distances differ between the runs: by how much the new
// ones are larger, split by split, and how well that is known.
type comparison struct {
	where    string
	old, new float64 // mean distances
	effect   float64 // smallest change that counts
	sd       float64 // of one distance
	n        int     // splits
	known    bool    // sd is not estimated from these splits
	// splits without a distance in one run: those that diverge in the new one alone, and in the old
	// one alone, which are as many or more
	newly, ceased int
}

// short writes a number with four digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// change is by how much the new mean distance is larger.
func (c comparison) change() float64 { return c.new - c.old }

// se is the standard error of the change after more splits.
// It is that of a difference of two means of n distances each.
func (c comparison) se(more int) float64 { return c.sd * math.Sqrt(2/float64(c.n+more)) }

// freedom is the number of degrees of freedom of the deviation after more splits: n − 1
// where the splits estimate it.
func (c comparison) freedom(more int) float64 {
	if c.known {
		return math.Inf(1)
	}
	return float64(c.n + more - 1)
}

// student is the law of the change over its standard error, after more splits.
// It is normal where the deviation is known.
func (c comparison) student(more int) interface {
	distuv.Quantiler
	Survival(float64) float64
} {
	if c.known {
		return distuv.UnitNormal
	}
	return distuv.StudentsT{Sigma: 1, Nu: c.freedom(more)}
}

// quantile is that of the upper tail of student's law.
func (c comparison) quantile(tail float64, more int) float64 {
	return -c.student(more).Quantile(tail)
}

// p is the one-sided p-value of "it is no worse".
// A small one says that the new run is worse.
func (c comparison) p() float64 { return c.student(0).Survival(c.change() / c.se(0)) }

// highest is the bound that the true change exceeds in one of ten runs.
// Below the least effect, no change that counts can hide behind the noise.
func (c comparison) highest() float64 { return c.change() + c.quantile(1-power, 0)*c.se(0) }

// smallest is the change that a test at the given level finds with the stated power,
// after more splits: in the normal approximation of the noncentral law of Student (Johnson,
// Kotz and Balakrishnan, 1995, equation 31.25).
// It is never below the effect itself, which is what counts.
func (c comparison) smallest(level float64, more int) float64 {
	q := c.quantile(level, more)
	above := distuv.UnitNormal.Quantile(power) * math.Sqrt(1+q*q/2/c.freedom(more))
	return max(c.effect, (q+above)*c.se(more))
}

// more is how many more splits of each run are needed to find the effect at the given
// level; mostRuns + 1 if it takes more than mostRuns.
func (c comparison) more(level float64) int {
	// smallest falls with the number of splits until it is the effect: a binary search finds the
	// first number at which it is. n counts from 0, splits from 1.
	return 1 + sort.Search(mostRuns, func(n int) bool {
		return c.smallest(level, n+1) <= c.effect
	})
}

// splits writes a number of further splits.
func splits(more int) string {
	switch {
	case more == 0:
		return "none"
	case more > mostRuns:
		return fmt.Sprintf("more than %d", mostRuns)
	}
	return strconv.Itoa(more)
}

// decide tests all comparisons as one family. A comparison passes if its change is so
// far below the effect that a true change of that size would look like it in at most one
// of ten runs; else it has moved if it is significantly worse; else it cannot be decided.
func (r *Report) decide(tests []comparison, alpha float64) {
	p := make([]float64, len(tests))
	for i, c := range tests {
		p[i] = c.p()
	}
	rejected, level := holm(p, alpha)
	// What Holm's procedure holds the smallest p-value to: power and further splits are stated at
	// this level, whatever the others turn out to be.
	strictest := alpha / float64(len(tests))
	least, most := comparison{}, 0.0 // what sees least
	for i, c := range tests {
		smallest := c.smallest(strictest, 0)
		if smallest > most {
			least, most = c, smallest
		}
		switch {
		case c.highest() < c.effect && c.newly > 0:
			r.exchanged(c.where, c.newly, c.ceased)
		case c.highest() < c.effect:
		case rejected[i]:
			r.moved(c.where, distance, short(c.old), short(c.new), fmt.Sprintf(
				"%s worse, p = %.2g <= %.2g, n = %d", short(c.change()), p[i], level[i], c.n))
		default:
			r.Undecided = append(r.Undecided, Undecided{
				Where: c.where, What: distance, Change: short(c.change()),
				Smallest: short(smallest),
				Effect:   short(c.effect), More: c.more(strictest),
			})
		}
	}
	// No smallest is below its effect, so that most is 0 only without tests.
	switch {
	case most >= 1: // a distance is at most 1
		r.note("no change of %s would be reported in nine of ten runs", least.where)
	case most > 0:
		r.note("changes of %s or more (--distance) are reported in nine of ten runs; "+
			"the least certain is %s", short(most), least.where)
	}
}

// holm returns, for each p-value, whether its hypothesis is rejected at the
// family-wise error rate alpha (Holm 1979), and the level it was held to.
func holm(p []float64, alpha float64) (rejected []bool, level []float64) {
	rejected, level = make([]bool, len(p)), make([]float64, len(p))
	order := make([]int, len(p))
	floats.ArgsortStable(slices.Clone(p), order)
	still := true // the hypotheses of all smaller p-values were rejected
	for rank, i := range order {
		// The smallest of m p-values is held to α/m, the next to α/(m − 1), and the largest to α.
		level[i] = alpha / float64(len(p)-rank)
		still = still && p[i] <= level[i]
		rejected[i] = still
	}
	return rejected, level
}
