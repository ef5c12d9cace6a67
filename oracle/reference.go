package oracle

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// Reference is a truth known from independent chains. It is read-only once
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
	OwnError    OwnError
	Checks      []Check
	CrossCheck  CrossCheck
	// Burned is how often what the chains had sampled turned out to be burn-in, since their
	// potential had not mixed, and was dropped.
	Burned int
	// Doublings is how often the simulation time of the chains was doubled: their
	// samples are Thin·2^Doublings steps of the Spec's size apart.
	Doublings int
	// Seconds is the time that all chains together took.
	Seconds float64

	// Of a part of one chain, whose reference is under way.
	curvature []float64 // mean square of the gradient, per parameter
	momentum  []float64 // at the end
	invMass   []float64 // diagonal of M⁻¹; nil means the identity
	low       float64   // potential, as that of walk

	sortOnce sync.Once
	sorted   [][][]float64 // sorted[chain][output], ascending
	selfOnce sync.Once
	self     Band
	blocks   bands // of fewer draws than a chain has
}

// Failed returns the checks that did not pass.
func (r *Reference) Failed() []Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.Pass })
}

// Unfit names the checks that did not pass, but for that of its own error, which is known: it
// counts in the uncertainty of what the reference judges.
func (r *Reference) Unfit() (names []string) {
	for _, c := range r.Failed() {
		if c.Name != OwnErrorCheck {
			names = append(names, c.Name)
		}
	}
	return names
}

// length is the number of draws of a chain, fewer than the spec's Samples where they were
// thinned to travel.
func (r *Reference) length() int { return len(r.Draws[0]) }

// Chain returns the predictive draws of a chain, [sample][output].
func (r *Reference) Chain(c int) [][]float64 { return converted[float64](r.Draws[c]) }

// Distance returns the two-sample Kolmogorov distance between the draws
// (draws[sample][output]) and each of the reference's chains, averaged over
// outputs and chains. The draws are rounded to float32 as the reference's
// own are: otherwise a class probability of 1 − 1e-9 would lie below the
// reference's 1.
func (r *Reference) Distance(draws [][]float64) float64 {
	chains, rounded := r.columns(), converted[float32](draws)
	var sum float64
	for o := range chains[0] {
		column, ok := sortedColumn(rounded, o)
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

// Coarsen rounds the draws of both sides of a comparison with reference chains to the levels
// in which those that travel with the program are held, so that a value has the same ties on
// both: 2¹⁶ of them between the least and the greatest value of a column of the reference.
// Otherwise a class probability of 1 − 1e-9 would lie below the reference's 1.
func Coarsen(ref, own [][][]float64) {
	for o := range ref[0] {
		low, high := math.Inf(1), math.Inf(-1)
		for _, c := range ref {
			low, high = min(low, slices.Min(c[o])), max(high, slices.Max(c[o]))
		}
		level := (high - low) / topLevel
		// A constant column has levels in proportion to its value: round-off is no difference.
		if level == 0 {
			level = max(math.Abs(high)/topLevel, math.SmallestNonzeroFloat32)
		}
		for _, side := range [][][][]float64{ref, own} {
			for _, c := range side {
				for i, v := range c[o] {
					c[o][i] = low + level*math.Round((v-low)/level)
				}
			}
		}
	}
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
				r.sorted[c][o], _ = sortedColumn(draws, o)
			}
		}
	})
	return r.sorted
}

// sortedColumn returns the draws of one output, sorted, and whether all of them
// are numbers.
func sortedColumn[T float32 | float64](draws [][]T, output int) (column []float64, ok bool) {
	column = make([]float64, len(draws))
	for s, d := range draws {
		column[s] = float64(d[output])
	}
	slices.Sort(column) // NaN first
	return column, !math.IsNaN(column[0])
}

// converted returns draws in another precision.
func converted[T, From float32 | float64](draws [][]From) [][]T {
	out := make([][]T, len(draws))
	for s, d := range draws {
		out[s] = make([]T, len(d))
		for o, v := range d {
			out[s][o] = T(v)
		}
	}
	return out
}
