package certify

import (
	"context"
	"math"
	"slices"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/internal/fingerprint"
)

// resolved is how far the errors of both engines are the same on all machines.
const resolved = 1e-8

// Fingerprint digests the errors that both engines find for a simple integrator,
// and for one that is told the variance of the gradient, on the built-in problems
// under every law of the visits: what exact errors depend on besides problem,
// integrator and scheme. It is the same on all machines, and changes whenever the
// numbers of an engine do.
func Fingerprint() (string, error) {
	return digest(Options{}, resolved, []string{"euler", "sghmc"}, Builtin()...)
}

// AnswersFingerprint digests in the same way what rows say besides the errors:
// averages, the largest stable step and distances on the toy, under every scheme, and
// distances on the scalar problem.
func AnswersFingerprint() (string, error) {
	// Variances are solved for to a relative residual of 1e-9, which conditions magnify.
	const digits = 1e-6
	gaussian, err := digest(Options{Budgets: []float64{1000}, Stability: true, Distances: true},
		digits, []string{"lietrotter"}, Toy())
	if err != nil {
		return "", err
	}
	scalar, err := digest(Options{Distances: true, Schemes: minibatch.Builtin()[:1]}, digits,
		[]string{"leapfrog"}, scalarBuiltin())
	return gaussian + scalar, err
}

// digest digests the errors and answers of some integrators on some problems, each number
// rounded to a multiple of digits, under a name that says what it is of.
func digest(o Options, digits float64, integrator []string, problems ...*Problem) (string, error) {
	d := fingerprint.New()
	for _, name := range integrator {
		m, err := integrators.Builtin().Lookup(name)
		if err != nil {
			return "", err
		}
		o.Integrators = append(o.Integrators, m)
	}
	// Large steps: errors far above the round-off of the engines.
	o.Steps = []float64{0.1}
	if o.Schemes == nil {
		o.Schemes = minibatch.Builtin().Fixed()
	}
	for _, o.Problem = range problems {
		rows, err := Errors(context.Background(), o)
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			add := func(name string, all ...Number) {
				for _, x := range all {
					// Absolute rounding: what is 0 but for round-off must be the same 0 on all
					// machines.
					d.Add(r.Problem+" "+r.Integrator+" "+r.Scheme+" "+name,
						math.Round(float64(x)/digits)*digits)
				}
			}
			for _, o := range r.Observables {
				add(o.Name, o.Errors...)
			}
			add("distances", slices.Concat(r.Kolmogorov, r.Wasserstein)...)
			for _, a := range r.Averages {
				add("average "+a.Name, a.Bias[0], a.Variance[0], a.Autocorrelation[0])
			}
			// Asked for together with the stable step.
			for _, b := range r.Budgets {
				add("budget", *r.StableStep, b.MSE[0], b.Step, b.Best, b.Autocorrelation)
			}
		}
	}
	return d.String(), nil
}
