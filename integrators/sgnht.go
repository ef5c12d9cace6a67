package integrators

import "math"

var sgnhtIntegrator = thermostatIntegrator(Integrator{
	Name:  "sgnht",
	About: "stochastic-gradient Nosé–Hoover thermostat, Euler's step by turns",
	Claims: Claims{
		WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 1,
		Source: "Ding et al. 2014, algorithm 2",
	},
	Needs: Needs{Gradients: 1, Normals: 1},
}, func(dim int, p Params) Stepper { return newSGNHT(dim, p) })

// sgnht is the scheme of Ding et al.,
//
//	r⁺ = r − h∇U(θ) − hζM⁻¹r + √(2Ch) ξ
//	θ⁺ = θ + hM⁻¹r⁺
//	ζ⁺ = ζ + h(r⁺ᵀM⁻²r⁺ − tr M⁻¹)/(dμ).
//
// The friction is explicit: where hζM⁻¹ exceeds 2 the momentum overshoots and ζ rises further, so
// that chains are thrown out at steps far below leapfrog's limit (N(0, 1), C = 1: within 1000 steps
// at h = 0.3). Orders are of the law before that.
//
// The kick's factor of r depends on ζ, so that it is set before every step.
type sgnht struct {
	thermostat
	h    float64
	kick *Kick
}

func newSGNHT(dim int, p Params) *sgnht {
	h := p.Step
	return &sgnht{newThermostat(dim, p), h, NewKick(dim, Coef{}, Update{
		P: p.Drift(1), A: Coef{All: -h},
		Q: one, S: Coef{All: math.Sqrt(2 * p.Friction * h)}, D: p.Drift(h),
	})}
}

// Step moves ζ last: friction is that of the old ζ, and heat that of the new momentum.
func (s *sgnht) Step(z *State, f Force, n Noise) {
	zeta := z.Aux[0][0]
	s.p.set(&s.kick.update.P, func(m float64) float64 { return 1 - s.h*zeta*m })
	s.kick.Step(z, f, n)
	s.heat(z, s.h)
}
