package integrators

import "math"

var lieTrotterIntegrator = Define(Integrator{
	Name: "lietrotter",
	About: "N_l leapfrog steps without friction, then one exact refreshment; " +
		"C = +Inf is HMC without rejection",
	Claims: Claims{
		// exp(hH)exp(hD) is of weak order 1 only; but exp(hD) keeps the
		// target, so that it is conjugate to a symmetric splitting by a
		// map that does no harm, and its stationary law is of order 2.
		WeakOrder: 1, ErgodicOrder: 2, PositionOrder: 2,
		QuasiSymplectic: true,
		Source: "Franzese et al. 2022, eq. 12–15 and App. B.5.3, eq. 44; " +
			"Abdulle, Vilmart & Zygalakis 2015",
	},
	Needs:      Needs{Gradients: 1, Normals: 1},
	InnerSteps: true, FullRefreshment: true,
}, newLieTrotter)

// newLieTrotter returns the leapfrog step of the Hamiltonian flow alone, which
// uses no noise,
//
//	θ ← θ + (h/2)M⁻¹r,   r ← r − h∇U(θ),   θ ← θ + (h/2)M⁻¹r,
//
// and what follows N_l of them, exact friction and noise over t = N_l h,
//
//	r ← e^{−C M⁻¹ t} r + √(M(1 − e^{−2C M⁻¹ t})) ξ;  with C = +Inf, r ← √M ξ.
//
// For N_l = 1 that is in the same pass.
func newLieTrotter(dim int, p Params) (kernel, refresh Stepper) {
	half, t := p.Drift(p.Step/2), p.Step*float64(p.Inner)
	decay := p.Coef(func(m float64) float64 { return math.Exp(-p.Friction * m * t) })
	noise := p.Coef(func(m float64) float64 {
		return math.Sqrt(-math.Expm1(-2*p.Friction*m*t) / m)
	})
	u := Update{P: one, A: Coef{All: -p.Step}, B: half, Q: one}
	if p.Inner == 1 {
		u.Q, u.S = decay, noise
		return NewKick(dim, half, u), nil
	}
	return NewKick(dim, half, u), &flow{Update{P: one, Q: decay, S: noise}}
}
