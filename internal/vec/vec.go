// Package vec holds the element-wise vector updates of a sampler's step.
//
// All vectors of one call have the same length; the functions work in place
// and allocate nothing.
package vec

import "hambench/internal/kernel"

// Update is one pass over a state, Coef one of its coefficients, and Term
// one term c∘x of a linear combination.
type (
	Update = kernel.Update
	Coef   = kernel.Coef
	Term   = kernel.Summand
)

// AddScaled adds a∘x to y.
func AddScaled(y []float64, a Coef, x []float64) {
	kernel.Combine(y, Term{C: Coef{All: 1}, X: y}, Term{C: a, X: x})
}

// Combine stores the sum of the terms, at most eight, in dst, which may be
// one of the terms' vectors.
func Combine(dst []float64, terms ...Term) { kernel.Combine(dst, terms...) }
