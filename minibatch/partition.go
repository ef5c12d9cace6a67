package minibatch

import "math/rand/v2"

// Index is an endless sequence of batch numbers 0 … K−1.
type Index interface {
	// Next returns the number of the next step's batch.
	Next() int
}

// partition is a stream over a partition of the rows, which is cut from an
// arrangement; index chooses the batch.
type partition struct {
	order   []int
	k       int
	index   Index
	rng     *rand.Rand // makes a new arrangement whenever batch 0 comes; nil: it stays
	started bool
}

// Partition cuts a uniform random arrangement of the rows into k batches, from
// which index chooses.
func Partition(rows, k int, rng *rand.Rand, index func(k int, rng *rand.Rand) Index) Stream {
	p := &partition{order: identity(rows), k: k}
	shuffle(p.order, rng)
	p.index = index(k, rng)
	return p
}

// The order of the batches of a new arrangement needs no draw: all orders are
// alike.
var repartitionMethod = Method{
	Name:  "repartition",
	About: "rows shuffled anew and cut into K batches every epoch",
	Stream: func(rows, k int, rng *rand.Rand) Stream {
		return &partition{order: identity(rows), k: k, index: newInOrder(k, rng), rng: rng}
	},
}

func (p *partition) Next() Batch {
	b := Cut(len(p.order), p.k, p.index.Next())
	anew := p.rng != nil && b.Index == 0
	if anew {
		shuffle(p.order, p.rng)
	}
	b.Rearranged = anew || !p.started
	p.started = true
	return b
}

func (p *partition) Arrangement() []int { return p.order }

// Cut returns batch i of n rows cut into k: [⌊in/k⌋, ⌊(i+1)n/k⌋), so that sizes
// differ by at most one row. Each row is in one of the k batches: with the
// scale k, the mean of the batches' gradients is the gradient of all.
func Cut(n, k, i int) Batch {
	return Batch{Index: i, Lo: i * n / k, Hi: (i + 1) * n / k, Scale: float64(k)}
}

func identity(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
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
