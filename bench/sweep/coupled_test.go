package sweep

import (
	"maps"
	"testing"

	"hambench/bench"
	"hambench/models"
	"hambench/models/datasets"
)

// A coupled cell needs no reference: it records what the means of the two chains
// differ by, the same for the same cell, at the cost of three chains; one that
// diverges has no scores.
func TestCoupledCells(t *testing.T) {
	source := models.NewSource(nil, &datasets.Resolver{Offline: true})
	compute := func(c bench.Cell) bench.Result {
		t.Helper()
		var in Inputs
		for _, to := range []*models.Target{&in.Target, &in.Fine} {
			var err error
			if *to, err = source.Target(t.Context(), c.Dataset, 0, c.Model, models.Options{Precision: c.Precision}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Compute(t.Context(), c, in)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	c := bench.Cell{
		Observe: bench.Coupled, Dataset: "teacher-cls", Model: "logistic", Integrator: "obabo", Inner: 1, Friction: 2, Scheme: "full", Batches: 1,
		Step: 0.3, Samples: 400, Thin: 10, BurnIn: 50, Seed: 1, Precision: "float64",
	}
	r := compute(c)
	if len(r.Scores) != 2 || !(r.Scores["coupled"] > r.Scores["coupled-chance"]) || r.Steps != c.Kernels() {
		t.Errorf("scores %v, %d steps: want a difference beyond chance, and %d", r.Scores, r.Steps, c.Kernels())
	}
	if again := compute(c); !maps.Equal(again.Scores, r.Scores) {
		t.Errorf("scores %v, and again %v", r.Scores, again.Scores)
	}
	c.Step = 50
	if r := compute(c); !r.Diverged || len(r.Scores) > 0 {
		t.Errorf("at a step of 50: diverged %v, scores %v", r.Diverged, r.Scores)
	}
}
