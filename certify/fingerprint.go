package certify

import (
	"context"
	"math"

	"hambench/integrators"
	"hambench/internal/fingerprint"
	"hambench/minibatch"
)

// resolved is how far the errors of both engines are the same on all machines.
const resolved = 1e-8

// Fingerprint digests the errors that both engines find for a simple scheme, and
// for one that is told the variance of the gradient, on the built-in problems,
// under every law of the order of batches: what exact errors depend on beside
// problem, integrator and scheme. It is the same on all machines, and changes
// with any change of an engine that changes its numbers.
func Fingerprint() (string, error) {
	d := fingerprint.New()
	var methods []integrators.Method
	for _, name := range []string{"euler", "sghmc"} {
		m, err := integrators.Builtin().Lookup(name)
		if err != nil {
			return "", err
		}
		methods = append(methods, m)
	}
	for _, p := range Builtin() {
		// Large steps: errors far above the round-off of the engines.
		rows, err := Run(context.Background(), Options{Problem: p, Integrators: methods, Schemes: minibatch.Builtin().Fixed(), Steps: []float64{0.1}, ErrorsOnly: true})
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			for _, o := range r.Observables {
				for _, x := range o.Errors {
					d.Add(r.Problem+" "+r.Integrator+" "+r.Scheme+" "+o.Name, math.Round(float64(x)/resolved)*resolved)
				}
			}
		}
	}
	return d.String(), nil
}
