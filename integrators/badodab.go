package integrators

import "math"

var badodabIntegrator = thermostatIntegrator(Integrator{
	Name:  "badodab",
	About: "thermostat by a symmetric splitting: kick, drift, ζ, friction and noise, and back",
	Claims: Claims{
		WeakOrder: 2, ErgodicOrder: 2, PositionOrder: 2,
		Source: "Leimkuhler & Shang 2016, sec. 3.3 (BADODAB)",
	},
	Needs: Needs{Gradients: 2, Normals: 1},
}, func(dim int, p Params) Stepper {
	half, kick := p.Drift(p.Step/2), Coef{All: -p.Step / 2}
	return sequence{
		NewKick(dim, Coef{}, Update{P: one, A: kick, B: half, Q: one}),
		newBath(dim, p),
		NewKick(dim, half, Update{P: one, A: kick, Q: one}),
	}
})

// bath is the thermostat's part of the splitting: half a step of ζ at fixed r,
// the exact flow of r at fixed ζ,
//
//	r ← e^{−ζM⁻¹h}r + √(C(1 − e^{−2ζM⁻¹h})/(ζM⁻¹)) ξ,
//
// and another half of ζ.
// For ζ → 0 the noise's variance tends to 2Ch. ζ may be negative: then r grows, and the
// formulas hold as they are.
type bath struct {
	thermostat
	h float64
	u Update // r ← P∘r + S∘ξ, whose coefficients are set at every step
}

func newBath(dim int, p Params) *bath {
	return &bath{newThermostat(dim, p), p.Step, Update{P: p.Drift(1), Q: one, S: p.Drift(1)}}
}

func (b *bath) Step(z *State, _ Force, n Noise) {
	b.heat(z, b.h/2)
	zeta := z.Aux[0][0]
	b.p.set(&b.u.P, func(m float64) float64 { return math.Exp(-zeta * m * b.h) })
	b.p.set(&b.u.S, func(m float64) float64 {
		// The variance as 2Ch(1 − e^{−x})/x, which is positive for either sign of ζ.
		x := 2 * zeta * m * b.h
		if x == 0 {
			return math.Sqrt(2 * b.p.Friction * b.h)
		}
		return math.Sqrt(2 * b.p.Friction * b.h * -math.Expm1(-x) / x)
	})
	update(&b.u, z, n)
	b.heat(z, b.h/2)
}
