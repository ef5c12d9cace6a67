package certify

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// Infinities are null in JSON; a row that is read again has them where they were, and
// NaN where nothing was known.
func TestInfinitiesOfARowComeBack(t *testing.T) {
	inf, nan := Number(math.Inf(1)), Number(math.NaN())
	row := Row{
		Integrator: "leapfrog", Steps: []float64{0.1, 0.2},
		Observables: []Observable{{Claim: inf, Uncertainty: inf, Order: nan, Errors: []Number{1, nan}}},
		Answers: Answers{
			StableStep: &inf,
			Averages:   []Average{{Bias: []Number{1, nan}, Variance: []Number{inf, nan}}},
			Budgets:    []AtBudget{{Best: inf, Step: 1, MSE: []Number{inf, nan}, Outer: 10}, {Best: nan, Step: nan, MSE: []Number{2, nan}, Outer: 10}, {Best: nan, Step: nan, MSE: []Number{nan, nan}, Outer: 0.5}},
		},
	}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	var back Row
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	o, a, b := back.Observables[0], back.Averages[0], back.Budgets
	for name, v := range map[string]Number{
		"claim": o.Claim, "uncertainty": o.Uncertainty, "stable step": *back.StableStep,
		"variance": a.Variance[0], "best": b[0].Best, "mse": b[0].MSE[0],
	} {
		if v != inf {
			t.Errorf("%s is %v: want +Inf", name, v)
		}
	}
	for name, v := range map[string]Number{
		"order": o.Order, "error": o.Errors[1], "variance": a.Variance[1],
		"mse": b[0].MSE[1], "best": b[1].Best, "mse of the second": b[1].MSE[1], "mse of less than an outer step": b[2].MSE[0],
	} {
		if v == v {
			t.Errorf("%s is %v: want NaN", name, v)
		}
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(text) {
		t.Errorf("written again: %s, %v, want %s", again, err, text)
	}
}

// A row of another program may lack numbers: that is no reason to fail.
func TestARowWithFewerNumbersThanStepsIsRead(t *testing.T) {
	const text = `{"steps": [0.1, 0.2], "averages": [{"bias": [1, 2, 3], "variance": [null]}], "budgets": [{"mse": [null, null, null]}]}`
	var r Row
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.StableStep != nil || !reflect.DeepEqual(r.Averages[0].Variance, []Number{Number(math.Inf(1))}) {
		t.Errorf("stable step %v, variance %v", r.StableStep, r.Averages[0].Variance)
	}
}
