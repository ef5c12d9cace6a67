package minibatch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
)

// Fingerprint returns a digest of what a scheme does: the batches that it draws
// first for a few sizes of data, and the law that it states. It changes when
// these do, and is the same on all machines: what it digests are integers, and
// scales and weights to the bit.
func Fingerprint(m Scheme) string {
	h := sha256.New()
	for _, size := range []struct{ rows, k int }{{3, 1}, {7, 3}, {31, 4}} {
		s, err := m.New(size.rows, size.k, rand.New(rand.NewPCG(uint64(size.rows), 0)))
		if err != nil { // a number of batches that the scheme refuses
			fmt.Fprintln(h, err)
			continue
		}
		for range 3 * size.k {
			hashBatch(h, s)
		}
		hashVisits(h, m, size.k)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// hashBatch adds the rows of the next batch, by their numbers in the data.
func hashBatch(h hash.Hash, s Stream) {
	b := s.Next()
	fmt.Fprintln(h, b.Index, s.Arrangement()[b.Lo:b.Hi], b.List, math.Float64bits(b.Scale))
	for _, w := range b.Weights {
		fmt.Fprintln(h, math.Float64bits(w))
	}
}

// hashVisits adds the law of the visits and the cap that a scheme states, if it does.
func hashVisits(h hash.Hash, m Scheme, k int) {
	if m.Visits == nil {
		return
	}
	fmt.Fprintf(h, "%T %d %v\n", m.Visits, m.Visits.Period(k), m.Cap)
	if w, ok := m.Visits.(Words); ok {
		fmt.Fprintln(h, w.List(k))
	}
}
