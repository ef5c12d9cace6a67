package models

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"hambench/models/datasets"
	"hambench/usage"
)

// Each built-in model can be shown on its own data set, and studies put on
// each data set a model that takes it: the registries of the two packages do
// not know each other.
func TestRegistriesFitEachOther(t *testing.T) {
	for _, m := range Builtin() {
		d, err := datasets.Builtin().Lookup(m.Dataset)
		if err != nil || !d.Builtin() {
			t.Fatalf("model %s has data set %q: %v: want a built-in one", m.Name, m.Dataset, err)
		}
		if err := m.Check(d.Name, d.Shape); err != nil {
			t.Error(err)
		}
		if d.Model != m.Name && d.Name != datasets.None { // of which several models have none
			t.Errorf("model %s is shown on %s, on which studies put %s", m.Name, d.Name, d.Model)
		}
	}
	for _, d := range datasets.Builtin() {
		m, err := Builtin().Lookup(d.Model)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(d.Name, d.Shape); err != nil {
			t.Error(err)
		}
	}
}

// taking returns the models that take data of a shape.
func taking(s datasets.Shape) Registry {
	return slices.DeleteFunc(Builtin(), func(m Model) bool { return m.Check("", s) != nil })
}

// Which models take a data set is known before it is loaded.
func TestModelsAreChosenByTheShapeOfData(t *testing.T) {
	for dataset, want := range map[string]string{
		"toy": "toy exec", "linear": "linear bnn exec", "logistic": "logistic bnn exec", "boston": "linear bnn exec", "ionosphere": "logistic bnn exec", "vehicle": "logistic bnn exec", "none": "linear-net crossing exec",
	} {
		d, err := datasets.Builtin().Lookup(dataset)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range taking(d.Shape) {
			names = append(names, m.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: models %q: want %q", dataset, got, want)
		}
	}
}

func TestAModelThatDoesNotFitIsRefusedWithThoseThatDo(t *testing.T) {
	for _, c := range []struct{ model, dataset, want string }{
		{"linear", "vehicle", `model "linear" wants regression on features: data set "vehicle" is a classification with 18 features, 4 classes and 646 training rows: want one of logistic, bnn`},
		{"logistic", "boston", `data set "boston" is a regression with 13 features, 0 classes and 455 training rows: want one of linear, bnn`},
	} {
		if _, err := NewSource(nil, &datasets.Resolver{Offline: true}).Target(t.Context(), c.dataset, 0, c.model, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: %v: want %s", c.model, c.dataset, err, c.want)
		}
	}
}

func TestAModelThatDeclaresAnotherDimensionIsRefused(t *testing.T) {
	m, err := Builtin().Lookup("linear")
	if err != nil {
		t.Fatal(err)
	}
	m.Dim = func(datasets.Shape, Options) int { return 7 }
	if _, err := m.On(builtin(t, "linear"), Options{}); err == nil || !strings.Contains(err.Error(), "7 parameters") || !strings.Contains(err.Error(), "256") {
		t.Errorf("error %v: want one that names both dimensions", err)
	}
}

func TestAModelThatDeclaresAnotherPosteriorIsRefused(t *testing.T) {
	for name, exact := range map[string]bool{"linear": false, "bnn": true} {
		m, err := Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m.Exact = exact
		_, err = m.On(builtin(t, "teacher-reg"), Options{})
		if err == nil || !strings.Contains(err.Error(), "declares Exact") {
			t.Errorf("%s with Exact %v: error %v", name, exact, err)
		}
	}
}

func TestANameThatStandsTwiceIsRefused(t *testing.T) {
	r := append(Builtin(), Model{Name: "bnn"})
	var u *usage.Error
	if _, err := r.Lookup("bnn"); !errors.As(err, &u) {
		t.Errorf("error %v: want a usage error", err)
	}
}

// One source serves many goroutines; a model of a program's own takes part.
func TestSourceServesGoroutines(t *testing.T) {
	own, err := Builtin().Lookup("bnn")
	if err != nil {
		t.Fatal(err)
	}
	own.Name = "own"
	s := NewSource(append(Builtin(), own), &datasets.Resolver{Offline: true})
	var all sync.WaitGroup
	for _, model := range []string{"bnn", "own", "logistic"} {
		all.Go(func() {
			if _, err := s.Target(t.Context(), "teacher-cls", 3, model, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	a, errA := s.Split(t.Context(), "teacher-cls", 3)
	if b, errB := s.Split(t.Context(), "teacher-cls", 3); a != b || errA != nil || errB != nil {
		t.Errorf("a split is made twice: %v, %v", errA, errB)
	}
	if _, err := s.Target(t.Context(), "teacher-cls", 0, "bnm", Options{}); err == nil || !strings.Contains(err.Error(), "exec, own") {
		t.Errorf("error %v: want the models of this source", err)
	}
}

func TestUnavailableSetsAreNamedWithTheirStandIns(t *testing.T) {
	s := NewSource(nil, &datasets.Resolver{Offline: true})
	missing, err := s.Unavailable(t.Context(), "boston", "linear", "vehicle")
	if err != nil || strings.Join(missing, " ") != "boston vehicle" {
		t.Fatalf("missing %v, %v: want boston and vehicle", missing, err)
	}
	if got := strings.Join(s.Datasets().StandIns([]string{"boston", "linear", "vehicle"}, missing), " "); got != "teacher-reg linear teacher-cls" {
		t.Errorf("in their place: %s", got)
	}
	note := s.Datasets().MissingNote(missing)
	for _, want := range []string{"boston, vehicle", "teacher-reg, teacher-cls", "hambench data fetch"} {
		if !strings.Contains(note, want) {
			t.Errorf("note %q lacks %q", note, want)
		}
	}
	if note := s.Datasets().MissingNote(nil); note != "" {
		t.Errorf("note %q though nothing is missing", note)
	}
}
