package bench

import (
	"encoding/json"
	"fmt"
	"math"

	"hambench/certify"
	"hambench/store"
)

// Result is what a cell's chain yielded.
type Result struct {
	Cell Cell `json:"cell"`

	KS           float64 `json:"ks"`      // mean Kolmogorov distance to the oracle; 1 if diverged
	KSSelf       float64 `json:"ks_self"` // mean self-distance of the oracle, for the cell's number of samples
	KSSelfLow    float64 `json:"ks_self_low"`
	KSSelfHigh   float64 `json:"ks_self_high"`         // its 5 and 95 % quantiles, one predicted value at a time
	KSSelfSD     float64 `json:"ks_self_sd,omitempty"` // standard deviation of KS from one right chain to another; 0 in records that do not have it
	Diverged     bool    `json:"diverged"`
	DivergedStep int64   `json:"diverged_step,omitempty"` // kernel step at which non-finite numbers were seen

	Steps          int64 `json:"steps"` // kernels run, burn-in included
	Gradients      int64 `json:"gradients"`
	HessianVectors int64 `json:"hessian_vectors"`

	// Scores are test scores in the target's own units (rmse, mnll, coverage;
	// accuracy, mnll, ece), the mean lag-1 autocorrelation of the predictive
	// values (lag1), and for Reference the oracle's diagnostics.
	Scores map[string]float64 `json:"scores,omitempty"`
	// Series are what the observables other than Distance record.
	Series map[string][]float64 `json:"series,omitempty"`
	// OracleMachine is the machine that ran the reference chains, if it is not
	// this one: then the result is not bitwise what one machine alone would give.
	OracleMachine *store.Machine `json:"oracle_machine,omitempty"`

	// The rest is kept in the record, beside the body.

	Key     string     `json:"-"`
	Seconds float64    `json:"-"`
	Made    store.Made `json:"-"`
}

// Record returns the result as a store keeps it.
func (r Result) Record() (store.Record, error) {
	return record(store.Result, r.Key, r.Seconds, r.Made, r)
}

func record(kind store.Kind, key string, seconds float64, made store.Made, body any) (store.Record, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return store.Record{}, fmt.Errorf("%s %.12s: %w", kind, key, err)
	}
	return store.Record{Kind: kind, Key: key, Seconds: seconds, Made: made, Body: b}, nil
}

// Results reads results and exact errors from a store.
type Results struct{ *store.Store }

// Result returns the result under a cell's key. A record that does not hold a
// result counts as missing.
func (s Results) Result(key string) (r Result, ok bool) {
	rec, ok := s.Get(store.Result, key)
	if !ok || json.Unmarshal(rec.Body, &r) != nil {
		return Result{}, false
	}
	r.Key, r.Seconds, r.Made = rec.Key, rec.Seconds, rec.Made
	return r, true
}

// Rows returns the exact errors under a job's key.
func (s Results) Rows(key string) (rows []certify.Row, ok bool) {
	var stable []struct { // a row's, which is null where there is no limit, and absent where none is known
		Step json.RawMessage `json:"stable_step"`
	}
	rec, ok := s.Get(store.Exact, key)
	if !ok || json.Unmarshal(rec.Body, &rows) != nil || json.Unmarshal(rec.Body, &stable) != nil {
		return nil, false
	}
	for i := range rows {
		restoreInfinities(&rows[i])
		if stable[i].Step != nil && rows[i].StableStep == nil {
			rows[i].StableStep = new(certify.Number(math.Inf(1)))
		}
	}
	return rows, true
}

// restoreInfinities puts back what JSON cannot express. A claim or an uncertainty is
// never NaN; a variance or mean squared error is NaN only where nothing is known.
func restoreInfinities(r *certify.Row) {
	infinite := func(x *certify.Number, known bool) {
		if known && math.IsNaN(float64(*x)) {
			*x = certify.Number(math.Inf(1))
		}
	}
	for i := range r.Observables {
		infinite(&r.Observables[i].Claim, true)
		infinite(&r.Observables[i].Uncertainty, true)
	}
	known := make([]bool, len(r.Steps))
	for _, a := range r.Averages {
		for i, bias := range a.Bias {
			known[i] = known[i] || !math.IsNaN(float64(bias))
			infinite(&a.Variance[i], !math.IsNaN(float64(bias)))
		}
	}
	for i := range r.Budgets {
		b := &r.Budgets[i]
		infinite(&b.Best, !math.IsNaN(float64(b.Step)))
		for k := range b.MSE {
			infinite(&b.MSE[k], known[k])
		}
	}
}
