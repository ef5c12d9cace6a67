package estimators

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"hambench/integrators"
	"hambench/models"
	"hambench/noise"
	"hambench/usage"
)

// Counts is the work that Forces have done.
type Counts struct {
	Gradients      int64 // over a batch
	HessianVectors int64 // Hessian-vector products over a batch
	FullGradients  int64 // gradients over all data
}

// Forces makes the forces of a target's rows and counts their evaluations. It
// serves one chain.
type Forces struct {
	target models.Target
	rows   models.Rows // of the batch
	force  integrators.Force
	counts Counts
	affine map[models.Rows]*integrators.Affine // of the current arrangement
}

// NewForces returns the forces for an integrator. If that needs more than the
// target has, NewForces returns a usage error that names both.
func NewForces(t models.Target, m integrators.Method) (*Forces, error) {
	_, hessian := t.(models.Hessian)
	_, gaussian := t.(models.LinearGaussian)
	switch {
	case m.Claims.HessianVectors > 0 && !hessian:
		return nil, usage.Errorf("integrator %q needs Hessian-vector products, which model %q does not have", m.Name, ModelName(t))
	case m.Claims.Affine && !gaussian:
		return nil, usage.Errorf("integrator %q needs a linear-Gaussian force, which model %q does not have", m.Name, ModelName(t))
	}
	f := &Forces{target: t, affine: make(map[models.Rows]*integrators.Affine)}
	f.force = (*batch)(f)
	if t, ok := t.(models.Fused); ok {
		f.force = fusedBatch{(*batch)(f), t}
	}
	return f, nil
}

// Batch returns the force of the rows until the next call.
func (f *Forces) Batch(rows models.Rows) integrators.Force {
	f.rows = rows
	return f.force
}

// List returns the force of a list of rows with weights (see models.Gatherer)
// until the next call. It panics if the target takes no lists.
func (f *Forces) List(index []int, weights []float64, scale float64) integrators.Force {
	g, ok := f.target.(models.Gatherer)
	if !ok {
		panic(fmt.Sprintf("estimators: list of rows for model %q, which takes none", ModelName(f.target)))
	}
	g.Gather(index, weights)
	n := g.Rows()
	for rows := range f.affine {
		if rows.Lo >= n { // of the list before
			delete(f.affine, rows)
		}
	}
	return f.Batch(models.Rows{Lo: n, Hi: n + len(index), Scale: scale})
}

// Full returns the force of all data.
func (f *Forces) Full() integrators.Force { return (*full)(f) }

// modeIterations bounds the search for a mode: beyond them the potential of a
// network hardly falls.
const modeIterations = 500

// Mode returns a point near a mode of the posterior: where L-BFGS ends if it
// starts at a prior draw with a fixed seed. Each evaluation, of the potential
// too, counts as a gradient over all data. If gradients are rounded, it ends
// before they vanish. That does not matter to an estimator, which any fixed
// point leaves unbiased.
func (f *Forces) Mode() ([]float64, error) {
	t, full := f.target, f.Full()
	t.Arrange(nil)
	start := make([]float64, t.Dim())
	noise.New(modeKey, noise.StreamStart).Normal(start)
	t.DrawPrior(start)
	problem := optimize.Problem{
		Func: func(theta []float64) float64 {
			f.counts.FullGradients++
			return t.Potential(theta)
		},
		Grad: full.Gradient,
	}
	found, err := optimize.Minimize(problem, start, &optimize.Settings{MajorIterations: modeIterations}, &optimize.LBFGS{})
	if found == nil || floats.HasNaN(found.X) || math.IsInf(found.F, 0) {
		return nil, fmt.Errorf("no mode of model %q was found: %w", ModelName(t), err)
	}
	return found.X, nil
}

// modeKey is the key of the prior draw that a search for a mode starts at.
const modeKey = 1

// Arrange puts the target's rows in a new order, so that a batch then holds
// other rows than before.
func (f *Forces) Arrange(order []int) {
	f.target.Arrange(order)
	clear(f.affine)
}

// Counts returns the work done so far.
func (f *Forces) Counts() Counts { return f.counts }

// full is the force of all rows.
type full Forces

func (f *full) Gradient(g, theta []float64) {
	f.counts.FullGradients++
	f.target.Gradient(g, theta, models.Rows{Lo: 0, Hi: f.target.Rows(), Scale: 1})
}

// batch is the force of the current mini-batch. What it gives beyond a gradient
// is for integrators that claim to need it: NewForces has asked the target.
type batch Forces

func (b *batch) Gradient(g, theta []float64) {
	b.counts.Gradients++
	b.target.Gradient(g, theta, b.rows)
}

func (b *batch) HessianVector(hv, theta, v []float64) {
	b.counts.HessianVectors++
	b.target.(models.Hessian).HessianVector(hv, theta, v, b.rows)
}

// Affine returns one pointer per batch of an arrangement: integrators keep
// what they derive from it.
func (b *batch) Affine() *integrators.Affine {
	a := b.affine[b.rows]
	if a == nil {
		precision, shift := b.target.(models.LinearGaussian).Affine(b.rows)
		a = &integrators.Affine{Precision: precision, Shift: shift}
		b.affine[b.rows] = a
	}
	return a
}

// fusedBatch is the force of a target that carries out parts of a step.
type fusedBatch struct {
	*batch
	fused models.Fused
}

func (b fusedBatch) Kick(drift integrators.Coef, u *integrators.Update, n integrators.Noise, ahead any) any {
	b.counts.Gradients++
	return b.fused.Kick(drift, u, n, ahead, b.rows)
}

func (b fusedBatch) At(x []float64, xs []integrators.Term, v []float64, vs []integrators.Term) (gradient, product integrators.Term) {
	b.counts.Gradients++
	if v != nil {
		b.counts.HessianVectors++
	}
	return b.fused.At(x, xs, v, vs, b.rows)
}

// ModelName returns the target's own name if it has one, otherwise its Go
// type.
func ModelName(t models.Target) string {
	if n, ok := t.(interface{ Name() string }); ok {
		return n.Name()
	}
	return fmt.Sprintf("%T", t)
}
