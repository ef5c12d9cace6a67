package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"hambench/bench"
	"hambench/internal/distinct"
	"hambench/paper"
)

// Ranking is how much each integrator cost, per data set, until it sampled what
// the reference samples.
type Ranking struct {
	Sets []string
	Rows []Rank
}

// Rank is an integrator's row, with one place per data set.
type Rank struct {
	Name   string
	Places []Place
}

// Place is the cheapest chain of an integrator on a data set among those whose
// distance a right chain may have.
type Place struct {
	Passes float64 // over the data; +Inf if no chain got there, NaN if none was run
	Of     string  // the chain's batch size and step
}

// Text returns the number for people.
func (p Place) Text() string {
	switch {
	case math.IsNaN(p.Passes):
		return "–"
	case math.IsInf(p.Passes, 1):
		return "inf"
	}
	return fmt.Sprintf("%.0f", p.Passes)
}

// newRanking ranks all chains whose distance was recorded. Chains that differ in
// split or seed alone are one, which must be in the band on average.
func newRanking(e *paper.Evidence) (out Ranking) {
	var ids, names []string
	chains := make(map[string][]bench.Result)
	seen := make(map[string]bool)
	for _, study := range slices.Sorted(maps.Keys(e.Sampled)) {
		for _, r := range e.Sampled[study] {
			c := r.Cell
			if c.Observe != bench.Distance || seen[r.Key] {
				continue
			}
			seen[r.Key] = true
			c.Split, c.Seed, c.Oracle = 0, 0, ""
			id := fmt.Sprintf("%+v", c)
			if chains[id] == nil {
				ids = append(ids, id)
			}
			chains[id] = append(chains[id], r)
		}
	}
	best := make(map[[2]string]Place) // by integrator and data set
	for _, id := range ids {
		c := chains[id][0].Cell
		out.Sets, names = distinct.Append(out.Sets, c.Dataset), distinct.Append(names, c.Integrator)
		key := [2]string{c.Integrator, c.Dataset}
		p, ok := best[key]
		if !ok {
			p.Passes = math.Inf(1)
		}
		if passes := passes(chains[id]); inBand(chains[id]) && passes < p.Passes {
			p = Place{passes, fmt.Sprintf("%s, η = %v", batchText(c), c.Step)}
		}
		best[key] = p
	}
	for _, name := range names {
		r := Rank{Name: name}
		for _, set := range out.Sets {
			p, ok := best[[2]string{name, set}]
			if !ok {
				p.Passes = math.NaN()
			}
			r.Places = append(r.Places, p)
		}
		out.Rows = append(out.Rows, r)
	}
	slices.SortStableFunc(out.Rows, func(a, b Rank) int { return cmp.Compare(a.reached(), b.reached()) })
	return out
}

// reached orders integrators: first those that got there on most data sets, then
// by what they needed, as a geometric mean.
func (r Rank) reached() float64 {
	sum, n := 0.0, 0
	for _, p := range r.Places {
		if !math.IsNaN(p.Passes) && !math.IsInf(p.Passes, 1) {
			sum, n = sum+math.Log(p.Passes), n+1
		}
	}
	return sum/float64(max(1, n)) - 1000*float64(n)
}

// passes is the mean number of passes over the data: a gradient of one of K
// batches is a K-th of a pass, a Hessian-vector product counts as two gradients.
func passes(results []bench.Result) float64 {
	sum := 0.0
	for _, r := range results {
		sum += float64(r.Gradients+2*r.HessianVectors) / float64(r.Cell.Batches)
	}
	return sum / float64(len(results))
}

// inBand reports whether the mean distance is below the 95 % quantile of the
// self-distance and no chain diverged.
func inBand(results []bench.Result) bool {
	distance, high := 0.0, 0.0
	for _, r := range results {
		if r.Diverged {
			return false
		}
		distance, high = distance+r.KS, high+r.KSSelfHigh
	}
	return distance <= high
}

func batchText(c bench.Cell) string {
	if c.BatchSize == bench.Full {
		return "full batch"
	}
	return fmt.Sprintf("B = %d", c.BatchSize)
}
