package certify

import (
	"errors"
	"math"

	"hambench/chain/minibatch"
	"hambench/integrators"
)

// tried is a step at which averages were judged.
type tried struct {
	h     float64
	quick bool
}

// accuracies returns the accuracies of averages at a step; they are kept.
func (s *search) accuracies(h float64, quick bool) ([]accuracy, error) {
	if w, ok := s.tried[tried{h, quick || s.final}]; ok {
		return w, nil
	}
	c, err := s.at(h)
	if err != nil {
		return nil, err
	}
	w, final, err := c.accuracies(s.ctx, s.scheme, quick)
	s.final = s.final || final
	s.tried[tried{h, quick || s.final}] = w
	return w, errors.Join(err, s.ctx.Err())
}

// mse is the mean squared error of the worst average over n outer steps; NaN if
// they are less than one.
func mse(all []accuracy, n float64) (size float64, worst accuracy) {
	size = math.NaN()
	if n < 1 {
		return size, worst
	}
	for _, w := range all {
		if x := w.mse(n); !(x <= size) {
			size, worst = x, w
		}
	}
	return size, worst
}

// bestStep holds the step of the smallest mean squared error, NaN where none is known.
type bestStep struct {
	step, mse             float64
	bias, autocorrelation float64 // of the worst average
	worst                 string  // its name
	evaluated             int     // steps at which averages were judged
}

// best looks for the step of the smallest mean squared error: coarsely from the
// largest stable step down, until what is smaller can only add variance, then
// around the best. All that is quick; around what it finds the answer is not.
func (s *search) best(outer float64) (bestStep, error) {
	const coarse, deepest = stepsPerOctave / 2, 40 * stepsPerOctave
	nan := math.NaN()
	out := bestStep{step: nan, mse: nan, bias: nan, autocorrelation: nan}
	if outer < 1 || s.limit == 0 {
		return out, nil
	}
	// At the limit itself memory has no end.
	unit, top, first := s.limit, coarse, 1
	if math.IsInf(unit, 1) {
		unit, top, first = 1/s.pace.slow, -6*stepsPerOctave, -8*stepsPerOctave
	}
	step := func(j int) float64 { return unit * math.Exp2(-float64(j)/stepsPerOctave) }
	var failed error
	size := func(j int, quick bool) (size float64, worst accuracy) {
		all, err := s.accuracies(step(j), quick)
		if err != nil {
			failed = err
		}
		if all != nil {
			out.evaluated++
		}
		return mse(all, outer)
	}
	at, least := 0, math.Inf(1)
	var worst accuracy
	for j := top; j < deepest && failed == nil; j += coarse {
		x, w := size(j, true)
		// A trajectory of half a period or more may end where it began: from the
		// variance there nothing follows for smaller steps.
		short := s.inner == 1 || float64(s.inner)*step(j)*s.pace.fast < 1
		if x < least {
			at, least = j, x
		} else if x > least && largestOf(w.bias) < 0.01*x && short {
			break
		}
	}
	if failed != nil || math.IsInf(least, 1) {
		return out, failed
	}
	for _, quick := range []bool{true, false} {
		least, worst = size(at, quick)
		for by := coarse / 2; by > 0 && failed == nil; {
			moved := false
			for _, j := range []int{at - by, at + by} {
				if x, w := size(max(j, first), quick); j >= first && (x < least || math.IsInf(least, 1) && j > at) {
					at, least, worst, moved = j, x, w, true
				}
			}
			if !moved {
				by /= 2
			}
		}
	}
	out.step, out.mse, out.worst = step(at), least, worst.name
	out.bias, _, out.autocorrelation = worst.summary()
	return out, failed
}

// gradients returns the number of gradients of a batch in an outer step: all data count as
// k, the number of batches.
func gradients(m integrators.Integrator, s minibatch.Scheme, by estimation, inner, k int) float64 {
	kernel, kernels := m.Needs.Cost(), float64(inner)
	switch {
	case s.Whole():
		kernel *= float64(k)
	case !by.plain():
		if by.method.Extra != nil {
			kernel += by.method.Extra(k)
		}
		kernels *= float64(by.period(k))
	}
	return kernel * kernels
}
