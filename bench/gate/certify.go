package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"

	"hambench/bench/table"
	"hambench/certify"
	"hambench/usage"
)

// observed is an observable of a row of certify's output.
type observed struct {
	certify.Observable
	row certify.Row
}

// quantity are the columns that identify an observed. Those that are at their defaults are
// empty, so that runs of earlier versions, whose rows lack them, compare with new ones.
var quantity = []table.Column{
	{Name: "problem", Kind: table.Text}, {Name: "integrator", Kind: table.Text},
	{Name: "scheme", Kind: table.Text}, {Name: "observable", Kind: table.Text},
	{Name: "N_l", Kind: table.Number}, {Name: "values", Kind: table.Text},
	{Name: "estimator", Kind: table.Text}, {Name: "observe", Kind: table.Text},
}

// identify returns the values of the columns of quantity.
func (o observed) identify() map[string]any {
	row := map[string]any{
		"problem": o.row.Problem, "integrator": o.row.Integrator, "scheme": o.row.Scheme,
		"observable": o.Name,
	}
	if o.row.Inner > 1 {
		row["N_l"] = o.row.Inner
	}
	if len(o.row.Values) > 0 {
		// Sprint writes a map in the order of its keys: equal values make equal texts.
		row["values"] = fmt.Sprint(o.row.Values)
	}
	if o.row.Estimator != "" && o.row.Estimator != "plain" {
		row["estimator"] = o.row.Estimator
	}
	if o.row.Observe == "every-step" {
		row["observe"] = o.row.Observe
	}
	return row
}

// parseCertify reads the rows of certify --json, as a table with a row for each observable,
// whose source is an observed. A row that lacks what is compared, and one that occurs
// twice, are usage errors.
func parseCertify(r Run) (*table.Table, error) {
	var rows []certify.Row
	if err := json.Unmarshal(r.Data, &rows); err != nil {
		return nil, usage.Errorf("gate: %s is not certify JSON: %w", r.Name, err)
	}
	// Files of any version are read: what an earlier one lacks is at its zero value here.
	all := table.New(quantity...)
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
			of := observed{o, row}
			all.Add(of, of.identify())
		}
	}
	if all.Len() == 0 {
		return nil, usage.Errorf("gate: %s has no rows", r.Name)
	}
	for _, g := range all.GroupBy(namesOf(quantity)...) {
		if g.Len() > 1 {
			return nil, usage.Errorf("gate: %s: %s occurs twice", r.Name,
				where(g.Rows()[0], quantity))
		}
	}
	return all, nil
}

// compareCertify compares each observable of the old run with that of the new one. What only
// the new run has is noted.
func compareCertify(oldRun, newRun Run, o Options) (*Report, error) {
	old, now, err := both(oldRun, newRun, parseCertify)
	if err != nil {
		return nil, err
	}
	// errs counts the errors of the old run, apart those at steps that the new one does not have.
	r, errs, apart := &Report{Kind: kindCertify}, 0, 0
	r.join(old, now, quantity, func(where string, was, is *table.Table) {
		if is.Len() == 0 {
			r.moved(where, "row", "present", "missing", "every old row must be in the new run")
			return
		}
		a, b := was.Rows()[0].Source.(observed), is.Rows()[0].Source.(observed)
		for _, h := range a.row.Steps {
			errs++
			if !slices.Contains(b.row.Steps, h) {
				apart++
			}
		}
		r.compareObservable(where, a, b, o)
	})
	if slices.ContainsFunc(old.Rows(), func(row table.Row) bool {
		return !reflect.DeepEqual(row.Source.(observed).row.Answers, certify.Answers{})
	}) {
		r.note("what --budget, --stability, --distance and --energy add to rows is not compared")
	}
	if apart > 0 {
		r.note("%d of %d errors of the old run are at steps that the new one lacks, and are not "+
			"compared", apart, errs)
	}
	return r, nil
}

// compareObservable reports the first of verdict, order, constant and errors that moved:
// each implies those after it.
// Steps that only one of the runs has are not compared.
// A verdict that changed says more than an order, and an order more than a constant.
func (r *Report) compareObservable(where string, old, now observed, o Options) {
	// Each return names one quantity, so that a row is one line of the report.
	number := func(v certify.Number) string { return fmt.Sprintf("%.5g", float64(v)) }
	if old.Verdict != now.Verdict {
		r.moved(where, "verdict", verdictText(old), verdictText(now), "verdicts must agree")
		return
	}
	// An order that was found and is no more may have fallen: it cannot pass unseen.
	if settled(old) && (!settled(now) || differ(float64(old.Order), float64(now.Order), o.Order)) {
		why := "the new run has none, or none that is certain"
		if d := math.Abs(float64(now.Order - old.Order)); settled(now) && !math.IsNaN(d) {
			why = fmt.Sprintf("by %.3g > %g", d, o.Order)
		}
		r.moved(where, "order", number(old.Order), number(now.Order), why)
		return
	}
	if settled(old) { // and now, too
		a, b := float64(old.Constant), float64(now.Constant)
		if differ(a, b, o.Constant*math.Abs(a)) {
			why := "one of the runs has none"
			if !math.IsNaN(a - b) {
				why = fmt.Sprintf("by %.3g %% > %g %%", 100*math.Abs((b-a)/a), 100*o.Constant)
			}
			r.moved(where, "constant", number(old.Constant), number(now.Constant), why)
			return
		}
	}
	for i, h := range old.row.Steps {
		j := slices.Index(now.row.Steps, h)
		if j < 0 {
			continue
		}
		a, b := float64(old.Errors[i]), float64(now.Errors[j])
		what := fmt.Sprintf("error at h = %g", h)
		// An error that was known and is below the resolution now may be of any size.
		if math.Abs(a) > 10*old.resolution(i) && now.resolution(j) > math.Abs(a) {
			r.moved(where, what, number(old.Errors[i]), number(now.Errors[j]),
				fmt.Sprintf("the new run resolves no error below %.3g", now.resolution(j)))
			return
		}
		// A difference within ten times the resolution is none.
		if differ(a, b, 10*(old.resolution(i)+now.resolution(j))+o.Constant*math.Abs(a)) {
			why := fmt.Sprintf("by more than %g %% and its resolution", 100*o.Constant)
			r.moved(where, what, number(old.Errors[i]), number(now.Errors[j]), why)
			return
		}
	}
}

// verdictText states a verdict with its order, if there is one.
// An order that was not found is left out.
func verdictText(o observed) string {
	if v := float64(o.Order); !math.IsNaN(v) {
		return fmt.Sprintf("%s, order %.3f", o.Verdict, v)
	}
	return string(o.Verdict)
}

// settled reports whether an order and a constant have a meaning. They come out the same
// again, far within their uncertainty.
// Constants of orders that are not decided scatter with the steps.
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
