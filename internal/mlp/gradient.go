package mlp

import "hambench/internal/kernel"

// pass is what computes derivatives over one chunk: a program before the
// loss, and one after it. The first chunk of a call stores its part, the
// others add theirs.
type pass[T kernel.Float] struct {
	before, first, others *kernel.Program[T]
}

// operands are the vectors of a call: a gradient is computed unless it is
// nil, and so is the Hessian's product with v.
type operands[T kernel.Float] struct {
	theta, v, gradient, product []T
}

// derivatives says which of them a call computes.
type derivatives int

const (
	gradientOnly derivatives = iota
	productOnly
	gradientAndProduct
	kinds = iota
)

func (o *operands[T]) kind() derivatives {
	switch {
	case o.product == nil:
		return gradientOnly
	case o.gradient == nil:
		return productOnly
	}
	return gradientAndProduct
}

// derive computes derivatives of scale × the rows' negative log-likelihood. The
// prior's part is left to the caller, who may have a cheaper place for it, and
// in float32 would lose digits here.
func (e *engine[T]) derive(o operands[T], lo, hi int, scale float64) {
	if lo == hi {
		clear(o.gradient)
		clear(o.product)
		return
	}
	e.frame[slotTheta], e.frame[slotVector] = o.theta, o.v
	e.frame[slotGradient], e.frame[slotProduct] = o.gradient, o.product
	kind := o.kind()
	for c := lo; c < hi; c += e.chunk {
		n := min(e.chunk, hi-c)
		if n < len(e.pairPasses) && kind == gradientOnly {
			e.pairGradient(c, n, scale, c == lo)
			continue
		}
		p := e.pass(n, kind)
		e.frame[slotInputs] = e.inputsFrom(c)
		p.before.Run(e.frame)
		if kind == gradientOnly {
			e.lossDelta(c, n, scale)
		} else {
			e.lossTangent(c, n, scale)
		}
		if c == lo {
			p.first.Run(e.frame)
		} else {
			p.others.Run(e.frame)
		}
	}
}

// pass returns the programs for n columns.
func (e *engine[T]) pass(n int, kind derivatives) *pass[T] {
	p := &e.passes[kind][n]
	if p.before == nil {
		p.before = e.forward(n)
		if kind != gradientOnly {
			p.before = e.forwardTangent(n)
		}
		p.first, p.others = e.backward(n, kind, true), e.backward(n, kind, false)
	}
	return p
}

// sum is what becomes of a layer's part of a derivative: the slot of the
// result, and the epilogue that stores it there or adds it.
type sum struct {
	result   int
	epilogue kernel.Epilogue
}

// sumTo is the sum of the first or another chunk in a slot.
func sumTo(slot int, first bool) sum {
	if first {
		return sum{slot, kernel.Store}
	}
	return sum{slot, kernel.Add}
}

// forward returns the program that computes the activations and outputs of n
// columns.
func (e *engine[T]) forward(n int) *kernel.Program[T] {
	if e.forwards[n] != nil {
		return e.forwards[n]
	}
	p := kernel.NewProgram[T](e.set)
	for l, y := range e.layers {
		q := kernel.Product{
			M: y.out, N: columns[T](n), Scale: y.scale,
			Terms: []kernel.Term{e.weigh(slotTheta, l, y.in+1, e.activation(l))},
		}
		q.C, q.CRow, q.Epilogue = at(slotOutput), e.rowLen, kernel.Store
		if l < len(e.layers)-1 {
			q.C, q.Epilogue = at(e.activation(l+1)), kernel.ReLU
		}
		p.Product(q)
	}
	e.forwards[n] = p
	return p
}

// backward returns the program that computes derivatives from the loss's
// derivative by the outputs, in slotDelta, and its tangent, in
// slotTangentDelta.
func (e *engine[T]) backward(n int, kind derivatives, first bool) *kernel.Program[T] {
	p := kernel.NewProgram[T](e.set)
	for l := len(e.layers) - 1; l >= 0; l-- {
		if kind != productOnly {
			delta := e.deltaSlot(slotDelta, l)
			e.transpose(p, l, n, delta, slotTransposed)
			e.outer(p, l, n, sumTo(slotGradient, first), pair{e.activation(l), delta, slotTransposed})
		}
		if kind != gradientOnly {
			e.outerTangent(p, l, n, kind, sumTo(slotProduct, first))
		}
		if l == 0 {
			break
		}
		delta := e.deltaSlot(slotDelta, l)
		e.back(p, l, n, e.deltaSlot(slotDelta, l-1), e.weighBack(slotTheta, l, delta))
		if kind != gradientOnly {
			tangent := e.deltaSlot(slotTangentDelta, l)
			e.back(p, l, n, e.deltaSlot(slotTangentDelta, l-1), e.weighBack(slotVector, l, delta), e.weighBack(slotTheta, l, tangent))
		}
	}
	return p
}

// deltaSlot is where the derivative by layer l's outputs stands.
func (e *engine[T]) deltaSlot(base, l int) int { return base + (len(e.layers)-1-l)%2 }

// weigh is the product of the first k rows of layer l's weights, transposed,
// with its inputs.
func (e *engine[T]) weigh(weights, l, k, inputs int) kernel.Term {
	y := e.layers[l]
	return kernel.Term{
		K: k,
		A: kernel.Operand{Slice: weights, Offset: y.offset}, ARow: 1, ACol: y.out,
		B: at(inputs), BRow: e.stride(l),
	}
}

// weighBack is the product of layer l's weights with a derivative by its
// outputs.
func (e *engine[T]) weighBack(weights, l, delta int) kernel.Term {
	y := e.layers[l]
	return kernel.Term{
		K: y.out,
		A: kernel.Operand{Slice: weights, Offset: y.offset}, ARow: y.out, ACol: 1,
		B: at(delta), BRow: e.rowLen,
	}
}

// back appends the product that takes a derivative through layer l, and
// through the ReLU that made its inputs, to slot dst.
func (e *engine[T]) back(p *kernel.Program[T], l, n, dst int, terms ...kernel.Term) {
	y := e.layers[l]
	p.Product(kernel.Product{
		M: y.in, N: columns[T](n), Scale: y.scale, Terms: terms,
		C: at(dst), CRow: e.rowLen, Epilogue: kernel.Mask, H: at(e.activation(l)),
	})
}

// pair is one product of activations with a derivative by outputs, and the
// slot with the latter's transpose.
type pair struct{ inputs, delta, transposed int }

// outer appends what stores, at layer l's weights in the result, the outer
// products of pairs, summed over the chunk's n columns.
func (e *engine[T]) outer(p *kernel.Program[T], l, n int, to sum, pairs ...pair) {
	y := e.layers[l]
	result := func(column int) kernel.Operand { return kernel.Operand{Slice: to.result, Offset: y.offset + column} }
	main := y.out - e.dotColumns(y.out, n)
	if main > 0 {
		q := kernel.Product{M: y.in + 1, N: main, Scale: y.scale, C: result(0), CRow: y.out, Epilogue: to.epilogue, H: result(0)}
		for _, x := range pairs {
			q.Terms = append(q.Terms, kernel.Term{K: n, A: at(x.inputs), ARow: e.stride(l), ACol: 1, B: at(x.transposed), BRow: transposedRow[T](main)})
		}
		p.Product(q)
	}
	// The product has brought their operands into the first-level cache.
	for o := main; o < y.out; o += 2 {
		q := kernel.Dots{M: y.in + 1, N: min(2, y.out-o), Scale: y.scale, C: result(o), CRow: y.out, Epilogue: to.epilogue, H: result(o)}
		for _, x := range pairs {
			q.Terms = append(q.Terms, kernel.Term{K: n, A: at(x.inputs), ARow: e.stride(l), B: kernel.Operand{Slice: x.delta, Offset: o * e.rowLen}, BRow: e.rowLen})
		}
		p.Dots(q)
	}
}

// transpose appends the transposition of a derivative by layer l's outputs
// that outer needs, if it does.
func (e *engine[T]) transpose(p *kernel.Program[T], l, n, delta, transposed int) {
	y := e.layers[l]
	if main := y.out - e.dotColumns(y.out, n); main > 0 {
		p.Transpose(kernel.Transpose{M: main, N: n, S: at(delta), SRow: e.rowLen, D: at(transposed), DRow: transposedRow[T](main)})
	}
}

// wholeVectors rounds a length up to one that all sets of kernels fill.
func wholeVectors[T kernel.Float](n int) int {
	lanes := kernel.Lanes[T]()
	return (n + lanes - 1) / lanes * lanes
}

// transposedRow is the length of a row of n transposed numbers: an odd number
// of cache lines, so that a column's are spread over all sets of the cache.
func transposedRow[T kernel.Float](n int) int {
	line := kernel.Lanes[T]()
	return (wholeVectors[T](n)/line | 1) * line
}

// dotColumns is how many of a layer's last outputs have their weights'
// gradient made of inner products along the n data, because a vector across
// outputs would be nearly empty. A row of C then costs, per output, n/lanes
// multiply-adds and a horizontal sum, worth some six, instead of n.
func (e *engine[T]) dotColumns(out, n int) int {
	const horizontalSum = 6
	lanes := kernel.VectorLen[T](e.set)
	if out == 1 {
		return 1
	}
	if rest := out % lanes; rest*((n+lanes-1)/lanes+horizontalSum) < n {
		return rest
	}
	return 0
}

// columns is the number of columns computed for n: whole granules.
func columns[T kernel.Float](n int) int {
	g := kernel.Granule[T]()
	return (n + g - 1) / g * g
}

func at(slot int) kernel.Operand { return kernel.Operand{Slice: slot} }
