package minibatch

import "math/rand/v2"

var repartitionMethod = Method{
	Name:  "repartition",
	About: "rows shuffled anew and cut into K batches every epoch",
	Stream: func(rows, k int, rng *rand.Rand) Stream {
		return &repartition{order: identity(rows), k: k, rng: rng}
	},
}

// repartition cuts a fresh arrangement of the rows every K steps. Its order of
// the batches needs no draw: all orders of a uniform arrangement are alike.
type repartition struct {
	order []int
	k, at int
	rng   *rand.Rand
}

func (s *repartition) Next() Batch {
	first := s.at == 0
	if first {
		shuffle(s.order, s.rng)
	}
	b := cut(len(s.order), s.k, s.at)
	b.Rearranged = first
	s.at = (s.at + 1) % s.k
	return b
}

func (s *repartition) Arrangement() []int { return s.order }
