package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/bench/store"
	"hambench/certify"
)

// What a job may ask for beside errors is part of its key; a job that asks for
// none of it has the key, and the bytes, that it had before there was any.
func TestAnswersArePartOfTheKeyOfAnExactJob(t *testing.T) {
	f, err := load(t, `
[[exact]]
problem = "toy"
integrator = "leapfrog"
scheme = "full"
[[exact]]
problem = "toy"
integrator = "leapfrog"
scheme = "full"
budget = [1000, 1e5]
[[exact]]
problem = "toy"
integrator = "leapfrog"
scheme = "full"
stability = true
[[exact]]
problem = "toy"
integrator = "leapfrog"
scheme = "full"
distance = true
stability = false
`)
	if err != nil {
		t.Fatal(err)
	}
	var k Keys
	seen := make(map[string]bool)
	for i, j := range f.exact {
		key, err := k.Exact(j.Exact)
		if err != nil || seen[key] {
			t.Errorf("job %d: key %s, %v: want one of its own", i, key, err)
		}
		seen[key] = true
		o, err := j.Exact.Options(k.Chains)
		if want := []bool{i == 1, i == 2, i == 3}; err != nil || !slices.Equal(want, []bool{slices.Equal(o.Budgets, []float64{1000, 1e5}), o.Stability, o.Distances}) {
			t.Errorf("job %d: options %+v, %v", i, o, err)
		}
	}
	text, err := json.Marshal(f.exact[0].Exact)
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"budget", "stability", "distance"} {
		if strings.Contains(string(text), absent) {
			t.Errorf("%s is in %s", absent, text)
		}
	}
}

// JSON says null for infinity and for what is not known. Which one it was follows
// from what stands beside it.
func TestInfinitiesComeBackFromTheStore(t *testing.T) {
	inf, nan := certify.Number(math.Inf(1)), certify.Number(math.NaN())
	limit := certify.Number(0.5)
	rows := []certify.Row{
		{Steps: []float64{2, 1, 0.5}, Observables: []certify.Observable{{Name: "theta.cov", Claim: inf, Uncertainty: inf, Order: nan}}, Answers: certify.Answers{
			StableStep: &inf, Kolmogorov: []certify.Number{nan, 0.1, 0.05}, Wasserstein: []certify.Number{nan, 0.1, 0.05},
			Averages: []certify.Average{
				{Name: "theta", Bias: []certify.Number{nan, 0.1, 0}, Variance: []certify.Number{nan, 2, 4}, Autocorrelation: []certify.Number{nan, 2, 4}},
				{Name: "theta^2", Bias: []certify.Number{nan, 0.1, 0}, Variance: []certify.Number{nan, inf, 4}, Autocorrelation: []certify.Number{nan, nan, 4}},
			},
			Budgets: []certify.AtBudget{
				{Gradients: 100, MSE: []certify.Number{nan, inf, 0.04}, Step: 0.5, Best: 0.04, Bias: 0, Autocorrelation: 4},
				{Gradients: 200, MSE: []certify.Number{nan, inf, 0.02}, Step: 0.6, Best: inf, Bias: 0, Autocorrelation: nan},
				{Gradients: 300, MSE: []certify.Number{nan, inf, 0.02}, Step: nan, Best: nan, Bias: 0, Autocorrelation: 0},
			},
		}},
		{Answers: certify.Answers{StableStep: &limit}},
		{},
	}
	body, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.TempDir(), store.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(store.Record{Kind: store.Exact, Key: "a", Body: body}); err != nil {
		t.Fatal(err)
	}
	back, ok := Results{Store: s}.Rows("a")
	if !ok || len(back) != 3 || back[0].StableStep == nil || back[1].StableStep == nil || back[2].StableStep != nil {
		t.Fatalf("%v, %+v: want largest stable steps of the first two rows", ok, back)
	}
	numbers := func(r certify.Row) (out []certify.Number) {
		for _, o := range r.Observables {
			out = append(out, o.Claim, o.Uncertainty, o.Order)
		}
		for _, a := range r.Averages {
			out = slices.Concat(out, a.Bias, a.Variance, a.Autocorrelation)
		}
		for _, b := range r.Budgets {
			out = slices.Concat(out, b.MSE, []certify.Number{b.Step, b.Best, b.Bias, b.Autocorrelation})
		}
		return append(slices.Concat(out, r.Kolmogorov, r.Wasserstein), *r.StableStep)
	}
	for i := range 2 {
		got, want := numbers(back[i]), numbers(rows[i])
		for k := range want {
			if got[k] != want[k] && !(math.IsNaN(float64(got[k])) && math.IsNaN(float64(want[k]))) {
				t.Errorf("row %d, number %d: %v came back as %v", i, k, want[k], got[k])
			}
		}
	}
}

// A figure shows what its jobs ask for, and is refused otherwise.
func TestAxesOfExactErrors(t *testing.T) {
	const job = "[[exact]]\nproblem = \"toy\"\nintegrator = \"leapfrog\"\nscheme = \"full\"\n"
	for _, c := range []struct{ exact, figure, want string }{
		{"", "", ""},
		{"", `y = "error"`, ""},
		{"distance = true", `y = "kolmogorov"`, ""},
		{"distance = true", `y = "wasserstein"`, ""},
		{"budget = 1000", `y = "autocorrelation"`, ""},
		{"budget = 1000", `y = "mse"`, ""},
		{"budget = [1000, 2000]", "x = \"budget\"\ny = \"mse\"\nlines = \"integrator\"", ""},
		{"", `y = "kolmogorov"`, `figure: y = "kolmogorov": want distance in [[exact]]`},
		{"distance = true", `y = "mse"`, `figure: y = "mse": want budget in [[exact]]`},
		{"budget = 1000", `x = "budget"`, `figure: x = "budget": want y = "mse", which is what depends on it`},
		{"", `x = "friction"`, `figure: x = "friction" of exact errors: want step or budget`},
		{"", `y = "rmse"`, `figure: y = "rmse" of exact errors: want one of autocorrelation, covariance-bias, error, kolmogorov, mse, wasserstein`},
		{"", `y = "kolmogorow"`, `figure.y: unknown value "kolmogorow"`},
		{"", `lines = "friction"`, `figure: of exact errors: want lines = scheme, integrator or estimator, and no panels`},
	} {
		for _, kind := range []string{"", "kind = \"orders\"\n"} {
			_, err := load(t, job+c.exact+"\n[figure]\n"+kind+c.figure+"\n")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s with %s%s: %v, want %q", c.exact, kind, c.figure, err, c.want)
			}
		}
	}
}

// Blocks of exact jobs may overlap: what stands twice is listed once.
func TestExactJobsThatStandTwice(t *testing.T) {
	const job = "[[exact]]\nproblem = [\"toy\", \"all\"]\nintegrator = \"leapfrog\"\nscheme = \"full\"\n"
	f, err := load(t, job+job)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Study(Profile{})
	if want := len(certify.Builtin()); err != nil || len(s.Exact) != want {
		t.Errorf("%d jobs, want %d; error %v", len(s.Exact), want, err)
	}
}

// Figures tell problems apart by their names.
func TestProblemsOfOneNameAreRefused(t *testing.T) {
	const job = "[[exact]]\nproblem = \"gaussian\"\nintegrator = \"leapfrog\"\nscheme = \"full\"\n"
	_, err := load(t, job+"inverse-mass = [1, 2]\n"+job+"inverse-mass = [2, 1]\n")
	if err == nil || !strings.Contains(err.Error(), "mine.toml:6: exact.1: gaussian, M ≠ I: another problem, or other masses, above have this name") {
		t.Errorf("error %v", err)
	}
	if _, err := load(t, job+job+"step = 0.1\n"); err != nil {
		t.Error(err)
	}
}

// Exact jobs may observe the law at every step, as the chains of a study are, and not at the ends
// of epochs: another job, with a key of its own.
func TestExactJobsAtEveryStep(t *testing.T) {
	f, err := Load("regimes", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Study(Profile{Name: "quick"})
	if err != nil {
		t.Fatal(err)
	}
	e := s.Exact[0].Exact
	o, err := e.Options(Parts{}.Filled().Chains)
	if err != nil || !o.EveryStep {
		t.Errorf("%+v, %v: want every step", o, err)
	}
	period := e
	if period.EveryStep = false; digest(period) == digest(e) {
		t.Error("the law at the ends of epochs has the same key")
	}
}

// A file names others by where they are from it, or from the root.
func TestFilesAreFoundBesideTheOneThatNamesThem(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	problems := write("other/p.json", fmt.Sprintf("{\"one\": %s}", textOf(certify.Builtin()[0])))
	base := write("other/base.toml", "[fix]\ndata = \"linear\"\nintegrator = \"leapfrog\"\nstep = 0.01\nstart = \"pos.csv\"\n[[exact]]\nproblem = \"p.json\"\nintegrator = \"leapfrog\"\nscheme = \"full\"\n")
	position := write("other/pos.csv", strings.Repeat("0.1\n", 256))
	for _, text := range []string{
		"base = \"../other/base.toml\"\n",
		fmt.Sprintf("base = %q\n", base),
		fmt.Sprintf("base = \"../other/base.toml\"\n[fix]\nstart = %q\n[[exact]]\nproblem = %q\nintegrator = \"leapfrog\"\nscheme = \"full\"\n", position, problems),
		"[fix]\ndata = \"linear\"\nintegrator = \"leapfrog\"\nstep = 0.01\nstart = \"../other/pos.csv\"\n[[exact]]\nproblem = \"../other/p.json\"\nintegrator = \"leapfrog\"\nscheme = \"full\"\n",
	} {
		f, err := Load(write("here/mine.toml", text), Parts{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		s, err := f.Study(Profile{})
		if err != nil || len(s.Cells) != 1 || s.Cells[0].Cell.Start() != position || len(s.Exact) != 1 || s.Exact[0].Exact.Name != "one" {
			t.Errorf("%s: %+v, %v: want a cell that starts at %s, and a problem", text, s, err, position)
		}
		if got := f.Reads(s); !slices.Contains(got, position) || !slices.Contains(got, problems) {
			t.Errorf("%s: reads %q", text, got)
		}
	}
	write("here/mine.toml", "base = \"../other/base.toml\"\n")
	t.Chdir(dir) // where names are relative
	f, err := Load("here/mine.toml", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := f.Study(Profile{}); err != nil || s.Cells[0].Cell.Start() != "other/pos.csv" {
		t.Errorf("%+v, %v: want a start at other/pos.csv", s.Cells, err)
	}
}
