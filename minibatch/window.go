package minibatch

import "math/rand/v2"

var windowMethod = Method{
	Name:   "window",
	About:  "round(N/K) contiguous rows at a uniform random offset, as pysgmcmc draws them",
	Stream: newWindow,
}

// window draws B = round(N/K) contiguous rows of an arrangement that is
// shuffled once, at an offset uniform on 0 … N−B, with scale N/B. It is kept
// for comparison: rows near the ends of the arrangement lie in fewer windows
// than those in the middle, so that, given the arrangement, the gradient is
// biased. Only the mean over arrangements is not.
type window struct {
	order   []int
	size    int
	rng     *rand.Rand
	started bool
}

func newWindow(rows, k int, rng *rand.Rand) Stream {
	s := &window{order: identity(rows), size: size(rows, k), rng: rng}
	shuffle(s.order, rng)
	return s
}

func (s *window) Next() Batch {
	n := len(s.order)
	lo := s.rng.IntN(n - s.size + 1)
	b := Batch{Index: -1, Lo: lo, Hi: lo + s.size, Scale: float64(n) / float64(s.size), Rearranged: !s.started}
	s.started = true
	return b
}

func (s *window) Arrangement() []int { return s.order }
