package certify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"hambench/integrators"
	"hambench/minibatch"
)

// moments is how the first two moments of a phase-space law evolve under
// affine steps. A law is the matrix E[(z,1)(z,1)ᵀ], z = (θ, r) centred at
// the target's mean: n × n, row-major, symmetric, n = 2d + 1, its last
// element the total mass.
type moments struct {
	n       int
	kernels []affineMap // one a batch
	after   *affineMap  // refreshment, or nil
	buf     []float64
}

func (e *moments) size() int    { return e.n * e.n }
func (e *moments) batches() int { return len(e.kernels) }

func (e *moments) kernel(dst []float64, w float64, src []float64, i int) {
	e.congruence(dst, w, &e.kernels[i], src)
}

func (e *moments) refresh(law []float64) {
	if e.after == nil {
		return
	}
	src := append([]float64(nil), law...)
	clear(law)
	e.congruence(law, 1, e.after, src)
}

// congruence adds w(A S Aᵀ + s Q) to dst, s the mass of the law S.
func (e *moments) congruence(dst []float64, w float64, m *affineMap, src []float64) {
	n := e.n
	if e.buf == nil {
		e.buf = make([]float64, n*n)
	}
	// AS, by its rows; S is symmetric.
	for i := range n {
		row := m.a[i*n : (i+1)*n]
		for j := range n {
			e.buf[i*n+j] = dot(row, src[j*n:(j+1)*n])
		}
	}
	mass := src[n*n-1]
	for i := range n {
		row := e.buf[i*n : (i+1)*n]
		for j := i; j < n; j++ {
			v := w * (dot(row, m.a[j*n:(j+1)*n]) + mass*m.q[i*n+j])
			dst[i*n+j] += v
			if i != j {
				dst[j*n+i] += v
			}
		}
	}
}

// means is how E[(z,1)] evolves, for n laws at once, the rows of a law.
type means struct{ *moments }

func (e means) kernel(dst []float64, w float64, src []float64, i int) {
	e.multiply(dst, w, e.kernels[i].a, src)
}

func (e means) refresh(law []float64) {
	if e.after == nil {
		return
	}
	src := append([]float64(nil), law...)
	clear(law)
	e.multiply(law, 1, e.after.a, src)
}

// multiply adds w·A·x to dst for each row x of src.
func (e means) multiply(dst []float64, w float64, a, src []float64) {
	n := e.n
	for l := range n {
		for i := range n {
			dst[l*n+i] += w * dot(a[i*n:(i+1)*n], src[l*n:(l+1)*n])
		}
	}
}

// gaussianEngine solves a Gaussian problem.
type gaussianEngine struct {
	problem *Problem
	invMass []float64
	frame   *frame
	parts   target // under the batches
	full    target // under their mean, rounded

	variance []float64 // of the batches' gradient under the target, per coordinate
}

// target is a list of forces, moved to the frame, and the law of their mean.
type target struct {
	original, moved []*affineForce
	law             []float64 // second moments in the frame, as moments keeps them
}

func newGaussianEngine(p *Problem, invMass []float64) (*gaussianEngine, error) {
	g := &gaussianEngine{problem: p, invMass: invMass}
	mean := meanAffine(p.gaussian)
	var err error
	if g.frame, err = newFrame(mean, invMass); err != nil {
		return nil, err
	}
	if g.parts, err = g.frame.target(p.gaussian); err != nil {
		return nil, err
	}
	if g.full, err = g.frame.target([]*affineForce{mean}); err != nil {
		return nil, err
	}
	g.variance = gradientVariance(g.frame, mean, g.parts.moved)
	return g, nil
}

// gaussianObservables are the names of the engine's observables. Errors are
// largest absolute errors over elements, relative ones the lengths (of means)
// and largest stretches (of covariances) in the frame.
var gaussianObservables = []string{"theta.mean", "theta.cov", "joint.cov"}

func (g *gaussianEngine) observables() []string { return gaussianObservables }

// size measures a relative error: of theta.mean as a vector, of the others as
// symmetric matrices.
func (g *gaussianEngine) size(observable int, x []float64) float64 {
	if observable == 0 {
		return norm(x)
	}
	return stretch(x)
}

// stretch is the largest absolute eigenvalue of a symmetric matrix.
func stretch(x []float64) float64 {
	n := rank(x)
	most := largest(x)
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(norm(x)) {
		return norm(x)
	}
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			// Blocks of nothing but denormal numbers make lapack's scaling panic.
			if v := x[i*n+j] / most; math.Abs(v) > epsilon*epsilon {
				scaled.SetSym(i, j, v)
			}
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(scaled, false) {
		return norm(x) // Frobenius' norm is above it
	}
	values := eig.Values(nil)
	return most * max(math.Abs(values[0]), math.Abs(values[n-1]))
}

// prepare probes the integrator under every batch and under the full data.
func (g *gaussianEngine) prepare(in *integrators.Integrator) (prepared, error) {
	dim := 2*g.frame.d + auxiliary(in)
	p := &preparedGaussian{engine: g, inner: in.Batches}
	var after *affineMap
	if in.Refresh != nil {
		m, err := g.frame.probe(transitionOf(in, in.Refresh, nil), dim)
		if err != nil {
			return nil, fmt.Errorf("%s: refreshment: %w", in.Method.Name, err)
		}
		after = &m
	}
	maps := func(t target, variance []float64) (*moments, error) {
		correct(in, variance)
		e := &moments{n: dim + 1, after: after}
		for i, f := range t.moved {
			m, err := g.frame.probe(transitionOf(in, in.Kernel, f), dim)
			if err == nil {
				err = g.frame.checkMoved(in, t.original[i], f)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: batch %d: %w", in.Method.Name, i, err)
			}
			m.far = f.distance(g.frame)
			e.kernels = append(e.kernels, m)
		}
		return e, nil
	}
	var err error
	if p.full, err = maps(g.full, nil); err != nil {
		return nil, err
	}
	p.parts, err = maps(g.parts, g.variance)
	return p, err
}

// preparedGaussian is an integrator at one step size.
type preparedGaussian struct {
	engine *gaussianEngine
	full   *moments
	parts  *moments
	inner  int
}

// solve returns the errors of the stationary law under a scheme.
func (p *preparedGaussian) solve(ctx context.Context, m minibatch.Method, everyStep bool) (point, error) {
	if tooMany(m, p.parts.batches()) {
		// The same orders at every step size, on every machine.
		return p.sample(ctx, rand.New(rand.NewPCG(11, 12)), everyStep)
	}
	e, truth := p.parts, p.engine.parts.law
	if m.Whole() {
		e, truth = p.full, p.engine.full.law
	}
	truth = extended(truth, e.n)
	cycle, err := newPeriod(ctx, e, m, p.inner)
	if err != nil {
		return point{}, err
	}
	s, radius := cycle.stationary(truth)
	if err := ctx.Err(); err != nil || s == nil {
		return point{radius: radius}, err
	}
	if everyStep {
		total := append([]float64(nil), truth...)
		addScaled(total, 1, s.delta)
		s.delta = cycle.occupation(total)
		addScaled(s.delta, -1, truth)
	}
	return p.engine.frame.observe(truth, s), ctx.Err()
}

// extended is a law with auxiliary variables, 0 for certain: any law of theirs
// will do, since what is judged is how (θ, r) ends up.
func extended(law []float64, n int) []float64 {
	from := rank(law)
	if from == n {
		return law
	}
	out := make([]float64, n*n)
	index := func(i int) int {
		if i == from-1 {
			return n - 1
		}
		return i
	}
	for i := range from {
		for j := range from {
			out[index(i)*n+index(j)] = law[i*from+j]
		}
	}
	return out
}

// rank is the number of rows of a square matrix.
func rank(a []float64) int { return int(math.Round(math.Sqrt(float64(len(a))))) }

// settled is a stationary law: its moments less those of the target, and how
// far off round-off may have them.
type settled struct {
	delta     []float64
	mean      float64   // bounds the error of the mean's length
	unit      []float64 // the covariance that noise N(0, I) in every kernel would have
	perKernel float64   // round-off of a kernel's second moments, in units of that noise
}

// stationary returns the stationary law less the target, or, if there is no
// such law, the spectral radius of the period.
func (p *period) stationary(truth []float64) (s *settled, radius float64) {
	e := p.evolution.(*moments)
	n := e.n
	meanMap := p.meanMap(e)
	rho, slack := meanRadius(meanMap, n)
	if rho > 1+slack {
		return nil, rho
	}
	// Solving for the difference, not for the law, keeps the relative accuracy
	// of small errors.
	b := p.advance(truth, nil)
	addScaled(b, -1, truth)
	b[len(b)-1] = 0 // the mass is kept; adding up weights is not exact
	apply := func(x []float64) []float64 {
		y := append([]float64(nil), x...)
		addScaled(y, -1, p.advance(x, nil))
		return y
	}
	precondition := newStein(meanMap, n).solve
	s = &settled{}
	var residual, left float64
	s.unit, left = gmres(p.ctx, apply, precondition, p.unitNoise(), unitGoal)
	// A positive matrix X above its image by half the unit noise proves that
	// the map of second moments, which keeps the cone of positive matrices,
	// has a spectral radius below 1.
	if !(left < 0.5) || !positive(s.unit, n) {
		if radius := secondMomentRadius(p, n); radius >= 1 {
			return nil, radius
		}
		return &settled{}, 0
	}
	s.delta, residual = gmres(p.ctx, apply, precondition, b, residualGoal)
	s.bound(p, e, meanMap, residual)
	return s, 0
}

// meanMap returns the matrix by which (E z, 1) evolves over a period.
func (p *period) meanMap(e *moments) []float64 {
	q := *p
	q.evolution = means{e}
	rows := make([]float64, e.n*e.n) // the rows are the unit laws
	for i := range e.n {
		rows[i*e.n+i] = 1
	}
	return transpose(q.advance(rows, nil), e.n)
}

func transpose(a []float64, n int) []float64 {
	t := make([]float64, len(a))
	for i := range n {
		for j := range n {
			t[j*n+i] = a[i*n+j]
		}
	}
	return t
}

// unitNoise is what noise N(0, I) at the end of every kernel and refreshment
// adds to the second moments over a period.
func (p *period) unitNoise() []float64 {
	e := p.evolution.(*moments)
	strip := func(m affineMap) affineMap {
		out := affineMap{a: append([]float64(nil), m.a...), q: make([]float64, len(m.q))}
		for i := range e.n - 1 {
			out.a[i*e.n+e.n-1] = 0
			out.q[i*e.n+i] = 1
		}
		return out
	}
	noisy := &moments{n: e.n}
	for _, m := range e.kernels {
		noisy.kernels = append(noisy.kernels, strip(m))
	}
	if e.after != nil {
		after := strip(*e.after)
		noisy.after = &after
	}
	q := *p
	q.evolution = noisy
	law := make([]float64, e.n*e.n)
	law[len(law)-1] = 1
	law = q.advance(law, nil)
	law[len(law)-1] = 0
	return law
}

const (
	// unitGoal is enough for a bound's own solution.
	unitGoal = 1e-4
	epsilon  = 0x1p-53
)

// bound states what round-off leaves of a solution. A change of at most ε in
// every kernel's second moments, in the order of symmetric matrices, changes
// the stationary ones by at most ε times those that unit noise in every kernel
// would have, since the map of second moments keeps that order. So one more
// solution bounds all that round-off may do in probing, in the solution and in
// its residual. Means are bounded by the inverse of their own map.
func (s *settled) bound(p *period, e *moments, meanMap []float64, residual float64) {
	dim := e.n - 1
	off, moves, far, length := epsilon*math.Sqrt(float64(dim)), 0.0, 0.0, 1.0
	maps := append([]affineMap(nil), e.kernels...)
	if e.after != nil {
		maps = append(maps, *e.after)
	}
	for _, m := range maps {
		c := 0.0
		for i := range dim {
			c = math.Hypot(c, m.a[i*e.n+dim])
		}
		off, moves, far, length = max(off, m.off), max(moves, c), max(far, c+m.far), max(length, linearNorm(m.a, e.n))
	}
	away := mat.NewDense(dim, dim, nil)
	for i := range dim {
		for j := range dim {
			away.Set(i, j, -meanMap[i*e.n+j])
		}
		away.Set(i, i, 1+away.At(i, i))
	}
	var inverse mat.Dense
	amplified := math.Inf(1)
	if err := inverse.Inverse(away); err == nil {
		amplified = mat.Norm(&inverse, 2)
	}
	kernels := float64(p.kernels())
	s.mean = amplified*(kernels*(1+kernels)*off*far+residual) + epsilon*moves
	size := 1 + norm(s.delta)
	s.perKernel = 2*off*length*size + 2*moves*s.mean + residual
}

// linearNorm is Frobenius' norm of the linear part less √(its rows), at least
// 1: about the largest stretch of a map near the identity.
func linearNorm(a []float64, n int) float64 {
	change := 0.0
	for i := range n - 1 {
		for j := range n - 1 {
			v := a[i*n+j]
			if i == j {
				v--
			}
			change = math.Hypot(change, v)
		}
	}
	return 1 + change
}

// observe turns a stationary law into errors of the observables.
func (f *frame) observe(truth []float64, s *settled) point {
	if s.delta == nil {
		return lostPoint(len(gaussianObservables))
	}
	n := rank(truth)
	d, last := f.d, n-1
	var p point
	mean := make([]float64, d)
	for i := range mean {
		mean[i] = s.delta[i*n+last]
	}
	deviation, heaviest := 0.0, 1.0 // largest standard deviation of θ, largest variance
	for i := range d {
		deviation = max(deviation, norm(mat.Row(nil, i, f.colour)))
		heaviest = max(1/(f.root[i]*f.root[i]), heaviest*min(1, float64(i)))
	}
	p.observed = append(p.observed, observation{
		signed: mean, relative: norm(mean), relativeResolution: s.mean,
		error: largest(f.fromWhite(append(append([]float64(nil), mean...), make([]float64, d)...))), resolution: s.mean * deviation,
	})
	for _, dim := range []int{d, 2 * d} {
		block, unit := make([]float64, dim*dim), make([]float64, dim*dim)
		for i := range dim {
			for j := range dim {
				di, dj := s.delta[i*n+last], s.delta[j*n+last]
				block[i*dim+j] = s.delta[i*n+j] - truth[i*n+last]*dj - di*truth[j*n+last] - di*dj
				unit[i*dim+j] = s.unit[i*n+j]
			}
		}
		bound := (1+unitGoal)*s.perKernel*stretch(unit) + 4*epsilon*math.Sqrt(float64(dim))
		variance := deviation * deviation
		if dim > d {
			variance = max(variance, heaviest)
		}
		p.observed = append(p.observed, observation{
			signed: block, relative: stretch(block), relativeResolution: bound,
			error: largest(f.congruent(block, dim)), resolution: bound * variance,
		})
	}
	return p
}

// congruent returns a covariance in the frame in the problem's coordinates.
func (f *frame) congruent(x []float64, dim int) []float64 {
	w := mat.NewDense(dim, dim, nil)
	w.Slice(0, f.d, 0, f.d).(*mat.Dense).Copy(f.colour)
	for i := f.d; i < dim; i++ {
		w.Set(i, i, 1/f.root[i-f.d])
	}
	var half, out mat.Dense
	half.Mul(w, mat.NewDense(dim, dim, x))
	out.Mul(&half, w.T())
	return out.RawMatrix().Data
}

// meanRadius is the spectral radius of the linear part of a mean map, and by
// how much round-off may have it above 1. It is found by the map's difference
// from the identity, which is small where steps are.
func meanRadius(a []float64, n int) (radius, slack float64) {
	change := mat.DenseCopyOf(mat.NewDense(n, n, a).Slice(0, n-1, 0, n-1))
	for i := range n - 1 {
		change.Set(i, i, change.At(i, i)-1)
	}
	for _, v := range change.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return math.Inf(1), 0
		}
	}
	var eig mat.Eigen
	if !eig.Factorize(change, mat.EigenNone) {
		return math.NaN(), 0
	}
	above := math.Inf(-1)
	for _, v := range eig.Values(nil) {
		above = max(above, 2*real(v)+real(v)*real(v)+imag(v)*imag(v)) // |1 + v|² − 1
	}
	return math.Sqrt(max(0, 1+above)), 16 * epsilon * float64(n) * (1 + mat.Norm(change, 2))
}

func spectralRadius(a *mat.Dense) float64 {
	for _, v := range a.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return math.Inf(1)
		}
	}
	var eig mat.Eigen
	if !eig.Factorize(mat.DenseCopyOf(a), mat.EigenNone) {
		return math.NaN()
	}
	rho := 0.0
	for _, v := range eig.Values(nil) {
		rho = max(rho, math.Hypot(real(v), imag(v)))
	}
	return rho
}

// positive reports whether a law's second moments are positive definite.
func positive(law []float64, n int) bool {
	cov := mat.NewSymDense(n-1, nil)
	for i := range n - 1 {
		for j := i; j < n-1; j++ {
			v := law[i*n+j]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
			cov.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	return chol.Factorize(cov)
}

// stein solves X − BXBᵀ = R, where B is the mean map of a period: the law's
// own equation if all orders of the batches were the same in the mean. It
// preconditions the law's equation, which differs by the covariance of the
// period's map over the orders, of a higher order in h.
type stein struct {
	powers []*moments // B^(2^k)
}

// steinPowers bounds the doublings: 2⁴⁰ periods forget any start.
const steinPowers = 40

func newStein(b []float64, n int) *stein {
	s, silent := &stein{}, make([]float64, n*n)
	for len(s.powers) < steinPowers {
		e := &moments{n: n, kernels: []affineMap{{a: b, q: silent}}}
		s.powers = append(s.powers, e)
		if largestLinear(b, n) < 1e-17 {
			break
		}
		var next mat.Dense
		m := mat.NewDense(n, n, b)
		next.Mul(m, m)
		b = next.RawMatrix().Data
	}
	return s
}

// largestLinear is the largest absolute element of the linear part of a map.
func largestLinear(b []float64, n int) float64 {
	m := 0.0
	for i := range n - 1 {
		for j := range n - 1 {
			m = max(m, math.Abs(b[i*n+j]))
		}
	}
	return m
}

// solve sums B^k R B^kᵀ by doubling (Smith 1968). The mass of R must be 0.
func (s *stein) solve(r []float64) []float64 {
	x := append([]float64(nil), r...)
	for _, e := range s.powers {
		old := append([]float64(nil), x...)
		e.kernel(x, 1, old, 0)
	}
	return x
}

// denseRadius is the largest number of phase-space dimensions for which the
// second-moment map is made a matrix to find its spectral radius.
const denseRadius = 12

// secondMomentRadius is the spectral radius of the linear part of a period's
// second-moment map.
func secondMomentRadius(p *period, n int) float64 {
	if n-1 > denseRadius {
		return powerRadius(p, n)
	}
	var index [][2]int
	for i := range n - 1 {
		for j := i; j < n-1; j++ {
			index = append(index, [2]int{i, j})
		}
	}
	t := mat.NewDense(len(index), len(index), nil)
	law := make([]float64, n*n)
	for c, ij := range index {
		clear(law)
		law[ij[0]*n+ij[1]], law[ij[1]*n+ij[0]] = 1, 1
		out := p.advance(law, nil)
		for r, kl := range index {
			t.Set(r, c, out[kl[0]*n+kl[1]])
		}
	}
	return spectralRadius(t)
}

// powerRadius estimates the radius by the growth of a positive law, which
// the largest eigenvalue rules since the map keeps positive matrices.
func powerRadius(p *period, n int) float64 {
	const warm, steps = 40, 40
	law := make([]float64, n*n)
	for i := range n - 1 {
		law[i*n+i] = 1
	}
	growth := 0.0
	for s := range warm + steps {
		law = p.advance(law, nil)
		size := norm(law)
		if !(size > 0) || math.IsInf(size, 0) {
			return math.Inf(1)
		}
		scale(law, 1/size)
		if s >= warm {
			growth += math.Log(size)
		}
	}
	return math.Exp(growth / steps)
}

func largest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

func fill(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}
