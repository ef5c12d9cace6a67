package models

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"hambench/models/datasets"
)

// has lists the capabilities of a target by the names of their fields.
func has(c Capabilities) (names []string) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Interface && !f.IsNil() {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	slices.Sort(names)
	return names
}

func TestEveryCapabilityOfATargetIsSeen(t *testing.T) {
	features := &datasets.Split{
		Task: datasets.Regression, Features: 2, TargetScale: 1, NoiseVariance: 0.1,
		TrainX: []float64{1, 2, 3, 5}, TrainY: []float64{1, -1},
	}
	classes := &datasets.Split{
		Task: datasets.Classification, Features: 1, Classes: 2,
		TrainX: []float64{1, -2}, TrainLabels: []int{1, 0},
	}
	for _, tt := range []struct {
		model string
		split *datasets.Split
		want  string
	}{
		{"toy", builtin(t, "toy"), "Analytic Described Gatherer Hessian LinearGaussian"},
		{"linear", features, "Analytic Described Gatherer Hessian Likelihood LinearGaussian Named Scorer"},
		{"logistic", classes, "Described Gatherer Hessian Likelihood Named Scorer"},
		{"bnn", features, "Described Fused Gatherer Hessian Likelihood Scorer"},
	} {
		target, err := Builtin().New(tt.model, tt.split, Options{})
		if err != nil {
			t.Fatal(err)
		}
		can := CapabilitiesOf(target)
		if got := strings.Join(has(can), " "); got != tt.want || can.Name != tt.model {
			t.Errorf("%s: %s can do %q, want %q", tt.model, can.Name, got, tt.want)
		}
		hidden := CapabilitiesOf(struct{ Target }{target})
		if got := has(hidden); got != nil || hidden.Name != "struct { models.Target }" {
			t.Errorf("%s behind its interface: %s can do %q, want nothing", tt.model, hidden.Name, got)
		}
	}
}
