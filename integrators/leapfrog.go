package integrators

import (
	"math"

	"hambench/internal/vec"
)

func leapfrogMethod() Method {
	return define(Method{
		Name:  "leapfrog",
		About: "drift, kick with explicit friction and noise, drift",
		Claims: Claims{
			WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 2,
			Gradients: 1, Normals: 1, QuasiSymplectic: true,
			Source: "Franzese et al. 2022, App. B.5.1, eq. 31",
		},
	}, limits{}, func(dim int, p Params) (Stepper, Stepper) { return newLeapfrog(dim, p), nil })
}

// leapfrog is the scheme
//
//	θ* = θ + (h/2) M⁻¹ r
//	r⁺ = r − h∇U(θ*) − hC M⁻¹ r + √(2Ch) ξ
//	θ⁺ = θ* + (h/2) M⁻¹ r⁺.
//
// Its momentum is of order 1, its position of order 2; the stationary
// covariance of θ is exact for a Gaussian target.
type leapfrog struct {
	g    []float64
	half Coef
	kick Update // kick, friction and noise, then the second drift
}

func newLeapfrog(dim int, p Params) *leapfrog {
	h, C := p.Step, p.Friction
	g := make([]float64, dim)
	half := p.drift(h / 2)
	return &leapfrog{
		g:    g,
		half: half,
		kick: Update{
			G: g,
			P: p.coef(func(m float64) float64 { return 1 - h*C*m }),
			A: Coef{All: -h},
			Q: one,
			S: Coef{All: math.Sqrt(2 * C * h)},
			D: half,
		},
	}
}

func (s *leapfrog) Step(z *State, f Force, n Noise) {
	vec.AddScaled(z.Theta, s.half, z.R)
	f.Gradient(s.g, z.Theta)
	s.kick.Theta, s.kick.R = z.Theta, z.R
	n.Update(&s.kick)
}
