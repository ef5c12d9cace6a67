package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/integrators"
	"hambench/internal/distinct"
	"hambench/paper"
)

// Ranking holds what integrators cost at one friction, per data set, until a chain was
// where right ones are. All of them ran at that friction.
type Ranking struct {
	Friction bench.Friction
	Sets     []string
	Rows     []Rank
}

// Rank is an integrator's row, with one place per data set.
type Rank struct {
	Name   string
	Places []Place
}

// Place is the cheapest right chain of an integrator on a data set.
type Place struct {
	Passes float64 // over the data; +Inf if no chain was right, NaN if none was run
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

// newRankings ranks all chains whose distance was recorded, for each friction at which
// several integrators ran: an integrator with its best of five frictions is not compared
// with one at a single friction. Chains that differ in split, seed or reference alone are
// one, which must be right on average.
func newRankings(rows *table.Table) (out []Ranking) {
	var results []bench.Result
	chains := rows.Where("missing", false).Where("observe", string(bench.Distance))
	for _, g := range chains.GroupBy("key") { // a job of two studies once
		results = append(results, g.Rows()[0].Source.(bench.Result))
	}
	friction := func(r bench.Result) bench.Friction { return r.Cell.Friction }
	for _, c := range slices.Sorted(slices.Values(distinct.Of(results, friction))) {
		other := func(r bench.Result) bool { return r.Cell.Friction != c }
		if r := newRanking(c, slices.DeleteFunc(slices.Clone(results), other)); len(r.Rows) > 1 {
			out = append(out, r)
		}
	}
	return out
}

// newRanking ranks chains of one friction.
func newRanking(c bench.Friction, results []bench.Result) Ranking {
	type place struct{ integrator, set string }
	best := make(map[place]Place)
	for _, chains := range repeated(results) {
		cell := chains[0].Cell
		at := place{cell.Integrator, cell.Dataset}
		p, ok := best[at]
		if !ok {
			p.Passes = math.Inf(1)
		}
		if passes := passes(chains); paper.Right(chains...) && passes < p.Passes {
			p = Place{passes, fmt.Sprintf("%s, η = %v", batchText(cell), cell.Step)}
		}
		best[at] = p
	}
	out := Ranking{Friction: c, Sets: distinct.Of(results, func(r bench.Result) string { return r.Cell.Dataset })}
	for _, name := range distinct.Of(results, func(r bench.Result) string { return r.Cell.Integrator }) {
		r := Rank{Name: name}
		for _, set := range out.Sets {
			p, ok := best[place{name, set}]
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

// repeated groups the results of chains that differ in split, seed or reference alone.
func repeated(results []bench.Result) (groups [][]bench.Result) {
	at := make(map[string]int) // places in groups by the stream of the cell without these
	for _, r := range results {
		c := r.Cell
		c.Split, c.Seed, c.Oracle = 0, 0, ""
		id := c.Stream()
		i, ok := at[id]
		if !ok {
			i, groups = len(groups), append(groups, nil)
			at[id] = i
		}
		groups[i] = append(groups[i], r)
	}
	return groups
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
		sum += float64(r.Gradients+integrators.ProductGradients*r.HessianVectors) / float64(r.Cell.Batches)
	}
	return sum / float64(len(results))
}

func batchText(c bench.Cell) string {
	if c.BatchSize == bench.Full {
		return "full batch"
	}
	return fmt.Sprintf("B = %d", c.BatchSize)
}
