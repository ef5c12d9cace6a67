package compare

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"

	"hambench/usage"
)

// name is what messages call a chain.
func (s Side) name(chain int) string {
	if chain < len(s.Of) {
		return s.Of[chain]
	}
	return fmt.Sprintf("chain %d", chain+1)
}

// checkCopies refuses a side in which two chains hold the same draws, one of them perhaps the
// beginning of the other: they would count as independent. Chains that never moved are no
// copies, nor are equal ones whose values are so few, and moves so rare, that independent
// chains may agree.
func (s Side) checkCopies(what string) error {
	if a, b, copied := s.copies(0); copied {
		return usage.Errorf("%s: %s and %s hold the same draws: want each chain once, with a seed "+
			"of its own", what, s.name(a), s.name(b))
	}
	return nil
}

// copies finds two chains that hold the same draws: one of the first few, and one behind them;
// any two if the first are none. So one search serves for a side, and for both sides put
// together. Chains of few values agree by chance: they are copies only if less than stuckChance
// such agreements are expected among all pairs that are looked at.
func (s Side) copies(first int) (a, b int, found bool) {
	// Counting the values takes longer than all else, and is needed only if two chains agree.
	shares := sync.OnceValue(s.shares)
	n := len(s.Chains)
	pairs := float64(n*(n-1)) / 2
	if first > 0 {
		pairs = float64(first * (n - first))
	}
	for b := first; b < n; b++ {
		for a := range b {
			if first > 0 && a >= first {
				break
			}
			if s.alike(a, b) && pairs*s.agreement(a, b, shares) < stuckChance {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

// common is how many draws two chains both have.
func (s Side) common(a, b int) int { return min(len(s.Chains[a][0]), len(s.Chains[b][0])) }

// alike reports whether two chains agree in all columns, as far as the shorter one goes.
func (s Side) alike(a, b int) bool {
	n := s.common(a, b)
	for j, x := range s.Chains[a] {
		if !slices.Equal(x[:n], s.Chains[b][j][:n]) {
			return false
		}
	}
	return true
}

// shares are those of each value of a column in the draws of all chains.
func (s Side) shares() []map[float64]float64 {
	of := make([]map[float64]float64, len(s.Names))
	for j := range of {
		of[j] = make(map[float64]float64)
		for _, x := range s.column(j) {
			for _, v := range x {
				of[j][v] += 1 / float64(s.draws())
			}
		}
	}
	return of
}

// agreement is the chance that a chain makes the moves of two that are alike, if it draws values
// by their shares: of the column in which it is smallest. Columns of one chain depend on each
// other, so that their chances are not multiplied. Draws that repeat the one before, as rejected
// proposals do, add no evidence. The sum is of logarithms, since the product underflows.
func (s Side) agreement(a, b int, shares func() []map[float64]float64) float64 {
	least := 0.0
	for j, x := range s.Chains[a] {
		logarithm := 0.0
		for i := 1; i < s.common(a, b); i++ {
			if x[i] != x[i-1] {
				logarithm += math.Log(shares()[j][x[i]])
			}
		}
		least = min(least, logarithm)
	}
	return math.Exp(least)
}

// Draws in other places than chains of the same draws have them: as many of a chain's, and so many
// times as many as independent draws of the law agree by chance, by the agreements within a side.
const (
	copiedShare  = 0.1
	beyondChance = 5
)

// digests are of one seed: those of two sides are compared.
var digests = maphash.MakeSeed()

// moves calls f for each draw that is not equal to the one before it in its chain, with the chain
// and a digest of its values.
func (s Side) moves(f func(chain int, digest uint64)) {
	var h maphash.Hash
	h.SetSeed(digests)
	for c, chain := range s.Chains {
		var last uint64
		for i := range chain[0] {
			h.Reset()
			for _, x := range chain {
				maphash.WriteComparable(&h, x[i])
			}
			digest := h.Sum64()
			if i == 0 || digest != last {
				f(c, digest)
			}
			last = digest
		}
	}
}

// again counts the draws of a side, without those that repeat the one before, and those of them
// that have the values of an earlier one.
func (s Side) again() (repeats, moves float64) {
	seen := make(map[uint64]bool)
	s.moves(func(_ int, digest uint64) {
		moves++
		if seen[digest] {
			repeats++
		}
		seen[digest] = true
	})
	return repeats, moves
}

// repeated returns that many draws of a side are those of other places in it, "" if not: of draws
// that were resampled, or a chain that was written twice in a row, the autocorrelation does not
// show how few they are. Of a law of few values independent draws agree, which the other side
// shows, and so do rounded ones, which the distance between values shows.
func repeated(side, other Side, what string) string {
	repeats, moves := side.again()
	if repeats <= copiedShare*moves {
		return ""
	}
	byChance, of := other.again()
	// The share of draws that repeat an earlier one by chance: it grows in proportion to their
	// number, by which the other side's is scaled up, with one repeat more than was seen. Values
	// on a grid repeat the more, the more draws there are for each of its places.
	expected := max((byChance+1)/of*max(1, moves/of), moves/side.places())
	if repeats > max(copiedShare, beyondChance*expected)*moves {
		return fmt.Sprintf("%s: %.0f of %.0f draws have the values of an earlier one that is not "+
			"next to them, as resampled draws have: want each draw once", what, repeats, moves)
	}
	return ""
}

// places is how many values a column could have within its range if the smallest distance between
// two of its values is that of all: of the column with most.
func (s Side) places() (most float64) {
	for j := range s.Names {
		x := slices.Concat(s.column(j)...)
		if d := spacing(x); d > 0 {
			most = max(most, (slices.Max(x)-slices.Min(x))/d)
		}
	}
	return most
}

// copiedFrom returns the chain of draws of which the largest share is held by the reference, too,
// at whatever place; -1 if no chain holds more of them than chance makes.
func copiedFrom(own, ref Side) int {
	byChance, of := ref.again()
	held := make(map[uint64]bool)
	ref.moves(func(_ int, digest uint64) { held[digest] = true })
	common, moves := make([]float64, len(own.Chains)), make([]float64, len(own.Chains))
	own.moves(func(c int, digest uint64) {
		moves[c]++
		if held[digest] {
			common[c]++
		}
	})
	most, largest := -1, max(copiedShare, beyondChance*(byChance+1)/of)
	for c, n := range common {
		if n > largest*moves[c] {
			most, largest = c, n/moves[c]
		}
	}
	return most
}
