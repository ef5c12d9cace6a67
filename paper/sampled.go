package paper

import (
	"fmt"
	"math"
	"slices"

	"hambench/bench"
)

// How sampled distances are compared, for the page.
const (
	inSpreads = "Differences of Kolmogorov distances are in spreads: standard deviations of the oracle's self-distance, one predicted value at a time. "
	ofMedian  = "The interval of the median is distribution-free and covers with 99 %, so chance alone decides wrongly in at most 1 % of such comparisons. "
)

// fewest is how many differences an interval needs.
const fewest = 8

// condition is what two chains share that differ in their method alone.
type condition struct {
	dataset string
	split   int
	seed    uint64
	batches int
	step    float64
}

// conditionOf leaves out what may be compared.
func conditionOf(c bench.Cell) condition {
	return condition{c.Dataset, c.Split, c.Seed, c.Batches, c.Step}
}

// grouped holds results by condition and by what is compared.
type grouped[V comparable] struct {
	conditions []condition // in the order of the results
	of         map[condition]map[V]bench.Result
}

// group gathers results by condition; of two alike the later counts.
func group[V comparable](results []bench.Result, variant func(bench.Cell) V) *grouped[V] {
	g := &grouped[V]{of: make(map[condition]map[V]bench.Result)}
	for _, r := range results {
		c := conditionOf(r.Cell)
		if g.of[c] == nil {
			g.conditions = append(g.conditions, c)
			g.of[c] = make(map[V]bench.Result)
		}
		g.of[c][variant(r.Cell)] = r
	}
	return g
}

// finite calls f with the results of each condition under which all variants
// are there and stayed finite.
func (g *grouped[V]) finite(f func(of map[V]bench.Result), variants ...V) {
	for _, at := range g.conditions {
		of := g.of[at]
		if !slices.ContainsFunc(variants, func(v V) bool { r, ok := of[v]; return !ok || r.Diverged }) {
			f(of)
		}
	}
}

func byIntegrator(c bench.Cell) string { return c.Integrator }

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
	command     string // gives more of them
}

// decide compares the median's interval with a range: the claim is confirmed
// if it lies inside, refuted if outside, and not decided if it lies across an
// end or if there are too few differences.
func (c comparison) decide(from, to float64) Finding {
	f := Finding{Verdict: NotDecided}
	n := len(c.differences)
	if n == 0 {
		f.Summary = "no chains to compare yet: run " + c.command
		return f
	}
	median, low, high, ok := medianInterval(c.differences)
	f.Numbers = []Number{
		number("compared pairs of chains", float64(n), "%.0f"),
		number("median difference, "+c.what, median, "%+.2f"),
	}
	if !ok {
		f.Summary = fmt.Sprintf("%d pairs of chains: want %d or more; run %s", n, fewest, c.command)
		return f
	}
	f.Numbers = append(f.Numbers, number("99 % interval of the median, low", low, "%+.2f"), number("99 % interval of the median, high", high, "%+.2f"))
	f.Summary = fmt.Sprintf("median %+.2f spreads, in [%+.2f, %+.2f], %d pairs", median, low, high, n)
	switch {
	case low > from && high < to:
		f.Verdict = Confirmed
	case low > to || high < from:
		f.Verdict = Refuted
	}
	return f
}

// alike decides whether the median difference is less than one spread either
// way.
func (c comparison) alike() Finding { return c.decide(-1, 1) }

// above decides whether the median difference is above 0.
func (c comparison) above() Finding { return c.decide(0, math.Inf(1)) }

// methodCells is the command for the figure of methods.
const methodCells = "hambench reproduce --only methods"

func (e *Evidence) methods() *grouped[string] { return group(e.Results("methods"), byIntegrator) }

func correctionMakesNoDifference() Claim {
	return Claim{
		ID: "sghmc-correction", By: ByPaper,
		Statement: "Counterbalancing the gradient noise, as SGHMC does, makes no significant difference to leapfrog without it.",
		Where:     "Section 5, Comparing with SGHMC, Figure 4 (fig:methods); Section 3",
		Test:      "Mini-batch cells of the study methods where both chains stay finite. " + inSpreads + ofMedian + "Confirmed if the interval lies within ±1, refuted if it lies outside.",
		Decide: func(e *Evidence) Finding {
			s := e.methods()
			c := comparison{what: "sghmc − leapfrog", command: methodCells}
			beyond, alone := 0, [2]int{}
			for _, at := range s.conditions {
				a, okA := s.of[at]["sghmc"]
				b, okB := s.of[at]["leapfrog"]
				if at.batches == 1 || !okA || !okB {
					continue
				}
				switch {
				case a.Diverged && !b.Diverged:
					alone[0]++
				case b.Diverged && !a.Diverged:
					alone[1]++
				case !a.Diverged:
					d := difference(a, b)
					c.differences = append(c.differences, d)
					if math.Abs(d) > 1.6449*math.Sqrt2 {
						beyond++
					}
				}
			}
			f := c.alike()
			if n := len(c.differences); n > 0 {
				f.Numbers = append(f.Numbers,
					number("share of pairs that differ by more than two self-distances do in 10 % of cases", float64(beyond)/float64(n), "%.2f"),
					number("cells where sghmc alone diverged", float64(alone[0]), "%.0f"),
					number("cells where leapfrog alone diverged", float64(alone[1]), "%.0f"))
				f.Detail = "The median says whether there is a systematic difference. Single cells near the limit of stability vary more than the self-distance does."
			}
			return f
		},
	}
}

func leapfrogCompetes() Claim {
	return Claim{
		ID: "leapfrog-competes", By: ByPaper,
		Statement: "leapfrog, though of order 1, is mostly competitive with the second-order schemes.",
		Where:     "Section 2.2; Section 5, Comparison of integrators, Figure 4 (fig:methods)",
		Test:      "Cells of the study methods where leapfrog, symmetric and lietrotter stay finite: leapfrog's distance minus the mean of the other two. " + inSpreads + ofMedian + "Confirmed if the interval lies below +1, refuted if above.",
		Decide: func(e *Evidence) Finding {
			s := e.methods()
			c := comparison{what: "leapfrog − mean of symmetric and lietrotter", command: methodCells}
			s.finite(func(of map[string]bench.Result) {
				l := of["leapfrog"]
				c.differences = append(c.differences, (difference(l, of["symmetric"])+difference(l, of["lietrotter"]))/2)
			}, "leapfrog", "symmetric", "lietrotter")
			return c.decide(math.Inf(-1), 1)
		},
	}
}

func secondOrderAlike() Claim {
	return Claim{
		ID: "second-order-alike", By: ByPaper,
		Statement: "symmetric and lietrotter, both of second order, respond alike to step size and batch size.",
		Where:     "Section 5, Comparison of integrators, Figure 4 (fig:methods)",
		Test:      "Cells of the study methods where both stay finite. " + inSpreads + ofMedian + "Confirmed if the interval lies within ±1, refuted if it lies outside.",
		Decide: func(e *Evidence) Finding {
			s := e.methods()
			c := comparison{what: "symmetric − lietrotter", command: methodCells}
			s.finite(func(of map[string]bench.Result) {
				c.differences = append(c.differences, difference(of["symmetric"], of["lietrotter"]))
			}, "symmetric", "lietrotter")
			return c.alike()
		},
	}
}

// Where every chain lies in the band, distances are noise: such cells say
// nothing on who is better, and are left out.
func mt3BestFullBatch() Claim {
	others := []string{"sghmc", "leapfrog", "symmetric", "lietrotter"}
	return Claim{
		ID: "mt3-full-batch", By: ByPaper,
		Statement: "mt3 outperforms the other integrators with the full batch, above all at larger steps.",
		Where:     "Section 5, Comparison of integrators, Figure 4 (fig:methods)",
		Test:      "Full-batch cells of the study methods where some chain lies above the band of self-distance or diverged (distance 1): the mean of the others minus mt3's distance. " + inSpreads + ofMedian + "Confirmed if the interval lies above 0, refuted if below.",
		Decide: func(e *Evidence) Finding {
			s := e.methods()
			c := comparison{what: "mean of the others − mt3", command: methodCells}
			for _, at := range s.conditions {
				of := s.of[at]
				m, ok := of["mt3"]
				if !ok || at.batches != 1 {
					continue
				}
				var sum, n float64
				visible, diverged := m.KS > m.KSSelfHigh, m.Diverged
				for _, name := range others {
					if r, ok := of[name]; ok {
						sum, n = sum+difference(r, m), n+1
						visible, diverged = visible || r.KS > r.KSSelfHigh, diverged && r.Diverged
					}
				}
				if n > 0 && visible && !diverged {
					c.differences = append(c.differences, sum/n)
				}
			}
			return c.above()
		},
	}
}

// Smaller batches are compared at the largest step, where batches matter most.
func batchSize() Claim {
	return Claim{
		ID: "batch-size", By: ByPaper,
		Statement: "Larger mini-batches admit larger steps: at the same step a smaller batch has the larger error.",
		Where:     "Section 5, On the convergence bottleneck, Figure 4 (fig:methods)",
		Test:      "Cells of the study methods: for each data set, split and integrator the distance with the smallest batch minus that with the full batch, at the largest step that both have (a diverged chain has distance 1; both diverged: the next step). " + inSpreads + ofMedian + "Confirmed if the interval lies above 0, refuted if below.",
		Decide: func(e *Evidence) Finding {
			c := comparison{what: "smallest batch − full batch", command: methodCells}
			c.differences = batchDifferences(e.Results("methods"))
			return c.above()
		},
	}
}

// batchDifferences returns, for each data set, split and integrator, the
// difference between the smallest batch and the full one at the largest
// common step where not both diverged.
func batchDifferences(results []bench.Result) []float64 {
	most := make(map[string]int) // batches, by data set
	for _, r := range results {
		most[r.Cell.Dataset] = max(most[r.Cell.Dataset], r.Cell.Batches)
	}
	return endDifferences(results, func(c bench.Cell) (line any, e end) {
		at := conditionOf(c)
		at.step, at.batches = 0, 0
		line = [2]any{at, c.Integrator}
		switch c.Batches {
		case 1:
			return line, subtrahend
		case most[c.Dataset]:
			return line, minuend
		}
		return line, neither
	})
}

// end is what a result is to a difference.
type end int

const (
	neither end = iota
	minuend
	subtrahend
)

// endDifferences returns the difference between the two ends of each line of
// results, in order of appearance, at the largest step that both have and at
// which not both diverged.
func endDifferences(results []bench.Result, place func(bench.Cell) (line any, e end)) []float64 {
	var lines []any
	byStep := make(map[any]map[end]map[float64]bench.Result)
	for _, r := range results {
		l, e := place(r.Cell)
		if byStep[l] == nil {
			lines = append(lines, l)
			byStep[l] = map[end]map[float64]bench.Result{minuend: {}, subtrahend: {}, neither: {}}
		}
		byStep[l][e][r.Cell.Step] = r
	}
	var out []float64
	for _, l := range lines {
		if d, ok := lastDifference(byStep[l][minuend], byStep[l][subtrahend]); ok {
			out = append(out, d)
		}
	}
	return out
}

// lastDifference is the difference a − b at the largest step that both have
// and at which not both diverged.
func lastDifference(a, b map[float64]bench.Result) (d float64, ok bool) {
	largest := math.Inf(-1)
	for h, x := range a {
		if y, both := b[h]; both && h > largest && !(x.Diverged && y.Diverged) {
			largest, d, ok = h, difference(x, y), true
		}
	}
	return d, ok
}

func innerFan() Claim {
	const command = "hambench reproduce --only integration-length"
	return Claim{
		ID: "inner-fan", By: ByPaper,
		Statement: "On networks the error of lietrotter grows as η grows and N_l approaches 100.",
		Where:     "Section 5, Exploring the connection with HMC, Figure 5 (fig:generalizedLT)",
		Test:      "Cells of the study integration-length: for each data set, split and batch size the distance with the largest N_l minus that with N_l = 1, at the largest step where not both diverged. " + inSpreads + ofMedian + "Confirmed if the interval lies above 0, refuted if below.",
		Decide: func(e *Evidence) Finding {
			results := e.Results("integration-length")
			c := comparison{what: "largest N_l − 1, largest step", command: command, differences: fan(results, func(int) bool { return true })}
			f := c.above()
			for _, part := range []struct {
				name string
				keep func(batches int) bool
			}{
				{"full batch", func(k int) bool { return k == 1 }},
				{"mini-batches", func(k int) bool { return k > 1 }},
			} {
				if d := fan(results, part.keep); len(d) > 0 {
					median, _, _, _ := medianInterval(d)
					f.Numbers = append(f.Numbers, number(fmt.Sprintf("median difference, %s, %d pairs", part.name, len(d)), median, "%+.2f"))
				}
			}
			return f
		},
	}
}

// fan returns the differences between the largest N_l and N_l = 1 at the
// largest step, for the numbers of batches for which keep is true.
func fan(results []bench.Result, keep func(batches int) bool) []float64 {
	largest := 1
	for _, r := range results {
		largest = max(largest, r.Cell.Inner)
	}
	return endDifferences(results, func(c bench.Cell) (line any, e end) {
		at := conditionOf(c)
		at.step = 0
		switch {
		case !keep(c.Batches):
		case c.Inner == 1:
			return at, subtrahend
		case c.Inner == largest:
			return at, minuend
		}
		return at, neither
	})
}

func allConverge() Claim {
	names := []string{"sghmc", "leapfrog", "symmetric", "lietrotter", "mt3"}
	return Claim{
		ID: "all-converge", By: ByPaper,
		Statement: "All integrators converge to the posterior at small enough steps, whatever the batch size.",
		Where:     "Section 5, Comparison of integrators",
		Test:      exactly + "Confirmed if the error of each of the five methods vanishes at order 1 or more with the full batch and in random orders. Beside it, how many chains of the study methods are within the band of self-distance at the smallest step of the grid.",
		Decide: func(e *Evidence) Finding {
			keep := func(f fitted) bool {
				return slices.Contains(names, f.integrator) && f.problem != toyProblem && (f.scheme == "full" || f.scheme == "reshuffle")
			}
			fits := e.fits(bench.OfOrders, keep)
			f := between(smallestBy(fits, func(f fitted) string { return f.integrator + f.scheme }), 1, math.Inf(1))
			if hits, n := inBand(e.Results("methods")); n > 0 {
				f.Numbers = append(f.Numbers, number(fmt.Sprintf("share of %d chains in the band at the smallest step", n), float64(hits)/float64(n), "%.2f"))
				f.Summary += fmt.Sprintf("; %d of %d sampled chains are in the band at the smallest step of the grid", hits, n)
			}
			return f
		},
	}
}

// inBand counts the chains at the smallest step of their line, and those of
// them within the band of self-distance.
func inBand(results []bench.Result) (hits, n int) {
	type line struct {
		condition
		integrator string
	}
	first := make(map[line]bench.Result)
	for _, r := range results {
		l := line{conditionOf(r.Cell), r.Cell.Integrator}
		l.step = 0
		if old, ok := first[l]; !ok || r.Cell.Step < old.Cell.Step {
			first[l] = r
		}
	}
	for _, r := range first {
		n++
		if !r.Diverged && r.KS <= r.KSSelfHigh {
			hits++
		}
	}
	return hits, n
}

// frictionCells is the command for the figure of frictions.
const frictionCells = "hambench reproduce --only friction"

func byFriction(c bench.Cell) float64 { return float64(c.Friction) }

func frictionReasonable() Claim {
	return Claim{
		ID: "friction-reasonable", By: ByPaper,
		Statement: "A friction C between 5 and 10 gives reasonable results in most cases.",
		Where:     "Section 5; appendix, Exploration of the friction constant (ssec:explore_C, fig:friction_all)",
		Test:      "Cells of the study friction (leapfrog), one case for each data set, split, batch size and step at which some chain stays finite. A case counts if C from 5 to 10 comes within 2 standard deviations of the self-distance of the best C. Confirmed if the 99 % interval of the share of such cases (Clopper and Pearson) lies above one half, refuted if below.",
		Decide: func(e *Evidence) Finding {
			s := group(e.Results("friction"), byFriction)
			hits, n := 0, 0
			for _, at := range s.conditions {
				best, middle, one := math.Inf(1), math.Inf(1), 0.0
				for c, r := range s.of[at] {
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
					if middle <= best+2*one {
						hits++
					}
				}
			}
			return mostly(hits, n, "cases where C from 5 to 10 is as good as the best", frictionCells)
		},
	}
}

// mostly decides whether a share is above one half.
func mostly(hits, n int, what, command string) Finding {
	if n == 0 {
		return Finding{Verdict: NotDecided, Summary: "no cases yet: run " + command}
	}
	low, high := shareInterval(hits, n)
	f := Finding{
		Verdict: NotDecided,
		Summary: fmt.Sprintf("%d of %d cases (99 %% interval of the share %.2f to %.2f)", hits, n, low, high),
		Numbers: []Number{
			number(what, float64(hits), "%.0f"), number("cases", float64(n), "%.0f"),
			number("99 % interval of the share, low", low, "%.3f"), number("99 % interval of the share, high", high, "%.3f"),
		},
	}
	switch {
	case low > 0.5:
		f.Verdict = Confirmed
	case high < 0.5:
		f.Verdict = Refuted
	}
	return f
}

// A grid of frictions bounds the acceptable range from both sides; a case that
// the grid leaves open counts for neither.
func frictionRange() Claim {
	return Claim{
		ID: "friction-range", By: ByPaper,
		Statement: "A wide range of frictions is acceptable.",
		Where:     "appendix, Exploration of the friction constant (ssec:explore_C, fig:friction_all)",
		Test:      "Cells of the study friction (leapfrog), one case for each data set, split, batch size and step at which some C reaches the band of self-distance. A case counts if the largest and the smallest C within the band differ by a factor of 10 or more; it counts against the claim if the nearest C outside of the band on both sides leave no room for such a factor; else the grid of C is too coarse to say. Confirmed if the 99 % interval of the share (Clopper and Pearson) lies above one half, refuted if below.",
		Decide: func(e *Evidence) Finding {
			s := group(e.Results("friction"), byFriction)
			wide, narrow, open := 0, 0, 0
			for _, at := range s.conditions {
				tested, possible, ok := frictionSpan(s.of[at])
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
			f := mostly(wide, wide+narrow, "cases where acceptable C span a factor of 10", frictionCells)
			if open == 0 {
				return f
			}
			f.Numbers = append(f.Numbers, number("cases that the grid of C leaves open", float64(open), "%.0f"))
			coarse := fmt.Sprintf("the grid of C is too coarse for %d cases: a larger profile decides more", open)
			if wide+narrow == 0 {
				f.Summary = coarse
			} else {
				f.Summary += "; " + coarse
			}
			return f
		},
	}
}

// wideRange is the factor between frictions that counts as a wide range.
const wideRange = 10

// frictionSpan returns the factor between the largest and the smallest
// friction whose chain lies within the band of self-distance, and the factor
// that the frictions tested leave possible: between the nearest ones outside.
// ok is false if no chain lies within the band.
func frictionSpan(of map[float64]bench.Result) (tested, possible float64, ok bool) {
	low, high := math.Inf(1), 0.0
	for c, r := range of {
		if !r.Diverged && r.KS <= r.KSSelfHigh {
			low, high = min(low, c), max(high, c)
		}
	}
	below, above := 0.0, math.Inf(1)
	for c := range of {
		if c < low {
			below = max(below, c)
		}
		if c > high {
			above = min(above, c)
		}
	}
	return high / low, above / below, high > 0
}

func bottleneckSampled() Claim {
	return Claim{
		ID: "bottleneck-sampled", By: ByPaper,
		Statement: "Figure 1 as sampled: at batch size 8 there is a zone of steps in which mt3 is no better than a second-order scheme; with the full batch there is none.",
		Where:     "Section 1, Figure 1 (fig:minibottle); Section 5, On the convergence bottleneck",
		Test:      "Cells of the study bottleneck. A step counts if lietrotter lies above the band of self-distance. There mt3 is better if it is within the band or lower by 2 standard deviations of the self-distance (a gap that chance gives to two equal chains in less than 8 % of steps). Confirmed if mt3 is no better at one step or more with batch size 8 and better at all of them with the full batch; refuted if one of the two fails.",
		Decide: func(e *Evidence) Finding {
			const command = "hambench reproduce --only bottleneck"
			s := group(e.Results("bottleneck"), byIntegrator)
			if len(s.conditions) == 0 {
				return unavailable(command)
			}
			f := Finding{Verdict: NotDecided}
			var steps, zone [2]int // full batch, mini-batches
			for _, at := range s.conditions {
				second, ok2 := s.of[at]["lietrotter"]
				third, ok3 := s.of[at]["mt3"]
				if !ok2 || !ok3 || second.Diverged && third.Diverged || second.KS <= second.KSSelfHigh {
					continue
				}
				mini := indicator(at.batches > 1)
				steps[mini]++
				if third.KS > third.KSSelfHigh && difference(third, second) > -2 {
					zone[mini]++
				}
				f.Numbers = append(f.Numbers, number(fmt.Sprintf("distance of lietrotter, K = %d, h = %g, seed %d", at.batches, at.step, at.seed), second.KS, "%.3f"),
					number(fmt.Sprintf("distance of mt3, K = %d, h = %g, seed %d", at.batches, at.step, at.seed), third.KS, "%.3f"))
			}
			f.Summary = fmt.Sprintf("mt3 is no better at %d of %d steps with mini-batches, at %d of %d with the full batch", zone[1], steps[1], zone[0], steps[0])
			switch {
			case steps[0] == 0 || steps[1] == 0:
				f.Summary += "; steps above the band are needed in both: run " + command
			case zone[1] > 0 && zone[0] == 0:
				f.Verdict = Confirmed
			default:
				f.Verdict = Refuted
			}
			return f
		},
	}
}

func syntheticDistance() Claim {
	return Claim{
		ID: "synthetic", By: ByPaper,
		Statement: "On the synthetic regression the average distance to the exact predictive posterior is below 0.1.",
		Where:     "appendix, Comparing predictive distributions (fig:synthetic)",
		Test:      "The cell of the study synthetic: leapfrog, full batch, 200 samples. Independent draws of the posterior have a distance of 0.061 on average, so chance does not lift a right sampler to 0.1.",
		Decide: func(e *Evidence) Finding {
			results := e.Results("synthetic")
			if len(results) == 0 {
				return unavailable("hambench reproduce --only synthetic")
			}
			r := results[0]
			f := Finding{Verdict: Refuted, Summary: fmt.Sprintf("distance %.3f", r.KS), Numbers: []Number{
				number("distance", r.KS, "%.4f"), number("self-distance", r.KSSelf, "%.4f"),
			}}
			if r.KS < 0.1 {
				f.Verdict = Confirmed
			}
			return f
		},
	}
}

// float32Enough is the ground on which sweeps compute gradients in float32.
func float32Enough() Claim {
	return Claim{
		ID: "float32-enough", By: ByUs,
		Statement: "Gradients in float32, the state in float64, give the same distances as gradients in float64, at steps near the limit of stability.",
		Where:     "not in the paper, which does not state its precision",
		Test:      "Cells of the study precision (leapfrog, batches of 8 and the full batch) where both chains stay finite. " + inSpreads + ofMedian + "Confirmed if the interval lies within ±1, refuted if it lies outside.",
		Decide: func(e *Evidence) Finding {
			s := group(e.Results("precision"), func(c bench.Cell) string { return c.Precision })
			c := comparison{what: "float64 − float32", command: "hambench reproduce --only precision"}
			largest := 0.0
			s.finite(func(of map[string]bench.Result) {
				d := difference(of["float64"], of["float32"])
				c.differences = append(c.differences, d)
				largest = max(largest, math.Abs(d))
			}, "float32", "float64")
			f := c.alike()
			f.Numbers = append(f.Numbers, number("largest difference either way", largest, "%.2f"))
			return f
		},
	}
}
