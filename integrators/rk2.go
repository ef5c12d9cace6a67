package integrators

import "math"

func rk2Method() Method {
	return define(Method{
		Name:  "rk2",
		About: "Heun's two-stage Runge–Kutta scheme with additive noise, not quasi-symplectic",
		Claims: Claims{
			WeakOrder: 2, ErgodicOrder: 2, PositionOrder: 2,
			Gradients: 2, Normals: 1,
			Source: "Kloeden & Platen 1992, eq. 15.1.3 with additive noise",
		},
	}, limits{}, func(dim int, p Params) (Stepper, Stepper) { return newRK2(dim, p), nil })
}

// rk2 is the scheme, with F(θ, r) = −∇U(θ) − C M⁻¹ r,
//
//	θ* = θ + h M⁻¹ r,              r* = r + hF(θ, r) + √(2Ch) ξ
//	θ⁺ = θ + (h/2) M⁻¹(r + r*),    r⁺ = r + (h/2)(F(θ, r) + F(θ*, r*)) + √(2Ch) ξ.
type rk2 struct {
	h, C, noise     float64
	m               Coef
	theta, g, g2, w []float64
}

func newRK2(dim int, p Params) *rk2 {
	v := vectors(4, dim)
	return &rk2{
		h: p.Step, C: p.Friction, noise: math.Sqrt(2 * p.Friction * p.Step),
		m:     p.drift(1),
		theta: v[0], g: v[1], g2: v[2], w: v[3],
	}
}

func (s *rk2) Step(z *State, f Force, n Noise) {
	h, C := s.h, s.C
	n.Normal(s.w)
	f.Gradient(s.g, z.Theta)
	for i, r := range z.R {
		s.theta[i] = z.Theta[i] + h*s.m.At(i)*r
	}
	f.Gradient(s.g2, s.theta)
	for i, r := range z.R {
		m, w := s.m.At(i), s.noise*s.w[i]
		f1 := -s.g[i] - C*m*r
		r2 := r + h*f1 + w
		f2 := -s.g2[i] - C*m*r2
		z.Theta[i] += h / 2 * m * (r + r2)
		z.R[i] = r + h/2*(f1+f2) + w
	}
}

// vectors cuts count vectors of length dim from one allocation.
func vectors(count, dim int) [][]float64 {
	all, v := make([]float64, count*dim), make([][]float64, count)
	for i := range v {
		v[i] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return v
}
