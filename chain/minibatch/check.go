package minibatch

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

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
	fewer := min(k, checkedBatches)
	if m.Whole() {
		fewer = 1
	} else if _, listed := m.Visits.(Words); listed { // perhaps of some numbers of batches alone
		fewer = k
	}
	length := max(1, m.Visits.Period(fewer))
	index, words := m.Index(fewer, rand.New(rand.NewPCG(31, 7))), [][]int(nil)
	for range max(2, mostChecked/length) {
		w := make([]int, length)
		for i := range w {
			w[i] = index.Next()
		}
		words = append(words, w)
	}
	law, err := m.law(fewer, words[0])
	if err != nil {
		return err
	}
	rate, pairRate := make(map[string]float64), make(map[string]float64)
	for _, w := range law {
		rate[nameOf(w.Batches)] += w.Probability
	}
	if len(rate) <= mostPaired {
		for a, p := range rate {
			for b, q := range rate {
				pairRate[a+b] += p * q
			}
		}
	}
	seen, pairs, before := make(map[string]float64), make(map[string]float64), ""
	for i, w := range words {
		now := nameOf(w)
		if rate[now] == 0 {
			return usage.Errorf("scheme %q states visits by %T, under which K = %d batches never "+
				"come in the order %v: its Index drew that", m.Name, m.Visits, fewer, w)
		}
		seen[now]++
		if i%2 == 1 {
			pairs[before+now]++
		}
		before = now
	}
	if unlikely(seen, rate, float64(len(words))) ||
		unlikely(pairs, pairRate, float64(len(words)/2)) {
		return usage.Errorf("scheme %q states visits by %T: its Index draws orders of K = %d "+
			"batches at other rates, or not independently", m.Name, m.Visits, fewer)
	}
	return nil
}

// nameOf is a word as a key of a map.
func nameOf(word []int) string {
	name := make([]byte, 0, 2*len(word))
	for _, i := range word {
		name = binary.AppendVarint(name, int64(i))
	}
	return string(name)
}

// law returns the words of the visits to k batches; of one order for ever, that of the first word.
func (m Scheme) law(k int, first []int) ([]Word, error) {
	all := combin.Permutations(k, k)
	switch v := m.Visits.(type) {
	case Single:
		return EquallyLikely([][]int{{0}}), nil
	case Independent:
		return EquallyLikely(combin.Permutations(k, 1)), nil
	case Permutation:
		return EquallyLikely(all), nil
	case Cycle:
		all = slices.DeleteFunc(all, func(w []int) bool { return !slices.Equal(w, first) })
		return EquallyLikely(all), nil
	case Palindrome:
		for i, w := range all {
			back := slices.Clone(w)
			slices.Reverse(back)
			all[i] = append(w, back...)
		}
		return EquallyLikely(all), nil
	case Words:
		return v.Check(k)
	}
	return nil, usage.Errorf("scheme %q visits its batches by %T, which is no law of package "+
		"minibatch", m.Name, m.Visits)
}

// unlikely reports whether counts of n draws are so far from the rates that their law hardly
// produces them: by Pearson's statistic, whose tail is at most e^−surprise above the bound of
// Laurent & Massart (2000, lemma 1). What is rare counts together.
func unlikely(counts, rates map[string]float64, n float64) bool {
	sum, freedom, rare, expected := 0.0, -1.0, 0.0, 0.0
	add := func(count, mean float64) {
		sum += (count - mean) * (count - mean) / mean
		freedom++
	}
	for word, p := range rates {
		if n*p >= oftenEnough {
			add(counts[word], n*p)
		} else {
			rare, expected = rare+counts[word], expected+n*p
		}
	}
	if expected >= oftenEnough {
		add(rare, expected)
	}
	freedom = max(freedom, 0)
	return sum > freedom+2*math.Sqrt(freedom*surprise)+2*surprise
}
