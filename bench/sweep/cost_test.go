package sweep

import (
	"slices"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/internal/long"
	"hambench/models"
	"hambench/models/datasets"
)

// The built-in studies on the real models, shortened.
func TestLongBuiltinStudiesRun(t *testing.T) {
	long.Test(t)
	p, err := bench.LookupProfile("quick")
	if err != nil {
		t.Fatal(err)
	}
	source := builtin(t)
	p.Only = []string{"bottleneck", "paths", "toy", "synthetic"}
	studies, err := bench.Studies(p, source.Datasets(), source.Models())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range studies {
		studies[i].Cells = slices.DeleteFunc(s.Cells, func(j bench.Job) bool {
			c := j.Cell
			return s.ID == "bottleneck" && !(c.Batches > 1 && c.Step == 0.02 || c.Batches == 1 && c.Step == 0.05)
		})
		for k := range studies[i].Cells {
			if c := &studies[i].Cells[k].Cell; c.Observe == bench.Histogram {
				c.Samples = 4000
			} else if s.ID == "bottleneck" {
				c.Samples = 100
			}
		}
	}
	plans, err := (&bench.Keys{Source: source}).Resolve(t.Context(), "short", studies)
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Store: openStore(t, t.TempDir()), Source: source}
	if sum, err := r.Run(t.Context(), plans); err != nil {
		t.Fatalf("%v: %v", err, sum.Failures)
	}
	for _, r := range results(r.Store) {
		switch c := r.Cell; {
		case c.Observe == bench.Histogram && c.Scheme == "replacement":
			// Batches of one row, drawn anew each step, widen the stationary
			// law: at h = 0.4 by far more than the 0.02 that 4000 correlated
			// draws are off by.
			if !(r.KS > 0.05) {
				t.Errorf("toy with replacement: distance %v, want > 0.05", r.KS)
			}
		case c.Observe == bench.Histogram && c.Scheme == "full":
			if !(r.KS < 0.05) {
				t.Errorf("toy, full batch, exact flow: distance %v, want < 0.05", r.KS)
			}
		case c.Observe == bench.Marginals:
			if len(r.Series["q50"]) != len(r.Series["x"]) || len(r.Series["train_x"]) != 128 || r.KS > 0.15 {
				t.Errorf("synthetic: %d medians at %d inputs, %d training points, distance %v", len(r.Series["q50"]), len(r.Series["x"]), len(r.Series["train_x"]), r.KS)
			}
		}
	}
}

// A job costs what its problem's size says, also on data and models of the caller's.
func TestCostsFollowTheCallersProblems(t *testing.T) {
	data := datasets.Registry{{Name: "small", Shape: datasets.Shape{TrainRows: 20}}, {Name: "large", Shape: datasets.Shape{TrainRows: 2000}}}
	all := models.Registry{{Name: "own", Dim: func(s datasets.Shape, _ models.Options) int { return s.TrainRows / 10 }}}
	cost := func(dataset, precision string, r Runner) float64 {
		return r.cost(Job{Kind: store.Result, Cell: bench.Cell{
			Observe: bench.Distance, Dataset: dataset, Model: "own", Integrator: "leapfrog", Inner: 1, Friction: 5, Batches: 1, Step: 0.01,
			Precision: precision, Samples: 10, Thin: 10,
		}})
	}
	own := Runner{Parts: bench.Parts{Data: data, Models: all}}
	if small, large := cost("small", "float32", own), cost("large", "float32", own); !(small > 0 && large > 100*small) {
		t.Errorf("costs %v and %v of 20 × 2 and 2000 × 200 weights", small, large)
	}
	if single, double := cost("large", "float32", own), cost("large", "float64", own); !(double > single) {
		t.Errorf("float32 costs %v, float64 %v", single, double)
	}
	if a, b := cost("small", "float32", Runner{}), cost("large", "float32", Runner{}); a != b {
		t.Errorf("data sets that nobody knows cost %v and %v, want the same", a, b)
	}
}

// A model with data of its own has no rows whose arithmetic could be counted: a million steps of
// psgld on a linear network take one to two seconds.
func TestModelsWithDataOfTheirOwnCostTheirCalls(t *testing.T) {
	c := (&Runner{}).cost(Job{Kind: store.Result, Cell: bench.Cell{
		Observe: bench.Learning, Dataset: datasets.None, Model: "linear-net:3,3,3/1", Integrator: "psgld", Inner: 1,
		Batches: 1, Step: 0.001, Samples: 1000, Thin: 1000,
	}})
	if !(c > 0.5 && c < 20) { // the slowest instruction set counts sixteen times
		t.Errorf("a million steps cost %.3g s", c)
	}
}

// Every data set of the built-in studies is taken by the model that they put
// on it.
func TestStudiesFitTheRegistries(t *testing.T) {
	for _, p := range unresolved(t, "paper") {
		for _, j := range p.Cells {
			d, err := datasets.Builtin().Lookup(j.Cell.Dataset)
			if err != nil {
				t.Fatal(err)
			}
			m, err := models.Builtin().Lookup(j.Cell.Model)
			if err == nil {
				err = m.Check(d.Name, d.Shape)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
