package spectral

import (
	"context"
	"math"

	"hambench/certify/markov"
	"hambench/chain/minibatch"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/interp"
)

// distancesAgree is how far, relatively, distances on two rungs may be apart. The
// density of a law that is not normal converges slowly at single points, and so
// does Kolmogorov's distance.
const distancesAgree = 0.03

// Distances climbs the ladder until two rungs agree. Wasserstein's is in units of the
// target's standard deviation.
func (p *Chain) Distances(ctx context.Context, m minibatch.Scheme, _ markov.Point,
	everyStep bool) (kolmogorov, wasserstein float64, err error) {
	kolmogorov, wasserstein = math.NaN(), math.NaN()
	if p.space != p.engine.narrow { // laws are expanded in another one
		return kolmogorov, wasserstein, nil
	}
	// A rung without a law is passed over.
	for i := range p.engine.ladder {
		r := p.rung(i)
		if r == nil {
			continue
		}
		found, err := r.solve(ctx, m, everyStep)
		if err != nil {
			return 0, 0, err
		}
		if found.signed == nil {
			continue
		}
		k, w := p.engine.narrow.theta.distances(r.basis, found.law, p.engine.observed[0].sd)
		agree := math.Abs(k-kolmogorov) <= distancesAgree*k &&
			math.Abs(w-wasserstein) <= distancesAgree*w
		// NaN, before there is a rung to compare with, does not agree.
		if agree {
			return k, w, nil
		}
		kolmogorov, wasserstein = k, w
	}
	return math.NaN(), math.NaN(), nil
}

// distances returns those between a density and the law that a basis's
// coefficients add to it. Wasserstein's, over the standard deviation sd, is the
// length of the way that takes each quantile to its like. Only coefficients without a
// polynomial of r, which come first, count for the law of θ.
func (d *density) distances(b *basis, law []float64, sd float64) (kolmogorov, wasserstein float64) {
	n, p := len(d.x), make([]float64, b.widths[0])
	// Distribution functions at the grid's points, of the density and of the law, and the
	// law's density there.
	before, after, slope := make([]float64, n), make([]float64, n), make([]float64, n)
	width, sum, moved := d.x[1]-d.x[0], 0.0, 0.0
	for i, x := range d.x {
		more := 0.0
		if d.w[i] > 0 { // the polynomials are large where there is no weight
			b.theta.values(p, x)
			more = d.w[i] * floats.Dot(p, law[:len(p)])
		}
		// Half of a point's own mass is below it, as in the trapezoidal rule.
		before[i], after[i] = sum+d.w[i]/2, sum+d.w[i]/2+moved+more/2
		kolmogorov = max(kolmogorov, math.Abs(moved+more/2))
		slope[i] = (d.w[i] + more) / width
		sum, moved = sum+d.w[i], moved+more
	}
	// Each point goes to where the law's distribution function has the same value.
	var to interp.PiecewiseCubic
	to.FitWithDerivatives(d.x, after, slope)
	most := floats.Max(d.w)
	for i, x := range d.x {
		// Points of no weight add nothing, and quantiles are not known there.
		if d.w[i] < relevantDensity*relevantDensity*relevantDensity*most {
			continue
		}
		low, high := d.x[0], d.x[n-1]
		for range 60 { // bisection, to round-off
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
