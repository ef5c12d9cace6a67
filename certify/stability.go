package certify

import (
	"context"
	"math"

	"hambench/chain/minibatch"
)

// stepsPerOctave is the number of steps tried in a factor of 2.
const stepsPerOctave = 8

// costChain is an integrator at one step size on a problem.
type costChain interface {
	// radius is by what factor second moments grow over a period of a scheme.
	radius(ctx context.Context, m minibatch.Scheme) (growth, error)
	// accuracies are those of averages over all outer steps; nil if the chain has no
	// stationary law, or none that is known. A quick answer may take the chain for a
	// normal process; final says that no other answer is to be had.
	accuracies(ctx context.Context, m minibatch.Scheme, quick bool) (all []accuracy, final bool,
		err error)
}

// growth is a spectral radius.
type growth struct {
	known  bool
	radius float64
	slack  float64 // how far round-off may have it from 1
}

// newSearch returns the search for steps of an integrator, which at puts at a step.
func newSearch(ctx context.Context, m minibatch.Scheme, inner int, p pace,
	at func(h float64) (costChain, error)) *search {
	return &search{ctx: ctx, at: at, scheme: m, inner: inner, pace: p,
		tried: make(map[tried][]accuracy)}
}

// search looks for steps of an integrator under a scheme.
type search struct {
	ctx    context.Context
	at     func(h float64) (costChain, error) // the integrator at a step
	scheme minibatch.Scheme
	inner  int // N_l
	pace   pace

	limit float64 // the largest stable step, or where the search for averages begins
	tried map[tried][]accuracy
	final bool // quick answers are the others, too
}

// stableStep finds the largest step at which the second moments of a chain are bounded,
// 0 if there is none and +Inf if all are. It is known where the law far out is, which
// decides what is stable, and where round-off does not hide it. Where it is not known, as
// of potentials that are no oscillators and of thermostats, it is where the search for
// averages begins.
func (s *search) stableStep() (limit float64, known bool, err error) {
	s.limit, known, err = s.largestStable()
	return s.limit, known, err
}

// largestStable goes up from an eighth of the fastest rate's time, or down from there, and
// halves the interval in which the chain becomes unstable.
func (s *search) largestStable() (limit float64, known bool, err error) {
	const first, lowest, highest = -3 * stepsPerOctave, -40 * stepsPerOctave, 14 * stepsPerOctave
	unit, last := 1/s.pace.fast, growth{}
	at := func(j int) float64 { return unit * math.Exp2(float64(j)/stepsPerOctave) }
	stable := func(h float64) bool {
		if err == nil {
			err = s.ctx.Err()
		}
		if err != nil {
			return false
		}
		var c costChain
		if c, err = s.at(h); err == nil {
			last, err = c.radius(s.ctx, s.scheme)
		}
		if !last.known {
			return h < 4*unit
		}
		return last.radius < 1
	}
	j, by := first, 1
	ok := stable(at(j))
	if !ok {
		by = -1
	}
	for up := ok; err == nil && ok == up; ok = stable(at(j)) {
		switch j += by; {
		case j > highest:
			return math.Inf(1), last.known, nil
		case j < lowest:
			return 0, last.known && math.Abs(last.radius-1) > last.slack, nil
		}
	}
	if ok { // found on the way down
		j++
	}
	low, high := at(j-1), at(j)
	for err == nil && high-low > 1e-5*high {
		if middle := (low + high) / 2; stable(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, last.known, err
}
