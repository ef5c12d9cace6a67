package integrators

import "math"

var eulerIntegrator = Define(Integrator{
	Name:  "euler",
	About: "Euler–Maruyama, explicit, not quasi-symplectic",
	Claims: Claims{
		WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 1,
		Source: "Kloeden & Platen 1992, eq. 10.2.4",
	},
	Needs: Needs{Gradients: 1, Normals: 1},
}, func(dim int, p Params) (Stepper, Stepper) { return newEuler(dim, p), nil })

// euler is the Euler–Maruyama scheme,
//
//	θ⁺ = θ + h M⁻¹ r,   r⁺ = r − h∇U(θ) − hC M⁻¹ r + √(2Ch) ξ.
//
// Both lines use the state before the step: the gradient is taken at θ, and then θ drifts
// by r before r is kicked.
type euler struct {
	drift Coef   // h M⁻¹
	kick  Update // of r alone: its Theta is nil
}

func newEuler(dim int, p Params) *euler {
	h, C := p.Step, p.Friction
	return &euler{
		drift: p.Drift(h),
		kick: Update{
			G: make([]float64, dim),
			P: p.Coef(func(m float64) float64 { return 1 - h*C*m }),
			A: Coef{All: -h},
			Q: one,
			S: Coef{All: math.Sqrt(2 * C * h)},
		},
	}
}

func (s *euler) Step(z *State, f Force, n Noise) {
	f.Gradient(s.kick.G, z.Theta)
	Combine(z.Theta, times(one, z.Theta), times(s.drift, z.R))
	s.kick.R = z.R
	n.Update(&s.kick)
}
