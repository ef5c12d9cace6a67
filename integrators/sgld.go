package integrators

import "math"

var sgldIntegrator = Define(Integrator{
	Name: "sgld",
	About: "stochastic-gradient Langevin dynamics: Euler's step of the position alone, " +
		"without momentum or friction",
	Claims: Claims{
		WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 1,
		Source: "Welling & Teh 2011, eq. 4, with the step h = ε/2",
	},
	Needs:        Needs{Gradients: 1, Normals: 1},
	PositionOnly: true,
}, func(dim int, p Params) (Stepper, Stepper) { return newSGLD(dim, p), nil })

// sgld is Euler's scheme for dθ = −M⁻¹∇U dt + √(2M⁻¹) dW,
//
//	θ⁺ = θ − h M⁻¹∇U(θ) + √(2h M⁻¹) ξ,
//
// stable up to h = 2/λ, λ the largest curvature, where leapfrog without friction
// is up to 2/√λ.
type sgld struct {
	kick Update // with θ in the place of r
}

func newSGLD(dim int, p Params) *sgld {
	return &sgld{Update{
		G: make([]float64, dim),
		P: one,
		A: p.Drift(-p.Step),
		Q: one,
		S: p.Coef(func(m float64) float64 { return math.Sqrt(2 * p.Step * m) }),
	}}
}

func (s *sgld) Step(z *State, f Force, n Noise) {
	f.Gradient(s.kick.G, z.Theta)
	s.kick.R = z.Theta
	n.Update(&s.kick)
}
