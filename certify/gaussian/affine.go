package gaussian

import (
	"slices"

	"hambench/integrators"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// matrix is P as a matrix of d rows, a view of the force's own numbers.
func matrix(f *integrators.Affine) *mat.Dense {
	return mat.NewDense(len(f.Shift), len(f.Shift), f.Precision)
}

// IsDefinite reports whether P is positive definite: whether the force is that of a normal law.
func IsDefinite(f *integrators.Affine) bool {
	var chol mat.Cholesky
	return chol.Factorize(mat.NewSymDense(len(f.Shift), slices.Clone(f.Precision)))
}

// Mean is the force of the full data: the mean over the batches, rounded.
func Mean(batches []*integrators.Affine) *integrators.Affine {
	d := len(batches[0].Shift)
	precision, shift := make([]float64, d*d), make([]float64, d)
	w := 1 / float64(len(batches)) // of each
	for _, b := range batches {
		floats.AddScaled(precision, w, b.Precision)
		floats.AddScaled(shift, w, b.Shift)
	}
	return integrators.NewAffine(precision, shift)
}
