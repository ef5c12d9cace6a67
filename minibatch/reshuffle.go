package minibatch

import "math/rand/v2"

// A random order of a partition leaves what is of order 2 or less (Franzese et
// al. 2022, Theorem 2).
var reshuffleMethod = Method{
	Name:   "reshuffle",
	About:  "fixed partition, a fresh uniform order of the K batches every epoch (Franzese et al. 2022, Theorem 2)",
	Visits: Permutation{},
	Cap:    Cap{Marginal: 2, Joint: 2},
	Index:  newReshuffle,
}

// reshuffle goes through a uniform order of 0 … K−1, then through the next.
type reshuffle struct {
	order []int
	at    int
	rng   *rand.Rand
}

func newReshuffle(k int, rng *rand.Rand) Index {
	return &reshuffle{order: identity(k), rng: rng}
}

func (s *reshuffle) Next() int {
	if s.at == 0 {
		shuffle(s.order, s.rng)
	}
	i := s.order[s.at]
	s.at = (s.at + 1) % len(s.order)
	return i
}
