package certify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/integrators"
	"hambench/minibatch"
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

// rungsWithOthers is the ladder with an auxiliary variable.
var rungsWithOthers = []degrees{{5, 5}, {7, 7}, {9, 9}, {11, 11}, {13, 13}, {15, 15}}

// maxNoiseNodes bounds the nodes over all normals of a step.
const maxNoiseNodes = 4096

// scalarObservable is a function of the position, or, where there is none, the
// first or second power of another variable, 0 being the momentum.
type scalarObservable struct {
	name     string
	of       func(theta float64) float64
	variable int
	power    int
	mean, sd float64 // under the target
}

var scalarObservables = []scalarObservable{
	{name: "theta^1", of: func(x float64) float64 { return x }},
	{name: "theta^2", of: func(x float64) float64 { return x * x }},
	{name: "cos(theta)", of: math.Cos},
	{name: "tanh(theta)", of: math.Tanh},
	{name: "r^2", power: 2},
}

// normal is the law of a variable beside the position under the target.
type normal struct{ mean, sd float64 }

// power returns the coefficients of the first or second power of the variable in
// the polynomials orthonormal under its law.
func (n normal) power(p int) []float64 {
	if p == 1 {
		return []float64{n.mean, n.sd}
	}
	return []float64{n.mean*n.mean + n.sd*n.sd, 2 * n.mean * n.sd, math.Sqrt2 * n.sd * n.sd}
}

// spectralEngine solves a scalar problem.
type spectralEngine struct {
	forces []integrators.Force // of the batches
	full   integrators.Force   // their mean
	by     estimation
	mean   scalarMean
	tail   *gaussianEngine // the problem far out, of oscillators; nil with auxiliary variables
	ladder []degrees
	narrow *space // the target's

	observed []scalarObservable
	variance float64 // of the batches' gradient under the target
	rates    pace
}

func newSpectralEngine(p *Problem, by estimation) (*spectralEngine, error) {
	mean := p.scalar
	target, err := mean.density()
	if err != nil {
		return nil, err
	}
	e := &spectralEngine{full: mean, by: by, mean: mean, ladder: rungs, narrow: newSpace(target, []normal{{0, 1}})}
	e.observed = e.narrow.measured(scalarObservables)
	var far []*affineForce
	for i, u := range p.scalar {
		if o, ok := u.(Oscillator); ok {
			far = append(far, o.tail())
		}
		e.forces = append(e.forces, p.scalar[i:i+1])
	}
	if len(far) == len(p.scalar) {
		e.tail, err = newGaussianEngine(&Problem{Kind: Gaussian, Friction: p.Friction, gaussian: far}, nil, estimation{})
		if err != nil {
			return nil, err
		}
	}
	if affine, _ := p.affine(); affine {
		e.full = e.tail.mean
		for i, f := range far {
			e.forces[i] = f
		}
	}
	e.variance = gradientVariance(p.scalar, target)
	e.rates = scalarPace(p, target)
	return e, nil
}

// with returns the engine for integrators with auxiliary variables, whose laws
// join the target's: those observables and bases are of the variables, too.
func (e *spectralEngine) with(variables []integrators.Variable) *spectralEngine {
	if len(variables) == 0 {
		return e
	}
	out, others := *e, slices.Clone(e.narrow.others)
	out.tail, out.ladder = nil, rungsWithOthers
	var more []scalarObservable
	for _, v := range variables {
		for _, start := range v.Start {
			for power := 1; power <= 2; power++ {
				more = append(more, scalarObservable{name: fmt.Sprintf("%s^%d", v.Name, power), variable: len(others), power: power})
			}
			others = append(others, normal{start, v.Deviation})
		}
	}
	out.narrow = newSpace(e.narrow.theta, others)
	out.observed = slices.Concat(e.observed, out.narrow.measured(more))
	return &out
}

func (e *spectralEngine) whole() (engine, error) {
	out := *e
	out.forces, out.by, out.variance = []integrators.Force{e.full}, estimation{}, 0
	if e.tail == nil {
		return &out, nil
	}
	tail, err := e.tail.whole()
	if err == nil {
		out.tail = tail.(*gaussianEngine)
	}
	return &out, err
}

// judging returns the engine without the most expensive rungs: an order needs
// no chains near the limit of stability.
func (e *spectralEngine) judging() (engine, []float64, error) {
	out := *e
	out.ladder = e.ladder[:judgingRungs]
	return &out, nil, nil
}

// judgingRungs is how many rungs an order may ask for.
const judgingRungs = 4

func (e *spectralEngine) pace() pace { return e.rates }

func (e *spectralEngine) size(_ int, x []float64) float64 { return math.Abs(x[0]) }

// scalarPace takes the largest and the mean curvature, where the target is, for
// the squares of the frequencies.
func scalarPace(p *Problem, target *density) pace {
	most, heaviest := 0.0, slices.Max(target.w)
	for i, x := range target.x {
		if target.w[i] <= livedIn*heaviest {
			continue
		}
		for _, u := range p.scalar {
			most = max(most, math.Abs(u.Curvature(x)))
		}
	}
	mean := target.expect(p.scalar.curvature)
	return pace{fast: max(math.Sqrt(most), p.Friction), slow: min(math.Sqrt(mean), p.Friction), largest: 0.5}
}

// livedIn is the density, relative to the largest, above which a chain's
// frequencies count.
const livedIn = 1e-4

func (e *spectralEngine) observables() []string {
	var names []string
	for _, o := range e.observed {
		names = append(names, o.name)
	}
	return names
}

// space is the law relative to which others are expanded: a density of θ, and
// normal ones of the other variables. An expansion of a law p relative to a law w
// converges in the mean where p²/w is integrable: for normal laws, where the
// variances of p are less than twice those of w.
type space struct {
	theta  *density
	others []normal
	bases  map[degrees]*basis // made when needed
}

func newSpace(theta *density, others []normal) *space {
	return &space{theta, others, make(map[degrees]*basis)}
}

// measured returns observables with their means and deviations under the law.
func (s *space) measured(observables []scalarObservable) (out []scalarObservable) {
	for _, o := range observables {
		if o.of == nil {
			c := s.others[o.variable].power(o.power)
			o.mean, o.sd = c[0], floats.Norm(c[1:], 2)
		} else {
			o.mean = s.theta.expect(o.of)
			o.sd = math.Sqrt(s.theta.expect(func(x float64) float64 { return (o.of(x) - o.mean) * (o.of(x) - o.mean) }))
		}
		out = append(out, o)
	}
	return out
}

// basis is the products p_a(θ) q_b(r), a/A + b/B ≤ 1 with A and B the degrees,
// orthonormal under a space's law, with quadrature rules for both. With auxiliary
// variables, q is a product of polynomials of r and of each of them, and its degree
// the sum of theirs.
type basis struct {
	degrees
	pairs  [][2]int // a and which q
	widths []int    // how many pairs there are of each q
	theta  gaussRule
	others productRule

	target   []float64   // the coefficients of the target
	observed [][]float64 // of each observable
	missing  []float64   // what the target's coefficients miss of each observable's mean
}

func (e *spectralEngine) newBasis(s *space, d degrees) *basis {
	// A product of two polynomials has twice their degree: one node more than
	// the degree does for an affine force. The others are for curved ones.
	thetaNodes, rNodes := d.theta+d.theta/3+6, d.r+8
	b := &basis{degrees: d, theta: s.theta.orthogonal(thetaNodes).gauss(thetaNodes), others: newProductRule(s.others, d.r, rNodes)}
	for q, powers := range b.others.powers {
		k, width := total(powers), 0
		for a := 0; a*d.r+k*d.theta <= d.theta*d.r; a++ {
			b.pairs = append(b.pairs, [2]int{a, q})
			width++
		}
		b.widths = append(b.widths, width)
	}
	for _, o := range e.observed {
		b.observed = append(b.observed, b.coefficients(s, o))
	}
	b.target, b.missing = make([]float64, len(b.pairs)), make([]float64, len(b.observed))
	b.target[0] = 1
	if s == e.narrow {
		return b
	}
	byTheta, byR := b.means(e.narrow.theta, func(float64) float64 { return 1 }), make([]float64, d.r+1)
	byR[0] = 1
	for k := 2; k <= d.r; k += 2 { // E q_k(r) for r ~ N(0, 1)
		byR[k] = byR[k-2] * (1/(s.others[0].sd*s.others[0].sd) - 1) * math.Sqrt(float64(k-1)/float64(k))
	}
	for i, pair := range b.pairs {
		b.target[i] = byTheta[pair[0]] * byR[pair[1]]
	}
	for i, o := range e.observed {
		b.missing[i] = floats.Dot(b.observed[i], b.target) - o.mean
	}
	return b
}

// means returns the means of f·p_a under a density.
func (b *basis) means(under *density, f func(float64) float64) []float64 {
	c, p := make([]float64, b.widths[0]), make([]float64, b.widths[0])
	for i, x := range under.x {
		if w := under.w[i]; w > 1e-40 { // below, p² w is round-off
			b.theta.values(p, x)
			floats.AddScaled(c, w*f(x), p)
		}
	}
	return c
}

// coefficients expands an observable in the basis.
func (b *basis) coefficients(s *space, o scalarObservable) []float64 {
	c := make([]float64, len(b.pairs))
	if o.of == nil {
		for power, x := range s.others[o.variable].power(o.power) {
			c[slices.Index(b.pairs, [2]int{0, b.others.only(o.variable, power)})] = x
		}
		return c
	}
	copy(c, b.means(s.theta, o.of)) // the pairs of degree 0 in r come first
	return c
}

// stepsTogether bounds the steps that are taken together.
const stepsTogether = 1 << 15

// matrix returns a step's Galerkin matrix ⟨φ_a, E φ_b(step)⟩, by which laws, as
// rows of coefficients relative to the space's law, are multiplied from the right:
// that of the step with the noise that passes through the force, times one for
// each normal that is merely added. Those are kept from one batch to the next.
func (b *basis) matrix(step *transition, parts noiseParts, additions map[added]*mat.Dense) galerkin {
	m := b.project(step, parts)
	for _, a := range parts.outside {
		if additions[a] == nil {
			additions[a] = b.project(transitionOf(step.in, a, nil), noiseParts{normals: 1, inside: [][]float64{{1}}})
		}
		var next mat.Dense
		next.Mul(m, additions[a])
		m = &next
	}
	return galerkin{m}
}

// project is the matrix of a step with nodes for its noise inside the force.
func (b *basis) project(step *transition, noise noiseParts) *mat.Dense {
	n, nr := len(b.pairs), len(b.others.nodes)
	xi, weights := noise.nodes(b.degrees)
	byTheta, byR := b.theta.weighted(b.degrees.theta+1), b.others.weighted()
	m, image := mat.NewDense(n, n, nil), mat.NewDense(nr, n, nil)
	count := nr * len(xi) // outcomes from one θ
	p, q, theta, rest := rows(count, b.degrees.theta+1), rows(count, len(b.widths)), make([]float64, count), make([][]float64, count)
	var inner mat.Dense
	var outcomes [][]float64
	for i := range b.theta.nodes {
		if len(outcomes) == 0 {
			together := max(1, stepsTogether/(nr*len(xi)))
			outcomes = b.outcomes(step, b.theta.nodes[i:min(i+together, len(b.theta.nodes))], xi)
		}
		for l, z := range outcomes[:count] {
			theta[l], rest[l] = z[0], z[1:]
		}
		b.theta.tabulate(p, theta)
		b.others.tabulate(q, rest)
		outcomes = outcomes[count:]
		image.Zero() // E φ(step) at the nodes (θ_i, r_j), a row for each j
		for l := range count {
			row, w, at := image.RawRowView(l/len(weights)), weights[l%len(weights)], 0
			for k, v := range q[l] { // pairs are in the order of q
				floats.AddScaled(row[at:at+b.widths[k]], w*v, p[l][:b.widths[k]])
				at += b.widths[k]
			}
		}
		// Project on q_b' first, then on p_a': a factor of the degree in r cheaper
		// than on their products.
		inner.Mul(byR.T(), image)
		for row, pair := range b.pairs {
			floats.AddScaled(m.RawRowView(row), byTheta.At(i, pair[0]), inner.RawRowView(pair[1]))
		}
	}
	return m
}

// outcomes are where a step goes from given positions, with all momenta and
// noises.
func (b *basis) outcomes(step *transition, thetas []float64, noises [][]float64) [][]float64 {
	count, n := len(thetas)*len(b.others.nodes)*len(noises), 1+len(b.others.rules)
	flat, z, xi := make([]float64, 0, n*count), make([][]float64, 0, count), make([][]float64, 0, count)
	for _, theta := range thetas {
		for _, others := range b.others.nodes {
			for _, noise := range noises {
				flat = append(append(flat, theta), others...)
				z, xi = append(z, flat[len(flat)-n:]), append(xi, noise)
			}
		}
	}
	step.apply(z, xi)
	return z
}

// galerkin is how laws evolve as rows of coefficients: ν is the density relative
// to the space's law in the basis. In its own space the target is (1, 0, …, 0).
type galerkin struct{ *mat.Dense }

func (g galerkin) addTo(dst []float64, w float64, law []float64) {
	vector := func(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
	blas64.Gemv(blas.Trans, w, g.RawMatrix(), vector(law), 1, vector(dst))
}

// prepare keeps the integrator; matrices are made for as many rungs of the
// ladder as a scheme asks for.
func (e *spectralEngine) prepare(in *integrators.Integrator) (prepared, error) {
	forces, err := lists(e.forces, takenBy(in.Kernel))
	if err != nil {
		return nil, err
	}
	wrapped, err := e.by.wrap(in, e.forces, e.full, e.narrow.theta.mode(e.mean))
	if err != nil {
		return nil, err
	}
	p := &preparedSpectral{engine: e, space: e.narrow, in: wrapped, forces: forces}
	if e.tail == nil {
		return p, nil
	}
	p.tail, err = e.tail.prepare(in)
	return p, err
}

// preparedSpectral is an integrator at one step size, in growing bases.
type preparedSpectral struct {
	engine *spectralEngine
	tail   prepared // the chain far out, or nil if it is not known
	space  *space
	in     *integrators.Integrator
	forces []integrators.Force // one for each list of batches that a kernel takes
	noise  []noiseParts        // of the kernel under each force
	rungs  []*rung             // those that were asked for so far
}

// rung is an integrator's matrices in one basis.
type rung struct {
	evolution
	basis   *basis
	inverse galerkin // of I − the mean outer step, without the constant function
}

// rung returns the matrices in the i-th basis, where i rises one by one. Its
// preconditioner is I minus an outer step under the mean of the batches. A period of
// few outer steps differs from its power by a higher order in h, and
// (I − P^k)(I − P)⁻¹ = I + … + P^{k−1} is as well conditioned as k is small.
func (p *preparedSpectral) rung(i int) *rung {
	if i < len(p.rungs) {
		return p.rungs[i]
	}
	correct(p.in, []float64{p.engine.variance})
	d := p.engine.ladder[i]
	if p.space.bases[d] == nil {
		p.space.bases[d] = p.engine.newBasis(p.space, d)
	}
	b, additions, sd := p.space.bases[d], make(map[added]*mat.Dense), p.engine.observed[0].sd
	n := len(b.pairs)
	r := &rung{evolution: evolution{size: n, each: takenBy(p.in.Kernel), inner: p.in.Batches}, basis: b}
	mean := mat.NewDense(n, n, nil)
	for k, f := range p.forces {
		step := transitionOf(p.in, p.in.Kernel, f)
		if len(p.noise) == k {
			p.noise = append(p.noise, separateNoise(step, sd))
		}
		m := b.matrix(step, p.noise[k], additions)
		r.kernels = append(r.kernels, m)
		mean.Add(mean, m)
	}
	mean.Scale(1/float64(len(p.forces)), mean)
	if times := r.inner / r.each; times > 1 {
		mean.Pow(mean, times)
	}
	if p.in.Refresh != nil {
		after := transitionOf(p.in, p.in.Refresh, nil)
		m := b.matrix(after, separateNoise(after, sd), additions)
		r.refresh = m
		mean.Mul(mat.DenseCopyOf(mean), m)
	}
	mean.Scale(-1, mean)
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

// solve returns the errors of the stationary law under a scheme. Relative to the
// target, a law that is much wider has no expansion that converges, and rungs
// agree before they part again. So what is not resolved there, of a law that is
// clearly wider, is done in a space as wide as that law.
func (p *preparedSpectral) solve(ctx context.Context, m minibatch.Method, everyStep bool) (point, error) {
	ladder, wide := p.engine.ladder, (*space)(nil)
	if p.tail != nil {
		far, err := p.tail.solve(ctx, m, false)
		if err != nil || far.unstable() {
			return far, err
		}
		if wide, err = p.engine.wider(far); err != nil {
			return point{}, err
		}
	}
	if wide != nil {
		ladder = ladder[:judgingRungs]
	}
	near, fine, err := p.climb(ctx, ladder, m, everyStep)
	if err != nil || fine || wide == nil {
		return near, err
	}
	other := *p
	other.space, other.rungs = wide, nil
	far, _, err := other.climb(ctx, p.engine.ladder, m, everyStep)
	if err != nil || far.unstable() || !near.unstable() && near.coarsest() < far.coarsest() {
		return near, err
	}
	return far, nil
}

// clearlyWider is by how much more than the target's a variance must be, far
// out, for a space of its own. Under random batches that is a mean over many
// widths, of which the largest count.
const clearlyWider = 0.2

// wider returns the target's space, made as wide as a chain's law is far out, or
// nil if that is not clearly wider. An order needs no such chains.
func (e *spectralEngine) wider(far point) (*space, error) {
	excess := far.observed[2].signed // of the covariance of (θ, r)
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
func (p *preparedSpectral) climb(ctx context.Context, ladder []degrees, m minibatch.Method, everyStep bool) (best point, fine bool, err error) {
	best = lostPoint(len(p.engine.observed))
	least := math.Inf(1)
	var before, now *outcome
	change, radius := math.Inf(1), 0.0
	for i := range ladder {
		next, err := p.rung(i).solve(ctx, m, everyStep)
		if err != nil {
			return point{}, false, err
		}
		if next.signed == nil {
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
		floor := slices.Max(now.noise)
		if change > rungContraction*last && change > 4*floor || math.IsInf(last, 1) {
			continue
		}
		if change < least {
			best, least = p.engine.point(before, now, max(sharedChange*change, p.engine.unrefined(i)*last)), change
		}
		if best.fine(4 * floor) {
			return best, true, nil
		}
	}
	if math.IsInf(least, 1) && radius >= 1 && now == nil {
		return point{radius: radius}, false, nil
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

// fine reports whether all errors are as well known as is wanted, or as
// round-off allows.
func (p point) fine(floor float64) bool {
	for _, x := range p.observed {
		if !(x.relativeResolution <= max(floor, wanted, min(absoluteGoal, fineEnough*x.relative))) {
			return false
		}
	}
	return true
}

// coarsest is the largest of the errors' bounds.
func (p point) coarsest() float64 {
	most := 0.0
	for _, x := range p.observed {
		most = max(most, x.relativeResolution)
	}
	return most
}

// outcome is what one rung gives.
type outcome struct {
	signed []float64 // errors of the observables; nil if there is no stationary law
	noise  []float64 // what round-off may have made of them, over their standard deviations
	law    []float64 // less the target's
	cycle  *period   // that the law is stationary under
	radius float64
}

// change is how far apart two rungs are, over the observables' standard
// deviations.
func (e *spectralEngine) change(before, now *outcome) float64 {
	most := 0.0
	for o, v := range now.signed {
		most = max(most, math.Abs(v-before.signed[o])/e.observed[o].sd)
	}
	return most
}

// unrefined is the part of the change before the last that a rung may still be
// off by: one that adds to the degree in θ alone does not change what the degree
// in r leaves out.
func (e *spectralEngine) unrefined(rung int) float64 {
	if 5*e.ladder[rung-1].r < 4*e.ladder[rung].r {
		return 0
	}
	return 0.5
}

// point turns two rungs into errors and their bounds, of at least the given part
// of the observables' standard deviations.
func (e *spectralEngine) point(before, now *outcome, least float64) point {
	var p point
	for o, v := range now.signed {
		sd := e.observed[o].sd
		bound := max(math.Abs(v-before.signed[o])/sd, least) + now.noise[o]
		p.observed = append(p.observed, observation{
			signed: []float64{v / sd}, relative: math.Abs(v) / sd, relativeResolution: bound,
			error: math.Abs(v), resolution: bound * sd,
		})
	}
	return p
}

// solve returns the observables' errors in this basis, or the spectral radius
// of a period that has no stationary law in it.
func (r *rung) solve(ctx context.Context, m minibatch.Method, everyStep bool) (*outcome, error) {
	cycle, err := newPeriod(ctx, r.evolution, m)
	if err != nil {
		return nil, err
	}
	truth := r.basis.target
	b := cycle.excess(truth)
	delta, left := cycle.solve(b, r.precondition, residualGoal)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !(left <= residualLimit*floats.Norm(b, 2)) || !finite(delta) {
		return &outcome{radius: cycle.growth(slices.Repeat([]float64{1}, r.size))}, nil
	}
	if everyStep {
		delta = cycle.occupation(truth, delta)
	}
	out := &outcome{law: delta, cycle: cycle}
	wrong, _ := cycle.solve(roughness(len(b), float64(cycle.length())), r.precondition, unitGoal)
	for o, f := range r.basis.observed {
		out.signed = append(out.signed, floats.Dot(delta, f)+r.basis.missing[o])
		out.noise = append(out.noise, noiseSafety*math.Abs(floats.Dot(wrong, f))/floats.Norm(f[1:], 2)+4*epsilon)
	}
	return out, ctx.Err()
}

// roughness is what round-off may add to a law of coefficients over a period.
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
	r.inverse.addTo(x[1:], 1, y[1:])
	return x
}
