package minibatch

import (
	"math/rand/v2"
	"slices"

	"hambench/usage"
)

// Scheme describes a scheme. A scheme with a fixed partition has Index, and
// Visits and Cap if package certify is to take it; any other has Stream, and Cap
// if its regime is to be stated.
type Scheme struct {
	Name  string
	About string // one line for lists
	// Visits is the law of what Index draws; nil for a scheme that package
	// certify cannot analyse.
	Visits Visits
	// Cap is the claim that package certify tests if there are Visits.
	Cap Cap
	// Index makes the sequence of batch numbers for k batches of a fixed
	// partition. It is called with k = 1, too: of a single batch, and by fingerprints.
	Index func(k int, rng *rand.Rand) Index
	// Stream makes the batches. nil means those that Index chooses from a
	// uniform arrangement of the rows, cut into k.
	Stream func(rows, k int, rng *rand.Rand) Stream
	// Lists says that batches may be lists of rows, which not every model
	// takes.
	Lists bool
}

// New returns the scheme's stream for a number of data rows and of batches k.
// All randomness comes from rng, which the stream keeps. Numbers out of range
// are usage errors.
func (m Scheme) New(rows, k int, rng *rand.Rand) (Stream, error) {
	switch {
	case k < 1:
		return nil, usage.Errorf("%s: K = %d batches: want at least 1", m.Name, k)
	case k > 1 && m.Whole():
		return nil, usage.Errorf("%s: K = %d batches: want 1", m.Name, k)
	case rows < 1:
		return nil, usage.Errorf("%s: %d rows: want at least 1", m.Name, rows)
	case k > rows:
		return nil, usage.Errorf("%s: K = %d exceeds the %d rows", m.Name, k, rows)
	case m.Stream != nil:
		return m.Stream(rows, k, rng), nil
	case m.Index == nil:
		return nil, usage.Errorf("scheme %q has neither Index nor Stream: want one of them", m.Name)
	}
	return partitioned(rows, k, rng, m.Index), nil
}

// Whole reports whether every batch is all of the data.
func (m Scheme) Whole() bool {
	_, single := m.Visits.(Single)
	return single
}

// Registry is a list of schemes. A program's own are appended to those of
// Builtin.
type Registry []Scheme

// Builtin returns the built-in schemes.
func Builtin() Registry {
	return Registry{
		fullScheme,
		reshuffleScheme,
		replacementScheme,
		cyclicScheme,
		symmetricScheme,
		repartitionScheme,
		windowScheme,
		iidScheme,
	}
}

// Lookup returns the scheme with a name. An unknown name is a usage error that
// lists the known ones.
func (r Registry) Lookup(name string) (Scheme, error) {
	return usage.Lookup("mini-batch scheme", name, r, func(m Scheme) string { return m.Name })
}

// Fixed returns the schemes with a known law of visits to the batches of a
// fixed partition: those that package certify takes.
func (r Registry) Fixed() Registry {
	return slices.DeleteFunc(slices.Clone(r), func(m Scheme) bool { return m.Visits == nil })
}
