package certify

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"hambench/usage"
)

// jacobi are the coefficients of polynomials orthonormal under a measure,
//
//	b_{k+1} p_{k+1}(x) = (x − a_k) p_k(x) − b_k p_{k−1}(x),   p_0 = 1,
//
// the measure having mass 1.
type jacobi struct{ a, b []float64 } // b[0] is not used

// values stores p_0(x) … p_{len(p)−1}(x) in p.
func (c jacobi) values(p []float64, x float64) {
	p[0] = 1
	if len(p) > 1 {
		p[1] = (x - c.a[0]) / c.b[1]
	}
	for k := 1; k+1 < len(p); k++ {
		p[k+1] = ((x-c.a[k])*p[k] - c.b[k]*p[k-1]) / c.b[k+1]
	}
}

// gauss returns the m nodes and weights of the Gauss rule, exact for
// polynomials of degree 2m − 1 (Golub & Welsch 1969).
func (c jacobi) gauss(m int) (nodes, weights []float64) {
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
	nodes = eig.Values(nil)
	weights = make([]float64, m)
	p := make([]float64, m)
	for i, x := range nodes {
		// 1/Σ p_k(x)² has small relative errors where squared components of
		// eigenvectors have only small absolute ones.
		c.values(p, x)
		weights[i] = 1 / dot(p, p)
	}
	return nodes, weights
}

// hermite are the coefficients of the polynomials orthonormal under N(0, 1).
func hermite(m int) jacobi {
	c := jacobi{a: make([]float64, m), b: make([]float64, m+1)}
	for k := range c.b {
		c.b[k] = math.Sqrt(float64(k))
	}
	return c
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

// newDensity tabulates exp(−U), U the potential.
func newDensity(u func(float64) float64) (*density, error) {
	lo, hi := -1.0, 1.0
	for {
		low := minimum(u, lo, hi)
		left, right := u(lo)-low > tailDepth, u(hi)-low > tailDepth
		if left && right {
			break
		}
		if !left {
			lo -= hi - lo
		}
		if !right {
			hi += hi - lo
		}
		if !(hi < farthest && lo > -farthest) {
			return nil, usage.Errorf("potential does not confine: want U to rise by %v above its minimum within ±%g", tailDepth, farthest)
		}
	}
	// Narrow the interval to where the density lives, again and again, since a
	// coarse grid may not have found the minimum.
	for range 30 {
		before := hi - lo
		lo, hi = narrow(u, lo, hi)
		if hi-lo <= 0.9*before {
			continue
		}
		// The number of points that a uniform density would spread over.
		if d := tabulate(u, lo, hi); hi-lo > 1e-10*max(-lo, hi) && 1/dot(d.w, d.w) >= fewestGridPoints {
			return d, nil
		}
		break
	}
	return nil, usage.Errorf("potential has no density on a grid: want one that is smooth, with a scale above its round-off")
}

func minimum(u func(float64) float64, lo, hi float64) float64 {
	low := math.Inf(1)
	for i := range gridPoints + 1 {
		low = min(low, u(lo+(hi-lo)*float64(i)/gridPoints))
	}
	return low
}

func narrow(u func(float64) float64, lo, hi float64) (float64, float64) {
	low := minimum(u, lo, hi)
	at := func(i int) float64 { return lo + (hi-lo)*float64(i)/gridPoints }
	first, last := 0, gridPoints
	for first+2 < gridPoints && u(at(first+1))-low > tailDepth {
		first++
	}
	for last-2 > first && u(at(last-1))-low > tailDepth {
		last--
	}
	return at(first), at(last)
}

func tabulate(u func(float64) float64, lo, hi float64) *density {
	d := &density{x: make([]float64, gridPoints+1), w: make([]float64, gridPoints+1)}
	low, sum := minimum(u, lo, hi), 0.0
	for i := range d.x {
		d.x[i] = lo + (hi-lo)*float64(i)/gridPoints
		d.w[i] = math.Exp(low - u(d.x[i]))
		sum += d.w[i]
	}
	scale(d.w, 1/sum)
	return d
}

// orthogonal returns the coefficients of m polynomials orthonormal under the
// density (Stieltjes' procedure, stable for m far below the grid's points).
func (d *density) orthogonal(m int) jacobi {
	c := jacobi{a: make([]float64, m), b: make([]float64, m+1)}
	n := len(d.x)
	old, now := make([]float64, n), fill(n, 1)
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
		scale(now, 1/c.b[k+1])
	}
	return c
}
