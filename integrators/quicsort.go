package integrators

import "math"

var quicsortIntegrator = Define(Integrator{
	Name:  "quicsort",
	About: "explicit scheme of order 3 with two gradients and no Hessian",
	Claims: Claims{
		WeakOrder: 3, ErgodicOrder: 3, PositionOrder: 3,
		Source: "Scott et al. 2025, arXiv 2508.16485 (QUICSORT)",
	},
	Needs: Needs{Gradients: 2, Normals: 3},
}, func(dim int, p Params) (Stepper, Stepper) { return newQUICSORT(dim, p), nil })

// newQUICSORT returns the scheme of Scott et al., with W ~ N(0, h), H ~ N(0, h/12),
// L ~ N(0, h/720), independent, of the Wiener path over the step, ρ = √(2C), the
// nodes c₁, c₂ = (3 ∓ √3)/6 and, at a fraction s of the step and with x =
// C M⁻¹ s h,
//
//	e_s = e^{−x},   a_s = (1 − e_s)/C,   b_s = (e_s + x − 1)/(C² M⁻¹ h).
//
// With ω = ρ(W − 12L) and ṽ = r + ρ(H + 6L) it is
//
//	θ₁ = θ + a_{c₁}ṽ + b_{c₁}ω,                   F₁ = h∇U(θ₁)
//	θ₂ = θ + a_{c₂}ṽ + b_{c₂}ω − a_{1/3}F₁,       F₂ = h∇U(θ₂)
//	θ⁺ = θ + a₁ṽ + b₁ω − ½(a_{c₂}F₁ + a_{c₁}F₂)
//	r⁺ = e₁ṽ − ½(e_{c₂}F₁ + e_{c₁}F₂) + (a₁/(M⁻¹h))ω − ρ(H − 6L).
func newQUICSORT(dim int, p Params) *Stages {
	h, C := p.Step, p.Friction
	c1, c2 := (3-math.Sqrt(3))/6, (3+math.Sqrt(3))/6
	rho := math.Sqrt(2 * C)
	sdW, sdH, sdL := rho*math.Sqrt(h), rho*math.Sqrt(h/12), rho*math.Sqrt(h/720)
	return NewStages(dim, p, func(s *Stages, m float64) {
		x := func(part float64) float64 { return C * m * part * h }
		e := func(part float64) float64 { return math.Exp(-x(part)) }
		a := func(part, by float64) float64 { return by * -math.Expm1(-x(part)) / C }
		b := func(part float64) float64 { return expDefect(x(part)) / (C * C * m * h) }
		theta, xiW, xiH, xiL := s.Theta, s.Normal(), s.Normal(), s.Normal()
		v := s.Sum(s.R.Times(1), xiH.Times(sdH), xiL.Times(6*sdL))
		w := s.Sum(xiW.Times(sdW), xiL.Times(-12*sdL))

		_, g := s.Gradient(theta.Times(1), v.Times(a(c1, 1)), w.Times(b(c1)))
		f1 := s.Sum(g.Times(h))

		_, g = s.Gradient(theta.Times(1), v.Times(a(c2, 1)), w.Times(b(c2)), f1.Times(a(1./3, -1)))
		s.Set(theta, theta.Times(1), v.Times(a(1, 1)), w.Times(b(1)),
			f1.Times(a(c2, -0.5)), g.Times(a(c1, -0.5*h)))
		s.Set(s.R, v.Times(e(1)), w.Times(-math.Expm1(-x(1))/(C*m*h)),
			f1.Times(-0.5*e(c2)), g.Times(-0.5*h*e(c1)), xiH.Times(-sdH), xiL.Times(6*sdL))
	})
}

// expDefect returns e^{−x} − 1 + x for x ≥ 0 to full relative accuracy: by t =
// tanh(x/2) it is 2(x/2 − t + t²/(1 + t)), a sum of positive terms.
func expDefect(x float64) float64 {
	t := math.Tanh(x / 2)
	return 2 * (tanhDefect(x/2) + t*t/(1+t))
}
