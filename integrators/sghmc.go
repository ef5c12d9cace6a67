package integrators

import (
	"fmt"
	"math"
	"slices"
)

// VarianceCorrected is a Stepper that takes the variance of the mini-batch
// gradient into account. Variances are those of the scaled gradient K∇U_i, per
// coordinate.
type VarianceCorrected interface {
	Adapter
	// GradientVariance returns a copy of the estimate in use.
	GradientVariance() []float64
	// SetGradientVariance replaces the estimate and ends its adaptation.
	SetGradientVariance(v []float64)
}

var sghmcIntegrator = Define(Integrator{
	Name: "sghmc",
	About: "leapfrog whose noise is lessened by the estimated variance of the mini-batch " +
		"gradient (certified at the variance under the target)",
	Claims: Claims{
		WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 2, BatchOrder: 1,
		QuasiSymplectic: true,
		Source:          "Chen, Fox & Guestrin 2014, sec. 3.3",
	},
	Needs: Needs{Gradients: 1, Normals: 1},
}, func(dim int, p Params) (Stepper, Stepper) { return newSGHMC(dim, p), nil })

// varianceWindow is the number of steps that the running variance remembers: its
// relative standard deviation is then about √(1.5/1000), 4 %, while what the
// first steps of a burn-in left is gone after a few thousand.
const varianceWindow = 1000

// sghmc is leapfrog with noise of variance 2(C − B̂)h in place of 2Ch, where
// B̂ = hV̂/2 per coordinate, and the variance is floored at 0.
//
// V̂ is a running mean of half the squared difference of successive gradients
// (von Neumann's estimator of a variance in the presence of drift). In random orders
// neighbours are mostly different batches, so that it is (K + 1)/K times the variance, and
// (2K + 1)/(2K) times in symmetric sweeps. The
// variance of the gradients about their own mean would count the movement of
// ∇U along the chain as noise. What ∇U moves within a step, about
// ½h²E(∇²U M⁻¹r)², is still counted: where a batch is all of the data, the caller
// sets V̂ = 0 (package chain does). So it is before the second gradient: without a
// burn-in the scheme is leapfrog.
//
// The correction assumes gradient noise that is independent from step to
// step. Under reshuffle it is not, and the correction is then itself an error
// of order 1. Package certify sets V̂ to the variance under the target, which is less than
// what chains find in random orders, by that factor; with the full batch it is 0, and the
// scheme is leapfrog.
type sghmc struct {
	adaptive
	h, C     float64
	v, prev  []float64 // V̂ and the last gradient
	observed int
}

// newSGHMC starts at V̂ = 0, where the noise is that of leapfrog, but a number per coordinate.
func newSGHMC(dim int, p Params) *sghmc {
	s := &sghmc{h: p.Step, C: p.Friction, v: make([]float64, dim), prev: make([]float64, dim)}
	s.adaptive = adaptive{leapfrog: newLeapfrog(dim, p), observe: s.observe}
	s.leapfrog.update.S.Each = make([]float64, dim)
	s.correct()
	return s
}

// observe takes a gradient into V̂.
func (s *sghmc) observe(gradient, _ []float64) {
	if s.observed > 0 {
		// The mean over all differences so far, until there are varianceWindow of them.
		weight := max(1/float64(s.observed), 1./varianceWindow)
		for i, g := range gradient {
			d := g - s.prev[i]
			s.v[i] += weight * (d*d/2 - s.v[i])
		}
		s.correct()
	}
	copy(s.prev, gradient)
	s.observed++
}

// correct derives the noise from V̂.
func (s *sghmc) correct() {
	for i, v := range s.v {
		s.leapfrog.update.S.Each[i] = math.Sqrt(max(0, 2*(s.C-s.h*v/2)*s.h))
	}
}

// GradientVariance returns a copy of V̂.
func (s *sghmc) GradientVariance() []float64 { return slices.Clone(s.v) }

// SetGradientVariance sets V̂ and freezes it.
func (s *sghmc) SetGradientVariance(v []float64) {
	if len(v) != len(s.v) {
		panic(fmt.Sprintf("integrators: %d gradient variances, want %d", len(v), len(s.v)))
	}
	copy(s.v, v)
	s.correct()
	s.Freeze()
}
