package minibatch

import "math/rand/v2"

// A sweep forwards and backwards is a symmetric splitting, of order 2 (Paulin et
// al. 2024).
var symmetricMethod = Method{
	Name:   "symmetric",
	About:  "fixed partition, a fresh order forwards, then the same order backwards (Paulin et al. 2024)",
	Visits: Palindrome{},
	Cap:    Cap{Marginal: 2, Joint: 2},
	Index:  newSymmetric,
}

// symmetric goes through a uniform order of 0 … K−1 forwards and backwards,
// 2K numbers, then through the next. The last of the forward sweep is also the
// first of the backward one.
type symmetric struct {
	order []int
	at    int // 0 … 2K−1
	rng   *rand.Rand
}

func newSymmetric(k int, rng *rand.Rand) Index {
	return &symmetric{order: identity(k), rng: rng}
}

func (s *symmetric) Next() int {
	k := len(s.order)
	if s.at == 0 {
		shuffle(s.order, s.rng)
	}
	i := s.order[min(s.at, 2*k-1-s.at)]
	s.at = (s.at + 1) % (2 * k)
	return i
}
