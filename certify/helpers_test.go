package certify

import (
	"math"
	"testing"

	"hambench/certify/gaussian"
	"hambench/integrators"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// affineForce is the force Pθ − s of a batch.
type affineForce = integrators.Affine

func newAffineForce(precision, shift []float64) *affineForce {
	return integrators.NewAffine(precision, shift)
}

// quadrature is the law of θ of a scalar problem on a grid.
type quadrature struct{ x, w []float64 } // Σw = 1

func targetOf(p *Problem) quadrature {
	const points, reach = 24_000, 12.
	var q quadrature
	for i := range points + 1 {
		x, u := reach*(2*float64(i)/points-1), 0.0
		for _, b := range p.scalar {
			u += b.Value(x) / float64(p.Batches())
		}
		q.x, q.w = append(q.x, x), append(q.w, math.Exp(-u))
	}
	floats.Scale(1/floats.Sum(q.w), q.w)
	return q
}

// expect is the mean of f.
func (q quadrature) expect(f func(x float64) float64) (sum float64) {
	for i, x := range q.x {
		sum += q.w[i] * f(x)
	}
	return sum
}

func squared(x float64) float64 { return x * x }

// whitening is how a Gaussian problem comes to the target N(0, I): by x = U(θ − μ).
type whitening struct {
	u      *mat.Dense
	centre []float64
	axes   [][]float64 // the directions of the target's principal axes
}

func whiteningOf(t testing.TB, p *Problem) whitening {
	t.Helper()
	d, mean := p.Dim(), gaussian.Mean(p.gaussian)
	var chol mat.Cholesky
	var u mat.TriDense
	var centre, vectors mat.Dense
	var eigen mat.EigenSym
	precision := mat.NewSymDense(d, mean.Precision)
	if !chol.Factorize(precision) || !eigen.Factorize(precision, true) {
		t.Fatal("the precision is not definite")
	}
	chol.UTo(&u)
	eigen.VectorsTo(&vectors)
	if err := chol.SolveTo(&centre, mat.NewDense(d, 1, mean.Shift)); err != nil {
		t.Fatal(err)
	}
	w := whitening{u: mat.DenseCopyOf(&u), centre: centre.RawMatrix().Data}
	const most = 8 // axes that averages are judged along: the outermost
	for k := range d {
		if k < most/2 || k >= d-most/2 {
			var along mat.VecDense
			along.MulVec(&u, vectors.ColView(k))
			along.ScaleVec(1/mat.Norm(&along, 2), &along)
			w.axes = append(w.axes, along.RawVector().Data)
		}
	}
	return w
}

// white is x of a position.
func (w whitening) white(theta []float64) []float64 {
	d := len(theta)
	var x mat.VecDense
	x.MulVec(w.u, mat.NewVecDense(d, floats.SubTo(make([]float64, d), theta, w.centre)))
	return x.RawVector().Data
}
