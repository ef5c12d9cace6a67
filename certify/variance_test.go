package certify

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The variance of the batches' gradient, by draws of the target.
func TestGradientVariance(t *testing.T) {
	p := gaussianBuiltin()
	e, err := newGaussianEngine(p, nil, estimation{})
	if err != nil {
		t.Fatal(err)
	}
	const draws = 200_000
	rng, got, mean := rand.New(rand.NewPCG(5, 6)), make([]float64, 2), meanAffine(p.gaussian)
	for range draws {
		theta := e.frame.fromWhite([]float64{rng.NormFloat64(), rng.NormFloat64(), 0, 0})[:2]
		floats.AddScaled(theta, 1, e.frame.centre)
		whole := gradient(mean, theta)
		for _, b := range p.gaussian {
			for i, g := range gradient(b, theta) {
				got[i] += (g - whole[i]) * (g - whole[i]) / (draws * float64(len(p.gaussian)))
			}
		}
	}
	for i, want := range e.variance {
		// Squares of normals scatter by √2 of their mean: 5 σ of 200 000 are 1.6 %.
		if math.Abs(got[i]/want-1) > 0.016 {
			t.Errorf("coordinate %d: %v in %d draws, computed %v", i, got[i], draws, want)
		}
	}
	// The spectral engine agrees where both take a problem.
	quadratic := &Problem{Name: "well", Kind: Scalar, Friction: 1, scalar: scalarMean{Oscillator{Stiffness: 0.6, Center: 0.8}, Oscillator{Stiffness: 1.4, Center: -0.5}}}
	s, err := newSpectralEngine(quadratic, estimation{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGaussianEngine(&Problem{Kind: Gaussian, Friction: 1, gaussian: []*affineForce{
		newAffineForce([]float64{0.6}, []float64{0.48}), newAffineForce([]float64{1.4}, []float64{-0.7})}}, nil, estimation{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.variance/g.variance[0]-1) > 1e-9 {
		t.Errorf("variance %v by the spectral engine, %v by the Gaussian one", s.variance, g.variance[0])
	}
}

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
