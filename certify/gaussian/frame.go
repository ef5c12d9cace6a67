package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/markov"
	"hambench/integrators"
	"hambench/usage"
)

// frame is the coordinates x in which a Gaussian target is N(0, I): θ = μ̂ +
// U⁻¹x with P̄ = UᵀU, r = M^½x. All that is judged is judged in them, so that
// no verdict depends on units or on the coordinates of the problem.
//
// μ̂ and U are rounded. What they miss, μ − μ̂ and P̄ − UᵀU, is worked out in
// twofold precision and stands in the target's law (see target), so that it is not
// taken for an error of the chain.
type frame struct {
	d      int        // positions
	centre []float64  // μ̂
	white  *mat.Dense // U, upper triangular
	colour *mat.Dense // U⁻¹
	root   []float64  // M^−½ per coordinate
	units  []float64  // of auxiliary variables, powers of 2; nil if there are none
}

// worstConditioned bounds what U may miss of P̄, relative to it: beyond, the
// precision in float64 says too little of the target.
const worstConditioned = 1e-3

// newFrame returns the frame of a target of the given force; invMass is the diagonal of M⁻¹,
// nil for the identity.
func newFrame(mean *integrators.Affine, invMass []float64) (*frame, error) {
	d := len(mean.Shift)
	f := &frame{d: d, root: slices.Repeat([]float64{1}, d), white: mat.NewDense(d, d, nil),
		colour: mat.NewDense(d, d, nil)}
	for i, m := range invMass {
		f.root[i] = math.Sqrt(m) // r = M^½x, so that x = M^−½r is N(0, I)
	}
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(d, slices.Clone(mean.Precision))) {
		// certify.Problem.checkMean refuses those that are not definite.
		return nil, illConditioned()
	}
	// θ − μ̂ = U⁻¹x has the covariance U⁻¹U⁻ᵀ = P̄⁻¹ for x ~ N(0, I).
	var u, inverse mat.TriDense
	chol.UTo(&u)
	f.white.Copy(&u)
	if err := inverse.InverseTri(&u); err != nil {
		return nil, illConditioned()
	}
	f.colour.Copy(&inverse)
	f.centre = make([]float64, d)
	// Newton's method; the second time refines the first.
	for range 2 {
		g := mat.NewVecDense(d, gradient(mean, f.centre))
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, g); err != nil {
			return nil, illConditioned()
		}
		floats.Sub(f.centre, step.RawVector().Data)
	}
	return f, nil
}

// illConditioned is the error for a precision of which float64 holds too little.
func illConditioned() error {
	return usage.Errorf("mean precision is too badly conditioned for float64: want a condition " +
		"number below about 1e12")
}

// target returns the forces moved so that the frame's centre is 0, and the law
// of their mean, whose mean and covariance say what the frame's rounding left: with R the
// defect of the precision in the frame, the covariance is (I + R)⁻¹, and the mean that times
// the mean pull at the centre. Momenta have the covariance I. A defect above worstConditioned
// is a usage error.
func (f *frame) target(forces []*integrators.Affine) (target, error) {
	d, n := f.d, 2*f.d+1
	t := target{law: make([]float64, n*n)}
	pull := mat.NewVecDense(d, nil) // −K times the mean gradient at the centre
	for _, b := range forces {
		moved := f.moved(b)
		shift := mat.NewVecDense(d, moved.Shift)
		pull.AddVec(pull, shift)
		// The shift in the frame is rounded by about its own size, which may move the mean.
		var part mat.VecDense
		part.MulVec(f.colour.T(), shift)
		t.slip += 2 * markov.Epsilon * mat.Norm(&part, 2)
		t.moved = append(t.moved, moved)
	}
	missed := f.whitened(f.defect(forces)) // R = U⁻ᵀ(P̄ − UᵀU)U⁻¹
	if !(mat.Norm(missed, 2) < worstConditioned) {
		return t, illConditioned()
	}
	var cov mat.Dense // (I + R)⁻¹ − I = R² − R, to R³
	cov.Mul(missed, missed)
	cov.Sub(&cov, missed)
	var white, e mat.VecDense // the law's mean, e
	white.MulVec(f.colour.T(), pull)
	e.MulVec(&cov, &white)
	e.AddVec(&e, &white)
	e.ScaleVec(1/float64(len(forces)), &e)
	// Second moments on (θ, r, 1): the covariance and the mean of θ; momenta have 0 and I.
	for i := range d {
		t.law[i*n+n-1], t.law[(n-1)*n+i] = e.AtVec(i), e.AtVec(i)
		for j := range d {
			t.law[i*n+j] = cov.At(i, j) + e.AtVec(i)*e.AtVec(j)
		}
		t.law[i*n+i]++
		t.law[(d+i)*n+d+i] = 1
	}
	t.law[n*n-1] = 1
	return t, nil
}

// moved is a force moved so that the frame's centre is 0.
func (f *frame) moved(b *integrators.Affine) *integrators.Affine {
	g := gradient(b, f.centre)
	floats.Scale(-1, g)
	return integrators.NewAffine(b.Precision, g)
}

// defect is P̄ − UᵀU, P̄ the exact mean of the forces' precisions: a small difference of sums,
// each element of which is summed as if in twice the digits.
func (f *frame) defect(forces []*integrators.Affine) *mat.Dense {
	d, k := f.d, float64(len(forces))
	out := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			var terms []float64
			for _, b := range forces {
				terms = append(terms, b.Precision[i*d+j])
			}
			// (UᵀU)_ij, U upper triangular.
			for l := range min(i, j) + 1 {
				terms = appendProduct(terms, -k, f.white.At(l, i), f.white.At(l, j))
			}
			out.Set(i, j, floats.SumCompensated(terms)/k)
		}
	}
	return out
}

// gradient is Pθ − s, each element rounded once: at a mean far from the origin it is a small
// difference of large terms.
func gradient(f *integrators.Affine, theta []float64) []float64 {
	d := len(theta)
	g := make([]float64, d)
	// Products in two parts, high and low.
	for i := range g {
		terms := []float64{-f.Shift[i]}
		for j, p := range f.Precision[i*d : (i+1)*d] {
			terms = appendProduct(terms, 1, p, theta[j])
		}
		g[i] = floats.SumCompensated(terms)
	}
	return g
}

// appendProduct appends wxy as terms whose sum is good to about 32 digits, as is
// a compensated sum of them (Ogita, Rump & Oishi 2005).
func appendProduct(terms []float64, w, x, y float64) []float64 {
	high := x * y
	low := math.FMA(x, y, -high)
	all := w * high
	return append(terms, all, math.FMA(w, high, -all), w*low)
}

// distance is the length in the frame of the mean of a force that is moved
// there; 0 if it has none, which no step then reckons with.
func (f *frame) distance(b *integrators.Affine) float64 {
	if !IsDefinite(b) {
		return 0
	}
	// A matrix that is badly conditioned has a solution all the same.
	var mean mat.VecDense
	err := mean.SolveVec(matrix(b), mat.NewVecDense(f.d, b.Shift))
	if err != nil && mean.Len() == 0 {
		return math.Inf(1)
	}
	return floats.Norm(f.toWhite(mean.RawVector().Data), 2)
}

// toWhite returns the coordinates x of a displacement θ, or (θ, r), or (θ, r,
// auxiliary variables), of which the last are taken in their units.
func (f *frame) toWhite(z []float64) []float64 {
	x := slices.Clone(z)
	mat.NewVecDense(f.d, x[:f.d]).MulVec(f.white, mat.NewVecDense(f.d, z[:f.d]))
	if len(z) > f.d {
		floats.Mul(x[f.d:2*f.d], f.root)
		floats.Div(x[2*f.d:], f.units)
	}
	return x
}

// fromWhite is the inverse of toWhite.
func (f *frame) fromWhite(x []float64) []float64 {
	z := slices.Clone(x)
	mat.NewVecDense(f.d, z[:f.d]).MulVec(f.colour, mat.NewVecDense(f.d, x[:f.d]))
	if len(x) > f.d {
		floats.Div(z[f.d:2*f.d], f.root)
		floats.Mul(z[2*f.d:], f.units)
	}
	return z
}

// congruent returns a covariance in the frame, of θ or of (θ, r) (dim × dim, row-major), in
// the problem's coordinates.
func (f *frame) congruent(x []float64, dim int) []float64 {
	w := mat.NewDense(dim, dim, nil) // from the frame: U⁻¹ for θ, M^½ for r
	w.Slice(0, f.d, 0, f.d).(*mat.Dense).Copy(f.colour)
	for i := f.d; i < dim; i++ {
		w.Set(i, i, 1/f.root[i-f.d])
	}
	var out mat.Dense
	out.Product(w, mat.NewDense(dim, dim, x), w.T())
	return out.RawMatrix().Data
}

// whitened returns CᵀPC, C = U⁻¹: a change of the precision as the frame has it.
func (f *frame) whitened(p mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Product(f.colour.T(), p, f.colour)
	return &out
}

// strain is how much longer than a vector the sum of the absolute values in
// its way to the frame and back may be: what round-off is multiplied by.
func (f *frame) strain() float64 {
	var a, b mat.Dense // |U| and |U⁻¹|, element by element
	abs := func(_, _ int, v float64) float64 { return math.Abs(v) }
	a.Apply(abs, f.white)
	b.Apply(abs, f.colour)
	a.Mul(&a, &b)
	return mat.Norm(&a, 2)
}
