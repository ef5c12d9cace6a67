// Package models holds the targets that are sampled: posterior densities
// ∝ exp(−U(θ)) of a model on the training rows of a data set.
//
// A Registry lists models; Builtin returns the paper's, and a program appends
// its own. A Model says which data it takes and makes a Target of a
// datasets.Split: potential U, gradients over any of the rows, predictions at
// the test rows, draws from the prior. A Source makes targets by name.
//
// A target says what else it can do by the interfaces that it implements, and
// that alone decides where it takes part: Analytic has an exact oracle (others
// get reference chains), Scorer appears in tables, Hessian runs under mt3,
// LinearGaussian under the exact flow, Gatherer takes rows in weighted lists.
// A process in any language can be a model, exec:CMD, but only of a Source.
//
// Gradients over a batch are scaled: of K batches, batch i gives K∇U_i, with
// the prior's part once, so that their mean is ∇U.
//
// Fingerprint names the numbers that a model on a split computes, KernelDigest
// those of this machine's kernels: results are stored under the first, with
// the second.
package models

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"hambench/internal/kernel"
	"hambench/internal/mlp"
)

// Rows are the data rows [Lo, Hi) of a target's current arrangement, or of the
// list that a Gatherer keeps after them, with a factor for their negative
// log-likelihood.
type Rows struct {
	Lo, Hi int
	Scale  float64
}

// Target is a posterior density ∝ exp(−U(θ)). A Target holds scratch space
// and an arrangement of its rows: it serves one chain.
type Target interface {
	// Dim is the number of parameters.
	Dim() int
	// Rows is the number of training rows.
	Rows() int
	// Arrange puts the rows into a new order: row i becomes row order[i] of
	// the data as they were given. nil restores that order.
	Arrange(order []int)
	// Potential returns U(θ) up to a constant, over all rows, in float64.
	Potential(theta []float64) float64
	// Gradient stores Scale × the gradient of the rows' negative
	// log-likelihood plus the gradient of the negative log-prior in g.
	Gradient(g, theta []float64, rows Rows)
	// Outputs is the number of predictive values: f(x*) at each test input (in
	// standardised units), or the probability of each class (of two classes,
	// only the second's), one test input after another.
	Outputs() int
	// Predict stores the predictive values at theta in dst, of length Outputs.
	Predict(dst, theta []float64)
	// DrawPrior replaces the standard normals in dst by a draw from the prior
	// that is made of them.
	DrawPrior(dst []float64)
}

// Hessian is a Target with exact Hessian-vector products.
type Hessian interface {
	Target
	// HessianVector stores the product of the Hessian of what Gradient
	// differentiates with v in hv.
	HessianVector(hv, theta, v []float64, rows Rows)
}

// Curvature returns a function for products of a vector with the Hessian, at theta,
// of what Gradient differentiates over the rows: the target's own product if it has
// one, else a central difference of gradients over a step that leaves half the
// digits of a float32 gradient.
func Curvature(t Target, theta []float64, rows Rows) func(dst, v []float64) {
	if h, ok := t.(Hessian); ok {
		return func(dst, v []float64) { h.HessianVector(dst, theta, v, rows) }
	}
	n := float64(len(theta))
	e := 1e-3 * (1 + floats.Norm(theta, 2)/math.Sqrt(n))
	at, back := make([]float64, len(theta)), make([]float64, len(theta))
	return func(dst, v []float64) {
		t.Gradient(dst, floats.AddScaledTo(at, theta, e, v), rows)
		t.Gradient(back, floats.AddScaledTo(at, theta, -e, v), rows)
		floats.Sub(dst, back)
		floats.Scale(1/(2*e), dst)
	}
}

// Fused is a Target that carries out parts of a step over given rows itself, as
// integrators.FusedForce specifies, which costs less.
type Fused interface {
	Hessian
	// Kick is integrators.FusedForce.Kick on the given rows.
	Kick(drift kernel.Coef, u *kernel.Update, n mlp.Noise, ahead any, rows Rows) any
	// At is integrators.FusedForce.At on the given rows.
	At(x []float64, xs []kernel.Summand, v []float64, vs []kernel.Summand, rows Rows) (gradient, product kernel.Summand)
}

// Scorer is a Target that judges its predictions by the test targets.
type Scorer interface {
	Target
	// Scores returns the test scores of posterior draws, draws[sample][output]
	// as Predict stores them: rmse and mnll in the target's own units, and the
	// coverage of 90 % intervals, for regression; accuracy, mnll and the expected
	// calibration error (ece) for classification. The map is empty without test
	// targets or without draws.
	Scores(draws [][]float64) map[string]float64
}

// Analytic is a Target whose posterior is known in closed form.
type Analytic interface {
	Target
	// PredictiveMarginals returns the mean and the standard deviation of the
	// normal posterior law of each output. The caller must not change them.
	PredictiveMarginals() (mean, sd []float64)
	// DrawPosterior replaces the standard normals in dst by a draw from the
	// posterior that is made of them.
	DrawPosterior(dst []float64)
}

// LinearGaussian is a Target whose gradient is affine in θ.
type LinearGaussian interface {
	Target
	// Affine returns P (row-major, Dim × Dim, symmetric positive definite)
	// and s such that Gradient stores Pθ − s for these rows.
	Affine(rows Rows) (precision, shift []float64)
}

// checkLen panics if a vector does not have length want.
func checkLen(want int, vectors ...[]float64) {
	for _, v := range vectors {
		if len(v) != want {
			panic(fmt.Sprintf("models: vector of length %d: want %d", len(v), want))
		}
	}
}

// halfSquares is ½ |x|², the negative log-density of N(0, I) up to a
// constant.
func halfSquares(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return s / 2
}
