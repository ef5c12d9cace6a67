package sweep

import (
	"fmt"

	"hambench/bench"
	"hambench/oracle"
	"hambench/store"
)

// Job is one of the jobs that plans need.
type Job struct {
	Study string     // the first that needs it
	Kind  store.Kind // Result, Exact or Reference
	Key   string
	Have  bool // it is in the store

	// What is computed, by kind.
	Cell  bench.Cell
	Exact bench.Exact
	Spec  oracle.Spec

	// After is the key of the reference that judges a cell; "" for none.
	After string

	dealt string // the key that decides the shard
}

// String names the job for people.
func (j Job) String() string {
	switch j.Kind {
	case store.Reference:
		return fmt.Sprintf("reference of %s, split %d", j.Spec.Dataset, j.Spec.Split)
	case store.Exact:
		return j.Exact.String()
	}
	return j.Cell.String()
}

// Shard returns the index of the shard, of n, that computes the job.
func (j Job) Shard(n int) int { return ShardOf(j.dealt, n) }

// Dataset is the data set that the job is about; "" for an exact job.
func (j Job) Dataset() string {
	if j.Kind == store.Reference {
		return j.Spec.Dataset
	}
	return j.Cell.Dataset
}

// Jobs returns the jobs of a shard of the plans, each once, in the plans'
// order. Of a choice these are the cells up to the first whose result is
// missing or finite: whether the next is needed is not known before. A reference
// stands before the first missing cell that it judges, and is left out if there
// is none.
func Jobs(plans []bench.Plan, shard Shard, s *store.Store) []Job {
	w := walk{store: s, references: make(map[string]bench.ReferenceJob), seen: make(map[string]bool)}
	for _, r := range bench.References(plans) {
		w.references[r.Spec.ID()] = r
	}
	for _, p := range plans {
		w.study(p.ID, shard.Slice(p.Study))
	}
	return w.jobs
}

// walk goes through the jobs of plans.
type walk struct {
	store      *store.Store
	references map[string]bench.ReferenceJob // by the spec's ID
	seen       map[string]bool               // keys
	jobs       []Job
}

func (w *walk) study(id string, s bench.Study) {
	for _, j := range s.Cells {
		w.cell(id, j, j.Key)
	}
	for _, c := range s.Choices {
		for _, j := range c {
			w.cell(id, j, c[0].Key) // a choice stays with its first cell
			if r, ok := (bench.Results{Store: w.store}).Result(j.Key); !ok || !r.Diverged {
				break
			}
		}
	}
	for _, j := range s.Exact {
		w.add(Job{Study: id, Kind: store.Exact, Key: j.Key, Exact: j.Exact, dealt: j.Key})
	}
}

func (w *walk) cell(id string, j bench.Job, dealt string) {
	r := w.references[j.Cell.Oracle]
	if r.Key != "" && !w.store.Has(store.Result, j.Key) {
		w.add(referenceJob(id, r))
	}
	w.add(Job{Study: id, Kind: store.Result, Key: j.Key, Cell: j.Cell, After: r.Key, dealt: dealt})
}

func (w *walk) add(j Job) {
	if !w.seen[j.Key] {
		w.seen[j.Key] = true
		j.Have = w.store.Has(j.Kind, j.Key)
		w.jobs = append(w.jobs, j)
	}
}

func referenceJob(study string, r bench.ReferenceJob) Job {
	return Job{Study: study, Kind: store.Reference, Key: r.Key, Spec: r.Spec}
}
