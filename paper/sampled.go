package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/bench"
	"hambench/certify"
)

// margin is the ratio up to which two distances count as alike: about three
// standard deviations of a right chain's.
const margin = 1.1

// condition is what is common to chains that differ only in what is compared.
type condition struct {
	dataset    string
	split      int
	seed       uint64
	batches    int
	step       float64
	integrator string // if it is not compared
}

// conditionOf leaves out what may be compared.
func conditionOf(c bench.Cell) condition {
	return condition{dataset: c.Dataset, split: c.Split, seed: c.Seed, batches: c.Batches, step: c.Step}
}

// lineOf is the condition of a chain at every step.
func lineOf(c bench.Cell) condition {
	line := conditionOf(c)
	line.step, line.integrator = 0, c.Integrator
	return line
}

// trial holds the results under one condition by what is compared.
type trial[V comparable] struct {
	condition
	of map[V]bench.Result
}

// group gathers results by condition, in their order; of two alike the later
// counts.
func group[V comparable](results []bench.Result, under func(bench.Cell) condition, variant func(bench.Cell) V) []trial[V] {
	var out []trial[V]
	at := make(map[condition]map[V]bench.Result)
	for _, r := range results {
		c := under(r.Cell)
		if at[c] == nil {
			at[c] = make(map[V]bench.Result)
			out = append(out, trial[V]{c, at[c]})
		}
		at[c][variant(r.Cell)] = r
	}
	return out
}

func integratorOf(c bench.Cell) string { return c.Integrator }

// right reports whether a chain is where right ones are.
func right(r bench.Result) bool { return !r.Diverged && r.KS <= r.KSSelf+1.645*r.KSSelfSD }

// Right reports whether no chain diverged and their mean distance is where that of right
// ones is: the criterion of the claims, of one chain and of its repetitions.
func Right(chains ...bench.Result) bool {
	var mean bench.Result
	for _, r := range chains {
		mean.Diverged = mean.Diverged || r.Diverged
		mean.KS, mean.KSSelf, mean.KSSelfSD = mean.KS+r.KS, mean.KSSelf+r.KSSelf, mean.KSSelfSD+r.KSSelfSD
	}
	return right(mean) // sums do as well
}

// ratio is the logarithm of a's distance over b's.
func ratio(a, b bench.Result) float64 { return math.Log(a.KS / b.KS) }

// sample are numbers by data set, such as differences of distances.
type sample struct {
	what, study string
	scale       scale
	sets        map[string][]float64
	left        string // what was left out, and why, and what is not known
	stability   []Number
}

// scale is how people read a number.
type scale struct {
	unit string
	of   func(x float64) float64
}

var (
	asRatio   = scale{" times", math.Exp} // numbers are logarithms of ratios
	asDecades = scale{" decades of C are acceptable", func(x float64) float64 { return max(x, 0) }}
)

// share is the scale of a share of chains.
func share(of string) scale {
	return scale{" of the chains " + of, func(x float64) float64 { return min(max(x, 0), 1) }}
}

// sample starts a sample of what can be judged of a study, and returns the
// results: those whose reference passed its own checks, and whose records say
// how right chains scatter.
func (e *Evidence) sample(study, what string, as scale) (*sample, []bench.Result) {
	s := &sample{what: what, study: study, scale: as, sets: make(map[string][]float64)}
	type place struct {
		dataset string
		split   int
	}
	failures := make(map[place]float64) // of checks, by reference
	several := false                    // splits
	for _, results := range e.Sampled {
		for _, r := range results {
			several = several || r.Cell.Split > 0
			if n, ok := r.Scores["checks_failed"]; ok {
				failures[place{r.Cell.Dataset, r.Cell.Split}] = n
			}
		}
	}
	var use []bench.Result
	failed, unchecked, old := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, r := range e.Results(study) {
		n, known := failures[place{r.Cell.Dataset, r.Cell.Split}]
		name := r.Cell.Dataset
		if several {
			name += fmt.Sprintf(" (split %d)", r.Cell.Split)
		}
		switch {
		case n > 0:
			failed[name] = true
			continue
		case r.KSSelfSD == 0:
			old[name] = true
			continue
		case !known && r.Cell.Oracle != "" && r.Cell.Oracle != bench.Analytic:
			unchecked[name] = true
		}
		use = append(use, r)
	}
	for _, remark := range []struct {
		text  string
		names map[string]bool
	}{
		{"Left out, since a check of the reference failed", failed},
		{"Left out, since the records do not say how right chains scatter", old},
		{"Judged by references whose checks are not known (run " + reproduce + "autocorrelation)", unchecked},
	} {
		if len(remark.names) > 0 {
			s.left += fmt.Sprintf(" %s: %s.", remark.text, strings.Join(slices.Sorted(maps.Keys(remark.names)), ", "))
		}
	}
	return s, use
}

func (s *sample) add(dataset string, x float64) { s.sets[dataset] = append(s.sets[dataset], x) }

// count adds a statement about stability.
func (s *sample) count(n int, name string) {
	s.stability = append(s.stability, Number{"stability: " + name, certify.Number(n), fmt.Sprint(n)})
}

// decide judges the interval over data sets: confirmed if it lies between from and
// to (numbers as people read them), refuted if outside, open if it lies across an
// end or there are too few data sets.
func (s *sample) decide(from, to float64) Finding {
	f := Finding{Verdict: NotDecided, Detail: strings.TrimSpace(s.left)}
	var means []float64
	for _, name := range slices.Sorted(maps.Keys(s.sets)) {
		means = append(means, stat.Mean(s.sets[name], nil))
		f.add(fmt.Sprintf("%s, %s (%d)", s.what, name, len(s.sets[name])), s.scale.of(means[len(means)-1]), "%.2f")
	}
	mean, low, high, ok := studentInterval(means)
	mean, low, high = s.scale.of(mean), s.scale.of(low), s.scale.of(high)
	if ok {
		f.add("99 % interval over data sets, low", low, "%.2f")
		f.add("99 % interval over data sets, high", high, "%.2f")
	}
	f.Numbers = append(f.Numbers, s.stability...)
	switch n := len(s.sets); {
	case n == 0 && s.left != "":
		f.Summary = "no chains are left to compare"
	case n == 0:
		f.Summary = "no chains to compare yet: run " + reproduce + s.study
	case !ok:
		f.Summary = fmt.Sprintf("%.2f%s on %d data sets: want %d or more; run %s", mean, s.scale.unit, n, fewest, reproduceMore+s.study)
	default:
		f.Summary = fmt.Sprintf("%.2f%s, in [%.2f, %.2f], %d data sets", mean, s.scale.unit, low, high, n)
	}
	switch {
	case !ok:
	case low > from && high < to:
		f.Verdict = Confirmed
	case low > to || high < from:
		f.Verdict = Refuted
	}
	return f
}

// compare takes the ratios of a variant to the geometric mean of the others
// wherever all of them stayed finite, and counts where one alone did not.
func compare(e *Evidence, study string, keep func(trial[string]) bool, variant func(bench.Cell) string, name string, others ...string) *sample {
	s, results := e.sample(study, name+" / "+strings.Join(others, ", "), asRatio)
	alone, rest := 0, 0
	for _, t := range group(results, conditionOf, variant) {
		a, ok := t.of[name]
		sum, diverged := 0.0, 0
		for _, other := range others {
			b, there := t.of[other]
			ok = ok && there
			diverged += indicator(b.Diverged)
			sum += ratio(a, b) / float64(len(others))
		}
		switch {
		case !ok || !keep(t):
		case a.Diverged:
			alone += indicator(diverged == 0)
		case diverged > 0:
			rest++
		default:
			s.add(t.dataset, sum)
		}
	}
	s.count(alone, "cells where "+name+" alone diverged")
	s.count(rest, "cells where "+name+" did not diverge and another did")
	return s
}

func always(trial[string]) bool { return true }

// sized is a number of batches or an N_l, at a step.
type sized struct {
	size int
	step float64
}

// largestSteps takes, on each line, the ratio of the largest size of the data set
// to size 1 at the largest step at which both stay finite.
func largestSteps(e *Evidence, study, what string, line func(bench.Cell) condition, size func(bench.Cell) int) *sample {
	s, results := e.sample(study, what, asRatio)
	most := make(map[string]int)
	for _, r := range results {
		most[r.Cell.Dataset] = max(most[r.Cell.Dataset], size(r.Cell))
	}
	large, small := 0, 0
	for _, l := range group(results, line, func(c bench.Cell) sized { return sized{size(c), c.Step} }) {
		last, d := math.Inf(-1), 0.0
		for at, a := range l.of {
			b, ok := l.of[sized{1, at.step}]
			if !ok || at.size == 1 || at.size != most[l.dataset] {
				continue
			}
			large += indicator(a.Diverged && !b.Diverged)
			small += indicator(b.Diverged && !a.Diverged)
			if at.step > last && !a.Diverged && !b.Diverged {
				last, d = at.step, ratio(a, b)
			}
		}
		if !math.IsInf(last, -1) {
			s.add(l.dataset, d)
		}
	}
	names := strings.Split(what, " / ")
	s.count(large, "cells where "+names[0]+" diverged and "+names[1]+" did not")
	s.count(small, "cells where "+names[1]+" diverged and "+names[0]+" did not")
	return s
}

func batchSize(e *Evidence) Finding {
	line := func(c bench.Cell) condition {
		l := lineOf(c)
		l.batches = 0
		return l
	}
	return largestSteps(e, "methods", "smallest batch / full batch", line, func(c bench.Cell) int { return c.Batches }).decide(1, math.Inf(1))
}

func innerFan(e *Evidence) Finding {
	return largestSteps(e, "integration-length", "largest N_l / N_l = 1", lineOf, func(c bench.Cell) int { return c.Inner }).decide(1, math.Inf(1))
}

// If every chain is where right ones are, distances are noise: such cells say
// nothing about which is better, and are left out.
func mt3BestFullBatch(e *Evidence) Finding {
	visible := func(t trial[string]) bool {
		return t.batches == 1 && slices.ContainsFunc(slices.Collect(maps.Values(t.of)), func(r bench.Result) bool { return !r.Diverged && !right(r) })
	}
	return compare(e, "methods", visible, integratorOf, "mt3", "sghmc", "leapfrog", "symmetric", "lietrotter").decide(0, 1)
}

// allConverge joins what is exact, on two problems, with the chains of the
// sweep at the smallest step of their line.
func allConverge(e *Evidence) Finding {
	keep := func(f fitted) bool {
		five := []string{"sghmc", "leapfrog", "symmetric", "lietrotter", "mt3"}
		return slices.Contains(five, f.Integrator) && f.Problem != toyProblem && (f.Scheme == "full" || f.Scheme == "reshuffle")
	}
	exact := between(smallestBy(e.fits(bench.OfOrders, keep), func(f fitted) string { return f.Integrator + f.Scheme }), 1, math.Inf(1))
	outside, results := e.sample("methods", "share of chains outside at the smallest step", share("are not where right ones are"))
	falls, _ := e.sample("methods", "distance at the second smallest step / at the smallest, where that is outside", asRatio)
	chains, out := 0, 0
	for _, l := range group(results, lineOf, func(c bench.Cell) float64 { return c.Step }) {
		steps := slices.Sorted(maps.Keys(l.of))
		first := l.of[steps[0]]
		chains++
		out += indicator(!right(first))
		outside.add(l.dataset, float64(indicator(!right(first))))
		if !right(first) && !first.Diverged && len(steps) > 1 && !l.of[steps[1]].Diverged {
			falls.add(l.dataset, ratio(l.of[steps[1]], first))
		}
	}
	f, fall := outside.decide(math.Inf(-1), 0.2), falls.decide(0, 1)
	outsiders := f.Verdict
	f.Verdict, f.Summary = NotDecided, fmt.Sprintf("%s; at the smallest step of the grid %d of %d sampled chains are not where right ones are", exact.Summary, out, chains)
	switch {
	case chains == 0:
		f.Summary = exact.Summary + "; no sampled chains yet: run " + reproduce + "methods"
	case exact.Verdict == Confirmed && outsiders == Confirmed:
		f.Verdict = Confirmed
	case outsiders == Refuted && fall.Verdict == Confirmed:
		f.Verdict = Refuted
		f.Summary += ", and their distances do not fall with the step"
	}
	if exact.Verdict == Refuted {
		f.Verdict = Refuted
	}
	f.Numbers = slices.Concat(exact.Numbers, f.Numbers, fall.Numbers)
	return f
}

// acceptable reports which frictions do as well as the best of a case, but for
// noise or a quarter of the distance; ok is false if all chains diverged.
func acceptable(of map[float64]bench.Result) (is map[float64]bool, ok bool) {
	best := bench.Result{KS: math.Inf(1)}
	for _, r := range of {
		if !r.Diverged && r.KS < best.KS {
			best = r
		}
	}
	is = make(map[float64]bool)
	for c, r := range of {
		is[c] = !r.Diverged && r.KS <= max(best.KS+3*r.KSSelfSD, 1.25*best.KS)
	}
	return is, !math.IsInf(best.KS, 1)
}

// frictions adds a number for each case of the study friction in which some
// chain stays finite.
func frictions(e *Evidence, what string, as scale, number func(is map[float64]bool) (float64, bool)) (s *sample, all []map[float64]bool) {
	s, results := e.sample("friction", what, as)
	lost := 0
	for _, t := range group(results, conditionOf, func(c bench.Cell) float64 { return float64(c.Friction) }) {
		is, ok := acceptable(t.of)
		if !ok {
			lost++
			continue
		}
		if x, ok := number(is); ok {
			s.add(t.dataset, x)
		}
		all = append(all, is)
	}
	s.count(lost, "cases where chains of every C diverged, which are left out")
	return s, all
}

// Each friction is judged by itself: the better of two would look better than
// one.
func frictionReasonable(e *Evidence) Finding {
	s, all := frictions(e, "share acceptable, C from 5 to 10", share("with C from 5 to 10 are acceptable"), func(is map[float64]bool) (float64, bool) {
		hits, n := 0, 0
		for c, good := range is {
			if c >= 5 && c <= 10 {
				hits, n = hits+indicator(good), n+1
			}
		}
		return float64(hits) / float64(max(n, 1)), n > 0
	})
	f := s.decide(0.5, math.Inf(1))
	hits, n := make(map[float64]int), make(map[float64]int)
	for _, is := range all {
		for c, good := range is {
			hits[c] += indicator(good)
			n[c]++
		}
	}
	for _, c := range slices.Sorted(maps.Keys(n)) {
		f.add(fmt.Sprintf("share of cases where C = %g is acceptable", c), float64(hits[c])/float64(n[c]), "%.2f")
	}
	return f
}

// frictionRange sums the acceptable part of the grid on the axis of log₁₀ C. A
// tested friction stands for what is nearer to it than to its neighbours, within
// the grid.
func frictionRange(e *Evidence) Finding {
	s, _ := frictions(e, "decades of acceptable C", asDecades, func(is map[float64]bool) (float64, bool) {
		grid := slices.Sorted(maps.Keys(is))
		width := 0.0
		for i, c := range grid {
			if is[c] {
				width += math.Log10(grid[min(i+1, len(grid)-1)]/grid[max(i-1, 0)]) / 2
			}
		}
		return width, grid[len(grid)-1] >= 10*grid[0]
	})
	return s.decide(1, math.Inf(1))
}

// bottleneckSampled asks in both regimes, over all steps and seeds together, whether
// mt3's excess over the self-distance is more or less than half of lietrotter's: at
// single steps chance decides. An error of order 2 has the weight h²; a distance
// scatters by σ and by a tenth of its excess.
func bottleneckSampled(e *Evidence) Finding {
	s, results := e.sample("bottleneck", "", scale{})
	if len(results) == 0 {
		f := unavailable(reproduce + "bottleneck")
		f.Detail = strings.TrimSpace(s.left)
		return f
	}
	type regime struct{ second, third, variance, pairs float64 } // variance is of third − second/2
	var of [2]regime                                             // full batch, mini-batches
	for _, t := range group(results, conditionOf, integratorOf) {
		second, ok2 := t.of["lietrotter"]
		third, ok3 := t.of["mt3"]
		if !ok2 || !ok3 || second.Diverged || third.Diverged {
			continue
		}
		r, weight := &of[indicator(t.batches > 1)], t.step*t.step
		two, three := second.KS-second.KSSelf, third.KS-third.KSSelf
		r.second += weight * two
		r.third += weight * three
		r.variance += math.Pow(weight*0.5, 2) * (second.KSSelfSD*second.KSSelfSD + two*two/100)
		r.variance += math.Pow(weight, 2) * (third.KSSelfSD*third.KSSelfSD + three*three/100)
		r.pairs++
	}
	f := Finding{Verdict: NotDecided}
	if !(of[0].second > 0 && of[1].second > 0) {
		f.Summary = "lietrotter's chains are not off in both regimes, or there are none: run " + reproduceMore + "bottleneck"
		return f
	}
	var z [2]float64
	for i, r := range of {
		name := []string{"full batch", "mini-batches"}[i]
		z[i] = (r.third - r.second/2) / math.Sqrt(r.variance)
		f.add(fmt.Sprintf("mt3's excess over lietrotter's, %s (%g pairs of chains)", name, r.pairs), r.third/r.second, "%.2f")
		f.add("standard deviations above one half, "+name, z[i], "%.1f")
	}
	f.Summary = fmt.Sprintf("mt3's excess distance is %.2f of lietrotter's with mini-batches and %.2f with the full batch, %+.1f and %+.1f standard deviations from one half",
		of[1].third/of[1].second, of[0].third/of[0].second, z[1], z[0])
	limit := distuv.UnitNormal.Quantile((1 + level) / 2)
	switch {
	case z[1] > limit && z[0] < -limit:
		f.Verdict = Confirmed
	case z[1] < -limit || z[0] > limit:
		f.Verdict = Refuted
	default:
		f.Summary += "; more chains would tell: run " + reproduceMore + "bottleneck"
	}
	return f
}

func syntheticDistance(e *Evidence) Finding {
	results := e.Results("synthetic")
	if len(results) == 0 {
		return unavailable(reproduce + "synthetic")
	}
	r := results[0]
	f := Finding{Verdict: holds(r.KS < 0.1), Summary: fmt.Sprintf("distance %.3f", r.KS)}
	f.add("distance", r.KS, "%.4f")
	f.add("self-distance", r.KSSelf, "%.4f")
	return f
}
