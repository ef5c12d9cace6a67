package models_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hambench/chain"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// theirs returns the name of a model of testdata, in a process.
func theirs(t *testing.T, words ...string) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
	return "exec:python3 testdata/model.py " + strings.Join(words, " ")
}

func newSource(t *testing.T) *models.Source {
	s := models.NewSource(nil, &datasets.Resolver{Offline: true})
	t.Cleanup(s.Close)
	return s
}

// draws returns those of a short chain.
func draws(t *testing.T, s *models.Source, dataset, model string, spec chain.Spec) [][]float64 {
	t.Helper()
	target, err := s.Target(t.Context(), dataset, 0, model, models.Options{Precision: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := chain.Registries{}.New(target, spec)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	start := make([]float64, target.Dim()) // where the prior of each would start it does not matter here
	err = c.Run(t.Context(), c.Start(spec.Key, start), chain.Plan{BurnIn: 50, Samples: 40, Thin: 5}, func(_ int, z *integrators.State) error {
		f := make([]float64, target.Outputs())
		target.Predict(f, z.Theta)
		out = append(out, append(f, z.Theta...))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A chain on the built-in model and one on the same model in another process
// differ by round-off alone.
func TestAnExternalModelGivesTheDrawsOfOurs(t *testing.T) {
	source := newSource(t)
	for _, tt := range []struct {
		ours, dataset, external string
		spec                    chain.Spec
	}{
		{"logistic", "logistic", "logistic", chain.Spec{Integrator: "baoab"}},
		{"logistic", "logistic", "logistic", chain.Spec{Integrator: "leapfrog", Batches: 4}},
		{"logistic", "logistic", "logistic", chain.Spec{Integrator: "leapfrog", Batches: 3, Scheme: "repartition"}},
		{"logistic", "logistic", "logistic", chain.Spec{Integrator: "mt3", Batches: 2, Scheme: "replacement"}},
		{"logistic", "logistic", "logistic", chain.Spec{Integrator: "sgld", Batches: 4, Estimator: "cv"}},
		{"toy", "none", "toy", chain.Spec{Integrator: "quicsort", Batches: 2}},
	} {
		tt.spec.Params, tt.spec.Key = integrators.Params{Step: 0.05, Friction: 2}, 7
		data := tt.dataset
		if data == datasets.None {
			data = tt.ours
		}
		want := draws(t, source, data, tt.ours, tt.spec)
		got := draws(t, source, tt.dataset, theirs(t, tt.external), tt.spec)
		for i := range want {
			for j := range want[i] {
				if d := math.Abs(got[i][j] - want[i][j]); !(d < 1e-10) {
					t.Fatalf("%s, %+v: draw %d is off by %g", tt.external, tt.spec, i, d)
				}
			}
		}
	}
}

// What a model can do, and what its rows are, is known by its answers: what it
// lacks is refused by name, and scores are those of its predictions.
func TestAnExternalModelTakesPartByWhatItCanDo(t *testing.T) {
	source := newSource(t)
	for _, tt := range []struct{ model, dataset, integrator, scheme, want string }{
		{theirs(t, "logistic", "'no product'"), "logistic", "mt3", "cyclic", `integrator "mt3" needs Hessian-vector products, which model "their-logistic" does not have`},
		{theirs(t, "logistic"), "logistic", "exact", "cyclic", `integrator "exact" needs a linear-Gaussian force, which model "their-logistic"`},
		{theirs(t, "logistic"), "logistic", "leapfrog", "iid", `which model "their-logistic" does not take`},
		{theirs(t, "toy"), "none", "leapfrog", "cyclic", "K = 3 exceeds the 2 rows"},
	} {
		target, err := source.Target(t.Context(), tt.dataset, 0, tt.model, models.Options{})
		if err == nil {
			_, err = chain.Registries{}.New(target, chain.Spec{Integrator: tt.integrator, Scheme: tt.scheme, Batches: 3, Params: integrators.Params{Step: 0.1, Friction: 1}})
		}
		var bad *usage.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %s: %v: want a usage error with %q", tt.integrator, tt.scheme, err, tt.want)
		}
	}
	f := [][]float64{make([]float64, 50)}
	var scores []map[string]float64
	for _, model := range []string{"logistic", theirs(t, "logistic")} {
		target, err := source.Target(t.Context(), "logistic", 0, model, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f[0] = make([]float64, target.Outputs())
		target.Predict(f[0], []float64{0.3, 1.1})
		scores = append(scores, target.(models.Scorer).Scores(f))
	}
	if fmt.Sprint(scores[0]) != fmt.Sprint(scores[1]) {
		t.Errorf("scores %v, of ours %v", scores[1], scores[0])
	}
}

// A chain that leaves the finite numbers is a result, not a failure.
func TestAChainOnAnExternalModelMayDiverge(t *testing.T) {
	target, err := newSource(t).Target(t.Context(), "none", 0, theirs(t, "toy"), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := chain.Registries{}.New(target, chain.Spec{Integrator: "leapfrog", Params: integrators.Params{Step: 50, Friction: 1}})
	if err != nil {
		t.Fatal(err)
	}
	var diverged *chain.DivergedError
	if err := c.Advance(t.Context(), c.Start(1, nil), 2000); !errors.As(err, &diverged) {
		t.Errorf("%v: want a chain that diverged", err)
	}
}

// The key of a model's numbers has its source: the files of the command, and
// those of its greeting.
func TestTheFingerprintHasTheSource(t *testing.T) {
	theirs(t)
	text, err := os.ReadFile("testdata/model.py")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fingerprint := func(command string) string {
		source := newSource(t)
		source.Processes.Dir = folder
		f, err := source.Fingerprint(t.Context(), "none", 0, "exec:"+command, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	write("model.py", strings.Replace(string(text), `answer = {"version": 1,`, `answer = {"version": 1, "files": ["data.csv"],`, 1))
	write("data.csv", "4,-3.2")
	before := fingerprint("python3 model.py toy")
	if fingerprint("python3 model.py toy") != before {
		t.Error("the fingerprint differs without a change")
	}
	write("data.csv", "4,-3.2\n")
	data := fingerprint("python3 model.py toy")
	write("model.py", strings.Replace(string(text), `answer = {"version": 1,`, `answer = {"version": 1,  "files": ["data.csv"],`, 1))
	if source := fingerprint("python3 model.py toy"); data == before || source == data {
		t.Error("a file that changed left the fingerprint as it was")
	}
	// In quotes, and within a command in quotes, a file is the same.
	write("model.py", string(text))
	write("my model.py", string(text))
	for command, file := range map[string]string{
		`python3 'model.py' toy`: "model.py", `python3 "model.py" toy`: "model.py", `sh -c "python3 'model.py' toy"`: "model.py",
		`python3 'my model.py' toy`: "my model.py", `python3 my\ model.py toy`: "my model.py", `sh -c 'exec python3 "my model.py" toy'`: "my model.py",
	} {
		before := fingerprint(command)
		write(file, string(text)+"# changed\n")
		if fingerprint(command) == before {
			t.Errorf("%s: a file that changed left the fingerprint as it was", command)
		}
		write(file, string(text))
	}
	// Files that are named without quotes are not taken twice.
	if fingerprint("python3 model.py toy") != fingerprint(`python3 model.py 'toy'`) {
		t.Error("quotes around what is no file change the fingerprint")
	}
	// Reading a pipe or a device may never end; this one does.
	write("model.py", strings.Replace(string(text), `answer = {"version": 1,`, `answer = {"version": 1, "files": ["`+os.DevNull+`"],`, 1))
	source := newSource(t)
	source.Processes.Dir = folder
	_, err = source.Fingerprint(t.Context(), "none", 0, "exec:python3 model.py toy", models.Options{})
	if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), "files: read "+os.DevNull+": not a regular file") {
		t.Errorf("a device: %v: want a usage error that says so", err)
	}
}

// Chains at a time have processes of their own; another split is told to one
// that is idle.
func TestChainsAtATimeHaveProcessesOfTheirOwn(t *testing.T) {
	source := newSource(t)
	model := theirs(t, "logistic")
	var all sync.WaitGroup
	for split := range 3 {
		all.Go(func() {
			target, err := source.Target(t.Context(), "teacher-cls", split, model, models.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			ours, err := source.Target(t.Context(), "teacher-cls", split, "logistic", models.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			theta := make([]float64, target.Dim())
			for i := range 20 {
				theta[0] = float64(i) / 10
				if got, want := target.Potential(theta), ours.Potential(theta); math.Abs(got-want) > 1e-9*want {
					t.Errorf("split %d: potential %v: want %v", split, got, want)
				}
			}
		})
	}
	all.Wait()
}

// Wrong numbers, which no chain would betray, are refused at the start.
func TestAWrongGradientIsRefused(t *testing.T) {
	for bug, want := range map[string]string{"prior": "gradient is not that of the potential", "scale": "gradients of the two halves of the rows"} {
		_, err := newSource(t).Target(t.Context(), "logistic", 0, theirs(t, "logistic", bug), models.Options{})
		var bad *usage.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want a usage error with %q", bug, err, want)
		}
	}
}
