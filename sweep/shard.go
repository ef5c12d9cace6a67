package sweep

import (
	"slices"
	"strconv"
	"strings"

	"hambench/bench"
	"hambench/noise"
	"hambench/store"
	"hambench/usage"
)

// Shard is one of Count slices of a list of cells, by key: the slices are
// disjoint, and together they are the list. The zero Shard is all of it.
type Shard struct{ Index, Count int }

// ParseShard reads "i/n", 0 ≤ i < n; "" is the whole.
func ParseShard(s string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	index, count, _ := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if err1 != nil || err2 != nil || n < 1 || i < 0 || i >= n {
		return Shard{}, usage.Errorf("shard %q: want i/n with 0 ≤ i < n, such as 0/4", s)
	}
	return Shard{i, n}, nil
}

// ShardOf returns the index of the shard, of n, that holds what has the given
// key.
func ShardOf(key string, n int) int {
	if n <= 1 {
		return 0
	}
	return int(noise.KeyOf(key) % uint64(n))
}

// Has reports whether the shard holds what has the given key.
func (s Shard) Has(key string) bool { return s.Count <= 1 || ShardOf(key, s.Count) == s.Index }

// Deals reports whether the shard holds the i-th of a list that is dealt out
// in turn: the few references of a run would be spread unevenly by their keys.
func (s Shard) Deals(i int) bool { return s.Count <= 1 || i%s.Count == s.Index }

// Slice cuts a study to the shard. A choice stays whole, with its first cell:
// which of its cells are needed is known only in order.
func (s Shard) Slice(e bench.Study) bench.Study {
	if s.Count <= 1 {
		return e
	}
	e.Cells = slices.DeleteFunc(slices.Clone(e.Cells), func(j bench.Job) bool { return !s.Has(j.Key) })
	e.Choices = slices.DeleteFunc(slices.Clone(e.Choices), func(c bench.Choice) bool { return !s.Has(c[0].Key) })
	e.Exact = slices.DeleteFunc(slices.Clone(e.Exact), func(j bench.ExactJob) bool { return !s.Has(j.Key) })
	return e
}

// Coverage says which of the jobs that plans need are there.
type Coverage struct {
	Cells   int                // needed, as far as is known: of a choice one
	Exact   int                // exact jobs needed
	Missing [][]bench.Job      // by shard, each cell once
	Lacking [][]bench.ExactJob // exact jobs, in the same way
}

// Cover compares the plans with what the store has, by the shards of n that
// compute what is missing.
func Cover(plans []bench.Plan, n int, s *store.Store) Coverage {
	cover := Coverage{Missing: make([][]bench.Job, max(n, 1)), Lacking: make([][]bench.ExactJob, max(n, 1))}
	results := bench.Results{Store: s}
	seen := make(map[string]bool)
	count := func(key string, of *int) (isNew bool) {
		isNew = !seen[key]
		if isNew {
			seen[key] = true
			*of++
		}
		return isNew
	}
	for _, p := range plans {
		for _, j := range p.Cells {
			if count(j.Key, &cover.Cells) && !s.Has(store.Result, j.Key) {
				at := ShardOf(j.Key, n)
				cover.Missing[at] = append(cover.Missing[at], j)
			}
		}
		for _, c := range p.Choices {
			r, next, ok := c.Settle(results.Result)
			if ok {
				count(r.Key, &cover.Cells)
			} else if count(next.Key, &cover.Cells) { // the choice stays with its first cell
				at := ShardOf(c[0].Key, n)
				cover.Missing[at] = append(cover.Missing[at], next)
			}
		}
		for _, j := range p.Exact {
			if count(j.Key, &cover.Exact) && !s.Has(store.Exact, j.Key) {
				at := ShardOf(j.Key, n)
				cover.Lacking[at] = append(cover.Lacking[at], j)
			}
		}
	}
	return cover
}

func (s Shard) String() string {
	if s.Count <= 1 {
		return ""
	}
	return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Count)
}
