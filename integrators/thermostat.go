package integrators

import "math"

// thermostat takes the place of the friction C by a variable ζ of its own,
//
//	dr = −∇U(θ) dt − ζM⁻¹r dt + √(2C) dW,   dζ = (rᵀM⁻²r − tr M⁻¹)/(dμ) dt,
//
// for d positions, whose stationary density is exp(−U − ½rᵀM⁻¹r − ½dμ(ζ − C)²).
// White noise of the gradient of one constant variance in all coordinates raises the mean of ζ, not
// the temperature; of unequal ones only the mean of rᵀM⁻²r is kept.
type thermostat struct {
	p       Params
	inertia float64 // dμ
	mass    Coef    // M⁻¹
}

func newThermostat(dim int, p Params) thermostat {
	return thermostat{p, float64(dim) * p.Values[massOfZeta], p.Drift(1)}
}

// massOfZeta is the name of μ, the parameter of the schemes with a thermostat.
const massOfZeta = "thermal-mass"

// thermostatIntegrator completes the description of a scheme with a thermostat.
func thermostatIntegrator(m Integrator, build func(dim int, p Params) Stepper) Integrator {
	m.Nonlinear = true
	m.Parameters = []Parameter{{
		Name: massOfZeta, About: "μ, by which the thermostat is slower, (time/mass)²",
		Default: 1, Low: 1e-3, High: 1e6,
	}}
	m.Variables = func(dim int, p Params) []Variable {
		return []Variable{{
			Name: "zeta", Start: []float64{p.Friction},
			// exp(−½dμ(ζ − C)²) has the variance 1/(dμ).
			Deviation: 1 / math.Sqrt(float64(dim)*p.Values[massOfZeta]),
		}}
	}
	return Define(m, func(dim int, p Params) (Stepper, Stepper) { return build(dim, p), nil })
}

// heat moves ζ over a time t at the momentum as it is.
func (b *thermostat) heat(z *State, t float64) {
	sum := 0.0
	for i, r := range z.R {
		m := b.mass.At(i)
		// A coordinate's share of rᵀM⁻²r − tr M⁻¹.
		sum += m * (m*r*r - 1)
	}
	z.Aux[0][0] += t * sum / b.inertia
}
