package certify

import (
	"context"
	"testing"
)

// TestBottleneck: with mini-batches the orders are 1, 2, 2 and mt3's error is
// of the second-order scheme's size over all small steps; with the full batch
// they are 1, 2, 3, and mt3's error falls away.
func TestBottleneck(t *testing.T) {
	rows, err := Bottleneck(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	orders := map[string]float64{
		"euler/reshuffle": 1, "lietrotter/reshuffle": 2, "mt3/reshuffle": 2,
		"euler/full": 1, "lietrotter/full": 2, "mt3/full": 3,
	}
	errors := map[string][]Number{}
	for _, r := range rows {
		key := r.Integrator + "/" + r.Scheme
		o := r.observable(t, "theta.cov")
		if float64(o.Order) != orders[key] {
			t.Errorf("%s: order %v ± %v, want %v", key, o.Order, o.Uncertainty, orders[key])
		}
		errors[key] = o.Errors
	}
	for i, h := range rows[0].Steps {
		if h > 0.02 { // from here down the leading terms rule
			continue
		}
		with := float64(errors["mt3/reshuffle"][i] / errors["lietrotter/reshuffle"][i])
		without := float64(errors["mt3/full"][i] / errors["lietrotter/full"][i])
		if with < 0.5 || with > 2 {
			t.Errorf("h = %v: mini-batch errors of mt3 and lietrotter are in the ratio %v, want about 1", h, with)
		}
		if without > 10*h {
			t.Errorf("h = %v: full-batch errors of mt3 and lietrotter are in the ratio %v, want O(h)", h, without)
		}
	}
}
