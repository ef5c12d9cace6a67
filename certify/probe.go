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

func (n *replay) next(length int) []float64 {
	from := min(n.at, len(n.xi))
	n.at += length
	if n.at <= len(n.xi) {
		return n.xi[from:n.at]
	}
	return append(append(make([]float64, 0, length), n.xi[from:]...), make([]float64, length-len(n.xi[from:]))...)
}

// Normal fills dst with the next numbers.
func (n *replay) Normal(dst []float64) { copy(dst, n.next(len(dst))) }

// Update carries out u with the next numbers as ξ.
func (n *replay) Update(u *integrators.Update) { u.Apply(n.next(len(u.R))) }

// probePoints is the number of random points at which an affine map is
// checked and its round-off measured.
const probePoints = 4

// transition is a step of a part of an integrator under a force, as the
// engines see it.
type transition struct {
	in      *integrators.Integrator
	part    integrators.Stepper
	force   integrators.Force // nil for a refreshment
	normals int               // how many a step takes
}

// together is a Stepper that would rather take many steps at once, as one in
// another process: what the engines probe, they probe in as few calls as they
// can.
type together interface {
	integrators.Stepper
	// Normals is how many normals a step takes in dim positions.
	Normals(dim int) int
	// Steps moves each of the states, by a step with normals of its own.
	Steps(z []*integrators.State, f integrators.Force, xi [][]float64)
}

func transitionOf(in *integrators.Integrator, part integrators.Stepper, f integrators.Force) *transition {
	t := &transition{in: in, part: part, force: f}
	if many, ok := part.(together); ok {
		t.normals = many.Normals(in.Dim)
		return t
	}
	n := &replay{}
	part.Step(in.NewState(), f, n)
	t.normals = n.at
	return t
}

// apply moves phase-space vectors (θ, r, auxiliary variables), in place, each
// with normals of its own.
func (t *transition) apply(z, xi [][]float64) {
	if many, ok := t.part.(together); ok {
		states := make([]*integrators.State, len(z))
		for i, v := range z {
			states[i] = t.in.NewState()
			t.view(states[i], v)
		}
		many.Steps(states, t.force, xi)
		return
	}
	state, noise := t.in.NewState(), &replay{}
	for i, v := range z {
		t.view(state, v)
		noise.xi, noise.at = xi[i], 0
		t.part.Step(state, t.force, noise)
	}
}

// view makes a state stand on a phase-space vector.
func (t *transition) view(state *integrators.State, z []float64) {
	d := t.in.Dim
	state.Theta, state.R = z[:d:d], z[d:2*d:2*d]
	rest := z[2*d:]
	for i, v := range state.Aux {
		state.Aux[i], rest = rest[:len(v):len(v)], rest[len(v):]
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
func (f *frame) probe(step *transition, dim int) (affineMap, error) {
	n, used := dim+1, step.normals
	x, xi := f.probes(dim, used)
	added := f.addedBy(step, x, xi)
	noise := make([]float64, used*dim)
	m := affineMap{a: make([]float64, n*n), q: make([]float64, n*n)}
	for i, v := range added[0] {
		m.a[i*n+dim] = v
	}
	m.a[n*n-1] = 1
	half := func(j, i int) float64 { return (added[1+2*j][i] - added[2+2*j][i]) / 2 }
	for i := range dim {
		for j := range dim {
			m.a[i*n+j] = half(j, i)
		}
		for l := range used {
			noise[i*used+l] = half(dim+l, i)
		}
	}
	for i := range dim {
		for j := range dim {
			m.q[i*n+j] = dot(noise[i*used:(i+1)*used], noise[j*used:(j+1)*used])
		}
	}
	random := 1 + 2*(dim+used)
	err := f.checkAffine(&m, noise, x[random:], xi[random:], added[random:])
	for i := range dim {
		m.a[i*n+i]++
	}
	return m, err
}

// probes are the states and noises at which a step is probed: the origin, up
// and down each direction of the state and of the noise, and random ones.
func (f *frame) probes(dim, used int) (x, xi [][]float64) {
	add := func() (x0, xi0 []float64) {
		x, xi = append(x, make([]float64, dim)), append(xi, make([]float64, used))
		return x[len(x)-1], xi[len(xi)-1]
	}
	add()
	for j := range dim + used {
		for _, sign := range []float64{1, -1} {
			x0, xi0 := add()
			if j < dim {
				x0[j] = sign
			} else {
				xi0[j-dim] = sign
			}
		}
	}
	rng := rand.New(rand.NewPCG(3, 4)) // any points do
	for range probePoints {
		x0, xi0 := add()
		for i := range x0 {
			x0[i] = rng.NormFloat64()
		}
		for l := range xi0 {
			xi0[l] = rng.NormFloat64()
		}
	}
	return x, xi
}

// addedBy returns what a step adds to each state, all in the frame.
func (f *frame) addedBy(step *transition, x, xi [][]float64) [][]float64 {
	from, to := make([][]float64, len(x)), make([][]float64, len(x))
	for i, v := range x {
		from[i] = f.fromWhite(v)
		to[i] = append([]float64(nil), from[i]...)
	}
	step.apply(to, xi)
	for i, v := range to {
		addScaled(v, -1, from[i])
		to[i] = f.toWhite(v)
	}
	return to
}

// affineTolerance bounds the relative defect of an affine map at random
// points, beside what the frame makes of round-off.
const affineTolerance = 1e-9

// checkAffine compares the map, less the identity, with what the step added at
// random states and noises.
func (f *frame) checkAffine(m *affineMap, noise []float64, x, xi, added [][]float64) error {
	n := rank(m.a)
	for p, got := range added {
		size := 1 + norm(got)
		local := append(append([]float64(nil), x[p]...), 1)
		for i := range got {
			got[i] -= dot(m.a[i*n:(i+1)*n], local) + dot(noise[i*len(xi[p]):(i+1)*len(xi[p])], xi[p])
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
	near, away := transitionOf(in, in.Kernel, moved), transitionOf(in, in.Kernel, original)
	silence := [][]float64{make([]float64, near.normals)}
	near.apply([][]float64{z}, silence)
	away.apply([][]float64{far}, silence)
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
