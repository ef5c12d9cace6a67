package mlp

import "hambench/internal/kernel"

// pass is what computes a derivative over one chunk: a program before the
// loss, and one after it. The first chunk of a call stores its part, added to
// the prior's if there is one; the others add theirs to the result.
type pass[T kernel.Float] struct {
	before, first, others *kernel.Program[T]
}

// operands are the vectors of a derivative: of a gradient, if v is nil, or of
// the Hessian's product with v. prior, if not nil, is added to it.
type operands[T kernel.Float] struct {
	result, theta, v, prior []T
}

// derivative computes the gradient or, as its tangent, the Hessian-vector
// product, of scale × the rows' negative log-likelihood.
func (e *engine[T]) derivative(o operands[T], lo, hi int, scale float64) {
	if lo == hi {
		clear(o.result)
		copy(o.result, o.prior)
		return
	}
	e.frame[slotResult], e.frame[slotTheta], e.frame[slotVector], e.frame[slotPrior] = o.result, o.theta, o.v, o.prior
	tangent := o.v != nil
	for c := lo; c < hi; c += e.chunk {
		n := min(e.chunk, hi-c)
		if n < len(e.pairPasses) && !tangent {
			e.pairDerivative(c, n, scale, c == lo)
			continue
		}
		p := e.pass(n, tangent)
		e.frame[slotInputs] = e.inputs[c:]
		p.before.Run(e.frame)
		if tangent {
			e.lossTangent(c, n, scale)
		} else {
			e.lossDelta(c, n, scale)
		}
		if c == lo {
			p.first.Run(e.frame)
		} else {
			p.others.Run(e.frame)
		}
	}
}

// pass returns the programs for n columns.
func (e *engine[T]) pass(n int, tangent bool) *pass[T] {
	p := &e.gradients[n]
	if tangent {
		p = &e.hessians[n]
	}
	if p.before == nil {
		p.before = e.forward(n)
		if tangent {
			p.before = e.forwardTangent(n)
		}
		p.first, p.others = e.backward(n, e.prior(), tangent), e.backward(n, toResult, tangent)
	}
	return p
}

// sum is what becomes of a layer's part of a derivative: the epilogue that
// stores it, and the slot with what that adds.
type sum struct {
	epilogue kernel.Epilogue
	addend   int
}

var toResult = sum{kernel.Add, slotResult}

// prior is the sum of the first chunk. In float32 it would round the prior's
// part, which is left to the caller.
func (e *engine[T]) prior() sum {
	if e.single {
		return sum{epilogue: kernel.Store}
	}
	return sum{kernel.Add, slotPrior}
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

// backward returns the program that computes the gradient from the loss's
// derivative by the outputs, in slotDelta, or its tangent from that and
// slotTangentDelta.
func (e *engine[T]) backward(n int, to sum, tangent bool) *kernel.Program[T] {
	p := kernel.NewProgram[T](e.set)
	for l := len(e.layers) - 1; l >= 0; l-- {
		if tangent {
			e.backwardTangent(p, l, n, to)
		} else {
			e.backwardLayer(p, l, n, to)
		}
	}
	return p
}

// backwardLayer appends layer l's part of the gradient.
func (e *engine[T]) backwardLayer(p *kernel.Program[T], l, n int, to sum) {
	delta := e.deltaSlot(slotDelta, l)
	e.outer(p, l, n, to, pair{e.activation(l), delta, slotTransposed})
	if l > 0 {
		e.back(p, l, n, e.deltaSlot(slotDelta, l-1), e.weighBack(slotTheta, l, delta))
	}
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
// slot for the latter's transpose.
type pair struct{ inputs, delta, transposed int }

// outer appends what stores, at layer l's weights in the result, the outer
// products of pairs, summed over the chunk's n columns.
func (e *engine[T]) outer(p *kernel.Program[T], l, n int, to sum, pairs ...pair) {
	y := e.layers[l]
	result := func(column int) kernel.Operand { return kernel.Operand{Slice: slotResult, Offset: y.offset + column} }
	h := func(column int) kernel.Operand { return kernel.Operand{Slice: to.addend, Offset: y.offset + column} }
	main := y.out - e.dotColumns(y.out, n)
	for o := main; o < y.out; o += 2 {
		q := kernel.Dots{M: y.in + 1, N: min(2, y.out-o), Scale: y.scale, C: result(o), CRow: y.out, Epilogue: to.epilogue, H: h(o)}
		for _, x := range pairs {
			q.Terms = append(q.Terms, kernel.Term{K: n, A: at(x.inputs), ARow: e.stride(l), B: kernel.Operand{Slice: x.delta, Offset: o * e.rowLen}, BRow: e.rowLen})
		}
		p.Dots(q)
	}
	if main == 0 {
		return
	}
	lanes := kernel.Lanes[T]()
	row := (y.out + lanes - 1) / lanes * lanes
	q := kernel.Product{M: y.in + 1, N: main, Scale: y.scale, C: result(0), CRow: y.out, Epilogue: to.epilogue, H: h(0)}
	for _, x := range pairs {
		p.Transpose(kernel.Transpose{M: main, N: n, S: at(x.delta), SRow: e.rowLen, D: at(x.transposed), DRow: row})
		q.Terms = append(q.Terms, kernel.Term{K: n, A: at(x.inputs), ARow: e.stride(l), ACol: 1, B: at(x.transposed), BRow: row})
	}
	p.Product(q)
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
