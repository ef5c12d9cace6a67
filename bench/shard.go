package bench

import (
	"strconv"
	"strings"

	"hambench/internal/random"
	"hambench/internal/usage"
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

// Has reports whether the shard holds what has the given key.
func (s Shard) Has(key string) bool {
	return s.Count <= 1 || random.KeyOf(key)%uint64(s.Count) == uint64(s.Index)
}

// slice cuts an experiment to the shard. A choice stays whole, with its
// first cell: which of its cells are needed is known only in order.
func (s Shard) slice(e Experiment) Experiment {
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

func (s Shard) String() string {
	if s.Count <= 1 {
		return ""
	}
	return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Count)
}
