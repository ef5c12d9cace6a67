package certify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/chain/minibatch"
	"hambench/integrators"
)

// affineMap is x⁺ = Mx + c + Nξ in a frame, on the homogeneous vector (x, 1). A
// law is the matrix E[(x,1)(x,1)ᵀ] of second moments: n × n, row-major, n = 1 +
// the phase space's dimension, its last element the mass. The map acts on it by
// the square matrix A = (M c; 0 1) and noise of covariance Q = NNᵀ (zero in the
// last row and column).
type affineMap struct {
	n    int
	a, q *mat.Dense
	off  float64 // what round-off leaves of x⁺, for x and ξ of length 1
	far  float64 // the length of x at the batch's own mean, which a step may reckon with
	half []float64
}

// newAffineMap returns the map of everything to 0, without noise.
func newAffineMap(n int) *affineMap {
	m := &affineMap{n: n, a: mat.NewDense(n, n, nil), q: mat.NewDense(n, n, nil),
		half: make([]float64, n*n)}
	m.a.Set(n-1, n-1, 1)
	return m
}

// addTo adds w(A S Aᵀ + s Q) to dst, s the mass of the law S.
func (m *affineMap) addTo(dst []float64, w float64, law []float64) {
	half := general(m.half, m.n)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, m.a.RawMatrix(), general(law, m.n), 0, half)
	blas64.Gemm(blas.NoTrans, blas.Trans, w, half, m.a.RawMatrix(), 1, general(dst, m.n))
	floats.AddScaled(dst, w*law[len(law)-1], m.q.RawMatrix().Data)
}

func general(data []float64, n int) blas64.General {
	return blas64.General{Rows: n, Cols: n, Stride: n, Data: data}
}

// meanOf applies a map to means: a law is n vectors E(x, 1), its rows.
type meanOf struct{ *affineMap }

func (m meanOf) addTo(dst []float64, w float64, law []float64) {
	blas64.Gemm(blas.NoTrans, blas.Trans, w, general(law, m.n), m.a.RawMatrix(), 1, general(dst,
		m.n))
}

// unitNoise is the linear part of a map, with noise N(0, I).
func (m *affineMap) unitNoise() operator {
	out := newAffineMap(m.n)
	out.a.Copy(m.linear())
	for i := range m.n - 1 {
		out.q.Set(i, i, 1)
	}
	return out
}

func (m *affineMap) linear() *mat.Dense { return m.a.Slice(0, m.n-1, 0, m.n-1).(*mat.Dense) }

// change is the linear part less I, which is small where steps are.
func (m *affineMap) change() *mat.Dense {
	out := mat.DenseCopyOf(m.linear())
	for i := range m.n - 1 {
		out.Set(i, i, out.At(i, i)-1)
	}
	return out
}

// moments are the maps of an integrator's steps.
type moments struct {
	n       int
	kernels []*affineMap // one for each list of batches that a kernel takes
	each    int          // batches that a kernel takes
	inner   int          // kernels between refreshments
	refresh *affineMap   // or nil
}

// evolution makes the evolution of laws in which each map acts as the argument says.
func (e *moments) evolution(as func(*affineMap) operator) evolution {
	out := evolution{size: e.n * e.n, mass: e.n*e.n - 1, each: e.each, inner: e.inner}
	for _, m := range e.kernels {
		out.kernels = append(out.kernels, as(m))
	}
	if e.refresh != nil {
		out.refresh = as(e.refresh)
	}
	return out
}

func asOperator(m *affineMap) operator { return m }

// gaussianEngine solves a Gaussian problem.
type gaussianEngine struct {
	problem *Problem
	invMass []float64
	mean    *affineForce // of the batches, rounded
	frame   *frame
	target
	by    estimation
	rates pace

	differs  []*mat.Dense // (P_i − P̄)U⁻¹ of each batch
	variance []float64    // E_θ E_i (∇U_i − ∇U)² under the target, per coordinate
}

// target is a list of forces moved to the frame, and the law of their mean.
type target struct {
	moved []*affineForce
	law   []float64 // second moments in the frame
	slip  float64   // how far round-off may have the mean of the law
}

func newGaussianEngine(p *Problem, invMass []float64, by estimation) (*gaussianEngine, error) {
	g := &gaussianEngine{problem: p, invMass: invMass, mean: meanAffine(p.gaussian), by: by}
	var err error
	if g.frame, err = newFrame(g.mean, invMass); err != nil {
		return nil, err
	}
	if g.target, err = g.frame.target(p.gaussian); err != nil {
		return nil, err
	}
	g.variance = make([]float64, g.frame.d)
	for i, b := range p.gaussian {
		var differs mat.Dense
		differs.Sub(matrix(b), matrix(g.mean))
		differs.Mul(&differs, g.frame.colour)
		g.differs = append(g.differs, &differs)
		for j, s := range g.moved[i].Shift {
			row := differs.RawRowView(j)
			g.variance[j] += (floats.Dot(row, row) + s*s) / float64(len(p.gaussian))
		}
	}
	g.rates = g.measured()
	return g, nil
}

// whole is the mean of the batches for a batch of its own, which all estimators
// leave as it is, at the pace of the batches.
func (g *gaussianEngine) whole() (engine, error) {
	p := *g.problem
	p.gaussian = []*affineForce{g.mean}
	out, err := newGaussianEngine(&p, g.invMass, estimation{})
	if err == nil {
		out.rates = g.rates
		clear(out.variance)
	}
	return out, err
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
		return floats.Norm(x, 2)
	}
	return stretch(x)
}

// stretch is the largest absolute eigenvalue of a symmetric matrix.
func stretch(x []float64) float64 {
	s, _ := principalAxis(x)
	return math.Abs(s)
}

// principalAxis returns the eigenvalue of the largest absolute value of a
// symmetric matrix, and its eigenvector.
func principalAxis(x []float64) (value float64, axis []float64) {
	n := rank(x)
	most := largest(x)
	if most == 0 || !finite(x) {
		return most, make([]float64, n)
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
	if !eig.Factorize(scaled, true) {
		return floats.Norm(x, 2), make([]float64, n) // Frobenius' norm is above it
	}
	values, which := eig.Values(nil), 0
	if math.Abs(values[n-1]) > math.Abs(values[0]) {
		which = n - 1
	}
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	return most * values[which], mat.Col(nil, which, &vectors)
}

// prepare probes the integrator's parts under every list of batches that a kernel
// takes.
func (g *gaussianEngine) prepare(in *integrators.Instance) (prepared, error) {
	forces, _ := lists(g.moved, 1)
	in, err := g.by.wrap(in, forces, g.frame.moved(g.mean), make([]float64, g.frame.d))
	if err != nil {
		return nil, err
	}
	correct(in, g.variance)
	dim := 2*g.frame.d + auxiliary(in)
	p := &preparedGaussian{g, moments{n: dim + 1, each: batchesTaken(in.Kernel), inner: in.Batches}}
	original, _ := lists(g.problem.gaussian, p.each)
	moved, err := lists(g.moved, p.each)
	if err != nil {
		return nil, err
	}
	if in.Refresh != nil {
		if p.refresh, err = g.frame.probe(transitionOf(in, in.Refresh, nil), dim); err != nil {
			return nil, fmt.Errorf("%s: refreshment: %w", in.Integrator.Name, err)
		}
	}
	for i, f := range moved {
		m, err := g.frame.probe(transitionOf(in, in.Kernel, f), dim)
		if _, wrapped := in.Kernel.(*estimated); err == nil && !wrapped {
			err = g.frame.checkMoved(in, original[i], f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: batch %d: %w", in.Integrator.Name, i, err)
		}
		for _, f := range members(f) {
			m.far = max(m.far, g.frame.distance(f))
		}
		p.kernels = append(p.kernels, m)
	}
	return p, nil
}

// preparedGaussian is an integrator at one step size.
type preparedGaussian struct {
	engine *gaussianEngine
	moments
}

// solve returns the errors of the stationary law under a scheme.
func (p *preparedGaussian) solve(ctx context.Context, m minibatch.Scheme, everyStep bool) (point,
	error) {
	cycle, err := newPeriod(ctx, p.evolution(asOperator), m)
	if err != nil {
		return point{}, err
	}
	truth := p.truth()
	s, radius := p.stationary(cycle, truth)
	if err := ctx.Err(); err != nil || s == nil {
		return point{radius: radius}, err
	}
	if s.delta == nil {
		lost := lostPoint(len(gaussianObservables))
		lost.slowest = s.contraction
		return lost, nil
	}
	if everyStep {
		s.delta = cycle.occupation(truth, s.delta)
	}
	if !p.engine.by.plain() { // steps that batches do not move say nothing of how these add up
		s.mean = max(s.mean, p.engine.slip)
	}
	return p.engine.frame.observe(truth, s), ctx.Err()
}

// truth is the target's law, with auxiliary variables that are 0 for certain: any
// law of theirs will do, since what is judged is how (θ, r) ends up.
func (p *preparedGaussian) truth() []float64 {
	law, n := p.engine.law, p.n
	from := rank(law)
	out := mat.NewDense(n, n, nil)
	out.Slice(0, from-1, 0, from-1).(*mat.Dense).Copy(mat.NewDense(from, from, law))
	for i, v := range law[(from-1)*from : from*from-1] {
		out.Set(i, n-1, v)
		out.Set(n-1, i, v)
	}
	out.Set(n-1, n-1, law[len(law)-1])
	return out.RawMatrix().Data
}

// rank is the number of rows of a square matrix.
func rank(a []float64) int { return int(math.Round(math.Sqrt(float64(len(a))))) }

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
func (e *moments) stationary(p *period, truth []float64) (s *stationaryLaw, radius float64) {
	means := e.meanMap(p)
	rho, slack := spectralRadius(means.change())
	if rho > 1+slack {
		return nil, rho
	}
	precondition := newStein(means).solve
	s = &stationaryLaw{means: means, contraction: rho}
	var left float64
	// Noise N(0, I) at the end of every kernel and refreshment, and nothing
	// before, adds up to this.
	silence := make([]float64, p.size)
	silence[p.mass] = 1
	unit := p.on(e.evolution((*affineMap).unitNoise)).excess(silence)
	s.unit, left = p.solve(unit, precondition, unitGoal)
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
	s.delta, left = p.solve(p.excess(truth), precondition, residualGoal)
	s.bound(p, e, left)
	return s, 0
}

// meanMap returns the map by which E x evolves over a period.
func (e *moments) meanMap(p *period) *affineMap {
	means := e.evolution(func(m *affineMap) operator { return meanOf{m} })
	units := make([]float64, e.n*e.n) // the rows are the unit laws
	for i := range e.n {
		units[i*e.n+i] = 1
	}
	out := newAffineMap(e.n)
	out.a.Copy(mat.NewDense(e.n, e.n, p.on(means).advance(units, nil)).T())
	return out
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
func (s *stationaryLaw) bound(p *period, e *moments, residual float64) {
	dim := e.n - 1
	// The last is about the largest stretch of a map near the identity.
	off, moves, far, length := epsilon*math.Sqrt(float64(dim)), 0.0, 0.0, 1.0
	maps := e.kernels
	if e.refresh != nil {
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
	kernels := float64(p.length())
	s.mean = amplified*(kernels*(1+kernels)*off*far+residual) + epsilon*moves
	size := 1 + floats.Norm(s.delta, 2)
	s.perKernel = 2*off*length*size + 2*moves*s.mean + residual
}

// observe turns a stationary law into errors of the observables.
func (f *frame) observe(truth []float64, s *stationaryLaw) point {
	n := rank(truth)
	d, last := f.d, n-1
	p := point{slowest: s.contraction}
	mean := make([]float64, d)
	deviation, heaviest := 0.0, 0.0 // largest standard deviation of θ, largest variance of r
	for i := range mean {
		mean[i] = s.delta[i*n+last]
		deviation = max(deviation, floats.Norm(f.colour.RawRowView(i), 2))
		heaviest = max(heaviest, 1/(f.root[i]*f.root[i]))
	}
	p.observed = append(p.observed, observation{
		signed: mean, relative: floats.Norm(mean, 2), relativeResolution: s.mean,
		error: largest(f.fromWhite(mean)), resolution: s.mean * deviation,
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

// spectralRadius is that of a map given by its difference from the identity,
// which is small where steps are, and by how much round-off may have it above 1.
// It is NaN if it is not found.
func spectralRadius(change *mat.Dense) (radius, slack float64) {
	if !finite(change.RawMatrix().Data) {
		return math.Inf(1), 0
	}
	values, ok := eigenvalues(change)
	if !ok {
		return math.NaN(), 0
	}
	above := math.Inf(-1)
	for _, v := range values {
		above = max(above, 2*real(v)+real(v)*real(v)+imag(v)*imag(v)) // |1 + v|² − 1
	}
	n, _ := change.Dims()
	return math.Sqrt(max(0, 1+above)), 16 * epsilon * float64(n+1) * (1 + mat.Norm(change, 2))
}

// eigenvalues are those of a square matrix, if they are found. Where the QR iteration
// does not converge on a matrix of fewer than 49 rows, gonum panics (its Dhseqr hands
// on too short a slice); the transpose has the same eigenvalues, and mostly converges.
func eigenvalues(m *mat.Dense) (values []complex128, ok bool) {
	try := func(m mat.Matrix) (ok bool) {
		defer func() { _ = recover() }()
		var eig mat.Eigen
		if ok = eig.Factorize(m, mat.EigenNone); ok {
			values = eig.Values(nil)
		}
		return ok
	}
	ok = try(m) || try(m.T())
	return values, ok
}

// positive reports whether a law's second moments are positive definite.
func positive(law []float64, n int) bool {
	var chol mat.Cholesky
	return finite(law) && chol.Factorize(mat.NewSymDense(n, slices.Clone(law)).SliceSym(0, n-1))
}

// stein solves X − BXBᵀ = R, where B is the mean map of a period: the law's
// own equation if all orders of the batches were the same in the mean. It
// preconditions the law's equation, which differs by the covariance of the
// period's map over the orders, of a higher order in h.
type stein []*affineMap // B^(2^k)

// steinPowers bounds the doublings: 2⁴⁰ periods forget any start.
const steinPowers = 40

func newStein(b *affineMap) (s stein) {
	for len(s) < steinPowers {
		s = append(s, b)
		if mat.Norm(b.linear(), 2) < 1e-17 {
			break
		}
		next := newAffineMap(b.n)
		next.a.Mul(b.a, b.a)
		b = next
	}
	return s
}

// solve sums B^k R B^kᵀ by doubling (Smith 1968). The mass of R must be 0.
func (s stein) solve(r []float64) []float64 {
	x := slices.Clone(r)
	for _, b := range s {
		b.addTo(x, 1, slices.Clone(x))
	}
	return x
}

// denseRadius is the largest number of phase-space dimensions for which the
// second-moment map is made a matrix to find its spectral radius.
const denseRadius = 12

// secondMomentRadius is the spectral radius of the linear part of a period's
// second-moment map, and by how much round-off may have it above 1.
func secondMomentRadius(p *period, n int) (radius, slack float64) {
	law := make([]float64, n*n)
	if n-1 > denseRadius {
		for i := range n - 1 {
			law[i*n+i] = 1 // the largest eigenvalue rules how a positive law grows
		}
		return p.growth(law), 16 * epsilon * float64(n*n)
	}
	var index [][2]int
	for i := range n - 1 {
		for j := i; j < n-1; j++ {
			index = append(index, [2]int{i*n + j, j*n + i})
		}
	}
	change := mat.NewDense(len(index), len(index), nil)
	for c, at := range index {
		clear(law)
		law[at[0]], law[at[1]] = 1, 1
		out := p.excess(law)
		for r, to := range index {
			change.Set(r, c, out[to[0]])
		}
	}
	return spectralRadius(change)
}

// largest is the largest absolute element.
func largest(x []float64) float64 { return floats.Norm(x, math.Inf(1)) }

func finite(x []float64) bool {
	most := largest(x)
	return !math.IsNaN(most) && !math.IsInf(most, 0)
}
