package cost

import (
	"context"
	"math"

	"hambench/certify/markov"
	"hambench/chain/minibatch"
)

// stepsPerOctave is the number of steps tried in a factor of 2.
const stepsPerOctave = 8

// Chain is an integrator at one step size on a problem.
type Chain interface {
	// Radius is by what factor second moments grow over a period of a scheme.
	Radius(ctx context.Context, m minibatch.Scheme) (Growth, error)
	// Accuracies are those of averages over all outer steps; nil if the chain has no
	// stationary law, or none that is known. A quick answer may take the chain for a
	// normal process; final says that no other answer is to be had.
	Accuracies(ctx context.Context, m minibatch.Scheme, quick bool) (all []Accuracy, final bool,
		err error)
}

// Growth is a spectral radius.
type Growth struct {
	Known  bool    // else the others say nothing
	Radius float64 // below 1 if moments are bounded
	Slack  float64 // how far round-off may have it from 1
}

// NewSearch returns the search for steps of an integrator of N_l inner kernels under a scheme,
// on a problem of some pace. at returns the integrator at a step; it is asked again for steps
// that it has returned before.
func NewSearch(ctx context.Context, m minibatch.Scheme, inner int, p markov.Pace,
	at func(h float64) (Chain, error)) *Search {
	return &Search{ctx: ctx, at: at, scheme: m, inner: inner, pace: p,
		tried: make(map[tried][]Accuracy)}
}

// Search looks for steps of an integrator under a scheme.
type Search struct {
	ctx    context.Context
	at     func(h float64) (Chain, error) // the integrator at a step
	scheme minibatch.Scheme
	inner  int // N_l
	pace   markov.Pace

	limit float64 // the largest stable step, or where the search for averages begins
	tried map[tried][]Accuracy
	final bool // quick answers are the others, too
}

// StableStep finds the largest step at which the second moments of a chain are bounded,
// 0 if there is none and +Inf if all are. It is known where the law far out is, which
// decides what is stable, and where round-off does not hide it. Where it is not known, as
// of thermostats, it is the step from which Best goes down.
func (s *Search) StableStep() (limit float64, known bool, err error) {
	s.limit, known, err = s.largestStable()
	return s.limit, known, err
}

// largestStable goes up from an eighth of the fastest rate's time, or down from there, and
// halves the interval in which the chain becomes unstable.
func (s *Search) largestStable() (limit float64, known bool, err error) {
	const first, lowest, highest = -3 * stepsPerOctave, -40 * stepsPerOctave, 14 * stepsPerOctave
	unit, last := 1/s.pace.Fast, Growth{}
	// Steps are numbered upwards from the fastest rate's time.
	at := func(j int) float64 { return unit * math.Exp2(float64(j)/stepsPerOctave) }
	stable := func(h float64) bool {
		if err == nil {
			err = s.ctx.Err()
		}
		if err != nil {
			return false
		}
		var c Chain
		if c, err = s.at(h); err == nil {
			last, err = c.Radius(s.ctx, s.scheme)
		}
		if !last.Known {
			return h < 4*unit
		}
		return last.Radius < 1
	}
	j, by := first, 1
	ok := stable(at(j))
	if !ok {
		by = -1
	}
	for up := ok; err == nil && ok == up; ok = stable(at(j)) {
		switch j += by; {
		case j > highest:
			return math.Inf(1), last.Known, nil
		case j < lowest:
			return 0, last.Known && math.Abs(last.Radius-1) > last.Slack, nil
		}
	}
	if ok { // found on the way down
		j++
	}
	low, high := at(j-1), at(j)
	for err == nil && high-low > 1e-5*high {
		// The limit is known to five digits.
		if middle := (low + high) / 2; stable(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, last.Known, err
}
