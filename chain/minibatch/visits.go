package minibatch

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"hambench/usage"
)

// Visits is the law of the order in which a scheme visits the batches 0 … K−1
// of a fixed partition: it draws a word of batch numbers, independently of all
// earlier ones, goes through it, and draws the next. Package certify averages
// over the words exactly. It is one of the types below: five laws, of which two have
// recursions there, and Words for all others.
type Visits interface {
	// Period is the length of a word for k batches.
	Period(k int) int
	// law returns the words for k batches; see Scheme.Law.
	law(k int) ([]Word, error)
}

type (
	// Single is the law of one batch, which holds all rows.
	Single struct{}
	// Independent is the law of a uniform batch at every step.
	Independent struct{}
	// Permutation is the law of a fresh uniform order every K steps.
	Permutation struct{}
	// Cycle is the law of one order, 0 … K−1 after renumbering, forever.
	Cycle struct{}
	// Palindrome is the law of a fresh uniform order, forwards and then
	// backwards, every 2K steps.
	Palindrome struct{}
	// Words is the law of a word drawn from a finite list.
	Words struct {
		// Length is the length of all words for k batches.
		Length func(k int) int
		// List returns the words for k batches.
		List func(k int) []Word
	}
)

// Word is a sequence of batch numbers with its probability.
type Word struct {
	Batches     []int
	Probability float64
}

// EquallyLikely gives each of the sequences the same probability.
func EquallyLikely(sequences [][]int) []Word {
	words := make([]Word, len(sequences))
	for i, s := range sequences {
		words[i] = Word{s, 1 / float64(len(sequences))}
	}
	return words
}

func (Single) Period(int) int        { return 1 }
func (Independent) Period(int) int   { return 1 }
func (Permutation) Period(k int) int { return k }
func (Cycle) Period(k int) int       { return k }
func (Palindrome) Period(k int) int  { return 2 * k }
func (w Words) Period(k int) int     { return w.Length(k) }

// Law returns the words for k batches, of Visits that are stated. Of all orders there are K!. It
// is a usage error if words that are listed are not of one length over the numbers 0 … k−1, or if
// their probabilities do not add up to 1.
func (m Scheme) Law(k int) ([]Word, error) { return m.Visits.law(k) }

func (Single) law(int) ([]Word, error)        { return EquallyLikely([][]int{{0}}), nil }
func (Independent) law(k int) ([]Word, error) { return EquallyLikely(orders(k, 1)), nil }
func (Permutation) law(k int) ([]Word, error) { return EquallyLikely(orders(k, k)), nil }
func (Cycle) law(k int) ([]Word, error)       { return EquallyLikely([][]int{identity(k)}), nil }

// orders lists all sequences of n different batches of k.
var orders = combin.Permutations

// law returns K! words of length 2K, each an order and the same order backwards.
func (Palindrome) law(k int) ([]Word, error) {
	words := orders(k, k)
	for i, w := range words {
		for _, batch := range slices.Backward(slices.Clone(w)) {
			words[i] = append(words[i], batch)
		}
	}
	return EquallyLikely(words), nil
}

// probabilityTolerance bounds the difference between a sum of probabilities and 1: the
// rounding of a million of them.
const probabilityTolerance = 1e-9

// law returns the words of List once they are checked: they may be a user's.
func (w Words) law(k int) ([]Word, error) {
	words, total := w.List(k), 0.0
	for i, word := range words {
		if len(word.Batches) != w.Length(k) {
			return nil, usage.Errorf("word %d for K = %d has %d batches: want %d",
				i, k, len(word.Batches), w.Length(k))
		}
		outside := func(b int) bool { return b < 0 || b >= k }
		if slices.ContainsFunc(word.Batches, outside) {
			return nil, usage.Errorf("word %d for K = %d is %v: want numbers 0 … %d",
				i, k, word.Batches, k-1)
		}
		if !(word.Probability > 0) {
			return nil, usage.Errorf("word %d for K = %d has the probability %v: want more than 0",
				i, k, word.Probability)
		}
		total += word.Probability
	}
	if !(math.Abs(total-1) <= probabilityTolerance) {
		return nil, usage.Errorf(
			"the words for K = %d have probabilities that add up to %v: want 1", k, total)
	}
	return words, nil
}

// Cap is the highest ergodic order that integrators of any order keep under a
// scheme with two or more batches of unequal curvature; +Inf if there is no
// such limit.
type Cap struct {
	Marginal float64 // of averages over θ alone or over even functions of r
	Joint    float64 // of averages over (θ, r)
}
