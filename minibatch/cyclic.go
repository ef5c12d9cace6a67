package minibatch

import "math/rand/v2"

var cyclicMethod = Method{
	Name:  "cyclic",
	About: "fixed partition, one uniform order of the K batches for ever",
	Order: Cycle,
	index: newCyclic,
	rows: func(rows, k int, rng *rand.Rand) Stream {
		return newPartition(rows, k, rng, newCyclic)
	},
}

// cyclic repeats one uniform order of 0 … K−1.
type cyclic struct {
	order []int
	at    int
}

func newCyclic(k int, rng *rand.Rand) Index {
	s := &cyclic{order: identity(k)}
	shuffle(s.order, rng)
	return s
}

func (s *cyclic) Next() int {
	i := s.order[s.at]
	s.at = (s.at + 1) % len(s.order)
	return i
}
