package paper

import (
	"slices"

	"hambench/bench"
	"hambench/certify"
	"hambench/internal/distinct"
)

// Source returns stored results and exact errors by their keys. A bench.Results
// is one.
type Source interface {
	// Result returns the stored result of a cell, if it is there.
	Result(key string) (bench.Result, bool)
	// Rows returns the stored exact errors of an exact job, if they are there.
	Rows(key string) ([]certify.Row, bool)
}

// Evidence is what claims are decided by. Gather fills it from a store; a test
// of a claim may construct it directly.
type Evidence struct {
	// Sampled are results by the id of the study that needed them.
	Sampled map[string][]bench.Result
	// Exact are exact errors with their purpose.
	Exact []bench.Evidence
	// Methods are the integrators whose exact errors these are.
	Methods []bench.Method
}

// Gather collects what a store has for the plans: every result and every exact
// error once, in the order of the plans, results with the study that needed
// them.
func Gather(plans []bench.Plan, from Source) *Evidence {
	e := &Evidence{Sampled: make(map[string][]bench.Result)}
	seen := make(map[[2]string]bool)
	isNew := func(by, key string) bool { // by a study or for a purpose
		use := [2]string{by, key}
		old := seen[use]
		seen[use] = true
		return !old
	}
	for _, p := range plans {
		results, _ := p.Results(from.Result)
		for _, r := range results {
			if isNew(p.ID, r.Key) {
				e.Sampled[p.ID] = append(e.Sampled[p.ID], r)
			}
		}
		p.Exact = slices.DeleteFunc(slices.Clone(p.Exact), func(j bench.ExactJob) bool { return !isNew(j.Purpose, j.Key) })
		exact, _ := p.Evidence(from.Rows)
		e.Exact = append(e.Exact, exact...)
		for _, m := range p.Methods {
			e.Methods = distinct.Append(e.Methods, m)
		}
	}
	return e
}

// Results returns the results of a study.
func (e *Evidence) Results(study string) []bench.Result { return e.Sampled[study] }

// Rows returns the exact errors of the given purposes.
func (e *Evidence) Rows(purposes ...string) []certify.Row {
	var rows []certify.Row
	for _, x := range e.Exact {
		if slices.Contains(purposes, x.Purpose) {
			rows = append(rows, x.Row)
		}
	}
	return rows
}

// Method returns what is known about an integrator.
func (e *Evidence) Method(name string) (bench.Method, bool) {
	i := slices.IndexFunc(e.Methods, func(m bench.Method) bool { return m.Name == name })
	if i < 0 {
		return bench.Method{}, false
	}
	return e.Methods[i], true
}
