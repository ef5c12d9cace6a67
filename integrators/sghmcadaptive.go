package integrators

import (
	"math"
	"slices"
)

var sghmcAdaptiveIntegrator = Define(Integrator{
	Name:  "sghmc-adaptive",
	About: "leapfrog with M⁻¹ = V̂^{−1/2}, V̂ estimated during burn-in from the squared gradients",
	Claims: Claims{
		WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 2,
		QuasiSymplectic: true,
		Source: "Springenberg et al. 2016, sec. 4 (scale-adapted SGHMC); " +
			"frozen after burn-in",
	},
	Needs: Needs{Gradients: 1, Normals: 1},
}, func(dim int, p Params) (Stepper, Stepper) { return newSGHMCAdaptive(dim, p), nil })

// leastSquare keeps V̂ of a coordinate that never feels a force off zero, as
// the authors' code does.
const leastSquare = 1e-16

// sghmcAdaptive is leapfrog with a preconditioner that it learns until
// Freeze. With τ' = τ + 1 and old values on the right-hand sides, each
// gradient ∇ changes
//
//	τ ← τ + 1 − g²τ/V̂,   g ← (1 − 1/τ')g + ∇/τ',   V̂ ← (1 − 1/τ')V̂ + ∇²/τ',
//
// and M⁻¹ = V̂^{−1/2}. Before each of these updates τ is raised to half the
// number of gradients seen, if it is below. Without that, τ falls to 1 wherever
// successive gradients are alike, as they are with the full batch and small
// steps, and V̂ is then the square of the last gradient: frozen, M⁻¹ scatters
// over orders of magnitude, and where it is large by chance the chain is
// unstable. Where the noise of mini-batches rules, τ grows as fast by itself.
//
// V̂ starts from Params.InvMass (from 1 without it), g
// from √V̂, so that g² ≤ V̂ always, and τ from 1. Frozen, it is leapfrog for
// the stationary density exp(−U(θ) − ½ rᵀM⁻¹r): the authors' term for the
// noise of the gradient is left out, since V̂, not being centred, is no
// estimate of it.
//
// A momentum belongs to its mass: whenever M changes to M', the momentum is
// rescaled to r√(M'/M), which takes N(0, M) to N(0, M'). So at Freeze, which
// leaves M as the last step made it, the momentum needs neither a new draw
// nor a rescaling. (The authors keep the velocity M⁻¹r instead. That takes
// N(0, M) to a law of variance M'²/M.)
type sghmcAdaptive struct {
	adaptive
	h, C           float64
	m, v, avg, tau []float64 // M⁻¹, V̂, g, τ
	observed       int       // gradients
}

func newSGHMCAdaptive(dim int, p Params) *sghmcAdaptive {
	v := vectors(4, dim)
	s := &sghmcAdaptive{h: p.Step, C: p.Friction, m: v[0], v: v[1], avg: v[2], tau: v[3]}
	for i := range dim {
		s.m[i] = 1
		if p.InvMass != nil {
			s.m[i] = p.InvMass[i]
		}
		s.avg[i] = 1 / s.m[i]
		s.v[i] = s.avg[i] * s.avg[i]
		s.tau[i] = 1
	}
	// Even if it is the identity, the leapfrog is made with a mass: its coefficients then have a
	// number for each coordinate, which observe changes in place.
	p.InvMass = s.m
	s.adaptive = adaptive{leapfrog: newLeapfrog(dim, p), observe: s.observe}
	return s
}

// observe takes a gradient into V̂, M and the coefficients, and rescales the
// momentum r to the new mass.
func (s *sghmcAdaptive) observe(gradient, r []float64) {
	shortest := float64(s.observed) / 2
	s.observed++
	for i, g := range gradient {
		tau := max(s.tau[i], shortest)
		rate := 1 / (tau + 1)
		// τ comes first, since it is made of the old g and V̂.
		s.tau[i] = tau + 1 - s.avg[i]*s.avg[i]*tau/s.v[i]
		s.avg[i] += rate * (g - s.avg[i])
		s.v[i] = max(leastSquare, s.v[i]+rate*(g*g-s.v[i]))

		m := 1 / math.Sqrt(s.v[i])
		r[i] *= math.Sqrt(s.m[i] / m)
		s.m[i] = m
		// The second half of the drift, update.D, has the same numbers in memory.
		s.leapfrog.drift.Each[i] = s.h / 2 * m
		s.leapfrog.update.P.Each[i] = 1 - s.h*s.C*m
	}
}

func (s *sghmcAdaptive) invMass() []float64 { return slices.Clone(s.m) }
