package gaussian

import (
	"context"
	"slices"

	"hambench/certify/cost"
	"hambench/certify/markov"
	"hambench/chain/minibatch"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// fourth applies a map to fourth moments E(x, 1)⊗⁴, n⁴ numbers, which hold
// all lower ones: those of second order stand where two indices are the last.
type fourth struct{ *affineMap }

// AddTo adds w times the image. With u = A(x, 1) and the noise Nξ apart, E(u + Nξ)⊗⁴ is
// E u⊗⁴, the six products of E uuᵀ and Q = NNᵀ, and the three of Q with itself.
func (m fourth) AddTo(dst []float64, w float64, law []float64) {
	n := m.n
	floats.AddScaled(dst, w, alongAll(m.a, law))
	v := make([]float64, n*n) // E uuᵀ + ½Q, u the image without noise
	quiet := affineMap{n: n, a: m.a, q: mat.NewDense(n, n, nil), half: m.half}
	lower := make([]float64, n*n) // the second moments of the law itself
	for i := range lower {
		// The last two indices are n, those of the constant 1.
		lower[i] = law[(i+1)*n*n-1]
	}
	quiet.AddTo(v, 1, lower)
	q := m.q.RawMatrix().Data
	floats.AddScaled(v, law[len(law)-1]/2, q)
	at := 0 // elements in the order of (i, j, k, l)
	for i := range n {
		for j := range n {
			for k := range n {
				ij, ik, jk := i*n+j, i*n+k, j*n+k
				for l := range n {
					il, jl, kl := i*n+l, j*n+l, k*n+l
					dst[at] += w * (v[ij]*q[kl] + q[ij]*v[kl] + v[ik]*q[jl] +
						q[ik]*v[jl] + v[il]*q[jk] + q[il]*v[jk])
					at++
				}
			}
		}
	}
}

// alongAll applies a matrix (n × n) to each of the four indices of a tensor (n⁴ numbers, the
// last index changing first), into a new one.
func alongAll(a *mat.Dense, tensor []float64) []float64 {
	n, _ := a.Dims()
	// To the first index, which becomes the last.
	for range 4 {
		var moved mat.Dense
		moved.Mul(a, mat.NewDense(n, len(tensor)/n, tensor))
		tensor = mat.DenseCopyOf(moved.T()).RawMatrix().Data
	}
	return tensor
}

// What bounds the work on squares of positions.
const (
	// mostFourth bounds the fourth moments that are worked out, times the kernels
	// in a period over all orders: a few seconds.
	mostFourth = 150_000
	// mostAxes bounds the principal axes that are looked at.
	mostAxes = 8
)

// axes are the directions in the frame of the target's principal axes, unit vectors in the
// order of the eigenvalues of its precision, the outermost ones if there are more than so many.
// If no eigenvectors are found there are none.
func (f *frame) axes(most int) [][]float64 {
	var precision mat.SymDense
	precision.SymOuterK(1, f.white.T())
	var eig mat.EigenSym
	var vectors mat.Dense
	if !eig.Factorize(&precision, true) {
		return nil
	}
	eig.VectorsTo(&vectors)
	var out [][]float64
	// From the widest to the narrowest.
	for k := range f.d {
		if k >= (most+1)/2 && k < f.d-most/2 {
			continue
		}
		// vᵀ(θ − μ̂) = (U⁻ᵀv)ᵀx: along an eigenvector v of P̄, the direction in the frame is U⁻ᵀv.
		var along mat.VecDense
		along.MulVec(f.colour.T(), vectors.ColView(k))
		along.ScaleVec(1/mat.Norm(&along, 2), &along)
		out = append(out, along.RawVector().Data)
	}
	return out
}

// Accuracies judges averages of θ and of the squares along its axes.
func (p *Chain) Accuracies(ctx context.Context, m minibatch.Scheme,
	quick bool) (all []cost.Accuracy, final bool, err error) {
	truth := p.truth()
	cycle, err := markov.NewPeriod(ctx, p.evolution(asOperator), m)
	if err != nil {
		return nil, false, err
	}
	s, _ := p.stationary(cycle, truth)
	if err := ctx.Err(); err != nil || s == nil || s.inverse == nil {
		return nil, false, err
	}
	// The law where periods end, and the average over the ends of outer steps, which is what
	// averages are biased by.
	d, n := p.engine.frame.d, p.n
	law := floats.AddTo(make([]float64, len(truth)), truth, s.delta)
	beyond := cycle.Occupation(truth, s.delta)
	// Averages of θ: sums weight the law's first moments alone, whose evolution has an inverse.
	first := &cost.Sums{States: cycle.Evolution, Weighted: p.evolution(asMeans)}
	first.Weighted.Size, first.Weighted.Mass, first.Times = n, n-1, ofMoments(first)
	// The coordinates of θ in the frame.
	for i := range d {
		first.Forms = append(first.Forms, markov.Unit(n, i))
	}
	// The equation of weighted first moments is that of the mean map: with its inverse for the
	// preconditioner one iteration solves it. The mass, the last element, stays 0.
	theta := cost.Accuracy{Name: "theta", Bias: mat.NewSymDense(d, nil)}
	theta.Spread, theta.Stationary = first.Covariances(cycle, law, func(y []float64) []float64 {
		x := make([]float64, n)
		mat.NewVecDense(n-1, x[:n-1]).MulVec(s.inverse, mat.NewVecDense(n-1, y[:n-1]))
		floats.Scale(-1, x)
		return x
	})
	if theta.Spread == nil {
		return nil, false, nil
	}
	// The last column of what is beyond the target's moments is the bias of the mean.
	mean := mat.NewDense(n, n, beyond).ColView(n-1).(*mat.VecDense).SliceVec(0, d)
	theta.Bias.SymOuterK(1, mean)
	// Where fourth moments would take too long, no better answer than the normal one is to be had.
	final = float64(n*n*n*n)*cycle.Work() > mostFourth
	squares := p.squares(cycle, s.means, law, beyond, theta.Spread, quick || final)
	return []cost.Accuracy{theta, squares}, final, nil
}

// squares judges the averages of squares along the principal axes, over their deviation √2
// under the target. law is where periods end, beyond the average over outer steps less the
// target's law, theta the asymptotic covariances of averages of θ. A quick answer takes the
// chain for a normal process of one map, which it is with all of the data in every step.
func (p *Chain) squares(cycle *markov.Period, means *affineMap, law, beyond []float64,
	theta *mat.SymDense, quick bool) cost.Accuracy {
	n, axes := p.n, p.engine.frame.axes(mostAxes)
	// Squares are judged one by one: diagonal matrices.
	w := cost.Accuracy{Name: "theta^2", Bias: mat.NewSymDense(len(axes), nil),
		Normal: quick && len(p.kernels) > 1}
	var forms [][]float64
	// An observable is a quadratic form on (x, 1), and its expectation linear in second moments.
	for k, a := range axes {
		form := mat.NewDense(n, n, nil)
		axis := mat.NewVecDense(len(a), a)
		form.Slice(0, len(a), 0, len(a)).(*mat.Dense).Outer(1, axis, axis)
		forms = append(forms, form.RawMatrix().Data)
		bias := floats.Dot(forms[k], beyond)
		w.Bias.SetSym(k, k, bias*bias/2) // x² has the variance 2 under N(0, 1)
	}
	if quick {
		w.Spread, w.Stationary = p.asNormal(cycle, law, axes, theta)
	} else {
		w.Spread, w.Stationary = p.fourthMoments(cycle, forms, means)
	}
	if w.Spread != nil {
		halfDiagonal(w.Spread)
		halfDiagonal(w.Stationary)
	}
	return w
}

// fourthMoments works out the covariances of quadratic forms (n × n, one an axis) over outer
// steps, asymptotic and along the chain; both are nil where a chain has no fourth moments.
func (e *moments) fourthMoments(cycle *markov.Period, forms [][]float64, means *affineMap) (spread,
	stationary *mat.SymDense) {
	n := e.n
	s := &cost.Sums{States: e.evolution(func(m *affineMap) markov.Operator { return fourth{m} }),
		Weighted: e.evolution(asOperator), Forms: forms}
	s.States.Size, s.States.Mass, s.Times = n*n*n*n, n*n*n*n-1, ofMoments(s)
	// Fourth moments solve a fixed-point equation as second ones do. They are found less rest,
	// the moments of a chain that stands still at the frame's centre.
	all, rest := newStein(means), make([]float64, s.States.Size)
	rest[s.States.Mass] = 1
	b := cycle.On(s.States).Excess(rest)
	law, left := cycle.On(s.States).Solve(b, all.solveFourth, cost.VarianceGoal)
	floats.Add(law, rest)
	if !(left <= 1e3*cost.VarianceGoal*floats.Norm(law, 2)) || !markov.Finite(law) {
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
	return s.Covariances(cycle, law, all.solve)
}

// asNormal returns what fourthMoments would find of a normal process with the mean
// outer step's memory: 2ΣC(t)² + 4m²ΣC(t) over the lags t, C its autocovariances.
// theta are the asymptotic covariances of the average of θ.
func (e *moments) asNormal(cycle *markov.Period, law []float64, axes [][]float64,
	theta *mat.SymDense) (spread, stationary *mat.SymDense) {
	n := e.n
	memory := newStein(e.meanMap(cycle.Drawn()))
	moment := mat.NewDense(n, n, cycle.Occupation(make([]float64, n*n), law))
	spread, stationary = mat.NewSymDense(len(axes), nil), mat.NewSymDense(len(axes), nil)
	for k, a := range axes {
		f := mat.NewVecDense(n, nil)
		copy(f.RawVector().Data, a)
		// now is the covariance of the state with y = aᵀx, m the mean of y, later the sum over
		// lags t ≥ 0 of the products of such covariances at that lag.
		var now mat.VecDense
		now.MulVec(moment, f)
		m := now.AtVec(n - 1)
		now.AddScaledVec(&now, -m, moment.ColView(n-1))
		var outer mat.Dense
		outer.Outer(1, &now, &now)
		later := mat.NewDense(n, n, memory.solve(outer.RawMatrix().Data))
		variance := mat.Dot(f, &now)
		// ΣC(t) over all lags, which needs no normal process: it is aᵀ theta a.
		linear := mat.Inner(mat.NewVecDense(len(a), a), theta, mat.NewVecDense(len(a), a))
		// For a normal process cov(y², y′²) = 2C² + 4m²C, C = cov(y, y′). The sum over all lags is
		// twice that over t ≥ 0 less the term t = 0.
		spread.SetSym(k, k, 2*(2*mat.Inner(f, later, f)-variance*variance)+4*m*m*linear)
		stationary.SetSym(k, k, 2*variance*variance+4*m*m*variance)
	}
	return spread, stationary
}

// halfDiagonal keeps half of the variances alone: x² has the variance 2 under N(0, 1), and
// without covariances the worst of the coordinates is the worst direction.
func halfDiagonal(m *mat.SymDense) {
	var d mat.DiagDense
	d.DiagFrom(m)
	m.ScaleSym(0.5, &d)
}

// ofMoments is Sums.Times where laws are matrices of moments, whose last row and column are
// those of 1: a law's product with the observable's form, or with that of 1.
func ofMoments(s *cost.Sums) func(law []float64, observable int) []float64 {
	return func(law []float64, observable int) []float64 {
		form := markov.Unit(s.Weighted.Size, s.Weighted.Mass)
		if observable >= 0 {
			form = s.Forms[observable]
		}
		out := mat.NewVecDense(len(form), nil)
		product := mat.NewDense(len(form), len(form), law)
		out.MulVec(product, mat.NewVecDense(len(form), form))
		return out.RawVector().Data
	}
}
