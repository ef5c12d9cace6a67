package estimators

import "hambench/integrators"

// corrected is the force of a batch plus the full gradient at an anchor less the
// batch's own there, G_i(θ) + ∇U(θ̂) − G_i(θ̂). Its Hessian is the batch's.
type corrected struct {
	batch     integrators.Force
	full, own []float64 // ∇U(θ̂) and G_i(θ̂)
}

func newCorrected(dim int) corrected {
	return corrected{full: make([]float64, dim), own: make([]float64, dim)}
}

// at makes the force that of a batch, whose gradient at the anchor it takes.
func (c *corrected) at(batch integrators.Force, anchor []float64) integrators.Force {
	c.batch = batch
	batch.Gradient(c.own, anchor)
	return c
}

// Gradient stores G_i(θ) + ∇U(θ̂) − G_i(θ̂).
func (c *corrected) Gradient(g, theta []float64) {
	c.batch.Gradient(g, theta)
	plus, minus := integrators.Coef{All: 1}, integrators.Coef{All: -1}
	integrators.Combine(g, integrators.Term{C: plus, X: g},
		integrators.Term{C: plus, X: c.full}, integrators.Term{C: minus, X: c.own})
}

// HessianVector is the batch's: what is added to its gradient does not depend on θ.
func (c *corrected) HessianVector(hv, theta, v []float64) {
	integrators.NeedHessian(c.batch).HessianVector(hv, theta, v)
}
