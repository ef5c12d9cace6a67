package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"hambench/certify"
	"hambench/usage"
)

// observed is an observable of a row of certify's output.
type observed struct {
	certify.Observable
	steps []float64
}

func parseCertify(r Run) (*quantities[observed], error) {
	var rows []certify.Row
	if err := json.Unmarshal(r.Data, &rows); err != nil {
		return nil, usage.Errorf("gate: %s is not certify JSON: %w", r.Name, err)
	}
	q := newQuantities[observed]()
	for i, row := range rows {
		if row.Integrator == "" || row.Scheme == "" || len(row.Observables) == 0 {
			return nil, usage.Errorf("gate: %s: row %d lacks integrator, scheme or observables", r.Name, i+1)
		}
		for _, o := range row.Observables {
			if len(o.Errors) != len(row.Steps) {
				return nil, usage.Errorf("gate: %s: row %d, %s: %d errors for %d steps", r.Name, i+1, o.Name, len(o.Errors), len(row.Steps))
			}
			key := fmt.Sprintf("%s / %s / %s / %s", row.Problem, row.Integrator, row.Scheme, o.Name)
			if row.Inner > 1 {
				key += fmt.Sprintf(" / N_l=%d", row.Inner)
			}
			if row.Estimator != "" && row.Estimator != "plain" {
				key += " / " + row.Estimator
			}
			if row.Observe == "every-step" {
				key += " / every-step"
			}
			if q.of[key] != nil {
				return nil, usage.Errorf("gate: %s: %s occurs twice", r.Name, key)
			}
			*q.at(key) = observed{o, row.Steps}
		}
	}
	if len(q.keys) == 0 {
		return nil, usage.Errorf("gate: %s has no rows", r.Name)
	}
	return q, nil
}

func compareCertify(oldRun, newRun Run, o Options) (*Report, error) {
	old, new, err := both(oldRun, newRun, parseCertify)
	if err != nil {
		return nil, err
	}
	r := &Report{Kind: kindCertify}
	for _, key := range old.keys {
		was, is := old.of[key], new.of[key]
		if is == nil {
			at := r.begin(key, finestError, was.finest(), math.NaN())
			r.moved(at, "row", "present", "missing", "every old row must be in the new run")
		} else {
			r.compareObservable(r.begin(key, finestError, was.finest(), is.finest()), *was, *is, o)
		}
	}
	return finish(r, old, new, o), nil
}

const finestError = "relative error at the smallest step"

// finest is the relative error at the smallest step; NaN if there is none.
func (o observed) finest() float64 {
	if len(o.Relative) != len(o.steps) || len(o.steps) == 0 {
		return math.NaN()
	}
	return float64(o.Relative[slices.Index(o.steps, slices.Min(o.steps))])
}

// compareObservable reports the first of verdict, order, constant and errors
// that moved: each implies those after it.
func (r *Report) compareObservable(at int, old, new observed, o Options) {
	number := func(v certify.Number) string { return fmt.Sprintf("%.5g", float64(v)) }
	if old.Verdict != new.Verdict {
		r.moved(at, "verdict", verdictText(old), verdictText(new), "verdicts must agree")
		return
	}
	if settled(old) && settled(new) {
		if d := math.Abs(float64(new.Order - old.Order)); d > o.Order {
			r.moved(at, "order", number(old.Order), number(new.Order), "by %.3g > %g", d, o.Order)
			return
		}
		if a, b := float64(old.Constant), float64(new.Constant); differ(a, b, o.Constant*math.Abs(a)) {
			why := "one of the runs has none"
			if !math.IsNaN(a - b) {
				why = fmt.Sprintf("by %.3g %% > %g %%", 100*math.Abs((b-a)/a), 100*o.Constant)
			}
			r.moved(at, "constant", number(old.Constant), number(new.Constant), "%s", why)
			return
		}
	}
	for i, h := range old.steps {
		j := slices.Index(new.steps, h)
		if j < 0 {
			continue
		}
		a, b := float64(old.Errors[i]), float64(new.Errors[j])
		// A difference within ten times the resolution is none.
		if differ(a, b, 10*(old.resolution(i)+new.resolution(j))+o.Constant*math.Abs(a)) {
			r.moved(at, fmt.Sprintf("error at h = %g", h), number(old.Errors[i]), number(new.Errors[j]), "by more than %g %% and its resolution", 100*o.Constant)
			return
		}
	}
}

func verdictText(o observed) string {
	if v := float64(o.Order); !math.IsNaN(v) {
		return fmt.Sprintf("%s, order %.3f", o.Verdict, v)
	}
	return string(o.Verdict)
}

// settled reports whether an order and a constant have a meaning. They come out
// the same again, far within their uncertainty.
func settled(o observed) bool {
	return (o.Verdict == certify.Confirmed || o.Verdict == certify.Refuted) && float64(o.Uncertainty) < 1
}

func (o observed) resolution(i int) float64 {
	if i < len(o.Resolution) && !math.IsNaN(float64(o.Resolution[i])) {
		return float64(o.Resolution[i])
	}
	return 0
}

// differ reports whether two numbers are farther apart than allowed. One that is not
// known, as the error of a chain that became (un)stable, is far from any that is.
func differ(a, b, allowed float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) != math.IsNaN(b)
	}
	return math.Abs(a-b) > allowed
}
