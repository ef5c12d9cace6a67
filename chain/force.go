package chain

import (
	"fmt"

	"hambench/integrators"
	"hambench/models"
	"hambench/usage"
)

// batch is the force of the current mini-batch. The types below add what
// the target can give beyond a gradient, so that an integrator's question
// "is this force a HessianForce?" is answered as truly for the force as for
// the target.
type batch struct {
	target    models.Target
	rows      models.Rows
	gradients int64
	products  int64
	affine    map[models.Rows]*integrators.Affine // of the current arrangement
}

func (b *batch) Gradient(g, theta []float64) {
	b.gradients++
	b.target.Gradient(g, theta, b.rows)
}

// arrange puts the target's rows in a new order, after which a batch holds
// other rows than before.
func (b *batch) arrange(order []int) {
	b.target.Arrange(order)
	clear(b.affine)
}

// hessianBatch is the force of a target with Hessian-vector products.
type hessianBatch struct {
	*batch
	hessian models.Hessian
}

func (b hessianBatch) HessianVector(hv, theta, v []float64) {
	b.products++
	b.hessian.HessianVector(hv, theta, v, b.rows)
}

// dataBatch is the force of a target that can leave its prior's part out.
type dataBatch struct {
	hessianBatch
	data models.Data
}

func (b dataBatch) GradientData(g, theta []float64) {
	b.gradients++
	b.data.GradientData(g, theta, b.rows)
}

func (b dataBatch) DerivativesData(g, hv, theta, v []float64) {
	b.gradients++
	b.products++
	b.data.DerivativesData(g, hv, theta, v, b.rows)
}

// singleBatch is the force of a target that works in float32.
type singleBatch struct {
	hessianBatch
	single models.Single
}

func (b singleBatch) GradientSingle(g, theta []float32) {
	b.gradients++
	b.single.GradientSingle(g, theta, b.rows)
}

func (b singleBatch) DerivativesSingle(g, hv, theta, v []float32) {
	b.gradients++
	b.products++
	b.single.DerivativesSingle(g, hv, theta, v, b.rows)
}

// affineBatch is the force of a linear-Gaussian target.
type affineBatch struct {
	*batch
	gaussian models.LinearGaussian
}

// Affine returns one pointer per batch of an arrangement: integrators keep
// what they derive from it.
func (b affineBatch) Affine() *integrators.Affine {
	a := b.affine[b.rows]
	if a == nil {
		precision, shift := b.gaussian.Affine(b.rows)
		a = &integrators.Affine{Precision: precision, Shift: shift}
		b.affine[b.rows] = a
	}
	return a
}

// newForce returns the force that the method needs of the target. No method
// needs both Hessian-vector products and an affine force.
func newForce(t models.Target, m integrators.Method) (*batch, integrators.Force, error) {
	b := &batch{target: t, affine: make(map[models.Rows]*integrators.Affine)}
	hessian, hasHessian := t.(models.Hessian)
	single, hasSingle := t.(models.Single)
	data, hasData := t.(models.Data)
	gaussian, hasAffine := t.(models.LinearGaussian)
	switch {
	case m.Claims.HessianVectors > 0 && !hasHessian:
		return nil, nil, usage.Errorf("integrator %q needs Hessian-vector products, which model %q does not have", m.Name, modelName(t))
	case m.Claims.Affine && !hasAffine:
		return nil, nil, usage.Errorf("integrator %q needs a linear-Gaussian force, which model %q does not have", m.Name, modelName(t))
	case m.Claims.Affine:
		return b, affineBatch{b, gaussian}, nil
	case hasSingle:
		return b, singleBatch{hessianBatch{b, hessian}, single}, nil
	case hasData:
		return b, dataBatch{hessianBatch{b, hessian}, data}, nil
	case hasHessian:
		return b, hessianBatch{b, hessian}, nil
	}
	return b, b, nil
}

// modelName is the target's own name where it tells it, its Go type
// otherwise.
func modelName(t models.Target) string {
	if n, ok := t.(interface{ Name() string }); ok {
		return n.Name()
	}
	return fmt.Sprintf("%T", t)
}
