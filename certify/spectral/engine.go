package spectral

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/integrators"
)

// degrees are the degrees of the Galerkin basis in θ and in r.
type degrees struct{ theta, r int }

// rungs is the ladder of bases. A result is what a rung gives, its
// resolution how far the rung below was off; the ladder is climbed until the
// resolution is good enough or it ends.
//
// Equal degrees come first: an affine step maps polynomials of a total degree
// to their like, so that the matrix inherits the chain's stability. A potential
// that is far from quadratic bends laws in θ more than in r, and needs degrees
// in θ that would cost too much in both; there the coarsest integrators,
// whose stable chain such a matrix may make unstable, are left to the rungs
// below.
var rungs = []degrees{{10, 10}, {14, 14}, {20, 20}, {28, 28}, {44, 24}, {60, 26}}

// rungsWithOthers is the ladder with an auxiliary variable. In three variables a degree n has about
// n³/6 products, and a matrix the square of that.
var rungsWithOthers = []degrees{{5, 5}, {7, 7}, {9, 9}, {11, 11}, {13, 13}, {15, 15}}

// rungsWithOpen is the ladder of a position and one variable of open law, without a momentum.
var rungsWithOpen = []degrees{{6, 6}, {9, 9}, {13, 13}, {19, 19}, {27, 27}, {38, 38}}

// maxNoiseNodes bounds the nodes over all normals of a step.
const maxNoiseNodes = 4096

// scalarObservable is a function of the position, or, where there is none, the
// first or second power of another variable, 0 being the momentum.
type scalarObservable struct {
	name     string
	of       func(theta float64) float64 // nil for one of another variable
	variable int                         // which one
	power    int                         // 1 or 2
	mean, sd float64                     // under the target
}

// scalarObservables are those of every chain: low moments, and bounded functions.
var scalarObservables = []scalarObservable{
	{name: "theta^1", of: func(x float64) float64 { return x }},
	{name: "theta^2", of: func(x float64) float64 { return x * x }},
	{name: "cos(theta)", of: math.Cos},
	{name: "tanh(theta)", of: math.Tanh},
	{name: "r^2", power: 2},
}

// power returns the coefficients of the first or second power of the variable in
// the polynomials orthonormal under its law, 1, z and (z² − 1)/√2 for x = mean + sd·z.
func (n normal) power(p int) []float64 {
	if p == 1 {
		return []float64{n.mean, n.sd}
	}
	return []float64{n.mean*n.mean + n.sd*n.sd, 2 * n.mean * n.sd, math.Sqrt2 * n.sd * n.sd}
}

// Engine solves a scalar problem.
type Engine struct {
	forces []integrators.Force // of the batches
	full   integrators.Force   // their mean
	by     probe.Estimation
	mean   Mean
	tail   *gaussian.Engine // the problem far out, of oscillators; nil with auxiliary variables
	ladder []degrees        // of the bases
	narrow *space           // the target's
	open   bool             // some variable's law is to be found

	numbers
	variance float64 // of the batches' gradient under the target
	rates    markov.Pace
}

// New returns the engine of the potentials of some batches; a mean that is no target is a
// usage error.
func New(mean Mean, friction float64, by probe.Estimation) (*Engine, error) {
	target, err := mean.density(1)
	if err != nil {
		return nil, err
	}
	e := &Engine{full: mean, by: by, mean: mean, ladder: rungs,
		narrow: newSpace(target, []normal{{sd: 1}}, false)}
	// Means and deviations under the target, which errors are measured by.
	e.observed = varying(e.narrow.measured(scalarObservables))
	var far []*integrators.Affine
	// A list of one potential is the force of its batch.
	for i, o := range mean {
		far = append(far, o.tail())
		e.forces = append(e.forces, mean[i:i+1])
	}
	e.tail, err = gaussian.New(gaussian.Problem{Batches: far, Friction: friction})
	if err != nil {
		return nil, err
	}
	if mean.Affine() { // exact flows ask for such forces
		e.full = gaussian.Mean(far)
		for i, f := range far {
			e.forces[i] = f
		}
	}
	e.variance = target.expect(mean.spread)
	e.rates = e.pace(friction)
	return e, nil
}

// With returns the engine for an integrator with auxiliary variables, whose laws join the
// target's: bases are of the variables, too, and so are observables of those whose law is known.
// The instance has a step so small that what it changes of them is what steps of any length do.
func (e *Engine) With(in *integrators.Instance) *Engine {
	variables := in.Integrator.Variables(1, in.Params)
	out, others := *e, slices.Clone(e.narrow.others)
	out.tail, out.ladder = nil, rungsWithOthers // the step is not affine far out
	observed := e.observed
	if in.Integrator.PositionOnly {
		others = nil
		observed = slices.DeleteFunc(slices.Clone(observed), func(o scalarObservable) bool {
			return o.of == nil
		})
	}
	var more []scalarObservable
	// Each number of a variable starts at its mean, which is that of its law where it is known.
	for _, v := range variables {
		for _, start := range v.Start {
			law := normal{mean: start, sd: v.Deviation, name: v.Name}
			if v.Open || v.Positive {
				law = normal{mean: start, sd: 1, name: v.Name, open: true, log: v.Positive}
				out.open = true
				if law.log {
					law.mean = math.Log(start)
				}
			}
			for power := 1; power <= 2 && !law.open; power++ {
				more = append(more, scalarObservable{name: fmt.Sprintf("%s^%d", v.Name, power),
					variable: len(others), power: power})
			}
			others = append(others, law)
		}
	}
	if len(others) == 1 {
		out.ladder = rungsWithOpen
	}
	if out.open {
		out.rates.Memory = remembered(in, e.full)
	}
	out.narrow = newSpace(e.narrow.theta, others, in.Integrator.PositionOnly)
	out.observed = slices.Concat(observed, out.narrow.measured(more))
	return &out
}

// Whole is the mean of the batches for a batch of its own.
func (e *Engine) Whole() (markov.Engine, error) {
	out := *e
	out.forces, out.by, out.variance = []integrators.Force{e.full}, probe.Estimation{}, 0
	if e.tail == nil {
		return &out, nil
	}
	tail, err := e.tail.Whole()
	if err == nil {
		out.tail = tail.(*gaussian.Engine)
	}
	return &out, err
}

// Judging returns the engine without the most expensive rungs: an order needs
// no chains near the limit of stability.
func (e *Engine) Judging() (markov.Engine, []float64, error) {
	out := *e
	out.ladder = e.ladder[:judgingRungs]
	return &out, nil, nil
}

// judgingRungs is the number of rungs that an order may ask for.
const judgingRungs = 4

// Pace is that of the curvatures where the target is.
func (e *Engine) Pace() markov.Pace { return e.rates }

// RandomOrders is what docs/theory.md says of random orders of the batches: of a function of θ
// minus its covariance with cE(U_i′ − U′)², and of r² the mean of that times w.
func (e *Engine) RandomOrders(c, w float64) (out [][]float64) {
	for _, o := range e.observed {
		change := w * e.variance
		if o.of != nil {
			change = -c * e.narrow.theta.expect(func(x float64) float64 {
				return e.mean.spread(x) * (o.of(x) - o.mean)
			})
		}
		out = append(out, []float64{change / o.sd})
	}
	return out
}

// pace takes the largest and the mean curvature, where the target is, for the squares of the
// frequencies.
func (e *Engine) pace(friction float64) markov.Pace {
	// The fastest frequency of any batch where a chain comes, the slowest of the mean.
	target := e.narrow.theta
	most, heaviest := 0.0, slices.Max(target.w)
	for i, x := range target.x {
		if target.w[i] <= relevantDensity*heaviest {
			continue
		}
		for _, u := range e.mean {
			most = max(most, math.Abs(u.Curvature(x)))
		}
	}
	typical := target.expect(e.mean.curvature)
	high, low, k := math.Sqrt(most), math.Sqrt(typical), float64(len(e.mean))
	fast := max(high, friction)
	return markov.Pace{Fast: fast, Slow: min(low, friction), High: high, Low: low,
		Damping: friction, Largest: 0.5, Settled: max(fast, k*max(most, e.variance)/friction)}
}

// relevantDensity is the density, relative to the largest, above which a chain's
// frequencies count.
const relevantDensity = 1e-4

// numbers are observables, each one number.
type numbers struct{ observed []scalarObservable }

// Observables are functions of positions, and powers of momenta and of auxiliary variables.
func (n numbers) Observables() (names []string) {
	for _, o := range n.observed {
		names = append(names, o.name)
	}
	return names
}

// Size is that of the one number that an error is.
func (numbers) Size(_ int, x []float64) float64 { return math.Abs(x[0]) }

// space is the law relative to which others are expanded: a density of θ, and
// normal ones of the other variables. An expansion of a law p relative to a law w
// converges in the mean where p²/w is integrable: for normal laws, where the
// variances of p are less than twice those of w.
type space struct {
	theta  *density
	others []normal           // the momentum, if there is one, then auxiliary variables
	still  bool               // there is no momentum among them
	bases  map[degrees]*basis // made when needed
}

// newSpace returns a space without bases.
func newSpace(theta *density, others []normal, still bool) *space {
	return &space{theta: theta, others: others, still: still, bases: make(map[degrees]*basis)}
}

// varying leaves out functions of θ, but for the position itself, that are nearly constant where
// the target is: of their errors, which are relative to the deviation, rounding would be all.
func varying(all []scalarObservable) []scalarObservable {
	constant := func(o scalarObservable) bool {
		return o.of != nil && !(o.sd > leastDeviation*math.Abs(o.mean))
	}
	return append(all[:1:1], slices.DeleteFunc(all[1:], constant)...)
}

// leastDeviation is the least deviation of an observable beside its mean.
const leastDeviation = 1e-6

// measured returns observables with their means and deviations under the law.
func (s *space) measured(observables []scalarObservable) (out []scalarObservable) {
	for _, o := range observables {
		if o.of == nil {
			// In orthonormal polynomials the constant's coefficient is the mean, and the length of
			// the others the deviation.
			c := s.others[o.variable].power(o.power)
			o.mean, o.sd = c[0], floats.Norm(c[1:], 2)
		} else {
			o.mean = s.theta.expect(o.of)
			o.sd = math.Sqrt(s.theta.expect(func(x float64) float64 {
				return (o.of(x) - o.mean) * (o.of(x) - o.mean)
			}))
		}
		out = append(out, o)
	}
	return out
}
