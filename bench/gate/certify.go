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
	row certify.Row
}

// quantity identifies an observed. Fields that are at their defaults are empty.
type quantity struct {
	problem, integrator, scheme, observable string
	inner                                   int
	values, estimator, observe              string
}

// quantity returns what identifies the observed, so that runs of earlier versions, whose rows
// lack the later columns, compare with new ones.
func (o observed) quantity() quantity {
	q := quantity{
		problem: o.row.Problem, integrator: o.row.Integrator, scheme: o.row.Scheme,
		observable: o.Name,
	}
	if o.row.Inner > 1 {
		q.inner = o.row.Inner
	}
	if len(o.row.Values) > 0 {
		q.values = fmt.Sprint(o.row.Values)
	}
	if o.row.Estimator != "plain" {
		q.estimator = o.row.Estimator
	}
	if o.row.Observe == "every-step" {
		q.observe = o.row.Observe
	}
	return q
}

// String names the quantity for people.
func (q quantity) String() string {
	name := fmt.Sprintf("%s / %s / %s / %s", q.problem, q.integrator, q.scheme, q.observable)
	if q.inner > 0 {
		name += fmt.Sprintf(" / N_l=%d", q.inner)
	}
	for _, more := range []string{q.values, q.estimator, q.observe} {
		if more != "" {
			name += " / " + more
		}
	}
	return name
}

// parseCertify reads the rows of certify --json, observable by observable. A row that lacks
// what is compared, and one that occurs twice, are usage errors.
func parseCertify(r Run) ([]observed, error) {
	var rows []certify.Row
	if err := json.Unmarshal(r.Data, &rows); err != nil {
		return nil, usage.Errorf("gate: %s is not certify JSON: %w", r.Name, err)
	}
	var all []observed
	for i, row := range rows {
		if row.Integrator == "" || row.Scheme == "" || len(row.Observables) == 0 {
			return nil, usage.Errorf("gate: %s: row %d lacks integrator, scheme or observables",
				r.Name, i+1)
		}
		for _, o := range row.Observables {
			if len(o.Errors) != len(row.Steps) {
				return nil, usage.Errorf("gate: %s: row %d, %s: %d errors for %d steps",
					r.Name, i+1, o.Name, len(o.Errors), len(row.Steps))
			}
			all = append(all, observed{o, row})
		}
	}
	if len(all) == 0 {
		return nil, usage.Errorf("gate: %s has no rows", r.Name)
	}
	seen := make(map[quantity]bool)
	for _, o := range all {
		if q := o.quantity(); seen[q] {
			return nil, usage.Errorf("gate: %s: %s occurs twice", r.Name, q)
		}
		seen[o.quantity()] = true
	}
	return all, nil
}

// compareCertify compares each observable of the old run with that of the new one. What only
// the new run has is noted.
func compareCertify(oldRun, newRun Run, o Options) (*Report, error) {
	old, new, err := both(oldRun, newRun, parseCertify)
	if err != nil {
		return nil, err
	}
	left := make(map[quantity]observed)
	for _, n := range new {
		left[n.quantity()] = n
	}
	r := &Report{Kind: kindCertify, Compared: len(old)}
	for _, was := range old {
		q := was.quantity()
		if is, ok := left[q]; ok {
			r.compareObservable(q.String(), was, is, o)
		} else {
			r.moved(q.String(), "row", "present", "missing", "every old row must be in the new run")
		}
		delete(left, q)
	}
	r.noteAdded(len(left))
	return r, nil
}

// compareObservable reports the first of verdict, order, constant and errors that moved:
// each implies those after it.
// Steps that only one of the runs has are not compared.
func (r *Report) compareObservable(where string, old, new observed, o Options) {
	number := func(v certify.Number) string { return fmt.Sprintf("%.5g", float64(v)) }
	if old.Verdict != new.Verdict {
		r.moved(where, "verdict", verdictText(old), verdictText(new), "verdicts must agree")
		return
	}
	if settled(old) && settled(new) {
		if d := math.Abs(float64(new.Order - old.Order)); d > o.Order {
			why := fmt.Sprintf("by %.3g > %g", d, o.Order)
			r.moved(where, "order", number(old.Order), number(new.Order), why)
			return
		}
		a, b := float64(old.Constant), float64(new.Constant)
		if differ(a, b, o.Constant*math.Abs(a)) {
			why := "one of the runs has none"
			if !math.IsNaN(a - b) {
				why = fmt.Sprintf("by %.3g %% > %g %%", 100*math.Abs((b-a)/a), 100*o.Constant)
			}
			r.moved(where, "constant", number(old.Constant), number(new.Constant), why)
			return
		}
	}
	for i, h := range old.row.Steps {
		j := slices.Index(new.row.Steps, h)
		if j < 0 {
			continue
		}
		a, b := float64(old.Errors[i]), float64(new.Errors[j])
		// A difference within ten times the resolution is none.
		if differ(a, b, 10*(old.resolution(i)+new.resolution(j))+o.Constant*math.Abs(a)) {
			why := fmt.Sprintf("by more than %g %% and its resolution", 100*o.Constant)
			what := fmt.Sprintf("error at h = %g", h)
			r.moved(where, what, number(old.Errors[i]), number(new.Errors[j]), why)
			return
		}
	}
}

// verdictText states a verdict with its order, if there is one.
func verdictText(o observed) string {
	if v := float64(o.Order); !math.IsNaN(v) {
		return fmt.Sprintf("%s, order %.3f", o.Verdict, v)
	}
	return string(o.Verdict)
}

// settled reports whether an order and a constant have a meaning. They come out the same
// again, far within their uncertainty.
func settled(o observed) bool {
	return (o.Verdict == certify.Confirmed || o.Verdict == certify.Refuted) &&
		float64(o.Uncertainty) < 1
}

// resolution returns the bound on the rounding of the error at a step; 0 if it is unknown.
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
