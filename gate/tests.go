package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchmath"
)

// fewestRuns is the smallest number of runs on each side with which the
// Mann–Whitney test can reach 5 %: its least p is 2/C(8, 4).
const fewestRuns = 4

// comparison is one quantity measured several times in both runs.
type comparison struct {
	where, what  string
	old, new     []float64
	higherBetter bool
	effect       float64 // smallest change of the median that counts
	absolute     bool    // effect is a difference, not a ratio
}

// worse is by how much the new median is worse than the old one, in the
// units of effect; negative if it is better.
func (c comparison) worse() float64 {
	a, b := median(c.old), median(c.new)
	d := b - a
	if c.higherBetter {
		d = -d
	}
	switch {
	case c.absolute, d == 0:
		return d
	case a == 0: // from nothing to something
		return math.Copysign(math.Inf(1), d)
	}
	return d / math.Abs(a)
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// testable reports whether there are enough runs for the test.
func (c comparison) testable() bool { return min(len(c.old), len(c.new)) >= fewestRuns }

// p is the two-sided p-value of the Mann–Whitney test.
func (c comparison) p() float64 {
	t := &benchmath.DefaultThresholds
	return benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(c.old), t), benchmath.NewSample(slices.Clone(c.new), t)).P
}

// holm returns, for each p-value, whether its hypothesis is rejected at the
// family-wise error rate alpha (Holm 1979), and the level it was held to.
func holm(p []float64, alpha float64) (rejected []bool, level []float64) {
	rejected, level = make([]bool, len(p)), make([]float64, len(p))
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return i - j
	})
	still := true
	for rank, i := range order {
		level[i] = alpha / float64(len(p)-rank)
		still = still && p[i] <= level[i]
		rejected[i] = still
	}
	return rejected, level
}

// decide tests all comparisons as one family and reports those that are
// significantly worse by at least their effect.
func (r *Report) decide(all []comparison, o Options) {
	var family []comparison
	var p []float64
	for _, c := range all {
		if c.testable() {
			family, p = append(family, c), append(p, c.p())
		}
	}
	rejected, level := holm(p, o.Alpha)
	for i, c := range family {
		if w := c.worse(); rejected[i] && w >= c.effect {
			r.moved(c.where, c.what, short(median(c.old)), short(median(c.new)), "%s worse, p = %.2g <= %.2g, n = %d + %d", c.amount(w), p[i], level[i], len(c.old), len(c.new))
		}
	}
	if blind := blindTests(family, o.Alpha); blind > 0 {
		r.note("%d of %d tests have too few runs to be significant among so many: raise -count or compare fewer benchmarks", blind, len(family))
	}
}

// blindTests counts the tests that could not be significant even alone at
// the strictest level.
func blindTests(family []comparison, alpha float64) int {
	blind := 0
	for _, c := range family {
		n, m := len(c.old), len(c.new)
		orders := 1.0
		for i := range n {
			orders *= float64(m+i+1) / float64(i+1)
		}
		if 2/orders > alpha/float64(len(family)) {
			blind++
		}
	}
	return blind
}

// amount formats what worse returns.
func (c comparison) amount(w float64) string {
	if c.absolute {
		return short(w)
	}
	return fmt.Sprintf("%.1f %%", 100*w)
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
