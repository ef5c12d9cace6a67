package minibatch

import "math/rand/v2"

// One order for ever is a splitting that is not symmetric: conjugate to one of
// order 2 by a map that moves θ by O(h²) but mixes O(h) of the gradients'
// differences into r, so that the joint law is of order 1.
var cyclicMethod = Method{
	Name:   "cyclic",
	About:  "fixed partition, one uniform order of the K batches for ever",
	Visits: Cycle{},
	Cap:    Cap{Marginal: 2, Joint: 1},
	Index:  newCyclic,
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
