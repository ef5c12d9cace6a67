package probe

import (
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"hambench/integrators"
)

// replay hands out given numbers as a noise's, and zeros after the last
// of them; it counts what was asked for.
type replay struct {
	xi []float64
	at int
}

// next returns the next numbers.
func (n *replay) next(count int) []float64 {
	from := n.at
	n.at += count
	if n.at > len(n.xi) {
		return make([]float64, count)
	}
	return n.xi[from:n.at]
}

// remote is a step in another process, which moves many states by one call, and may take
// several batches.
type remote interface {
	integrators.Stepper
	Taken() int   // batches a step
	Normals() int // numbers a step
	Steps(z [][]float64, f integrators.Force, xi [][]float64)
}

// Remote reports whether a kernel takes its steps in another process.
func Remote(kernel integrators.Stepper) bool {
	_, ok := kernel.(remote)
	return ok
}

// Transition is a step of a part of an integrator under a force, as the
// engines see it.
type Transition struct {
	In      *integrators.Instance
	part    integrators.Stepper
	force   integrators.Force // nil for a refreshment
	Normals int               // how many a step takes
}

// NewTransition returns the step of a part of an integrator; a trial step says how many
// normals it takes.
func NewTransition(in *integrators.Instance, part integrators.Stepper,
	f integrators.Force) *Transition {
	if e, ok := part.(remote); ok {
		return &Transition{in, part, f, e.Normals()}
	}
	n := &replay{}
	part.Step(in.NewState(), f, integrators.Replay(n.next))
	return &Transition{in, part, f, n.at}
}

// Apply moves phase-space vectors (θ, r, auxiliary variables), in place, each
// with normals of its own. It sets the momentum to 0 where it is no part of the state.
func (t *Transition) Apply(z, xi [][]float64) {
	if e, ok := t.part.(remote); ok && len(z) > 0 {
		e.Steps(z, t.force, xi)
	} else {
		state, given := t.In.NewState(), &replay{}
		noise := integrators.Replay(given.next)
		// The state is a view of each in turn.
		for i, v := range z {
			t.view(state, v)
			given.xi, given.at = xi[i], 0
			t.part.Step(state, t.force, noise)
		}
	}
	if t.In.Integrator.PositionOnly {
		for _, v := range z {
			clear(v[t.In.Dim : 2*t.In.Dim])
		}
	}
}

// view makes a state's slices parts of a phase-space vector.
func (t *Transition) view(state *integrators.State, z []float64) {
	d := t.In.Dim
	state.Theta, state.R = z[:d:d], z[d:2*d:2*d]
	rest := z[2*d:]
	// Each as long as it was.
	for i, v := range state.Aux {
		state.Aux[i], rest = rest[:len(v):len(v)], rest[len(v):]
	}
}

// Start is where an integrator's phase space begins: 0, and auxiliary variables where chains
// start them.
func Start(in *integrators.Instance) []float64 {
	z := in.NewState()
	return slices.Concat(z.Theta, z.R, slices.Concat(z.Aux...))
}

// Auxiliary is the number of an integrator's auxiliary variables.
func Auxiliary(in *integrators.Instance) int { return len(Start(in)) - 2*in.Dim }

// mixtureNodes is how many values of a uniform number a step is taken at: their rule is right to
// round-off for steps up to ten times the fastest rate's time, to 10⁻⁶ up to thirty times.
const mixtureNodes = 16

// Mixture returns the steps, with weights that add up to 1, whose laws a kernel mixes: of one
// with a uniform number, by quadrature over that; of any other, itself. Under an estimator they
// are those of the kernel that it wraps, each under the estimator.
func Mixture(kernel integrators.Stepper) (steps []integrators.Stepper, weights []float64) {
	if e, ok := kernel.(*estimated); ok {
		steps, weights = Mixture(e.kernel)
		for i, s := range steps {
			steps[i] = &estimated{s, e.estimator, e.forces}
		}
		return steps, weights
	}
	mixed, ok := kernel.(integrators.Mixed)
	if !ok {
		return []integrators.Stepper{kernel}, []float64{1}
	}
	nodes, weights := make([]float64, mixtureNodes), make([]float64, mixtureNodes)
	quad.Legendre{}.FixedLocations(nodes, weights, 0, 1)
	for _, u := range nodes {
		steps = append(steps, mixed.Fix(u))
	}
	return steps, weights
}
