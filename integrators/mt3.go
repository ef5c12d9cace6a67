package integrators

import "math"

// w2Variance is the name of mt3's own parameter.
const w2Variance = "w2-variance"

var mt3Integrator = Define(Integrator{
	Name:  "mt3",
	About: "three-stage quasi-symplectic scheme of weak order 3, with a Hessian-vector product",
	Parameters: []Parameter{{
		Name: w2Variance, About: "variance of w₂; any other than 1/12 leaves order 2",
		Default: 1. / 12, High: 100,
	}},
	Claims: Claims{
		WeakOrder: 3, ErgodicOrder: 3, PositionOrder: 3,
		QuasiSymplectic: true,
		Source: "Milstein & Tretyakov 2003, sec. 2.3; " +
			"Franzese et al. 2022, App. B.5.2, eq. 39–43",
	},
	Needs: Needs{Gradients: 3, HessianVectors: 1, Normals: 2},
}, func(dim int, p Params) (Stepper, Stepper) { return newMT3(dim, p), nil })

// newMT3 returns the third-order scheme of Milstein and Tretyakov. With
// F_i = −∇U(θ_i) − C M⁻¹ r_i its stages are
//
//	θ₁ = θ + (7/24)h M⁻¹ r                                r₁ = r + (7/24)h F₁
//	θ₂ = θ + (25/24)h M⁻¹ r + (h²/2) M⁻¹ F₁               r₂ = r + (2/3)h F₁ + (3/8)h F₂
//	θ₃ = θ + h M⁻¹ r + (h²/36) M⁻¹ (17F₁ + F₂)            r₃ = r + (2/3)h(F₁ − F₂) + h F₃,
//
// where each momentum is implicit in itself alone, so that one division
// solves it, and the step is, with c = √(2C) and independent w₁ ~ N(0, I) and
// w₂ ~ N(0, I/12),
//
//	θ⁺ = θ₃ + h^{3/2} c M⁻¹(w₁/2 + w₂) − h^{5/2} c C M⁻² w₁/6
//	r⁺ = r₃ + h^{1/2} c w₁ − h^{3/2} c C M⁻¹(w₁/2 + w₂)
//	        + h^{5/2} c (C² M⁻² w₁ − ∇²U(θ₃) M⁻¹ w₁)/6.
//
// h^{3/2}(w₁/2 + w₂) stands for the integral of the Wiener process over the
// step, whose variance h³/3 = h³(1/4 + 1/12) fixes the variance of w₂, which
// the paper leaves out.
//
// All is linear in r, the F_i, the gradients g_i and the noise. With d_i = 1/(1 +
// a_i C M⁻¹), a_i the weight of F_i in its own stage, r₁ = d₁(r − a₁g₁), and so
// F₁ = −g₁ − C M⁻¹r₁ = −d₁(C M⁻¹r + g₁).
func newMT3(dim int, p Params) *Stages {
	h, C := p.Step, p.Friction
	noise, sd := math.Sqrt(2*C*h), math.Sqrt(p.Values[w2Variance])
	return NewStages(dim, p, func(s *Stages, m float64) {
		d := func(a float64) float64 { return 1 / (1 + a*h*C*m) }
		d1, d2, d3 := d(7./24), d(3./8), d(1)
		theta, r, w1, w2 := s.Theta, s.R, s.Normal(), s.Normal()

		_, g := s.Gradient(theta.Times(1), r.Times(7./24*h*m))
		f1 := s.Sum(r.Times(-C*m*d1), g.Times(-d1))

		_, g = s.Gradient(theta.Times(1), r.Times(25./24*h*m), f1.Times(h*h/2*m))
		f2 := s.Sum(r.Times(-C*m*d2), f1.Times(-2./3*h*C*m*d2), g.Times(-d2))

		theta3, g, hv := s.Derivatives(w1.Times(m),
			theta.Times(1), r.Times(h*m), f1.Times(17./36*h*h*m), f2.Times(1./36*h*h*m))
		s.Set(theta, theta3.Times(1), w1.Times(noise*h*m*(1./2-C*m*h/6)), w2.Times(noise*h*sd*m))
		s.Set(r, r.Times(d3), f1.Times(2./3*h*d3), f2.Times(-2./3*h*d3), g.Times(-h*d3),
			w1.Times(noise*(1-C*m*h/2+C*m*h*C*m*h/6)), w2.Times(-noise*C*h*sd*m),
			hv.Times(-noise*h*h/6))
	})
}
