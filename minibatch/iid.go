package minibatch

import "math/rand/v2"

var iidMethod = Method{
	Name:   "iid",
	About:  "round(N/K) rows drawn independently and uniformly, with replacement (Welling & Teh 2011)",
	Stream: newIID,
	Lists:  true,
}

// iid draws B = round(N/K) rows independently and uniformly with replacement,
// with scale N/B: the batches that most analyses of stochastic gradients
// assume. The variance of the gradient is that of one row over B; batches
// without replacement have less, by the factor (N − B)/(N − 1).
type iid struct {
	order   []int // as given
	list    []int
	rng     *rand.Rand
	started bool
}

func newIID(rows, k int, rng *rand.Rand) Stream {
	return &iid{order: identity(rows), list: make([]int, size(rows, k)), rng: rng}
}

func (s *iid) Next() Batch {
	n := len(s.order)
	for i := range s.list {
		s.list[i] = s.rng.IntN(n)
	}
	b := Batch{Index: -1, List: s.list, Scale: float64(n) / float64(len(s.list)), Rearranged: !s.started}
	s.started = true
	return b
}

func (s *iid) Arrangement() []int { return s.order }
