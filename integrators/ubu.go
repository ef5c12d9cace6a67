package integrators

import "math"

func ubuMethod() Method {
	return Define(Method{
		Name:  "ubu",
		About: "kick between two exact flows of drift, friction and noise",
		Claims: Claims{
			WeakOrder: 2, ErgodicOrder: 2, PositionOrder: 2,
			Gradients: 1, Normals: 4, QuasiSymplectic: true,
			Source: "Sanz-Serna & Zygalakis 2021 (UBU)",
		},
	}, func(dim int, p Params) (Stepper, Stepper) { return newUBU(dim, p), nil })
}

// newUBU returns U(h/2) B(h) U(h/2), with B the kick r ← r − h∇U(θ) and U(t) the exact
// flow of dθ = M⁻¹r dt, dr = −C M⁻¹ r dt + √(2C) dW. With e = e^{−C M⁻¹ t},
//
//	θ⁺ = θ + (1 − e)/C r + n_θ,   r⁺ = e r + n_r,
//
// the noises have variances (2C M⁻¹ t − 3 + 4e − e²)/C² M and (1 − e²) M and
// covariance (1 − e)²/C M. This law is that of a drift by a, the exact friction
// and noise of a splitting, a second drift by a, and independent noise on θ,
//
//	a = tanh(y)/C,   Var = 4(y − tanh y)/C² M,   y = C M⁻¹ t/2,
//
// as eliminating the covariance shows; nothing cancels, however small Ct is.
//
// The kick shares a pass with the second flow.
func newUBU(dim int, p Params) Stepper {
	t, C := p.Step/2, p.Friction
	decay, noise := p.Refreshment(t)
	a := p.Coef(func(m float64) float64 { return math.Tanh(C*m*t/2) / C })
	u := Update{P: one, B: a, Q: decay, S: noise, D: a}
	spread := &spread{Update{P: one, Q: one, S: p.Coef(func(m float64) float64 {
		return 2 / C * math.Sqrt(tanhDefect(C*m*t/2)/m)
	})}}
	kicked := u
	kicked.A = Coef{All: -p.Step}
	return sequence{&flow{u}, spread, NewKick(dim, Coef{}, kicked), spread}
}

// spread adds noise to the position.
type spread struct{ u Update }

func (s *spread) Step(z *State, _ Force, n Noise) {
	s.u.R = z.Theta
	n.Update(&s.u)
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
