package sweep

import (
	"math"
	"slices"
	"testing"
	"time"

	"hambench/bench"
	"hambench/chain"
	"hambench/datasets"
	"hambench/integrators"
	"hambench/models"
)

// The built-in studies on the real models, shortened.
func TestBuiltinStudiesRun(t *testing.T) {
	p, err := bench.LookupProfile("quick")
	if err != nil {
		t.Fatal(err)
	}
	source := builtin(t)
	studies, err := bench.Studies(p, source.Datasets(), source.Models())
	if err == nil {
		studies, err = bench.Select(studies, "bottleneck", "paths", "toy", "synthetic")
	}
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

// Times are those of some kernel at all: what else runs may change them
// ten-fold, but not ten thousand-fold. Chains whose step is far above the
// stable one are known for it.
func TestCalibrationGivesPlausibleTimes(t *testing.T) {
	cell := func(integrator string, batches int) bench.Job {
		return bench.Job{Cell: bench.Cell{
			Observe: bench.Distance, Dataset: "linear", Model: "linear", Integrator: integrator, Inner: 1, Friction: 5, Scheme: chain.DefaultScheme(batches),
			Batches: batches, Step: 0.5, Samples: 1, Thin: 1, Precision: "float64", Oracle: bench.Analytic,
		}}
	}
	jobs := []bench.Job{cell("leapfrog", 16), cell("leapfrog", 1), cell("mt3", 1)}
	plans := planned(bench.Study{Cells: jobs})
	r := &Runner{Source: builtin(t), Workers: 1}
	if err := r.MeasureKernels(t.Context(), plans, 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := r.MeasureStableSteps(t.Context(), plans); err != nil {
		t.Fatal(err)
	}
	m := r.Cost
	for _, j := range jobs {
		method, err := chain.Registry{}.Integrator(j.Cell.Integrator)
		if err != nil {
			t.Fatal(err)
		}
		took := m.Kernels[timedOf(j.Cell)]
		if ratio := took / defaultKernel(j.Cell, method.Claims); !(ratio > 1e-2 && ratio < 1e4) {
			t.Errorf("%v: a kernel takes %v s, %v times the default", j.Cell, took, ratio)
		}
		if !m.unstable(j.Cell, method) {
			t.Errorf("%v: its step is above the stable one, %v", j.Cell, m.Stable[stiffnessOf(j.Cell)])
		}
	}
}

// What an estimate asks for must have been timed, whichever studies are
// chosen.
func TestEveryEstimateIsOfATimedKernel(t *testing.T) {
	for _, name := range []string{"quick", "paper"} {
		for _, p := range unresolved(t, name) {
			timed := kernelsOf([]bench.Plan{p})
			check := func(c bench.Cell) {
				c.Inner = max(c.Inner, 1)
				at := timedOf(c)
				if c.Inner > 1 {
					at.Inner = manyInner
				}
				if _, ok := timed[at]; !ok {
					t.Fatalf("%s, %s: no kernel is timed for %v", name, p.ID, c)
				}
			}
			for _, j := range p.Jobs() {
				if j.Cell.Kernels() > 0 && slices.Contains([]string{"bnn", "linear"}, j.Cell.Model) {
					check(j.Cell)
				}
			}
			for _, r := range p.References {
				check(referenceCell(r.Spec))
			}
		}
	}
}

// A refreshment's share of a kernel falls with N_l.
func TestKernelsShareTheRefreshment(t *testing.T) {
	c := bench.Cell{Dataset: "boston", Model: "bnn", Precision: "float32", Integrator: "lietrotter", Batches: 57, Inner: 1}
	at := timedOf(c)
	m := CostModel{Kernels: map[Timed]float64{at: 10}}
	at.Inner = manyInner
	m.Kernels[at] = 2 + 8./manyInner
	for inner, want := range map[int]float64{0: 10, 1: 10, 2: 6, 8: 3, manyInner: 2.8} {
		c.Inner = inner
		if got := m.kernel(c, integrators.Claims{}); math.Abs(got-want) > 1e-12 {
			t.Errorf("N_l = %d: %v, want %v", inner, got, want)
		}
	}
	c.Integrator, c.Inner = "leapfrog", 1
	if got, want := m.kernel(c, integrators.Claims{Gradients: 1}), (CostModel{}).kernel(c, integrators.Claims{Gradients: 1}); got != want || !(got > 0) {
		t.Errorf("a kernel that was not timed takes %v, want the default model's %v", got, want)
	}
}

// Every data set of the built-in studies is taken by the model that they put
// on it.
func TestStudiesFitTheRegistries(t *testing.T) {
	for _, p := range unresolved(t, "paper") {
		for _, j := range p.Jobs() {
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
