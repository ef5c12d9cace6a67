package certify

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"hambench/certify/probe"
	"hambench/certify/spectral"
	"hambench/integrators"
	"hambench/internal/child"
	"hambench/usage"
)

// mostVectors bounds the vectors of a state and of a step's normals: far more than any sampler
// has, and few enough that a wrong answer to hello cannot ask for all memory.
const mostVectors = 64

// Sampler is a sampler in another process, in any language. It answers where its
// step leads from given states with given normals, under given forces, so that the
// engines probe it as they do a built-in integrator; it never draws a number of its own.
// docs/samplers.md has the protocol: lines of JSON on standard input and output.
type Sampler struct {
	ctx    context.Context // of all questions
	child  *child.Child
	hello  greeting // its own answer, or what stands in its place
	points int      // states that steps were asked for
}

// greeting holds a sampler's answer to hello.
type greeting struct {
	child.Greeting
	State   int  `json:"state"`   // vectors: position, momentum, auxiliary variables
	Normals int  `json:"normals"` // vectors a step
	Batches int  `json:"batches"` // forces a step: N_l
	Hessian bool `json:"hessian"` // a step takes Hessian-vector products
	// Gradients is the number of gradients that a step takes of each of its batches, by which
	// costs are counted.
	Gradients int    `json:"gradients"`
	Claims    claims `json:"claims"`
	// Momentum says that the second vector is a momentum; if not, it stays 0.
	Momentum bool `json:"momentum"`
	// Auxiliary has what is known of the laws of the vectors from the third on; none: nothing.
	Auxiliary []auxiliary `json:"auxiliary"`
}

// auxiliary is what a sampler says of the law of a vector, as integrators.Variable does.
type auxiliary struct {
	Name      string  `json:"name"`
	Start     float64 `json:"start"` // its mean, if a deviation is stated
	Deviation float64 `json:"deviation"`
	Positive  bool    `json:"positive"`
}

// claims are the orders that a sampler claims.
type claims struct {
	Position float64 `json:"position"` // of the law of θ
	Joint    float64 `json:"joint"`    // of the law of θ and r
}

// defaultGreeting holds what a sampler that does not say otherwise is taken for: position and
// momentum, and one vector of normals and one batch a step. One that claims no order claims that
// its error vanishes with the step.
var defaultGreeting = greeting{State: 2, Normals: 1, Batches: 1, Gradients: 1, Momentum: true,
	Claims: claims{Position: 1, Joint: 1}}

// StartSampler runs a command by sh -c and lets it introduce itself. Any mistake
// of the child, now or in a later step, is a usage error; each answer must come
// within the timeout. The child runs until Stop; a context that is done ends the question
// that is open, and all later ones.
func StartSampler(ctx context.Context, command string, timeout time.Duration) (*Sampler, error) {
	c, err := child.Start(command, "", timeout)
	if err != nil {
		return nil, err
	}
	s := &Sampler{ctx: ctx, child: c, hello: defaultGreeting}
	if err = c.Ask(ctx, "hello", child.Greet(), &s.hello); err == nil {
		err = s.hello.check()
	}
	if err != nil {
		c.Stop()
		return nil, err
	}
	return s, nil
}

// Stop ends the child. The sampler's integrators cannot be used afterwards.
func (s *Sampler) Stop() { s.child.Stop() }

// Calls returns how often the child was asked, and for how many steps in all.
func (s *Sampler) Calls() (calls, steps int) { return s.child.Calls(), s.points }

// check refuses an answer to hello that is out of range.
func (g *greeting) check() error {
	bad := func(format string, args ...any) error {
		return usage.Errorf("answer to hello: "+format, args...)
	}
	switch {
	case g.State < 1 || g.State > mostVectors:
		return bad("state %d: want 1 to %d vectors (position, momentum, auxiliary "+
			"variables)", g.State, mostVectors)
	case g.Normals < 0 || g.Normals > mostVectors:
		return bad("normals %d: want 0 to %d vectors a step", g.Normals, mostVectors)
	case g.Batches < 1 || g.Batches > probe.MaxLists:
		return bad("batches %d: want 1 to %d a step", g.Batches, probe.MaxLists)
	case g.Gradients < 1 || g.Gradients > mostVectors:
		return bad("gradients %d: want 1 to %d a step and batch", g.Gradients, mostVectors)
	case len(g.Auxiliary) > 0 && len(g.Auxiliary) != g.State-2:
		return bad("%d auxiliary variables with a state of %d vectors: want %d, or none",
			len(g.Auxiliary), g.State, max(0, g.State-2))
	}
	for _, v := range g.Auxiliary {
		// The law of a positive variable is looked for in its logarithm, from that of the start on.
		if !(v.Deviation >= 0) || v.Positive && !(v.Start > 0) {
			return bad("auxiliary variable %q: start %v, deviation %v: want a deviation that is "+
				"not negative, and a start above 0 if it is positive", v.Name, v.Start, v.Deviation)
		}
	}
	// An order that was left out has the value of defaultGreeting by now: a 0 was stated.
	for _, claim := range []struct {
		law   string
		order float64
	}{{"position", g.Claims.Position}, {"joint", g.Claims.Joint}} {
		if !(claim.order > 0 && claim.order < 100) {
			return bad("claim %v on the order (%s): want a number above 0, or none", claim.order,
				claim.law)
		}
	}
	return g.Greeting.Check()
}

// Batches returns N_l, how many batches a step takes.
func (s *Sampler) Batches() int { return s.hello.Batches }

// Integrator describes the sampler as an integrator, to be certified like any other.
// It has no parameters of its own, and no mass. Its kernel takes as many batches as its answer
// to hello says; where that is more than one, Options.Inner has to be the same number.
func (s *Sampler) Integrator() integrators.Integrator {
	g := s.hello
	m := integrators.Integrator{
		Name: g.Name, About: "a sampler in another process", InnerSteps: true,
		Claims:       integrators.Claims{Source: "its own answer to hello"},
		Needs:        integrators.Needs{Gradients: g.Gradients, Normals: g.Normals},
		PositionOnly: g.State == 1 || !g.Momentum,
		// Variables of which something is stated are factors in a step, as a thermostat is.
		Nonlinear: len(g.Auxiliary) > 0,
	}
	m.Claims.ErgodicOrder, m.Claims.PositionOrder = g.Claims.Joint, g.Claims.Position
	// One law, so one claim.
	if m.PositionOnly {
		m.Claims.ErgodicOrder = m.Claims.PositionOrder
	}
	// The answer says whether products are taken, not how many: one a batch is counted.
	if g.Hessian {
		m.Needs.HessianVectors = 1
	}
	if g.State > 2 {
		// Vectors beyond position and momentum start at 0 if nothing is said.
		known := g.Auxiliary
		if len(known) == 0 {
			known = make([]auxiliary, g.State-2)
		}
		m.Variables = func(dim int, _ integrators.Params) []integrators.Variable {
			var out []integrators.Variable
			for _, v := range known {
				out = append(out, integrators.Variable{Name: v.Name, Deviation: v.Deviation,
					Start:    slices.Repeat([]float64{v.Start}, dim),
					Positive: v.Positive, Open: len(g.Auxiliary) > 0 && v.Deviation == 0})
			}
			return out
		}
	}
	// A step has no part of its own for a refreshment: it is all kernel.
	m = integrators.Define(m, func(dim int, p integrators.Params) (integrators.Stepper,
		integrators.Stepper) {
		return &externalStep{s, dim, p}, nil
	})
	checked := m.New
	m.New = func(dim int, p integrators.Params) (*integrators.Instance, error) {
		if p.InvMass != nil {
			return nil, usage.Errorf("%s: a mass matrix is not part of the protocol: want "+
				"none", g.Name)
		}
		p.Inner = g.Batches // what it says, not what the options say
		return checked(dim, p)
	}
	return m
}

// externalStep is the step of a sampler in another process. Many steps are best taken
// by one call of steps, so the engines probe in as few calls as they can.
type externalStep struct {
	sampler *Sampler
	dim     int                // of a vector
	params  integrators.Params // the step and the friction count
}

// Taken is N_l, how many batches a step takes. An outer step is one step of the sampler, which
// does with its forces what it likes.
func (e *externalStep) Taken() int { return e.sampler.Batches() }

// Normals is the number of normals of a step.
func (e *externalStep) Normals() int { return e.sampler.hello.Normals * e.dim }

// Step moves one state, with the next normals of the noise. A failure of the child is a panic
// with a child.Failure, which Run turns into its error.
func (e *externalStep) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	vectors, xi := append([][]float64{z.Theta, z.R}, z.Aux...), make([]float64, e.Normals())
	// Vector by vector, as a chain draws them.
	for part := range slices.Chunk(xi, e.dim) {
		n.Normal(part)
	}
	at := slices.Concat(vectors...) // a phase-space vector, moved in place
	e.Steps([][]float64{at}, f, [][]float64{xi})
	for i, to := range vectors {
		copy(to, at[i*e.dim:])
	}
}

// question is the call for steps.
type question struct {
	Op       string        `json:"op"` // step
	Step     float64       `json:"h"`
	Friction float64       `json:"friction"`
	Dim      int           `json:"dim"`     // numbers in a vector
	Forces   []wireForce   `json:"forces"`  // N_l of them, the same for all states
	States   [][][]float64 `json:"states"`  // vectors of each state
	Normals  [][][]float64 `json:"normals"` // vectors for each state's step
}

// wireForce is a force in the protocol: Pθ − s, with the rows of P, or the derivative of a sum
// of weighted oscillators. It is one of the two: what is left out is empty.
type wireForce struct {
	Precision [][]float64 `json:"precision,omitempty"`
	Shift     []float64   `json:"shift,omitempty"`
	Terms     []wireTerm  `json:"terms,omitempty"`
}

// wireTerm is one oscillator of a sum; the weights of a sum add up to 1.
type wireTerm struct {
	Weight float64 `json:"weight"`
	spectral.Oscillator
}

// Steps moves phase-space vectors (θ, r, auxiliary variables), each by a step with
// normals of its own. It asks the child for all steps at once, but for those that are
// the same. probe.Forces lists the forces of a step that takes several batches.
func (e *externalStep) Steps(z [][]float64, f integrators.Force, xi [][]float64) {
	g := e.sampler.hello
	q := question{Op: "step", Step: e.params.Step, Friction: e.params.Friction, Dim: e.dim,
		Forces: wire(f)}
	cut := func(v []float64) [][]float64 {
		return slices.AppendSeq([][]float64{}, slices.Chunk(v, e.dim)) // never null in JSON
	}
	// Of a sampler without a momentum, states that differ in the momentum alone are the same
	// question. One that would answer it in another way the second time is refused by degeneracy.
	asked := make(map[string]int) // where a question stands, by its bytes
	index := make([]int, len(z))  // where each state's question stands
	for i := range z {
		state, normals := z[i][:g.State*e.dim], xi[i][:e.Normals()]
		// It fails for other types only.
		bits, _ := binary.Append(nil, binary.LittleEndian, slices.Concat(state, normals))
		key := string(bits)
		if _, known := asked[key]; !known {
			asked[key] = len(q.States)
			q.States, q.Normals = append(q.States, cut(state)), append(q.Normals, cut(normals))
		}
		index[i] = asked[key]
	}
	var answer struct {
		States [][]child.Vector `json:"states"`
	}
	// Equal states with equal normals were asked for once; all of them get that answer.
	e.sampler.points += len(q.States)
	err := e.sampler.child.Ask(e.sampler.ctx, "step", q, &answer)
	if err == nil {
		if err = checkShape(answer.States, len(q.States), g.State, e.dim); err != nil {
			err = usage.Errorf("%s: the answer to step with h = %v: %w", g.Name, e.params.Step, err)
		}
	}
	if err != nil {
		panic(&child.Failure{Err: err})
	}
	// A state that the child keeps shorter than ours leaves the rest as it was.
	for i, at := range z {
		copy(at, slices.Concat(answer.States[index[i]]...))
	}
}

// checkShape refuses an answer of another shape than points states of vectors of dim finite
// numbers, naming the first thing that is wrong.
func checkShape(states [][]child.Vector, points, vectors, dim int) error {
	if len(states) != points {
		return usage.Errorf("%d states: want %d, one for each that was asked "+
			"for", len(states), points)
	}
	for _, state := range states {
		if len(state) != vectors {
			return usage.Errorf("a state has %d vectors: want %d, as hello "+
				"says", len(state), vectors)
		}
		for _, v := range state {
			if len(v) != dim {
				return usage.Errorf("a vector has %d numbers: want %d", len(v), dim)
			}
			if floats.HasNaN(v) {
				return usage.Errorf("a vector has a null: want finite numbers")
			}
		}
	}
	return nil
}

// wire returns the forces of a step in the protocol: one for each batch that it takes.
func wire(f integrators.Force) (out []wireForce) {
	for _, f := range probe.Forces(f) {
		var w wireForce
		// Forces of Gaussian problems and of trials are affine, and so are those of scalar problems
		// without oscillations. Any other is the mean of one or more oscillators.
		if affine, ok := f.(*integrators.Affine); ok {
			w.Shift = affine.Shift
			w.Precision = slices.Collect(slices.Chunk(affine.Precision, len(w.Shift)))
		} else {
			potentials := f.(spectral.Mean)
			for _, o := range potentials {
				w.Terms = append(w.Terms, wireTerm{1 / float64(len(potentials)), o})
			}
		}
		out = append(out, w)
	}
	return out
}
