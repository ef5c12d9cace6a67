package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hambench/chain"
	"hambench/internal/distinct"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

// uci are the data sets from files.
var uci = []string{"boston", "concrete", "energy", "yacht", "ionosphere", "vehicle"}

// everyCell calls f with every cell of a study, choices included.
func everyCell(s Study, f func(Cell)) {
	for _, j := range s.Cells {
		f(j.Cell)
	}
}

// expanded holds what studies returned, by profile and unavailable sets: a profile takes a
// second to expand, and most tests read the same.
var expanded sync.Map

// studies are those of a profile on the built-in registries. No test may change them.
func studies(t *testing.T, p Profile, unavailable ...string) []Study {
	t.Helper()
	key := fmt.Sprintf("%+v %q", p, unavailable)
	if all, ok := expanded.Load(key); ok {
		return slices.Clone(all.([]Study))
	}
	all, err := Studies(p, datasets.Builtin(), models.Builtin(), unavailable...)
	if err != nil {
		t.Fatal(err)
	}
	expanded.Store(key, all)
	return slices.Clone(all)
}

func study(t *testing.T, p Profile, id string) Study {
	t.Helper()
	p.Only = []string{id}
	return studies(t, p)[0]
}

// numbered is a small cell that is numbered by its seed.
func numbered(seed int) Cell {
	return Cell{
		Observe: Distance, Dataset: "linear", Model: "linear", Integrator: "leapfrog", Inner: 1, Friction: 5, Scheme: "full",
		Batches: 1, Step: 0.1, Samples: 2, Thin: 25, BurnIn: 100, Seed: uint64(seed), Estimator: "plain", Precision: "float64", Oracle: Analytic,
	}
}

// result is a small result, under a key that holds no fingerprint.
func result(seed int) Result {
	c := numbered(seed)
	return Result{Cell: c, Key: c.Stream(), KS: 0.25, KSSelf: 0.5, Steps: 150, Seconds: 1, Scores: map[string]float64{"rmse": float64(seed)}}
}

func profile(t *testing.T, name string) Profile {
	t.Helper()
	p, err := LookupProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Random streams come from these bytes: another value would change every
// chain's numbers.
func TestStreamsAreStable(t *testing.T) {
	for _, c := range []struct {
		cell   Cell
		stream string
	}{
		{numbered(1), "ceb12e228c7789d047c683887fe6f85908bf2fd8bd2199e270840cd3c9a7f9ae"},
		{Cell{Observe: Density, Dataset: "logistic", Model: "logistic", Samples: 101, Precision: "float64"}, "f71a671daae9fd84c8ddeebaba441f145986bbb1ff759ea1a12a1b33f3eac6bb"},
	} {
		if got := c.cell.Stream(); got != c.stream {
			t.Errorf("stream of %v: %s, want %s", c.cell, got, c.stream)
		}
	}
}

// Fields that were added after the first cells leave the streams of cells that
// do not use them alone; full refreshment is said as such.
func TestJSONOfACell(t *testing.T) {
	c := numbered(1)
	c.Friction = Real(math.Inf(1))
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"values", "estimator"} {
		if strings.Contains(string(text), absent) {
			t.Errorf("%s is in %s", absent, text)
		}
	}
	if !strings.Contains(string(text), `"friction":"inf"`) {
		t.Errorf("%s does not say that the friction is infinite", text)
	}
	var again Cell
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%s came back as %+v, %v", text, again, err)
	}
}

func TestEveryFieldIsPartOfTheStream(t *testing.T) {
	base := numbered(1)
	seen := map[string]string{base.Stream(): "nothing"}
	for name, change := range map[string]func(*Cell){
		"observe": func(c *Cell) { c.Observe = Path }, "dataset": func(c *Cell) { c.Dataset = "toy" },
		"split": func(c *Cell) { c.Split++ }, "model": func(c *Cell) { c.Model = "toy" },
		"integrator": func(c *Cell) { c.Integrator = "mt3" }, "inner": func(c *Cell) { c.Inner++ },
		"friction": func(c *Cell) { c.Friction = Real(math.Nextafter(float64(c.Friction), 9)) }, "scheme": func(c *Cell) { c.Scheme = "reshuffle" },
		"batches": func(c *Cell) { c.Batches++ }, "batch size": func(c *Cell) { c.BatchSize++ }, "values": func(c *Cell) { c.Values = map[string]float64{"a": 1} }, "estimator": func(c *Cell) { c.Estimator = "x" }, "step": func(c *Cell) { c.Step = math.Nextafter(c.Step, 9) },
		"samples": func(c *Cell) { c.Samples++ }, "thin": func(c *Cell) { c.Thin++ }, "burn-in": func(c *Cell) { c.BurnIn++ },
		"seed": func(c *Cell) { c.Seed++ }, "precision": func(c *Cell) { c.Precision = "float32" }, "oracle": func(c *Cell) { c.Oracle = "x" },
	} {
		c := base
		change(&c)
		if with, ok := seen[c.Stream()]; ok {
			t.Errorf("changing the %s gives the stream of changing %s", name, with)
		}
		seen[c.Stream()] = name
	}
}

func TestEveryProfileHasEveryStudy(t *testing.T) {
	ids := []string{"bottleneck", "paths", "toy", "methods", "integration-length", "friction", "starts", "synthetic", "regression", "classification", "autocorrelation", "precision", "orders", "efficiency", "claims"}
	for _, p := range Profiles() {
		var got []string
		for _, e := range studies(t, p) {
			got = append(got, e.ID)
			if len(e.Cells)+len(e.Exact) == 0 || e.Title == "" {
				t.Errorf("%s: %s has %d cells, %d exact jobs and title %q", p.Name, e.ID, len(e.Cells), len(e.Exact), e.Title)
			}
		}
		if !slices.Equal(got, ids) {
			t.Errorf("%s: studies %v, want %v", p.Name, got, ids)
		}
	}
}

func TestCellsAreValidAndUnique(t *testing.T) {
	for _, p := range Profiles() {
		for _, e := range studies(t, p) {
			seen := map[string]bool{}
			oracles := map[string]bool{"": true, Analytic: true}
			for _, r := range e.References {
				oracles[r.Spec.ID()] = true
			}
			everyCell(e, func(c Cell) {
				if err := c.Check(); err != nil {
					t.Errorf("%s/%s: %v", p.Name, e.ID, err)
				}
				if seen[c.Stream()] {
					t.Errorf("%s/%s: cell twice: %v", p.Name, e.ID, c)
				}
				seen[c.Stream()] = true
				if !oracles[c.Oracle] {
					t.Errorf("%s/%s: cell names an oracle that the study does not list: %v", p.Name, e.ID, c)
				}
			})
		}
	}
}

// All chains of a data set cover the same simulation time, whatever their N_l, up to half
// a step per sample.
func TestSimulationTimeIsTheSame(t *testing.T) {
	for _, p := range Profiles() {
		for _, e := range studies(t, p) {
			everyCell(e, func(c Cell) {
				if c.Observe != Distance && c.Observe != Marginals {
					return
				}
				if got := float64(c.Thin) * c.Step; math.Abs(got-2.5) > c.Step/2*(1+1e-9) {
					t.Errorf("%s/%s: %v time units per sample: %v", p.Name, e.ID, got, c)
				}
				if got := float64(c.BurnIn) * c.Step; math.Abs(got-10) > c.Step/2*(1+1e-9) {
					t.Errorf("%s/%s: burn-in of %v time units: %v", p.Name, e.ID, got, c)
				}
			})
		}
	}
	c, _ := draft{Cell: Cell{Integrator: "leapfrog", Step: 0.005, BatchSize: 8}}.cell(problem{datasets.Dataset{Shape: datasets.Shape{TrainRows: 455}, Model: "linear"}, true, 1}, oracle.Spec{})
	if c.Thin != 500 || c.BurnIn != 2000 || c.Batches != 57 {
		t.Errorf("h = 0.005, B = 8, N = 455: thin %d, burn-in %d, K %d; want the paper's 500, 2000, and 57", c.Thin, c.BurnIn, c.Batches)
	}
}

// keys are the streams of those of a study's cells for which keep is true.
func keys(e Study, keep func(Cell) bool) map[string]bool {
	m := map[string]bool{}
	everyCell(e, func(c Cell) {
		if keep(c) {
			m[c.Stream()] = true
		}
	})
	return m
}

func TestFiguresShareCells(t *testing.T) {
	for _, p := range Profiles() {
		methods := study(t, p, "methods")
		leapfrog := keys(methods, func(c Cell) bool { return c.Integrator == "leapfrog" })
		lietrotter := keys(methods, func(c Cell) bool { return c.Integrator == "lietrotter" })
		for key := range keys(study(t, p, "friction"), func(c Cell) bool { return c.Friction == paperFriction }) {
			if !leapfrog[key] {
				t.Errorf("%s: a cell of friction with C = 5 is none of methods", p.Name)
			}
		}
		for key := range keys(study(t, p, "integration-length"), func(c Cell) bool { return c.Inner == 1 }) {
			if !lietrotter[key] {
				t.Errorf("%s: a cell of integration-length with N_l = 1 is none of methods", p.Name)
			}
		}
	}
	paper := profile(t, "paper")
	leapfrog := keys(study(t, paper, "methods"), func(c Cell) bool { return c.Integrator == "leapfrog" })
	for key := range keys(study(t, paper, "regression"), func(c Cell) bool { return c.Observe == Distance }) {
		if !leapfrog[key] {
			t.Error("a chain of the regression table is none of methods")
		}
	}
}

// The measured floor is the distance with the full batch at the smallest step: of all
// integrators, or it would be the bias of the one that went lowest.
func TestEveryIntegratorHasTheStepOfTheFloor(t *testing.T) {
	for _, p := range Profiles() {
		for _, id := range []string{"bottleneck", "methods"} {
			smallest := map[string]map[string]float64{} // by data set and integrator
			everyCell(study(t, p, id), func(c Cell) {
				if c.Scheme != "full" {
					return
				}
				steps := smallest[c.Dataset]
				if steps == nil {
					steps = map[string]float64{}
					smallest[c.Dataset] = steps
				}
				if h, ok := steps[c.Integrator]; !ok || c.Step < h {
					steps[c.Integrator] = c.Step
				}
			})
			if len(smallest) == 0 {
				t.Errorf("%s, %s: no cells with the full batch", p.Name, id)
			}
			for data, steps := range smallest {
				if n := len(distinct.Of(slices.Collect(maps.Values(steps)), func(h float64) float64 { return h })); len(steps) < 4 || n != 1 {
					t.Errorf("%s, %s on %s: smallest steps %v, want one of all integrators", p.Name, id, data, steps)
				}
			}
		}
	}
}

func TestPrecisionComparesTheSameChains(t *testing.T) {
	for _, p := range Profiles() {
		methods := keys(study(t, p, "methods"), func(Cell) bool { return true })
		cells := study(t, p, "precision").Cells
		// Networks, splits, batches of 8 and all, two precisions; quick leaves out concrete and energy.
		if want := map[string]int{"quick": 4, "standard": 6, "paper": 6 * 5}[p.Name] * 2 * 2; len(cells) != want {
			t.Errorf("%s: %d cells, want %d", p.Name, len(cells), want)
		}
		for i := 0; i < len(cells); i += 2 {
			single, double := cells[i].Cell, cells[i+1].Cell
			if !methods[single.Stream()] {
				t.Errorf("%s: %v is none of methods", p.Name, single)
			}
			single.Precision = "float64"
			if !reflect.DeepEqual(single, double) {
				t.Errorf("%s: %+v and %+v differ by more than the precision", p.Name, cells[i].Cell, double)
			}
		}
	}
}

func TestPaperGridCounts(t *testing.T) {
	p := profile(t, "paper")
	// 6 UCI sets at 6 batch sizes, and linear at 5 (128 rows: K = 16, 8, 4,
	// 2, 1); 5 splits; 7 steps.
	const axes = (6*6 + 5) * 5 * 7
	// Of the frictions, six sets lack the smallest step of the full batch.
	for id, want := range map[string]int{"methods": 5 * axes, "integration-length": 7 * axes, "friction": 8 * (axes - 6*5)} {
		if got := len(study(t, p, id).Cells); got != want {
			t.Errorf("%s: %d cells, want %d", id, got, want)
		}
	}
	for id, sets := range map[string]int{"regression": 4, "classification": 2} {
		if e := study(t, p, id); len(e.Cells) != 2*5*sets {
			t.Errorf("%s: %d cells, want %d", id, len(e.Cells), 2*5*sets)
		}
	}
}

// The batch size that a cell carries is the one that its K was made from.
func TestCellsCarryTheirBatchSize(t *testing.T) {
	for _, p := range Profiles() {
		for _, e := range studies(t, p) {
			everyCell(e, func(c Cell) {
				d, err := datasets.Builtin().Lookup(c.Dataset)
				if err != nil {
					t.Fatal(err)
				}
				if c.Kernels() > 0 && (chain.Batches(d.TrainRows, c.BatchSize) != c.Batches || (c.BatchSize == Full) != (c.Batches == 1)) {
					t.Errorf("%s: K = %d and batch size %d of %d rows", e.ID, c.Batches, c.BatchSize, d.TrainRows)
				}
			})
		}
	}
}

func TestTeachersReplaceUnavailableSets(t *testing.T) {
	names := func(unavailable ...string) (names []string) {
		p := profile(t, "quick")
		p.Only = []string{"methods"}
		everyCell(studies(t, p, unavailable...)[0], func(c Cell) {
			if !slices.Contains(names, c.Dataset) {
				names = append(names, c.Dataset)
			}
		})
		return names
	}
	if got, want := names(uci...), []string{"teacher-reg", "teacher-cls", "linear"}; !slices.Equal(got, want) {
		t.Errorf("without UCI data: %v, want %v", got, want)
	}
	if got, want := names("concrete", "yacht"), []string{"boston", "teacher-reg", "energy", "ionosphere", "vehicle", "linear"}; !slices.Equal(got, want) {
		t.Errorf("without concrete and yacht: %v, want %v", got, want)
	}
	for _, e := range studies(t, profile(t, "quick"), uci...) {
		everyCell(e, func(c Cell) {
			if slices.Contains(uci, c.Dataset) {
				t.Errorf("%s: cell of a data set that is unavailable: %v", e.ID, c)
			}
		})
	}
}

// Studies of more cells than there may be are refused before the cells are listed.
func TestTooManyCellsAreRefusedAtOnce(t *testing.T) {
	p, start := profile(t, "quick"), time.Now()
	p.Splits = 30_000
	_, err := Studies(p, datasets.Builtin(), models.Builtin())
	if took := time.Since(start); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), "more than 100000 cells") || took > 8*time.Second {
		t.Errorf("%v after %s: want a usage error at once", err, took)
	}
	// What is too much for one study is none of the others' business.
	p.Splits, p.Only = 1000, []string{"toy"}
	if s := studies(t, p); len(s) != 1 || s[0].ID != "toy" {
		t.Errorf("%d studies: want toy alone", len(s))
	}
}

func TestUnknownNamesAreUsageErrors(t *testing.T) {
	if _, err := LookupProfile("quik"); err == nil {
		t.Error("LookupProfile(quik): no error")
	}
	if _, err := Studies(Profile{Only: []string{"methds"}}, datasets.Builtin(), models.Builtin()); !errors.As(err, new(*usage.Error)) {
		t.Errorf("Studies of methds: %v, want a usage error", err)
	}
}

func TestCheckRefusesBadCells(t *testing.T) {
	for name, change := range map[string]func(*Cell){
		"zero step": func(c *Cell) { c.Step = 0 }, "NaN step": func(c *Cell) { c.Step = math.NaN() },
		"no samples": func(c *Cell) { c.Samples = 0 }, "no thinning": func(c *Cell) { c.Thin = 0 },
		"negative burn-in": func(c *Cell) { c.BurnIn = -1 },
	} {
		c := numbered(1)
		change(&c)
		if err := c.Check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := numbered(1).Check(); err != nil {
		t.Errorf("a good cell: %v", err)
	}
}

// The studies of later papers load by their names, have cells or exact jobs, these
// of the purpose of their name, and are no part of what reproduce runs.
func TestLaterStudies(t *testing.T) {
	for _, id := range Later() {
		f, err := Load(id, Parts{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Study(Profile{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Cells)+len(s.Exact) == 0 || slices.ContainsFunc(s.Exact, func(j ExactJob) bool { return j.Purpose != id }) {
			t.Errorf("%s: %d cells, exact jobs %+v", id, len(s.Cells), s.Exact)
		}
		if _, err := Studies(Profile{Only: []string{id}}, datasets.Builtin(), models.Builtin()); err == nil {
			t.Errorf("%s is one of the studies of reproduce", id)
		}
	}
	f, err := Load("svrg-ubu", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	var of []string
	for _, j := range f.exact {
		if strings.HasSuffix(j.Exact.Name, "λ = 1") {
			of = append(of, j.Exact.Estimator)
		}
	}
	if want := []string{"plain", "svrg", "svrg:32", "svrg:128", "svrg:512", "svrg:2048", "saga"}; !slices.Equal(of, want) {
		t.Errorf("estimators %q, want %q", of, want)
	}
}

// A name may stand in the text before it names a problem, or be escaped there.
func TestNamesOfAnObjectAreInTheOrderOfItsText(t *testing.T) {
	got, err := namesOf([]byte(`{"ω = 3": {"kind": "b"}, "b": {"a": 1}, "\u03c9 = 10": {}, "a": {}}`))
	if want := []string{"ω = 3", "b", "ω = 10", "a"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("names %q, %v, want %q", got, err, want)
	}
}

// Problems stand in the order of their file, which need not be that of their names.
func TestProblemsStandInTheOrderOfTheirFile(t *testing.T) {
	f, err := Load("midpoint-budgets", Parts{})
	if err != nil {
		t.Fatal(err)
	}
	names := distinct.Of(f.exact, func(j ExactJob) string { return j.Exact.Name })
	want := []string{"gaussian", "ω = 1", "ω = 3", "ω = 10"}
	if !slices.Equal(names, want) {
		t.Errorf("problems %q, want %q", names, want)
	}
}

// A study that observes coupled chains says at once which integrator cannot be
// coupled.
func TestStudiesOfCoupledChains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	text := "id = \"mine\"\ntitle = \"Mine\"\n[fix]\ndata = \"linear\"\nintegrator = \"sghmc\"\nstep = 0.1\nobserve = \"coupled\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path, Parts{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Study(Profile{}); err == nil || !strings.Contains(err.Error(), `integrator "sghmc" adapts`) {
		t.Errorf("error %v: want sghmc refused", err)
	}
}
