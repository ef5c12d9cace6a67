package oracle

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// Reference is a truth known by independent chains. It is read-only once
// made, and safe for concurrent use.
type Reference struct {
	Spec
	// Draws are the predictive outputs, Draws[chain][sample][output].
	Draws [][][]float32
	// Start holds the last position of each chain.
	Start [][]float64
	// ChainStep is the step of each chain: that of the Spec, or half, a
	// quarter … of it after restarts.
	ChainStep []float64
	// Potential is U at each sample, Potential[chain][sample].
	Potential   [][]float64
	Diagnostics Diagnostics
	Checks      []Check
	CrossCheck  CrossCheck
	// Seconds is the time that all chains together took.
	Seconds float64

	sortOnce sync.Once
	sorted   [][][]float64 // sorted[chain][output], ascending
	selfOnce sync.Once
	self     Band
}

// Check is one thing that was verified of a reference: Value must lie in
// [Low, High].
type Check struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Pass  bool    `json:"pass"`
}

func newCheck(name string, value, low, high float64) Check {
	return Check{Name: name, Value: value, Low: low, High: high, Pass: low <= value && value <= high}
}

// Failed returns the checks that did not pass.
func (r *Reference) Failed() []Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.Pass })
}

// Chain returns the predictive draws of a chain, [sample][output].
func (r *Reference) Chain(c int) [][]float64 { return widen(r.Draws[c]) }

// Distance returns the two-sample Kolmogorov distance between the draws
// (draws[sample][output]) and each of the reference's chains, averaged over
// outputs and chains. The draws are rounded to float32 as the reference's
// own are: otherwise a class probability of 1 − 1e-9 would lie below the
// reference's 1.
func (r *Reference) Distance(draws [][]float64) float64 {
	chains := r.columns()
	var sum float64
	for o := range chains[0] {
		column, ok := sortedColumn(draws, o)
		for _, c := range chains {
			if ok {
				sum += Kolmogorov(column, c[o])
			} else {
				sum++
			}
		}
	}
	return sum / float64(len(chains)*len(chains[0]))
}

// DrawStart stores the end of one of the chains in theta.
func (r *Reference) DrawStart(theta []float64, rng *rand.Rand) {
	copy(theta, r.Start[rng.IntN(len(r.Start))])
}

// columns returns the sorted draws of each output of each chain.
func (r *Reference) columns() [][][]float64 {
	r.sortOnce.Do(func() {
		r.sorted = make([][][]float64, len(r.Draws))
		for c, draws := range r.Draws {
			r.sorted[c] = make([][]float64, len(draws[0]))
			for o := range draws[0] {
				column := make([]float64, len(draws))
				for s, d := range draws {
					column[s] = float64(d[o])
				}
				slices.Sort(column)
				r.sorted[c][o] = column
			}
		}
	})
	return r.sorted
}

// sortedColumn returns the draws of one output, rounded to float32 and
// sorted, and whether all of them are numbers.
func sortedColumn(draws [][]float64, output int) (column []float64, ok bool) {
	column = make([]float64, len(draws))
	for s, d := range draws {
		column[s] = float64(float32(d[output]))
		if math.IsNaN(column[s]) {
			return nil, false
		}
	}
	slices.Sort(column)
	return column, true
}
