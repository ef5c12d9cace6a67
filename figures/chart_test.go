package figures

import (
	"math"
	"regexp"
	"slices"
	"testing"

	"hambench/bench"
	"hambench/chain"
)

// cell is a cell of a sweep that differs where the tests need it to.
func cell(integrator string, split, batch int, h float64) bench.Cell {
	plan := chain.PaperPlan(h, 200)
	c := bench.Cell{
		Observe: bench.Distance, Dataset: "boston", Split: split, Model: "bnn", Integrator: integrator, Inner: 1, Friction: 5,
		Scheme: "reshuffle", Batches: 1, BatchSize: batch, Step: h, Samples: 200, Thin: plan.Thin, BurnIn: plan.BurnIn, Seed: 1, Precision: "float32",
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

// arranged are the cells of a study as its figure shows them.
func arranged(t *testing.T, m memory, s bench.Study) *sampled {
	t.Helper()
	p := planOf(t, s)
	rows := bench.Results{Store: m}.Table([]bench.Plan{p})
	out, err := newSampled(p, rows.Where("record", bench.CellRecord))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// pointsOf are the points of the only panel's only line.
func pointsOf(t *testing.T, s *sampled) []point {
	t.Helper()
	if len(s.facets) != 1 || len(s.facets[0]) != 1 || len(s.facets[0][0].lines) != 1 {
		t.Fatalf("panels %v, want one with one line", s.facets)
	}
	return s.facets[0][0].lines[0]
}

func TestPointsShowTheMedianOfFiniteChains(t *testing.T) {
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
	s := arranged(t, m, bench.Study{ID: "own", Cells: jobs(cells...)})
	points := pointsOf(t, s)
	if len(points) != 2 || points[0].x != 0.01 || points[1].x != 0.02 {
		t.Fatalf("points %+v, want x = 0.01 and 0.02 in this order", points)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"mean at 0.01", points[0].mean, 0.15},
		{"sd at 0.01", points[0].sd, 0.1 / math.Sqrt2},
		{"mean at 0.02, a diverged chain not counting", points[1].mean, 0.5},
		{"median at 0.01", points[0].y, 0.15},
		{"smallest at 0.01", points[0].low, 0.1},
		{"largest at 0.01", points[0].high, 0.2},
		{"median at 0.02, a diverged chain not counting", points[1].y, 0.5},
		{"largest at 0.02, a diverged chain not counting", points[1].high, 0.5},
		{"share of diverged chains at 0.01, of which one is missing", points[0].lost, 0},
		{"share of diverged chains at 0.02", points[1].lost, 1.0 / 3},
		{"self-distance over three splits", selfBand(s.facets[0][0].Table).mean, 0.09},
	} {
		if !(math.Abs(c.got-c.want) < 1e-12) { // a few roundings of numbers below 1
			t.Errorf("%s = %v, want %v", c.what, c.got, c.want)
		}
	}
	line := lineOf(points, "leapfrog", style{})
	if !slices.Equal(line.Y, []float64{points[0].y, 0.5}) || !slices.Equal(line.Lost, []float64{0, 1. / 3}) {
		t.Errorf("the line has %v and loses %v: want the medians, and a third of the last point", line.Y, line.Lost)
	}
}

func TestOneSplitHasNoBand(t *testing.T) {
	cells := jobs(cell("leapfrog", 0, 8, 0.01))
	m := stored(cells, func(bench.Cell) (float64, bool) { return 0.2, true })
	for _, at := range pointsOf(t, arranged(t, m, bench.Study{ID: "own", Cells: cells})) {
		if !math.IsNaN(at.sd) || at.low != 0.2 || at.high != 0.2 {
			t.Errorf("one split has sd %v and band %v … %v: want none", at.sd, at.low, at.high)
		}
	}
}

// Every value of a cell is a point of the panel, of the line and at the place that its own
// settings name: no two lines are mixed up, no two groups are one.
func TestEveryCellIsInItsPlace(t *testing.T) {
	var cells []bench.Cell
	value := func(c bench.Cell) float64 {
		x := 0.01*float64(len(c.Integrator)) + c.Step + 0.0001*float64(c.Friction)
		return x + 0.3*float64(min(c.BatchSize, 1)) + 0.2*float64(len(c.Dataset)-len("yacht"))
	}
	for _, dataset := range []string{"yacht", "boston"} {
		for _, batch := range []int{bench.Full, 8} {
			for _, name := range []string{"mt3", "leapfrog"} {
				for _, friction := range []bench.Real{5, 1} {
					for _, h := range []float64{0.04, 0.01} {
						c := cell(name, 0, batch, h)
						c.Dataset, c.Friction = dataset, friction
						cells = append(cells, c)
					}
				}
			}
		}
	}
	m := stored(jobs(cells...), func(c bench.Cell) (float64, bool) { return value(c), true })
	s := arranged(t, m, bench.Study{ID: "own", Cells: jobs(cells...)})
	names := s.names
	if want := []string{"mt3, C = 5", "mt3, C = 1", "leapfrog, C = 5", "leapfrog, C = 1"}; !slices.Equal(names, want) {
		t.Fatalf("lines %q, want %q", names, want)
	}
	n := 0
	for p, at := range s.points() {
		n++
		c := resultOf(at.Rows()[0]).Cell
		panel := resultOf(p.Rows()[0]).Cell
		line := c.Integrator + ", C = " + decimal(float64(c.Friction))
		if at.Len() != 1 || names[at.line] != line || at.x != c.Step || at.y != value(c) ||
			panel.Dataset != c.Dataset || panel.BatchSize != c.BatchSize {
			t.Errorf("%v stands at %v, %v on line %q, %d cells", c, at.x, at.y, names[at.line], at.Len())
		}
	}
	if n != len(cells) {
		t.Errorf("%d points of %d cells", n, len(cells))
	}
}

// panelTexts are what panels have in a row of the grid, by any of their cells.
func panelTexts(s *sampled) (texts []string) {
	for _, p := range slices.Concat(s.facets...) {
		if p == nil {
			texts = append(texts, "")
			continue
		}
		texts = append(texts, bench.TextOf(slices.Concat(s.ofRows, s.ofColumns), p.Rows()[0]))
	}
	return texts
}

func TestBatchSizesAscendAndFullIsLast(t *testing.T) {
	other := cell("mt3", 0, 32, 0.1) // which the first data set lacks
	other.Dataset = "yacht"
	cells := jobs(cell("mt3", 0, bench.Full, 0.1), cell("mt3", 0, 128, 0.1), cell("mt3", 0, 8, 0.1), other)
	s := arranged(t, stored(cells, tenth), bench.Study{ID: "own", Cells: cells})
	want := []string{"boston, B = 8 (K = 57)", "", "boston, B = 128 (K = 4)", "boston, full batch", "", "yacht, B = 32 (K = 15)", "", ""}
	if got := panelTexts(s); !slices.Equal(got, want) {
		t.Errorf("panels %q, want %q", got, want)
	}
}

func TestCurveBreaksWhereResultsAreMissing(t *testing.T) {
	line := curve{X: []float64{1, 2, 3, 4, 5, 6}, Y: []float64{0.5, 0.5, math.NaN(), 0.5, 0, 0.4}}
	for name, c := range map[string]struct {
		log  bool
		want []int
	}{
		"linear axis":                  {false, []int{2, 3}},
		"log axis, which lacks a zero": {true, []int{2, 1, 1}},
	} {
		var got []int
		k := canvas{panel: &panel{Y: axis{Low: 0.1, High: 1, Log: c.log}}}
		for _, at := range k.stretches(line) {
			got = append(got, at[1]-at[0])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: stretches of %v points, want %v", name, got, c.want)
		}
	}
}

// The share that diverged is that of the chains that are there.
func TestTheShareThatDivergedIsOfChainsThatRan(t *testing.T) {
	var cells []bench.Cell
	for split := range 4 {
		cells = append(cells, cell("leapfrog", split, 8, 0.01))
	}
	m := stored(jobs(cells...), func(c bench.Cell) (float64, bool) {
		return map[int]float64{0: 0.1, 1: math.NaN()}[c.Split], c.Split < 2
	})
	if at := pointsOf(t, arranged(t, m, bench.Study{ID: "own", Cells: jobs(cells...)}))[0]; at.lost != 0.5 {
		t.Errorf("%g diverged, want half of the two that ran", at.lost)
	}
}

// On a crowded line markers keep apart; points that no line joins, and those of short lines, all have one.
func TestMarkersOfCrowdedLinesKeepApart(t *testing.T) {
	for _, of := range []struct {
		points int
		width  float64
		all    bool
	}{{20, 1, true}, {60, 0, true}, {60, 1, false}} {
		p := &panel{X: axis{Low: 0, High: 1}, Y: axis{Low: 0, High: 1}, Series: []curve{{Style: style{Width: of.width, Marker: "circle"}}}}
		for i := range of.points {
			p.Series[0].X, p.Series[0].Y = append(p.Series[0].X, float64(i)/60), append(p.Series[0].Y, 0.5)
		}
		f := &Figure{width: 302, height: 235, panels: [][]*panel{{p}}}
		text, err := f.Inline()
		if err != nil {
			t.Fatal(err)
		}
		// Every circle is drawn as arcs of one path, all of which begin with a move; axes have few.
		if n := len(regexp.MustCompile(`a[0-9]`).FindAllString(string(text), -1)); (n >= of.points) != of.all {
			t.Errorf("%+v: %d arcs", of, n)
		}
	}
}
