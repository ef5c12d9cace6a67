package models

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hambench/models/datasets"
)

// logistic is logistic regression with an intercept,
// P(second class | x) = s(θᵀφ(x)), s(z) = 1/(1 + e^−z), φ(x) = (1, x), with the
// prior N(0, I). Observations are 0 for the first class and 1 for the second.
type logistic struct {
	scores
	glm
}

// ofClasses returns the options of the network that takes its place on more than
// two classes: no hidden layer, softmax(Wx/√D + b), with the prior N(0, I).
func ofClasses(o Options) Options {
	o.Hidden = []int{}
	return o
}

// logisticDim is the number of parameters on data of a shape.
func logisticDim(s datasets.Shape, o Options) int {
	if s.Classes > 2 {
		return networkDim(s, ofClasses(o))
	}
	return s.Features + 1
}

// newLogistic returns a logistic regression of two classes, a network of more.
func newLogistic(s *datasets.Split, o Options) (Target, error) {
	if s.Classes > 2 {
		return newBNN(s, ofClasses(o))
	}
	classes := make([]float64, len(s.TrainLabels))
	for i, c := range s.TrainLabels {
		classes[i] = float64(c)
	}
	train, test := withOnes(s.TrainX, s.Features), withOnes(s.TestX, s.Features)
	return &logistic{scores{s}, newGLM(s.Features+1, train, classes, test)}, nil
}

// withOnes returns the rows (1, x) of the rows of x, both row-major.
func withOnes(x []float64, width int) []float64 {
	var out []float64
	for lo := 0; lo < len(x); lo += width {
		out = append(append(out, 1), x[lo:lo+width]...)
	}
	return out
}

func (t *logistic) Name() string { return "logistic" }

// Parameters implements Named.
func (t *logistic) Parameters() []string { return t.affineParameters() }

// Loss implements Likelihood.
func (t *logistic) Loss(theta []float64) float64 { return t.Potential(theta) - halfSquares(theta) }

// Potential returns ½|θ|² + Σ_i log(1 + exp(z_i)) − c_i z_i, with z_i = θᵀφ(x_i) and
// the class c_i.
func (t *logistic) Potential(theta []float64) float64 {
	checkLen(t.dim, theta)
	u := halfSquares(theta)
	for i, c := range t.observed() {
		z := dot(t.phi.row(i), theta)
		u += softplus(z) - c*z
	}
	return u
}

// Gradient stores θ + Scale Σ_i w_i (s(z_i) − c_i) φ(x_i), with the rows' weights w_i.
func (t *logistic) Gradient(g, theta []float64, rows Rows) {
	t.check(rows)
	checkLen(t.dim, g, theta)
	copy(g, theta)
	for i := rows.Lo; i < rows.Hi; i++ {
		x := t.phi.row(i)
		floats.AddScaled(g, rows.Scale*t.weight(i)*(sigmoid(dot(x, theta))-t.y.now[i]), x)
	}
}

// HessianVector stores v + Scale Σ_i w_i s(z_i)(1 − s(z_i)) (φ(x_i)ᵀv) φ(x_i).
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

// Predict stores the probability of the second class at each test input.
func (t *logistic) Predict(dst, theta []float64) {
	t.glm.Predict(dst, theta)
	for i, z := range dst {
		dst[i] = sigmoid(z)
	}
}

// dot is aᵀb, summed from the first element on: its rounding is part of the
// fingerprints of results.
func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// sigmoid is 1/(1 + e^−z). Where e^−z overflows to +Inf, the quotient is the right 0.
func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// softplus is log(1 + e^z), written so that neither e^z nor the sum overflows.
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
