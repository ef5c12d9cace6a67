package integrators

import "math"

var ubuIntegrator = Define(Integrator{
	Name:  "ubu",
	About: "kick between two exact flows of drift, friction and noise",
	Claims: Claims{
		WeakOrder: 2, ErgodicOrder: 2, PositionOrder: 2,
		QuasiSymplectic: true,
		Source:          "Sanz-Serna & Zygalakis 2021 (UBU)",
	},
	Needs: Needs{Gradients: 1, Normals: 3},
}, func(dim int, p Params) (Stepper, Stepper) { return newUBU(dim, p), nil })

// newUBU returns U(h/2) B(h) U(h/2), with B the kick r ← r − h∇U(θ) and U(t) the exact
// flow of dθ = M⁻¹r dt, dr = −C M⁻¹ r dt + √(2C) dW. With e = e^{−C M⁻¹ t},
//
//	U(t):  θ⁺ = θ + a r + n_θ,   r⁺ = e r + n_r,   a = (1 − e)/C,
//
// the noises have variances (2C M⁻¹ t − 3 + 4e − e²)/C² M and (1 − e²) M and
// covariance (1 − e)²/C M.
//
// The gradient sees the first n_θ alone. So one normal vector ξ₁ makes that and
// its part of the first n_r, and two more the joint law of all else that reaches
// the end of the step:
//
//	θ* = θ + a r + s ξ₁,                     r* = e r + c ξ₁ − h∇U(θ*)
//	θ⁺ = θ* + a r* + l ξ₂ + k ξ₃,            r⁺ = e r* + j ξ₂.
func newUBU(dim int, p Params) *Stages {
	h := p.Step
	return NewStages(dim, p, func(s *Stages, m float64) {
		u := newUBUNoise(p.Friction, m, h/2)
		theta, r, xi1, xi2, xi3 := s.Theta, s.R, s.Normal(), s.Normal(), s.Normal()

		start, g := s.Gradient(theta.Times(1), r.Times(u.a), xi1.Times(u.s))
		s.Set(theta, start.Times(1), r.Times(u.a*u.e), xi1.Times(u.a*u.c),
			g.Times(-h*u.a), xi2.Times(u.l), xi3.Times(u.k))
		s.Set(r, r.Times(u.e*u.e), xi1.Times(u.e*u.c), g.Times(-h*u.e), xi2.Times(u.j))
	})
}

// ubuNoise holds the numbers of a coordinate of inverse mass m.
type ubuNoise struct{ e, a, s, c, l, k, j float64 }

// newUBUNoise works them out by the law of U(t) as a drift by α = tanh(y)/C, the
// exact friction and noise of variance v, a second drift by α, and independent
// noise on θ of variance q,
//
//	v = (1 − e²)/m,   q = 4(y − tanh y)/(C² m),   y = C m t/2,
//
// as eliminating the covariance shows: n_θ has the variance αv α + q, the
// covariance is αv. What is left of the first n_r without ξ₁ has the variance
// z = vq/(α²v + q). All are sums of positive terms, so that nothing cancels,
// however small Ct is.
func newUBUNoise(C, m, t float64) ubuNoise {
	y := C * m * t / 2
	u := ubuNoise{e: math.Exp(-2 * y), a: -math.Expm1(-2*y) / C}
	alpha, v, q := math.Tanh(y)/C, -math.Expm1(-4*y)/m, 4*tanhDefect(y)/(C*C*m)
	theta := alpha*alpha*v + q
	u.s = math.Sqrt(theta)
	u.c = alpha * v / u.s
	z := v * q / theta
	// The covariance of (a, e)√z η + (n_θ, n_r), by Cholesky from r; a − eα is α.
	r := u.e*u.e*z + v
	u.j = math.Sqrt(r)
	u.l = (u.a*u.e*z + alpha*v) / u.j
	u.k = math.Sqrt((v*q + z*(v*alpha*alpha+u.e*u.e*q)) / r)
	return u
}

// tanhDefect returns y − tanh y for y ≥ 0 to full relative accuracy. Below 1,
// where the difference cancels, it uses Lambert's continued fraction
// tanh y = y/(1 + q), q = y²/(3 + y²/(5 + …)), whose truncation after the
// term 23 is below 1e-25 there.
func tanhDefect(y float64) float64 {
	if y > 1 {
		return y - math.Tanh(y)
	}
	q := 23.0
	for k := 21.0; k >= 3; k -= 2 {
		q = k + y*y/q
	}
	q = y * y / q
	return y * q / (1 + q)
}
