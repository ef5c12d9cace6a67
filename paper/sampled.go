package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench/table"
)

// The programs below decide by sampled chains, which scatter. What scatters as one, such
// as all chains on a data set, is averaged before an interval is made.

// conditions tell chains apart that differ only in what the programs here compare.
var conditions = []string{"dataset", "split", "seed", "K", "h"}

// allConverge joins what is exact, on two problems, with the chains of the sweep at the
// smallest step of their line. The first case is of orders, the second of the excess over
// the floor, whose interval over data sets must lie within its limits for each batch size
// by itself. The full batch, which makes the floor, is held to the self-distance. Chains
// that are off do not refute: a smaller step may do.
func allConverge(of []*evaluation) Finding {
	exact, sampled := of[0].decide(), of[1]
	sampled.Replicates = "dataset"
	f := Finding{Verdict: Confirmed, Summary: exact.Summary, Numbers: exact.Numbers}
	line := []string{"dataset", "split", "seed", "integrator"}
	for _, batch := range sampled.selected.Sort("batch").GroupBy("batch") {
		// Each batch size is an evaluation of its own, with its own replicates.
		x := *sampled
		x.values = make(map[string]*replicate)
		size, number := batch.Get("batch").String(), x.number
		if math.IsInf(batch.Get("batch").Number(), 1) {
			size, number = "all rows", excess
		}
		x.what = "excess at the smallest step, B = " + size
		lost := 0
		for _, l := range batch.GroupBy(line...) {
			if first := l.Sort("h").Rows()[0]; diverged(first) {
				lost++
			} else {
				x.add(first, number(first), 1)
			}
		}
		x.count("chains that diverged at the smallest step, B = "+size, lost)
		one := x.interval()
		f.Numbers = slices.Concat(f.Numbers, one.Numbers, x.stability)
		f.Summary += fmt.Sprintf("; B = %s: %s", size, one.Summary)
		if one.Verdict != Confirmed || lost > 0 {
			f.Verdict = NotDecided
		}
	}
	sampled.whole(&f)
	if sampled.selected.Len() == 0 {
		f.Verdict, f.Summary = NotDecided, exact.Summary+"; "+sampled.nothing().Summary
	}
	if exact.Verdict != Confirmed {
		f.Verdict = exact.Verdict
	}
	f.Detail = strings.TrimSpace(sampled.remarks())
	return f
}

// accepted is one friction of a case, in which other settings are equal, with whether its
// chain does as well as that of the best.
type accepted struct {
	row        table.Row
	acceptable bool
}

// What a friction may be off the best by, and count as good as it: a share of the excess of
// the best, or so many standard deviations of the distances of right chains, measured on
// blocks of the reference's own.
const (
	nearFriction   = 0.25
	frictionSpread = 3
)

// frictions returns, for each case of chains that differ in their friction alone and some
// of which stay finite, which frictions do as well as the best: but for noise, the error
// of the reference, or a quarter of the excess. Frictions ascend; one alone is no case, since
// it is the best.
func (x *evaluation) frictions() (cases [][]accepted) {
	lost := 0
	for _, g := range x.selected.GroupBy(conditions...) {
		if len(g.GroupBy("friction")) < 2 {
			continue
		}
		best, limit := inf, 0.0
		for _, r := range g.Rows() {
			if ks := r.Number("ks"); !diverged(r) && ks < best {
				allowed := max(nearFriction*excess(r), frictionSpread*r.Number("ks_self_sd"))
				best, limit = ks, ks+allowed+max(r.Number("reference_error"), 0)
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
			x.add(of[0].row, stat.Mean(hits, nil), 0)
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
// friction stands for what is nearer to it than to its neighbours. At an end of the grid
// it may stand for values beyond, so that the width within the grid is a lower bound where
// an end is acceptable: one that is too small does not refute, unless it is with the ends
// reaching as far beyond the grid as into it. A grid of less than a decade cannot show that
// a decade is acceptable, and is left out.
func frictionRange(of []*evaluation) Finding {
	inner, outer := of[0], *of[0]
	inner.what, outer.what = inner.Title, inner.Title+", ends counted on both sides"
	inner.scale = func(decades float64) float64 { return max(decades, 0) }
	outer.scale, outer.values, outer.Unit = inner.scale, make(map[string]*replicate), ""
	for _, of := range inner.frictions() {
		friction := func(i int) float64 { return of[i].row.Number("friction") }
		within, beyond, last := 0.0, 0.0, len(of)-1
		for i, a := range of {
			if !a.acceptable {
				continue
			}
			// Half of the way to either neighbour, of which an end has one.
			decades := math.Log10(friction(min(i+1, last))/friction(max(i-1, 0))) / 2
			within += decades
			if i == 0 || i == last {
				beyond += decades
			}
		}
		if friction(last) >= 10*friction(0) {
			inner.add(of[0].row, within, 0)
			outer.add(of[0].row, within+beyond, 0)
		}
	}
	f, most := inner.interval(), outer.interval()
	if f.Verdict == Refuted && most.Verdict != Refuted {
		f.Verdict = NotDecided
	}
	if len(inner.values) >= fewest { // else the summary says why there is no interval
		f.Summary += "; with the ends of the grid counted on both sides " + most.Summary
	}
	f.Numbers = slices.Concat(f.Numbers, most.Numbers)
	return inner.finish(f)
}
