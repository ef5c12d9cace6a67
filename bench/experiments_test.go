package bench

import (
	"math"
	"slices"
	"testing"
)

// everyCell calls f with every cell of an experiment, choices included.
func everyCell(e Experiment, f func(Cell)) {
	for _, c := range e.Cells {
		f(c)
	}
	for _, ch := range e.Choices {
		for _, c := range ch {
			f(c)
		}
	}
}

func experiment(t *testing.T, p Profile, id string) Experiment {
	t.Helper()
	exps, err := Select(Experiments(p), id)
	if err != nil {
		t.Fatal(err)
	}
	return exps[0]
}

func profile(t *testing.T, name string) Profile {
	t.Helper()
	p, err := LookupProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKeysAreStable(t *testing.T) {
	// A changed key would orphan every stored result: these bytes are the
	// store's format.
	for _, c := range []struct {
		cell Cell
		key  string
	}{
		{result(1).Cell, "d6d3d75db715d076989a7750ee505312739c57337c9bbf4b32a38aa6f5d8ea35"},
		{Cell{Observe: Density, Dataset: "logistic", Model: "logistic", Samples: 101, Precision: "float64"}, "8d5380d00e03d1187a0d90470e338b4484b7dc6389eef68833ee76a15fc83b82"},
	} {
		if got := c.cell.Key(); got != c.key {
			t.Errorf("key of %v: %s, want %s", c.cell, got, c.key)
		}
	}
}

func TestEveryFieldIsPartOfTheKey(t *testing.T) {
	base := result(1).Cell
	seen := map[string]string{base.Key(): "nothing"}
	for name, change := range map[string]func(*Cell){
		"observe": func(c *Cell) { c.Observe = Path }, "dataset": func(c *Cell) { c.Dataset = "toy" },
		"split": func(c *Cell) { c.Split++ }, "model": func(c *Cell) { c.Model = "toy" },
		"integrator": func(c *Cell) { c.Integrator = "mt3" }, "inner": func(c *Cell) { c.Inner++ },
		"friction": func(c *Cell) { c.Friction = math.Nextafter(c.Friction, 9) }, "scheme": func(c *Cell) { c.Scheme = "reshuffle" },
		"batches": func(c *Cell) { c.Batches++ }, "step": func(c *Cell) { c.Step = math.Nextafter(c.Step, 9) },
		"samples": func(c *Cell) { c.Samples++ }, "thin": func(c *Cell) { c.Thin++ }, "burn-in": func(c *Cell) { c.BurnIn++ },
		"seed": func(c *Cell) { c.Seed++ }, "precision": func(c *Cell) { c.Precision = "float32" }, "oracle": func(c *Cell) { c.Oracle = "x" },
	} {
		c := base
		change(&c)
		if with, ok := seen[c.Key()]; ok {
			t.Errorf("changing the %s gives the key of changing %s", name, with)
		}
		seen[c.Key()] = name
	}
}

func TestEveryProfileHasEveryExperiment(t *testing.T) {
	ids := []string{"bottleneck", "paths", "toy", "methods", "integration-length", "friction", "synthetic", "regression", "classification", "autocorrelation", "precision"}
	for _, p := range Profiles() {
		var got []string
		for _, e := range Experiments(p) {
			got = append(got, e.ID)
			if len(e.Cells) == 0 || e.Title == "" {
				t.Errorf("%s: %s has %d cells and title %q", p.Name, e.ID, len(e.Cells), e.Title)
			}
		}
		if !slices.Equal(got, ids) {
			t.Errorf("%s: experiments %v, want %v", p.Name, got, ids)
		}
	}
}

func TestCellsAreValidAndUnique(t *testing.T) {
	for _, p := range Profiles() {
		for _, e := range Experiments(p) {
			seen := map[string]bool{}
			oracles := map[string]bool{"": true, Analytic: true}
			for _, s := range e.Oracles {
				oracles[s.Key()] = true
			}
			everyCell(e, func(c Cell) {
				if err := c.Check(); err != nil {
					t.Errorf("%s/%s: %v", p.Name, e.ID, err)
				}
				if seen[c.Key()] {
					t.Errorf("%s/%s: cell twice: %v", p.Name, e.ID, c)
				}
				seen[c.Key()] = true
				if !oracles[c.Oracle] {
					t.Errorf("%s/%s: cell names an oracle that the experiment does not list: %v", p.Name, e.ID, c)
				}
			})
		}
	}
}

// All chains of a data set cover the same simulation time, up to the
// rounding of a thinning that is at least one outer step.
func TestSimulationTimeIsTheSame(t *testing.T) {
	for _, p := range Profiles() {
		for _, e := range Experiments(p) {
			everyCell(e, func(c Cell) {
				if c.Observe != Distance && c.Observe != Marginals {
					return
				}
				outer := c.Step * float64(c.Inner)
				if got := float64(c.Thin) * outer; math.Abs(got-2.5) > outer/2*(1+1e-9) && c.Thin != 1 {
					t.Errorf("%s/%s: %v time units per sample: %v", p.Name, e.ID, got, c)
				}
				if got := float64(c.BurnIn) * outer; math.Abs(got-10) > outer/2*(1+1e-9) {
					t.Errorf("%s/%s: burn-in of %v time units: %v", p.Name, e.ID, got, c)
				}
			})
		}
	}
	c := (&grid{}).cell(Problem{Rows: 455, Model: "linear"}, 0, settings{integrator: "leapfrog", step: 0.005, batch: 8})
	if c.Thin != 500 || c.BurnIn != 2000 || c.Batches != 57 {
		t.Errorf("h = 0.005, B = 8, N = 455: thin %d, burn-in %d, K %d; want the paper's 500, 2000, and 57", c.Thin, c.BurnIn, c.Batches)
	}
}

// keys are those of an experiment's cells that keep lets through.
func keys(e Experiment, keep func(Cell) bool) map[string]bool {
	m := map[string]bool{}
	everyCell(e, func(c Cell) {
		if keep(c) {
			m[c.Key()] = true
		}
	})
	return m
}

func TestFiguresShareCells(t *testing.T) {
	for _, p := range Profiles() {
		methods := experiment(t, p, "methods")
		leapfrog := keys(methods, func(c Cell) bool { return c.Integrator == "leapfrog" })
		lietrotter := keys(methods, func(c Cell) bool { return c.Integrator == "lietrotter" })
		for key := range keys(experiment(t, p, "friction"), func(c Cell) bool { return c.Friction == paperFriction }) {
			if !leapfrog[key] {
				t.Errorf("%s: a cell of friction with C = 5 is none of methods", p.Name)
			}
		}
		for key := range keys(experiment(t, p, "integration-length"), func(c Cell) bool { return c.Inner == 1 }) {
			if !lietrotter[key] {
				t.Errorf("%s: a cell of integration-length with N_l = 1 is none of methods", p.Name)
			}
		}
	}
	paper := profile(t, "paper")
	leapfrog := keys(experiment(t, paper, "methods"), func(c Cell) bool { return c.Integrator == "leapfrog" })
	for key := range keys(experiment(t, paper, "regression"), func(c Cell) bool { return c.Observe == Distance }) {
		if !leapfrog[key] {
			t.Error("a chain of the regression table is none of methods")
		}
	}
}

func TestPrecisionComparesTheSameChains(t *testing.T) {
	for _, p := range Profiles() {
		methods := keys(experiment(t, p, "methods"), func(Cell) bool { return true })
		cells := experiment(t, p, "precision").Cells
		if want := p.Splits * 6 * 2 * 2; len(cells) != want {
			t.Errorf("%s: %d cells, want %d: six networks, batches of 8 and all, two precisions", p.Name, len(cells), want)
		}
		for i := 0; i < len(cells); i += 2 {
			single, double := cells[i], cells[i+1]
			if p.Name != "quick" && !methods[single.Key()] { // quick's grid lacks concrete's safe step
				t.Errorf("%s: %v is none of methods", p.Name, single)
			}
			single.Precision = "float64"
			if single != double {
				t.Errorf("%s: %+v and %+v differ by more than the precision", p.Name, cells[i], double)
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
		if got := len(experiment(t, p, id).Cells); got != want {
			t.Errorf("%s: %d cells, want %d", id, got, want)
		}
	}
	for id, sets := range map[string]int{"regression": 4, "classification": 2} {
		if e := experiment(t, p, id); len(e.Cells) != 5*sets || len(e.Choices) != 5*sets {
			t.Errorf("%s: %d cells, %d choices, want %d of each", id, len(e.Cells), len(e.Choices), 5*sets)
		}
	}
}

func TestBatchesDifferByAtMostOneRow(t *testing.T) {
	for _, p := range problems {
		for _, size := range batchSizes {
			k := Batches(p.Rows, size)
			if k < 1 || k > p.Rows {
				t.Errorf("%s, B = %d: K = %d of %d rows", p.Dataset, size, k, p.Rows)
			}
			if p.Rows/k > size*3/2 && k > 1 {
				t.Errorf("%s, B = %d: batches of %d rows", p.Dataset, size, p.Rows/k)
			}
			if c := (Cell{Dataset: p.Dataset, Batches: k}); p.network() && c.BatchSize() != size {
				t.Errorf("%s, B = %d: the cell's batch size is %d", p.Dataset, size, c.BatchSize())
			}
		}
		if c := (Cell{Dataset: p.Dataset, Batches: Batches(p.Rows, Full)}); c.BatchSize() != Full {
			t.Errorf("%s: full batch comes back as %d", p.Dataset, c.BatchSize())
		}
	}
}

func TestTeachersReplaceUnavailableSets(t *testing.T) {
	names := func(unavailable ...string) []string {
		var s []string
		for _, p := range sweepProblems(unavailable) {
			s = append(s, p.Dataset)
		}
		return s
	}
	if got, want := names(UCI()...), []string{"teacher-reg", "teacher-cls", "linear"}; !slices.Equal(got, want) {
		t.Errorf("without UCI data: %v, want %v", got, want)
	}
	if got, want := names("concrete", "yacht"), []string{"boston", "teacher-reg", "energy", "ionosphere", "vehicle", "linear"}; !slices.Equal(got, want) {
		t.Errorf("without concrete and yacht: %v, want %v", got, want)
	}
	for _, e := range Experiments(profile(t, "quick"), UCI()...) {
		everyCell(e, func(c Cell) {
			if slices.Contains(UCI(), c.Dataset) {
				t.Errorf("%s: cell of a data set that is unavailable: %v", e.ID, c)
			}
		})
	}
}

func TestChoiceSettlesOnTheFirstStableCell(t *testing.T) {
	ch := Choice{result(1).Cell, result(2).Cell, result(3).Cell}
	e := Experiment{Choices: []Choice{ch}}
	have := map[string]Result{}
	get := func(key string) (Result, bool) { r, ok := have[key]; return r, ok }
	diverged := func(seed int) Result { r := result(seed); r.Diverged = true; return r }
	for i, step := range []struct {
		add     Result
		missing uint64 // seed of the cell that is needed next, 0 for none
		settled uint64
	}{{Result{}, 1, 0}, {diverged(1), 2, 0}, {result(2), 0, 2}} {
		have[step.add.Key] = step.add
		got, missing := e.Results(get)
		if step.missing != 0 && (len(missing) != 1 || missing[0].Seed != step.missing || len(got) != 0) {
			t.Errorf("step %d: missing %v, have %v; want cell %d missing", i, missing, got, step.missing)
		}
		if step.settled != 0 && (len(got) != 1 || got[0].Cell.Seed != step.settled || len(missing) != 0) {
			t.Errorf("step %d: have %v, missing %v; want cell %d", i, got, missing, step.settled)
		}
	}
	have[ch[1].Key()], have[ch[2].Key()] = diverged(2), diverged(3)
	if got, missing := e.Results(get); len(missing) != 0 || len(got) != 1 || !got[0].Diverged || got[0].Cell.Seed != 3 {
		t.Errorf("all diverged: have %v, missing %v; want the last cell", got, missing)
	}
}

func TestUnknownNamesAreUsageErrors(t *testing.T) {
	if _, err := LookupProfile("quik"); err == nil {
		t.Error("LookupProfile(quik): no error")
	}
	if _, err := Select(Experiments(profile(t, "quick")), "methds"); err == nil {
		t.Error("Select(methds): no error")
	}
}

func TestCheckRefusesBadCells(t *testing.T) {
	for name, change := range map[string]func(*Cell){
		"observable": func(c *Cell) { c.Observe = "all" }, "zero step": func(c *Cell) { c.Step = 0 },
		"NaN step": func(c *Cell) { c.Step = math.NaN() }, "negative friction": func(c *Cell) { c.Friction = -1 },
		"no batches": func(c *Cell) { c.Batches = 0 }, "no samples": func(c *Cell) { c.Samples = 0 },
		"no thinning": func(c *Cell) { c.Thin = 0 }, "negative burn-in": func(c *Cell) { c.BurnIn = -1 },
		"precision": func(c *Cell) { c.Precision = "half" }, "no data set": func(c *Cell) { c.Dataset = "" }, "split": func(c *Cell) { c.Split = -1 },
	} {
		c := result(1).Cell
		change(&c)
		if err := c.Check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := result(1).Cell.Check(); err != nil {
		t.Errorf("a good cell: %v", err)
	}
}
