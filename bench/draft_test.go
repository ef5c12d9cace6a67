package bench

import (
	"encoding/json"
	"errors"
	"math"
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
	s, err := NewStudy(source(), "mine", "Mine", []Cell{{Dataset: "teacher-reg", Integrator: "leapfrog", BatchSize: 32, Step: 0.005}})
	if err != nil {
		t.Fatal(err)
	}
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
	s, err := NewStudy(source(), "mine", "", []Cell{{Dataset: "linear", Integrator: "baoab", Step: 0.01, Friction: Real(math.Inf(1)), Samples: 10}})
	if err != nil {
		t.Fatal(err)
	}
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
	s, err := NewStudy(source(), "mine", "", []Cell{{Dataset: "toy", Integrator: "exact", Step: 0.4, Observe: Histogram}})
	if err != nil || s.Cells[0].Cell.ExactDraws != nil {
		t.Errorf("a histogram: %+v, %v", s.Cells, err)
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
	good := Cell{Dataset: "teacher-reg", Integrator: "leapfrog", Step: 0.005}
	elsewhere := oracle.NewSpec("boston", 0, "bnn")
	for _, c := range []struct {
		id     string
		change func(*Cell)
		want   string
	}{
		{"my study", func(*Cell) {}, `study "my study": want an id`},
		{"mine", func(s *Cell) { s.Dataset = "cider" }, `unknown data set "cider"`},
		{"mine", func(s *Cell) { s.Model = "tree" }, `unknown model "tree"`},
		{"mine", func(s *Cell) { s.Model = "toy" }, `model "toy" wants targets without features`},
		{"mine", func(s *Cell) { s.Step = 0 }, "step h = 0"},
		{"mine", func(*Cell) {}, "no chain is judged by the reference of boston"},
	} {
		s := good
		c.change(&s)
		_, err := NewStudy(source(), c.id, "", []Cell{s}, elsewhere)
		var mistake *usage.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v: want a usage error with %q", c.id, err, c.want)
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
	s, err := NewStudy(source(), "mine", "",
		[]Cell{{Dataset: "toy", Integrator: "leapfrog", Step: 0.1}, {Dataset: "toy", Integrator: "leapfrog", Step: 0.1, Estimator: "doubled"}})
	if err != nil {
		t.Fatal(err)
	}
	keys := func(by float64) []Job {
		k := &Keys{Source: source(), Chains: chain.Registries{Estimators: append(estimators.Builtin(), doubled(by))}}
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
