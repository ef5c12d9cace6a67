package certify

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/certify/spectral"
)

// Draws returns n independent draws of the target, by position: [position][draw].
// A scalar target that is beyond every grid is a usage error.
func (p *Problem) Draws(n int, rng *rand.Rand) ([][]float64, error) {
	switch p.Kind {
	case Scalar:
		return p.scalar.Draws(n, rng)
	case Crossing:
		e, err := spectral.NewCrossing(p.valleys, p.Friction)
		if err != nil {
			return nil, err
		}
		return e.Draws(n, rng), nil
	}
	out := make([][]float64, p.Dim())
	for d := range out {
		out[d] = make([]float64, n)
	}
	target := gaussian.Mean(p.gaussian)
	var c mat.Cholesky
	c.Factorize(mat.NewSymDense(p.Dim(), target.Precision)) // definite: checkMean
	var centre mat.VecDense
	// That the matrix is ill-conditioned is no matter.
	_ = c.SolveVecTo(&centre, mat.NewVecDense(p.Dim(), target.Shift))
	var upper mat.TriDense
	c.UTo(&upper)
	// Draw by draw, so that fewer draws by the same numbers are the first ones of more.
	for i := range n {
		z := mat.NewVecDense(p.Dim(), nil)
		for d := range out {
			z.SetVec(d, rng.NormFloat64())
		}
		_ = z.SolveVec(&upper, z) // P = UᵀU, so that U⁻¹z has the covariance P⁻¹
		for d := range out {
			out[d][i] = centre.AtVec(d) + z.AtVec(d)
		}
	}
	return out, nil
}
