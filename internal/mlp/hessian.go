package mlp

import "hambench/internal/kernel"

// A Hessian-vector product differentiates the gradient along v, forward over
// reverse: every quantity of the gradient has a tangent, its derivative along
// v.
//
// Source: Pearlmutter, "Fast exact multiplication by the Hessian", Neural
// Computation 6 (1994), section 3, his R-operator.

// forwardTangent returns the program that computes the activations of n
// columns and their tangents. For a layer's outputs before the ReLU that is
// V·inputs + W·(tangent of inputs), and the ReLU passes the entries
// whose outputs it passes.
func (e *engine[T]) forwardTangent(n int) *kernel.Program[T] {
	p := kernel.NewProgram[T](e.set)
	last := len(e.layers) - 1
	for l, y := range e.layers {
		q := kernel.Product{
			M: y.out, N: columns[T](n), Scale: y.scale,
			Terms: []kernel.Term{e.weigh(slotTheta, l, y.in+1, e.activation(l))},
			C:     at(slotOutput), CRow: e.rowLen, Epilogue: kernel.Store,
		}
		r := q
		r.C = at(slotTangentOutput)
		r.Terms = []kernel.Term{e.weigh(slotVector, l, y.in+1, e.activation(l))}
		if l > 0 {
			r.Terms = append(r.Terms, e.weigh(slotTheta, l, y.in, e.tangent(l)))
		}
		if l < last {
			q.C, q.Epilogue = at(e.activation(l+1)), kernel.ReLU
			r.C, r.Epilogue, r.H = at(e.tangent(l+1)), kernel.Mask, q.C
		}
		p.Product(q)
		p.Product(r)
	}
	return p
}

// outerTangent appends what stores layer l's part of the product: of inputs
// with the tangent of the derivative by outputs, and the other way round. The
// gradient, where there is one, has transposed the derivative itself.
func (e *engine[T]) outerTangent(p *kernel.Program[T], l, n int, kind derivatives, to sum) {
	delta, tangent := e.deltaSlot(slotDelta, l), e.deltaSlot(slotTangentDelta, l)
	e.transpose(p, l, n, tangent, slotTangentTransp)
	pairs := []pair{{e.activation(l), tangent, slotTangentTransp}}
	if l > 0 {
		if kind == productOnly {
			e.transpose(p, l, n, delta, slotTransposed)
		}
		pairs = append(pairs, pair{e.tangent(l), delta, slotTransposed})
	}
	e.outer(p, l, n, to, pairs...)
}
