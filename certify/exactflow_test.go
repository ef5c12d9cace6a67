package certify

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestExactFlowsAreExactAtAnyFrictionAndMass holds exact flows to what is known of them: with the
// full batch they have no error, and under random orders of the batches the one that is predicted.
// Friction and masses are from 10^±6, so that rates are up to 10^15 apart, where the error of
// squaring a flow would be that many times the rounding.
func TestExactFlowsAreExactAtAnyFrictionAndMass(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	power := func() float64 { return math.Pow(10, 12*rng.Float64()-6) }
	found := make(map[Verdict]int)
	check := func(friction float64, invMass ...float64) {
		t.Helper()
		p := &Problem{Name: "flow", Kind: Gaussian, Friction: friction}
		for i := range 2 { // both batches have their own mean and curvature
			x := float64(1 + i)
			if len(invMass) == 1 {
				p.gaussian = append(p.gaussian, newAffineForce([]float64{x}, []float64{x - 1.5}))
			} else {
				p.gaussian = append(p.gaussian, newAffineForce([]float64{x, 0.2, 0.2, 3}, []float64{x, -x}))
			}
		}
		o := Options{Problem: p, InvMass: invMass}
		for _, x := range certifyOne(t, o, "exact", "full").Observables {
			found[x.Verdict]++
			if x.Verdict != Exact && x.Verdict != Inconclusive {
				t.Errorf("C = %g, M⁻¹ = %v: %s is %s with order %v", friction, invMass, x.Name, x.Verdict, x.Order)
			}
			for i, e := range x.Relative {
				if !(e <= x.RelativeResolution[i]) {
					t.Errorf("C = %g, M⁻¹ = %v: %s has error %g, resolution %g",
						friction, invMass, x.Name, e, x.RelativeResolution[i])
				}
			}
		}
		for _, x := range certifyOne(t, o, "exact", "reshuffle").Observables {
			found[x.Verdict]++
			// Where friction is low, the batches' orders may be in resonance with a mode.
			if x.Verdict == Refuted || x.Verdict == Exact || x.Apart {
				t.Errorf("C = %g, M⁻¹ = %v, reshuffle: %s is %s with order %v and %v, %v predicted",
					friction, invMass, x.Name, x.Verdict, x.Order, x.Constant, x.Predicted)
			}
		}
	}
	check(1, 100)
	check(1, 1, 1000)
	check(1e6, 1)
	check(3e-6, 7.2e6, 7.2e6) // waves of many lengths in a step, hardly damped
	for range 40 {
		check(power(), power())
		check(power(), power(), power())
	}
	if found[Exact] < 95 || found[Confirmed] < 72 {
		t.Errorf("verdicts %v: want most of those decided whose rates are near to one another", found)
	}
}
