package minibatch

import (
	"math/rand/v2"

	"hambench/internal/rows"
)

// Index is an endless sequence of batch numbers 0 … K−1.
type Index interface {
	// Next returns the number of the next step's batch.
	Next() int
}

// stream is a Stream over an arrangement of the rows.
type stream struct {
	order []int
	// draw returns the next batch; one that has changed order says Rearranged.
	draw    func() Batch
	started bool // a batch was drawn
}

func (s *stream) Next() Batch {
	b := s.draw()
	b.Rearranged = b.Rearranged || !s.started
	s.started = true
	return b
}

func (s *stream) Arrangement() []int { return s.order }

// partitioned returns the stream over a uniform random arrangement of the rows, cut into k
// batches, from which index chooses.
func partitioned(rows, k int, rng *rand.Rand, index func(k int, rng *rand.Rand) Index) Stream {
	order := shuffled(rows, rng)
	chosen := index(k, rng)
	return &stream{order: order, draw: func() Batch { return Cut(rows, k, chosen.Next()) }}
}

// repartition visits the batches of each new arrangement in the order 0 … K − 1: the rows
// are in random order already, so all orders have the same law.
var repartitionScheme = Scheme{
	Name:  "repartition",
	About: "rows shuffled anew and cut into K batches every epoch",
	Cap:   Cap{Marginal: 2, Joint: 2},
	Stream: func(rows, k int, rng *rand.Rand) Stream {
		order, index := identity(rows), newInOrder(k, rng)
		return &stream{order: order, draw: func() Batch {
			b := Cut(rows, k, index.Next())
			if b.Rearranged = b.Index == 0; b.Rearranged {
				shuffle(order, rng)
			}
			return b
		}}
	},
}

// Cut returns batch i of n rows cut into k: [⌊in/k⌋, ⌊(i+1)n/k⌋), so that sizes
// differ by at most one row. Each row is in one of the k batches: with the
// scale k, the mean of the batches' gradients is the gradient of all.
func Cut(n, k, i int) Batch {
	return Batch{Index: i, Lo: i * n / k, Hi: (i + 1) * n / k, Scale: float64(k)}
}

// identity returns 0, 1, …, n − 1.
var identity = rows.Identity

// shuffled returns a uniform random order of 0 … n − 1.
func shuffled(n int, rng *rand.Rand) []int {
	s := identity(n)
	shuffle(s, rng)
	return s
}

// shuffle puts s in uniform random order (Fisher and Yates). Unlike
// rand.Shuffle it needs no closure, and so no allocation.
func shuffle(s []int, rng *rand.Rand) {
	for i := len(s) - 1; i > 0; i-- {
		j := rng.IntN(i + 1)
		s[i], s[j] = s[j], s[i]
	}
}
