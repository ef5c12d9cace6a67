package minibatch

import "math/rand/v2"

// The noise of a batch drawn anew at every step has the variance h²·Var(∇) a
// step, O(h) a unit of time: of order 1 whatever the integrator.
var replacementMethod = Method{
	Name:   "replacement",
	About:  "fixed partition, a batch drawn uniformly at every step",
	Visits: Independent{},
	Cap:    Cap{Marginal: 1, Joint: 1},
	Index:  newReplacement,
}

// replacement draws every number independently.
type replacement struct {
	k   int
	rng *rand.Rand
}

func newReplacement(k int, rng *rand.Rand) Index { return &replacement{k, rng} }

func (s *replacement) Next() int { return s.rng.IntN(s.k) }
