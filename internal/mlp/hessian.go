package mlp

import "hambench/internal/kernel"

// A Hessian-vector product differentiates the gradient along v, forward over
// reverse: every quantity of the gradient has a tangent, its derivative along
// v.
//
// Source: Pearlmutter, "Fast exact multiplication by the Hessian", Neural
// Computation 6 (1994), section 3, his R-operator.

// forwardTangent appends the product that makes the tangents of what q makes.
// For a layer's outputs before the ReLU that is V·inputs + W·(tangent of
// inputs), and the ReLU passes the entries whose outputs it passes.
func (b *builder[T]) forwardTangent(l int, q kernel.Product) {
	y := b.layers[l]
	q.Terms = []kernel.Term{b.weigh(slotVector, l, y.in+1, b.activation(l))}
	if l > 0 {
		q.Terms = append(q.Terms, b.weigh(slotTheta, l, y.in, b.tangent(l)))
	}
	if l < len(b.layers)-1 {
		q.Epilogue, q.H = kernel.Mask, q.C
	}
	q.C = at(b.tangent(l + 1))
	b.Product(q)
}

// outerTangent appends what stores or adds layer l's part of the product: of
// inputs with the tangent of the derivative by outputs, and the other way
// round. The derivative itself is transposed already.
func (b *builder[T]) outerTangent(l int, e kernel.Epilogue) {
	delta, tangent := b.delta(slotDelta, l), b.delta(slotTangentDelta, l)
	b.transpose(l, tangent, slotTangentTransp)
	pairs := []pair{{b.activation(l), tangent, slotTangentTransp}}
	if l > 0 {
		pairs = append(pairs, pair{b.tangent(l), delta, slotTransposed})
	}
	b.outer(l, slotProduct, e, pairs...)
}
