package minibatch

import (
	"math"
	"math/rand/v2"
)

// The schemes with a fixed partition: they differ in the order in which they
// visit its batches.
var (
	fullScheme = Scheme{
		Name:   "full",
		About:  "all rows at every step (K = 1)",
		Visits: Single{},
		Cap:    Cap{Marginal: math.Inf(1), Joint: math.Inf(1)},
		Index:  newInOrder,
		Stream: func(rows, k int, _ *rand.Rand) Stream {
			return &stream{order: identity(rows), draw: func() Batch { return Cut(rows, k, 0) }}
		},
	}

	// A random order of a partition leaves what is of order 2 or less (Franzese
	// et al. 2022, Theorem 2).
	reshuffleScheme = Scheme{
		Name: "reshuffle",
		About: "fixed partition, a fresh uniform order of the K batches every epoch " +
			"(Franzese et al. 2022, Theorem 2)",
		Visits: Permutation{},
		Cap:    Cap{Marginal: 2, Joint: 2},
		Index: func(k int, rng *rand.Rand) Index {
			return &sweep{order: identity(k), period: k, rng: rng}
		},
	}

	// A batch drawn independently at every step adds noise of variance h²·Var(∇)
	// a step, O(h) a unit of time: of order 1 whatever the integrator.
	replacementScheme = Scheme{
		Name:   "replacement",
		About:  "fixed partition, a batch drawn uniformly at every step",
		Visits: Independent{},
		Cap:    Cap{Marginal: 1, Joint: 1},
		Index:  func(k int, rng *rand.Rand) Index { return &independent{k, rng} },
	}

	// One order for ever is a splitting that is not symmetric: conjugate to one
	// of order 2 by a map that moves θ by O(h²) but mixes O(h) of the
	// gradients' differences into r, so that the joint law is of order 1.
	cyclicScheme = Scheme{
		Name:   "cyclic",
		About:  "fixed partition, one uniform order of the K batches for ever",
		Visits: Cycle{},
		Cap:    Cap{Marginal: 2, Joint: 1},
		Index: func(k int, rng *rand.Rand) Index {
			return &sweep{order: shuffled(k, rng), period: k}
		},
	}

	// A sweep forwards and backwards is a symmetric splitting, of order 2
	// (Paulin et al. 2024).
	symmetricScheme = Scheme{
		Name: "symmetric",
		About: "fixed partition, a fresh order forwards, then the same order backwards " +
			"(Paulin et al. 2024)",
		Visits: Palindrome{},
		Cap:    Cap{Marginal: 2, Joint: 2},
		Index: func(k int, rng *rand.Rand) Index {
			return &sweep{order: identity(k), period: 2 * k, rng: rng}
		},
	}
)

// sweep is an Index that goes through an order of 0 … K − 1, again and again.
type sweep struct {
	order []int
	at    int // place in the period, 0 … period − 1
	// period is K for a sweep forwards, and 2K for one forwards and then backwards,
	// which visits the last batch twice in a row.
	period int
	rng    *rand.Rand // draws the order of each period; nil: the order stays
}

// newInOrder goes through 0 … K−1 as they are.
func newInOrder(k int, _ *rand.Rand) Index { return &sweep{order: identity(k), period: k} }

func (s *sweep) Next() int {
	if s.at == 0 && s.rng != nil {
		shuffle(s.order, s.rng)
	}
	// Forwards, then from the last place back: place K is K − 1 again.
	i := s.order[min(s.at, 2*len(s.order)-1-s.at)]
	s.at = (s.at + 1) % s.period
	return i
}

// independent is an Index that draws each number uniformly.
type independent struct {
	k   int
	rng *rand.Rand
}

func (s *independent) Next() int { return s.rng.IntN(s.k) }
