package certify

import (
	"context"
	"math"

	"hambench/chain/minibatch"
	"hambench/integrators"
)

// engine computes exact errors for one problem.
type engine interface {
	observables() []string
	// size is the relative error that a signed one amounts to.
	size(observable int, signed []float64) float64
	// pace says how fast the dynamics are.
	pace() pace
	// whole returns the engine of the same problem in one batch, all of the data.
	whole() (engine, error)
	// judging returns the engine of a problem of the same expansion, by which
	// orders are decided, and by what factors the batches differ more in it (see
	// Row.Amplified; nil if they do not).
	judging() (engine, []float64, error)
	// prepare takes an integrator apart at its step size; what it finds
	// serves every scheme.
	prepare(in *integrators.Instance) (prepared, error)
}

// pace is the fastest and the slowest rate of a problem's dynamics, a frequency
// or the friction, per unit of time, and the largest step at which an order is
// decided, over the fastest one's time.
type pace struct{ fast, slow, largest float64 }

// prepared is an integrator at one step size on one problem.
type prepared interface {
	solve(ctx context.Context, m minibatch.Scheme, everyStep bool) (point, error)
}

// observation is the error of one observable at one step size. Signed errors
// are smooth functions of the step, which sizes are not; a bound that is not
// known is +Inf.
type observation struct {
	signed                       []float64
	relative, relativeResolution float64
	error, resolution            float64
}

// point is the outcome at one step size.
type point struct {
	h        float64       // the step
	observed []observation // one an observable; none if the chain has no stationary law
	// radius ≥ 1 is the spectral radius over a period of an unstable chain;
	// 0 if the chain is stable.
	radius float64
	// slowest is the spectral radius of a period's mean map; 0 if that is not
	// known.
	slowest float64
}

func (p point) unstable() bool { return p.observed == nil }

// noContraction is a rate of contraction that no sampler has, relative to that
// of the dynamics.
const noContraction = 1e-3

// lawless reports whether a chain has no stationary law, or contracts so little,
// for the dynamics' pace, that there is none.
func (p point) lawless(at pace) bool {
	return p.unstable() || p.slowest > 1-noContraction*p.h*at.slow*at.slow/at.fast
}

// lostPoint is the point of a chain that is not known to be stable.
func lostPoint(observables int) point {
	nan, inf := math.NaN(), math.Inf(1)
	p := point{}
	for range observables {
		p.observed = append(p.observed, observation{relative: nan, relativeResolution: inf,
			error: nan, resolution: inf})
	}
	return p
}
