package integrators

import "math"

var symmetricIntegrator = Define(Integrator{
	Name:  "symmetric",
	About: "symmetric splitting with exact friction around a noisy kick",
	Claims: Claims{
		WeakOrder: 2, ErgodicOrder: 2, PositionOrder: 2,
		QuasiSymplectic: true,
		Source:          "Chen, Ding & Carin 2015 (symmetric splitting integrator)",
	},
	Needs: Needs{Gradients: 1, Normals: 1},
}, func(dim int, p Params) (Stepper, Stepper) { return newSymmetric(dim, p), nil })

// newSymmetric returns the splitting of Chen, Ding and Carin,
//
//	θ* = θ + (h/2) M⁻¹ r
//	r  ← e^{−C M⁻¹ h/2} r
//	r  ← r − h∇U(θ*) + √(2Ch) ξ
//	r  ← e^{−C M⁻¹ h/2} r
//	θ⁺ = θ* + (h/2) M⁻¹ r.
//
// The three momentum lines are one affine map, e²r − eh∇U + e√(2Ch) ξ with
// e = e^{−C M⁻¹ h/2}.
func newSymmetric(dim int, p Params) *Kick {
	h, C := p.Step, p.Friction
	half := p.Drift(h / 2)
	return NewKick(dim, half, Update{
		P: p.Coef(func(m float64) float64 { return math.Exp(-C * m * h) }),
		A: p.Coef(func(m float64) float64 { return -h * math.Exp(-C*m*h/2) }),
		Q: one,
		S: p.Coef(func(m float64) float64 { return math.Sqrt(2*C*h) * math.Exp(-C*m*h/2) }),
		D: half,
	})
}
