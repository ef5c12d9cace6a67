package markov

import (
	"context"
	"math"

	"hambench/chain/minibatch"
	"hambench/integrators"
)

// Engine computes exact errors for one problem.
type Engine interface {
	// Observables are the names of what errors are found of.
	Observables() []string
	// Size is the relative error that a signed one amounts to.
	Size(observable int, signed []float64) float64
	// Pace says how fast the dynamics are.
	Pace() Pace
	// Whole returns the engine of the same problem in one batch, all of the data.
	Whole() (Engine, error)
	// Judging returns the engine of a problem of the same expansion, by which
	// orders are decided, and by what factors the batches differ more in it (see
	// Row.Amplified; nil if they do not).
	Judging() (Engine, []float64, error)
	// RandomOrders are the coefficients of h² that random orders of the batches add to signed
	// errors, by observable: the potential U becomes U + ch² E δᵀM⁻¹δ, δ the difference of a
	// batch's gradient from the mean, and the momentum's covariance wh² E δδᵀ more.
	RandomOrders(c, w float64) [][]float64
	// Prepare takes an integrator apart at its step size; what it finds
	// serves every scheme.
	Prepare(in *integrators.Instance) (Chain, error)
}

// Pace says how fast a problem's dynamics are, per unit of time.
type Pace struct {
	Fast, Slow float64 // the fastest and the slowest rate, a frequency or the friction
	High, Low  float64 // the highest and the lowest frequency alone
	Damping    float64 // the slowest rate of friction; +Inf without a momentum
	Largest    float64 // step at which an order is decided, over the fastest rate's time
	// Settled is the fastest rate of an expansion in the step: below its time the powers of the
	// step are in their order. What batches add in a step, of the size of a squared frequency
	// or of the variance of their gradients, is up against the friction.
	Settled float64
	// Memory is the number of steps, of any length, that an auxiliary variable remembers; 0 if
	// none does. The powers of the step are in their order where that time is short.
	Memory float64
}

// Chain is an integrator at one step size on one problem.
type Chain interface {
	// Solve returns the errors of the stationary law under a scheme, at the ends of its
	// periods, or averaged over the ends of all outer steps.
	Solve(ctx context.Context, m minibatch.Scheme, everyStep bool) (Point, error)
}

// Observation is the error of one observable at one step size. Signed errors
// are smooth functions of the step, which sizes are not; a bound that is not
// known is +Inf.
type Observation struct {
	Signed             []float64 // relative, elements one by one
	Relative           float64   // in coordinates in which the target is N(0, I), or its deviations
	RelativeResolution float64   // bounds the round-off and truncation in it
	Error              float64   // in the problem's units
	Resolution         float64   // bounds that
}

// Widen makes the bounds cover a relative error; unit is what that is relative to.
func (x *Observation) Widen(relative, unit float64) {
	x.RelativeResolution = max(x.RelativeResolution, relative)
	x.Resolution = max(x.Resolution, relative*unit)
}

// Point is the outcome at one step size.
type Point struct {
	H        float64       // the step
	Observed []Observation // one an observable; none if the chain has no stationary law
	// Radius ≥ 1 is the spectral radius over a period of an unstable chain;
	// 0 if the chain is stable.
	Radius float64
	// Slowest is the spectral radius of a period's mean map; 0 if that is not
	// known.
	Slowest float64
}

// Unstable reports whether the chain has no stationary law with finite second moments.
func (p Point) Unstable() bool { return p.Observed == nil }

// noContraction is a rate of contraction that no sampler has, relative to that
// of the dynamics.
const noContraction = 1e-3

// Lawless reports whether a chain has no such law, or contracts so little, for the dynamics' pace,
// that it hardly moves.
func (p Point) Lawless(at Pace) bool {
	return p.Unstable() || p.Slowest > 1-noContraction*p.H*at.Slow*at.Slow/at.Fast
}

// LostPoint is the point of a chain that is not known to be stable.
func LostPoint(observables int) Point {
	nan, inf := math.NaN(), math.Inf(1)
	p := Point{}
	for range observables {
		p.Observed = append(p.Observed, Observation{Relative: nan, RelativeResolution: inf,
			Error: nan, Resolution: inf})
	}
	return p
}
