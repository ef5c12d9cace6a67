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
// checked and its round-off measured.
const probePoints = 4

// transition is one step on a phase-space vector z = (θ, r, auxiliary
// variables), in place, with given noise; it returns how many normals were used.
type transition func(z, xi []float64) int

// transitionOf is a step of s, a part of the integrator, under a force; f is nil
// for a refreshment.
func transitionOf(in *integrators.Integrator, s integrators.Stepper, f integrators.Force) transition {
	return func(z, xi []float64) int {
		d := in.Dim
		state := in.NewState()
		state.Theta, state.R = z[:d:d], z[d:2*d:2*d]
		rest := z[2*d:]
		for i, v := range state.Aux {
			state.Aux[i], rest = rest[:len(v):len(v)], rest[len(v):]
		}
		n := &replay{xi: xi}
		s.Step(state, f, n)
		return n.at
	}
}

// auxiliary is how many auxiliary variables an integrator has.
func auxiliary(in *integrators.Integrator) int {
	sum := 0
	for _, v := range in.NewState().Aux {
		sum += len(v)
	}
	return sum
}

// affineMap is x⁺ = Mx + c + Nξ in a frame, as it acts on laws: on the
// homogeneous vector (x, 1) by the square matrix A = (M c; 0 1), with noise of
// covariance Q = NNᵀ (zero in the last row and column).
type affineMap struct {
	a, q []float64 // row-major n × n, n = 1 + the phase space's dimension
	off  float64   // what round-off leaves of x⁺, for x and ξ of length 1
	far  float64   // the length of x at the batch's own mean, which a step may reckon with
}

// safety is how many times the round-off at a few random points stands for
// that at any.
const safety = 4

// probe finds the affine map of a step in the frame, and refuses a step that is
// not affine. What is probed is what a step adds to the state, so that the
// frame's own rounding is in proportion to the step.
func (f *frame) probe(step transition, dim int) (affineMap, error) {
	n := dim + 1
	at := func(x, xi []float64) []float64 {
		from := f.fromWhite(x)
		to := append([]float64(nil), from...)
		step(to, xi)
		addScaled(to, -1, from)
		return f.toWhite(to)
	}
	used := step(make([]float64, dim), nil)
	noise := make([]float64, used*dim)
	m := affineMap{a: make([]float64, n*n), q: make([]float64, n*n)}
	for i, v := range at(make([]float64, dim), nil) {
		m.a[i*n+dim] = v
	}
	m.a[n*n-1] = 1
	x := make([]float64, dim)
	for j := range dim {
		x[j] = 1
		up := at(x, nil)
		x[j] = -1
		down := at(x, nil)
		x[j] = 0
		for i := range dim {
			m.a[i*n+j] = (up[i] - down[i]) / 2
		}
	}
	xi := make([]float64, used)
	for l := range used {
		xi[l] = 1
		up := at(x, xi)
		xi[l] = -1
		down := at(x, xi)
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
	err := f.checkAffine(at, &m, noise, used)
	for i := range dim {
		m.a[i*n+i]++
	}
	return m, err
}

// affineTolerance bounds the relative defect of an affine map at random
// points, beside what the frame makes of round-off.
const affineTolerance = 1e-9

// checkAffine compares the map, less the identity, with the step at random
// states and noises.
func (f *frame) checkAffine(at func(x, xi []float64) []float64, m *affineMap, noise []float64, used int) error {
	rng := rand.New(rand.NewPCG(3, 4)) // any points do
	n := rank(m.a)
	dim := n - 1
	local, xi := make([]float64, n), make([]float64, used)
	for range probePoints {
		for i := range dim {
			local[i] = rng.NormFloat64()
		}
		local[dim] = 1
		for l := range xi {
			xi[l] = rng.NormFloat64()
		}
		got := at(local[:dim], xi)
		size := 1 + norm(got)
		for i := range got {
			got[i] -= dot(m.a[i*n:(i+1)*n], local) + dot(noise[i*used:(i+1)*used], xi)
		}
		m.off = max(m.off, safety*norm(got)/size)
	}
	if tolerance := safety * (affineTolerance + 1e3*epsilon*f.strain()); !(m.off <= tolerance) {
		return usage.Errorf("step is not affine in state and noise: off by %.2g (relative) at a random point; the Gaussian engine wants an affine one", m.off/safety)
	}
	return nil
}

// checkMoved refuses a step that knows where the origin is: the engine moves
// the target's mean there, and a step must not see that.
func (f *frame) checkMoved(in *integrators.Integrator, original, moved *affineForce) error {
	h := in.Params.Step
	if largest(f.centre) == 0 || auxiliary(in) > 0 { // which may be positions, too
		return nil
	}
	d := f.d
	z := f.fromWhite(fill(2*d, 1))
	far := append([]float64(nil), z...)
	addScaled(far[:d], 1, f.centre)
	transitionOf(in, in.Kernel, moved)(z, nil)
	transitionOf(in, in.Kernel, original)(far, nil)
	addScaled(far[:d], -1, f.centre)
	// The force there is a difference of terms of this size.
	force := largest(original.affine.Shift)
	for i := range d {
		for j, v := range original.affine.Precision[i*d : (i+1)*d] {
			force = max(force, math.Abs(v*f.centre[j])*float64(d))
		}
	}
	long := math.Sqrt(float64(len(z)))
	for i := range far {
		size := (largest(z[d:]) + h*force) * max(h, 1)
		if i < d {
			size = largest(z[:d]) + largest(f.centre) + h*size
		}
		if defect := math.Abs(far[i]-z[i]) / (long * size); !(defect <= affineTolerance) {
			return usage.Errorf("step depends on where the origin is: off by %.2g (relative) when target and state are moved", defect)
		}
	}
	return nil
}
