package sweep

import (
	"cmp"
	"slices"
	"time"

	"hambench/bench"
	"hambench/chain"
	"hambench/store"
	"hambench/usage"
)

// Fitting chooses as much of studies as can be run in a given time. The choice
// depends on its cost model and on what the store has; references are never
// shortened.
type Fitting struct {
	Cost    CostModel
	Chains  chain.Registry
	Store   *store.Store
	Workers int
	Limit   time.Duration
}

// Time estimates how long the jobs that the store lacks take, except those on the
// given data sets. It is at least the time of the longest job on the cores that
// this can use.
func (f Fitting) Time(plans []bench.Plan, without ...string) time.Duration {
	var all, longest float64
	for _, j := range Jobs(plans, Shard{}, f.Store) {
		if j.Have || slices.Contains(without, j.Cell.Dataset) {
			continue
		}
		cost, cores := f.Cost.Job(j, f.Chains), 1
		if j.Kind == store.Reference {
			cores = min(f.Workers, j.Spec.Chains)
		}
		all += cost
		longest = max(longest, cost/float64(cores))
	}
	return time.Duration(max(all/float64(f.Workers), longest) * float64(time.Second))
}

// LeaveOut returns the data sets, the most expensive ones, without which the rest
// fits. If the plans do not fit even without any data set, that is a usage error.
func (f Fitting) LeaveOut(plans []bench.Plan) ([]string, error) {
	costs := make(map[string]float64)
	var sets, out []string
	for _, j := range Jobs(plans, Shard{}, f.Store) {
		if d := j.Cell.Dataset; d != "" && !j.Have {
			if _, known := costs[d]; !known {
				sets = append(sets, d)
			}
			costs[d] += f.Cost.Job(j, f.Chains)
		}
	}
	slices.SortStableFunc(sets, func(a, b string) int { return cmp.Compare(costs[b], costs[a]) })
	for f.Time(plans, out...) > f.Limit {
		if len(out) == len(sets) {
			return nil, usage.Errorf("what needs no data takes %s, and %s are left: want more time, or fewer studies",
				f.Time(plans, out...).Round(time.Second), f.Limit.Round(time.Second))
		}
		out = sets[:len(out)+1]
	}
	return out, nil
}

// Most returns the largest n up to most, such as a number of splits, whose plans
// fit; 0 if not even those of 1 do.
func (f Fitting) Most(most int, plans func(n int) ([]bench.Plan, error)) (int, error) {
	for n := 1; ; n++ {
		p, err := plans(n)
		if err != nil || f.Time(p) > f.Limit {
			return n - 1, err
		}
		if n == most {
			return n, nil
		}
	}
}
