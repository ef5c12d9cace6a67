package models

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hambench/datasets"
)

// logistic is logistic regression with an intercept,
// P(second class | x) = 1/(1 + exp(−θ₀ − θ₁x₁ − …)), with the prior N(0, I).
type logistic struct {
	scores
	listed
	dim           int
	givenX, x     []float64 // row-major, rows × dim; x and class: as arranged, then as gathered
	givenC, class []int
	testX         []float64
}

func newLogistic(s *datasets.Split, _ Options) (Target, error) {
	x := withOnes(s.TrainX, s.Features)
	return &logistic{
		scores: scores{s}, dim: s.Features + 1, testX: withOnes(s.TestX, s.Features),
		givenX: x, x: slices.Clone(x), givenC: s.TrainLabels, class: slices.Clone(s.TrainLabels),
	}, nil
}

// withOnes puts a column of ones before those of x.
func withOnes(x []float64, width int) []float64 {
	var out []float64
	for lo := 0; lo < len(x); lo += width {
		out = append(append(out, 1), x[lo:lo+width]...)
	}
	return out
}

func (t *logistic) Name() string { return "logistic" }
func (t *logistic) Dim() int     { return t.dim }
func (t *logistic) Rows() int    { return len(t.givenC) }
func (t *logistic) Outputs() int { return t.split.TestRows() }

func (t *logistic) Arrange(order []int) {
	arrange(t.x, t.givenX, t.dim, order)
	arrange(t.class, t.givenC, 1, order)
}

func (t *logistic) Gather(index []int, weights []float64) {
	t.gather(t.Rows(), index, weights)
	t.x = gather(t.x, t.givenX, t.dim, index)
	t.class = gather(t.class, t.givenC, 1, index)
}

func (t *logistic) row(i int) []float64 { return t.x[i*t.dim : (i+1)*t.dim] }

func (t *logistic) Potential(theta []float64) float64 {
	checkLen(t.dim, theta)
	u := halfSquares(theta)
	for i, c := range t.class[:t.Rows()] {
		z := dot(t.row(i), theta)
		u += softplus(z) - float64(c)*z
	}
	return u
}

func (t *logistic) Gradient(g, theta []float64, rows Rows) {
	t.check(rows, t.Rows())
	checkLen(t.dim, g, theta)
	copy(g, theta)
	for i := rows.Lo; i < rows.Hi; i++ {
		x := t.row(i)
		floats.AddScaled(g, rows.Scale*t.weight(i, t.Rows())*(sigmoid(dot(x, theta))-float64(t.class[i])), x)
	}
}

func (t *logistic) HessianVector(hv, theta, v []float64, rows Rows) {
	t.check(rows, t.Rows())
	checkLen(t.dim, hv, theta, v)
	copy(hv, v)
	for i := rows.Lo; i < rows.Hi; i++ {
		x := t.row(i)
		p := sigmoid(dot(x, theta))
		floats.AddScaled(hv, rows.Scale*t.weight(i, t.Rows())*p*(1-p)*dot(x, v), x)
	}
}

func (t *logistic) Predict(dst, theta []float64) {
	checkLen(t.dim, theta)
	checkLen(t.Outputs(), dst)
	for i := range dst {
		dst[i] = sigmoid(dot(t.testX[i*t.dim:(i+1)*t.dim], theta))
	}
}

func (t *logistic) DrawPrior(dst []float64) { checkLen(t.dim, dst) }

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// sigmoid is 1/(1 + e^−z); e^−z may overflow to +Inf, which gives the right 0.
func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// softplus is log(1 + e^z) without overflow.
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
