package bench

import (
	"strconv"
	"strings"

	"hambench/noise"
	"hambench/oracle"
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
// in turn: the few oracles of a run would be spread unevenly by their keys.
func (s Shard) Deals(i int) bool { return s.Count <= 1 || i%s.Count == s.Index }

// Slice cuts an experiment to the shard. A choice stays whole, with its
// first cell: which of its cells are needed is known only in order.
func (s Shard) Slice(e Experiment) Experiment {
	if s.Count <= 1 {
		return e
	}
	out := e
	out.Cells, out.Choices = nil, nil
	for _, c := range e.Cells {
		if s.Has(c.Key()) {
			out.Cells = append(out.Cells, c)
		}
	}
	for _, ch := range e.Choices {
		if s.Has(ch[0].Key()) {
			out.Choices = append(out.Choices, ch)
		}
	}
	return out
}

// Coverage says which of the cells that experiments need are there.
type Coverage struct {
	Cells   int      // needed, as far as is known: of a choice one
	Missing [][]Cell // by shard, each cell once
}

// Cover compares the experiments with what get has, by the shards of n that
// compute what is missing.
func Cover(exps []Experiment, n int, get func(key string) (Result, bool)) Coverage {
	cover := Coverage{Missing: make([][]Cell, max(n, 1))}
	seen := make(map[string]bool)
	count := func(key string) (isNew bool) {
		isNew = !seen[key]
		if isNew {
			seen[key] = true
			cover.Cells++
		}
		return isNew
	}
	for _, e := range exps {
		for _, c := range e.Cells {
			key := c.Key()
			if _, ok := get(key); count(key) && !ok {
				at := ShardOf(key, n)
				cover.Missing[at] = append(cover.Missing[at], c)
			}
		}
		for _, ch := range e.Choices {
			r, next, ok := ch.settle(get)
			if ok {
				count(r.Key)
			} else if count(next.Key()) { // the choice stays with its first cell
				at := ShardOf(ch[0].Key(), n)
				cover.Missing[at] = append(cover.Missing[at], next)
			}
		}
	}
	return cover
}

// Oracles returns the references of the experiments, each once, in their
// order.
func Oracles(exps []Experiment) []oracle.Spec {
	seen := make(map[string]bool)
	var specs []oracle.Spec
	for _, e := range exps {
		for _, spec := range e.Oracles {
			if key := spec.Key(); !seen[key] {
				seen[key] = true
				specs = append(specs, spec)
			}
		}
	}
	return specs
}

func (s Shard) String() string {
	if s.Count <= 1 {
		return ""
	}
	return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Count)
}
