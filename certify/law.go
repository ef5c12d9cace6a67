package certify

import (
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
)

// Draws returns n independent draws of the target, by position: [position][draw]. Of a scalar
// problem the distribution function is the trapezoidal sum of exp(−U) at lawPoints places, as
// far out as the density is above e⁻⁵⁰ of its largest value.
func (p *Problem) Draws(n int, rng *rand.Rand) [][]float64 {
	out := make([][]float64, p.Dim())
	for d := range out {
		out[d] = make([]float64, n)
	}
	if p.Kind == Gaussian {
		target := gaussian.Mean(p.gaussian)
		var c mat.Cholesky
		c.Factorize(mat.NewSymDense(p.Dim(), target.Precision)) // definite: checkMean
		var centre mat.VecDense
		_ = c.SolveVecTo(&centre, mat.NewVecDense(p.Dim(), target.Shift)) // ill-conditioned is no matter
		var upper mat.TriDense
		c.UTo(&upper)
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
		return out
	}
	const lawPoints, deepest = 40_001, 50
	var stiffness, pull, swing float64
	for _, o := range p.scalar {
		stiffness += o.Stiffness / float64(len(p.scalar))
		pull += o.Stiffness * o.Center / float64(len(p.scalar))
		swing += math.Abs(o.Amplitude) / float64(len(p.scalar))
	}
	centre, half := pull/stiffness, math.Sqrt(2*(deepest+2*swing)/stiffness)
	at := func(i float64) float64 { return centre + half*(2*i/(lawPoints-1)-1) }
	potential := func(i int) (u float64) {
		for _, o := range p.scalar {
			u += o.Value(at(float64(i))) / float64(len(p.scalar))
		}
		return u
	}
	middle := potential(lawPoints / 2)
	below := make([]float64, lawPoints)
	for i := 1; i < lawPoints; i++ {
		below[i] = below[i-1] + math.Exp(middle-potential(i-1)) + math.Exp(middle-potential(i))
	}
	for k := range out[0] {
		u := rng.Float64() * below[lawPoints-1]
		i := min(max(1, sort.SearchFloat64s(below, u)), lawPoints-1)
		out[0][k] = at(float64(i-1) + (u-below[i-1])/(below[i]-below[i-1]))
	}
	return out
}
