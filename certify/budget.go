package certify

import (
	"context"
	"errors"
	"math"
	"slices"

	"hambench/chain/minibatch"
)

// tried is a step at which averages were judged.
type tried struct {
	h     float64
	quick bool
}

// accuracies returns the accuracies of averages at a step; they are kept.
func (s *search) accuracies(h float64, quick bool) ([]accuracy, error) {
	if w, ok := s.known[tried{h, quick || s.same}]; ok {
		return w, nil
	}
	prep, err := s.asked.prepared(h)
	if err != nil {
		return nil, err
	}
	w, err := prep.(interface {
		accuracies(ctx context.Context, m minibatch.Scheme, quick bool) ([]accuracy, error)
	}).accuracies(s.ctx, s.scheme, quick)
	_, spectral := prep.(*preparedSpectral)
	s.same = s.same || spectral || !quick && slices.ContainsFunc(w,
		func(w accuracy) bool { return w.normal })
	s.known[tried{h, quick || s.same}] = w
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

// judge judges the averages at the row's steps, and looks for the best ones.
func (s *search) judge(row *Row) error {
	if s.options.Budgets == nil {
		return nil
	}
	row.Cost = s.options.cost(s.asked.method, s.scheme)
	found := make([][]accuracy, len(s.options.Steps))
	for i, h := range s.options.Steps {
		var err error
		if found[i], err = s.accuracies(h, false); err != nil {
			return err
		}
		if row.Averages == nil {
			for _, w := range found[i] {
				row.Averages = append(row.Averages, Average{Name: w.name, Normal: w.normal})
			}
		}
	}
	for i := range row.Averages {
		a := &row.Averages[i]
		for _, all := range found {
			var w accuracy // not known
			if all != nil {
				w = all[i]
			}
			bias, variance, autocorrelation := w.summary()
			a.Bias, a.Variance, a.Autocorrelation = append(a.Bias, bias), append(a.Variance,
				variance), append(a.Autocorrelation, autocorrelation)
		}
	}
	for _, n := range s.options.Budgets {
		b, err := s.best(n, row.Cost)
		if err != nil {
			return err
		}
		for _, all := range found {
			size, _ := mse(all, n/row.Cost)
			b.MSE = append(b.MSE, Number(size))
		}
		row.Budgets = append(row.Budgets, b)
	}
	return nil
}

// best looks for the step of the smallest mean squared error: coarsely from the
// largest stable step down, until what is smaller can only add variance, then
// around the best. All that is quick; around what it finds the answer is not.
func (s *search) best(gradients, cost float64) (AtBudget, error) {
	const coarse, deepest = stepsPerOctave / 2, 40 * stepsPerOctave
	nan := Number(math.NaN())
	out := AtBudget{Gradients: gradients, Best: nan, Step: nan, Bias: nan, Autocorrelation: nan,
		Outer: Number(gradients / cost)}
	if out.Outer < 1 || s.limit == 0 {
		return out, nil
	}
	// At the limit itself memory has no end.
	unit, top, first := s.limit, coarse, 1
	if math.IsInf(unit, 1) {
		unit, top, first = 1/s.pace().slow, -6*stepsPerOctave, -8*stepsPerOctave
	}
	step := func(j int) float64 { return unit * math.Exp2(-float64(j)/stepsPerOctave) }
	var failed error
	size := func(j int, quick bool) (size float64, worst accuracy) {
		all, err := s.accuracies(step(j), quick)
		if err != nil {
			failed = err
		}
		if all != nil {
			out.Evaluated++
		}
		return mse(all, gradients/cost)
	}
	at, least := 0, math.Inf(1)
	var worst accuracy
	for j := top; j < deepest && failed == nil; j += coarse {
		x, w := size(j, true)
		// A trajectory of half a period or more may end where it began: from the
		// variance there nothing follows for smaller steps.
		short := s.options.Inner == 1 || float64(s.options.Inner)*step(j)*s.pace().fast < 1
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
	out.Step, out.Best, out.Worst = Number(step(at)), Number(least), worst.name
	out.Bias, _, out.Autocorrelation = worst.summary()
	return out, failed
}
