package integrators

import (
	"math"

	"hambench/internal/fingerprint"
)

// Fingerprint digests what a scheme with the given values of its own
// parameters does in a few steps under a fixed force and noise, in float64 by
// the plain formulas. It is the same on all machines, and changes whenever the
// scheme's numbers do.
//
// The steps are of two lengths with two frictions and masses, and of every
// form that the scheme can take: inner steps, full refreshment, while it
// adapts, and frozen.
func Fingerprint(m Integrator, values map[string]float64) (string, error) {
	// Frictions and steps that suit every scheme; masses that differ by coordinate.
	cases := []Params{
		{Step: 0.1, Friction: 1.5},
		{Step: 0.3, Friction: 0.7, InvMass: []float64{0.8, 1.3}},
	}
	if m.InnerSteps {
		cases = append(cases, Params{Step: 0.1, Friction: 1.5, Inner: 3})
	}
	if m.FullRefreshment {
		cases = append(cases, Params{
			Step: 0.1, Friction: math.Inf(1), InvMass: []float64{0.8, 1.3},
		})
	}
	d := fingerprint.New()
	for _, p := range cases {
		p.Values = values
		in, err := m.New(fingerprintDim, p)
		if err != nil {
			return "", err
		}
		in.digest(d)
	}
	return d.String(), nil
}

// Two dimensions show coefficients by coordinate; three steps, what one leaves for the
// next.
const (
	fingerprintDim   = 2
	fingerprintSteps = 3
	// adaptingSteps are more than sghmc remembers.
	adaptingSteps = varianceWindow + 100
)

// digest adds the states after a few steps from a fixed point; of an adapting
// scheme, those after more steps and what it has learnt, and then a few
// frozen ones.
func (in *Instance) digest(d fingerprint.Digest) {
	z, n := in.NewState(), &fingerprint.Noise{}
	copy(z.Theta, []float64{0.3, -1.1})
	copy(z.R, []float64{0.7, 0.2})
	steps := func(count int) {
		in.OuterSteps(z, in.trialForce, n, count)
		d.Add("θ", z.Theta...)
		d.Add("r", z.R...)
		for _, x := range z.Aux {
			d.Add("aux", x...)
		}
	}
	steps(1)
	steps(fingerprintSteps)
	if a, ok := in.Kernel.(Adapter); ok {
		steps(adaptingSteps)
		d.Add("M⁻¹", in.InvMass()...)
		if v, ok := a.(VarianceCorrected); ok {
			d.Add("V", v.GradientVariance()...)
		}
		a.Freeze()
		steps(fingerprintSteps)
	}
}
