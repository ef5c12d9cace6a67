package certify

import (
	"fmt"
	"math"

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

// gaussianLaw is the true law N(P̄⁻¹s̄, P̄⁻¹) ⊗ N(0, M) of a Gaussian problem.
type gaussianLaw struct {
	centre []float64 // (θ, r)
	law    []float64 // second moments about the centre, as moments keeps them
	n      int
}

func newGaussianLaw(f *affineForce, invMass []float64) (*gaussianLaw, error) {
	d := len(f.affine.Shift)
	t := &gaussianLaw{n: 2*d + 1, centre: make([]float64, 2*d)}
	t.law = make([]float64, t.n*t.n)
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(d, append([]float64(nil), f.affine.Precision...))) {
		return nil, fmt.Errorf("mean precision is not positive definite")
	}
	mean := mat.NewVecDense(d, t.centre[:d])
	if err := chol.SolveVecTo(mean, mat.NewVecDense(d, f.affine.Shift)); err != nil {
		return nil, err
	}
	var cov mat.SymDense
	if err := chol.InverseTo(&cov); err != nil {
		return nil, err
	}
	for i := range d {
		for j := range d {
			t.law[i*t.n+j] = cov.At(i, j)
		}
		m := 1.0
		if invMass != nil {
			m = 1 / invMass[i]
		}
		t.law[(d+i)*t.n+d+i] = m
	}
	t.law[t.n*t.n-1] = 1
	return t, nil
}

// gaussianEngine solves a Gaussian problem.
type gaussianEngine struct {
	problem *Problem
	mean    *affineForce
	truth   *gaussianLaw
}

func newGaussianEngine(p *Problem, invMass []float64) (*gaussianEngine, error) {
	mean := meanAffine(p.gaussian)
	truth, err := newGaussianLaw(mean, invMass)
	if err != nil {
		return nil, err
	}
	return &gaussianEngine{problem: p, mean: mean, truth: truth}, nil
}

// gaussianObservables are the names of the engine's observables, each a
// largest absolute error over elements.
var gaussianObservables = []string{"theta.mean", "theta.cov", "joint.cov"}

func (g *gaussianEngine) observables() []string { return gaussianObservables }

// prepare probes the integrator under every batch and under the full data.
func (g *gaussianEngine) prepare(in *integrators.Integrator) (prepared, error) {
	p := &preparedGaussian{engine: g, inner: in.Batches}
	var after *affineMap
	if in.Refresh != nil {
		m, err := probe(transitionOf(in.Refresh, nil), g.truth.centre)
		if err != nil {
			return nil, fmt.Errorf("%s: refreshment: %w", in.Method.Name, err)
		}
		after = &m
	}
	maps := func(forces ...*affineForce) (*moments, error) {
		e := &moments{n: g.truth.n, after: after}
		for i, f := range forces {
			m, err := probe(transitionOf(in.Kernel, f), g.truth.centre)
			if err != nil {
				return nil, fmt.Errorf("%s: batch %d: %w", in.Method.Name, i, err)
			}
			e.kernels = append(e.kernels, m)
		}
		return e, nil
	}
	var err error
	if p.full, err = maps(g.mean); err != nil {
		return nil, err
	}
	p.parts, err = maps(g.problem.gaussian...)
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
func (p *preparedGaussian) solve(m minibatch.Method, everyStep bool) (point, error) {
	cycle, err := p.period(m)
	if err != nil {
		return point{}, err
	}
	delta, radius := p.stationary(cycle)
	if delta == nil {
		return point{radius: radius}, nil
	}
	truth := p.engine.truth
	if everyStep {
		total := append([]float64(nil), truth.law...)
		addScaled(total, 1, delta)
		delta = cycle.occupation(total)
		addScaled(delta, -1, truth.law)
	}
	return point{errors: truth.errors(delta), resolution: fill(len(gaussianObservables), gaussianResolution)}, nil
}

func (p *preparedGaussian) period(m minibatch.Method) (*period, error) {
	if m.Whole() {
		return newPeriod(p.full, m, p.inner)
	}
	return newPeriod(p.parts, m, p.inner)
}

// stationary returns the stationary law less the target, or, if there is no
// such law, the spectral radius of the period.
func (p *preparedGaussian) stationary(cycle *period) (delta []float64, radius float64) {
	truth, e := p.engine.truth, cycle.evolution.(*moments)
	meanMap := cycle.meanMap(e)
	if rho := meanRadius(meanMap, e.n); !(rho < 1) {
		return nil, rho
	}
	// Solving for the difference, not for the law, keeps the relative accuracy
	// of small errors.
	b := cycle.advance(truth.law, nil)
	addScaled(b, -1, truth.law)
	b[len(b)-1] = 0 // the mass is kept; adding up weights is not exact
	apply := func(x []float64) []float64 {
		y := append([]float64(nil), x...)
		addScaled(y, -1, cycle.advance(x, nil))
		return y
	}
	delta, ok := gmres(apply, newStein(meanMap, e.n).solve, b)
	if !ok || !truth.covariancePositive(delta) {
		return nil, secondMomentRadius(cycle, e.n)
	}
	return delta, 0
}

// gaussianResolution is what round-off leaves of errors for problems with
// elements of order 1: probing at 2⁻⁵³, amplified by 1/(hλ).
const gaussianResolution = 1e-13

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

// meanRadius is the spectral radius of the linear part of a mean map.
func meanRadius(a []float64, n int) float64 {
	return spectralRadius(mat.NewDense(n, n, a).Slice(0, n-1, 0, n-1).(*mat.Dense))
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

// covariancePositive reports whether the law with error delta has a positive
// definite covariance Σ. Since Σ is no less than its image under the
// second-moment map without noise, which keeps the cone of positive
// matrices, that proves the map's spectral radius to be at most 1.
func (t *gaussianLaw) covariancePositive(delta []float64) bool {
	dim := t.n - 1
	cov := mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := i; j < dim; j++ {
			mean := delta[i*t.n+dim] * delta[j*t.n+dim]
			v := t.law[i*t.n+j] + delta[i*t.n+j] - mean
			if math.IsNaN(v) {
				return false
			}
			cov.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	return chol.Factorize(cov)
}

// errors are the observables' largest absolute errors of the law with error
// delta.
func (t *gaussianLaw) errors(delta []float64) []float64 {
	n, dim := t.n, t.n-1
	d := dim / 2
	var mean, theta, joint float64
	for i := range dim {
		mi := delta[i*n+dim]
		if i < d {
			mean = max(mean, math.Abs(mi))
		}
		for j := range dim {
			e := math.Abs(delta[i*n+j] - mi*delta[j*n+dim])
			joint = max(joint, e)
			if i < d && j < d {
				theta = max(theta, e)
			}
		}
	}
	return []float64{mean, theta, joint}
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
	s := &stein{}
	for len(s.powers) < steinPowers {
		e := &moments{n: n, kernels: []affineMap{{a: b, q: make([]float64, n*n)}}}
		s.powers = append(s.powers, e)
		if largest(b, n) < 1e-17 {
			break
		}
		var next mat.Dense
		m := mat.NewDense(n, n, b)
		next.Mul(m, m)
		b = next.RawMatrix().Data
	}
	return s
}

// largest is the largest absolute element of the linear part of a map.
func largest(b []float64, n int) float64 {
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

func fill(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}
