package integrators

import "math"

func mt3Method() Method {
	return define(Method{
		Name:  "mt3",
		About: "three-stage quasi-symplectic scheme of weak order 3, with a Hessian-vector product",
		Claims: Claims{
			WeakOrder: 3, ErgodicOrder: 3, PositionOrder: 3,
			Gradients: 3, HessianVectors: 1, Normals: 2, QuasiSymplectic: true,
			Source: "Milstein & Tretyakov 2003, sec. 2.3; Franzese et al. 2022, App. B.5.2",
		},
	}, limits{}, func(dim int, p Params) (Stepper, Stepper) { return newMT3(dim, p), nil })
}

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
type mt3 struct {
	h, C       float64
	m          Coef
	d1, d2, d3 Coef    // 1/(1 + aC M⁻¹), the implicit stages
	w2         float64 // standard deviation of w₂
	k1, k3, k5 float64 // c h^{1/2}, c h^{3/2}, c h^{5/2}/6

	theta, g, f1, f2, xi1, xi2, v, hv []float64
}

func newMT3(dim int, p Params) *mt3 {
	h, C := p.Step, p.Friction
	implicit := func(a float64) Coef {
		return p.coef(func(m float64) float64 { return 1 / (1 + a*h*C*m) })
	}
	v := vectors(8, dim)
	k1 := math.Sqrt(2 * C * h)
	return &mt3{
		h: h, C: C, m: p.drift(1),
		d1: implicit(7. / 24), d2: implicit(3. / 8), d3: implicit(1),
		w2: math.Sqrt(1. / 12),
		k1: k1, k3: k1 * h, k5: k1 * h * h / 6,
		theta: v[0], g: v[1], f1: v[2], f2: v[3], xi1: v[4], xi2: v[5], v: v[6], hv: v[7],
	}
}

func (s *mt3) Step(z *State, f Force, n Noise) {
	n.Normal(s.xi1)
	n.Normal(s.xi2)
	s.stages(z, f)
	for i, xi := range s.xi1 {
		s.v[i] = s.m.At(i) * xi
	}
	f.(HessianForce).HessianVector(s.hv, s.theta, s.v)
	s.finish(z)
}

// stages leaves θ₃ in s.theta, ∇U(θ₃) in s.g, and F₁, F₂.
func (s *mt3) stages(z *State, f Force) {
	h, C := s.h, s.C
	for i, r := range z.R {
		s.theta[i] = z.Theta[i] + 7./24*h*s.m.At(i)*r
	}
	f.Gradient(s.g, s.theta)
	for i, r := range z.R {
		m := s.m.At(i)
		r1 := (r - 7./24*h*s.g[i]) * s.d1.At(i)
		s.f1[i] = -s.g[i] - C*m*r1
		s.theta[i] = z.Theta[i] + h*m*(25./24*r+h/2*s.f1[i])
	}
	f.Gradient(s.g, s.theta)
	for i, r := range z.R {
		m := s.m.At(i)
		r2 := (r + 2./3*h*s.f1[i] - 3./8*h*s.g[i]) * s.d2.At(i)
		s.f2[i] = -s.g[i] - C*m*r2
		s.theta[i] = z.Theta[i] + h*m*(r+h/36*(17*s.f1[i]+s.f2[i]))
	}
	f.Gradient(s.g, s.theta)
}

// finish solves the third momentum and adds the noise.
func (s *mt3) finish(z *State) {
	h, C := s.h, s.C
	for i, r := range z.R {
		m, w := s.m.At(i), s.xi1[i]
		integral := w/2 + s.w2*s.xi2[i]
		r3 := (r + 2./3*h*(s.f1[i]-s.f2[i]) - h*s.g[i]) * s.d3.At(i)
		z.Theta[i] = s.theta[i] + m*(s.k3*integral-s.k5*C*m*w)
		z.R[i] = r3 + s.k1*w - s.k3*C*m*integral + s.k5*(C*C*m*m*w-s.hv[i])
	}
}
