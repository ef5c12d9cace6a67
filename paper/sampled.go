package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/bench/table"
)

// The programs below decide by sampled chains, which scatter. What scatters as one, such
// as all chains on a data set, is averaged before an interval is made.

// conditions tell chains apart that differ only in what the programs here compare.
var conditions = []string{"dataset", "split", "seed", "K", "h"}

// allConverge joins what is exact, on two problems, with the chains of the sweep at the
// smallest step of their line. The first case is of orders, the second of the share of
// chains that are not where right ones are, the third of distances at the second smallest
// step over those at the smallest. Chains that are off refute only if they come no nearer
// as the step falls: else the steps are too large to say.
func allConverge(of []*evaluation) Finding {
	exact, outside, falls := of[0].decide(), of[1], of[2]
	outside.what, outside.scale = outside.Title, asShare
	falls.what, falls.scale = falls.Title, math.Exp
	// Lines have the chains that differ in their step alone.
	chains, out := 0, 0
	line := []string{"dataset", "split", "seed", "K", "integrator"}
	for _, l := range outside.selected.GroupBy(line...) {
		steps := l.Sort("h").GroupBy("h")
		first := steps[0].Rows()[0]
		chains++
		outside.add(first, 1-indicator(right(first)))
		if right(first) {
			continue
		}
		out++
		if len(steps) > 1 && !diverged(first) && !diverged(steps[1].Rows()[0]) {
			falls.add(first, math.Log(steps[1].Rows()[0].Number("ks")/first.Number("ks")))
		}
	}
	f, fall := outside.finish(outside.interval()), falls.interval()
	outsiders := f.Verdict
	f.Verdict, f.Summary = NotDecided, sprint(outside.Summary, exact.Summary, out, chains)
	switch {
	case chains == 0:
		f.Summary = exact.Summary + "; " + outside.nothing().Summary
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

// accepted is one friction of a case, in which other settings are equal, with whether its
// chain does as well as that of the best.
type accepted struct {
	row        table.Row
	acceptable bool
}

// frictions returns, for each case of chains that differ in their friction alone and some
// of which stay finite, which frictions do as well as the best: but for noise, or a
// quarter of the distance. Frictions ascend.
func (x *evaluation) frictions() (cases [][]accepted) {
	lost := 0
	for _, g := range x.selected.GroupBy(conditions...) {
		best, limit := inf, 0.0
		for _, r := range g.Rows() {
			// A distance scatters by σ; near the floor a quarter of it is less than 3 σ.
			if ks := r.Number("ks"); !diverged(r) && ks < best {
				best, limit = ks, max(1.25*ks, ks+3*r.Number("ks_self_sd"))
			}
		}
		if math.IsInf(best, 1) {
			lost++
			continue
		}
		var of []accepted
		for _, r := range g.Sort("friction").Rows() {
			of = append(of, accepted{r, !diverged(r) && r.Number("ks") <= limit})
		}
		cases = append(cases, of)
	}
	x.count("cases where chains of every C diverged, which are left out", lost)
	return cases
}

// frictionReasonable judges each friction from 5 to 10 by itself: the better of two would
// look better than one. It averages the share of those that are acceptable, case by case,
// and lists the share of all frictions for comparison.
func frictionReasonable(of []*evaluation) Finding {
	x := of[0]
	x.what, x.scale = x.Title, asShare
	good := make(map[float64][]float64) // by friction
	for _, of := range x.frictions() {
		var hits []float64
		for _, a := range of {
			friction := a.row.Number("friction")
			good[friction] = append(good[friction], indicator(a.acceptable))
			if friction >= 5 && friction <= 10 {
				hits = append(hits, indicator(a.acceptable))
			}
		}
		if len(hits) > 0 {
			x.add(of[0].row, stat.Mean(hits, nil))
		}
	}
	f := x.finish(x.interval())
	for _, c := range slices.Sorted(maps.Keys(good)) {
		name := fmt.Sprintf("share of cases where C = %g is acceptable", c)
		f.add(name, stat.Mean(good[c], nil), "%.2f")
	}
	return f
}

// frictionRange sums the acceptable part of the grid on the axis of log₁₀ C. A tested
// friction stands for what is nearer to it than to its neighbours, within the grid. A grid
// of less than a decade cannot show that a decade is acceptable, and is left out.
func frictionRange(of []*evaluation) Finding {
	x := of[0]
	x.what = x.Title
	x.scale = func(decades float64) float64 { return max(decades, 0) }
	for _, of := range x.frictions() {
		friction := func(i int) float64 { return of[i].row.Number("friction") }
		width, last := 0.0, len(of)-1
		for i, a := range of {
			decades := math.Log10(friction(min(i+1, last)) / friction(max(i-1, 0)))
			width += indicator(a.acceptable) * decades / 2
		}
		if friction(last) >= 10*friction(0) {
			x.add(of[0].row, width)
		}
	}
	return x.finish(x.interval())
}

// bottleneckSampled asks in both regimes, over all steps and seeds together, whether
// mt3's excess over the self-distance is more or less than half of lietrotter's: at
// single steps chance decides. An error of order 2 has the weight h²; a distance
// scatters by σ and by a tenth of its excess.
func bottleneckSampled(of []*evaluation) Finding {
	f := Finding{Verdict: NotDecided}
	var ratio, z [2]float64 // mini-batches, full batch
	for i, x := range of {
		// The sums of weighted excesses of both orders, and the variance of three − two/2.
		var two, three, variance float64
		pairs := x.pairs()
		for _, p := range pairs {
			third, second := p.Left.Rows()[0], p.Right.Rows()[0]
			weight := stepOf(p) * stepOf(p)
			two, three = two+weight*excess(second), three+weight*excess(third)
			variance += math.Pow(weight, 2) * (scatter(third) + scatter(second)/4)
		}
		if !(two > 0) {
			f.Summary = "lietrotter's chains are not off in both regimes, or there are none: run " +
				reproduceMore + x.study()
			return x.finish(f)
		}
		ratio[i], z[i] = three/two, (three-two/2)/math.Sqrt(variance)
		name := "mt3's excess over lietrotter's, %s (%d pairs of chains)"
		f.add(fmt.Sprintf(name, x.Title, len(pairs)), ratio[i], "%.2f")
		f.add("standard deviations above one half, "+x.Title, z[i], "%.1f")
	}
	f.Summary = sprint(of[0].Summary, ratio[1], ratio[0], z[1], z[0])
	limit := distuv.UnitNormal.Quantile((1 + of[0].Level) / 2)
	switch {
	case z[1] > limit && z[0] < -limit:
		f.Verdict = Confirmed
	case z[1] < -limit || z[0] > limit:
		f.Verdict = Refuted
	default:
		f.Summary += "; more chains would tell: run " + reproduceMore + of[0].study()
	}
	return f
}

// scatter is the variance of a chain's distance: that of a right one, and a tenth of its
// excess squared.
func scatter(r table.Row) float64 {
	return math.Pow(r.Number("ks_self_sd"), 2) + math.Pow(excess(r), 2)/100
}

// syntheticDistance takes the only chain of its study, whose distance has no scatter that
// would be known.
func syntheticDistance(of []*evaluation) Finding {
	r := of[0].selected.Rows()[0]
	ks := r.Number("ks")
	f := Finding{Verdict: holds(of[0].holds(ks)), Summary: fmt.Sprintf("distance %.3f", ks)}
	f.add("distance", ks, "%.4f")
	f.add("self-distance", r.Number("ks_self"), "%.4f")
	return f
}
