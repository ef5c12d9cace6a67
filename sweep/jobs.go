package sweep

import (
	"fmt"

	"hambench/bench"
	"hambench/oracle"
	"hambench/store"
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

	dealt string // the key that decides the shard
}

// String returns a name of the job for people.
func (j Job) String() string {
	switch j.Kind {
	case store.Reference:
		return fmt.Sprintf("reference of %s, split %d", j.Spec.Dataset, j.Spec.Split)
	case store.Exact:
		return j.Exact.String()
	}
	return j.Cell.String()
}

// Shard returns the index of the shard, out of n, that computes the job.
func (j Job) Shard(n int) int { return ShardOf(j.dealt, n) }

// Jobs returns the jobs of a shard of the plans, each once, in the plans'
// order. A choice contributes the cells up to the first whose result is missing
// or finite, since only that result tells whether the next cell is needed. A
// reference comes before the first missing cell that it judges; it is left out if
// there is no such cell.
func Jobs(plans []bench.Plan, shard Shard, s *store.Store) (jobs []Job) {
	references := make(map[string]bench.ReferenceJob) // by the spec's ID
	for _, r := range bench.References(plans) {
		references[r.Spec.ID()] = r
	}
	seen := make(map[string]bool)
	add := func(j Job) {
		if !seen[j.Key] {
			seen[j.Key] = true
			j.Have = s.Has(j.Kind, j.Key)
			jobs = append(jobs, j)
		}
	}
	for _, p := range plans {
		cell := func(j bench.Job, dealt string) {
			r := references[j.Cell.Oracle]
			if r.Key != "" && !s.Has(store.Result, j.Key) {
				add(referenceJob(p.ID, r))
			}
			add(Job{Study: p.ID, Kind: store.Result, Key: j.Key, Cell: j.Cell, After: r.Key, dealt: dealt})
		}
		study := shard.Slice(p.Study)
		for _, j := range study.Cells {
			cell(j, j.Key)
		}
		for _, c := range study.Choices {
			for _, j := range c {
				cell(j, c[0].Key) // a choice stays with its first cell
				if r, ok := (bench.Results{Store: s}).Result(j.Key); !ok || !r.Diverged {
					break
				}
			}
		}
		for _, j := range study.Exact {
			add(Job{Study: p.ID, Kind: store.Exact, Key: j.Key, Exact: j.Exact, dealt: j.Key})
		}
	}
	return jobs
}

func referenceJob(study string, r bench.ReferenceJob) Job {
	return Job{Study: study, Kind: store.Reference, Key: r.Key, Spec: r.Spec, Cell: referenceCell(r.Spec)}
}
