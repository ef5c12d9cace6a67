package certify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"hambench/usage"
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
	for k := 1; k+1 < len(p[0]); k++ {
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
	t := mat.NewSymDense(m, nil)
	for k := range m {
		t.SetSym(k, k, c.a[k])
		if k > 0 {
			t.SetSym(k-1, k, c.b[k])
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(t, false) {
		panic("certify: eigenvalues of a Jacobi matrix did not converge")
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
func (g gaussRule) weighted(n int) *mat.Dense {
	out := mat.NewDense(len(g.nodes), n, nil)
	for i, x := range g.nodes {
		g.values(out.RawRowView(i), x)
		floats.Scale(g.weights[i], out.RawRowView(i))
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
	rules   []gaussRule // of the standard normals
	powers  [][]int     // of every product, a number for each variable
	nodes   [][]float64
	weights []float64
}

func newProductRule(laws []normal, degree, nodes int) productRule {
	rule := hermite(nodes).gauss(nodes)
	p := productRule{laws: laws, rules: slices.Repeat([]gaussRule{rule}, len(laws))}
	for _, at := range combin.Cartesian(slices.Repeat([]int{nodes}, len(laws))) {
		x, weight := make([]float64, len(laws)), 1.0
		for v, j := range at {
			x[v] = laws[v].mean + laws[v].sd*rule.nodes[j]
			weight *= rule.weights[j]
		}
		p.nodes, p.weights = append(p.nodes, x), append(p.weights, weight)
	}
	p.powers = combin.Cartesian(slices.Repeat([]int{degree + 1}, len(laws)))
	p.powers = slices.DeleteFunc(p.powers, func(of []int) bool { return total(of) > degree })
	slices.SortStableFunc(p.powers, func(a, b []int) int { return total(a) - total(b) })
	return p
}

func total(powers []int) (sum int) {
	for _, n := range powers {
		sum += n
	}
	return sum
}

// only is which product is a polynomial of one variable.
func (p *productRule) only(variable, degree int) int {
	return slices.IndexFunc(p.powers, func(of []int) bool { return of[variable] == degree && total(of) == degree })
}

// values stores the products at x in dst.
func (p *productRule) values(dst, x []float64) { p.tabulate([][]float64{dst}, [][]float64{x}) }

// tabulate stores the products at each x in a row of dst.
func (p *productRule) tabulate(dst, x [][]float64) {
	q, at := dst, make([]float64, len(x)) // with one variable the products are its polynomials
	if len(p.rules) > 1 {
		q = rows(len(x), total(p.powers[len(p.powers)-1])+1)
	}
	for v, rule := range p.rules {
		for i := range x {
			at[i] = (x[i][v] - p.laws[v].mean) / p.laws[v].sd
		}
		rule.tabulate(q, at)
		if len(p.rules) == 1 {
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
	out := mat.NewDense(len(p.nodes), len(p.powers), nil)
	for i, x := range p.nodes {
		p.values(out.RawRowView(i), x)
		floats.Scale(p.weights[i], out.RawRowView(i))
	}
	return out
}

// density is a probability density on a fine uniform grid. The trapezoidal
// sum over it is spectrally accurate for what is smooth and decays.
type density struct{ x, w []float64 } // Σw = 1

const (
	// gridPoints resolves polynomials of degree 100 on the grid's width.
	gridPoints = 6000
	// fewestGridPoints is how many points must carry the density's mass.
	fewestGridPoints = 50
	// tailDepth is how far above its minimum U is followed: e^{−170} times
	// the square of a polynomial of degree 60 there is round-off.
	tailDepth = 170
	// farthest is how far from 0 a target is looked for.
	farthest = 1e6
)

// newDensity tabulates exp(−U), U the potential, which is looked for from an interval
// outwards: beyond a barrier of tailDepth nothing is found.
func newDensity(u func(float64) float64, lo, hi float64) (*density, error) {
	for left, right := false, false; !(left && right); {
		_, height := tabulate(u, lo, hi)
		left, right = height[0] > tailDepth, height[gridPoints] > tailDepth
		if !left {
			lo -= hi - lo
		}
		if !right {
			hi += hi - lo
		}
		if !(hi < farthest && lo > -farthest) {
			return nil, usage.Errorf("potential does not confine: want U to rise by %v above "+
				"its minimum within ±%g", tailDepth, farthest)
		}
	}
	// Narrow the interval to where the density lives, again and again, since a
	// coarse grid may not have found the minimum.
	for range 30 {
		x, height := tabulate(u, lo, hi)
		first, last := 0, gridPoints
		for first+2 < gridPoints && height[first+1] > tailDepth {
			first++
		}
		for last-2 > first && height[last-1] > tailDepth {
			last--
		}
		before := hi - lo
		lo, hi = x[first], x[last]
		if hi-lo <= 0.9*before {
			continue
		}
		d := &density{}
		d.x, d.w = tabulate(u, lo, hi)
		for i, v := range d.w {
			d.w[i] = math.Exp(-v)
		}
		floats.Scale(1/floats.Sum(d.w), d.w)
		// The number of points that a uniform density would spread over.
		if hi-lo > 1e-10*max(-lo, hi) && 1/floats.Dot(d.w, d.w) >= fewestGridPoints {
			return d, nil
		}
		break
	}
	return nil, usage.Errorf("potential has no density on a grid: want one that is smooth, with " +
		"a scale above its round-off")
}

// tabulate returns a grid and how far a potential is above its minimum there.
func tabulate(u func(float64) float64, lo, hi float64) (x, height []float64) {
	x, height = make([]float64, gridPoints+1), make([]float64, gridPoints+1)
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/gridPoints
		height[i] = u(x[i])
	}
	floats.AddConst(-floats.Min(height), height)
	return x, height
}

// expect returns the mean of f under the density.
func (d *density) expect(f func(x float64) float64) float64 {
	sum := 0.0
	for i, w := range d.w {
		sum += w * f(d.x[i])
	}
	return sum
}

// orthogonal returns the coefficients of m polynomials orthonormal under the
// density (Stieltjes' procedure, stable for m far below the grid's points).
func (d *density) orthogonal(m int) jacobi {
	c := jacobi{a: make([]float64, m), b: make([]float64, m+1)}
	n := len(d.x)
	old, now := make([]float64, n), slices.Repeat([]float64{1}, n)
	for k := range m {
		for i, w := range d.w {
			c.a[k] += w * d.x[i] * now[i] * now[i]
		}
		norm2 := 0.0
		for i, w := range d.w {
			next := (d.x[i]-c.a[k])*now[i] - c.b[k]*old[i]
			old[i], now[i] = now[i], next
			norm2 += w * next * next
		}
		c.b[k+1] = math.Sqrt(norm2)
		floats.Scale(1/c.b[k+1], now)
	}
	return c
}
