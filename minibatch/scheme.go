package minibatch

import (
	"math/rand/v2"
	"strings"

	"hambench/usage"
)

// Order says how a scheme chooses the index of the next batch. What is
// exactly analysable (package certify) is every order but Unfixed.
type Order int

const (
	// Unfixed: the batches themselves change, there is no fixed partition.
	Unfixed Order = iota
	// Single: there is one batch.
	Single
	// Independent: a uniform index at every step.
	Independent
	// Permutation: a fresh uniform order of the K batches every K steps.
	Permutation
	// Cycle: one order, repeated for ever.
	Cycle
	// Palindrome: a fresh uniform order, forwards and then backwards, 2K
	// steps.
	Palindrome
)

// Period is the number of steps after which the law of the sequence for k
// batches starts anew; K, an epoch, when the batches are not fixed.
func (o Order) Period(k int) int {
	switch o {
	case Single, Independent:
		return 1
	case Palindrome:
		return 2 * k
	}
	return k
}

// Method describes a scheme.
type Method struct {
	Name  string
	About string // one line for lists
	Order Order
	// index makes the sequence of batch numbers, nil for a scheme that has
	// no numbered batches; rows makes the stream itself.
	index func(k int, rng *rand.Rand) Index
	rows  func(rows, k int, rng *rand.Rand) Stream
}

// Methods returns every scheme.
func Methods() []Method {
	return []Method{
		fullMethod,
		reshuffleMethod,
		replacementMethod,
		cyclicMethod,
		symmetricMethod,
		repartitionMethod,
		windowMethod,
	}
}

// Lookup returns the scheme of a name. An unknown name is a usage error that
// lists what there is.
func Lookup(name string) (Method, error) {
	var names []string
	for _, m := range Methods() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, usage.Errorf("unknown mini-batch scheme %q: want one of %s", name, strings.Join(names, ", "))
}

// New returns the stream of a scheme for a number of data rows and of
// batches k. All that is random comes from rng, which the stream keeps.
func New(name string, rows, k int, rng *rand.Rand) (Stream, error) {
	m, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	if err := m.check(k); err != nil {
		return nil, err
	}
	if rows < 1 {
		return nil, usage.Errorf("%s: %d rows: want at least 1", name, rows)
	}
	if k > rows {
		return nil, usage.Errorf("%s: K = %d exceeds the %d rows", name, k, rows)
	}
	return m.rows(rows, k, rng), nil
}

// NewIndex returns the bare sequence of batch numbers of a scheme. The
// stream of New draws on the same code. A scheme without numbered batches is
// a usage error.
func NewIndex(name string, k int, rng *rand.Rand) (Index, error) {
	m, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	if m.index == nil {
		return nil, usage.Errorf("%s: its batches are not numbered: want one of full, reshuffle, replacement, cyclic, symmetric", name)
	}
	if err := m.check(k); err != nil {
		return nil, err
	}
	return m.index(k, rng), nil
}

func (m Method) check(k int) error {
	if k < 1 {
		return usage.Errorf("%s: K = %d batches: want at least 1", m.Name, k)
	}
	if m.Order == Single && k != 1 {
		return usage.Errorf("%s: K = %d batches: want 1", m.Name, k)
	}
	return nil
}
