package integrators

import "math"

var rk2Integrator = Define(Integrator{
	Name:  "rk2",
	About: "Heun's two-stage Runge–Kutta scheme with additive noise, not quasi-symplectic",
	Claims: Claims{
		WeakOrder: 2, ErgodicOrder: 2, PositionOrder: 2,
		Source: "Kloeden & Platen 1992, sec. 15.1 (explicit order 2 weak scheme, additive noise)",
	},
	Needs: Needs{Gradients: 2, Normals: 1},
}, func(dim int, p Params) (Stepper, Stepper) { return newRK2(dim, p), nil })

// rk2 is the scheme, with F(θ, r) = −∇U(θ) − C M⁻¹ r,
//
//	θ* = θ + h M⁻¹ r,              r* = r + hF(θ, r) + √(2Ch) ξ
//	θ⁺ = θ + (h/2) M⁻¹(r + r*),    r⁺ = r + (h/2)(F(θ, r) + F(θ*, r*)) + √(2Ch) ξ.
type rk2 struct {
	drift, half Coef // h M⁻¹ and (h/2) M⁻¹
	// damp is the factor 1 − hC M⁻¹ of r in r*; damp1 and damp2 are those of r and of r*
	// in r⁺, 1 − (h/2)C M⁻¹ and −(h/2)C M⁻¹.
	damp, damp1, damp2 Coef
	// kick is −h, halfKick −h/2, and noise √(2Ch).
	kick, halfKick, noise Coef
	theta, r, g, g2, w    []float64 // θ*, r*, ∇U(θ), ∇U(θ*), ξ
}

func newRK2(dim int, p Params) *rk2 {
	h, C := p.Step, p.Friction
	v := vectors(5, dim)
	return &rk2{
		drift: p.Drift(h), half: p.Drift(h / 2),
		damp:  p.Coef(func(m float64) float64 { return 1 - h*C*m }),
		damp1: p.Coef(func(m float64) float64 { return 1 - h/2*C*m }),
		damp2: p.Drift(-h / 2 * C),
		kick:  Coef{All: -h}, halfKick: Coef{All: -h / 2}, noise: Coef{All: math.Sqrt(2 * C * h)},
		theta: v[0], r: v[1], g: v[2], g2: v[3], w: v[4],
	}
}

// Step uses one ξ in both stages. θ⁺ comes before r⁺, since it needs the old r.
func (s *rk2) Step(z *State, f Force, n Noise) {
	n.Normal(s.w)
	f.Gradient(s.g, z.Theta)
	Combine(s.theta, times(one, z.Theta), times(s.drift, z.R))
	Combine(s.r, times(s.damp, z.R), times(s.kick, s.g), times(s.noise, s.w))
	f.Gradient(s.g2, s.theta)
	Combine(z.Theta, times(one, z.Theta), times(s.half, z.R), times(s.half, s.r))
	Combine(z.R, times(s.damp1, z.R), times(s.damp2, s.r),
		times(s.halfKick, s.g), times(s.halfKick, s.g2), times(s.noise, s.w))
}
