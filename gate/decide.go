package gate

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// power is the share of runs in which a change of the least effect is found.
// Nothing passes of which less can be said.
const power = 0.9

// firstRuns is how many more runs are asked for where there is one, which says
// nothing about the noise; mostRuns is where the search for a number ends.
const (
	firstRuns = 5
	mostRuns  = 1000
)

// comparison is a quantity that differs between the runs: by how much the new
// one is worse, and how well that is known.
type comparison struct {
	at       int     // the number of the quantity
	old, new float64 // to be shown
	change   float64 // of the mean; positive is worse
	effect   float64 // smallest change that counts, in the same unit
	unit     unit
	sd       float64 // of one measurement
	n, m     int     // measurements, old and new
	paired   bool    // each of the old with one of the new
	known    bool    // sd is not estimated from these measurements
}

// unit is what a change is measured in, and the flag that sets its effect.
type unit struct {
	flag string
	text func(float64) string
}

var (
	logarithm  = unit{"--effect", func(v float64) string { return percent(math.Expm1(v)) }}
	relatively = unit{"--effect", percent}
	absolutely = unit{"--distance", short}
)

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// se is the standard error of the change after more measurements of each run.
func (c comparison) se(more int) float64 {
	return c.sd * math.Sqrt(1/float64(c.n+more)+1/float64(c.m+more))
}

// df are the degrees of freedom of se.
func (c comparison) df(more int) float64 {
	switch {
	case c.known:
		return math.Inf(1)
	case c.paired:
		return float64(c.n + more - 1)
	}
	return float64(c.n + c.m + 2*more - 2)
}

// blind reports whether nothing is known about the noise.
func (c comparison) blind() bool { return c.df(0) < 1 }

// p is the one-sided p-value of "it is no worse".
func (c comparison) p() float64 {
	switch se := c.se(0); {
	case c.blind():
		return 1
	case se == 0 && c.change > 0:
		return 0
	case se == 0:
		return 1
	default:
		return student(c.df(0)).Survival(c.change / se)
	}
}

// highest is the bound that the true change exceeds in one of ten runs.
func (c comparison) highest() float64 {
	if c.se(0) == 0 {
		return c.change
	}
	return c.change + quantile(1-power, c.df(0))*c.se(0)
}

// smallest is the change that a test at the given level finds with the stated
// power, after more measurements.
func (c comparison) smallest(level float64, more int) float64 {
	if c.df(more) < 1 {
		return math.Inf(1)
	}
	if c.se(more) == 0 {
		return c.effect
	}
	return max(c.effect, (quantile(level, c.df(more))+quantile(1-power, c.df(more)))*c.se(more))
}

// more is how many more measurements of each run are needed to find the
// effect at the given level.
func (c comparison) more(level float64) int {
	if c.blind() {
		return firstRuns
	}
	return 1 + sort.Search(mostRuns-1, func(n int) bool { return c.smallest(level, n+1) <= c.effect })
}

// student is Student's law, which is normal without a limit on the degrees of freedom.
func student(df float64) interface {
	distuv.Quantiler
	Survival(float64) float64
} {
	if math.IsInf(df, 1) {
		return distuv.UnitNormal
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}
}

// quantile is that of Student's law of the upper tail.
func quantile(tail, df float64) float64 {
	at := [2]float64{tail, df}
	q, ok := quantiles.Load(at)
	if !ok {
		q = -student(df).Quantile(tail)
		quantiles.Store(at, q)
	}
	return q.(float64)
}

// quantiles keeps what quantile found: by search, and many comparisons ask for the
// same ones.
var quantiles sync.Map

// decide tests all comparisons as one family. A comparison passes if its change
// is so far below the effect that a true change of that size would look like it
// in at most one of ten runs; else it has moved if it is significantly worse;
// else it cannot be decided.
func (r *Report) decide(alpha float64) {
	p := make([]float64, len(r.tests))
	for i, c := range r.tests {
		p[i] = c.p()
	}
	rejected, level := holm(p, alpha)
	strictest := alpha / float64(len(r.tests))
	for i, c := range r.tests {
		switch {
		case !c.blind() && c.highest() < c.effect:
		case rejected[i]:
			r.moved(c.at, r.Pairs[c.at].What, short(c.old), short(c.new), "%s worse, p = %.2g <= %.2g, n = %d + %d", c.unit.text(c.change), p[i], level[i], c.n, c.m)
		default:
			r.undecided(c, strictest)
		}
	}
	r.notePower(strictest)
}

func (r *Report) undecided(c comparison, level float64) {
	p := &r.Pairs[c.at]
	p.Outcome = Hidden
	r.Undecided = append(r.Undecided, Undecided{
		Where: p.Where, What: p.What, Change: c.unit.text(c.change), Smallest: c.unit.text(c.smallest(level, 0)),
		Flag: c.unit.flag, Effect: c.unit.text(c.effect), More: c.more(level),
	})
}

// notePower states, by flag, what the comparison that sees least would find.
func (r *Report) notePower(level float64) {
	for _, flag := range []string{logarithm.flag, absolutely.flag} {
		worst, most := comparison{}, 0.0
		for _, c := range r.tests {
			if s := c.smallest(level, 0); c.unit.flag == flag && !c.blind() && s > most {
				worst, most = c, s
			}
		}
		if most > 0 {
			p := r.Pairs[worst.at]
			r.note("changes of %s or more (%s) are reported in nine of ten runs; the least certain is %s, %s", worst.unit.text(most), flag, p.Where, p.What)
		}
	}
}

// holm returns, for each p-value, whether its hypothesis is rejected at the
// family-wise error rate alpha (Holm 1979), and the level it was held to.
func holm(p []float64, alpha float64) (rejected []bool, level []float64) {
	rejected, level = make([]bool, len(p)), make([]float64, len(p))
	order := make([]int, len(p))
	floats.ArgsortStable(slices.Clone(p), order)
	still := true
	for rank, i := range order {
		level[i] = alpha / float64(len(p)-rank)
		still = still && p[i] <= level[i]
		rejected[i] = still
	}
	return rejected, level
}
