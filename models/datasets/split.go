package datasets

import (
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"

	"hambench/internal/rows"
)

// Seeds of the splits: those that Gal and Ghahramani (2016) published with the
// regression sets were drawn with seed 1; the classification sets have none that
// are published, so theirs is the project's own.
const (
	publishedSeed = 1
	ownSeed       = 2022
)

// permuted returns a Divide by random permutations, all of them drawn one after another
// from numpy's legacy generator, as the published splits were. The first rows of a permutation
// train, those from place half on test, and the rest is left out.
func permuted(seed uint64, n, half, train, test int) func(index int) ([]int, []int) {
	return func(index int) ([]int, []int) {
		g := prng.NewMT19937()
		g.Seed(seed)
		var p []int // of the split, once those of all before it are drawn
		for range index + 1 {
			p = permutation(g, n)
		}
		return p[:train:train], p[half : half+test : half+test]
	}
}

// permutation is numpy's RandomState.permutation(n): Fisher and Yates from the last
// element on.
func permutation(g *prng.MT19937, n int) []int {
	p := rows.Identity(n)
	for i := n - 1; i > 0; i-- {
		j := interval(g, uint32(i))
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// interval is numpy's legacy random_interval: uniform on 0 … limit by masked
// rejection.
func interval(g *prng.MT19937, limit uint32) uint32 {
	// The mask has as many bits as the limit, so that less than half of the draws are rejected.
	mask := uint32(1)<<bits.Len32(limit) - 1
	for {
		if v := g.Uint32() & mask; v <= limit {
			return v
		}
	}
}

// fixedSplit returns a Divide with the same split for every index: the first rows train,
// the others test.
func fixedSplit(n, train int) func(index int) ([]int, []int) {
	return func(int) ([]int, []int) {
		p := rows.Identity(n)
		return p[:train:train], p[train:]
	}
}
