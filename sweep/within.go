package sweep

import (
	"cmp"
	"slices"
	"time"

	"hambench/bench"
	"hambench/store"
	"hambench/usage"
)

// TimeOf estimates how long the jobs of all shards that the store lacks take, except
// those on the given data sets. It is at least the time of the longest job on the
// cores that this can use.
func (r *Runner) TimeOf(plans []bench.Plan, without ...string) time.Duration {
	var all, longest float64
	for _, j := range Jobs(plans, Shard{}, r.Store) {
		if j.Have || slices.Contains(without, j.Cell.Dataset) {
			continue
		}
		cost, cores := r.Cost.Job(j, r.Chains), 1
		if j.Kind == store.Reference {
			cores = min(r.cores(), j.Spec.Chains)
		}
		all += cost
		longest = max(longest, cost/float64(cores))
	}
	return time.Duration(max(all/float64(r.cores()), longest) * float64(time.Second))
}

// LeaveOut returns the data sets, the most expensive ones, without which the rest
// can be run within a limit. The choice depends on the cost model and on what the
// store has; references are never shortened. If not even what needs no data can be
// run, that is a usage error.
func (r *Runner) LeaveOut(plans []bench.Plan, limit time.Duration) ([]string, error) {
	costs := make(map[string]float64)
	var sets, out []string
	for _, j := range Jobs(plans, Shard{}, r.Store) {
		if d := j.Cell.Dataset; d != "" && !j.Have {
			if _, known := costs[d]; !known {
				sets = append(sets, d)
			}
			costs[d] += r.Cost.Job(j, r.Chains)
		}
	}
	slices.SortStableFunc(sets, func(a, b string) int { return cmp.Compare(costs[b], costs[a]) })
	for r.TimeOf(plans, out...) > limit {
		if len(out) == len(sets) {
			return nil, usage.Errorf("what needs no data takes %s, and %s are left: want more time, or fewer studies",
				r.TimeOf(plans, out...).Round(time.Second), limit.Round(time.Second))
		}
		out = sets[:len(out)+1]
	}
	return out, nil
}

// Most returns the largest n up to most, such as a number of splits, whose plans
// can be run within a limit; 0 if not even those of 1 can.
func (r *Runner) Most(most int, limit time.Duration, plans func(n int) ([]bench.Plan, error)) (int, error) {
	for n := 1; ; n++ {
		p, err := plans(n)
		if err != nil || r.TimeOf(p) > limit {
			return n - 1, err
		}
		if n == most {
			return n, nil
		}
	}
}
