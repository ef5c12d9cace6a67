package certify

import (
	"math"
	"strings"
	"testing"
)

// TestBottleneck: with mini-batches the orders are 1, 2, 2 and mt3's error is
// of the second-order scheme's size over all small steps; with the full batch
// they are 1, 2, 3, and mt3's error falls away.
func TestBottleneck(t *testing.T) {
	var steps []float64
	for h := 0.16; h > 6e-4; h /= math.Sqrt2 {
		steps = append(steps, h)
	}
	orders := map[string]float64{
		"euler/reshuffle": 1, "lietrotter/reshuffle": 2, "mt3/reshuffle": 2,
		"euler/full": 1, "lietrotter/full": 2, "mt3/full": 3,
	}
	errors := map[string][]Number{}
	for key, want := range orders {
		integrator, scheme, _ := strings.Cut(key, "/")
		o := certifyOne(t, Options{Problem: BottleneckProblem(), Steps: steps}, integrator, scheme).observable(t, "theta.cov")
		if float64(o.Order) != want {
			t.Errorf("%s: order %v ± %v, want %v", key, o.Order, o.Uncertainty, want)
		}
		errors[key] = o.Errors
	}
	for i, h := range steps {
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
