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
	// Radius is by what factor second moments grow over a period of a scheme, or the mean.
	Radius(ctx context.Context, m minibatch.Scheme, mean bool) (Growth, error)
	// Between is a chain at a step between those of some chains like this one, whose maps are
	// sums of theirs with the weights of an interpolation. Nothing but its radius is asked.
	Between(chains []Chain, weights []float64) Chain
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

	Kernels int  // in a period
	Random  bool // the map is, so that second moments grow faster than the mean
}

// decided reports whether it is known, and round-off does not hide, on which side of 1 it is.
func (g Growth) decided() bool { return g.Known && !(math.Abs(g.Radius-1) <= g.Slack) }

// NewSearch returns the search for steps of an integrator of N_l inner kernels under a scheme,
// on a problem of some pace. at returns the integrator at a step; where it is told to keep it,
// it may be asked for that step again.
func NewSearch(ctx context.Context, m minibatch.Scheme, inner int, p markov.Pace,
	at func(h float64, keep bool) (Chain, error)) *Search {
	return &Search{ctx: ctx, at: at, scheme: m, inner: inner, pace: p,
		tried: make(map[tried][]Accuracy)}
}

// Search looks for steps of an integrator under a scheme.
type Search struct {
	ctx    context.Context
	at     func(h float64, keep bool) (Chain, error) // the integrator at a step
	scheme minibatch.Scheme
	inner  int // N_l
	pace   markov.Pace

	limit float64 // the largest stable step, or where the search for averages begins
	tried map[tried][]Accuracy
	final bool // quick answers are the others, too
}

// StableStep finds the largest step below which the second moments of a chain are bounded at
// every step, 0 if there is none and +Inf if all are. It is known where the law far out is, which
// decides what is stable, and where round-off does not hide it. Where it is not known, as
// of thermostats, it is the step from which Best goes down.
func (s *Search) StableStep() (limit float64, known bool, err error) {
	limit, known, err = s.largestStable()
	tongues := known && limit > 0 && !math.IsInf(s.pace.Damping, 1)
	if err == nil && tongues {
		limit, err = s.belowTongues(limit)
	}
	s.limit = limit
	return limit, known, err
}

// stable reports whether a chain is at step h; known says whether that is known, else
// steps below four times the fastest rate's time are taken for stable.
func (s *Search) stable(h float64) (ok bool, last Growth, err error) {
	c, err := s.at(h, true)
	if err == nil {
		last, err = c.Radius(s.ctx, s.scheme, false)
	}
	if err == nil {
		err = s.ctx.Err()
	}
	if !last.Known {
		return h < 4/s.pace.Fast, last, err
	}
	return last.Radius < 1, last, err
}

// largestStable goes up from an eighth of the fastest rate's time, or down from there, and
// halves the interval in which the chain becomes unstable. A chain that is stable up to 2¹⁴ times
// the slowest time of its dynamics is taken for one that is at all steps: where the friction is
// the fastest rate, the limit may be that of a frequency, or of the rate ω²/C at which a position
// relaxes.
func (s *Search) largestStable() (limit float64, known bool, err error) {
	const first, lowest = -3 * stepsPerOctave, -40 * stepsPerOctave
	highest := 14 * stepsPerOctave
	if spread := s.pace.Fast / s.pace.Slow; spread > 1 && !math.IsInf(spread, 1) {
		highest += int(math.Ceil(2 * stepsPerOctave * math.Log2(spread)))
	}
	// Steps are numbered upwards from the fastest rate's time.
	at := func(j int) float64 { return 1 / s.pace.Fast * math.Exp2(float64(j)/stepsPerOctave) }
	j, by := first, 1
	// One direction alone: up while steps are stable, or down while they are not.
	ok, last, err := s.stable(at(j))
	if !ok {
		by = -1
	}
	for up := ok; err == nil && ok == up; ok, last, err = s.stable(at(j)) {
		switch j += by; {
		case j > highest:
			return math.Inf(1), last.decided(), nil
		case j < lowest:
			return 0, last.decided(), nil
		}
	}
	if err != nil {
		return 0, false, err
	}
	known = last.decided()
	if last.Known && !known { // a limit may be a step of the grid; then the next is decided
		on, next, err := s.stable(at(j + by))
		if known = on == ok && next.decided(); err != nil {
			return 0, false, err
		}
	}
	if ok { // found on the way down
		j++
	}
	limit, err = s.halved(at(j-1), at(j))
	return limit, known, err
}

// halved returns the limit between a stable step and one that is not, to five digits.
func (s *Search) halved(low, high float64) (float64, error) {
	for high-low > 1e-5*high {
		middle := (low + high) / 2
		// low is always on the stable side, so that what is returned is not above the limit.
		switch ok, _, err := s.stable(middle); {
		case err != nil:
			return low, err
		case ok:
			low = middle
		default:
			high = middle
		}
	}
	return low, nil
}
