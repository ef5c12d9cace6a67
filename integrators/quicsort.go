package integrators

import "math"

var quicsortMethod = Define(Method{
	Name:  "quicsort",
	About: "explicit scheme of order 3 with two gradients and no Hessian",
	Claims: Claims{
		WeakOrder: 3, ErgodicOrder: 3, PositionOrder: 3,
		Gradients: 2, Normals: 3,
		Source: "Foster et al. 2025, arXiv 2508.16485 (QUICSORT)",
	},
}, func(dim int, p Params) (Stepper, Stepper) { return newQUICSORT(dim, p), nil })

// quicsort is the scheme of Foster et al., with W ~ N(0, h), H ~ N(0, h/12),
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
//
// A coefficient is named by what it goes into and what it multiplies.
type quicsort struct {
	theta1V, theta1W           Coef
	theta2V, theta2W, theta2F1 Coef
	thetaV, thetaW             Coef
	thetaF1, thetaF2           Coef
	rV, rW, rF1, rF2, rH, rL   Coef
	vH, vL, wW, wL, h          Coef

	xiW, xiH, xiL, v, w, f1 []float64
	stage                   *Stage
}

func newQUICSORT(dim int, p Params) *quicsort {
	h, C := p.Step, p.Friction
	c1, c2 := (3-math.Sqrt(3))/6, (3+math.Sqrt(3))/6
	rho := math.Sqrt(2 * C)
	sdH, sdL := rho*math.Sqrt(h/12), rho*math.Sqrt(h/720)
	decay := func(s, by float64) Coef {
		return p.Coef(func(m float64) float64 { return by * math.Exp(-C*m*s*h) })
	}
	a := func(s, by float64) Coef {
		return p.Coef(func(m float64) float64 { return by * -math.Expm1(-C*m*s*h) / C })
	}
	b := func(s float64) Coef {
		return p.Coef(func(m float64) float64 { return expDefect(C*m*s*h) / (C * C * m * h) })
	}
	all := func(x float64) Coef { return Coef{All: x} }
	u := vectors(6, dim)
	return &quicsort{
		theta1V: a(c1, 1), theta1W: b(c1),
		theta2V: a(c2, 1), theta2W: b(c2), theta2F1: a(1./3, -1),
		thetaV: a(1, 1), thetaW: b(1), thetaF1: a(c2, -0.5), thetaF2: a(c1, -0.5*h),
		rV: decay(1, 1), rF1: decay(c2, -0.5), rF2: decay(c1, -0.5*h),
		rW: p.Coef(func(m float64) float64 { return -math.Expm1(-C*m*h) / (C * m * h) }),
		rH: all(-sdH), rL: all(6 * sdL),
		vH: all(sdH), vL: all(6 * sdL), wW: all(rho * math.Sqrt(h)), wL: all(-12 * sdL), h: all(h),
		xiW: u[0], xiH: u[1], xiL: u[2], v: u[3], w: u[4], f1: u[5], stage: NewStage(dim),
	}
}

func (s *quicsort) Step(z *State, f Force, n Noise) {
	n.Normal(s.xiW)
	n.Normal(s.xiH)
	n.Normal(s.xiL)
	Combine(s.v, times(one, z.R), times(s.vH, s.xiH), times(s.vL, s.xiL))
	Combine(s.w, times(s.wW, s.xiW), times(s.wL, s.xiL))

	theta, v, w := times(one, z.Theta), func(c Coef) Term { return times(c, s.v) }, func(c Coef) Term { return times(c, s.w) }
	g := s.stage.Gradient(f, theta, v(s.theta1V), w(s.theta1W))
	Combine(s.f1, g.Times(s.h))
	f1 := func(c Coef) Term { return times(c, s.f1) }

	g = s.stage.Gradient(f, theta, v(s.theta2V), w(s.theta2W), f1(s.theta2F1))
	Combine(z.Theta, theta, v(s.thetaV), w(s.thetaW), f1(s.thetaF1), g.Times(s.thetaF2))
	Combine(z.R, v(s.rV), w(s.rW), f1(s.rF1), g.Times(s.rF2), times(s.rH, s.xiH), times(s.rL, s.xiL))
}

// expDefect returns e^{−x} − 1 + x for x ≥ 0 to full relative accuracy: by t =
// tanh(x/2) it is 2(x/2 − t + t²/(1 + t)), a sum of positive terms.
func expDefect(x float64) float64 {
	t := math.Tanh(x / 2)
	return 2 * (tanhDefect(x/2) + t*t/(1+t))
}
