package certify

import "testing"

// The mixture over the uniform number is of order 3, and batches cap it; runs of all leave it out.
func TestMidpointIsCertifiedAsAMixture(t *testing.T) {
	for _, c := range []struct {
		scheme, observable string
		order              Number
	}{{"full", "joint.cov", 3}, {"reshuffle", "theta.cov", 2}, {"replacement", "theta.cov", 1}} {
		o := Options{Problem: gaussianBuiltin(), InvMass: []float64{0.7, 1.9}}
		got := certifyOne(t, o, "midpoint", c.scheme).observable(t, c.observable)
		if got.Order != c.order || got.Verdict != Confirmed {
			t.Errorf("%s under %s is of order %v, %s: want %v", c.observable, c.scheme, got.Order, got.Verdict, c.order)
		}
	}
	for _, m := range All(gaussianBuiltin()) {
		if m.Mixes() {
			t.Errorf("%s is one of all", m.Name)
		}
	}
}
