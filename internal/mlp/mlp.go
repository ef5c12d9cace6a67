// Package mlp holds dense ReLU networks with the scaling of the neural
// tangent kernel, and their derivatives over contiguous rows of data.
//
// A network with widths D_0 … D_{L+1} maps the inputs f_0 to
//
//	f_l = W_l φ(f_{l−1}) / √D_{l−1} + b_l,   φ the ReLU, none on the inputs.
//
// Its parameters are one flat vector: for each layer W_l, stored row-major
// as [in][out], then b_l. All of them have the prior N(0, 1).
//
// Derivatives are computed in float64 or in float32, of rows in an arrangement or of a
// list of rows behind them; outputs and likelihoods are in float64 always. Vectors of
// another length than Net.Dim, and rows out of range, are mistakes of the program: the
// methods of a Net panic.
package mlp

import (
	"fmt"
	"slices"

	"hambench/internal/kernel"
	"hambench/internal/rows"
)

// Rows names rows of a network's data, with the factor of their negative log-likelihood.
type Rows = rows.Range

// Problem is a network with its data, which are trusted. With Labels it is a
// classification by the softmax of D_{L+1} outputs; otherwise there is one
// output, of which Targets are observations with Gaussian noise.
type Problem struct {
	// Set is the set of machine kernels.
	Set kernel.Set
	// Widths are D_0 … D_{L+1}.
	Widths []int
	// Inputs are row-major, rows × D_0.
	Inputs []float64
	// Targets has a number for each row, or Labels a class, 0 … D_{L+1} − 1.
	Targets []float64
	Labels  []int
	// NoiseVariance is σ² of the targets.
	NoiseVariance float64
	// Float64 asks for gradients and Hessian-vector products in float64, not float32.
	Float64 bool
}

// Net computes the derivatives of a problem's negative log-likelihood. It
// holds scratch space: a Net serves one goroutine.
type Net struct {
	set    kernel.Set
	dim    int
	layout rows.Layout
	// exact computes outputs, likelihoods, and derivatives in float64. It is arranged
	// when it is needed: stale says that it does not have the order yet, which is empty
	// for the order given.
	exact *engine[float64]
	order []int
	stale bool
	// gradient and product have room for the likelihood's derivatives in float64; nil
	// in float32.
	gradient, product []float64
	// single computes derivatives in float32; nil in float64.
	single *single
}

var one = kernel.Coef{All: 1}

// New returns the network of a problem. It copies the data.
func New(p Problem) *Net {
	p.Inputs = slices.Clone(p.Inputs)
	p.Targets, p.Labels = slices.Clone(p.Targets), slices.Clone(p.Labels)
	count := max(len(p.Targets), len(p.Labels))
	n := &Net{set: p.Set, layout: rows.Layout{N: count}, exact: newEngine[float64](&p, count)}
	n.dim = n.exact.dim
	if p.Float64 {
		n.gradient, n.product = kernel.Aligned[float64](n.dim), kernel.Aligned[float64](n.dim)
	} else {
		n.single = newSingle(&p, count)
	}
	return n
}

// Dim is the number of parameters, Rows the number of data rows.
func (n *Net) Dim() int  { return n.dim }
func (n *Net) Rows() int { return n.layout.N }

// Arrange puts the rows into a new order: row i becomes row order[i] of the
// data as they were given. nil restores that order.
func (n *Net) Arrange(order []int) {
	n.layout.CheckOrder(order)
	n.order, n.stale = append(n.order[:0], order...), true
	if n.single != nil {
		n.single.arrange(order)
	}
}

// Gather makes rows index[0], index[1], … of the data, as they were given, the
// rows Rows(), Rows()+1, … until the next call, for derivatives, in which
// weights, nil for 1 each, multiply them. There are at most Rows() of them.
func (n *Net) Gather(index []int, weights []float64) {
	n.layout.Gather(index, weights)
	if n.single != nil {
		n.single.gather(index, weights)
	} else {
		n.exact.gather(index, weights)
	}
}

// arranged returns the float64 engine in the order in force.
func (n *Net) arranged() *engine[float64] {
	if n.stale {
		n.exact.arrange(n.order)
		n.stale = false
	}
	return n.exact
}

// Gradient stores Scale × the gradient of the rows' negative log-likelihood, plus theta,
// the gradient of the negative log-prior, in g.
func (n *Net) Gradient(g, theta []float64, r Rows) {
	n.check(r, g, theta)
	if s := n.single; s != nil {
		n.set.Narrow(s.theta, theta)
	}
	gradient, _ := n.derive(gradientOnly, theta, nil, r)
	n.set.Combine(g, nil, gradient.Times(one))
}

// HessianVector stores Hv in hv, with H the Jacobian at theta of what Gradient stores.
// The ReLU's second derivative is taken as 0.
func (n *Net) HessianVector(hv, theta, v []float64, r Rows) {
	n.check(r, hv, theta, v)
	if s := n.single; s != nil {
		n.set.Narrow(s.theta, theta)
		n.set.Narrow(s.v, v)
	}
	_, product := n.derive(productOnly, theta, v, r)
	n.set.Combine(hv, nil, product.Times(one))
}

// NegLogLikelihood returns −log p(rows [lo, hi) | theta), constants
// included, in float64 arithmetic.
func (n *Net) NegLogLikelihood(theta []float64, lo, hi int) float64 {
	n.check(Rows{Lo: lo, Hi: hi}, theta)
	return n.arranged().negLogLikelihood(theta, lo, hi)
}

// Outputs stores the network's raw outputs at all rows in dst, row-major, in
// the order of the rows in force, in float64 arithmetic.
func (n *Net) Outputs(dst, theta []float64) {
	n.check(Rows{Lo: 0, Hi: n.layout.N}, theta)
	n.arranged().outputs(dst, theta)
}

// check panics if rows are out of range, or a vector has another length than Dim.
func (n *Net) check(r Rows, vectors ...[]float64) {
	n.layout.Check(r)
	for _, v := range vectors {
		if len(v) != n.dim {
			panic(fmt.Sprintf("mlp: vector of %d numbers: want %d", len(v), n.dim))
		}
	}
}
