package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
)

// How sampled distances are compared, for the page.
const (
	inSpreads = "Differences of Kolmogorov distances are in spreads: standard deviations of the oracle's self-distance, one predicted value at a time. "
	ofMedian  = "The interval of the median is distribution-free and covers with 99 %, so chance alone decides wrongly in at most 1 % of such comparisons. "
)

// fewest is how many differences an interval needs.
const fewest = 8

// condition is what chains share that differ in what is compared alone.
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

// trials groups the results of a study by integrators.
func (e *Evidence) trials(study string) []trial[string] {
	return group(e.Results(study), conditionOf, func(c bench.Cell) string { return c.Integrator })
}

// inBand reports whether a chain lies within the band of self-distance.
func inBand(r bench.Result) bool { return !r.Diverged && r.KS <= r.KSSelfHigh }

// spread is the standard deviation of the self-distance of a predicted value,
// from its 5 and 95 % quantiles. A cell's distance is a mean over predicted
// values, which varies less.
func spread(r bench.Result) float64 { return (r.KSSelfHigh - r.KSSelfLow) / (2 * 1.6449) }

// difference is (a − b) of the distances in units of the spread.
func difference(a, b bench.Result) float64 { return (a.KS - b.KS) / spread(a) }

// comparison are differences of distances, in spreads.
type comparison struct {
	what        string // a − b in words
	differences []float64
	study       string // gives more of them
}

// compare takes the differences between a variant and the mean of the others
// wherever all of them stayed finite.
func compare(study, what string, trials []trial[string], variant string, others ...string) comparison {
	c := comparison{what: what, study: study}
	for _, t := range trials {
		missing := func(name string) bool { r, ok := t.of[name]; return !ok || r.Diverged }
		if missing(variant) || slices.ContainsFunc(others, missing) {
			continue
		}
		var sum float64
		for _, name := range others {
			sum += difference(t.of[variant], t.of[name])
		}
		c.differences = append(c.differences, sum/float64(len(others)))
	}
	return c
}

// judge compares an interval with a range: confirmed if it lies inside, refuted
// if outside, not decided if it lies across an end.
func judge(low, high, from, to float64) Verdict {
	switch {
	case low > from && high < to:
		return Confirmed
	case low > to || high < from:
		return Refuted
	}
	return NotDecided
}

// decide judges the median's interval. With too few differences nothing is
// decided.
func (c comparison) decide(from, to float64) Finding {
	f := Finding{Verdict: NotDecided}
	n := len(c.differences)
	if n == 0 {
		f.Summary = "no chains to compare yet: run " + reproduce + c.study
		return f
	}
	median, low, high, ok := medianInterval(c.differences)
	f.add("compared pairs of chains", float64(n), "%.0f")
	f.add("median difference, "+c.what, median, "%+.2f")
	if !ok {
		f.Summary = fmt.Sprintf("%d pairs of chains: want %d or more; run %s", n, fewest, reproduce+c.study)
		return f
	}
	f.add("99 % interval of the median, low", low, "%+.2f")
	f.add("99 % interval of the median, high", high, "%+.2f")
	f.Summary = fmt.Sprintf("median %+.2f spreads, in [%+.2f, %+.2f], %d pairs", median, low, high, n)
	f.Verdict = judge(low, high, from, to)
	return f
}

// alike decides whether the median difference is less than one spread either
// way.
func (c comparison) alike() Finding { return c.decide(-1, 1) }

// above decides whether the median difference is above 0.
func (c comparison) above() Finding { return c.decide(0, math.Inf(1)) }

func correctionMakesNoDifference(e *Evidence) Finding {
	mini := slices.DeleteFunc(e.trials("methods"), func(t trial[string]) bool { return t.batches == 1 })
	c := compare("methods", "sghmc − leapfrog", mini, "sghmc", "leapfrog")
	f := c.alike()
	n := len(c.differences)
	if n == 0 {
		return f
	}
	beyond, alone := 0, make(map[string]int)
	for _, d := range c.differences {
		beyond += indicator(math.Abs(d) > 1.6449*math.Sqrt2)
	}
	for _, t := range mini {
		a, okA := t.of["sghmc"]
		b, okB := t.of["leapfrog"]
		alone["sghmc"] += indicator(okA && okB && a.Diverged && !b.Diverged)
		alone["leapfrog"] += indicator(okA && okB && b.Diverged && !a.Diverged)
	}
	f.add("share of pairs that differ by more than two self-distances do in 10 % of cases", float64(beyond)/float64(n), "%.2f")
	for _, name := range []string{"sghmc", "leapfrog"} {
		f.add("cells where "+name+" alone diverged", float64(alone[name]), "%.0f")
	}
	f.Detail = "The median says whether there is a systematic difference. Single cells near the limit of stability vary more than the self-distance does."
	return f
}

// Where every chain lies in the band, distances are noise: such cells say
// nothing on who is better, and are left out.
func mt3BestFullBatch(e *Evidence) Finding {
	c := comparison{what: "mean of the others − mt3", study: "methods"}
	for _, t := range e.trials("methods") {
		m, ok := t.of["mt3"]
		if !ok || t.batches != 1 {
			continue
		}
		var sum, n float64
		visible, diverged := m.KS > m.KSSelfHigh, m.Diverged
		for _, name := range []string{"sghmc", "leapfrog", "symmetric", "lietrotter"} {
			if r, ok := t.of[name]; ok {
				sum, n = sum+difference(r, m), n+1
				visible, diverged = visible || r.KS > r.KSSelfHigh, diverged && r.Diverged
			}
		}
		if n > 0 && visible && !diverged {
			c.differences = append(c.differences, sum/n)
		}
	}
	return c.above()
}

// batchSize compares smaller batches at the largest step, where batches matter
// most.
func batchSize(e *Evidence) Finding {
	results := e.Results("methods")
	most := make(map[string]int) // batches, by data set
	for _, r := range results {
		most[r.Cell.Dataset] = max(most[r.Cell.Dataset], r.Cell.Batches)
	}
	line := func(c bench.Cell) condition {
		l := lineOf(c)
		l.batches = 0
		return l
	}
	lines := group(results, line, func(c bench.Cell) sized { return sized{c.Batches, c.Step} })
	c := comparison{what: "smallest batch − full batch", study: "methods"}
	for _, l := range lines {
		c.differences = appendLast(c.differences, l.of, most[l.dataset])
	}
	return c.above()
}

// sized is a number of batches or an N_l, at a step.
type sized struct {
	size int
	step float64
}

// appendLast appends the difference between a size and 1 at the largest step
// that both have and at which not both diverged, if there is one.
func appendLast(differences []float64, of map[sized]bench.Result, size int) []float64 {
	last, d := math.Inf(-1), 0.0
	for at, a := range of {
		b, ok := of[sized{1, at.step}]
		if ok && size > 1 && at.size == size && at.step > last && !(a.Diverged && b.Diverged) {
			last, d = at.step, difference(a, b)
		}
	}
	if math.IsInf(last, -1) {
		return differences
	}
	return append(differences, d)
}

func innerFan(e *Evidence) Finding {
	full := func(c bench.Cell) bool { return c.Batches == 1 }
	mini := func(c bench.Cell) bool { return c.Batches != 1 }
	c := comparison{what: "largest N_l − 1, largest step", study: "integration-length"}
	c.differences = e.fan(func(bench.Cell) bool { return true })
	f := c.above()
	for i, keep := range []func(bench.Cell) bool{full, mini} {
		if d := e.fan(keep); len(d) > 0 {
			median, _, _, _ := medianInterval(d)
			f.add(fmt.Sprintf("median difference, %s, %d pairs", []string{"full batch", "mini-batches"}[i], len(d)), median, "%+.2f")
		}
	}
	return f
}

// fan returns the differences between the largest N_l and N_l = 1 at the
// largest step, of the cells for which keep is true.
func (e *Evidence) fan(keep func(bench.Cell) bool) []float64 {
	largest := 1
	var kept []bench.Result
	for _, r := range e.Results("integration-length") {
		largest = max(largest, r.Cell.Inner)
		if keep(r.Cell) {
			kept = append(kept, r)
		}
	}
	var out []float64
	for _, l := range group(kept, lineOf, func(c bench.Cell) sized { return sized{c.Inner, c.Step} }) {
		out = appendLast(out, l.of, largest)
	}
	return out
}

func allConverge(e *Evidence) Finding {
	keep := func(f fitted) bool {
		five := []string{"sghmc", "leapfrog", "symmetric", "lietrotter", "mt3"}
		return slices.Contains(five, f.integrator) && f.problem != toyProblem && (f.scheme == "full" || f.scheme == "reshuffle")
	}
	f := between(smallestBy(e.fits(bench.OfOrders, keep), func(f fitted) string { return f.integrator + f.scheme }), 1, math.Inf(1))
	if hits, n := firstInBand(e.Results("methods")); n > 0 {
		f.add(fmt.Sprintf("share of %d chains in the band at the smallest step", n), float64(hits)/float64(n), "%.2f")
		f.Summary += fmt.Sprintf("; %d of %d sampled chains are in the band at the smallest step of the grid", hits, n)
	}
	return f
}

// firstInBand counts the chains at the smallest step of their line, and those
// of them within the band of self-distance.
func firstInBand(results []bench.Result) (hits, n int) {
	for _, l := range group(results, lineOf, func(c bench.Cell) float64 { return c.Step }) {
		first := l.of[slices.Min(slices.Collect(maps.Keys(l.of)))]
		hits += indicator(inBand(first))
		n++
	}
	return hits, n
}

// frictions groups the results of the study friction by C.
func (e *Evidence) frictions() []trial[float64] {
	return group(e.Results("friction"), conditionOf, func(c bench.Cell) float64 { return float64(c.Friction) })
}

func frictionReasonable(e *Evidence) Finding {
	hits, n := 0, 0
	for _, t := range e.frictions() {
		best, middle, one := math.Inf(1), math.Inf(1), 0.0
		for c, r := range t.of {
			if r.Diverged {
				continue
			}
			best, one = min(best, r.KS), spread(r)
			if c >= 5 && c <= 10 {
				middle = min(middle, r.KS)
			}
		}
		if !math.IsInf(best, 1) {
			n++
			hits += indicator(middle <= best+2*one)
		}
	}
	return mostly(hits, n, "cases where C from 5 to 10 is as good as the best")
}

// mostly decides whether a share of the cases of the study friction is above
// one half.
func mostly(hits, n int, what string) Finding {
	if n == 0 {
		return Finding{Verdict: NotDecided, Summary: "no cases yet: run " + reproduce + "friction"}
	}
	low, high := shareInterval(hits, n)
	f := Finding{
		Verdict: judge(low, high, 0.5, math.Inf(1)),
		Summary: fmt.Sprintf("%d of %d cases (99 %% interval of the share %.2f to %.2f)", hits, n, low, high),
	}
	f.add(what, float64(hits), "%.0f")
	f.add("cases", float64(n), "%.0f")
	f.add("99 % interval of the share, low", low, "%.3f")
	f.add("99 % interval of the share, high", high, "%.3f")
	return f
}

// A grid of frictions bounds the acceptable range from both sides; a case that
// the grid leaves open counts for neither.
func frictionRange(e *Evidence) Finding {
	wide, narrow, open := 0, 0, 0
	for _, t := range e.frictions() {
		tested, possible, ok := frictionSpan(t.of)
		switch {
		case !ok:
		case tested >= wideRange:
			wide++
		case possible < wideRange:
			narrow++
		default:
			open++
		}
	}
	f := mostly(wide, wide+narrow, "cases where acceptable C span a factor of 10")
	if open == 0 {
		return f
	}
	f.add("cases that the grid of C leaves open", float64(open), "%.0f")
	coarse := fmt.Sprintf("the grid of C is too coarse for %d cases: a larger profile decides more", open)
	if wide+narrow == 0 {
		f.Summary = coarse
	} else {
		f.Summary += "; " + coarse
	}
	return f
}

// wideRange is the factor between frictions that counts as a wide range.
const wideRange = 10

// frictionSpan returns the factor between the largest and the smallest
// friction whose chain lies within the band of self-distance, and the factor
// that the frictions tested leave possible: between the nearest ones outside.
// ok is false if no chain lies within the band.
func frictionSpan(of map[float64]bench.Result) (tested, possible float64, ok bool) {
	tried := slices.Sorted(maps.Keys(of))
	within := func(c float64) bool { return inBand(of[c]) }
	first := slices.IndexFunc(tried, within)
	if first < 0 {
		return 0, 0, false
	}
	last := len(tried) - 1
	for !within(tried[last]) {
		last--
	}
	below, above := 0.0, math.Inf(1)
	if first > 0 {
		below = tried[first-1]
	}
	if last < len(tried)-1 {
		above = tried[last+1]
	}
	return tried[last] / tried[first], above / below, true
}

func bottleneckSampled(e *Evidence) Finding {
	trials := e.trials("bottleneck")
	if len(trials) == 0 {
		return unavailable(reproduce + "bottleneck")
	}
	var f Finding
	var steps, zone [2]int // full batch, mini-batches
	for _, t := range trials {
		second, ok2 := t.of["lietrotter"]
		third, ok3 := t.of["mt3"]
		if !ok2 || !ok3 || second.Diverged && third.Diverged || second.KS <= second.KSSelfHigh {
			continue
		}
		mini := indicator(t.batches > 1)
		steps[mini]++
		zone[mini] += indicator(third.KS > third.KSSelfHigh && difference(third, second) > -2)
		for _, r := range []bench.Result{second, third} {
			f.add(fmt.Sprintf("distance of %s, K = %d, h = %g, seed %d", r.Cell.Integrator, t.batches, t.step, t.seed), r.KS, "%.3f")
		}
	}
	f.Summary = fmt.Sprintf("mt3 is no better at %d of %d steps with mini-batches, at %d of %d with the full batch", zone[1], steps[1], zone[0], steps[0])
	f.Verdict = holds(zone[1] > 0 && zone[0] == 0)
	if steps[0] == 0 || steps[1] == 0 {
		f.Verdict = NotDecided
		f.Summary += "; steps above the band are needed in both: run " + reproduce + "bottleneck"
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

func float32Enough(e *Evidence) Finding {
	trials := group(e.Results("precision"), conditionOf, func(c bench.Cell) string { return c.Precision })
	c := compare("precision", "float64 − float32", trials, "float64", "float32")
	f := c.alike()
	f.add("largest difference either way", floats.Norm(c.differences, math.Inf(1)), "%.2f")
	return f
}
