// Package models holds the targets that are sampled: posterior densities
// ∝ exp(−U(θ)) of a model on the training rows of a data set.
//
// A [Registry] lists models; [Builtin] returns the paper's, and a program appends
// its own. A [Model] says which data it takes and makes a [Target] of a
// datasets.Split: potential U, gradients over any of the rows, predictions at
// the test rows, draws from the prior. A [Source] makes targets by name.
//
// A target says what else it can do by the interfaces that it implements, and
// that alone decides where it takes part. [CapabilitiesOf] is where the program
// asks: an [Analytic] target has an exact oracle (others get reference chains), a
// [Scorer] appears in tables, a [Hessian] runs under mt3, a [LinearGaussian] under
// the exact flow, and a [Gatherer] takes rows in weighted lists.
//
// An external model, exec:CMD, is a process in any language. Only a Source makes
// targets of it, since the Source keeps its processes.
//
// Gradients over a batch are scaled: of K batches, batch i gives K∇U_i, with
// the prior's part once, so that their mean is ∇U.
//
// [Fingerprint] digests the numbers that a model on a split computes, and
// [KernelDigest] those of this machine's kernels. The first is part of the key
// under which results are stored; the second is stored with them.
package models

import (
	"fmt"

	"hambench/internal/rows"
)

// Rows names the data rows [Lo, Hi) of a target's current arrangement, or of the list
// that a Gatherer keeps behind them, with the factor Scale (a float64) of their negative
// log-likelihood: K for one of K batches.
type Rows = rows.Range

// Target is a posterior density ∝ exp(−U(θ)), with U the sum over the training
// rows of −log p(y_i | x_i, θ), plus −log p(θ). A Target holds scratch space and
// an arrangement of its rows, so it serves one chain. Vectors of another length
// than a method asks for, and rows out of range, are the caller's mistake: the
// built-in targets panic.
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
	// log-likelihood plus the gradient of the negative log-prior in g. Both
	// vectors have length Dim.
	Gradient(g, theta []float64, rows Rows)
	// Outputs is the number of predictive values: f(x*) at each test input (in
	// standardised units), or the probability of each class (of two classes,
	// only the second's), one test input after another.
	Outputs() int
	// Predict stores the predictive values at theta in dst, of length Outputs.
	Predict(dst, theta []float64)
	// DrawPrior turns dst, Dim independent standard normals, into a draw from
	// the prior, in place.
	DrawPrior(dst []float64)
}

// checkLen panics if a vector does not have length want.
func checkLen(want int, vectors ...[]float64) {
	for _, v := range vectors {
		if len(v) != want {
			panic(fmt.Sprintf("models: vector of length %d: want %d", len(v), want))
		}
	}
}

// halfSquares returns ½|x|², the negative log-density of N(0, I) up to a constant.
func halfSquares(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return s / 2
}
