package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"hambench/usage"
)

// mode is where the density is largest, by Newton's method from the best point
// of the grid.
func (d *density) mode(u Mean) []float64 {
	theta := d.x[floats.MaxIdx(d.w)]
	for range newtonSteps {
		step := u.slope(theta) / u.curvature(theta)
		if math.IsNaN(step) || math.Abs(step) > d.x[1]-d.x[0] {
			break // no minimum is that far from the best point of the grid
		}
		theta -= step
	}
	return []float64{theta}
}

// newtonSteps are enough from a point of the grid: the error is squared in each.
const newtonSteps = 6

// reach is an interval around 0 beyond which there is no barrier of tailDepth that
// something may lie behind: (−1, 1) where amplitudes are too small for one, else
// wherever U may be within tailDepth of its minimum.
func (m Mean) reach() (lo, hi float64) {
	// The oscillations move U by at most height from one place to another.
	stiffness, pull, height, k := 0.0, 0.0, 0.0, float64(len(m))
	for _, o := range m {
		stiffness += o.Stiffness / k
		pull += o.Stiffness * o.Center / k
		height += 2 * math.Abs(o.Amplitude) / k
	}
	if height <= tailDepth {
		return -1, 1
	}
	// The quadratic part rises by height + tailDepth within far of its centre: beyond, U is more
	// than tailDepth above its minimum whatever the oscillations do.
	center, far := pull/stiffness, math.Sqrt(2*(height+tailDepth)/stiffness)
	return min(-1, center-far), max(1, center+far)
}

// density is ∝ exp(−U/wider): the target's for 1.
func (m Mean) density(wider float64) (*density, error) {
	lo, hi := m.reach()
	return newDensity(func(x float64) float64 { return m.value(x) / wider }, lo, hi)
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
	// Widen the interval, doubling, until the potential is high at both ends.
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
		first, last := 0, gridPoints // the outermost points that are low enough, or one beyond
		for first+2 < gridPoints && height[first+1] > tailDepth {
			first++
		}
		for last-2 > first && height[last-1] > tailDepth {
			last--
		}
		// As long as that narrows the interval by a tenth, the grid may be too coarse.
		before := hi - lo
		lo, hi = x[first], x[last]
		if hi-lo <= 0.9*before {
			continue
		}
		d := &density{}
		d.x, d.w = tabulate(u, lo, hi)
		for i, v := range d.w { // heights so far
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

// tabulate returns a uniform grid from lo to hi, of gridPoints intervals, and how far a
// potential is above its minimum there.
func tabulate(u func(float64) float64, lo, hi float64) (x, height []float64) {
	x, height = make([]float64, gridPoints+1), make([]float64, gridPoints+1)
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/gridPoints
		height[i] = u(x[i])
	}
	floats.AddConst(-floats.Min(height), height)
	return x, height
}

// draws returns a source of independent draws: the inverse of the trapezoidal distribution
// function.
func (d *density) draws(rng *rand.Rand) func() float64 {
	below := make([]float64, len(d.w))
	for i := 1; i < len(below); i++ {
		below[i] = below[i-1] + d.w[i-1] + d.w[i]
	}
	return func() float64 {
		// Trapezia add each point's weight twice but for the ends', so that the sum is about 2.
		u := rng.Float64() * below[len(below)-1]
		i := min(max(1, sort.SearchFloat64s(below, u)), len(below)-1)
		return d.x[i-1] + (d.x[i]-d.x[i-1])*(u-below[i-1])/(below[i]-below[i-1])
	}
}

// expect returns the mean of f under the density, by the trapezoidal sum.
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
	// The values of two polynomials at the grid's points, the later one normalised.
	old, now := make([]float64, n), slices.Repeat([]float64{1}, n)
	for k := range m { // a_k, then the next polynomial, then its length b_{k+1}
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

// Draws returns n independent draws of the target, as those of its one position; an error says
// that it has no density on a grid.
func (m Mean) Draws(n int, rng *rand.Rand) ([][]float64, error) {
	target, err := m.density(1)
	if err != nil {
		return nil, err
	}
	out, draw := make([]float64, n), target.draws(rng)
	for i := range out {
		out[i] = draw()
	}
	return [][]float64{out}, nil
}

// Frequency is the square root of the mean curvature under the target; NaN if there is none.
func (m Mean) Frequency() float64 {
	target, err := m.density(1)
	if err != nil {
		return math.NaN()
	}
	return math.Sqrt(target.expect(m.curvature))
}
