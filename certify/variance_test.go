package certify

import (
	"testing"
)

// TestCorrectionOfSGHMC: under random orders the correction turns order 2 of θ
// into 1; with batches drawn at every step, which it is made for, it makes the
// error smaller; with the full batch it does nothing.
func TestCorrectionOfSGHMC(t *testing.T) {
	for _, p := range sampled([]*Problem{gaussianBuiltin(), scalarBuiltin()}, 0) {
		name := map[Kind]string{Gaussian: "theta.cov", Scalar: "theta^2"}[p.Kind]
		of := func(integrator, scheme string) Observable {
			return certifyOne(t, Options{Problem: p}, integrator, scheme).observable(t, name)
		}
		last := func(o Observable) float64 { return float64(o.Errors[len(o.Errors)-1]) }
		if a, b := of("sghmc", "full"), of("leapfrog", "full"); last(a) != last(b) {
			t.Errorf("%s, full: %v, leapfrog %v", p.Name, last(a), last(b))
		}
		if a, b := of("sghmc", "reshuffle"), of("leapfrog", "reshuffle"); a.Order != 1 || b.Order != 2 {
			t.Errorf("%s, reshuffle: order %v, leapfrog %v, want 1 and 2", p.Name, a.Order, b.Order)
		}
		if a, b := of("sghmc", "replacement"), of("leapfrog", "replacement"); !(last(a) < last(b)/2) {
			t.Errorf("%s, replacement: error %v, leapfrog %v, want less than half", p.Name, last(a), last(b))
		}
	}
}
