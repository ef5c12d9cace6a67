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

// swept is the sweep of some cells.
func swept(t *testing.T, m memory, jobs []bench.Job) *sweep {
	t.Helper()
	s, err := newSweep(planOf(t, bench.Study{ID: "own", Cells: jobs}), m.results)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

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
	s := swept(t, m, jobs(cells...))
	if len(s.groups) != 1 {
		t.Fatalf("%d panels, want one", len(s.groups))
	}
	place := [2]string{s.rows[0], s.columns[0]}
	points := s.points
	if len(points) != 2 || points[0].x != 0.01 || points[1].x != 0.02 {
		t.Fatalf("stats %+v, want x = 0.01 and 0.02 in this order", points)
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) < 1e-12) { // a few roundings of numbers below 1
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	near("mean at 0.01", points[0].mean, 0.15)
	near("sd at 0.01", points[0].sd, 0.1/math.Sqrt2)
	near("mean at 0.02, a diverged chain counting 1", points[1].mean, 2.0/3)
	near("self-distance over three splits", s.groups[place].self.mean, 0.09)
	if len(points[0].results) != 2 || points[0].expected != 3 || points[1].diverged != 1 {
		t.Errorf("counts %+v", points)
	}
	x, y := s.axes(300)
	line := s.panel(place, x, y).Series[1]
	if line.High[1] > 1 || line.Low[0] < 0 || line.High[0] <= line.Low[0] {
		t.Errorf("error bands %v … %v leave the range of a distance, or are none", line.Low, line.High)
	}
}

func TestOneSplitHasNoBand(t *testing.T) {
	cells := jobs(cell("leapfrog", 0, 8, 0.01))
	s := swept(t, stored(cells, func(bench.Cell) (float64, bool) { return 0.2, true }), cells)
	x, y := s.axes(300)
	for place := range s.groups {
		if line := s.panel(place, x, y).Series[1]; !math.IsNaN(s.points[0].sd) || line.Low[0] != 0.2 || line.High[0] != 0.2 {
			t.Errorf("one split has sd %v and band %v … %v: want none", s.points[0].sd, line.Low, line.High)
		}
	}
}

func TestBatchSizesAscendAndFullIsLast(t *testing.T) {
	other := cell("mt3", 0, 32, 0.1) // which the first data set lacks
	other.Dataset = "yacht"
	cells := jobs(cell("mt3", 0, bench.Full, 0.1), cell("mt3", 0, 128, 0.1), cell("mt3", 0, 8, 0.1), other)
	s := swept(t, stored(cells, func(bench.Cell) (float64, bool) { return 0.2, true }), cells)
	if want := []string{" 8", " 32", " 128", " full"}; !slices.Equal(s.columns, want) {
		t.Errorf("columns %q, want %q", s.columns, want)
	}
}

func TestCurveBreaksWhereResultsAreMissing(t *testing.T) {
	line := Series{X: []float64{1, 2, 3, 4, 5, 6}, Y: []float64{0.5, 0.5, math.NaN(), 0.5, 0, 0.4}}
	for name, c := range map[string]struct {
		log  bool
		want []int
	}{
		"linear axis":                  {false, []int{2, 3}},
		"log axis, which lacks a zero": {true, []int{2, 1, 1}},
	} {
		var got []int
		k := canvas{Panel: &Panel{Y: Axis{Low: 0.1, High: 1, Log: c.log}}}
		for _, at := range k.Stretches(line) {
			got = append(got, at[1]-at[0])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: stretches of %v points, want %v", name, got, c.want)
		}
	}
}
