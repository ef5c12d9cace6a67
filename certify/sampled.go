package certify

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/minibatch"
)

const (
	// sampledEpochs is how many random orders stand for all K! of them.
	sampledEpochs = 4000
	// sampledParts is how many means of successive epochs the standard error
	// is taken from; a part is far longer than the chain remembers.
	sampledParts = 20
	// forgotten is what the first epochs leave of where the chain began.
	forgotten = 1e-6
)

// tooMany reports whether a scheme's orders are too many to average over, but
// can be sampled.
func tooMany(m minibatch.Method, batches int) bool {
	_, permutation := m.Visits.(minibatch.Permutation)
	return permutation && batches > maxReshuffle
}

// sample advances the moments along random orders of the batches: noise is
// integrated out, only the order is random. Errors are those of the mean over
// the epochs' ends, each along the direction of its own largest part, and the
// resolution is half of a 95 % confidence interval by Student's law over the
// means of parts, beside round-off.
func (p *preparedGaussian) sample(ctx context.Context, rng *rand.Rand, everyStep bool) (point, error) {
	e := p.parts
	truth := extended(p.engine.parts.law, e.n)
	walk := &period{ctx: ctx, evolution: e, visits: minibatch.Cycle{}, inner: p.inner, sweep: e.batches(), runs: 1}
	radius, slack := meanRadius(walk.meanMap(e), e.n)
	if radius > 1+slack {
		return point{radius: radius}, nil
	}
	law := append([]float64(nil), truth...)
	epoch := func(dst []float64) {
		order := rng.Perm(e.batches())
		for n, i := range order {
			law = walk.step(law, i, n+1, 1, func(_ float64, at []float64) {
				if everyStep {
					addScaled(dst, float64(p.inner)/float64(len(order)), at)
				}
			})
		}
		if !everyStep {
			addScaled(dst, 1, law)
		}
	}
	for range int(math.Ceil(math.Log(forgotten) / math.Log(min(radius, 1-1e-3)))) {
		epoch(make([]float64, len(law)))
		if ctx.Err() != nil {
			return point{}, ctx.Err()
		}
	}
	var parts [][]float64
	for range sampledParts {
		sum := make([]float64, len(law))
		for range sampledEpochs / sampledParts {
			epoch(sum)
			if ctx.Err() != nil {
				return point{}, ctx.Err()
			}
		}
		scale(sum, sampledParts/float64(sampledEpochs))
		addScaled(sum, -1, truth)
		parts = append(parts, sum)
	}
	if !finite(law) {
		return lostPoint(len(gaussianObservables)), nil
	}
	return p.engine.frame.observeParts(truth, parts), nil
}

// observeParts turns independent estimates of a law's moments, less those of
// the target, into errors of the observables.
func (f *frame) observeParts(truth []float64, parts [][]float64) point {
	n := rank(truth)
	mean := make([]float64, len(truth))
	for _, p := range parts {
		addScaled(mean, 1/float64(len(parts)), p)
	}
	unit := make([]float64, len(truth))
	for i := range n - 1 {
		unit[i*n+i] = 1
	}
	at := f.observe(truth, &settled{delta: mean, unit: unit})
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(parts) - 1)}.Quantile(0.975)
	for o := range at.observed {
		x := &at.observed[o]
		along := direction(x.signed, o == 0)
		var sum, square float64
		for _, p := range parts {
			// The covariance's error is linear in the moments but for the square
			// of the mean, which is that of all parts.
			v := dot(along, f.observe(truth, &settled{delta: p, unit: unit}).observed[o].signed)
			sum, square = sum+v, square+v*v
		}
		k := float64(len(parts))
		half := t * math.Sqrt(max(0, square-sum*sum/k)/(k*(k-1)))
		if x.relative > 0 {
			x.resolution = half * x.error / x.relative
		}
		x.relativeResolution = half
	}
	return at
}

// direction is the linear form of a signed error that is its size: along the
// vector, or along the eigenvector of the largest absolute eigenvalue.
func direction(signed []float64, vector bool) []float64 {
	out := append([]float64(nil), signed...)
	if vector {
		if size := norm(out); size > 0 {
			scale(out, 1/size)
		}
		return out
	}
	n := rank(signed)
	var eig mat.EigenSym
	if !eig.Factorize(mat.NewSymDense(n, out), true) {
		return out
	}
	values := eig.Values(nil)
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	largest, sign := n-1, 1.0
	if math.Abs(values[0]) > math.Abs(values[n-1]) {
		largest, sign = 0, -1
	}
	out = make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i*n+j] = sign * vectors.At(i, largest) * vectors.At(j, largest)
		}
	}
	return out
}
