package markov

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Epsilon is the relative rounding of float64.
const Epsilon = 0x1p-53

// Still is a step, over the time of the fastest rate, in which next to nothing moves.
const Still = 1e-7

// Unit is the i-th of n unit vectors.
func Unit(n, i int) []float64 {
	out := make([]float64, n)
	out[i] = 1
	return out
}

// Stretch is the largest absolute eigenvalue of a symmetric matrix (row-major): +Inf if an
// element is infinite, NaN if one is NaN.
func Stretch(x []float64) float64 {
	n, most := Rank(x), Largest(x)
	if most == 0 || !Finite(x) {
		return most
	}
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			// Blocks of nothing but denormal numbers make lapack's scaling panic.
			if v := x[i*n+j] / most; math.Abs(v) > Epsilon*Epsilon {
				scaled.SetSym(i, j, v)
			}
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(scaled, false) {
		return floats.Norm(x, 2) // Frobenius' norm is above it
	}
	values := eig.Values(nil)
	return most * max(-values[0], values[n-1])
}

// Rank is the number of rows of a square matrix.
func Rank(a []float64) int { return int(math.Round(math.Sqrt(float64(len(a))))) }

// SpectralRadius is that of a map given by its difference from the identity,
// which is small where steps are, and by how much round-off may have it above 1.
// It is NaN if it is not found.
func SpectralRadius(change *mat.Dense) (radius, slack float64) {
	if !Finite(change.RawMatrix().Data) {
		return math.Inf(1), 0
	}
	values, ok := Eigenvalues(change)
	if !ok {
		return math.NaN(), 0
	}
	above := math.Inf(-1)
	for _, v := range values {
		above = max(above, 2*real(v)+real(v)*real(v)+imag(v)*imag(v)) // |1 + v|² − 1
	}
	n, _ := change.Dims()
	return math.Sqrt(max(0, 1+above)), 16 * Epsilon * float64(n+1) * (1 + mat.Norm(change, 2))
}

// Eigenvalues are those of a square matrix, if they are found. Where the QR iteration
// does not converge on a matrix of fewer than 49 rows, gonum panics (its Dhseqr hands
// on too short a slice); the transpose has the same eigenvalues, and mostly converges.
func Eigenvalues(m *mat.Dense) (values []complex128, ok bool) {
	try := func(m mat.Matrix) (ok bool) {
		defer func() { _ = recover() }()
		var eig mat.Eigen
		if ok = eig.Factorize(m, mat.EigenNone); ok {
			values = eig.Values(nil)
		}
		return ok
	}
	ok = try(m) || try(m.T())
	return values, ok
}

// Largest is the largest absolute element.
func Largest(x []float64) float64 { return floats.Norm(x, math.Inf(1)) }

// Finite reports whether there is neither an infinity nor a NaN.
func Finite(x []float64) bool {
	most := Largest(x)
	return !math.IsNaN(most) && !math.IsInf(most, 0)
}
