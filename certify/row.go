package certify

import (
	"encoding/json"
	"math"
)

// Row holds the errors, orders and verdicts of one integrator under one scheme.
type Row struct {
	Problem    string `json:"problem"`
	Engine     Kind   `json:"engine"`
	Integrator string `json:"integrator"`
	// The integrator's own parameters, if they were given.
	Values    map[string]float64 `json:"values,omitempty"`
	Inner     int                `json:"nl"`
	Estimator string             `json:"estimator,omitempty"` // "" is plain
	Scheme    string             `json:"scheme"`
	Observe   string             `json:"observe"` // period, every-step or one-step
	Steps     []float64          `json:"steps"`
	// Steps that the engine chose, used for the orders only.
	Refined []float64 `json:"refined,omitempty"`
	// Factors by which the batches' differences of precision and of shift are larger there, if
	// not 1.
	Amplified []float64 `json:"amplified,omitempty"`
	// Spectral radius of a period at each step where it is ≥ 1, else null.
	Radii []Number `json:"radii,omitempty"`
	Setting
	Observables []Observable `json:"observables"`
	Answers
}

// Observable holds one observable's errors at the steps asked for, and the
// asymptotics of the relative errors, Constant · h^Order.
type Observable struct {
	Name string `json:"name"`
	// Absolute, in the problem's units, in the order of the steps; NaN where unstable.
	Errors []Number `json:"errors"`
	// Bounds the round-off and truncation in an error; +Inf if no bound is known.
	Resolution []Number `json:"resolution"`
	// Errors without units: in coordinates in which the target is N(0, I), or divided by the
	// observable's standard deviation.
	Relative           []Number `json:"relative"`
	RelativeResolution []Number `json:"relative_resolution"` // bounds for these
	// Local orders between neighbouring steps, the largest first, where they are resolved.
	Slopes []Number `json:"slopes"`
	// The lowest power of h whose coefficient certainly differs from 0; NaN if it is not known.
	Order       Number `json:"order"`
	Uncertainty Number `json:"uncertainty"` // of that coefficient, relative to it
	// That coefficient's size; NaN if the batches' differences were amplified.
	Constant Number `json:"constant"`
	// What docs/theory.md predicts of Constant, of an error of order PredictedOrder; NaN where
	// nothing is proven, for a Reason. With a reason beside it, it is not all of that.
	Predicted      Number `json:"predicted"`
	PredictedOrder int    `json:"predicted_order,omitempty"`
	Reason         string `json:"predicted_reason,omitempty"`
	// The prediction is certainly not what was found.
	Apart bool `json:"apart,omitempty"`
	// A lower bound on the order, where it is not known, up to the claim.
	AtLeast Number `json:"at_least"`
	// Where Order or AtLeast is known: what terms below it, too small to count, may add to the
	// relative error at the smallest step.
	Bound Number `json:"bound"`
	// +Inf if the law is claimed to be exact.
	Claim   Number  `json:"claim"`
	Verdict Verdict `json:"verdict"`
}

// Number is a float64 that is null in JSON where it is not finite.
type Number float64

// MarshalJSON writes null for NaN and ±Inf, which JSON cannot express.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads null as NaN; a Row knows where it stands for +Inf.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// UnmarshalJSON reads what is not predicted as NaN, in records without predictions, too.
func (o *Observable) UnmarshalJSON(b []byte) error {
	o.Predicted = Number(math.NaN())
	return json.Unmarshal(b, (*plainObservable)(o))
}

// plainRow is a Row without its methods, and plainObservable an Observable.
type (
	plainRow        Row
	plainObservable Observable
)

// UnmarshalJSON reads what a Row writes. Numbers that are not finite are null there:
// +Inf wherever NaN would have no meaning, which only the row's other numbers tell.
func (r *Row) UnmarshalJSON(b []byte) error {
	// It stays NaN where it is absent, since none is known, and is nil where it is null, since
	// no step is too large.
	r.StableStep = new(Number(math.NaN()))
	// Records of before 2026-11-24 have predictions, of order 2, at the row.
	old := struct {
		*plainRow
		ClosedForm map[string]Number `json:"closed_form"`
	}{plainRow: (*plainRow)(r)}
	if err := json.Unmarshal(b, &old); err != nil {
		return err
	}
	for i := range r.Observables {
		if v, ok := old.ClosedForm[r.Observables[i].Name]; ok {
			r.Observables[i].Predicted, r.Observables[i].PredictedOrder = v, 2
		}
	}
	if r.StableStep == nil {
		r.StableStep = new(Number(math.Inf(1)))
	} else if math.IsNaN(float64(*r.StableStep)) {
		r.StableStep = nil
	}
	r.restoreInfinities()
	return nil
}

// restoreInfinities makes those NaN +Inf that cannot be NaN: claims and uncertainties
// never are, variances and mean squared errors only where nothing is known.
func (r *Row) restoreInfinities() {
	infinite := func(x *Number, known bool) {
		if known && math.IsNaN(float64(*x)) {
			*x = Number(math.Inf(1))
		}
	}
	for i := range r.Observables {
		infinite(&r.Observables[i].Claim, true)
		infinite(&r.Observables[i].Uncertainty, true)
	}
	known := make([]bool, len(r.Steps))
	for _, a := range r.Averages {
		for i := range min(len(a.Bias), len(a.Variance), len(known)) {
			here := !math.IsNaN(float64(a.Bias[i]))
			known[i] = known[i] || here
			infinite(&a.Variance[i], here)
		}
	}
	for i := range r.Budgets {
		b := &r.Budgets[i]
		infinite(&b.Best, !math.IsNaN(float64(b.Step)))
		for i := range min(len(b.MSE), len(known)) {
			// NaN of less than one outer step; 0 where Outer is not stated.
			infinite(&b.MSE[i], known[i] && !(b.Outer > 0 && b.Outer < 1))
		}
	}
}
