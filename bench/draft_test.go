package bench

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

// source has the built-in models and data, without the network.
func source() *models.Source {
	return models.NewSource(nil, &datasets.Resolver{Offline: true})
}

func TestTheDefaultsOfACellAreThePapers(t *testing.T) {
	s := studyOf(t, "fix = {data = \"teacher-reg\", integrator = \"leapfrog\", batch = 32, step = 0.005}")
	spec := oracle.NewSpec("teacher-reg", 0, "bnn")
	want := Cell{
		Observe: Distance, Dataset: "teacher-reg", Model: "bnn", Integrator: "leapfrog", Inner: 1, Friction: 5, Scheme: "reshuffle",
		Batches: 14, BatchSize: 32, Step: 0.005, Samples: 200, Thin: 500, BurnIn: 2000, Seed: 1, Precision: "float32", Oracle: spec.ID(),
	}
	if got := s.Cells[0].Cell; got.Stream() != want.Stream() {
		t.Errorf("cell %+v: want %+v", got, want)
	}
	if len(s.References) != 1 || s.References[0].Spec != spec {
		t.Errorf("references %+v: want %+v alone", s.References, spec)
	}
}

func TestAnExactPosteriorNeedsNoReference(t *testing.T) {
	s := studyOf(t, "fix = {data = \"linear\", integrator = \"baoab\", step = 0.01, friction = inf, samples = 10}")
	if c := s.Cells[0].Cell; c.Oracle != Analytic || c.Scheme != "full" || len(s.References) > 0 {
		t.Errorf("cell %+v with %d references: want an analytic oracle, the full batch, none", c, len(s.References))
	}
}

// A distance is to samples, also where the posterior is known: exact draws, as many as
// reference chains have, are part of the cell and so of its key. What shows the law of one
// parameter is judged by the exact one.
func TestKnownPosteriorsAreComparedBySamples(t *testing.T) {
	c := cellsOf(t, small+"[reference]\nsamples = 50\nseed = 3\n", Profile{})[0].Cell
	if c.ExactDraws == nil || *c.ExactDraws != (oracle.ExactDraws{Chains: 5, Samples: 50, Seed: 3}) {
		t.Errorf("exact draws %+v: want those of [reference]", c.ExactDraws)
	}
	d := cellsOf(t, small, Profile{})[0].Cell
	if d.ExactDraws == nil || *d.ExactDraws != (oracle.ExactDraws{Chains: 5, Samples: 200, Seed: 1}) {
		t.Errorf("exact draws %+v: want as many as reference chains have", d.ExactDraws)
	}
	text, err := json.Marshal(c)
	var again Cell
	if err != nil || json.Unmarshal(text, &again) != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%s became %+v, %v", text, again, err)
	}
	one := c
	one.ExactDraws = nil
	if c.Stream() == d.Stream() || c.Stream() == one.Stream() {
		t.Error("the draws that judge a cell are no part of its key")
	}
	s := studyOf(t, "figure = {kind = \"toy\"}\nfix = {data = \"toy\", integrator = \"exact\", step = 0.4, observe = \"histogram\"}")
	if s.Cells[0].Cell.ExactDraws != nil {
		t.Errorf("a histogram: %+v", s.Cells)
	}
}

// What makes samples between refreshments, and exact draws, is part of the keys of the cells
// that have them, and of no others: most of a store stays what it is.
func TestOnlyCellsWithInnerStepsOrExactDrawsDependOnTheirCode(t *testing.T) {
	plain := Cell{
		Observe: Histogram, Dataset: "toy", Model: "toy", Integrator: "lietrotter", Inner: 1, Friction: 2, Scheme: "full", Batches: 1,
		Step: 0.1, Samples: 4, Thin: 2, Precision: "float64", Oracle: Analytic,
	}
	inner, drawn := plain, plain
	inner.Inner, drawn.ExactDraws = 2, &oracle.ExactDraws{Chains: 2, Samples: 10, Seed: 1}
	keys := func(changed string) (of [3]string) {
		k := &Keys{Source: source()}
		k.fingerprints.Store([2]string{changed, ""}, func() (string, error) { return "another", nil })
		for i, c := range []Cell{plain, inner, drawn} {
			key, err := k.Cell(t.Context(), c, nil)
			if err != nil {
				t.Fatal(err)
			}
			of[i] = key
		}
		return of
	}
	now := keys("nothing")
	for changed, want := range map[string][3]bool{"inner loop": {false, true, false}, "exact draws": {false, false, true}, "loop": {true, true, true}} {
		for i, key := range keys(changed) {
			if (key != now[i]) != want[i] {
				t.Errorf("another %s changes the key of cell %d: %v, want %v", changed, i, key != now[i], want[i])
			}
		}
	}
}

func TestWrongCellsAreUsageErrors(t *testing.T) {
	for text, want := range map[string]string{
		`data = "teacher-reg", step = 0.005, model = "tree"`:  `mine.toml:1: fix.model: unknown model "tree"`,
		`data = "teacher-reg", step = 0.005, model = "toy"`:   `model "toy" wants targets without features`,
		`data = "teacher-reg"`:                                "no step: want step = … in [vary] or [fix]",
		`data = "teacher-reg", step = 0.005, friction = -1`:   "fix.friction: is -1: want a number > 0",
		`data = "teacher-reg", step = 0.005, observe = "all"`: `unknown observe "all"`,
		`data = "teacher-reg", step = 0.005, thin = 0`:        "fix.thin: is 0: want a whole number from 1",
		`data = "teacher-reg", step = 0.005, burn = -1`:       "fix.burn: is -1: want a whole number from 0",
		`data = "teacher-reg", step = 0.005, split = -1`:      "fix.split: is -1: want a whole number from 0",
		`data = "teacher-reg", step = 0.005, K = 0`:           "fix.K: is 0: want a whole number from 1",
	} {
		f, err := Parse("mine", []byte(`fix = {integrator = "leapfrog", `+text+"}"), Parts{})
		if err == nil {
			_, err = f.Study(Profile{})
		}
		var mistake *usage.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v: want a usage error with %q", text, err, want)
		}
	}
}

// doubled is an estimator of one's own, with a constant.
func doubled(by float64) estimators.Estimator {
	m := estimators.Plain
	m.Name = "doubled"
	m.New = func(estimators.Problem) (estimators.Instance, error) { return doubling{by}, nil }
	return m
}

type doubling struct{ by float64 }

func (doubling) Begin(*integrators.State) {}

func (d doubling) Force(s estimators.Step, _ *integrators.State) integrators.Force {
	return scaled{s.Force, d.by}
}

type scaled struct {
	integrators.Force
	by float64
}

func (s scaled) Gradient(g, theta []float64) {
	s.Force.Gradient(g, theta)
	floats.Scale(s.by, g)
}

func TestAnEstimatorsConstantChangesTheKeysOfItsCellsAlone(t *testing.T) {
	keys := func(by float64) []Job {
		k := &Keys{Source: source(), Chains: chain.Registries{Estimators: append(estimators.Builtin(), doubled(by))}}
		text := "fix = {data = \"toy\", integrator = \"leapfrog\", step = 0.1}\nvary = {estimator = [\"plain\", \"doubled\"]}"
		f, err := Parse("mine", []byte(text), Parts{Chains: k.Chains})
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Study(Profile{})
		if err != nil {
			t.Fatal(err)
		}
		plans, err := k.Resolve(t.Context(), "", []Study{s})
		if err != nil {
			t.Fatal(err)
		}
		return plans[0].Cells
	}
	two, three := keys(2), keys(3)
	if two[0].Key != three[0].Key || two[1].Key == three[1].Key {
		t.Errorf("keys with the constants 2 and 3: %v and %v: want the first of both equal, the second not", two, three)
	}
}
