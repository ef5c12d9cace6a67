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
		above = max(above, beyondOne(v))
	}
	n, _ := change.Dims()
	return math.Sqrt(max(0, 1+above)), 16 * Epsilon * float64(n+1) * (1 + mat.Norm(change, 2))
}

// beyondOne is |1 + v|² − 1, without loss where v is small.
func beyondOne(v complex128) float64 {
	return 2*real(v) + real(v)*real(v) + imag(v)*imag(v)
}

// Eigenvalues are those of a square matrix, if they are found. Where the QR iteration
// does not converge on a matrix of fewer than 49 rows, gonum panics (its Dhseqr hands
// on too short a slice); the transpose has the same eigenvalues, and mostly converges.
func Eigenvalues(m *mat.Dense) (values []complex128, ok bool) {
	if values, _, ok = eigen(m, mat.EigenNone); !ok {
		values, _, ok = eigen(m.T(), mat.EigenNone)
	}
	return values, ok
}

// eigen factorizes a matrix, if that can be done.
func eigen(m mat.Matrix, kind mat.EigenKind) (values []complex128, vectors *mat.CDense, ok bool) {
	defer func() { _ = recover() }() // as Eigenvalues says
	var eig mat.Eigen
	if !eig.Factorize(m, kind) {
		return nil, nil, false
	}
	values = eig.Values(nil)
	if kind&mat.EigenRight != 0 {
		vectors = new(mat.CDense)
		eig.VectorsTo(vectors)
	}
	return values, vectors, true
}

// outermost is the eigenvalue v of a square matrix with the largest |1 + v| and, if it is found,
// its vector, of length 1.
func outermost(m *mat.Dense) (value complex128, vector []complex128, ok bool) {
	values, vectors, ok := eigen(m, mat.EigenRight)
	if !ok {
		if values, ok = Eigenvalues(m); !ok {
			return 0, nil, false
		}
	}
	at := 0
	for i, v := range values {
		if beyondOne(v) > beyondOne(values[at]) {
			at = i
		}
	}
	if vectors == nil {
		return values[at], nil, true
	}
	for i := range values {
		vector = append(vector, vectors.At(i, at))
	}
	return values[at], vector, true
}

// Largest is the largest absolute element.
func Largest(x []float64) float64 { return floats.Norm(x, math.Inf(1)) }

// Finite reports whether there is neither an infinity nor a NaN.
func Finite(x []float64) bool {
	most := Largest(x)
	return !math.IsNaN(most) && !math.IsInf(most, 0)
}
