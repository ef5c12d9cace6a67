package spectral

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/chain/minibatch"
	"hambench/integrators"
)

// Prepare keeps the integrator; matrices are made for as many rungs of the
// ladder as a scheme asks for.
func (e *Engine) Prepare(in *integrators.Instance) (markov.Chain, error) {
	forces, err := probe.Lists(e.forces, probe.BatchesTaken(in.Kernel))
	if err != nil {
		return nil, err
	}
	wrapped, err := e.by.Wrap(in, e.forces, e.full, e.narrow.theta.mode(e.mean))
	if err != nil {
		return nil, err
	}
	p := &Chain{engine: e, space: e.narrow, in: wrapped, forces: forces}
	if e.tail == nil {
		return p, nil
	}
	tail, err := e.tail.Prepare(in)
	if err != nil {
		return nil, err
	}
	p.tail = tail.(*gaussian.Chain)
	return p, nil
}

// Chain is an integrator at one step size, in growing bases.
type Chain struct {
	engine *Engine
	tail   *gaussian.Chain // the chain far out, or nil if it is not known
	space  *space          // in which laws are expanded
	in     *integrators.Instance
	forces []integrators.Force // one for each list of batches that a kernel takes
	noise  []noiseParts        // of the kernel under each force
	rungs  []*rung             // those that were asked for so far
}

// rung is an integrator's matrices in one basis.
type rung struct {
	markov.Evolution
	basis   *basis
	inverse galerkin // of I − the mean outer step, without the constant function
}

// rung returns the matrices in the i-th basis, where i rises one by one. Its
// preconditioner is I minus an outer step under the mean of the batches. A period of
// few outer steps differs from its power by a higher order in h, and
// (I − P^k)(I − P)⁻¹ = I + … + P^{k−1} is as well conditioned as k is small.
func (p *Chain) rung(i int) *rung {
	if i < len(p.rungs) {
		return p.rungs[i]
	}
	probe.Correct(p.in, []float64{p.engine.variance})
	d := p.engine.ladder[i] // bases are kept for other steps and integrators
	if p.space.bases[d] == nil {
		p.space.bases[d] = p.engine.newBasis(p.space, d)
	}
	b, additions, sd := p.space.bases[d], make(map[added]*mat.Dense), p.engine.observed[0].sd
	n := len(b.pairs)
	r := &rung{basis: b, Evolution: markov.Evolution{Size: n, Inner: p.in.Batches,
		Each: probe.BatchesTaken(p.in.Kernel)}}
	mean := mat.NewDense(n, n, nil) // of the kernels under each force
	for k, f := range p.forces {
		step := probe.NewTransition(p.in, p.in.Kernel, f)
		if len(p.noise) == k {
			p.noise = append(p.noise, separateNoise(step, sd))
		}
		m := b.matrix(step, p.noise[k], additions) // the same noise on every rung
		r.Kernels = append(r.Kernels, m)
		mean.Add(mean, m)
	}
	mean.Scale(1/float64(len(p.forces)), mean)
	// An outer step under the mean of the batches: its kernels, and its refreshment.
	if times := r.Inner / r.Each; times > 1 {
		mean.Pow(mean, times)
	}
	if p.in.Refresh != nil {
		after := probe.NewTransition(p.in, p.in.Refresh, nil)
		m := b.matrix(after, separateNoise(after, sd), additions)
		r.Refresh = m
		mean.Mul(mat.DenseCopyOf(mean), m)
	}
	mean.Scale(-1, mean)
	// I − P, without the constant function, whose coefficient no step changes.
	for i := range n {
		mean.Set(i, i, 1+mean.At(i, i))
	}
	// mat's error for bad conditioning is ignored: whoever solves with the inverse
	// judges the residual.
	r.inverse = galerkin{mat.NewDense(n-1, n-1, nil)}
	_ = r.inverse.Inverse(mean.Slice(1, n, 1, n))
	p.rungs = append(p.rungs, r)
	return r
}

// Solve returns the errors of the stationary law under a scheme. Relative to the
// target, a law that is much wider has no expansion that converges, and rungs
// agree before they part again. So what is not resolved there, of a law that is
// clearly wider, is done in a space as wide as that law.
func (p *Chain) Solve(ctx context.Context, m minibatch.Scheme,
	everyStep bool) (markov.Point, error) {
	ladder, wide := p.engine.ladder, (*space)(nil)
	// Far out the potential is quadratic: without a law there, there is none.
	if p.tail != nil {
		far, err := p.tail.Solve(ctx, m, false)
		if err != nil || far.Unstable() {
			return far, err
		}
		if wide, err = p.engine.wider(far); err != nil {
			return markov.Point{}, err
		}
	}
	if wide != nil { // the target's space is good for the errors of low rungs at most
		ladder = ladder[:judgingRungs]
	}
	near, fine, err := p.climb(ctx, ladder, m, everyStep)
	if err != nil || fine || wide == nil {
		return near, err
	}
	// The finer of the two results counts.
	other := *p
	other.space, other.rungs = wide, nil
	far, _, err := other.climb(ctx, p.engine.ladder, m, everyStep)
	if err != nil || far.Unstable() || !near.Unstable() && coarsest(near) < coarsest(far) {
		return near, err
	}
	return far, nil
}

// clearlyWider is by how much more than the target's a variance must be, far
// out, for a space of its own. Under random batches that is a mean over many
// widths, of which the largest count.
const clearlyWider = 0.2

// wider returns the target's space, made as wide as a chain's law is far out, or
// nil if that is not clearly wider. An order needs no such chains. θ gets the density e^(−U/v)
// and r the variance w, v and w the relative variances of θ and r far out.
func (e *Engine) wider(far markov.Point) (*space, error) {
	excess := far.Observed[2].Signed // of the covariance of (θ, r)
	if len(e.ladder) == judgingRungs || excess == nil || max(excess[0], excess[3]) < clearlyWider {
		return nil, nil
	}
	wide := 1 + max(0, excess[0])
	lo, hi := e.mean.reach()
	theta, err := newDensity(func(x float64) float64 { return e.mean.value(x) / wide }, lo, hi)
	return newSpace(theta, []normal{{0, math.Sqrt(1 + max(0, excess[3]))}}), err
}

// climb goes up the ladder until the errors are as fine as is wanted, and
// returns the finest, and whether it is so fine. An error's bound is what the last
// rung changed, where each of the two last changed less than the one before: a
// basis that does not come closer says nothing. High rungs may be worse than low
// ones: where steps are large, a stationary law has moments of low degree alone.
func (p *Chain) climb(ctx context.Context, ladder []degrees, m minibatch.Scheme,
	everyStep bool) (best markov.Point, fine bool, err error) {
	best = markov.LostPoint(len(p.engine.observed)) // until something is known
	least := math.Inf(1)                            // the change that best is of
	var before, now *outcome                        // of the last two rungs that have a law
	change := math.Inf(1)                           // between those two
	radius := 0.0                                   // of the last rung that has none
	for i := range ladder {
		// A rung that is stable by chance is found out by the next ones.
		next, err := p.rung(i).solve(ctx, m, everyStep)
		if err != nil {
			return markov.Point{}, false, err
		}
		if next.signed == nil { // the matrix is unstable: begin anew
			radius = next.radius
			before, now, change = nil, nil, math.Inf(1)
			continue
		}
		before, now = now, next
		if before == nil {
			continue
		}
		last := change
		change = p.engine.change(before, now)
		// Changes that are no larger than round-off need not become smaller.
		floor := slices.Max(now.noise)
		if change > rungContraction*last && change > 4*floor || math.IsInf(last, 1) {
			continue
		}
		if change < least {
			bound := max(sharedChange*change, p.engine.unrefined(i)*last)
			best, least = p.engine.point(before, now, bound), change
		}
		if known(best, 4*floor) {
			return best, true, nil
		}
	}
	// No rung had a law that the next one bears out, and the last one is sure that there is none.
	if math.IsInf(least, 1) && radius >= 1 && now == nil {
		return markov.Point{Radius: radius}, false, nil
	}
	return best, false, nil
}

const (
	// rungContraction is how much less than the one before a rung must change
	// the errors.
	rungContraction = 0.5
	// fineEnough is the bound, relative to the error, and absoluteGoal the one
	// relative to the observable's standard deviation, at which the ladder may
	// end, and wanted the one at which it does.
	fineEnough   = 5e-3
	absoluteGoal = 1e-7
	wanted       = 1e-11
	// sharedChange is the part of the largest change over the observables that
	// bounds each of them at least: one may happen not to change.
	sharedChange = 0.3
	// elementNoise is the round-off of a matrix element, and noiseSafety how many
	// times one draw of it stands for any.
	elementNoise = 4e-15
	noiseSafety  = 4
	// residualLimit is what is still taken for a solution.
	residualLimit = 1e-9
)

// known reports whether all errors are as well known as is wanted, or as
// round-off allows.
func known(p markov.Point, floor float64) bool {
	for _, x := range p.Observed {
		if !(x.RelativeResolution <= max(floor, wanted, min(absoluteGoal, fineEnough*x.Relative))) {
			return false
		}
	}
	return true
}

// coarsest is the largest of the errors' bounds.
func coarsest(p markov.Point) float64 {
	most := 0.0
	for _, x := range p.Observed {
		most = max(most, x.RelativeResolution)
	}
	return most
}

// outcome holds the results of one rung.
type outcome struct {
	signed []float64      // errors of the observables; nil if there is no stationary law
	noise  []float64      // what round-off may have made of them, over their standard deviations
	law    []float64      // less the target's
	cycle  *markov.Period // that the law is stationary under
	radius float64
}

// change is how far apart two rungs are, over the observables' standard
// deviations.
func (e *Engine) change(before, now *outcome) float64 {
	most := 0.0
	for o, v := range now.signed {
		most = max(most, math.Abs(v-before.signed[o])/e.observed[o].sd)
	}
	return most
}

// unrefined is the part of the change before the last that a rung may still be
// off by: one that adds to the degree in θ alone does not change what the degree
// in r leaves out.
func (e *Engine) unrefined(rung int) float64 {
	if 5*e.ladder[rung-1].r < 4*e.ladder[rung].r {
		return 0
	}
	return 0.5
}

// point turns two rungs into errors and their bounds, of at least the given part
// of the observables' standard deviations.
func (e *Engine) point(before, now *outcome, least float64) markov.Point {
	var p markov.Point
	for o, v := range now.signed { // in the order of the observables
		sd := e.observed[o].sd
		bound := max(math.Abs(v-before.signed[o])/sd, least) + now.noise[o]
		p.Observed = append(p.Observed, markov.Observation{
			Signed: []float64{v / sd}, Relative: math.Abs(v) / sd, RelativeResolution: bound,
			Error: math.Abs(v), Resolution: bound * sd,
		})
	}
	return p
}

// Solve returns the observables' errors in this basis, or the spectral radius
// of a period that has no stationary law in it.
func (r *rung) solve(ctx context.Context, m minibatch.Scheme, everyStep bool) (*outcome, error) {
	cycle, err := markov.NewPeriod(ctx, r.Evolution, m)
	if err != nil {
		return nil, err
	}
	truth := r.basis.target
	// The law beyond the target solves x − Tx = Tπ − π; the constant function has no part in it.
	b := cycle.Excess(truth)
	delta, left := cycle.Solve(b, r.precondition, markov.ResidualGoal)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !(left <= residualLimit*floats.Norm(b, 2)) || !markov.Finite(delta) {
		return &outcome{radius: cycle.Growth(slices.Repeat([]float64{1}, r.Size))}, nil
	}
	if everyStep { // the average over the ends of outer steps
		delta = cycle.Occupation(truth, delta)
	}
	out := &outcome{law: delta, cycle: cycle}
	// What round-off in every kernel may add up to, by one draw of it.
	rough := roughness(len(b), float64(cycle.Length()))
	wrong, _ := cycle.Solve(rough, r.precondition, markov.BoundGoal)
	for o, f := range r.basis.observed {
		out.signed = append(out.signed, floats.Dot(delta, f)+r.basis.missing[o])
		noise := noiseSafety * math.Abs(floats.Dot(wrong, f)) / floats.Norm(f[1:], 2)
		out.noise = append(out.noise, noise+4*markov.Epsilon)
	}
	return out, ctx.Err()
}

// roughness returns what round-off may add to a law of n coefficients over a period of some
// kernels: the same size in all but the first, with random signs.
func roughness(n int, kernels float64) []float64 {
	rng := rand.New(rand.NewPCG(7, 8)) // any signs do
	x := make([]float64, n)
	for i := 1; i < n; i++ {
		x[i] = math.Copysign(elementNoise*kernels, rng.Float64()-0.5)
	}
	return x
}

// precondition solves x(I − P) = y for the rows x.
func (r *rung) precondition(y []float64) []float64 {
	x := make([]float64, len(y))
	r.inverse.AddTo(x[1:], 1, y[1:])
	return x
}
