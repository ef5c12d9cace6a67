package certify

import (
	"hambench/integrators"
	"hambench/minibatch"
)

// engine computes exact errors for one problem.
type engine interface {
	observables() []string
	// prepare takes an integrator apart at its step size; what it finds
	// serves every scheme.
	prepare(in *integrators.Integrator) (prepared, error)
}

// prepared is an integrator at one step size on one problem.
type prepared interface {
	solve(m minibatch.Method, everyStep bool) (point, error)
}

// point is the outcome at one step size.
type point struct {
	// errors and resolution have one element per observable; an error below
	// its resolution is not known to differ from 0. They are nil if the
	// chain has no stationary law.
	errors     []float64
	resolution []float64
	// radius ≥ 1 is the spectral radius over a period of an unstable chain;
	// 0 if the chain is stable.
	radius float64
}

func (p point) unstable() bool { return p.errors == nil }
