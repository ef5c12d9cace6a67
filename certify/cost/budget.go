package cost

import (
	"errors"
	"math"
	"slices"

	"hambench/certify/probe"
	"hambench/chain/minibatch"
	"hambench/integrators"
)

// tried is a step at which averages were judged, and how.
type tried struct {
	h     float64
	quick bool // the answer was allowed to take the chain for a normal process
}

// Accuracies returns the accuracies of averages at step h, nil where there is no stationary
// law; they are kept. A quick answer may take the chain for a normal process.
func (s *Search) Accuracies(h float64, quick bool) ([]Accuracy, error) {
	if w, ok := s.tried[tried{h, quick || s.final}]; ok {
		return w, nil
	}
	c, err := s.at(h, true)
	if err != nil {
		return nil, err
	}
	// Where no better answer is to be had, a quick one need not be looked for twice.
	w, final, err := c.Accuracies(s.ctx, s.scheme, quick)
	s.final = s.final || final
	s.tried[tried{h, quick || s.final}] = w
	return w, errors.Join(err, s.ctx.Err())
}

// MSE is the mean squared error of the worst of averages over n outer steps, in units of the
// variance of its observable; NaN if n is less than one, or nothing is known.
func MSE(all []Accuracy, n float64) (size float64, worst Accuracy) {
	size = math.NaN()
	if n < 1 {
		return size, worst
	}
	for _, w := range all {
		// NaN comes first.
		if x := w.MSE(n); !(x <= size) {
			size, worst = x, w
		}
	}
	return size, worst
}

// Best holds the step of the smallest mean squared error, NaN where none is known.
type Best struct {
	Step, MSE             float64
	Bias, Autocorrelation float64 // of the worst average
	Worst                 string  // its name
	Normal                bool    // an average's spread is that of a normal process: see Accuracy
	Evaluated             int     // steps at which averages were judged
}

// Best looks for the step of the smallest mean squared error: coarsely from the
// largest stable step down, until what is smaller can only add variance, then
// around the best. All that is quick; around what it finds the answer is not.
func (s *Search) Best(outer float64) (Best, error) {
	// The first pass looks at every coarse-th step from the top down, and at none below deepest.
	const coarse, deepest = stepsPerOctave / 2, 40 * stepsPerOctave
	nan := math.NaN()
	out := Best{Step: nan, MSE: nan, Bias: nan, Autocorrelation: nan}
	// No step is paid for, or none is stable.
	if outer < 1 || s.limit == 0 {
		return out, nil
	}
	// At the limit itself memory has no end. Where there is no limit, as of an exact flow, a
	// step of many times the slowest rate's time forgets all.
	unit, top, first := s.limit, coarse, 1
	if math.IsInf(unit, 1) {
		unit, top, first = 1/s.pace.Slow, -6*stepsPerOctave, -8*stepsPerOctave
	}
	// Steps are numbered downwards from the largest one.
	step := func(j int) float64 { return unit * math.Exp2(-float64(j)/stepsPerOctave) }
	var failed error
	// The error at a step, and the average that it is of; an error of the search ends it.
	size := func(j int, quick bool) (size float64, worst Accuracy) {
		all, err := s.Accuracies(step(j), quick)
		if err != nil {
			failed = err
		}
		if all != nil {
			out.Evaluated++
		}
		return MSE(all, outer)
	}
	at, least := 0, math.Inf(1) // the number of the best step so far, and its error
	var worst Accuracy
	// Down an octave's half at a time, until what is smaller can only be worse.
	for j := top; j < deepest && failed == nil; j += coarse {
		x, w := size(j, true)
		// A trajectory of half a period or more may end where it began: from the
		// variance there nothing follows for smaller steps.
		short := s.inner == 1 || float64(s.inner)*step(j)*s.pace.Fast < 1
		if x < least { // the best so far
			at, least = j, x
		} else if x > least && largest(w.Bias) < 0.01*x && short {
			break
		}
	}
	if failed != nil || math.IsInf(least, 1) { // no step has an error that is known
		return out, failed
	}
	// From the best of these, halving the distance: first quickly, then for good.
	for _, quick := range []bool{true, false} {
		least, worst = size(at, quick)
		for by := coarse / 2; by > 0 && failed == nil; {
			moved := false
			for _, j := range []int{at - by, at + by} {
				x, w := size(max(j, first), quick)
				better := x < least || math.IsInf(least, 1) && j > at
				if j >= first && better {
					at, least, worst, moved = j, x, w, true
				}
			}
			if !moved { // none of the two neighbours is better
				by /= 2
			}
		}
	}
	out.Step, out.MSE, out.Worst = step(at), least, worst.Name
	out.Bias, _, out.Autocorrelation = worst.Summary()
	if failed == nil {
		var all []Accuracy // which the search has kept
		all, failed = s.Accuracies(step(at), false)
		out.Normal = slices.ContainsFunc(all, func(w Accuracy) bool { return w.Normal })
	}
	return out, failed
}

// Gradients returns the number of gradients of a batch in an outer step of an integrator with
// N_l inner kernels: all data count as k, the number of batches, a Hessian-vector product as
// two, and an estimator may take more than one a kernel.
func Gradients(m integrators.Integrator, s minibatch.Scheme, by probe.Estimation,
	inner, k int) float64 {
	kernel, kernels := m.Needs.Cost(), float64(inner) // gradients, and kernels an outer step
	switch {
	case s.Whole():
		kernel *= float64(k)
	case !by.Plain():
		if by.Method.Extra != nil {
			kernel += by.Method.Extra(k)
		}
		kernels *= float64(by.Period(k)) // an outer step ends where the estimator begins anew
	}
	return kernel * kernels
}
