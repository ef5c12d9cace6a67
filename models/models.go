// Package models holds the targets: posteriors with their potential,
// mini-batch gradient, Hessian-vector product and predictions.
package models

// Rows are the data rows [Lo, Hi) of a target's current arrangement with the
// weight of their negative log-likelihood.
type Rows struct {
	Lo, Hi int
	Scale  float64
}

// Target is a posterior density ∝ exp(−U(θ)). A Target holds scratch space
// and an arrangement of its rows: it serves one chain.
type Target interface {
	// Dim is the number of parameters, Rows the number of data rows.
	Dim() int
	Rows() int
	// Arrange puts the rows into a new order: row i becomes row order[i] of
	// the data as they were given. nil restores that order.
	Arrange(order []int)
	// Potential returns U(θ) up to a constant, over all rows, in float64.
	Potential(theta []float64) float64
	// Gradient stores Scale × the gradient of the rows' negative
	// log-likelihood plus the gradient of the negative log-prior in g.
	Gradient(g, theta []float64, rows Rows)
	// Outputs is the number of predictive values, and Predict stores them:
	// the f(x*) at each test input (in standardised units), or each class's
	// probability, a test input after another (two classes: only the
	// second's).
	Outputs() int
	Predict(dst, theta []float64)
	// DrawPrior stores a draw from the prior, made of the standard normals
	// in dst, in dst.
	DrawPrior(dst []float64)
}

// Hessian is a Target with exact Hessian-vector products.
type Hessian interface {
	Target
	// HessianVector stores the product of the Hessian of what Gradient
	// differentiates with v in hv.
	HessianVector(hv, theta, v []float64, rows Rows)
}
