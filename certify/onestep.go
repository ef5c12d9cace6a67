package certify

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"hambench/integrators"
	"hambench/minibatch"
)

// stepEngine compares the law after one step under the full data with that of
// the exact flow, on a Gaussian problem. What they differ by, over h, has the
// scheme's weak order.
type stepEngine struct {
	*gaussianEngine
	flow integrators.Method
}

func newStepEngine(g *gaussianEngine) (*stepEngine, error) {
	flow, err := integrators.Builtin().Lookup("exact")
	return &stepEngine{g, flow}, err
}

// stepObservables are the means of (θ, r) after a step, as a function of where
// it starts, and the covariance of its noise. Relative and absolute errors are
// both measured in the frame.
var stepObservables = []string{"step.mean", "step.cov"}

func (e *stepEngine) observables() []string { return stepObservables }

func (e *stepEngine) size(_ int, x []float64) float64 { return norm(x) }

func (e *stepEngine) prepare(in *integrators.Integrator) (prepared, error) {
	p := in.Params
	flow, err := e.flow.New(in.Dim, integrators.Params{Step: p.Step * float64(in.Batches), Friction: p.Friction, InvMass: p.InvMass})
	if err != nil {
		return nil, err
	}
	var laws [2]affineMap
	for i, x := range []*integrators.Integrator{in, flow} {
		prepared, err := e.gaussianEngine.prepare(x)
		if err != nil {
			return nil, fmt.Errorf("one step: %w", err)
		}
		laws[i] = prepared.(*preparedGaussian).full.outerStep(x.Batches)
	}
	at := point{}
	bound := (laws[0].off + laws[1].off + 8*epsilon) / p.Step
	for _, pair := range [][2][]float64{{laws[0].a, laws[1].a}, {laws[0].q, laws[1].q}} {
		differs := append([]float64(nil), pair[0]...)
		addScaled(differs, -1, pair[1])
		scale(differs, 1/p.Step)
		at.observed = append(at.observed, observation{
			signed: differs, relative: norm(differs), error: norm(differs),
			relativeResolution: bound * norm(pair[1]), resolution: bound * norm(pair[1]),
		})
	}
	return preparedStep(at), nil
}

// outerStep is the affine map of N_l kernels under the first batch and of the
// refreshment.
func (e *moments) outerStep(inner int) affineMap {
	parts := []*affineMap{}
	for range inner {
		parts = append(parts, &e.kernels[0])
	}
	if e.after != nil {
		parts = append(parts, e.after)
	}
	a, q, off := mat.NewDense(e.n, e.n, nil), mat.NewDense(e.n, e.n, nil), 0.0
	for i := range e.n {
		a.Set(i, i, 1)
	}
	for _, m := range parts {
		by := mat.NewDense(e.n, e.n, m.a)
		a.Mul(by, mat.DenseCopyOf(a))
		q.Mul(by, mat.DenseCopyOf(q))
		q.Mul(mat.DenseCopyOf(q), by.T())
		q.Add(q, mat.NewDense(e.n, e.n, m.q))
		off += m.off
	}
	return affineMap{a: a.RawMatrix().Data, q: q.RawMatrix().Data, off: off}
}

// preparedStep is the outcome at a step size, whatever the scheme.
type preparedStep point

func (p preparedStep) solve(context.Context, minibatch.Method, bool) (point, error) {
	return point(p), nil
}
