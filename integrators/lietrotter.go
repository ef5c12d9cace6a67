package integrators

var lieTrotterMethod = Define(Method{
	Name:  "lietrotter",
	About: "N_l leapfrog steps without friction, then one exact refreshment; C = +Inf is HMC without rejection",
	Claims: Claims{
		// exp(hH)exp(hD) is of weak order 1 only; but exp(hD) keeps the
		// target, so that it is conjugate to a symmetric splitting by a
		// map that does no harm, and its stationary law is of order 2.
		WeakOrder: 1, ErgodicOrder: 2, PositionOrder: 2,
		Gradients: 1, Normals: 1, QuasiSymplectic: true,
		Source: "Franzese et al. 2022, eq. 12–15 and App. B.5.3, eq. 44; Abdulle, Vilmart & Zygalakis 2015",
	},
	InnerSteps: true, FullRefreshment: true,
}, func(dim int, p Params) (Stepper, Stepper) {
	if p.Inner == 1 {
		return newHamiltonian(dim, p, true), nil
	}
	return newHamiltonian(dim, p, false), newRefresh(p, p.Step*float64(p.Inner))
})

// newHamiltonian returns the leapfrog step of the Hamiltonian flow alone:
// θ += (h/2)M⁻¹r, r −= h∇U(θ), θ += (h/2)M⁻¹r. It uses no noise. With refreshed
// the refreshment after it is in the same pass, for N_l = 1.
func newHamiltonian(dim int, p Params, refreshed bool) *Kick {
	half := p.Drift(p.Step / 2)
	u := Update{P: one, A: Coef{All: -p.Step}, B: half, Q: one}
	if refreshed {
		u.Q, u.S = p.Refreshment(p.Step)
	}
	return NewKick(dim, half, u)
}

// newRefresh returns exact friction and noise over a time t,
// r ← e^{−C M⁻¹ t} r + √(M(1 − e^{−2C M⁻¹ t})) ξ; with C = +Inf, r ← √M ξ.
func newRefresh(p Params, t float64) Stepper {
	decay, noise := p.Refreshment(t)
	return &flow{Update{P: one, Q: decay, S: noise}}
}
