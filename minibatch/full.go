package minibatch

import "math/rand/v2"

var fullMethod = Method{
	Name:   "full",
	About:  "all rows at every step (K = 1)",
	Visits: Single{},
	Cap:    Unlimited,
	Index:  func(int, *rand.Rand) Index { return zero{} },
	Stream: func(rows, k int, _ *rand.Rand) Stream {
		return &partition{order: identity(rows), k: k, index: zero{}}
	},
}

// zero is the sequence 0, 0, ….
type zero struct{}

func (zero) Next() int { return 0 }
