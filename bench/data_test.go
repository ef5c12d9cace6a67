package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hambench/datasets"
	"hambench/integrators"
)

// testData is the source with the data that HAMBENCH_DATA names, and no
// network.
func testData(t *testing.T) *Data {
	t.Helper()
	return NewData(&datasets.Resolver{Dir: dataFolder(), Offline: true})
}

// dataFolder is the folder that HAMBENCH_DATA names. A relative one is
// relative to the repository's root, where `go test ./...` is started, though
// tests run in their package's folder.
func dataFolder() string {
	dir := os.Getenv(datasets.EnvData)
	if dir == "" || filepath.IsAbs(dir) || isFolder(dir) {
		return dir
	}
	return filepath.Join("..", dir)
}

func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// The sweeps choose K and estimate costs from the table before any data are
// loaded: it must say what the data say.
func TestProblemsMatchTheirData(t *testing.T) {
	d := testData(t)
	for _, p := range problems {
		t.Run(p.Dataset, func(t *testing.T) {
			if missing, err := d.Unavailable(t.Context(), p.Dataset); err != nil {
				t.Fatal(err)
			} else if len(missing) > 0 {
				t.Skip("no data: set HAMBENCH_DATA to the folder that holds them")
			}
			s, err := d.Split(t.Context(), p.Dataset, 0)
			if err != nil {
				t.Fatal(err)
			}
			if s.TrainRows() != p.Rows || s.Task.String() != string(p.Task) || s.Classes != p.Classes {
				t.Errorf("data: %d rows, %v, %d classes; table: %+v", s.TrainRows(), s.Task, s.Classes, p)
			}
			if p.network() && s.Features != p.Features {
				t.Errorf("%d features, table %d", s.Features, p.Features)
			}
			target, plane, err := d.Target(t.Context(), p.Dataset, 0, p.Model, "float32")
			if err != nil {
				t.Fatal(err)
			}
			if target.Dim() != p.parameters() || target.Rows() != p.Rows {
				t.Errorf("target: %d parameters, %d rows; table: %d, %d", target.Dim(), target.Rows(), p.parameters(), p.Rows)
			}
			if (plane != nil) != (p.Dataset == "linear") {
				t.Errorf("plane %v of %s", plane != nil, p.Dataset)
			}
		})
	}
}

func TestUnavailableDataAreNamedWithTheirSubstitutes(t *testing.T) {
	d := NewData(&datasets.Resolver{Offline: true})
	missing, err := d.Unavailable(t.Context(), "boston", "linear", "vehicle")
	if err != nil || !slices.Equal(missing, []string{"boston", "vehicle"}) {
		t.Errorf("missing %v, %v; want boston and vehicle", missing, err)
	}
	note := SkippedNote(missing)
	for _, want := range []string{"boston, vehicle", "teacher-reg, teacher-cls", "hambench data fetch"} {
		if !strings.Contains(note, want) {
			t.Errorf("note %q lacks %q", note, want)
		}
	}
	if SkippedNote(nil) != "" {
		t.Error("a note though nothing is missing")
	}
}

// The built-in experiments on the real models, shortened.
func TestBuiltinExperimentsRun(t *testing.T) {
	p := profile(t, "quick")
	p.ToySamples, p.BottleneckSamples = 4000, 100
	p.Bottleneck, p.BottleneckFull, p.BottleneckEuler = []float64{0.02}, []float64{0.05}, []float64{0.01}
	exps, err := Select(Experiments(p, UCI()...), "bottleneck", "paths", "toy", "synthetic")
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Store: openStore(t, t.TempDir()), Source: testData(t)}
	sum, err := r.Run(t.Context(), exps)
	if err != nil {
		t.Fatalf("%v: %v", err, sum.Failures)
	}
	for _, e := range exps {
		results, _ := e.Results(r.Store.Get)
		for _, r := range results {
			c := r.Cell
			switch {
			case c.Observe == Histogram && c.Scheme == "replacement":
				// Batches of one row, drawn anew each step, widen the
				// stationary law: at h = 0.4 by far more than the 0.02 that
				// 4000 correlated draws are off by.
				if !(r.KS > 0.05) {
					t.Errorf("toy with replacement: distance %v, want > 0.05", r.KS)
				}
			case c.Observe == Histogram && c.Scheme == "full":
				if !(r.KS < 0.05) {
					t.Errorf("toy, full batch, exact flow: distance %v, want < 0.05", r.KS)
				}
			case c.Observe == Marginals:
				if len(r.Series["q50"]) != len(r.Series["x"]) || len(r.Series["train_x"]) != 128 || r.KS > 0.15 {
					t.Errorf("synthetic: %d medians at %d inputs, %d training points, distance %v", len(r.Series["q50"]), len(r.Series["x"]), len(r.Series["train_x"]), r.KS)
				}
			}
		}
	}
}

func TestCalibrationGivesPlausibleTimes(t *testing.T) {
	exps, err := Select(Experiments(profile(t, "quick"), UCI()...), "methods")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Calibrate(t.Context(), testData(t), exps, 1, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"linear", "teacher-reg", "teacher-cls"} {
		p, _ := LookupProblem(name)
		at := func(integrator string, size int) float64 {
			precision := "float32"
			if name == "linear" {
				precision = "float64"
			}
			return m.Kernels[Timed{name, precision, integrator, Batches(p.Rows, size), 1}]
		}
		// What else runs may double a time, but not make it twenty-fold.
		small, full := at("leapfrog", 8), at("leapfrog", Full)
		if !(small > 0 && full > 0 && at("mt3", Full) > small) {
			t.Errorf("%s: leapfrog takes %v and %v s, mt3 %v s; want times that grow with the rows and the gradients", name, small, full, at("mt3", Full))
		}
		if name != "linear" && !(at("sghmc-adaptive", Full) > 0) {
			t.Errorf("%s: the sampler of references was not timed", name)
		}
		// The constants of the default model are of a machine with
		// AVX-512; no machine is a thousand times slower or a hundred faster.
		if ratio := full / defaultKernel(p, "float32", float64(p.Rows), 1, integrators.Claims{Gradients: 1}); ratio < 0.01 || ratio > 1000 {
			t.Errorf("%s: a full gradient takes %v s, %v times the default", name, full, ratio)
		}
	}
}

// What an estimate asks for must have been timed, whichever experiments are
// chosen.
func TestEveryEstimateIsOfATimedKernel(t *testing.T) {
	for _, name := range []string{"quick", "paper"} {
		for _, e := range Experiments(profile(t, name)) {
			timed := kernelsOf([]Experiment{e})
			check := func(c Cell) {
				c.Inner = max(c.Inner, 1)
				at := timedOf(c)
				if c.Inner > 1 {
					at.Inner = manyInner
				}
				if _, ok := timed[at]; !ok {
					t.Fatalf("%s, %s: no kernel is timed for %v", name, e.ID, c)
				}
			}
			for _, c := range e.listed() {
				if c.kernels() > 0 && (c.Model == "bnn" || c.Model == "linear") {
					check(c)
				}
			}
			for _, s := range e.Oracles {
				check(oracleCell(s))
			}
		}
	}
}

// A refreshment's share of a kernel falls with N_l.
func TestKernelsShareTheRefreshment(t *testing.T) {
	at := Timed{"boston", "float32", "lietrotter", 57, 1}
	m := CostModel{Kernels: map[Timed]float64{at: 10}}
	at.Inner = manyInner
	m.Kernels[at] = 2 + 8./manyInner
	p, _ := LookupProblem("boston")
	for inner, want := range map[int]float64{0: 10, 1: 10, 2: 6, 8: 3, manyInner: 2.8} {
		c := Cell{Dataset: "boston", Precision: "float32", Integrator: "lietrotter", Batches: 57, Inner: inner}
		if got := m.kernel(p, c, integrators.Claims{}); math.Abs(got-want) > 1e-12 {
			t.Errorf("N_l = %d: %v, want %v", inner, got, want)
		}
	}
	other := Cell{Dataset: "boston", Precision: "float32", Integrator: "leapfrog", Batches: 57, Inner: 1}
	if got, want := m.kernel(p, other, integrators.Claims{Gradients: 1}), (CostModel{}).kernel(p, other, integrators.Claims{Gradients: 1}); got != want || !(got > 0) {
		t.Errorf("a kernel that was not timed takes %v, want the default model's %v", got, want)
	}
}
