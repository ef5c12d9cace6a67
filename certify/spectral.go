package certify

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"hambench/integrators"
	"hambench/minibatch"
	"hambench/usage"
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

const (
	// maxNoiseNodes bounds the nodes over all normals of a step.
	maxNoiseNodes = 4096
)

// scalarForce is the force of a potential with its curvature.
type scalarForce struct{ ScalarPotential }

// Gradient stores U′(θ) in g.
func (f scalarForce) Gradient(g, theta []float64) { g[0] = f.ScalarPotential.Gradient(theta[0]) }

// HessianVector stores U″(θ)v in hv.
func (f scalarForce) HessianVector(hv, theta, v []float64) { hv[0] = f.Curvature(theta[0]) * v[0] }

// scalarMean is the potential of the full data: the mean over the batches.
type scalarMean []ScalarPotential

func (m scalarMean) average(f func(ScalarPotential) float64) float64 {
	sum := 0.0
	for _, u := range m {
		sum += f(u)
	}
	return sum / float64(len(m))
}

// Value returns U(θ).
func (m scalarMean) Value(theta float64) float64 {
	return m.average(func(u ScalarPotential) float64 { return u.Value(theta) })
}

// Gradient returns U′(θ).
func (m scalarMean) Gradient(theta float64) float64 {
	return m.average(func(u ScalarPotential) float64 { return u.Gradient(theta) })
}

// Curvature returns U″(θ).
func (m scalarMean) Curvature(theta float64) float64 {
	return m.average(func(u ScalarPotential) float64 { return u.Curvature(theta) })
}

// scalarObservable is a function of position or of momentum.
type scalarObservable struct {
	name  string
	theta func(theta float64) float64 // or nil
	r     func(r float64) float64
}

var scalarObservables = []scalarObservable{
	{name: "theta^1", theta: func(x float64) float64 { return x }},
	{name: "theta^2", theta: func(x float64) float64 { return x * x }},
	{name: "cos(theta)", theta: math.Cos},
	{name: "tanh(theta)", theta: math.Tanh},
	{name: "r^2", r: func(r float64) float64 { return r * r }},
}

// spectralEngine solves a scalar problem.
type spectralEngine struct {
	forces []integrators.Force
	full   integrators.Force
	target *density
	tail   *gaussianEngine // the problem far out, or nil
	ladder []degrees
	bases  []*basis // one a rung of the ladder, made when needed

	deviations []float64 // of the observables under the target
	variance   float64   // of the batches' gradient under the target
	rates      pace
}

func newSpectralEngine(p *Problem) (*spectralEngine, error) {
	mean := scalarMean(p.scalar)
	target, err := newDensity(mean.Value)
	if err != nil {
		return nil, err
	}
	e := &spectralEngine{full: scalarForce{mean}, target: target, ladder: rungs, bases: make([]*basis, len(rungs))}
	var far []*affineForce
	for _, u := range p.scalar {
		o, ok := u.(Oscillator)
		if ok {
			far = append(far, o.tail())
		}
		e.forces = append(e.forces, scalarForce{u})
	}
	if len(far) == len(p.scalar) {
		e.tail, err = newGaussianEngine(&Problem{Kind: Gaussian, Friction: p.Friction, gaussian: far}, nil)
	}
	if p.affine() {
		e.full = e.tail.full.original[0]
		for i, f := range far {
			e.forces[i] = f
		}
	}
	for _, o := range scalarObservables {
		e.deviations = append(e.deviations, target.deviation(o))
	}
	_, e.variance = gradientSpread(p.scalar, target)
	e.rates = scalarPace(p, target)
	return e, err
}

// judging returns the engine without the most expensive rungs: an order needs
// no chains near the limit of stability.
func (e *spectralEngine) judging() *spectralEngine {
	out := *e
	out.ladder = e.ladder[:judgingRungs]
	return &out
}

// judgingRungs is how many rungs an order may ask for.
const judgingRungs = 4

func (e *spectralEngine) pace() pace { return e.rates }

func (e *spectralEngine) size(_ int, x []float64) float64 { return math.Abs(x[0]) }

// scalarPace takes the largest and the mean curvature, where the target is, for
// the squares of the frequencies.
func scalarPace(p *Problem, target *density) pace {
	most, mean := 0.0, 0.0
	heaviest := slices.Max(target.w)
	for i, x := range target.x {
		whole := 0.0
		for _, u := range p.scalar {
			c := u.Curvature(x)
			whole += c / float64(len(p.scalar))
			if target.w[i] > livedIn*heaviest {
				most = max(most, math.Abs(c))
			}
		}
		mean += target.w[i] * whole
	}
	return pace{fast: max(math.Sqrt(most), p.Friction), slow: min(math.Sqrt(mean), p.Friction), largest: 0.5}
}

// livedIn is the density, relative to the largest, above which a chain's
// frequencies count.
const livedIn = 1e-4

// deviation is an observable's standard deviation.
func (d *density) deviation(o scalarObservable) float64 {
	if o.theta == nil {
		return math.Sqrt2 // of r², r standard normal
	}
	mean, square := 0.0, 0.0
	for i, x := range d.x {
		mean += d.w[i] * o.theta(x)
	}
	for i, x := range d.x {
		v := o.theta(x) - mean
		square += d.w[i] * v * v
	}
	return math.Sqrt(square)
}

func (e *spectralEngine) observables() []string {
	var names []string
	for _, o := range scalarObservables {
		names = append(names, o.name)
	}
	return names
}

// basis is the products p_a(θ) q_b(r), a/A + b/B ≤ 1 with A and B the degrees,
// p orthonormal under exp(−U) and q under N(0, 1), with quadrature rules for
// both.
type basis struct {
	degrees
	pairs    [][2]int
	widths   []int // how many pairs there are of each degree in r
	thetaSet jacobi
	rSet     jacobi

	thetaNodes, thetaWeights []float64
	rNodes, rWeights         []float64

	observed [][]float64 // coefficients of each observable
}

// basis returns the basis of a rung.
func (e *spectralEngine) basis(i int) *basis {
	if e.bases[i] == nil {
		e.bases[i] = newBasis(e.target, e.ladder[i])
	}
	return e.bases[i]
}

func newBasis(target *density, d degrees) *basis {
	// A product of two polynomials has twice their degree: one node more than
	// the degree does for an affine force. The others are for curved ones.
	thetaNodes, rNodes := d.theta+d.theta/3+6, d.r+8
	b := &basis{degrees: d, thetaSet: target.orthogonal(thetaNodes), rSet: hermite(rNodes)}
	b.thetaNodes, b.thetaWeights = b.thetaSet.gauss(thetaNodes)
	b.rNodes, b.rWeights = b.rSet.gauss(rNodes)
	for k := range d.r + 1 {
		for a := 0; a*d.r+k*d.theta <= d.theta*d.r; a++ {
			b.pairs = append(b.pairs, [2]int{a, k})
		}
		b.widths = append(b.widths, d.theta-(k*d.theta+d.r-1)/d.r+1)
	}
	for _, o := range scalarObservables {
		b.observed = append(b.observed, b.coefficients(target, o))
	}
	return b
}

// coefficients expands an observable in the basis.
func (b *basis) coefficients(target *density, o scalarObservable) []float64 {
	c := make([]float64, len(b.pairs))
	p := make([]float64, max(b.degrees.theta, b.degrees.r)+1)
	project := func(x, f, w float64, rule jacobi, degree func(pair [2]int) (int, bool)) {
		rule.values(p[:min(len(p), len(rule.a))], x)
		for i, pair := range b.pairs {
			if k, ok := degree(pair); ok {
				c[i] += w * f * p[k]
			}
		}
	}
	if o.theta != nil {
		for i, x := range target.x {
			if w := target.w[i]; w > 1e-40 { // below, p² w is round-off
				project(x, o.theta(x), w, b.thetaSet, func(q [2]int) (int, bool) { return q[0], q[1] == 0 })
			}
		}
		return c
	}
	for i, r := range b.rNodes {
		project(r, o.r(r), b.rWeights[i], b.rSet, func(q [2]int) (int, bool) { return q[1], q[0] == 0 })
	}
	return c
}

// noiseRule is a product Gauss–Hermite rule for a number of normals.
type noiseRule struct {
	xi      [][]float64
	weights []float64
}

// newNoiseRule takes enough nodes a normal for the degree in r and for what
// of the degree in θ the noise of one step reaches, or as many as the bound
// on all nodes allows.
func newNoiseRule(normals int, d degrees) noiseRule {
	q := d.r/2 + d.theta/6 + 4
	for q > 3 && math.Pow(float64(q), float64(normals)) > maxNoiseNodes {
		q--
	}
	nodes, weights := hermite(q).gauss(q)
	rule := noiseRule{xi: [][]float64{nil}, weights: []float64{1}}
	for range normals {
		var next noiseRule
		for i, xi := range rule.xi {
			for j, x := range nodes {
				next.xi = append(next.xi, append(append([]float64(nil), xi...), x))
				next.weights = append(next.weights, rule.weights[i]*weights[j])
			}
		}
		rule = next
	}
	return rule
}

// stepMatrix is a step's Galerkin matrix ⟨φ_a, E φ_b(step)⟩ as factors, by
// which laws, as rows of coefficients relative to the target, are multiplied
// from the right: the step with the noise that passes through the force, then
// a factor for each normal that is merely added.
type stepMatrix []blas64.General

// matrix returns the Galerkin matrix of a step, whose noise has been taken
// apart. Additions are kept from one batch to the next.
func (b *basis) matrix(step *transition, parts noiseParts, additions map[added]blas64.General) stepMatrix {
	factors := stepMatrix{b.project(step, parts.rule(b.degrees))}
	for _, a := range parts.outside {
		g, ok := additions[a]
		if !ok {
			g = b.project(transitionOf(step.in, a, nil), newNoiseRule(1, b.degrees))
			additions[a] = g
		}
		factors = append(factors, g)
	}
	return factors
}

// dense multiplies the factors.
func (s stepMatrix) dense() *mat.Dense {
	out := mat.NewDense(s[0].Rows, s[0].Cols, s[0].Data)
	for _, m := range s[1:] {
		var next mat.Dense
		next.Mul(out, mat.NewDense(m.Rows, m.Cols, m.Data))
		out = &next
	}
	return out
}

// addProduct adds w·x·(the matrix) to dst.
func (s stepMatrix) addProduct(dst []float64, w float64, x []float64) {
	for _, m := range s[:len(s)-1] {
		next := make([]float64, len(x))
		multiplyRow(next, 1, x, m)
		x = next
	}
	multiplyRow(dst, w, x, s[len(s)-1])
}

// rule returns nodes for the noise that passes through the force, as numbers
// for the whole step.
func (n noiseParts) rule(d degrees) noiseRule {
	rule := newNoiseRule(len(n.inside), d)
	for i, y := range rule.xi {
		xi := make([]float64, n.normals)
		for l, direction := range n.inside {
			addScaled(xi, y[l], direction)
		}
		rule.xi[i] = xi
	}
	return rule
}

// stepsTogether bounds the steps that are taken together.
const stepsTogether = 1 << 15

// project is the matrix of a step with nodes for its noise.
func (b *basis) project(step *transition, rule noiseRule) blas64.General {
	n, nr := len(b.pairs), len(b.rNodes)
	m := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	image := make([]float64, nr*n) // E φ(step) at the nodes (θ_i, r_j), all j
	inner := make([]float64, (b.degrees.r+1)*n)
	p, q := make([]float64, b.degrees.theta+1), make([]float64, b.degrees.r+1)
	perTheta := nr * len(rule.xi)
	var outcomes [][]float64
	for i, theta := range b.thetaNodes {
		if len(outcomes) == 0 {
			outcomes = b.outcomes(step, b.thetaNodes[i:min(i+max(1, stepsTogether/perTheta), len(b.thetaNodes))], rule)
		}
		clear(image)
		for j := range nr {
			b.average(image[j*n:(j+1)*n], outcomes[j*len(rule.xi):], rule)
		}
		outcomes = outcomes[perTheta:]
		// Project on q_b' first, then on p_a': a factor of the degree in r cheaper
		// than on their products.
		clear(inner)
		for j, r := range b.rNodes {
			b.rSet.values(q, r)
			for k, v := range q {
				addScaled(inner[k*n:(k+1)*n], b.rWeights[j]*v, image[j*n:(j+1)*n])
			}
		}
		b.thetaSet.values(p, theta)
		for row, pair := range b.pairs {
			addScaled(m.Data[row*n:(row+1)*n], b.thetaWeights[i]*p[pair[0]], inner[pair[1]*n:(pair[1]+1)*n])
		}
	}
	return m
}

// outcomes are where a step goes from given positions, with all momenta and
// noises.
func (b *basis) outcomes(step *transition, thetas []float64, rule noiseRule) [][]float64 {
	count := len(thetas) * len(b.rNodes) * len(rule.xi)
	flat, z, xi := make([]float64, 0, 2*count), make([][]float64, 0, count), make([][]float64, 0, count)
	for _, theta := range thetas {
		for _, r := range b.rNodes {
			for _, at := range rule.xi {
				flat = append(flat, theta, r)
				z, xi = append(z, flat[len(flat)-2:]), append(xi, at)
			}
		}
	}
	step.apply(z, xi)
	return z
}

// average adds E φ(step(θ, r)) over the noise to dst.
func (b *basis) average(dst []float64, outcomes [][]float64, rule noiseRule) {
	p, q := make([]float64, b.degrees.theta+1), make([]float64, b.degrees.r+1)
	for l, weight := range rule.weights {
		b.thetaSet.values(p, outcomes[l][0])
		b.rSet.values(q, outcomes[l][1])
		at := 0
		for k, v := range q { // pairs are in the order of the degree in r
			addScaled(dst[at:at+b.widths[k]], weight*v, p[:b.widths[k]])
			at += b.widths[k]
		}
	}
}

// coefficients is how laws evolve as rows of coefficients: ν is the density
// relative to the target in the basis, so that the target is (1, 0, …, 0).
type coefficients struct {
	kernels []stepMatrix
	after   stepMatrix // refreshment, or nil
}

func (e *coefficients) size() int    { return e.kernels[0][0].Rows }
func (e *coefficients) batches() int { return len(e.kernels) }

func (e *coefficients) kernel(dst []float64, w float64, src []float64, i int) {
	e.kernels[i].addProduct(dst, w, src)
}

func (e *coefficients) refresh(law []float64) {
	if e.after == nil {
		return
	}
	src := append([]float64(nil), law...)
	clear(law)
	e.after.addProduct(law, 1, src)
}

// multiplyRow adds w·x·m to dst.
func multiplyRow(dst []float64, w float64, x []float64, m blas64.General) {
	blas64.Gemv(blas.Trans, w, m, blas64.Vector{N: len(x), Inc: 1, Data: x}, 1, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
}

// prepare keeps the integrator; matrices are made for as many rungs of the
// ladder as a scheme asks for.
func (e *spectralEngine) prepare(in *integrators.Integrator) (prepared, error) {
	if auxiliary(in) > 0 {
		return nil, usage.Errorf("integrator %q has auxiliary variables, and the spectral engine takes one position and one momentum: want a problem of kind gaussian", in.Method.Name)
	}
	p := &preparedSpectral{engine: e, in: in}
	p.full.forces, p.parts.forces, p.parts.variance = []integrators.Force{e.full}, e.forces, []float64{e.variance}
	if e.tail == nil {
		return p, nil
	}
	tail, err := e.tail.prepare(in)
	p.tail = tail
	return p, err
}

// preparedSpectral is an integrator at one step size.
type preparedSpectral struct {
	engine      *spectralEngine
	in          *integrators.Integrator
	tail        prepared // the chain far out, or nil if it is not known
	full, parts ladder   // under the full data, and under the batches
}

// ladder is an integrator's matrices under given forces in growing bases.
type ladder struct {
	forces   []integrators.Force
	variance []float64    // of their gradient under the target
	noise    []noiseParts // of the kernel under each force
	rungs    []*rung
}

// rung is an integrator's matrices in one basis.
type rung struct {
	*coefficients
	basis *basis
	lu    blas64.General // factors of I − the mean outer step, without the constant function
	swaps []int
}

// rung returns the matrices in the i-th basis, where i rises one by one.
func (p *preparedSpectral) rung(l *ladder, i int) *rung {
	if i < len(l.rungs) {
		return l.rungs[i]
	}
	correct(p.in, l.variance)
	additions := make(map[added]blas64.General)
	r := &rung{basis: p.engine.basis(i), coefficients: &coefficients{}}
	if p.in.Refresh != nil {
		after := transitionOf(p.in, p.in.Refresh, nil)
		r.after = r.basis.matrix(after, separateNoise(after), additions)
	}
	for k, f := range l.forces {
		step := transitionOf(p.in, p.in.Kernel, f)
		if len(l.noise) == k {
			l.noise = append(l.noise, separateNoise(step))
		}
		r.kernels = append(r.kernels, r.basis.matrix(step, l.noise[k], additions))
	}
	r.factorise(p.in.Batches)
	l.rungs = append(l.rungs, r)
	return r
}

// factorise prepares the preconditioner: I minus an outer step under the
// mean of the batches. A period of few outer steps differs from its power by
// a higher order in h, and (I − P^k)(I − P)⁻¹ = I + … + P^{k−1} is as well
// conditioned as k is small.
func (r *rung) factorise(inner int) {
	n := r.size()
	mean := mat.NewDense(n, n, nil)
	for _, k := range r.kernels {
		blas64.Axpy(1/float64(len(r.kernels)),
			blas64.Vector{N: n * n, Inc: 1, Data: k.dense().RawMatrix().Data},
			blas64.Vector{N: n * n, Inc: 1, Data: mean.RawMatrix().Data})
	}
	step := mean
	if inner > 1 {
		step = mat.NewDense(n, n, nil)
		step.Pow(mean, inner)
	}
	if r.after != nil {
		var m mat.Dense
		m.Mul(step, r.after.dense())
		step = &m
	}
	a := mat.NewDense(n-1, n-1, nil)
	a.Scale(-1, step.Slice(1, n, 1, n))
	for i := range n - 1 {
		a.Set(i, i, 1+a.At(i, i))
	}
	r.lu, r.swaps = a.RawMatrix(), make([]int, n-1)
	lapack64.Getrf(r.lu, r.swaps)
}

// solve returns the errors of the stationary law under a scheme.
func (p *preparedSpectral) solve(ctx context.Context, m minibatch.Method, everyStep bool) (point, error) {
	if p.tail != nil {
		if far, err := p.tail.solve(ctx, m, false); err != nil || far.unstable() {
			return far, err
		}
	}
	forces := &p.parts
	if m.Whole() {
		forces = &p.full
	}
	return p.climb(ctx, forces, m, everyStep)
}

// climb goes up the ladder until the errors are as fine as is wanted, and
// returns the finest. An error's bound is what the last rung changed, where
// each of the two last changed less than the one before: a basis that does
// not come closer says nothing. High rungs may be worse than low ones: where
// steps are large, a stationary law has moments of low degree alone.
func (p *preparedSpectral) climb(ctx context.Context, forces *ladder, m minibatch.Method, everyStep bool) (point, error) {
	best, least := lostPoint(len(scalarObservables)), math.Inf(1)
	var before, now *outcome
	change, radius := math.Inf(1), 0.0
	for i := range p.engine.ladder {
		next, err := p.rung(forces, i).solve(ctx, m, p.in.Batches, everyStep)
		if err != nil {
			return point{}, err
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
		if at := p.engine.point(before, now, change); change < least {
			best, least = at, change
		}
		if best.fine(4 * floor) {
			break
		}
	}
	if math.IsInf(least, 1) && radius >= 1 && now == nil {
		return point{radius: radius}, nil
	}
	return best, nil
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
	// elementNoise is the round-off of a matrix element.
	elementNoise = 4e-15
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

// outcome is what one rung gives.
type outcome struct {
	signed []float64 // errors of the observables; nil if there is no stationary law
	noise  []float64 // what round-off may have made of them, over their standard deviations
	radius float64
}

// change is how far apart two rungs are, over the observables' standard
// deviations.
func (e *spectralEngine) change(before, now *outcome) float64 {
	most := 0.0
	for o, v := range now.signed {
		most = max(most, math.Abs(v-before.signed[o])/e.deviations[o])
	}
	return most
}

// point turns two rungs into errors and their bounds.
func (e *spectralEngine) point(before, now *outcome, change float64) point {
	var p point
	for o, v := range now.signed {
		sd := e.deviations[o]
		bound := max(math.Abs(v-before.signed[o])/sd, sharedChange*change) + now.noise[o]
		p.observed = append(p.observed, observation{
			signed: []float64{v / sd}, relative: math.Abs(v) / sd, relativeResolution: bound,
			error: math.Abs(v), resolution: bound * sd,
		})
	}
	return p
}

// solve returns the observables' errors in this basis, or the spectral radius
// of a period that has no stationary law in it.
func (r *rung) solve(ctx context.Context, m minibatch.Method, inner int, everyStep bool) (*outcome, error) {
	cycle, err := newPeriod(ctx, r, m, inner)
	if err != nil {
		return nil, err
	}
	truth := make([]float64, r.size())
	truth[0] = 1
	b := cycle.advance(truth, nil)
	b[0] = 0
	apply := func(x []float64) []float64 {
		y := append([]float64(nil), x...)
		addScaled(y, -1, cycle.advance(x, nil))
		y[0] = 0 // mass is kept
		return y
	}
	delta, left := gmres(ctx, apply, r.precondition, b, residualGoal)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !(left <= residualLimit*norm(b)) || !finite(delta) {
		return &outcome{radius: growth(cycle)}, nil
	}
	if everyStep {
		truth := append([]float64(nil), delta...)
		truth[0] = 1
		delta = cycle.occupation(truth)
		delta[0] = 0
	}
	out := &outcome{}
	wrong, _ := gmres(ctx, apply, r.precondition, roughness(len(b), float64(cycle.kernels())), unitGoal)
	for _, f := range r.basis.observed {
		out.signed = append(out.signed, dot(delta, f))
		out.noise = append(out.noise, noiseSafety*math.Abs(dot(wrong, f))/norm(f[1:])+4*epsilon)
	}
	return out, ctx.Err()
}

// residualLimit is what is still taken for a solution.
const residualLimit = 1e-9

// noiseSafety is how many times one draw of round-off stands for any.
const noiseSafety = 4

// roughness is what round-off may add to a law of coefficients over a period.
func roughness(n int, kernels float64) []float64 {
	rng := rand.New(rand.NewPCG(7, 8)) // any signs do
	x := make([]float64, n)
	for i := 1; i < n; i++ {
		x[i] = math.Copysign(elementNoise*kernels, rng.Float64()-0.5)
	}
	return x
}

// precondition solves x(I − P) = y for the rows x. A condition number above
// 1/ε is the business of gmres, which judges the residual.
func (r *rung) precondition(y []float64) []float64 {
	x := append([]float64(nil), y...)
	x[0] = 0
	v := blas64.Vector{N: len(x) - 1, Inc: 1, Data: x[1:]}
	blas64.Trsv(blas.Trans, blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: r.lu.Rows, Stride: r.lu.Stride, Data: r.lu.Data}, v)
	blas64.Trsv(blas.Trans, blas64.Triangular{Uplo: blas.Lower, Diag: blas.Unit, N: r.lu.Rows, Stride: r.lu.Stride, Data: r.lu.Data}, v)
	for i := len(r.swaps) - 1; i >= 0; i-- {
		j := r.swaps[i]
		v.Data[i], v.Data[j] = v.Data[j], v.Data[i]
	}
	return x
}

func finite(x []float64) bool { return dot(x, x)-dot(x, x) == 0 }

// growth estimates the spectral radius of a period on laws of mass 0.
func growth(p *period) float64 {
	const warm, steps = 50, 50
	law := fill(p.size(), 1)
	total := 0.0
	for s := range warm + steps {
		law[0] = 0
		law = p.advance(law, nil)
		size := norm(law)
		if !(size > 0) || math.IsInf(size, 0) {
			return math.Inf(1)
		}
		scale(law, 1/size)
		if s >= warm {
			total += math.Log(size)
		}
	}
	return math.Exp(total / steps)
}
