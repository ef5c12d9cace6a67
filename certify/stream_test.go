package certify

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hambench/chain/minibatch"
)

// The engines average over orders that Visits describes; the sampler draws
// them from an Index. What is analysed is what is drawn: the symmetry of each
// order, over many periods.
func TestStreamsAreWhatIsAnalysed(t *testing.T) {
	const k, periods = 5, 200
	for _, m := range ExactSchemes() {
		batches := k
		if m.Whole() {
			batches = 1
		}
		index := m.Index(batches, rand.New(rand.NewPCG(1, 2)))
		var first []int
		fresh, proper := 0, 0
		for range periods {
			var p []int
			for range m.Visits.Period(batches) {
				p = append(p, index.Next())
			}
			if first == nil {
				first = p
			}
			if !slices.Equal(p, first) {
				fresh++
			}
			if isPeriodOf(m.Visits, p, batches) {
				proper++
			}
		}
		if proper != periods {
			t.Errorf("%s: %d of %d periods have the order that is analysed", m.Name, proper, periods)
		}
		// A period repeats the first one by chance with probability 1/5! or
		// less, a single index with 1/5: 100 of 199 repeats or more have the
		// probability 2e-21.
		_, cyclic := m.Visits.(minibatch.Cycle)
		repeats := cyclic || m.Whole()
		if repeats != (fresh == 0) || !repeats && fresh < 100 {
			t.Errorf("%s: %d of %d periods differ from the first", m.Name, fresh, periods-1)
		}
	}
}

// isPeriodOf reports whether p is one period of an order of k batches.
func isPeriodOf(v minibatch.Visits, p []int, k int) bool {
	sorted := slices.Sorted(slices.Values(p[:min(k, len(p))]))
	permutation := len(sorted) == k
	for i, v := range sorted {
		permutation = permutation && v == i
	}
	switch v.(type) {
	case minibatch.Independent:
		return len(p) == 1 && p[0] >= 0 && p[0] < k
	case minibatch.Palindrome:
		backwards := slices.Clone(p)
		slices.Reverse(backwards)
		return permutation && len(p) == 2*k && slices.Equal(p, backwards)
	}
	return permutation && len(p) == k
}
