package markov

import (
	"strings"

	"hambench/chain/minibatch"
	"hambench/usage"
)

const (
	// maxReshuffle bounds K where laws are kept for all 2^K subsets.
	maxReshuffle = 14
	// maxPalindrome bounds K where the prefixes of an order, e·K! of them,
	// are walked through.
	maxPalindrome = 9
	// MaxWordSteps bounds the steps through a list of words: as many as the
	// palindromes of maxPalindrome take.
	MaxWordSteps = 2_000_000
)

// Check refuses a scheme that has no exact law of k batches: see CheckScheme, and a scheme
// with more random orders than can be averaged over.
func Check(m minibatch.Scheme, k int) error {
	if err := CheckScheme(m); err != nil {
		return err
	}
	most := k
	switch m.Visits.(type) {
	case minibatch.Permutation:
		most = maxReshuffle
	case minibatch.Palindrome:
		most = maxPalindrome
	}
	if k > most {
		return usage.Errorf("scheme %q with K = %d batches: exact orders need K at most %d "+
			"under random orders of this scheme", m.Name, k, most)
	}
	return nil
}

// CheckScheme refuses a scheme without fixed batches, or without a claim.
func CheckScheme(m minibatch.Scheme) error {
	if m.Visits == nil {
		var want []string
		for _, e := range minibatch.Builtin().Fixed() {
			want = append(want, e.Name)
		}
		return usage.Errorf("scheme %q has no fixed batches: want one of "+
			"%s", m.Name, strings.Join(want, ", "))
	}
	// A cap that is not stated is 0, and so would be the claim: every error that does not grow
	// would confirm it.
	if !(m.Cap.Marginal > 0 && m.Cap.Joint > 0) {
		return usage.Errorf("scheme %q states the cap %+v on the order: want numbers > 0, +Inf "+
			"for none", m.Name, m.Cap)
	}
	return nil
}
