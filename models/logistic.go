package models

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hambench/datasets"
)

// logistic is logistic regression with an intercept,
// P(second class | x) = 1/(1 + exp(−θ₀ − θ₁x₁ − …)), with the prior N(0, I).
type logistic struct {
	scores
	listed
	dim   int
	x     column[float64]
	class column[int]
	testX []float64
}

// ofClasses are the options of the network that more than two classes have in
// its place: softmax(Wx/√D + b), with the prior N(0, I).
func ofClasses(o Options) Options {
	o.Hidden = []int{}
	return o
}

func logisticDim(s datasets.Shape, o Options) int {
	if s.Classes > 2 {
		return networkDim(s, ofClasses(o))
	}
	return s.Features + 1
}

func newLogistic(s *datasets.Split, o Options) (Target, error) {
	if s.Classes > 2 {
		return newBNN(s, ofClasses(o))
	}
	dim := s.Features + 1
	return &logistic{
		scores: scores{s}, listed: listed{rows: len(s.TrainLabels)}, dim: dim,
		x: newColumn(withOnes(s.TrainX, s.Features), dim), class: newColumn(s.TrainLabels, 1), testX: withOnes(s.TestX, s.Features),
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
func (t *logistic) Outputs() int { return t.split.TestRows() }

func (t *logistic) Arrange(order []int) {
	t.x.arrange(order)
	t.class.arrange(order)
}

func (t *logistic) Gather(index []int, weights []float64) {
	t.weigh(index, weights)
	t.x.gather(index)
	t.class.gather(index)
}

func (t *logistic) Potential(theta []float64) float64 {
	checkLen(t.dim, theta)
	u := halfSquares(theta)
	for i, c := range t.class.now[:t.rows] {
		z := dot(t.x.row(i), theta)
		u += softplus(z) - float64(c)*z
	}
	return u
}

func (t *logistic) Gradient(g, theta []float64, rows Rows) {
	t.check(rows)
	checkLen(t.dim, g, theta)
	copy(g, theta)
	for i := rows.Lo; i < rows.Hi; i++ {
		x := t.x.row(i)
		floats.AddScaled(g, rows.Scale*t.weight(i)*(sigmoid(dot(x, theta))-float64(t.class.now[i])), x)
	}
}

func (t *logistic) HessianVector(hv, theta, v []float64, rows Rows) {
	t.check(rows)
	checkLen(t.dim, hv, theta, v)
	copy(hv, v)
	for i := rows.Lo; i < rows.Hi; i++ {
		x := t.x.row(i)
		p := sigmoid(dot(x, theta))
		floats.AddScaled(hv, rows.Scale*t.weight(i)*p*(1-p)*dot(x, v), x)
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
