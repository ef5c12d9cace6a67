package certify

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"hambench/usage"
)

// frame is the coordinates x in which a Gaussian target is N(0, I): θ = μ̂ +
// U⁻¹x with P̄ = UᵀU, r = M^½x. All that is judged is judged in them, so that
// no verdict depends on units or on the coordinates of the problem.
//
// μ̂ and U are rounded. What they miss, μ − μ̂ and P̄ − UᵀU, is worked out in
// twofold precision and stands in the target's law (see law), so that it is not
// taken for an error of the chain.
type frame struct {
	d      int
	centre []float64  // μ̂
	white  *mat.Dense // U, upper triangular
	colour *mat.Dense // U⁻¹
	root   []float64  // M^−½ per coordinate
}

// worstConditioned bounds what U may miss of P̄, relative to it: beyond, the
// precision in float64 says too little of the target.
const worstConditioned = 1e-3

func newFrame(mean *affineForce, invMass []float64) (*frame, error) {
	d := len(mean.affine.Shift)
	f := &frame{d: d, root: fill(d, 1), white: mat.NewDense(d, d, nil), colour: mat.NewDense(d, d, nil)}
	for i, m := range invMass {
		f.root[i] = math.Sqrt(m)
	}
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(d, append([]float64(nil), mean.affine.Precision...))) {
		return nil, usage.Errorf("mean precision is not positive definite")
	}
	var u, inverse mat.TriDense
	chol.UTo(&u)
	f.white.Copy(&u)
	if err := inverse.InverseTri(&u); err != nil {
		return nil, illConditioned()
	}
	f.colour.Copy(&inverse)
	f.centre = make([]float64, d)
	for range 2 { // the second time refines the first
		g := mat.NewVecDense(d, gradient(mean, f.centre))
		var step mat.VecDense
		if err := chol.SolveVecTo(&step, g); err != nil {
			return nil, illConditioned()
		}
		addScaled(f.centre, -1, step.RawVector().Data)
	}
	return f, nil
}

func illConditioned() error {
	return usage.Errorf("mean precision is too badly conditioned for float64: want a condition number below about 1e12")
}

// target returns the forces moved so that the frame's centre is 0, and the law
// of their mean, whose mean and covariance say what the frame's rounding left.
func (f *frame) target(forces []*affineForce) (target, error) {
	d, n := f.d, 2*f.d+1
	t := target{original: forces, law: make([]float64, n*n)}
	pull := make([]float64, d) // −K times the mean gradient at the centre
	for _, b := range forces {
		g := gradient(b, f.centre)
		scale(g, -1)
		addScaled(pull, 1, g)
		t.moved = append(t.moved, newAffineForce(b.affine.Precision, g))
	}
	var missed, e mat.Dense // R = U⁻ᵀ(P̄ − UᵀU)U⁻¹
	missed.Mul(f.defect(forces), f.colour)
	missed.Mul(f.colour.T(), mat.DenseCopyOf(&missed))
	if !(mat.Norm(&missed, 2) < worstConditioned) {
		return t, illConditioned()
	}
	cov := mat.NewDense(d, d, nil) // (I + R)⁻¹, to R³
	cov.Mul(&missed, &missed)
	cov.Sub(cov, &missed)
	for i := range d {
		cov.Set(i, i, 1+cov.At(i, i))
	}
	e.Mul(f.colour.T(), mat.NewDense(d, 1, pull))
	e.Mul(cov, mat.DenseCopyOf(&e))
	e.Scale(1/float64(len(forces)), &e)
	for i := range d {
		t.law[i*n+n-1], t.law[(n-1)*n+i] = e.At(i, 0), e.At(i, 0)
		for j := range d {
			t.law[i*n+j] = cov.At(i, j) + e.At(i, 0)*e.At(j, 0)
		}
		t.law[(d+i)*n+d+i] = 1
	}
	t.law[n*n-1] = 1
	return t, nil
}

// defect is P̄ − UᵀU, P̄ the exact mean of the forces' precisions.
func (f *frame) defect(forces []*affineForce) *mat.Dense {
	d, k := f.d, float64(len(forces))
	out := mat.NewDense(d, d, nil)
	columns := transpose(f.white.RawMatrix().Data, d)
	for i := range d {
		for j := range d {
			sum := twofold{}
			for _, b := range forces {
				sum.add(b.affine.Precision[i*d+j])
			}
			square := dotTwofold(columns[i*d:i*d+min(i, j)+1], columns[j*d:j*d+min(i, j)+1])
			sum.addProduct(-k, square.high)
			sum.addProduct(-k, square.low)
			out.Set(i, j, sum.value()/k)
		}
	}
	return out
}

// gradient is Pθ − s, rounded once.
func gradient(f *affineForce, theta []float64) []float64 {
	d := len(theta)
	g := make([]float64, d)
	for i := range g {
		sum := dotTwofold(f.affine.Precision[i*d:(i+1)*d], theta)
		sum.add(-f.affine.Shift[i])
		g[i] = sum.value()
	}
	return g
}

// distance is the length in the frame of the mean of a force that is moved
// there.
func (f *affineForce) distance(in *frame) float64 {
	d := in.d
	var mean mat.VecDense
	if err := mean.SolveVec(mat.NewDense(d, d, f.affine.Precision), mat.NewVecDense(d, f.affine.Shift)); err != nil && mean.Len() == 0 {
		return math.Inf(1)
	}
	return norm(in.toWhite(append(append([]float64(nil), mean.RawVector().Data...), make([]float64, d)...)))
}

// toWhite returns the coordinates x of a displacement (θ, r).
func (f *frame) toWhite(z []float64) []float64 {
	x := append([]float64(nil), z...) // auxiliary variables stay as they are
	mat.NewVecDense(f.d, x[:f.d]).MulVec(f.white, mat.NewVecDense(f.d, z[:f.d]))
	for i, v := range f.root {
		x[f.d+i] = v * z[f.d+i]
	}
	return x
}

// fromWhite is the inverse of toWhite.
func (f *frame) fromWhite(x []float64) []float64 {
	z := append([]float64(nil), x...)
	mat.NewVecDense(f.d, z[:f.d]).MulVec(f.colour, mat.NewVecDense(f.d, x[:f.d]))
	for i, v := range f.root {
		z[f.d+i] = x[f.d+i] / v
	}
	return z
}

// strain is how much longer than a vector the sum of the absolute values in
// its way to the frame and back may be: what round-off is multiplied by.
func (f *frame) strain() float64 {
	var a, b mat.Dense
	abs := func(_, _ int, v float64) float64 { return math.Abs(v) }
	a.Apply(abs, f.white)
	b.Apply(abs, f.colour)
	a.Mul(&a, &b)
	return mat.Norm(&a, 2)
}

// twofold is an unevaluated sum of two numbers, good to about 32 digits
// (Ogita, Rump & Oishi 2005).
type twofold struct{ high, low float64 }

func (t *twofold) value() float64 { return t.high + t.low }

func (t *twofold) add(x float64) {
	sum := t.high + x
	z := sum - t.high
	t.low += (t.high - (sum - z)) + (x - z)
	t.high = sum
}

func (t *twofold) addProduct(x, y float64) {
	p := x * y
	t.low += math.FMA(x, y, -p)
	t.add(p)
}

func dotTwofold(x, y []float64) twofold {
	var t twofold
	for i, v := range x {
		t.addProduct(v, y[i])
	}
	return t
}
