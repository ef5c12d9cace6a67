package chain

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/child"
	"hambench/models"
)

// forces makes the forces of a target's rows and counts their evaluations. It
// serves one chain.
type forces struct {
	target models.Target
	can    models.Capabilities // beyond gradients
	rows   models.Rows         // of the current batch
	// force is the force of the current rows: a batch, or a fusedBatch.
	force  integrators.Force
	counts Counts // all but the steps
	// affine holds the affine forces of the current arrangement, by their rows.
	affine map[models.Rows]*integrators.Affine
}

// newForces returns the forces of a target.
func newForces(t models.Target) *forces {
	f := &forces{
		target: t, can: models.CapabilitiesOf(t), affine: make(map[models.Rows]*integrators.Affine),
	}
	f.force = (*batch)(f)
	if f.can.Fused != nil {
		f.force = fusedBatch{(*batch)(f), f.can.Fused}
	}
	return f
}

// available states what the forces offer beyond gradients.
func (f *forces) available() integrators.Available {
	return integrators.Available{
		HessianVectors: f.can.Hessian != nil, Affine: f.can.LinearGaussian != nil,
	}
}

// batch returns the force of the rows until the next call.
func (f *forces) batch(rows models.Rows) integrators.Force {
	f.rows = rows
	return f.force
}

// list returns the force of a list of rows with weights (see models.Gatherer)
// until the next call. It panics if the target takes no lists.
func (f *forces) list(index []int, weights []float64, scale float64) integrators.Force {
	g := f.can.Gatherer
	if g == nil {
		panic(fmt.Sprintf("chain: list of rows for model %q, which takes none", f.can.Name))
	}
	g.Gather(index, weights)
	n := g.Rows()
	// What was kept of data rows stays valid; rows behind them were of another list.
	for rows := range f.affine {
		if rows.Lo >= n { // of the list before
			delete(f.affine, rows)
		}
	}
	return f.batch(models.Rows{Lo: n, Hi: n + len(index), Scale: scale})
}

// full returns the force of all data.
func (f *forces) full() integrators.Force { return (*full)(f) }

// modeIterations bounds the search for a mode: beyond them the potential of a
// network hardly falls.
const modeIterations = 500

// mode returns a point near a mode of the target's posterior: the end of an L-BFGS
// search that starts at a prior draw with a fixed seed. If gradients are rounded, the
// search ends before they vanish. That does not matter to an estimator, which any
// fixed point leaves unbiased. Each evaluation, of the potential too, counts as a
// gradient over all data.
func (f *forces) mode() ([]float64, error) {
	t := f.target
	t.Arrange(nil)
	start := make([]float64, t.Dim())
	noise.New(modeKey, noise.StreamStart).Normal(start)
	t.DrawPrior(start)
	// The search evaluates in goroutines of its own, where a caller cannot recover the panic of a
	// model that fails: it is caught there, and ends the search.
	var failed error
	problem := optimize.Problem{
		Func: func(theta []float64) (u float64) {
			defer child.Catch(&failed)
			f.counts.FullGradients++
			return t.Potential(theta)
		},
		Grad: func(g, theta []float64) {
			if failed == nil { // of the potential at the same position
				defer child.Catch(&failed)
				f.full().Gradient(g, theta)
			}
		},
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, failed },
	}
	settings := &optimize.Settings{MajorIterations: modeIterations}
	found, err := optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if failed != nil {
		return nil, failed
	}
	if found == nil || floats.HasNaN(found.X) || math.IsInf(found.F, 0) {
		return nil, fmt.Errorf("no mode of model %q was found: %w", f.can.Name, err)
	}
	return found.X, nil
}

// modeKey is the key of the prior draw that a search for a mode starts at.
const modeKey = 1

// ModeSearch has the constants of the search for a mode, which decide the numbers of an estimator
// that asks for one: its fingerprint has them.
func ModeSearch() []float64 { return []float64{modeKey, modeIterations} }

// arrange puts the target's rows in a new order, so that a batch then holds
// other rows than before.
func (f *forces) arrange(order []int) {
	f.target.Arrange(order)
	clear(f.affine)
}

// full is the force of all rows, whose evaluations are counted apart.
type full forces

func (f *full) Gradient(g, theta []float64) {
	f.counts.FullGradients++
	f.target.Gradient(g, theta, models.Rows{Lo: 0, Hi: f.target.Rows(), Scale: 1})
}

// batch is the force of the current mini-batch. It has all the methods of an
// integrators.HessianForce and AffineForce; an integrator that needs one which the
// target lacks was refused by Integrator.Check.
type batch forces

func (b *batch) Gradient(g, theta []float64) {
	b.counts.Gradients++
	b.target.Gradient(g, theta, b.rows)
}

func (b *batch) HessianVector(hv, theta, v []float64) {
	b.counts.HessianVectors++
	b.can.Hessian.HessianVector(hv, theta, v, b.rows)
}

// The affine forces kept take about keptNumbers numbers, 256 MB, or fewestAffine forces if that is
// more. affineOverhead is what slices and the map take for each, in numbers.
const keptNumbers, fewestAffine, affineOverhead = 1 << 25, 64, 32

// Affine returns one pointer per batch of an arrangement, until there are too many: integrators
// keep what they derive from it, and schemes whose batches begin at any row ask for ever new ones.
func (b *batch) Affine() *integrators.Affine {
	a := b.affine[b.rows]
	if a == nil {
		precision, shift := b.can.LinearGaussian.Affine(b.rows)
		a = &integrators.Affine{Precision: precision, Shift: shift}
		each := len(precision) + len(shift) + affineOverhead
		if len(b.affine) >= max(fewestAffine, keptNumbers/each) {
			clear(b.affine)
		}
		b.affine[b.rows] = a
	}
	return a
}

// fusedBatch is the force of a target that carries out parts of a step.
type fusedBatch struct {
	*batch
	fused models.Fused
}

// Kick implements integrators.FusedForce: it takes one gradient.
func (b fusedBatch) Kick(drift integrators.Coef, u *integrators.Update, n integrators.Noise,
	ahead any) any {
	b.counts.Gradients++
	return b.fused.Kick(drift, u, n, ahead, b.rows)
}

// At implements integrators.FusedForce: it takes a gradient and, unless v is nil, a product.
func (b fusedBatch) At(x []float64, xs []integrators.Term, v []float64, vs []integrators.Term) (
	gradient, product integrators.Term) {
	b.counts.Gradients++
	if v != nil {
		b.counts.HessianVectors++
	}
	return b.fused.At(x, xs, v, vs, b.rows)
}
