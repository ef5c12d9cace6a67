package bench

import (
	"encoding/json"
	"fmt"
	"sync"

	"hambench/bench/store"
	"hambench/certify"
	"hambench/internal/distinct"
	"hambench/oracle"
)

// Result is what a cell's chain yielded.
// The body of its record is its JSON; what follows from the cell, such as the reference's
// distance, is stored with it, so that figures need no reference.
type Result struct {
	Cell Cell `json:"cell"`

	KS float64 `json:"ks"` // mean Kolmogorov distance to the oracle; 1 if diverged
	// mean self-distance of the oracle, for the cell's number of samples
	KSSelf    float64 `json:"ks_self"`
	KSSelfLow float64 `json:"ks_self_low"`
	// its 5 and 95 % quantiles, one predicted value at a time
	KSSelfHigh float64 `json:"ks_self_high"`
	// standard deviation of KS from one right chain to another; 0 in records that do not have it
	KSSelfSD float64 `json:"ks_self_sd,omitempty"`
	// what the reference's own error may be, as a Kolmogorov distance
	// (oracle.OwnError.Upper); 0 where the law is known, and in records that do not have it
	ReferenceError float64 `json:"reference_error,omitempty"`
	// the checks that the reference failed, but for that of its own error; none in records
	// that do not have them
	ReferenceFailed []string `json:"reference_failed,omitempty"`
	Diverged        bool     `json:"diverged"`
	// kernel step at which non-finite numbers were seen
	DivergedStep int64 `json:"diverged_step,omitempty"`

	Steps          int64 `json:"steps"` // kernels run, burn-in included
	Gradients      int64 `json:"gradients"`
	HessianVectors int64 `json:"hessian_vectors"`

	// Scores are test scores in the target's own units (rmse, mnll, coverage;
	// accuracy, mnll, ece), the mean lag-1 autocorrelation of the predictive
	// values (lag1), and for Reference the oracle's diagnostics.
	Scores map[string]float64 `json:"scores,omitempty"`
	// Series are what the observables other than Distance record.
	Series map[string][]float64 `json:"series,omitempty"`
	// Scales are the target's, at a draw of the truth: of chains of mini-batches that a truth
	// judges, and of records that have them.
	Scales *oracle.Scales `json:"scales,omitempty"`
	// OracleMachine is the machine that ran the reference chains, if it is not
	// this one: then the result is not bitwise what one machine alone would give.
	OracleMachine *store.Machine `json:"oracle_machine,omitempty"`

	// The rest is kept in the record, beside the body.

	Key     string     `json:"-"`
	Seconds float64    `json:"-"`
	Made    store.Made `json:"-"`
}

// A result that another machine's reference judged has other distances than one that this
// machine's own judged: both are right.
func init() {
	store.Basis = func(r store.Record) string {
		var judged Result
		if r.Kind != store.Result || json.Unmarshal(r.Body, &judged) != nil ||
			judged.OracleMachine == nil {
			return ""
		}
		m := judged.OracleMachine
		return m.Arch + " " + m.ISA + " " + m.Kernels
	}
}

// Store is where Results reads records: a *store.Store is one.
type Store interface {
	// Get returns the record of a kind under a key, if it is there.
	Get(kind store.Kind, key string) (store.Record, bool)
}

// Results reads results and exact errors from a store.
// It is read-only: package sweep writes the records. NewResults also completes records of
// earlier versions, which do not say what their references failed.
type Results struct {
	Store
	failed func() map[string][]string // checks, by the ID of the reference's spec; nil: none known
}

// NewResults returns the results in a whole store. Whichever machine opened it, they follow from
// the store alone: of several machines' records of one key that of the first by name counts.
func NewResults(s *store.Store) Results {
	s = s.As(store.Machine{})
	return Results{s, sync.OnceValue(func() map[string][]string { return failedChecks(s) })}
}

// Result returns the result under a cell's key. A record that does not hold a
// result counts as missing.
func (s Results) Result(key string) (r Result, ok bool) {
	rec, ok := s.Get(store.Result, key)
	if !ok || json.Unmarshal(rec.Body, &r) != nil {
		return Result{}, false
	}
	r.Key, r.Seconds, r.Made = rec.Key, rec.Seconds, rec.Made
	if s.failed != nil && r.ReferenceFailed == nil && r.ReferenceError == 0 {
		r.ReferenceFailed = s.failed()[r.Cell.Oracle] // of an earlier version's record
	}
	return r, true
}

// failedChecks names the checks that references failed, by the IDs of their specs: by the
// references themselves, where the store has them, and by the cells that record how many checks
// failed. A manifest that cannot be read has none.
func failedChecks(s *store.Store) map[string][]string {
	failed := make(map[string][]string)
	// References are shared: a record of one study may have been judged by another's.
	plans, _ := Plans(s, "")
	results := Results{Store: s}
	for _, j := range References(plans) {
		r, id := oracle.Reference{Checks: results.checks(j.Key)}, j.Spec.ID()
		for _, name := range r.Unfit() {
			failed[id] = distinct.Append(failed[id], name)
		}
	}
	for _, p := range plans {
		for _, j := range p.Cells {
			id := j.Cell.Oracle
			if j.Cell.Observe != Reference || failed[id] != nil {
				continue
			}
			r, _ := results.Result(j.Key)
			failed[id] = r.ReferenceFailed
			switch n := r.Scores["checks_failed"]; { // and not which
			case failed[id] != nil || !(n > 0):
			case n == 1:
				failed[id] = []string{"1 check"}
			default:
				failed[id] = []string{fmt.Sprintf("%g checks", n)}
			}
		}
	}
	return failed
}

// Rows returns the exact errors under a job's key.
// ok is false if there are none, or if the record does not hold rows.
func (s Results) Rows(key string) ([]certify.Row, bool) {
	rows, _, ok := s.exact(key)
	return rows, ok
}

// Missing counts the cells and the exact jobs of a study that have no result.
func (s Results) Missing(of Study) (cells, exact int) {
	for _, j := range of.Cells {
		if _, ok := s.Result(j.Key); !ok {
			cells++
		}
	}
	for _, j := range of.Exact {
		if _, ok := s.Rows(j.Key); !ok {
			exact++
		}
	}
	return cells, exact
}

// exact is Rows, with the machine that computed them.
func (s Results) exact(key string) (rows []certify.Row, made store.Made, ok bool) {
	rec, ok := s.Get(store.Exact, key)
	if !ok || json.Unmarshal(rec.Body, &rows) != nil {
		return nil, store.Made{}, false
	}
	return rows, rec.Made, true
}
