package gaussian

import (
	"slices"

	"hambench/certify/markov"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// stein solves X − BXBᵀ = R, where B is the mean map of a period: the law's
// own equation if all orders of the batches were the same in the mean. It
// preconditions the law's equation, which differs by the covariance of the
// period's map over the orders, of a higher order in h.
type stein []*affineMap // B^(2^k)

// steinPowers bounds the doublings: 2⁴⁰ periods forget any start.
const steinPowers = 40

// newStein squares a map until nothing is left of where it began.
func newStein(b *affineMap) (s stein) {
	for len(s) < steinPowers {
		s = append(s, b)
		if mat.Norm(b.linear(), 2) < 1e-17 {
			break
		}
		// Its q is left at 0, so that applying it is B^(2^k) X (B^(2^k))ᵀ alone.
		next := newAffineMap(b.n)
		next.a.Mul(b.a, b.a)
		b = next
	}
	return s
}

// solve sums B^k R B^kᵀ by doubling (Smith 1968). The mass of R must be 0.
func (s stein) solve(r []float64) []float64 {
	x := slices.Clone(r)
	for _, b := range s {
		// B^(2^i) takes the first 2^i terms of the sum to the next 2^i.
		b.AddTo(x, 1, slices.Clone(x))
	}
	return x
}

// solveFourth sums B⊗⁴ᵏ r, as solve does for second moments.
func (s stein) solveFourth(r []float64) []float64 {
	x := slices.Clone(r)
	for _, b := range s {
		floats.Add(x, alongAll(b.a, x))
	}
	return x
}

// denseRadius is the largest number of phase-space dimensions for which the
// second-moment map is made a matrix to find its spectral radius.
const denseRadius = 12

// secondMomentRadius is the spectral radius of the linear part of a period's
// second-moment map, and by how much round-off may have it above 1.
func secondMomentRadius(p *markov.Period, n int) (radius, slack float64) {
	law := make([]float64, n*n)
	// In many dimensions the matrix of all pairs would be too large: see how a law grows.
	if n-1 > denseRadius {
		for i := range n - 1 {
			law[i*n+i] = 1 // the largest eigenvalue rules how a positive law grows
		}
		return p.Growth(law), 16 * markov.Epsilon * float64(n*n)
	}
	var index [][2]int // of a symmetric matrix: both places of each element
	for i := range n - 1 {
		for j := i; j < n-1; j++ {
			index = append(index, [2]int{i*n + j, j*n + i})
		}
	}
	change := mat.NewDense(len(index), len(index), nil)
	for c, at := range index { // what a period does to each unit of symmetric matrices
		clear(law)
		law[at[0]], law[at[1]] = 1, 1
		out := p.Excess(law)
		for r, to := range index {
			change.Set(r, c, out[to[0]])
		}
	}
	return markov.SpectralRadius(change)
}
