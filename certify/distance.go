package certify

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/chain/minibatch"
)

// distances returns the distances between the stationary law of θ at a point and the
// target; NaN where there is no law, or none that is known.
func (c *certification) distances(ctx context.Context, at point) (kolmogorov, wasserstein float64,
	err error) {
	if at.unstable() || math.IsInf(at.observed[0].relativeResolution, 1) {
		return math.NaN(), math.NaN(), nil
	}
	prep, err := c.asked.prepared(at.h)
	if err != nil {
		return 0, 0, err
	}
	if p, ok := prep.(*preparedSpectral); ok {
		return p.distances(ctx, c.scheme, c.options.EveryStep)
	}
	kolmogorov, wasserstein = normalDistances(c.asked.engine.(*gaussianEngine).frame.axes(),
		at.observed[0].signed, at.observed[1].signed)
	return kolmogorov, wasserstein, nil
}

// normalDistances are those between N(mean, I + change) and N(0, I): Kolmogorov's of
// the marginals along the axes, the largest, and Wasserstein's.
func normalDistances(axes [][]float64, mean, change []float64) (kolmogorov, wasserstein float64) {
	d := len(mean)
	for _, a := range axes {
		v := mat.NewVecDense(d, a)
		kolmogorov = max(kolmogorov, kolmogorovNormal(floats.Dot(a, mean), mat.Inner(v,
			mat.NewDense(d, d, change), v)))
	}
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

// kolmogorovNormal is the distance of N(m, 1 + x) from N(0, 1). The difference of
// the distribution functions is largest where the densities cross.
func kolmogorovNormal(m, x float64) float64 {
	v := 1 + x
	a, b, c := x/v, 2*m/v, -m*m/v-math.Log1p(x)
	q := -(b + math.Copysign(math.Sqrt(max(0, b*b-4*a*c)), b)) / 2
	most := 0.0
	for _, at := range []float64{q / a, c / q} {
		if !math.IsNaN(at) && !math.IsInf(at, 0) {
			most = max(most, math.Abs(distuv.UnitNormal.CDF(at)-distuv.UnitNormal.CDF((at-m)/math.Sqrt(v))))
		}
	}
	return most
}

// distancesAgree is how far, relatively, distances on two rungs may be apart. The
// density of a law that is not normal converges slowly at single points, and so
// does Kolmogorov's distance.
const distancesAgree = 0.03

// distances climbs the ladder until two rungs agree.
func (p *preparedSpectral) distances(ctx context.Context, m minibatch.Scheme,
	everyStep bool) (kolmogorov, wasserstein float64, err error) {
	kolmogorov, wasserstein = math.NaN(), math.NaN()
	for i := range p.engine.ladder {
		r := p.rung(i)
		found, err := r.solve(ctx, m, everyStep)
		if err != nil {
			return 0, 0, err
		}
		if found.signed == nil {
			continue
		}
		k, w := p.engine.narrow.theta.distances(r.basis, found.law, p.engine.observed[0].sd)
		if math.Abs(k-kolmogorov) <= distancesAgree*k && math.Abs(w-wasserstein) <= distancesAgree*w {
			return k, w, nil
		}
		kolmogorov, wasserstein = k, w
	}
	return math.NaN(), math.NaN(), nil
}

// distances returns those between a density and the law that a basis's
// coefficients add to it. Wasserstein's, over the standard deviation, is the
// length of the way that takes each quantile to its like.
func (d *density) distances(b *basis, law []float64, sd float64) (kolmogorov, wasserstein float64) {
	n, p := len(d.x), make([]float64, b.widths[0])
	before, after, slope, moved := make([]float64, n), make([]float64, n), make([]float64, n), 0.0
	width, sum := d.x[1]-d.x[0], 0.0
	for i, x := range d.x {
		more := 0.0
		if d.w[i] > 0 {
			b.theta.values(p, x)
			more = d.w[i] * floats.Dot(p, law[:len(p)])
		}
		before[i], after[i] = sum+d.w[i]/2, sum+d.w[i]/2+moved+more/2
		kolmogorov = max(kolmogorov, math.Abs(moved+more/2))
		slope[i] = (d.w[i] + more) / width
		sum, moved = sum+d.w[i], moved+more
	}
	var to interp.PiecewiseCubic
	to.FitWithDerivatives(d.x, after, slope)
	most := floats.Max(d.w)
	for i, x := range d.x {
		if d.w[i] < relevantDensity*relevantDensity*relevantDensity*most {
			continue
		}
		low, high := d.x[0], d.x[n-1]
		for range 60 { // to round-off
			if y := (low + high) / 2; to.Predict(y) < before[i] {
				low = y
			} else {
				high = y
			}
		}
		wasserstein += d.w[i] * (low - x) * (low - x)
	}
	return kolmogorov, math.Sqrt(wasserstein) / sd
}
