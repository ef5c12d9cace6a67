package sweep

import (
	"slices"
	"strconv"
	"strings"

	"hambench/bench"
	"hambench/noise"
	"hambench/usage"
)

// Shard is one of Count slices of a list of cells, by key: the slices are
// disjoint and together make up the list. The zero Shard is the whole list.
type Shard struct{ Index, Count int }

// ParseShard reads "i/n", 0 ≤ i < n; "" means the whole list.
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

// ShardOf returns the index of the shard, out of n, that holds what has the
// given key.
func ShardOf(key string, n int) int {
	if n <= 1 {
		return 0
	}
	return int(noise.KeyOf(key) % uint64(n))
}

// Has reports whether the shard holds what has the given key.
func (s Shard) Has(key string) bool { return ShardOf(key, s.Count) == s.Index }

// Deals reports whether the shard holds entry i of a list that is dealt out in
// turn: by their keys, the few references of a run would be spread unevenly.
func (s Shard) Deals(i int) bool { return s.Count <= 1 || i%s.Count == s.Index }

// Slice returns the shard's part of a study. A choice stays whole, with its first
// cell, since its cells must be run in order to know which are needed.
func (s Shard) Slice(e bench.Study) bench.Study {
	e.Cells = slices.DeleteFunc(slices.Clone(e.Cells), func(j bench.Job) bool { return !s.Has(j.Key) })
	e.Choices = slices.DeleteFunc(slices.Clone(e.Choices), func(c bench.Choice) bool { return !s.Has(c[0].Key) })
	e.Exact = slices.DeleteFunc(slices.Clone(e.Exact), func(j bench.ExactJob) bool { return !s.Has(j.Key) })
	return e
}
