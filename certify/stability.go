package certify

import (
	"context"
	"math"

	"hambench/chain/minibatch"
)

// stepsPerOctave is the number of steps tried in a factor of 2.
const stepsPerOctave = 8

// search looks for steps of an integrator under a scheme.
type search struct {
	certification
	ctx   context.Context
	limit float64 // the largest stable step
	far   bool    // that is known, as the chain far out is
	// unclear says that round-off hides whether the chain of the last step is stable.
	unclear bool
	known   map[tried][]accuracy
	same    bool // quick answers are the others, too
}

// unlimited is where the search for averages begins if the chain far out, which
// decides what is stable, is not known: at potentials that are no oscillators and
// under thermostats.
func (s *search) unlimited() float64 { return 4 / s.pace().fast }

// stable reports whether the moments of a chain of step h are bounded.
func (s *search) stable(h float64) (bool, error) {
	if err := s.ctx.Err(); err != nil {
		return false, err
	}
	prep, err := s.asked.prepared(h)
	if err != nil {
		return false, err
	}
	if p, scalar := prep.(*preparedSpectral); scalar {
		prep = p.tail
	}
	g, ok := prep.(*preparedGaussian)
	if s.far = ok; !ok {
		return h < s.unlimited(), nil
	}
	radius, slack, err := g.radius(s.ctx, s.scheme)
	s.unclear = math.Abs(radius-1) <= slack
	return radius < 1, err
}

// radius is the spectral radius of a period, of its mean map, and of its second
// moments where the order of the batches is random, and how far round-off may have
// it from 1.
func (p *preparedGaussian) radius(ctx context.Context, m minibatch.Scheme) (radius, slack float64,
	err error) {
	cycle, err := newPeriod(ctx, p.evolution(asOperator), m)
	if err != nil {
		return 0, 0, err
	}
	radius, slack = spectralRadius(p.meanMap(cycle).change())
	if math.IsNaN(radius) || radius > 1+slack || len(cycle.words) == 1 {
		return radius, slack, nil
	}
	radius, slack = secondMomentRadius(cycle, p.n)
	return radius, slack, ctx.Err()
}

// stableStep goes up from an eighth of the fastest rate's time, or down from there,
// and halves the interval in which the chain becomes unstable.
func (s *search) stableStep() (float64, error) {
	unit := 1 / s.pace().fast
	at := func(j int) float64 { return unit * math.Exp2(float64(j)/stepsPerOctave) }
	const first, lowest, highest = -3 * stepsPerOctave, -40 * stepsPerOctave, 14 * stepsPerOctave
	j, by := first, 1
	ok, err := s.stable(at(j))
	if !ok {
		by = -1
	}
	for up := ok; err == nil && ok == up; ok, err = s.stable(at(j)) {
		switch j += by; {
		case j > highest:
			return math.Inf(1), nil
		case j < lowest:
			s.far = s.far && !s.unclear
			return 0, nil
		}
	}
	if ok { // found on the way down
		j++
	}
	low, high := at(j-1), at(j)
	for err == nil && high-low > 1e-5*high {
		middle := (low + high) / 2
		if ok, err = s.stable(middle); ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, err
}
