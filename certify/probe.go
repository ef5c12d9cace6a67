package certify

import (
	"math"
	"math/rand/v2"

	"hambench/integrators"
	"hambench/usage"
)

// replay is a Noise that hands out given numbers, and zeros after the last
// of them; it counts what was asked for.
type replay struct {
	xi []float64
	at int
}

func (n *replay) next(dst []float64) {
	for i := range dst {
		dst[i] = 0
		if n.at < len(n.xi) {
			dst[i] = n.xi[n.at]
		}
		n.at++
	}
}

// Normal fills dst with the next numbers.
func (n *replay) Normal(dst []float64) { n.next(dst) }

// Update carries out u with the next numbers as ξ.
func (n *replay) Update(u *integrators.Update) {
	xi := make([]float64, len(u.R))
	n.next(xi)
	u.Apply(xi)
}

// probePoints is the number of random points at which an affine map is
// checked. One would do for all but a contrived map.
const probePoints = 3

// transition is one step on a phase-space vector z = (θ, r), in place, with
// given noise; it returns how many normals were used.
type transition func(z, xi []float64) int

// transitionOf is a step of s under a force; f is nil for a refreshment.
func transitionOf(s integrators.Stepper, f integrators.Force) transition {
	return func(z, xi []float64) int {
		d := len(z) / 2
		n := &replay{xi: xi}
		s.Step(&integrators.State{Theta: z[:d:d], R: z[d:]}, f, n)
		return n.at
	}
}

// affineMap is z⁺ = Mz + c + Nξ in coordinates centred at a point, as it acts
// on laws: on the homogeneous vector (z, 1) by the square matrix
// A = (M c; 0 1), with noise of covariance Q = NNᵀ (zero in the last row and
// column).
type affineMap struct {
	a, q []float64 // row-major n × n, n = 2d + 1
}

// probe finds the affine map of a step around the point centre, and refuses
// a step that is not affine.
func probe(step transition, centre []float64) (affineMap, error) {
	dim := len(centre)
	n := dim + 1
	at := func(z, xi []float64) []float64 {
		out := append([]float64(nil), z...)
		step(out, xi)
		return out
	}
	used := step(append([]float64(nil), centre...), nil)
	noise := make([]float64, used*dim)
	m := affineMap{a: make([]float64, n*n), q: make([]float64, n*n)}
	fixed := at(centre, nil)
	for i := range dim {
		m.a[i*n+dim] = fixed[i] - centre[i]
	}
	m.a[n*n-1] = 1
	// Probes as long as the centre's coordinates lose no digits to them.
	long := 1.0
	for _, v := range centre {
		long = max(long, math.Abs(v))
	}
	z := append([]float64(nil), centre...)
	for j := range dim {
		z[j] = centre[j] + long
		width := z[j]
		up := at(z, nil)
		z[j] = centre[j] - long
		width -= z[j]
		down := at(z, nil)
		z[j] = centre[j]
		for i := range dim {
			m.a[i*n+j] = (up[i] - down[i]) / width
		}
	}
	xi := make([]float64, used)
	for l := range used {
		xi[l] = 1
		up := at(centre, xi)
		xi[l] = -1
		down := at(centre, xi)
		xi[l] = 0
		for i := range dim {
			noise[i*used+l] = (up[i] - down[i]) / 2
		}
	}
	for i := range dim {
		for j := range dim {
			m.q[i*n+j] = dot(noise[i*used:(i+1)*used], noise[j*used:(j+1)*used])
		}
	}
	return m, checkAffineStep(at, m, noise, centre, used)
}

// checkAffineStep compares the map with the step at random states and noises.
func checkAffineStep(at func(z, xi []float64) []float64, m affineMap, noise, centre []float64, used int) error {
	rng := rand.New(rand.NewPCG(3, 4)) // any points do
	dim := len(centre)
	n := dim + 1
	z, want := make([]float64, dim), make([]float64, dim)
	xi, local := make([]float64, used), make([]float64, n)
	for range probePoints {
		for i := range z {
			local[i] = 3 * rng.NormFloat64()
			z[i] = centre[i] + local[i]
		}
		local[dim] = 1
		for l := range xi {
			xi[l] = rng.NormFloat64()
		}
		for i := range want {
			want[i] = centre[i] + dot(m.a[i*n:(i+1)*n], local) + dot(noise[i*used:(i+1)*used], xi)
		}
		if d := relativeDefect(at(z, xi), want); !(d <= affineTolerance) {
			return usage.Errorf("step is not affine in state and noise: off by %.2g (relative) at a random point; the Gaussian engine wants an affine one", d)
		}
	}
	return nil
}
