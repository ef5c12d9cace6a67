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
	p := &Chain{engine: e, space: e.narrow, in: wrapped, forces: forces, rungs: make(map[int]*rung)}
	if e.open {
		p.without, err = p.settle()
	}
	if e.tail == nil {
		return p, err
	}
	// The chain far out takes the gradients of the batches: what cv adds to them does not depend on
	// θ, and so does not count in what is stable.
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
	noise  []noiseParts        // of the steps that a kernel mixes under each force
	rungs  map[int]*rung       // those that were asked for so far
	// without is what is known of a chain with open variables whose law was not found, or nil.
	without *markov.Point
}

// rung is an integrator's matrices in one basis.
type rung struct {
	markov.Evolution
	basis   *basis
	inverse galerkin  // of I − the mean outer step, without the constant function
	first   []float64 // what the mean outer step makes of the constant function, without that
}

// mostUnseen is the share of the curvature that a basis may not reach: what it does not see of a
// potential, neither it nor a coarser one that agrees with it knows. Of 128 random chains at
// large steps no resolution was false with this limit, and some were with three times it.
const mostUnseen = 0.1

// rung returns the matrices in the i-th basis, or nil if that does not see the potential.
func (p *Chain) rung(i int) *rung {
	if p.rungs[i] == nil && p.basis(p.engine.ladder[i]).unseen <= mostUnseen {
		p.rungs[i] = p.newRung(p.engine.ladder[i])
	}
	return p.rungs[i]
}

// basis is kept for other steps and integrators.
func (p *Chain) basis(d degrees) *basis {
	if p.space.bases[d] == nil {
		p.space.bases[d] = p.engine.newBasis(p.space, d)
	}
	return p.space.bases[d]
}

// newRung makes the matrices in a basis. Their preconditioner is I minus an outer step under the
// mean of the batches. A period of few outer steps differs from its power by a higher order in h,
// and (I − P^k)(I − P)⁻¹ = I + … + P^{k−1} is as well conditioned as k is small.
func (p *Chain) newRung(d degrees) *rung {
	probe.Correct(p.in, []float64{p.engine.variance})
	b, additions, sd := p.basis(d), make(map[added]*mat.Dense), p.engine.observed[0].sd
	n := len(b.pairs)
	r := &rung{basis: b, Evolution: markov.Evolution{Size: n, Inner: p.in.Batches,
		Each: probe.BatchesTaken(p.in.Kernel)}}
	mean := mat.NewDense(n, n, nil) // of the kernels under each force
	steps, weights := probe.Mixture(p.in.Kernel)
	// Kernel by kernel: its matrix is the mean over the steps that it mixes.
	for k, f := range p.forces {
		sum := mat.NewDense(n, n, nil)
		for l, of := range steps {
			step, at := probe.NewTransition(p.in, of, f), k*len(steps)+l
			if len(p.noise) == at {
				p.noise = append(p.noise, separateNoise(step, sd))
			}
			m := b.matrix(step, p.noise[at], additions) // the same noise on every rung
			floats.AddScaled(sum.RawMatrix().Data, weights[l], m.RawMatrix().Data)
		}
		r.Kernels = append(r.Kernels, galerkin{sum})
		mean.Add(mean, sum)
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
	r.first = floats.ScaleTo(make([]float64, n-1), -1, mean.RawRowView(0)[1:])
	return r
}

// Solve returns the errors of the stationary law under a scheme. Relative to the
// target, a law that is much wider has no expansion that converges, and rungs
// agree before they part again. So what is not resolved there is done in a space
// as wide as that law, too, and what the two do not agree on is not known.
func (p *Chain) Solve(ctx context.Context, m minibatch.Scheme,
	everyStep bool) (markov.Point, error) {
	if p.without != nil {
		return p.lawless(ctx, m)
	}
	ladder, far := p.engine.ladder, markov.Point{}
	// Far out the potential is quadratic: without a law there, there is none.
	if p.tail != nil {
		var err error
		if far, err = p.tail.Solve(ctx, m, false); err != nil || far.Unstable() {
			return far, err
		}
		// The target's space is good for the errors of low rungs at most.
		if relativeWidth(far) > clearlyWider {
			ladder = ladder[:judgingRungs]
		}
	}
	near, _, fine, err := p.climb(ctx, ladder, m, everyStep)
	// An order needs no chains whose law is wide.
	if err != nil || fine || p.tail == nil || len(p.engine.ladder) == judgingRungs {
		return near, err
	}
	// The copy keeps what was found of the noise, which does not depend on the space.
	other := *p
	if other.space, err = p.engine.wider(far); err != nil {
		return near, err
	}
	other.rungs = make(map[int]*rung)
	wide, outcomes, _, err := other.climb(ctx, p.engine.ladder, m, everyStep)
	switch {
	case err != nil || wide.Unstable():
		return near, err
	case near.Unstable():
		return wide, nil
	}
	// The rungs that the target's space was spared are later ones for what it found, too.
	p.engine.cover(near, outcomes, len(ladder))
	// The finer of the two results counts.
	if coarsest(wide) <= coarsest(near) {
		near, wide = wide, near
	}
	for o, x := range wide.Observed {
		if x.Signed == nil { // nothing is known of it
			continue
		}
		apart := math.Abs(x.Signed[0]-near.Observed[o].Signed[0]) - x.RelativeResolution
		near.Observed[o].Widen(apart, p.engine.observed[o].sd)
	}
	return near, nil
}

const (
	// clearlyWider is by how much more than the target's a variance must be, far
	// out, for a space of its own to be better than the target's. Under random batches that is a
	// mean over many widths, of which the largest count.
	clearlyWider = 0.2
	// widerAtLeast is by how much wider a second space is, that results be independent.
	widerAtLeast = 0.35
)

// relativeWidth is by how much more than the target's the larger of the variances of θ and r is,
// far out; 0 if that is not known.
func relativeWidth(far markov.Point) float64 {
	excess := far.Observed[2].Signed // of the covariance of (θ, r)
	if excess == nil {
		return 0
	}
	return max(excess[0], excess[3])
}

// wider returns the target's space, made as wide as a chain's law is far out, or somewhat wider
// if that is not. θ gets the density e^(−U/v) and r the variance w, v and w the relative variances
// of θ and r far out.
func (e *Engine) wider(far markov.Point) (*space, error) {
	v, w := 1+widerAtLeast, 1+widerAtLeast
	if excess := far.Observed[2].Signed; relativeWidth(far) > clearlyWider {
		v, w = 1+max(0, excess[0]), 1+max(0, excess[3])
	}
	theta, err := e.mean.density(v)
	return newSpace(theta, []normal{{sd: math.Sqrt(w)}}, false), err
}

// climb goes up the ladder until the errors are as fine as is wanted, and
// returns the finest, and whether it is so fine. An error's bound is what the last
// rung changed, where each of the two last changed less than the one before: a
// basis that does not come closer says nothing. High rungs may be worse than low
// ones: where steps are large, a stationary law has moments of low degree alone. But a rung may
// agree with the one below by chance, so its bounds cover what all later ones say. The outcomes
// are those of all rungs that have a law.
func (p *Chain) climb(ctx context.Context, ladder []degrees, m minibatch.Scheme, everyStep bool) (
	best markov.Point, outcomes []*outcome, fine bool, err error) {
	var points []markov.Point // the results
	var at []int              // on which rung each is
	var before, now *outcome  // of the last two rungs that have a law
	change := math.Inf(1)     // between those two
	radius, first := 0.0, 0   // of the last rung that has none, and the first outcome after it
	for i := range ladder {
		r := p.rung(i)
		if r == nil { // it does not see the potential
			continue
		}
		// A rung that is stable by chance is found out by the next ones.
		next, err := r.solve(ctx, m, everyStep)
		if err != nil {
			return markov.Point{}, nil, false, err
		}
		next.rung = i
		if next.signed == nil { // the matrix is unstable: begin anew
			radius = next.radius
			before, now, change = nil, nil, math.Inf(1)
			continue
		}
		if now == nil { // three in a row tell how fast an error falls
			first = len(outcomes)
		}
		outcomes = append(outcomes, next)
		before, now = now, next
		if before == nil {
			continue
		}
		last := change
		change = p.engine.change(before, now)
		// Changes that are no larger than round-off need not become smaller.
		floor := slices.Max(now.noise)
		// Only three rungs tell whether the basis comes closer: with two, last is infinite.
		if change > rungContraction*last && change > 4*floor || math.IsInf(last, 1) {
			continue
		}
		bound := max(sharedChange*change, p.engine.unrefined(i)*last)
		slow := max(1, slowness*min(rungContraction, change/last))
		found := p.engine.point(outcomes[first:], bound, slow)
		points, at = append(points, found), append(at, i)
		if p.engine.known(found, 4*floor) {
			return found, outcomes, true, nil
		}
	}
	// No rung had a law that the next one bears out, and the last one is sure that there is none.
	if points == nil && radius >= 1 && now == nil {
		return markov.Point{Radius: radius}, nil, false, nil
	}
	best = markov.LostPoint(len(p.engine.observed)) // until something is known
	for i, found := range points {
		p.engine.cover(found, outcomes, at[i]+1)
		if coarsest(found) < coarsest(best) {
			best = found
		}
	}
	return best, outcomes, false, nil
}

// cover widens the bounds of a result by what the outcomes from a rung on say. If one of them is
// outside a bound, the rungs before agreed by chance: each result may be off by as much as the
// outcomes are from it, and by its bound beyond them.
func (e *Engine) cover(found markov.Point, outcomes []*outcome, from int) {
	off, chance := make([]float64, len(found.Observed)), false
	for _, later := range outcomes {
		if later.rung < from {
			continue
		}
		for o, x := range found.Observed {
			if x.Signed == nil { // nothing is known of it
				continue
			}
			off[o] = max(off[o], math.Abs(later.signed[o]/e.observed[o].sd-x.Signed[0]))
			chance = chance || off[o] > x.RelativeResolution
		}
	}
	for o, x := range found.Observed {
		if chance {
			found.Observed[o].Widen(off[o]+x.RelativeResolution, e.observed[o].sd)
		}
	}
}

const (
	// rungContraction is how much less than the one before a rung must change
	// the errors.
	rungContraction = 0.5
	// slowness is how many times a change, times its ratio to the one before, may be left where
	// rungs contract slowly: an error may contract slower than changes did.
	slowness = 6
	// fineEnough is the bound, relative to the error, and absoluteGoal the one
	// relative to the observable's standard deviation, at which the ladder may
	// end, and wanted the one at which it does.
	fineEnough   = 5e-3
	absoluteGoal = 1e-7
	openGoal     = 1e-3 // with a variable of open law
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
func (e *Engine) known(p markov.Point, floor float64) bool {
	for _, x := range p.Observed {
		enough := max(wanted, min(absoluteGoal, fineEnough*x.Relative))
		if e.open {
			enough = max(openGoal, fineEnough*x.Relative)
		}
		if !(x.RelativeResolution <= max(floor, enough)) {
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
	rung   int            // of the ladder
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
// in r leaves out, and one with less of it than two before may be off by all of it.
func (e *Engine) unrefined(rung int) float64 {
	r := func(i int) int { return e.ladder[max(0, i)].r }
	switch {
	case 5*r(rung-1) < 4*r(rung):
		return 0
	case r(rung) < r(rung-2):
		return 1
	}
	return 0.5
}

// point turns rungs into errors and their bounds: what changed last, of at least the given part
// of the observables' standard deviations, times a factor. A change may be small by chance: what
// the two before let expect of it is added.
func (e *Engine) point(rungs []*outcome, least, times float64) markov.Point {
	var p markov.Point
	now := rungs[len(rungs)-1]
	for o, v := range now.signed { // in the order of the observables
		sd := e.observed[o].sd
		var changes []float64 // the last first
		for i := len(rungs) - 1; i > 0; i-- {
			changes = append(changes, math.Abs(rungs[i].signed[o]-rungs[i-1].signed[o])/sd)
		}
		bound := times*max(changes[0], least) + now.noise[o]
		if len(changes) > 2 && changes[1] > 0 {
			bound += changes[1] * min(1, changes[1]/changes[2])
		}
		p.Observed = append(p.Observed, markov.Observation{
			Signed: []float64{v / sd}, Relative: math.Abs(v) / sd, RelativeResolution: bound,
			Error: math.Abs(v), Resolution: bound * sd,
		})
	}
	return p
}

// solve returns the observables' errors in this basis, or the spectral radius
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
		// The norm of an observable's coefficients without the constant is its standard deviation.
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
