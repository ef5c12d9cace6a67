package estimators

import (
	"gonum.org/v1/gonum/floats"

	"hambench/integrators"
)

// corrected is the force of a batch plus a vector that stays the same during a
// step, so that its Hessian is the batch's.
type corrected struct {
	batch integrators.Force
	plus  []float64
}

func (c *corrected) Gradient(g, theta []float64) {
	c.batch.Gradient(g, theta)
	floats.Add(g, c.plus)
}

// HessianVector needs a HessianForce, which Method.Check and NewForces see to.
func (c *corrected) HessianVector(hv, theta, v []float64) {
	c.batch.(integrators.HessianForce).HessianVector(hv, theta, v)
}

// about corrects a batch's force by the full gradient at an anchor less its own
// there: ∇U(θ̂) − G_i(θ̂).
func (c *corrected) about(batch integrators.Force, full, anchor []float64) integrators.Force {
	c.batch = batch
	batch.Gradient(c.plus, anchor)
	floats.SubTo(c.plus, full, c.plus)
	return c
}
