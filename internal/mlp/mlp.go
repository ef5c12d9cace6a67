// Package mlp holds dense ReLU networks with the scaling of the neural
// tangent kernel, and their derivatives over contiguous rows of data.
//
// A network with widths D_0 … D_{L+1} maps the inputs f_0 to
//
//	f_l = W_l φ(f_{l−1}) / √D_{l−1} + b_l,   φ the ReLU, none on the inputs.
//
// Its parameters are one flat vector: for each layer W_l, stored row-major
// as [in][out], then b_l. All of them have the prior N(0, 1).
package mlp

import (
	"fmt"
	"slices"

	"hambench/internal/kernel"
	"hambench/internal/rows"
)

// Problem is a network with its data, which are trusted. With Labels it is a
// classification by the softmax of D_{L+1} outputs; otherwise there is one
// output, of which Targets are observations with Gaussian noise.
type Problem struct {
	Set           kernel.Set
	Widths        []int     // D_0 … D_{L+1}
	Inputs        []float64 // row-major, rows × D_0
	Targets       []float64 // one a row
	Labels        []int     // one a row, 0 … D_{L+1} − 1
	NoiseVariance float64   // σ² of the targets
	Float64       bool      // gradients and Hessian-vector products in float64, else in float32
}

// Net computes the derivatives of a problem's negative log-likelihood. It
// holds scratch space: a Net serves one goroutine.
type Net struct {
	set      kernel.Set
	dim      int
	layout   rows.Layout
	exact    *engine[float64] // for outputs and likelihoods, and float64 derivatives
	order    []int            // of the rows; empty is the given order
	stale    bool             // exact does not have that order yet
	gradient []float64        // of the likelihood, for derivatives in float64, and
	product  []float64        // its Hessian's product; nil in float32
	single   *single          // derivatives in float32; nil in float64
}

var one = kernel.Coef{All: 1}

// New returns the network of a problem. It copies the data.
func New(p Problem) *Net {
	p.Inputs, p.Targets, p.Labels = slices.Clone(p.Inputs), slices.Clone(p.Targets), slices.Clone(p.Labels)
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

// Gradient stores scale × the gradient of the negative log-likelihood of the
// rows [lo, hi), plus theta, the gradient of the negative log-prior, in g.
func (n *Net) Gradient(g, theta []float64, lo, hi int, scale float64) {
	n.check(lo, hi, g, theta)
	if s := n.single; s != nil {
		n.set.Narrow(s.theta, theta)
	}
	gradient, _ := n.derive(gradientOnly, theta, nil, lo, hi, scale)
	n.set.Combine(g, nil, gradient.Times(one))
}

// HessianVector stores the product of the Hessian of what Gradient
// differentiates with v in hv. The ReLU's second derivative is taken as 0.
func (n *Net) HessianVector(hv, theta, v []float64, lo, hi int, scale float64) {
	n.check(lo, hi, hv, theta, v)
	if s := n.single; s != nil {
		n.set.Narrow(s.theta, theta)
		n.set.Narrow(s.v, v)
	}
	_, product := n.derive(productOnly, theta, v, lo, hi, scale)
	n.set.Combine(hv, nil, product.Times(one))
}

// NegLogLikelihood returns −log p(rows [lo, hi) | theta), constants
// included, in float64 arithmetic.
func (n *Net) NegLogLikelihood(theta []float64, lo, hi int) float64 {
	n.check(lo, hi, theta)
	return n.arranged().negLogLikelihood(theta, lo, hi)
}

// Outputs stores the network's raw outputs at all rows in dst, row-major, in
// the order of the rows in force, in float64 arithmetic.
func (n *Net) Outputs(dst, theta []float64) {
	n.check(0, n.layout.N, theta)
	n.arranged().outputs(dst, theta)
}

// check panics if rows are out of range, or a vector has another length than Dim.
func (n *Net) check(lo, hi int, vectors ...[]float64) {
	n.layout.CheckRange(lo, hi)
	for _, v := range vectors {
		if len(v) != n.dim {
			panic(fmt.Sprintf("mlp: vector of %d numbers: want %d", len(v), n.dim))
		}
	}
}
