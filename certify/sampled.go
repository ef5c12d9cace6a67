package certify

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/minibatch"
)

const (
	// sampledEpochs is how many random orders stand for all K! of them.
	sampledEpochs = 4000
	// sampledParts is how many means of successive epochs the standard error
	// is taken from; a part is far longer than the chain remembers.
	sampledParts = 20
	// forgotten is what the first epochs leave of where the chain began, and
	// partForgets the most that a part may leave of the one before: of longer
	// memories the standard error knows nothing.
	forgotten   = 1e-6
	partForgets = 1e-2
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
// means of parts, beside round-off. Nothing is known where the chain remembers too
// long.
func (p *preparedGaussian) sample(ctx context.Context, m minibatch.Method, rng *rand.Rand, everyStep bool) (point, error) {
	truth := p.truth()
	m.Visits = minibatch.Cycle{}
	walk, err := newPeriod(ctx, p.evolution(itself), m)
	if err != nil {
		return point{}, err
	}
	radius, slack := spectralRadius(p.meanMap(walk).change())
	if radius > 1+slack {
		return point{radius: radius}, nil
	}
	if !(math.Pow(radius, sampledEpochs/sampledParts) <= partForgets) {
		return lostPoint(len(gaussianObservables)), nil
	}
	law := walk.hold(truth)
	// epochs returns the mean of the moments over a number of epochs, less those
	// of the target.
	epochs := func(count int) []float64 {
		sum := make([]float64, len(truth))
		var add visitor = func(w float64, at []float64) { floats.AddScaled(sum, w/float64(count), at) }
		visit := add
		if !everyStep {
			visit = nil
		}
		for range count {
			if ctx.Err() != nil {
				break
			}
			for run := range walk.runs {
				for n, i := range rng.Perm(walk.sweep) {
					law = walk.step(law, i, run*walk.sweep+n+1, float64(p.inner)/float64(walk.length()), visit)
				}
			}
			if !everyStep {
				add(1, law[:walk.size])
			}
		}
		floats.Sub(sum, truth)
		return sum
	}
	epochs(int(math.Ceil(math.Log(forgotten) / math.Log(radius))))
	var parts [][]float64
	for range sampledParts {
		parts = append(parts, epochs(sampledEpochs/sampledParts))
	}
	if err := ctx.Err(); err != nil {
		return point{}, err
	}
	if !finite(law) {
		return lostPoint(len(gaussianObservables)), nil
	}
	off := 0.0
	for _, m := range p.kernels {
		off = max(off, m.off)
	}
	return p.engine.frame.observeParts(truth, parts, 2*off*float64(walk.length())/(1-radius)), nil
}

// observeParts turns independent estimates of a law's moments, less those of
// the target, into errors of the observables, where each estimate has a given
// round-off.
func (f *frame) observeParts(truth []float64, parts [][]float64, off float64) point {
	n, k := rank(truth), float64(len(parts))
	mean, unit := make([]float64, len(truth)), make([]float64, len(truth))
	for _, p := range parts {
		floats.AddScaled(mean, 1/k, p)
	}
	for i := range n - 1 {
		unit[i*n+i] = 1
	}
	of := func(moments []float64) []observation {
		return f.observe(truth, &settled{delta: moments, unit: unit, mean: off, perKernel: off}).observed
	}
	at := point{observed: of(mean)}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: k - 1}.Quantile(0.975)
	for o := range at.observed {
		x := &at.observed[o]
		along := direction(x.signed, o == 0)
		var values []float64
		for _, p := range parts {
			// The covariance's error is linear in the moments but for the square
			// of the mean, which is that of all parts.
			values = append(values, floats.Dot(along, of(p)[o].signed))
		}
		half := t * stat.StdErr(stat.StdDev(values, nil), k)
		x.relativeResolution += half
		if x.relative > 0 {
			x.resolution += half * x.error / x.relative
		}
	}
	return at
}

// direction is the linear form of a signed error that is its size: along the
// vector, or along the axis of a matrix's largest stretch.
func direction(signed []float64, vector bool) []float64 {
	if vector {
		out := slices.Clone(signed)
		if size := floats.Norm(out, 2); size > 0 {
			floats.Scale(1/size, out)
		}
		return out
	}
	value, axis := principalAxis(signed)
	v := mat.NewVecDense(len(axis), axis)
	var out mat.Dense
	out.Outer(math.Copysign(1, value), v, v)
	return out.RawMatrix().Data
}
