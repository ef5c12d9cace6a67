package gaussian

import (
	"context"
	"math"
	"slices"

	"hambench/certify/cost"
	"hambench/certify/markov"
	"hambench/chain/minibatch"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// stationaryLaw holds the moments of a stationary law less those of the target, and
// bounds on their round-off.
type stationaryLaw struct {
	delta       []float64 // nil if it is not known
	mean        float64   // bounds the error of the mean's length
	unit        []float64 // the covariance that noise N(0, I) in every kernel would have
	perKernel   float64   // round-off of a kernel's second moments, in units of that noise
	means       *affineMap
	inverse     *mat.Dense // of what means changes; nil if it has none
	contraction float64    // the spectral radius of means
}

// stationary returns the stationary law less the target, or, if there is no
// such law, the spectral radius of the period.
func (e *moments) stationary(p *markov.Period, truth []float64) (s *stationaryLaw, radius float64) {
	means := e.meanMap(p)
	// The mean map is that of one period. Its radius below 1 is necessary for a law, not enough:
	// second moments may grow where the batches' order is random.
	rho, slack := markov.SpectralRadius(means.change())
	if rho > 1+slack { // means grow, and all else with them
		return nil, rho
	}
	precondition := newStein(means).solve
	s = &stationaryLaw{means: means, contraction: rho}
	var left float64
	// Noise N(0, I) at the end of every kernel and refreshment, and nothing
	// before, adds up to this.
	silence := make([]float64, p.Size) // all mass at the frame's centre
	silence[p.Mass] = 1
	unit := p.On(e.evolution((*affineMap).unitNoise)).Excess(silence)
	s.unit, left = p.Solve(unit, precondition, markov.BoundGoal)
	// A positive matrix X above its image by half the unit noise proves that
	// the map of second moments, which keeps the cone of positive matrices,
	// has a spectral radius below 1.
	if !(left < 0.5) || !positive(s.unit, e.n) {
		// Where steps are tiny, round-off hides how far below 1 the radius is.
		if radius, slack := secondMomentRadius(p, e.n); radius > 1+slack {
			return nil, radius
		}
		return s, 0
	}
	// Solving for the difference, not for the law, keeps the relative accuracy
	// of small errors.
	s.delta, left = p.Solve(p.Excess(truth), precondition, markov.ResidualGoal)
	s.bound(p, e, left)
	return s, 0
}

// meanMap returns the map by which E x evolves over a period, averaged over its orders of the
// batches: what the period does to the unit vectors. Its noise is left out.
func (e *moments) meanMap(p *markov.Period) *affineMap {
	means := e.evolution(asMeans)     // n laws at once
	units := make([]float64, e.n*e.n) // the rows are the unit laws
	for i := range e.n {
		units[i*e.n+i] = 1
	}
	out := newAffineMap(e.n)
	out.a.Copy(mat.NewDense(e.n, e.n, p.On(means).Advance(units, nil)).T())
	return out
}

// bound states what round-off leaves of a solution. A change of at most ε in
// every kernel's second moments, in the order of symmetric matrices, changes
// the stationary ones by at most ε times those that unit noise in every kernel
// would have, since the map of second moments keeps that order. So one more
// solution bounds all that round-off may do in probing, in the solution and in
// its residual. Means are bounded by the inverse of their own map.
func (s *stationaryLaw) bound(p *markov.Period, e *moments, residual float64) {
	dim := e.n - 1
	// The last is about the largest stretch of a map near the identity.
	off, moves, far, length := markov.Epsilon*math.Sqrt(float64(dim)), 0.0, 0.0, 1.0
	maps := e.kernels
	if e.refresh != nil {
		// Clipped, so that the append does not write behind the kernels of the chain.
		maps = append(slices.Clip(maps), e.refresh)
	}
	for _, m := range maps {
		constant := mat.Norm(m.a.ColView(dim).(*mat.VecDense).SliceVec(0, dim), 2)
		off, moves, far, length = max(off, m.off), max(moves, constant), max(far,
			constant+m.far), max(length, 1+mat.Norm(m.change(), 2))
	}
	amplified := math.Inf(1)
	var inverse mat.Dense
	if err := inverse.Inverse(s.means.change()); err == nil {
		s.inverse, amplified = &inverse, mat.Norm(&inverse, 2)
	}
	// Each kernel may be off by off·far, and later kernels by what that has grown to.
	kernels := float64(p.Length())
	s.mean = amplified*(kernels*(1+kernels)*off*far+residual) + markov.Epsilon*moves
	size := 1 + floats.Norm(s.delta, 2)
	// Probing has x⁺ off by off, twice in a second moment; the mean's own error, times what a step
	// moves it, is part of second moments, too.
	s.perKernel = 2*off*length*size + 2*moves*s.mean + residual
}

// observe turns a stationary law into errors of the observables. Covariances are about the
// law's own mean; truth has the second moments of the target in the frame, which tell what is
// round-off of the frame and no error.
func (f *frame) observe(truth []float64, s *stationaryLaw) markov.Point {
	n := markov.Rank(truth)
	d, last := f.d, n-1
	p := markov.Point{Slowest: s.contraction} // theta.mean, theta.cov, joint.cov
	// Absolute errors are at most relative ones times the largest deviation of a coordinate, or
	// its square.
	mean := make([]float64, d)
	deviation, heaviest := 0.0, 0.0 // largest standard deviation of θ, largest variance of r
	for i := range mean {
		mean[i] = s.delta[i*n+last]
		deviation = max(deviation, floats.Norm(f.colour.RawRowView(i), 2))
		heaviest = max(heaviest, 1/(f.root[i]*f.root[i]))
	}
	p.Observed = append(p.Observed, markov.Observation{
		Signed: mean, Relative: floats.Norm(mean, 2), RelativeResolution: s.mean,
		Error: markov.Largest(f.fromWhite(mean)), Resolution: s.mean * deviation,
	})
	for _, dim := range []int{d, 2 * d} {
		block, unit := make([]float64, dim*dim), make([]float64, dim*dim)
		for i := range dim {
			for j := range dim {
				// E(x + …)(x + …)ᵀ less the product of means, each less the target's.
				di, dj := s.delta[i*n+last], s.delta[j*n+last]
				block[i*dim+j] = s.delta[i*n+j] - truth[i*n+last]*dj - di*truth[j*n+last] - di*dj
				unit[i*dim+j] = s.unit[i*n+j]
			}
		}
		bound := (1+markov.BoundGoal)*s.perKernel*markov.Stretch(unit) +
			4*markov.Epsilon*math.Sqrt(float64(dim))
		variance := deviation * deviation
		if dim > d {
			variance = max(variance, heaviest)
		}
		p.Observed = append(p.Observed, markov.Observation{
			Signed: block, Relative: markov.Stretch(block), RelativeResolution: bound,
			Error: markov.Largest(f.congruent(block, dim)), Resolution: bound * variance,
		})
	}
	return p
}

// positive reports whether a law's second moments are positive definite.
func positive(law []float64, n int) bool {
	var chol mat.Cholesky
	moments := mat.NewSymDense(n, slices.Clone(law))
	return markov.Finite(law) && chol.Factorize(moments.SliceSym(0, n-1))
}

// random reports whether a period's map is, by the order of the batches or a uniform number: the
// chain is no normal process then.
func (e *moments) random(cycle *markov.Period) bool {
	return len(cycle.Words) != 1 || len(e.weights) != 1
}

// Radius is the spectral radius of a period, of its mean map, and of its second moments
// where its map is random and more than the mean is asked for.
func (p *Chain) Radius(ctx context.Context, m minibatch.Scheme, mean bool) (cost.Growth, error) {
	var g cost.Growth
	cycle, err := markov.NewPeriod(ctx, p.evolution(asOperator), m)
	if err != nil {
		return g, err
	}
	g.Kernels, g.Random = cycle.Length(), p.random(cycle)
	g.Radius, g.Slack = markov.SpectralRadius(p.meanMap(cycle).change())
	// If every period has the same map, the radius of second moments is the square of that of the
	// mean, and on the same side of 1.
	g.Known = !math.IsNaN(g.Radius) // as where no eigenvalue was found
	if !g.Known || g.Radius > 1+g.Slack || mean || !g.Random {
		return g, nil
	}
	g.Radius, g.Slack = secondMomentRadius(cycle, p.n)
	g.Known = !math.IsNaN(g.Radius)
	return g, ctx.Err()
}

// Between returns the chain whose maps are the sums of those of some chains, weighted, without
// their noise.
func (p *Chain) Between(chains []cost.Chain, weights []float64) cost.Chain {
	out := &Chain{p.engine, moments{n: p.n, weights: p.weights, each: p.each, inner: p.inner}}
	// sum is that of one of the maps that each chain has.
	sum := func(of func(*Chain) *affineMap) *affineMap {
		mixed := newAffineMap(p.n)
		// The 1 at the end of a new map is restored by the sum, as the weights add up to 1.
		mixed.a.Zero()
		for j, c := range chains {
			floats.AddScaled(mixed.a.RawMatrix().Data, weights[j],
				of(c.(*Chain)).a.RawMatrix().Data)
		}
		return mixed
	}
	for i := range p.kernels {
		out.kernels = append(out.kernels, sum(func(c *Chain) *affineMap { return c.kernels[i] }))
	}
	if p.refresh != nil {
		out.refresh = sum(func(c *Chain) *affineMap { return c.refresh })
	}
	return out
}
