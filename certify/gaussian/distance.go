package gaussian

import (
	"context"
	"math"
	"slices"

	"hambench/certify/markov"
	"hambench/chain/minibatch"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Distances returns the largest distance of Kolmogorov between the marginals of θ along the
// target's axes and the target's, and Wasserstein's of order 2 in the frame, both of the
// normal law with the moments at a point.
func (p *Chain) Distances(_ context.Context, _ minibatch.Scheme, at markov.Point,
	_ bool) (kolmogorov, wasserstein float64, err error) {
	f := p.engine.frame
	kolmogorov, wasserstein = normalDistances(f.axes(f.d), at.Observed[0].Signed,
		at.Observed[1].Signed)
	return kolmogorov, wasserstein, nil
}

// normalDistances are those between N(mean, I + change) and N(0, I): Kolmogorov's of
// the marginals along the axes, the largest, and Wasserstein's.
func normalDistances(axes [][]float64, mean, change []float64) (kolmogorov, wasserstein float64) {
	// Along an axis the law is normal with its mean and variance there.
	d := len(mean)
	for _, a := range axes {
		v := mat.NewVecDense(d, a)
		kolmogorov = max(kolmogorov, KolmogorovNormal(floats.Dot(a, mean), mat.Inner(v,
			mat.NewDense(d, d, change), v)))
	}
	// With I for one of the covariances, Wasserstein's is |mean|² + Σ (√λ − 1)², squared.
	var eig mat.EigenSym
	if !eig.Factorize(mat.NewSymDense(d, slices.Clone(change)), false) {
		return kolmogorov, math.NaN()
	}
	wasserstein = floats.Norm(mean, 2)
	for _, x := range eig.Values(nil) {
		wasserstein = math.Hypot(wasserstein, x/(math.Sqrt(1+x)+1)) // √(1 + x) − 1
	}
	return kolmogorov, wasserstein
}

// KolmogorovNormal is the distance of N(m, 1 + x) from N(0, 1). The difference of
// the distribution functions is largest where the densities cross.
func KolmogorovNormal(m, x float64) float64 {
	// There ax² + bx + c = 0; its roots in the form that does not cancel.
	v := 1 + x
	// The logarithm of the densities' ratio is half of this polynomial at the point.
	a, b, c := x/v, 2*m/v, -m*m/v-math.Log1p(x)
	q := -(b + math.Copysign(math.Sqrt(max(0, b*b-4*a*c)), b)) / 2
	most := 0.0
	for _, at := range []float64{q / a, c / q} {
		if !math.IsNaN(at) && !math.IsInf(at, 0) {
			target, law := distuv.UnitNormal.CDF(at), distuv.UnitNormal.CDF((at-m)/math.Sqrt(v))
			most = max(most, math.Abs(target-law))
		}
	}
	return most
}
