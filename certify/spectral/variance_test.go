package spectral

import (
	"math"
	"testing"

	"hambench/certify/probe"
)

// Of two quadratic wells the gradients differ by 0.8θ + b: with k_i c_i = 0.48 and −0.7 by
// 0.8θ + 1.18, half of it each way from the mean, and θ has the mean −0.11 and the variance 1.
func TestGradientVarianceOfQuadraticWells(t *testing.T) {
	e, err := New(Mean{Oscillator{Stiffness: 0.6, Center: 0.8},
		Oscillator{Stiffness: 1.4, Center: -0.5}}, 1, probe.Estimation{})
	if err != nil {
		t.Fatal(err)
	}
	apart := 0.8*-0.11 + 1.18
	if want := (0.8*0.8 + apart*apart) / 4; math.Abs(e.variance/want-1) > 1e-9 {
		t.Errorf("variance %v, want %v", e.variance, want)
	}
}
