package sweep

import (
	"fmt"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/oracle"
)

// Job is one of the jobs that plans need.
type Job struct {
	Study string     // the first study that needs it
	Kind  store.Kind // Result, Exact or Reference
	Key   string
	Have  bool // it is in the store

	// What is computed, by kind. A reference has a cell with its chains' kernels.
	Cell  bench.Cell
	Exact bench.Exact
	Spec  oracle.Spec

	// After is the key of the reference that judges a cell; "" for none.
	After string
}

// String returns a name of the job for people.
// A cell's ends with its key, since cells that differ in seed alone have one text.
func (j Job) String() string {
	switch j.Kind {
	case store.Reference:
		return fmt.Sprintf("reference of %s, split %d", j.Spec.Dataset, j.Spec.Split)
	case store.Exact:
		return j.Exact.String()
	}
	return fmt.Sprintf("%v %.12s", j.Cell, j.Key)
}

// Jobs returns the jobs of the plans, each once, in the plans' order. A reference comes
// before the first missing cell that it judges; it is left out if there is no such cell.
// Each has the first study that needs it, which estimates and messages name.
func Jobs(plans []bench.Plan, s *store.Store) (jobs []Job) {
	references := bench.ReferencesByID(plans)
	seen := make(map[string]bool)
	add := func(j Job) {
		if !seen[j.Key] {
			seen[j.Key] = true
			j.Have = s.Has(j.Kind, j.Key)
			jobs = append(jobs, j)
		}
	}
	for _, p := range plans {
		for _, j := range p.Cells {
			// The zero value for a cell without reference chains: its key is "".
			r := references[j.Cell.Oracle]
			// Cells that are there need no reference: their records have what follows from it.
			if r.Key != "" && !s.Has(store.Result, j.Key) {
				add(referenceJob(p.ID, r))
			}
			add(Job{Study: p.ID, Kind: store.Result, Key: j.Key, Cell: j.Cell, After: r.Key})
		}
		for _, j := range p.Exact {
			add(Job{Study: p.ID, Kind: store.Exact, Key: j.Key, Exact: j.Exact})
		}
	}
	return jobs
}

// referenceJob is the job that makes reference chains.
func referenceJob(study string, r bench.ReferenceJob) Job {
	s := r.Spec
	return Job{Study: study, Kind: store.Reference, Key: r.Key, Spec: s, Cell: bench.Cell{
		Dataset: s.Dataset, Split: s.Split, Model: s.Model, Precision: s.Precision,
		Integrator: s.Integrator, Scheme: "full", Batches: 1, Inner: 1,
	}}
}
