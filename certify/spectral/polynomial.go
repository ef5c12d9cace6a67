package spectral

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"
)

// jacobi are the coefficients of polynomials orthonormal under a measure,
//
//	b_{k+1} p_{k+1}(x) = (x − a_k) p_k(x) − b_k p_{k−1}(x),   p_0 = 1,
//
// the measure having mass 1.
type jacobi struct{ a, b []float64 } // b[0] is not used

// values stores p_0(x) … p_{len(p)−1}(x) in p.
func (c jacobi) values(p []float64, x float64) { c.tabulate([][]float64{p}, []float64{x}) }

// tabulate stores the values at each x in a row of p. A recurrence waits for
// one division after the other; those of several points overlap.
func (c jacobi) tabulate(p [][]float64, x []float64) {
	for i, row := range p {
		row[0] = 1
		if len(row) > 1 {
			row[1] = (x[i] - c.a[0]) / c.b[1]
		}
	}
	for k := 1; k+1 < len(p[0]); k++ { // degree by degree, for all points
		a, b, next := c.a[k], c.b[k], c.b[k+1]
		for i, row := range p {
			row[k+1] = ((x[i]-a)*row[k] - b*row[k-1]) / next
		}
	}
}

// gaussRule is a quadrature rule with the polynomials that it is exact for.
type gaussRule struct {
	jacobi
	nodes, weights []float64
}

// gauss returns the Gauss rule with m nodes, exact for polynomials of degree
// 2m − 1 (Golub & Welsch 1969).
func (c jacobi) gauss(m int) gaussRule {
	// The nodes are the eigenvalues of the symmetric tridiagonal matrix of the recurrence.
	t := mat.NewSymDense(m, nil)
	for k := range m {
		t.SetSym(k, k, c.a[k])
		if k > 0 {
			t.SetSym(k-1, k, c.b[k])
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(t, false) {
		panic("spectral: eigenvalues of a Jacobi matrix did not converge")
	}
	rule := gaussRule{c, eig.Values(nil), make([]float64, m)}
	p := make([]float64, m)
	for i, x := range rule.nodes {
		// 1/Σ p_k(x)² has small relative errors where squared components of
		// eigenvectors have only small absolute ones.
		c.values(p, x)
		rule.weights[i] = 1 / floats.Dot(p, p)
	}
	return rule
}

// weighted returns the first n polynomials at the nodes, a row each, times the
// nodes' weights.
func (g gaussRule) weighted(n int) *mat.Dense { return atNodes(g.nodes, g.weights, n, g.values) }

// atNodes returns n functions at nodes, a row each, times a factor of the node.
func atNodes[X any](nodes []X, factors []float64, n int, values func([]float64, X)) *mat.Dense {
	out := mat.NewDense(len(nodes), n, nil)
	for i, x := range nodes {
		values(out.RawRowView(i), x)
		floats.Scale(factors[i], out.RawRowView(i))
	}
	return out
}

// hermite are the coefficients of the polynomials orthonormal under N(0, 1).
func hermite(m int) jacobi {
	c := jacobi{a: make([]float64, m), b: make([]float64, m+1)}
	for k := range c.b {
		c.b[k] = math.Sqrt(float64(k))
	}
	return c
}

// productRule is a product of Gauss rules for independent normal variables, with
// the products of their polynomials up to a total degree, in the order of that.
type productRule struct {
	laws    []normal
	rule    gaussRule // of a standard normal, the same for every variable
	powers  [][]int   // of every product, a number for each variable
	nodes   [][]float64
	weights []float64
}

// newProductRule returns the rule with as many nodes in each variable, and the products up to
// a total degree.
func newProductRule(laws []normal, degree, nodes int) productRule {
	p := productRule{laws: laws, rule: hermite(nodes).gauss(nodes)}
	// Nodes are in units of each variable's own law.
	for _, at := range combin.Cartesian(slices.Repeat([]int{nodes}, len(laws))) {
		x, weight := make([]float64, len(laws)), 1.0
		for v, j := range at {
			x[v] = laws[v].mean + laws[v].sd*p.rule.nodes[j]
			weight *= p.rule.weights[j]
		}
		p.nodes, p.weights = append(p.nodes, x), append(p.weights, weight)
	}
	// Products of a total degree up to the given one, by that degree.
	p.powers = combin.Cartesian(slices.Repeat([]int{degree + 1}, len(laws)))
	p.powers = slices.DeleteFunc(p.powers, func(of []int) bool { return total(of) > degree })
	slices.SortStableFunc(p.powers, func(a, b []int) int { return total(a) - total(b) })
	return p
}

// total is the degree of a product.
func total(powers []int) (sum int) {
	for _, n := range powers {
		sum += n
	}
	return sum
}

// only is which product is a polynomial of one variable.
func (p *productRule) only(variable, degree int) int {
	return slices.IndexFunc(p.powers, func(of []int) bool {
		return of[variable] == degree && total(of) == degree
	})
}

// values stores the products at x in dst.
func (p *productRule) values(dst, x []float64) { p.tabulate([][]float64{dst}, [][]float64{x}) }

// tabulate stores the products at each x in a row of dst.
func (p *productRule) tabulate(dst, x [][]float64) {
	// With one variable the products are its polynomials, which need no room of their own.
	q, at := dst, make([]float64, len(x))
	if len(p.laws) > 1 {
		q = rows(len(x), total(p.powers[len(p.powers)-1])+1)
	}
	// q holds the polynomials of one variable after the other.
	for v, law := range p.laws {
		for i := range x {
			at[i] = (x[i][v] - law.mean) / law.sd
		}
		p.rule.tabulate(q, at)
		if len(p.laws) == 1 {
			return
		}
		for i, row := range dst {
			for k, powers := range p.powers {
				if v == 0 {
					row[k] = 1
				}
				row[k] *= q[i][powers[v]]
			}
		}
	}
}

// rows are n slices of m numbers.
func rows(n, m int) [][]float64 {
	flat := make([]float64, n*m)
	return slices.Collect(slices.Chunk(flat, m))
}

// weighted returns the products at the nodes, a row each, times the nodes'
// weights.
func (p *productRule) weighted() *mat.Dense {
	return atNodes(p.nodes, p.weights, len(p.powers), p.values)
}
