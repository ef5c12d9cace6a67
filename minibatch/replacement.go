package minibatch

import "math/rand/v2"

var replacementMethod = Method{
	Name:  "replacement",
	About: "fixed partition, a batch drawn uniformly at every step",
	Order: Independent,
	index: newReplacement,
	rows: func(rows, k int, rng *rand.Rand) Stream {
		return newPartition(rows, k, rng, newReplacement)
	},
}

// replacement draws every number independently.
type replacement struct {
	k   int
	rng *rand.Rand
}

func newReplacement(k int, rng *rand.Rand) Index { return &replacement{k, rng} }

func (s *replacement) Next() int { return s.rng.IntN(s.k) }
