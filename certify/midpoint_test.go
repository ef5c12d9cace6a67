package certify

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

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

// With the full batch midpoint's step is random, too: its second moments grow before its mean
// does. Here they are integrated over the uniform number by Simpson's rule, of the scheme written
// out for one dimension of curvature λ and unit mass.
func TestMidpointIsUnstableWhereItsSecondMomentsGrow(t *testing.T) {
	growth := func(h, c, lambda float64) float64 {
		const n = 400
		mean := mat.NewDense(3, 3, nil) // of (θ², θr, r²)
		for i := range n + 1 {
			weight := 1. / (3 * n) * []float64{2, 4}[i%2]
			if i == 0 || i == n {
				weight /= 2
			}
			s, rest := float64(i)/n*h, (1-float64(i)/n)*h
			e1, e2 := math.Exp(-c*s), math.Exp(-c*rest)
			b1, b2 := (1-e1)/c, (1-e2)/c
			// θ and r after the first flow, and r after the kick, as rows over (θ₀, r₀).
			kickT, kickR := -h*lambda*(1-lambda*(s-b1)/c), e1-h*lambda*b1
			a, b, c, d := 1+b2*kickT, b1+b2*kickR, e2*kickT, e2*kickR
			for j, x := range [...]float64{a * a, 2 * a * b, b * b, a * c, a*d + b*c, b * d, c * c, 2 * c * d, d * d} {
				mean.Set(j/3, j%3, mean.At(j/3, j%3)+weight*x)
			}
		}
		var eigen mat.Eigen
		eigen.Factorize(mean, mat.EigenNone)
		radius := 0.0
		for _, v := range eigen.Values(nil) {
			radius = max(radius, math.Hypot(real(v), imag(v)))
		}
		return radius
	}
	for _, c := range []float64{0.3, 2, 9} {
		const lambda = 1.7
		p := &Problem{Kind: Gaussian, Friction: c, gaussian: []*affineForce{newAffineForce([]float64{lambda}, []float64{1})}}
		h := float64(*answersOf(t, Options{Problem: p, Stability: true, Steps: []float64{0.01}}, "midpoint", "full").StableStep)
		if below, above := growth(h*0.999, c, lambda), growth(h*1.001, c, lambda); !(below < 1 && above > 1) {
			t.Errorf("friction %g: second moments grow by %.6g just below the largest stable step %g, by %.6g just above", c, below, h, above)
		}
	}
}
