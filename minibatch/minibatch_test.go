package minibatch

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestEveryEpochCoversEveryRowOnce(t *testing.T) {
	const rows, k = 455, 57
	for _, name := range []string{"reshuffle"} {
		s, err := New(name, rows, k, source(1))
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range 5 {
			seen := make([]int, rows)
			for range k {
				b := s.Next()
				for _, row := range s.Arrangement()[b.Lo:b.Hi] {
					seen[row]++
				}
			}
			if slices.Min(seen) != 1 || slices.Max(seen) != 1 {
				t.Errorf("%s: epoch %d covers rows %d to %d times, want once", name, epoch, slices.Min(seen), slices.Max(seen))
			}
		}
	}
}
