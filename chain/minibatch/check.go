package minibatch

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"hambench/usage"
)

const (
	// checkedBatches are enough to tell the laws apart: of three batches there are six orders.
	checkedBatches = 3
	// mostChecked bounds the numbers that are drawn for a check, and oftenEnough is how many
	// times a word or a pair of words must be expected to count on its own.
	mostChecked, oftenEnough = 6_000, 10
	// mostPaired is how many words there may be for pairs of them to be looked at.
	mostPaired = 20
	// surprise is the logarithm of the odds against a scheme of the stated law being refused.
	surprise = 25
)

// CheckVisits runs the scheme's Index for k batches, or three of more unless Visits are Words,
// and returns a usage error if what it draws does not follow the law that Visits states: a word
// that the law does not have, or words, or pairs of neighbouring ones, too often or too rarely.
// It takes less than a millisecond. The seed is fixed: what passes once passes always.
func (m Scheme) CheckVisits(k int) error {
	if m.Visits == nil || m.Index == nil || k < 2 && !m.Whole() {
		return nil
	}
	// A law for any number of batches is checked with three: there are then so few words that each
	// is drawn often.
	fewer := min(k, checkedBatches)
	if m.Whole() {
		fewer = 1
	} else if _, listed := m.Visits.(Words); listed { // perhaps of some numbers of batches alone
		fewer = k
	}
	index := m.Index(fewer, rand.New(rand.NewPCG(31, 7)))
	word := make([]int, max(1, m.Visits.Period(fewer)))
	draw := func() {
		for i := range word {
			word[i] = index.Next()
		}
	}
	draw()
	law, err := m.Law(fewer)
	if err != nil {
		return err
	}
	// One order for ever is that of the first word: batches have no numbers of their own.
	ordered := slices.Equal(slices.Sorted(slices.Values(word)), law[0].Batches)
	if _, cyclic := m.Visits.(Cycle); cyclic && ordered {
		law[0].Batches = slices.Clone(word)
	}
	// The rates of the words, each at its place in rates and in seen: equal words of a list count
	// together. Pair (i, j) of words in a row is at place i·len(rates) + j.
	place, rates := make(map[string]int), []float64(nil) // of words that differ
	for _, w := range law {
		name := string(nameOf(nil, w.Batches))
		if _, twice := place[name]; !twice {
			place[name], rates = len(rates), append(rates, 0)
		}
		rates[place[name]] += w.Probability
	}
	var pairRates []float64
	if len(rates) <= mostPaired {
		for _, p := range rates {
			for _, q := range rates {
				pairRates = append(pairRates, p*q)
			}
		}
	}
	seen, pairs := make([]float64, len(rates)), make([]float64, len(pairRates))
	words, before, name := max(2, mostChecked/len(word)), 0, []byte(nil)
	for i := range words {
		name = nameOf(name[:0], word)
		now, known := place[string(name)]
		if !known || rates[now] == 0 {
			return usage.Errorf("scheme %q states visits by %T, under which K = %d batches never "+
				"come in the order %v: its Index drew that", m.Name, m.Visits, fewer, word)
		}
		seen[now]++
		// Pairs that do not overlap: their counts are then those of independent draws.
		if i%2 == 1 && len(pairs) > 0 {
			pairs[before*len(rates)+now]++
		}
		before = now
		draw()
	}
	if unlikely(seen, rates, float64(words)) || unlikely(pairs, pairRates, float64(words/2)) {
		return usage.Errorf("scheme %q states visits by %T: its Index draws orders of K = %d "+
			"batches at other rates, or not independently", m.Name, m.Visits, fewer)
	}
	return nil
}

// nameOf appends a word as a key of a map.
func nameOf(to []byte, word []int) []byte {
	for _, i := range word {
		to = binary.AppendVarint(to, int64(i))
	}
	return to
}

// unlikely reports whether counts of n draws are so far from the rates that their law hardly
// produces them: by Pearson's statistic, whose tail is at most e^−surprise above the bound of
// Laurent & Massart (2000, lemma 1). What is rare counts together.
func unlikely(counts, rates []float64, n float64) bool {
	sum, freedom, rare, expected := 0.0, -1.0, 0.0, 0.0
	add := func(count, mean float64) {
		sum += (count - mean) * (count - mean) / mean
		freedom++
	}
	for i, p := range rates {
		if n*p >= oftenEnough {
			add(counts[i], n*p)
		} else {
			rare, expected = rare+counts[i], expected+n*p
		}
	}
	if expected >= oftenEnough {
		add(rare, expected)
	}
	// Counts of one class, or of none, cannot differ from their rates.
	freedom = max(freedom, 0)
	return sum > freedom+2*math.Sqrt(freedom*surprise)+2*surprise
}
