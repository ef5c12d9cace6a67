package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/usage"
)

const (
	// probePoints is the number of random points at which an affine map is
	// checked and its round-off measured.
	probePoints = 4
	// safety is how many times the round-off at a few random points stands for
	// that at any.
	safety = 4
	// affineTolerance bounds the relative defect of an affine map at random
	// points, besides what the frame makes of round-off.
	affineTolerance = 1e-9
)

// probe finds the affine map of a step in the frame, and refuses a step that is
// not affine. What is probed is what a step adds to the state, so that the
// frame's own rounding is in proportion to the step. dim is the dimension of the phase space,
// auxiliary variables included. Half the difference of a step up and a step down each
// direction is a column of the map; its value at the origin is the constant.
func (f *frame) probe(step *probe.Transition, dim int) (*affineMap, error) {
	all := dim + step.Normals
	points := probes(all)
	added := f.addedBy(step, points, dim)
	constant, linear := added[0], mat.NewDense(dim, all, nil)
	for j := range all { // first the state's directions, then the normals
		up, down := added[1+2*j], added[2+2*j]
		floats.Sub(up, down)
		floats.Scale(0.5, up)
		linear.SetCol(j, up)
	}
	random := 1 + 2*all // the points from here on are random
	off, err := f.checkAffine(constant, linear, points[random:], added[random:])
	if err != nil {
		return nil, err
	}
	// What is added to x is linear·(x, ξ) + constant; the map itself has I more.
	m := newAffineMap(dim + 1)
	m.off = off
	if all > dim { // the step takes normals
		noise := linear.Slice(0, dim, dim, all)
		m.q.Slice(0, dim, 0, dim).(*mat.Dense).Mul(noise, noise.T())
	}
	m.a.Copy(linear.Slice(0, dim, 0, dim))
	for i, v := range constant {
		m.a.Set(i, i, m.a.At(i, i)+1)
		m.a.Set(i, dim, v)
	}
	return m, nil
}

// withUnits returns the frame with units of auxiliary variables, of which the first are an
// integrator's own and keep the unit 1. An estimator's may be positions or gradients: the unit is
// about what the parts of a step make of them at typical (θ, r). In another one, terms that cancel
// in a step would be larger than all that comes of them.
func (f *frame) withUnits(dim, own int, parts []*probe.Transition) *frame {
	out, d := *f, f.d
	size := make([]float64, dim-2*d)
	out.units = slices.Repeat([]float64{1}, dim-2*d)
	if own == len(size) { // they have their units
		return &out
	}
	for _, part := range parts {
		points := probes(2 * d)
		for i, v := range points { // the variables are 0, as is the noise
			points[i] = append(v, make([]float64, len(size)+part.Normals)...)
		}
		for _, added := range out.addedBy(part, points, dim) {
			for i, v := range added[2*d:] {
				size[i] = max(size[i], math.Abs(v))
			}
		}
	}
	// Powers of 2, by which numbers are multiplied without rounding.
	for i := own; i < len(size); i++ {
		if _, exponent := math.Frexp(size[i]); size[i] > 0 {
			out.units[i] = math.Ldexp(1, exponent)
		}
	}
	return &out
}

// probes are the states and noises (x, ξ) at which a step is probed: the origin,
// up and down each direction, and random ones.
func probes(all int) [][]float64 {
	points := [][]float64{make([]float64, all)}
	for j := range all {
		up, down := make([]float64, all), make([]float64, all)
		up[j], down[j] = 1, -1
		points = append(points, up, down)
	}
	rng := rand.New(rand.NewPCG(3, 4)) // any points do
	for range probePoints {
		points = append(points, noise.Normals(rng, all))
	}
	return points
}

// addedBy returns what a step adds to the state of each point (x, ξ), all in the
// frame.
func (f *frame) addedBy(step *probe.Transition, points [][]float64, dim int) [][]float64 {
	var from, to, xi [][]float64
	// The step is taken in the problem's coordinates, from many points at once.
	for i, v := range points {
		from = append(from, f.fromWhite(v[:dim]))
		to, xi = append(to, slices.Clone(from[i])), append(xi, v[dim:])
	}
	step.Apply(to, xi)
	for i, v := range to {
		floats.Sub(v, from[i])
		to[i] = f.toWhite(v)
	}
	return to
}

// checkAffine compares what a step added at random points with an affine
// function of them, and returns a bound on what round-off leaves, relative to 1 + the length
// of what is added. A difference beyond what the frame's rounding explains is a usage error.
func (f *frame) checkAffine(constant []float64, linear *mat.Dense, points,
	added [][]float64) (off float64, err error) {
	want := mat.NewVecDense(len(constant), nil)
	for i, got := range added { // relative to what was added, which is small where steps are
		want.MulVec(linear, mat.NewVecDense(len(points[i]), points[i]))
		floats.Add(want.RawVector().Data, constant)
		off = max(off, safety*floats.Distance(got, want.RawVector().Data, 2)/(1+floats.Norm(got,
			2)))
	}
	tolerance := safety * (affineTolerance + 1e3*markov.Epsilon*f.strain())
	if !(off <= tolerance) {
		hint := ""
		if off/safety < float32Rounding {
			hint = ": does it compute in float32?"
		}
		return off, usage.Errorf("step is not affine in state and noise: off by %.2g (relative) "+
			"at a random point; the Gaussian engine wants an affine one%s", off/safety, hint)
	}
	return off, nil
}

// strayed is by how much an exact flow, rounded, changes the covariance that its batch's own law
// has, relative to that: rounding adds up over the many short times that a flow is composed of.
func (f *frame) strayed(m *affineMap, b *integrators.Affine) float64 {
	n := m.n - 1
	var inverse, moved, changed mat.Dense
	if err := inverse.Inverse(matrix(b)); err != nil {
		return 0 // a flow has no such batch
	}
	cov := mat.NewDense(n, n, nil)
	for i := f.d; i < n; i++ {
		cov.Set(i, i, 1)
	}
	cov.Slice(0, f.d, 0, f.d).(*mat.Dense).Product(f.white, &inverse, f.white.T())
	// (I + D)S(I + D)ᵀ + Q − S without the terms that cancel.
	moved.Mul(m.change(), cov)
	changed.Mul(&moved, m.change().T())
	changed.Add(&changed, &moved)
	changed.Add(&changed, moved.T())
	changed.Add(&changed, m.q.Slice(0, n, 0, n))
	return safety * mat.Norm(&changed, 2) / mat.Norm(cov, 2)
}

// float32Rounding bounds what rounding to float32 leaves of a step, relatively.
const float32Rounding = 1e-5

// checkMoved refuses a step that knows where the origin is: the engine moves
// the target's mean there, and a step must not see that. One step from the same place, seen
// from the mean and from the origin, must lead to the same place, up to round-off.
func (f *frame) checkMoved(in *integrators.Instance, original, moved integrators.Force) error {
	h, d := in.Params.Step, f.d
	if floats.Norm(f.centre, 2) == 0 || probe.Auxiliary(in) > 0 { // which may be positions, too
		return nil
	}
	// One standard deviation from the mean in every coordinate, and the same place seen from the
	// origin of the problem.
	z := f.fromWhite(slices.Repeat([]float64{1}, 2*d))
	far := append([]float64(nil), z...)
	floats.Add(far[:d], f.centre)
	near := probe.NewTransition(in, in.Kernel, moved)
	away := probe.NewTransition(in, in.Kernel, original)
	silence := [][]float64{make([]float64, near.Normals)} // no noise
	near.Apply([][]float64{z}, silence)
	away.Apply([][]float64{far}, silence)
	floats.Sub(far[:d], f.centre)
	// The force there is a difference of terms of this size.
	force := 0.0 // the largest term of a gradient
	for _, m := range probe.Members(original) {
		force = max(force, markov.Largest(m.Shift))
		for i, v := range m.Precision {
			force = max(force, math.Abs(v*f.centre[i%d])*float64(d))
		}
	}
	for i := range far {
		// What the two results may differ by is the rounding of the largest terms on the way: of
		// the momentum's, r and h times the gradient's terms; of the position's, the centre and h
		// times those.
		size := (markov.Largest(z[d:]) + h*force) * max(h, 1)
		if i < d {
			size = markov.Largest(z[:d]) + markov.Largest(f.centre) + h*size
		}
		defect := math.Abs(far[i]-z[i]) / (math.Sqrt(float64(2*d)) * size)
		if !(defect <= affineTolerance) {
			return usage.Errorf("step depends on where the origin is: off by %.2g (relative) "+
				"when target and state are moved", defect)
		}
	}
	return nil
}
