package integrators

import "math"

// MT3Variance is the name of mt3's own parameter, the variance of w₂.
const MT3Variance = "w2-variance"

var mt3Method = Define(Method{
	Name:  "mt3",
	About: "three-stage quasi-symplectic scheme of weak order 3, with a Hessian-vector product",
	Parameters: []Parameter{{
		Name: MT3Variance, About: "variance of w₂; any other than 1/12 leaves order 2", Default: mt3W2Variance, High: 100,
	}},
	Claims: Claims{
		WeakOrder: 3, ErgodicOrder: 3, PositionOrder: 3,
		Gradients: 3, HessianVectors: 1, Normals: 2, QuasiSymplectic: true,
		Source: "Milstein & Tretyakov 2003, sec. 2.3; Franzese et al. 2022, App. B.5.2, eq. 39–43",
	},
}, func(dim int, p Params) (Stepper, Stepper) { return newMT3(dim, p), nil })

// mt3 is the third-order scheme of Milstein and Tretyakov. With
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
// All is linear in r, the F_i, the gradients g_i and the noise. A coefficient
// is named by what it goes into and what it multiplies. With d_i = 1/(1 +
// a_i C M⁻¹), a_i the weight of F_i in its own stage, r₁ = d₁(r − a₁g₁), and so
// F₁ = −g₁ − C M⁻¹r₁ = −d₁(C M⁻¹r + g₁).
type mt3 struct {
	theta1R                        Coef
	f1R, f1G                       Coef
	theta2R, theta2F1              Coef
	f2R, f2F1, f2G                 Coef
	theta3R, theta3F1, theta3F2    Coef
	invMass                        Coef
	thetaW1, thetaW2               Coef
	rR, rF1, rF2, rG, rW1, rW2, rH Coef

	f1, f2, w1, w2 []float64
	stage          *Stage // at its position; the direction is M⁻¹w₁
}

// mt3W2Variance is the variance of w₂.
const mt3W2Variance = 1. / 12

func newMT3(dim int, p Params) *mt3 {
	h, C := p.Step, p.Friction
	d1, d2, d3 := mt3Stage(p, 7./24), mt3Stage(p, 3./8), mt3Stage(p, 1)
	noise, sd := math.Sqrt(2*C*h), math.Sqrt(p.Values[MT3Variance])
	v := vectors(4, dim)
	s := &mt3{f1: v[0], f2: v[1], w1: v[2], w2: v[3], stage: NewStage(dim)}

	s.theta1R = p.Drift(7. / 24 * h)
	s.f1R = p.Coef(func(m float64) float64 { return -C * m * d1(m) })
	s.f1G = p.Coef(func(m float64) float64 { return -d1(m) })
	s.theta2R, s.theta2F1 = p.Drift(25./24*h), p.Drift(h*h/2)
	s.f2R = p.Coef(func(m float64) float64 { return -C * m * d2(m) })
	s.f2F1 = p.Coef(func(m float64) float64 { return -2. / 3 * h * C * m * d2(m) })
	s.f2G = p.Coef(func(m float64) float64 { return -d2(m) })
	s.theta3R, s.theta3F1, s.theta3F2 = p.Drift(h), p.Drift(17./36*h*h), p.Drift(1./36*h*h)
	s.invMass = p.Drift(1)
	s.thetaW1 = p.Coef(func(m float64) float64 { return noise * h * m * (1./2 - C*m*h/6) })
	s.thetaW2 = p.Drift(noise * h * sd)
	s.rR = p.Coef(d3)
	s.rF1 = p.Coef(func(m float64) float64 { return 2. / 3 * h * d3(m) })
	s.rF2 = p.Coef(func(m float64) float64 { return -2. / 3 * h * d3(m) })
	s.rG = p.Coef(func(m float64) float64 { return -h * d3(m) })
	s.rW1 = p.Coef(func(m float64) float64 { return noise * (1 - C*m*h/2 + C*m*h*C*m*h/6) })
	s.rW2 = p.Drift(-noise * C * h * sd)
	s.rH = Coef{All: -noise * h * h / 6}
	return s
}

// mt3Stage returns 1/(1 + a h C M⁻¹), which solves a stage of weight a for its
// momentum, as a function of M⁻¹.
func mt3Stage(p Params, a float64) func(m float64) float64 {
	return func(m float64) float64 { return 1 / (1 + a*p.Step*p.Friction*m) }
}

func (s *mt3) Step(z *State, f Force, n Noise) {
	n.Normal(s.w1)
	n.Normal(s.w2)

	theta, r := times(one, z.Theta), func(c Coef) Term { return times(c, z.R) }
	g := s.stage.Gradient(f, theta, r(s.theta1R))
	Combine(s.f1, r(s.f1R), g.Times(s.f1G))

	g = s.stage.Gradient(f, theta, r(s.theta2R), times(s.theta2F1, s.f1))
	Combine(s.f2, r(s.f2R), times(s.f2F1, s.f1), g.Times(s.f2G))

	g, hv := s.stage.Derivatives(f, times(s.invMass, s.w1), theta, r(s.theta3R), times(s.theta3F1, s.f1), times(s.theta3F2, s.f2))
	Combine(z.Theta, times(one, s.stage.Position()), times(s.thetaW1, s.w1), times(s.thetaW2, s.w2))
	Combine(z.R, r(s.rR), times(s.rF1, s.f1), times(s.rF2, s.f2), g.Times(s.rG),
		times(s.rW1, s.w1), times(s.rW2, s.w2), hv.Times(s.rH))
}
