package integrators

import "math"

var leapfrogIntegrator = Define(Integrator{
	Name:  "leapfrog",
	About: "drift, kick with explicit friction and noise, drift",
	Claims: Claims{
		WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 2,
		QuasiSymplectic: true,
		Source:          "Franzese et al. 2022, App. B.5.1, eq. 31",
	},
	Needs: Needs{Gradients: 1, Normals: 1},
}, func(dim int, p Params) (Stepper, Stepper) { return newLeapfrog(dim, p), nil })

// newLeapfrog returns the scheme
//
//	θ* = θ + (h/2) M⁻¹ r
//	r⁺ = r − h∇U(θ*) − hC M⁻¹ r + √(2Ch) ξ
//	θ⁺ = θ* + (h/2) M⁻¹ r⁺.
//
// In its stationary law the momentum is of order 1 and the position of order 2; the
// covariance of θ is exact for a Gaussian target.
func newLeapfrog(dim int, p Params) *Kick {
	h, C := p.Step, p.Friction
	half := p.Drift(h / 2)
	return NewKick(dim, half, Update{
		P: p.Coef(func(m float64) float64 { return 1 - h*C*m }),
		A: Coef{All: -h},
		Q: one,
		S: Coef{All: math.Sqrt(2 * C * h)},
		D: half,
	})
}
