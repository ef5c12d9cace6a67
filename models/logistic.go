package models

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hambench/models/datasets"
)

// logistic is logistic regression with an intercept,
// P(second class | x) = 1/(1 + exp(−θ₀ − θ₁x₁ − …)), with the prior N(0, I).
type logistic struct {
	scores
	glm
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
	classes := make([]float64, len(s.TrainLabels))
	for i, c := range s.TrainLabels {
		classes[i] = float64(c)
	}
	return &logistic{scores{s}, newGLM(s.Features+1, withOnes(s.TrainX, s.Features), classes, withOnes(s.TestX, s.Features))}, nil
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

func (t *logistic) Potential(theta []float64) float64 {
	checkLen(t.dim, theta)
	u := halfSquares(theta)
	for i, c := range t.y.now[:t.rows] {
		z := dot(t.phi.row(i), theta)
		u += softplus(z) - c*z
	}
	return u
}

func (t *logistic) Gradient(g, theta []float64, rows Rows) {
	t.check(rows)
	checkLen(t.dim, g, theta)
	copy(g, theta)
	for i := rows.Lo; i < rows.Hi; i++ {
		x := t.phi.row(i)
		floats.AddScaled(g, rows.Scale*t.weight(i)*(sigmoid(dot(x, theta))-t.y.now[i]), x)
	}
}

func (t *logistic) HessianVector(hv, theta, v []float64, rows Rows) {
	t.check(rows)
	checkLen(t.dim, hv, theta, v)
	copy(hv, v)
	for i := rows.Lo; i < rows.Hi; i++ {
		x := t.phi.row(i)
		p := sigmoid(dot(x, theta))
		floats.AddScaled(hv, rows.Scale*t.weight(i)*p*(1-p)*dot(x, v), x)
	}
}

func (t *logistic) Predict(dst, theta []float64) {
	t.glm.Predict(dst, theta)
	for i, z := range dst {
		dst[i] = sigmoid(z)
	}
}

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
