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
	kernel.Combine(y, nil, Term{C: Coef{All: 1}, X: y}, Term{C: a, X: x})
}

// Combine stores the sum of the terms, at most ten, in dst, which may be one
// of the terms' vectors.
func Combine(dst []float64, terms ...Term) { kernel.Combine(dst, nil, terms...) }

// CombineRounded does the same and stores the sum, rounded to float32, in
// rounded, too.
func CombineRounded(dst []float64, rounded []float32, terms ...Term) {
	kernel.Combine(dst, rounded, terms...)
}

// Single returns n zeros of float32, aligned for the kernels.
func Single(n int) []float32 { return kernel.Aligned[float32](n) }
