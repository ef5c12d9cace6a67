package gaussian

import (
	"slices"

	"hambench/certify/markov"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// affineMap is x⁺ = Mx + c + Nξ in a frame, on the homogeneous vector (x, 1). A
// law is the matrix E[(x,1)(x,1)ᵀ] of second moments: n × n, row-major, n = 1 +
// the phase space's dimension, its last element the mass. The map acts on it by
// the square matrix A = (M c; 0 1) and noise of covariance Q = NNᵀ (zero in the
// last row and column).
type affineMap struct {
	n    int        // of the homogeneous vector
	a, q *mat.Dense // n × n
	off  float64    // what round-off leaves of x⁺, for x and ξ of length 1
	far  float64    // the length of x at the batch's own mean, which a step may reckon with
	half []float64  // room for a product
}

// newAffineMap returns the map of everything to 0, without noise.
func newAffineMap(n int) *affineMap {
	m := &affineMap{n: n, a: mat.NewDense(n, n, nil), q: mat.NewDense(n, n, nil),
		half: make([]float64, n*n)}
	m.a.Set(n-1, n-1, 1)
	return m
}

// AddTo adds w(A S Aᵀ + s Q) to dst, s the mass of the law S.
func (m *affineMap) AddTo(dst []float64, w float64, law []float64) {
	half := general(m.half, m.n)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, m.a.RawMatrix(), general(law, m.n), 0, half)
	blas64.Gemm(blas.NoTrans, blas.Trans, w, half, m.a.RawMatrix(), 1, general(dst, m.n))
	floats.AddScaled(dst, w*law[len(law)-1], m.q.RawMatrix().Data)
}

// general is a row-major n × n matrix for blas.
func general(data []float64, n int) blas64.General {
	return blas64.General{Rows: n, Cols: n, Stride: n, Data: data}
}

// meanOf applies a map to first moments: a law is any number of vectors E s(x, 1) of
// length n, one after another, each with a weight s of its own.
type meanOf struct{ *affineMap }

// AddTo adds w times the images A E s(x, 1).
func (m meanOf) AddTo(dst []float64, w float64, law []float64) {
	rows := func(x []float64) blas64.General {
		return blas64.General{Rows: len(x) / m.n, Cols: m.n, Stride: m.n, Data: x}
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, w, rows(law), m.a.RawMatrix(), 1, rows(dst))
}

// asMeans lets a map act on first moments.
func asMeans(m *affineMap) markov.Operator { return meanOf{m} }

// unitNoise is the linear part of a map, with noise N(0, I).
func (m *affineMap) unitNoise() markov.Operator {
	out := newAffineMap(m.n)
	out.a.Copy(m.linear())
	for i := range m.n - 1 {
		out.q.Set(i, i, 1)
	}
	return out
}

// linear is M, a view.
func (m *affineMap) linear() *mat.Dense { return m.a.Slice(0, m.n-1, 0, m.n-1).(*mat.Dense) }

// change is the linear part less I, which is small where steps are.
func (m *affineMap) change() *mat.Dense {
	out := mat.DenseCopyOf(m.linear())
	for i := range m.n - 1 {
		out.Set(i, i, out.At(i, i)-1)
	}
	return out
}

// moments are the maps of an integrator's steps, by which moments of laws evolve. Maps are shared
// and not changed once they are made; each has room for a product, so that laws are advanced by one
// goroutine at a time.
type moments struct {
	n       int          // 1 + the phase space's dimension
	kernels []*affineMap // for each list of batches that a kernel takes, one for each weight
	weights []float64    // of the steps that a kernel mixes
	each    int          // batches that a kernel takes
	inner   int          // kernels between refreshments
	refresh *affineMap   // or nil
}

// evolution makes the evolution of laws in which each map acts as the argument says.
func (e *moments) evolution(as func(*affineMap) markov.Operator) markov.Evolution {
	out := markov.Evolution{Size: e.n * e.n, Mass: e.n*e.n - 1, Each: e.each, Inner: e.inner}
	for mixed := range slices.Chunk(e.kernels, len(e.weights)) { // in the order of probe.Lists
		sum := mixture{weights: e.weights}
		for _, m := range mixed {
			sum.parts = append(sum.parts, as(m))
		}
		out.Kernels = append(out.Kernels, sum)
	}
	if e.refresh != nil {
		out.Refresh = as(e.refresh)
	}
	return out
}

// asOperator lets a map act on second moments, as it does itself.
func asOperator(m *affineMap) markov.Operator { return m }

// mixture is a sum of operators with weights.
type mixture struct {
	parts   []markov.Operator
	weights []float64
}

// AddTo adds w times the sum of the images.
func (m mixture) AddTo(dst []float64, w float64, law []float64) {
	for i, part := range m.parts {
		part.AddTo(dst, w*m.weights[i], law)
	}
}
