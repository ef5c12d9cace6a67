package minibatch

import "math/rand/v2"

// The schemes whose batches belong to no partition: B = round(N/K) rows with
// scale N/B.
var (
	// Window is kept for comparison: rows near the ends of the arrangement lie
	// in fewer windows than those in the middle, so that, given the
	// arrangement, the gradient is biased. Only the mean over arrangements is
	// not.
	windowMethod = Method{
		Name:  "window",
		About: "round(N/K) contiguous rows at a uniform random offset, as pysgmcmc draws them",
		Stream: func(rows, k int, rng *rand.Rand) Stream {
			s := newDrawn(rows, k, rng)
			shuffle(s.order, rng)
			return s
		},
	}

	// Independent rows are what most analyses of stochastic gradients assume.
	// The variance of the gradient is that of one row over B; batches without
	// replacement have less, by the factor (N − B)/(N − 1).
	iidMethod = Method{
		Name:  "iid",
		About: "round(N/K) rows drawn independently and uniformly, with replacement (Welling & Teh 2011)",
		Stream: func(rows, k int, rng *rand.Rand) Stream {
			s := newDrawn(rows, k, rng)
			s.list = make([]int, s.size)
			return s
		},
		Lists: true,
	}
)

// drawn draws every batch anew: a list of rows, or else a window on the
// arrangement, at an offset uniform on 0 … N−B.
type drawn struct {
	order   []int
	size    int   // B
	list    []int // nil for windows
	rng     *rand.Rand
	started bool
}

func newDrawn(rows, k int, rng *rand.Rand) *drawn {
	return &drawn{order: identity(rows), size: (2*rows + k) / (2 * k), rng: rng}
}

func (s *drawn) Next() Batch {
	n := len(s.order)
	b := Batch{Index: -1, List: s.list, Scale: float64(n) / float64(s.size), Rearranged: !s.started}
	s.started = true
	for i := range s.list {
		s.list[i] = s.rng.IntN(n)
	}
	if s.list == nil {
		b.Lo = s.rng.IntN(n - s.size + 1)
		b.Hi = b.Lo + s.size
	}
	return b
}

func (s *drawn) Arrangement() []int { return s.order }
