package sweep

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/chain"
	"hambench/internal/kernel"
	"hambench/internal/long"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// isaFolder names the folder that a child process of
// TestLongInstructionSetsAgree works in.
const isaFolder = "HAMBENCH_TEST_ISA_FOLDER"

// isaSeeds is how many chains each instruction set runs of a cell.
const isaSeeds = 8

// isaFalseAlarm is the level of one test. Six are made on a machine with three
// instruction sets (a distance and two scores for each of the two that are
// compared with the plain code), so chance alone fails less than one run in a
// thousand; seeds are pinned, so a run that passes passes again.
const isaFalseAlarm = 1e-4

// isaRounding is how far apart damped chains may be, relatively: gradients have
// float32's resolution.
const isaRounding = 1e-6

// isaSpec is a reference that takes seconds: two chains of a few draws,
// h = 0.005, burn-in of 10 units of time.
func isaSpec() oracle.Spec {
	s := oracle.NewSpec("teacher-cls", 0, "bnn")
	s.Chains, s.Samples, s.Thin, s.BurnIn, s.MaxError = 2, 25, 100, 2000, 1
	return s
}

// isaCells are chains of a network, whose rounding errors grow until the
// chains of two instruction sets are independent, and of a linear model,
// where friction damps them.
func isaCells() (network, linear []bench.Cell) {
	for seed := range uint64(isaSeeds) {
		c := isaCell("teacher-cls", "bnn", "leapfrog", 0.05, 32, 30)
		c.Oracle, c.Seed, c.Precision = isaSpec().ID(), 1+seed, "float32"
		network = append(network, c)
	}
	for _, name := range []string{"leapfrog", "symmetric", "mt3"} {
		linear = append(linear, isaCell("linear", "linear", name, 0.02, 8, 50))
	}
	return network, linear
}

func isaCell(dataset, model, integrator string, h float64, batch, samples int) bench.Cell {
	d, err := datasets.Builtin().Lookup(dataset)
	if err != nil {
		panic(err)
	}
	plan := chain.PaperPlan(h, samples)
	return bench.Cell{
		Observe: bench.Distance, Dataset: dataset, Model: model, Integrator: integrator, Inner: 1, Friction: 5, Scheme: "reshuffle",
		Batches: chain.Batches(d.TrainRows, batch), BatchSize: batch, Step: h, Samples: samples, Thin: plan.Thin, BurnIn: plan.BurnIn,
		Seed: 1, Precision: "float64", Oracle: bench.Analytic,
	}
}

// builtin is the source of the built-in models and data sets.
func builtin(t *testing.T) *models.Source {
	t.Helper()
	return models.NewSource(nil, &datasets.Resolver{Offline: true})
}

// Results of assembly's instruction sets differ by rounding alone, as their
// normals are the same: where rounding errors are damped, they agree to many
// digits. Where they grow, and with plain Go, whose normals are others, results
// agree statistically.
func TestLongInstructionSetsAgree(t *testing.T) {
	long.Test(t)
	folder := t.TempDir()
	spec := isaSpec()
	ref, err := oracle.Build(t.Context(), func() (models.Target, error) {
		return builtin(t).Target(t.Context(), spec.Dataset, spec.Split, spec.Model, models.Options{Precision: spec.Precision})
	}, spec, oracle.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	body, err := ref.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "reference"), body, 0o644); err != nil {
		t.Fatal(err)
	}
	stores := map[string]*store.Store{}
	for _, s := range kernel.Sets() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestInstructionSetChild$")
		cmd.Env = append(os.Environ(), "HAMBENCH_ISA="+s.Name(), isaFolder+"="+folder)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", s.Name(), err, out)
		}
		if stores[s.Name()], err = store.Read(filepath.Join(folder, s.Name()), store.Machine{}); err != nil {
			t.Fatal(err)
		}
	}
	network, linear := isaCells()
	plain, fastest := stores["generic"], stores[kernel.Sets()[0].Name()]
	for name, ours := range stores {
		if name == "generic" {
			continue
		}
		for _, c := range linear {
			a, b := finiteResult(t, ours, c), finiteResult(t, fastest, c)
			for _, score := range []string{"rmse", "mnll", "lag1"} {
				if x, y := a.Scores[score], b.Scores[score]; math.Abs(x-y) > isaRounding*math.Abs(y) || y == 0 {
					t.Errorf("%s, %s of %v: %v, and %v of the fastest set", name, score, c, x, y)
				}
			}
		}
		for _, score := range []string{"ks", "accuracy", "mnll"} {
			a, b := scoresOf(t, ours, network, score), scoresOf(t, plain, network, score)
			if p := welch(a, b); p < isaFalseAlarm {
				t.Errorf("%s, %s: %.4g, and %.4g of the plain code, p = %.1g", name, score, stat.Mean(a, nil), stat.Mean(b, nil), p)
			}
		}
	}
	// The control: chains of four times the step are told apart.
	far := slices.Clone(network)
	for i := range far {
		far[i].Step *= isaControl
	}
	a, b := scoresOf(t, plain, network, "ks"), scoresOf(t, plain, far, "ks")
	if p := welch(a, b); p > isaFalseAlarm {
		t.Errorf("the control, %g times the step, is not told apart: ks %.4g and %.4g, p = %.1g", float64(isaControl), stat.Mean(a, nil), stat.Mean(b, nil), p)
	}
}

// isaControl is the factor of the control's step.
const isaControl = 4

// TestInstructionSetChild runs the cells of TestLongInstructionSetsAgree on the
// instruction set that HAMBENCH_ISA names, in a process of its own.
func TestInstructionSetChild(t *testing.T) {
	folder := os.Getenv(isaFolder)
	if folder == "" {
		t.Skip("started by TestLongInstructionSetsAgree")
	}
	if err := kernel.Err(); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(filepath.Join(folder, "reference"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(folder, kernel.ISA()), Here())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// All judge by one reference, which another machine made.
	spec := isaSpec()
	if err := s.Put(store.Record{Kind: store.Reference, Key: spec.ID(), Made: store.Made{Machine: here}, Body: body}); err != nil {
		t.Fatal(err)
	}
	network, linear := isaCells()
	if kernel.ISA() == "generic" {
		for _, c := range slices.Clone(network) {
			c.Step *= isaControl
			network = append(network, c)
		}
	}
	study := bench.Study{ID: "isa", References: []bench.ReferenceJob{{Spec: spec}}}
	for _, c := range append(network, linear...) {
		study.Cells = append(study.Cells, bench.Job{Cell: c})
	}
	if _, err := (&Runner{Store: s, Source: builtin(t), Made: MadeHere()}).Run(t.Context(), planned(study)); err != nil {
		t.Fatal(err)
	}
}

func finiteResult(t *testing.T, s *store.Store, c bench.Cell) bench.Result {
	t.Helper()
	r, ok := bench.Results{Store: s}.Result(c.Stream())
	if !ok || r.Diverged {
		t.Fatalf("%s: no result of %v, or it diverged", s.Dir(), c)
	}
	return r
}

// scoresOf are the scores, or the distances, of the cells' results.
func scoresOf(t *testing.T, s *store.Store, cells []bench.Cell, name string) []float64 {
	t.Helper()
	var out []float64
	for _, c := range cells {
		r := finiteResult(t, s, c)
		v, ok := r.Scores[name]
		if name == "ks" {
			v, ok = r.KS, true
		}
		if !ok {
			t.Fatalf("no %s of %v: %v", name, c, fmt.Sprint(r.Scores))
		}
		out = append(out, v)
	}
	return out
}

// welch is the p-value of the two-sided t-test for equal means under unequal
// variances (Welch 1947).
func welch(a, b []float64) float64 {
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	va, vb = va/float64(len(a)), vb/float64(len(b))
	if va+vb == 0 {
		return map[bool]float64{true: 1, false: 0}[ma == mb]
	}
	freedom := (va + vb) * (va + vb) / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	return 2 * distuv.StudentsT{Sigma: 1, Nu: freedom}.Survival(math.Abs(ma-mb)/math.Sqrt(va+vb))
}
