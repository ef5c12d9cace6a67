package gaussian

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/markov"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/usage"
)

// stepEngine compares the law after one step with that of the exact flow, on a
// Gaussian problem in one batch. What they differ by, over h, has the scheme's weak
// order.
type stepEngine struct{ *Engine }

// OneStep returns the engine that compares steps of all data with the exact flow.
func (g *Engine) OneStep() (markov.Engine, error) {
	all, err := g.Whole()
	if err != nil {
		return nil, err
	}
	return stepEngine{all.(*Engine)}, nil
}

// stepObservables are the means of (θ, r) after a step, as a function of where
// it starts, and the covariance of its noise. Relative and absolute errors are
// both measured in the frame.
var stepObservables = []string{"step.mean", "step.cov"}

// Observables are step.mean and step.cov.
func (e stepEngine) Observables() []string { return stepObservables }

// Size is Frobenius' norm.
func (e stepEngine) Size(_ int, x []float64) float64 { return floats.Norm(x, 2) }

// Judging returns the engine itself: the batches do not count.
func (e stepEngine) Judging() (markov.Engine, []float64, error) { return e, nil, nil }

// Whole returns the engine itself, which has one batch.
func (e stepEngine) Whole() (markov.Engine, error) { return e, nil }

// Prepare compares an outer step of the integrator with the exact flow over the same time.
func (e stepEngine) Prepare(in *integrators.Instance) (markov.Chain, error) {
	p := in.Params
	exact, err := integrators.Builtin().Lookup("exact")
	if err != nil {
		return nil, err
	}
	// The flow goes as far as an outer step's kernels do together.
	flow, err := exact.New(in.Dim, integrators.Params{Step: p.Step * float64(in.Batches),
		Friction: p.Friction, InvMass: p.InvMass})
	if err != nil {
		return nil, err
	}
	if in.Integrator.Mixes() {
		return nil, usage.Errorf("integrator %q mixes steps, so that the law of one step is not "+
			"normal: want another integrator", in.Integrator.Name)
	}
	var laws [2]*affineMap // of the integrator, and of the flow
	for i, x := range []*integrators.Instance{in, flow} {
		prepared, err := e.Engine.Prepare(x)
		if err != nil {
			return nil, fmt.Errorf("one step: %w", err)
		}
		laws[i] = prepared.(*Chain).outerStep()
	}
	// Means as linear functions of the start, and covariances of the noise, per unit of time.
	at := markov.Point{}
	// Observables are per unit of time, so that weak order p shows as h^p, not h^(p+1).
	bound := (laws[0].off + laws[1].off + 8*markov.Epsilon) / p.Step
	for _, pair := range [][2]*mat.Dense{{laws[0].a, laws[1].a}, {laws[0].q, laws[1].q}} {
		var differs mat.Dense
		differs.Sub(pair[0], pair[1])
		differs.Scale(1/p.Step, &differs)
		// Relative to the flow's own map, or noise.
		size, off := mat.Norm(&differs, 2), bound*mat.Norm(pair[1], 2)
		at.Observed = append(at.Observed, markov.Observation{
			Signed: differs.RawMatrix().Data, Relative: size, Error: size,
			RelativeResolution: off, Resolution: off,
		})
	}
	return preparedStep(at), nil
}

// outerStep is the affine map of the kernels under all data and of the refreshment.
func (e *moments) outerStep() *affineMap {
	parts := slices.Repeat(e.kernels, e.inner/e.each)
	if e.refresh != nil {
		parts = append(parts, e.refresh)
	}
	out := newAffineMap(e.n) // first the identity
	for i := range e.n {
		out.a.Set(i, i, 1)
	}
	for _, m := range parts { // x ↦ M(M′x + …) has the noise M Q′Mᵀ + Q
		var a, q mat.Dense
		a.Mul(m.a, out.a)
		q.Product(m.a, out.q, m.a.T())
		out.a.Copy(&a)
		out.q.Add(&q, m.q)
		out.off += m.off
	}
	return out
}

// preparedStep is the outcome at a step size, whatever the scheme.
type preparedStep markov.Point

// Solve returns the outcome.
func (p preparedStep) Solve(context.Context, minibatch.Scheme, bool) (markov.Point, error) {
	return markov.Point(p), nil
}
