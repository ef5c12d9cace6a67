package figures

import (
	"math"
	"slices"
	"testing"

	"hambench/bench"
)

// cell is a cell of a sweep that differs where the tests need it to.
func cell(integrator string, split, batch int, h float64) bench.Cell {
	c := bench.Cell{
		Observe: bench.Distance, Dataset: "boston", Split: split, Model: "bnn", Integrator: integrator, Inner: 1, Friction: 5,
		Scheme: "reshuffle", Batches: 1, BatchSize: batch, Step: h, Samples: 200, Thin: 1, Seed: 1, Precision: "float32",
	}
	if batch != bench.Full {
		c.Batches = (455 + batch - 1) / batch
	}
	return c
}

// jobs gives cells keys.
func jobs(cells ...bench.Cell) []bench.Job {
	var out []bench.Job
	for _, c := range cells {
		out = append(out, bench.Job{Key: c.Stream(), Cell: c})
	}
	return out
}

// stored makes results given by distance; NaN stands for a diverged chain.
func stored(jobs []bench.Job, distance func(bench.Cell) (ks float64, there bool)) memory {
	m := memory{results: make(map[string]bench.Result)}
	for _, j := range jobs {
		c := j.Cell
		ks, there := distance(c)
		if !there {
			continue
		}
		r := bench.Result{Cell: c, Key: j.Key, KS: ks, KSSelf: 0.08 + 0.01*float64(c.Split), KSSelfLow: 0.05, KSSelfHigh: 0.13}
		if math.IsNaN(ks) {
			r.KS, r.Diverged = 1, true
		}
		m.results[r.Key] = r
	}
	return m
}

func byIntegrator(c bench.Cell) string { return c.Integrator }

func TestSweepMeansOverSplits(t *testing.T) {
	var cells []bench.Cell
	for _, split := range []int{0, 1, 2} {
		cells = append(cells, cell("leapfrog", split, 8, 0.02), cell("leapfrog", split, 8, 0.01))
	}
	m := stored(jobs(cells...), func(c bench.Cell) (float64, bool) {
		switch {
		case c.Step == 0.01:
			return 0.1 + 0.1*float64(c.Split), c.Split < 2 // 0.1, 0.2, missing
		case c.Split == 2:
			return math.NaN(), true
		}
		return 0.5, true // 0.5, 0.5, diverged
	})
	s := newSweep(jobs(cells...), m.Result, byIntegrator)
	if len(s.blocks) != 1 || len(s.blocks[0].lines) != 1 {
		t.Fatalf("%d blocks, want one with one line", len(s.blocks))
	}
	b := s.blocks[0]
	points := b.lines[0].points
	if len(points) != 2 || points[0].h != 0.01 || points[1].h != 0.02 {
		t.Fatalf("stats %+v, want h = 0.01 and 0.02 in this order", points)
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) < 1e-12) { // a few roundings of numbers below 1
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	near("mean at 0.01", points[0].mean, 0.15)
	near("sd at 0.01", points[0].sd, 0.1/math.Sqrt2)
	near("mean at 0.02, a diverged chain counting 1", points[1].mean, 2.0/3)
	near("self-distance over three splits", b.self.mean, 0.09)
	if points[0].have != 2 || points[0].expected != 3 || points[1].diverged != 1 {
		t.Errorf("counts %+v", points)
	}
	if points[1].high() > 1 || points[0].low() < 0 {
		t.Errorf("error bands leave the range of a distance: %v … %v", points[0].low(), points[1].high())
	}
}

func TestOneSplitHasNoBand(t *testing.T) {
	cells := []bench.Cell{cell("leapfrog", 0, 8, 0.01)}
	s := newSweep(jobs(cells...), stored(jobs(cells...), func(bench.Cell) (float64, bool) { return 0.2, true }).Result, byIntegrator)
	st := s.blocks[0].lines[0].points[0]
	if !math.IsNaN(st.sd) || st.low() != 0.2 || st.high() != 0.2 {
		t.Errorf("one split has sd %v and band %v … %v: want none", st.sd, st.low(), st.high())
	}
}

func TestBatchSizesAscendAndFullIsLast(t *testing.T) {
	cells := []bench.Cell{cell("mt3", 0, bench.Full, 0.1), cell("mt3", 0, 128, 0.1), cell("mt3", 0, 8, 0.1)}
	s := newSweep(jobs(cells...), stored(jobs(cells...), func(bench.Cell) (float64, bool) { return 0.2, true }).Result, byIntegrator)
	if !slices.Equal(s.batches, []int{8, 128, bench.Full}) {
		t.Errorf("columns %v, want 8, 128, full (0)", s.batches)
	}
}

func TestCurveBreaksWhereResultsAreMissing(t *testing.T) {
	points := []point{{h: 1, mean: 0.5, have: 1}, {h: 2, mean: 0.5, have: 1}, {h: 3}, {h: 4, mean: 0.5, have: 1}, {h: 5, mean: 0, have: 1}, {h: 6, mean: 0.4, have: 1}}
	for name, c := range map[string]struct {
		log  bool
		want []int
	}{
		"linear axis":                  {false, []int{2, 3}},
		"log axis, which lacks a zero": {true, []int{2, 1, 1}},
	} {
		var got []int
		for _, seg := range (curve{points: points, axis: axis{low: 0.1, high: 1, log: c.log}}).segments() {
			got = append(got, len(seg))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: stretches of %v points, want %v", name, got, c.want)
		}
	}
}
