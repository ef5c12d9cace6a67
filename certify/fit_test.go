package certify

import (
	"math"
	"testing"
)

func TestFitOrder(t *testing.T) {
	steps := []float64{0.05, 0.2, 0.1} // any order
	at := func(f func(h float64) float64) []float64 {
		var e []float64
		for _, h := range steps {
			e = append(e, f(h))
		}
		return e
	}
	nan := math.NaN()
	for _, c := range []struct {
		reason          string
		errors          []float64
		resolution      float64
		claim           float64
		unstable        bool
		order, constant float64 // NaN: not known
		verdict         Verdict
	}{
		{"a pure power", at(func(h float64) float64 { return 3 * h * h }), 1e-13, 2, false, 2, 3, Confirmed},
		{"below its claim", at(func(h float64) float64 { return 3 * h * h }), 1e-13, 3, false, 2, 3, Refuted},
		{"above its claim", at(func(h float64) float64 { return h * h * h }), 1e-13, 2, false, 3, 1, Confirmed},
		{"round-off", at(func(float64) float64 { return 2e-13 }), 1e-13, 2, false, nan, nan, Exact},
		{"round-off is not exact if the engine cannot resolve more", at(func(float64) float64 { return 2e-13 }), 1e-3, 2, false, nan, nan, Inconclusive},
		{"slopes that do not settle", []float64{2e-6, 1e-3, 1e-4}, 1e-13, 2, false, nan, nan, Inconclusive},
		{"never stable", []float64{nan, nan, nan}, 1e-13, 2, true, nan, nan, Unstable},
		{"an error of order 0", at(func(float64) float64 { return 0.1 }), 1e-13, 1, false, 0, 0.1, Refuted},
		{"lost in the resolution, but fast enough", at(func(h float64) float64 { return math.Pow(h, 6) }), 1e-9, 2, false, 6, 1, Confirmed},
	} {
		resolution := fill(len(steps), c.resolution)
		f := fitOrder(steps, c.errors, resolution)
		if got := f.verdict(c.claim, c.unstable); got != c.verdict {
			t.Errorf("%s: %s, want %s", c.reason, got, c.verdict)
		}
		near := func(a, b float64) bool { return math.IsNaN(b) || math.Abs(a-b) <= 0.01*(1+math.Abs(b)) }
		if !near(f.order, c.order) || !near(f.constant, c.constant) {
			t.Errorf("%s: %v h^%v, want %v h^%v", c.reason, f.constant, f.order, c.constant, c.order)
		}
	}
}

func TestFitExtrapolates(t *testing.T) {
	// c h²(1 + h): slopes are off by h/log 2, their limit by O(h²).
	steps := []float64{0.04, 0.02, 0.01, 0.005}
	var e []float64
	for _, h := range steps {
		e = append(e, 7*h*h*(1+h))
	}
	f := fitOrder(steps, e, fill(4, 1e-13))
	if math.Abs(f.order-2) > 2e-3 || math.Abs(f.constant/7-1) > 1e-3 {
		t.Errorf("%v h^%v, want 7 h²", f.constant, f.order)
	}
	if math.Abs(f.order-2) > f.uncertainty {
		t.Errorf("order %v ± %v does not cover 2", f.order, f.uncertainty)
	}
}
