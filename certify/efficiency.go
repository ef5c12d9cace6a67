package certify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/chain/minibatch"
	"hambench/integrators"
)

// Average holds the accuracy of the average of an observable over all outer steps of a
// stationary chain, at each of the row's steps. The unit is the observable's
// standard deviation under the target, in which the average of n independent draws
// of the target has the variance 1/n.
type Average struct {
	// Name is theta, for the worst direction of θ, or theta^2, for the worst of
	// the squares along the principal axes of the target (the eight outermost
	// if there are more); on scalar problems it is that of an observable of θ.
	Name string   `json:"name"`
	Bias []Number `json:"bias"` // of the stationary law, averaged over a period
	// Variance is the limit, as n grows, of n times the variance of the average of
	// n outer steps. Autocorrelation is that divided by the observable's variance
	// along the chain: the integrated autocorrelation time in outer steps.
	Variance        []Number `json:"variance"`
	Autocorrelation []Number `json:"autocorrelation"`
	// Normal says that the variance is that of a normal process with the same
	// moments: exact with the full batch, an approximation with mini-batches.
	Normal bool `json:"normal,omitempty"`
}

// AtBudget is the mean squared error of averages over a chain that costs a
// number of gradients: bias² + variance of the worst Average, in its units, for
// a chain that starts in its stationary law; NaN if the gradients do not pay for
// one outer step.
type AtBudget struct {
	// Of a batch; all data count K, a Hessian-vector product 2
	Gradients float64  `json:"gradients"`
	MSE       []Number `json:"mse"` // at the row's steps
	// Step is the best step of a geometric grid whose steps differ by 9 %; the
	// fields below are for that step.
	Step            Number `json:"step"`
	Best            Number `json:"best"` // the mean squared error
	Bias            Number `json:"bias"` // of the worst Average
	Autocorrelation Number `json:"autocorrelation"`
	Worst           string `json:"worst"`     // the name of the worst Average
	Outer           Number `json:"outer"`     // outer steps that the budget pays for
	Evaluated       int    `json:"evaluated"` // steps tried
}

// accuracy holds an Average at one step: squares of biases, asymptotic covariances, and
// the covariances along the chain. The covariances are nil where they are not known,
// and so is the bias of the zero accuracy.
type accuracy struct {
	name                     string
	bias, spread, stationary *mat.SymDense
	normal                   bool
}

// mse is the largest mean squared error of n outer steps, in any direction.
func (w accuracy) mse(n float64) float64 {
	if w.spread == nil {
		return math.Inf(1)
	}
	sum := mat.NewSymDense(w.bias.SymmetricDim(), nil)
	sum.ScaleSym(1/n, w.spread)
	sum.AddSym(sum, w.bias)
	return largestOf(sum)
}

// summary is the largest bias and variance, and the integrated autocorrelation time
// in the worst direction.
func (w accuracy) summary() (bias, variance, autocorrelation Number) {
	nan := Number(math.NaN())
	if w.bias == nil {
		return nan, nan, nan
	}
	bias = Number(math.Sqrt(largestOf(w.bias)))
	if w.spread == nil {
		return bias, Number(math.Inf(1)), nan
	}
	variance, autocorrelation = Number(largestOf(w.spread)), nan
	var chol mat.Cholesky
	var ratio mat.Dense
	if chol.Factorize(w.stationary) && chol.SolveTo(&ratio, w.spread) == nil {
		if values, ok := eigenvalues(&ratio); ok {
			autocorrelation = 0
			for _, v := range values {
				autocorrelation = max(autocorrelation, Number(real(v)))
			}
		}
	}
	return bias, variance, autocorrelation
}

// largestOf is the largest absolute eigenvalue.
func largestOf(m *mat.SymDense) float64 {
	full := mat.DenseCopyOf(m).RawMatrix().Data
	if !finite(full) {
		return math.Inf(1)
	}
	return stretch(full)
}

// sums follows the sums of observables over the outer steps of a chain. Besides
// the law of the state it needs the law weighted by each sum so far, of which
// fewer moments do.
type sums struct {
	states, weighted evolution
	// times returns a law times an observable, or, of −1, times 1, as weighted has it.
	times func(law []float64, observable int) []float64
	// forms are the observables' expectations as linear forms on weighted laws.
	forms [][]float64
}

// ofMoments is times where laws are matrices of moments, whose last row and column are
// those of 1: a law's product with the observable's form.
func (s *sums) ofMoments(law []float64, observable int) []float64 {
	form := unit(s.weighted.size, s.weighted.mass)
	if observable >= 0 {
		form = s.forms[observable]
	}
	out := mat.NewVecDense(len(form), nil)
	out.MulVec(mat.NewDense(len(form), len(form), law), mat.NewVecDense(len(form), form))
	return out.RawVector().Data
}

// joint is the evolution of a law, then the laws weighted by every sum, then the
// sums' second moments.
func (s *sums) joint() evolution {
	m := len(s.forms)
	e := evolution{size: s.states.size + m*s.weighted.size + m*m, mass: s.states.mass,
		each: s.states.each, inner: s.states.inner}
	for i := range s.states.kernels {
		e.kernels = append(e.kernels, &jointSums{s, s.states.kernels[i], s.weighted.kernels[i],
			false})
	}
	e.refresh = &jointSums{s, s.states.refresh, s.weighted.refresh, true}
	return e
}

// jointSums applies a part of a step to a joint law. The last part of an outer step
// adds the observables to the sums. A nil operator leaves laws as they are.
type jointSums struct {
	*sums
	state, weighted operator
	adds            bool
}

func (j *jointSums) addTo(dst []float64, w float64, src []float64) {
	m := len(j.forms)
	out := make([]float64, len(src))
	act := func(o operator, from, size int) []float64 {
		if o == nil {
			copy(out[from:from+size], src[from:from+size])
		} else {
			o.addTo(out[from:from+size], 1, src[from:from+size])
		}
		return out[from : from+size]
	}
	state := act(j.state, 0, j.states.size)
	squares := act(nil, len(src)-m*m, m*m)
	for k := range m {
		own := act(j.weighted, j.states.size+k*j.sums.weighted.size, j.sums.weighted.size)
		if !j.adds {
			continue
		}
		now := j.times(state, k)
		for l, form := range j.forms {
			squares[k*m+l] += floats.Dot(form, own) + floats.Dot(form, now)
			squares[l*m+k] += floats.Dot(form, own)
		}
		floats.Add(own, now)
	}
	floats.AddScaled(dst, w, out)
}

// worthGoal is the relative residual of what variances are worked out from.
const varianceGoal = 1e-9

// covariances returns the asymptotic covariances of averages over outer steps,
// and the covariances along the chain, from the law at the ends of periods. The
// sum over one period varies with itself, and with all later ones by what its
// end remembers: weighted by the sum, the law there differs from the stationary
// one by b, and Σ T^k b solves (I − T)x = b. Both are nil if no solution is found.
func (s *sums) covariances(p *period, law []float64, precondition linear) (spread,
	stationary *mat.SymDense) {
	m, size, outer := len(s.forms), s.weighted.size, float64(p.length()/p.inner)
	start := make([]float64, s.joint().size)
	copy(start, law)
	end := p.on(s.joint()).advance(start, nil)
	squares := end[len(end)-m*m:]
	moments := s.times(law, -1)
	later, mean := mat.NewDense(m, m, nil), make([]float64, m)
	after := p.on(s.weighted)
	for k := range m {
		b := slices.Clone(end[len(law)+k*size : len(law)+(k+1)*size])
		mean[k] = b[s.weighted.mass]
		floats.AddScaled(b, -mean[k], moments)
		b[s.weighted.mass] = 0
		x, left := after.solve(b, precondition, varianceGoal)
		if !(left <= 1e3*varianceGoal*(floats.Norm(b, 2)+floats.Norm(x, 2))) {
			return nil, nil
		}
		after.advance(x, func(w float64, at []float64) {
			for l, form := range s.forms {
				later.Set(k, l, later.At(k, l)+w*floats.Dot(form, at))
			}
		})
	}
	spread, stationary = mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	p.on(s.states).advance(law, func(w float64, at []float64) {
		for k := range m {
			now := s.times(at, k)
			for l := k; l < m; l++ {
				stationary.SetSym(k, l, stationary.At(k, l)+w*floats.Dot(s.forms[l], now)/outer)
			}
		}
	})
	for k := range m {
		for l := k; l < m; l++ {
			stationary.SetSym(k, l, stationary.At(k, l)-mean[k]*mean[l]/(outer*outer))
			spread.SetSym(k, l, (squares[k*m+l]-mean[k]*mean[l]+later.At(k, l)+later.At(l,
				k))/outer)
		}
	}
	return spread, stationary
}

// vectorOf applies a map to the first moments E s(x, 1) of a weighted law.
type vectorOf struct{ *affineMap }

func (m vectorOf) addTo(dst []float64, w float64, law []float64) {
	out := mat.NewVecDense(m.n, dst)
	var moved mat.VecDense
	moved.MulVec(m.a, mat.NewVecDense(m.n, law))
	out.AddScaledVec(out, w, &moved)
}

// fourth applies a map to fourth moments E(x, 1)⊗⁴, n⁴ numbers, which hold
// all lower ones.
type fourth struct{ *affineMap }

func (m fourth) addTo(dst []float64, w float64, law []float64) {
	n := m.n
	floats.AddScaled(dst, w, alongAll(m.a, law))
	v := make([]float64, n*n) // E uuᵀ + ½Q, u the image without noise
	quiet := affineMap{n: n, a: m.a, q: mat.NewDense(n, n, nil), half: m.half}
	lower := make([]float64, n*n) // second moments
	for i := range lower {
		lower[i] = law[(i+1)*n*n-1]
	}
	quiet.addTo(v, 1, lower)
	q := m.q.RawMatrix().Data
	floats.AddScaled(v, law[len(law)-1]/2, q)
	at := 0
	for i := range n {
		for j := range n {
			for k := range n {
				ij, ik, jk := i*n+j, i*n+k, j*n+k
				for l := range n {
					il, jl, kl := i*n+l, j*n+l, k*n+l
					dst[at] += w * (v[ij]*q[kl] + q[ij]*v[kl] + v[ik]*q[jl] + q[ik]*v[jl] + v[il]*q[jk] + q[il]*v[jk])
					at++
				}
			}
		}
	}
}

// alongAll applies a matrix to each of the four indices of a tensor.
func alongAll(a *mat.Dense, tensor []float64) []float64 {
	n, _ := a.Dims()
	for range 4 { // to the first index, which becomes the last
		var moved mat.Dense
		moved.Mul(a, mat.NewDense(n, len(tensor)/n, tensor))
		tensor = mat.DenseCopyOf(moved.T()).RawMatrix().Data
	}
	return tensor
}

// solveFourth sums B⊗⁴ᵏ r, as solve does for second moments.
func (s stein) solveFourth(r []float64) []float64 {
	x := slices.Clone(r)
	for _, b := range s {
		floats.Add(x, alongAll(b.a, x))
	}
	return x
}

const (
	// mostFourth bounds the fourth moments that are worked out, times the kernels
	// in a period over all orders: a few seconds.
	mostFourth = 150_000
	// mostAxes bounds the principal axes that are looked at.
	mostAxes = 8
)

// axes are the directions in the frame of the target's principal axes, the
// outermost ones if there are many.
func (f *frame) axes() [][]float64 {
	var precision mat.SymDense
	precision.SymOuterK(1, f.white.T())
	var eig mat.EigenSym
	var vectors mat.Dense
	if !eig.Factorize(&precision, true) {
		return nil
	}
	eig.VectorsTo(&vectors)
	var out [][]float64
	for k := range f.d {
		if k >= mostAxes/2 && k < f.d-mostAxes/2 {
			continue
		}
		var along mat.VecDense
		along.MulVec(f.colour.T(), vectors.ColView(k))
		along.ScaleVec(1/mat.Norm(&along, 2), &along)
		out = append(out, along.RawVector().Data)
	}
	return out
}

// accuracies judges averages over all outer steps of a Gaussian chain; nil if it
// has no stationary law, or none that is known. A quick answer takes the chain
// for a normal process.
func (p *preparedGaussian) accuracies(ctx context.Context, m minibatch.Scheme,
	quick bool) ([]accuracy, error) {
	truth := p.truth()
	cycle, err := newPeriod(ctx, p.evolution(asOperator), m)
	if err != nil {
		return nil, err
	}
	s, _ := p.stationary(cycle, truth)
	if err := ctx.Err(); err != nil || s == nil || s.inverse == nil {
		return nil, err
	}
	d, n := p.engine.frame.d, p.n
	law := floats.AddTo(make([]float64, len(truth)), truth, s.delta)
	beyond := cycle.occupation(truth, s.delta)
	first := &sums{states: cycle.evolution, weighted: p.evolution(func(m *affineMap) operator { return vectorOf{m} })}
	first.weighted.size, first.weighted.mass, first.times = n, n-1, first.ofMoments
	for i := range d {
		first.forms = append(first.forms, unit(n, i))
	}
	theta := accuracy{name: "theta", bias: mat.NewSymDense(d, nil)}
	theta.spread, theta.stationary = first.covariances(cycle, law, func(y []float64) []float64 {
		x := make([]float64, n)
		mat.NewVecDense(n-1, x[:n-1]).MulVec(s.inverse, mat.NewVecDense(n-1, y[:n-1]))
		floats.Scale(-1, x)
		return x
	})
	if theta.spread == nil {
		return nil, nil
	}
	mean := mat.NewDense(n, n, beyond).ColView(n-1).(*mat.VecDense).SliceVec(0, d)
	theta.bias.SymOuterK(1, mean)
	quick = quick || float64(n*n*n*n)*cycle.work() > mostFourth
	return []accuracy{theta, p.squares(cycle, s.means, law, beyond, theta.spread, quick)}, nil
}

// work is the number of kernels applied to advance a law by a period.
func (p *period) work() float64 {
	k, runs := float64(p.batches()), float64(p.runs)
	switch p.visits.(type) {
	case minibatch.Permutation:
		return runs * k * math.Exp2(k-1)
	case minibatch.Palindrome:
		return runs * 2 * math.E * math.Gamma(k+1)
	}
	return runs * float64(len(p.words)*p.sweep)
}

func unit(n, i int) []float64 {
	out := make([]float64, n)
	out[i] = 1
	return out
}

// squares judges the averages of squares along the principal axes.
func (p *preparedGaussian) squares(cycle *period, means *affineMap, law, beyond []float64,
	theta *mat.SymDense, quick bool) accuracy {
	n, axes := p.n, p.engine.frame.axes()
	w := accuracy{name: "theta^2", bias: mat.NewSymDense(len(axes), nil), normal: quick}
	var forms [][]float64
	for k, a := range axes {
		form := mat.NewDense(n, n, nil)
		form.Slice(0, len(a), 0, len(a)).(*mat.Dense).Outer(1, mat.NewVecDense(len(a), a), mat.NewVecDense(len(a), a))
		forms = append(forms, form.RawMatrix().Data)
		bias := floats.Dot(forms[k], beyond)
		w.bias.SetSym(k, k, bias*bias/2) // x² has the variance 2 under N(0, 1)
	}
	if quick {
		w.spread, w.stationary = p.asNormal(cycle, law, axes, theta)
	} else {
		w.spread, w.stationary = p.fourthMoments(cycle, forms, means)
	}
	if w.spread != nil {
		halfDiagonal(w.spread)
		halfDiagonal(w.stationary)
	}
	return w
}

// halfDiagonal keeps half of the variances alone: without covariances the worst of
// the coordinates is the worst direction.
func halfDiagonal(m *mat.SymDense) {
	var d mat.DiagDense
	d.DiagFrom(m)
	m.ScaleSym(0.5, &d)
}

// fourthMoments works out the covariances of quadratic forms; they are nil where
// a chain has no fourth moments.
func (e *moments) fourthMoments(cycle *period, forms [][]float64, means *affineMap) (spread,
	stationary *mat.SymDense) {
	n := e.n
	s := &sums{states: e.evolution(func(m *affineMap) operator { return fourth{m} }),
		weighted: e.evolution(asOperator), forms: forms}
	s.states.size, s.states.mass, s.times = n*n*n*n, n*n*n*n-1, s.ofMoments
	all, rest := newStein(means), make([]float64, s.states.size)
	rest[s.states.mass] = 1
	b := cycle.on(s.states).excess(rest)
	law, left := cycle.on(s.states).solve(b, all.solveFourth, varianceGoal)
	floats.Add(law, rest)
	if !(left <= 1e3*varianceGoal*floats.Norm(law, 2)) || !finite(law) {
		return nil, nil
	}
	// Beyond the limit of stability of fourth moments the equation has a solution
	// that no law has.
	var eig mat.EigenSym
	if !eig.Factorize(mat.NewSymDense(n*n, slices.Clone(law)), false) {
		return nil, nil
	}
	if values := eig.Values(nil); values[0] < -1e-6*values[n*n-1] {
		return nil, nil
	}
	return s.covariances(cycle, law, all.solve)
}

// asNormal returns what fourthMoments would find of a normal process with the mean
// outer step's memory: 2ΣC(t)² + 4m²ΣC(t) over the lags t, C its autocovariances.
// theta are the asymptotic covariances of the average of θ.
func (e *moments) asNormal(cycle *period, law []float64, axes [][]float64,
	theta *mat.SymDense) (spread, stationary *mat.SymDense) {
	n := e.n
	memory := newStein(e.meanMap(cycle.drawn()))
	moment := mat.NewDense(n, n, cycle.occupation(make([]float64, n*n), law))
	spread, stationary = mat.NewSymDense(len(axes), nil), mat.NewSymDense(len(axes), nil)
	for k, a := range axes {
		f := mat.NewVecDense(n, nil)
		copy(f.RawVector().Data, a)
		var now mat.VecDense
		now.MulVec(moment, f)
		m := now.AtVec(n - 1)
		now.AddScaledVec(&now, -m, moment.ColView(n-1))
		var outer mat.Dense
		outer.Outer(1, &now, &now)
		later := mat.NewDense(n, n, memory.solve(outer.RawMatrix().Data))
		variance := mat.Dot(f, &now)
		linear := mat.Inner(mat.NewVecDense(len(a), a), theta, mat.NewVecDense(len(a), a))
		spread.SetSym(k, k, 2*(2*mat.Inner(f, later, f)-variance*variance)+4*m*m*linear)
		stationary.SetSym(k, k, 2*variance*variance+4*m*m*variance)
	}
	return spread, stationary
}

// accuracies judges averages over all outer steps of a scalar chain, on the lowest
// rung that the next one bears out.
func (p *preparedSpectral) accuracies(ctx context.Context, m minibatch.Scheme,
	_ bool) ([]accuracy, error) {
	at, err := p.solve(ctx, m, true)
	if err != nil || at.unstable() || math.IsInf(at.observed[0].relativeResolution, 1) {
		return nil, err
	}
	var before, now []accuracy
	agree := func(a, b accuracy) bool {
		return math.Abs(a.spread.At(0, 0)-b.spread.At(0, 0)) <= varianceTolerance*b.spread.At(0, 0)
	}
	for i := range p.engine.ladder {
		if now, err = p.accuraciesOn(ctx, i, m, at); err != nil || now != nil && slices.EqualFunc(before, now, agree) {
			return now, err
		}
		before = now
	}
	return nil, nil
}

// varianceTolerance is how far, relatively, variances on two rungs may be apart.
const varianceTolerance = 1e-3

// accuraciesOn judges averages on one rung; nil if there is no law there.
func (p *preparedSpectral) accuraciesOn(ctx context.Context, i int, m minibatch.Scheme,
	at point) ([]accuracy, error) {
	r := p.rung(i)
	found, err := r.solve(ctx, m, false)
	if err != nil || found.signed == nil {
		return nil, err
	}
	law := slices.Clone(found.law)
	law[0]++
	var out []accuracy
	for o, f := range p.engine.observed {
		if f.of == nil {
			continue
		}
		by := r.basis.multiplication(f)
		s := &sums{states: r.evolution, weighted: r.evolution,
			forms: [][]float64{r.basis.observed[o]}}
		s.times = func(law []float64, k int) []float64 {
			if k < 0 {
				return law
			}
			product := make([]float64, len(law))
			by.addTo(product, 1, law)
			return product
		}
		w := accuracy{name: f.name, bias: mat.NewSymDense(1,
			[]float64{at.observed[o].relative * at.observed[o].relative})}
		if w.spread, w.stationary = s.covariances(found.cycle, law, r.precondition); w.spread == nil || !(w.spread.At(0, 0) > 0) {
			return nil, nil
		}
		w.spread.ScaleSym(1/(f.sd*f.sd), w.spread)
		w.stationary.ScaleSym(1/(f.sd*f.sd), w.stationary)
		out = append(out, w)
	}
	return out, nil
}

// multiplication is the matrix ⟨φ_a f φ_b⟩ by which a law is multiplied by a
// function of θ.
func (b *basis) multiplication(f scalarObservable) galerkin {
	size := b.widths[0]
	values, weighted := mat.NewDense(len(b.theta.nodes), size, nil), b.theta.weighted(size)
	for i, x := range b.theta.nodes {
		b.theta.values(values.RawRowView(i), x)
		floats.Scale(f.of(x), values.RawRowView(i))
	}
	var product mat.Dense
	product.Mul(weighted.T(), values)
	out := mat.NewDense(len(b.pairs), len(b.pairs), nil)
	for i, p := range b.pairs {
		for j, q := range b.pairs {
			if p[1] == q[1] {
				out.Set(i, j, product.At(p[0], q[0]))
			}
		}
	}
	return galerkin{out}
}

// cost returns the number of gradients of a batch in an outer step, all data counting
// K.
func (o *Options) cost(m integrators.Integrator, s minibatch.Scheme) float64 {
	by, k := estimation{o.Estimator}, o.Problem.Batches()
	kernel := m.Needs.Cost()
	kernels := float64(o.Inner)
	switch {
	case s.Whole():
		kernel *= float64(k)
	case !by.plain():
		if by.method.Extra != nil {
			kernel += by.method.Extra(k)
		}
		kernels *= float64(by.period(k))
	}
	return kernel * kernels
}
