package mlp

import "hambench/internal/kernel"

// pass computes derivatives over one chunk by a program before the loss, and one after it.
// The first chunk of a call stores its part of the result, the others add theirs.
type pass[T kernel.Float] struct {
	before, first, others *kernel.Program[T]
	paired                bool // the numbers lie as pairs.go says
}

// operands holds the vectors of a call, all of length dim. Those that its kind does not
// need may be nil. In float32 one more number follows theta's, which pairs read.
type operands[T kernel.Float] struct {
	theta, v, gradient, product []T
}

// kind names the results of a call.
type kind int

const (
	outputsOnly kind = iota
	gradientOnly
	productOnly // of the Hessian with v
	gradientAndProduct
	kinds = iota
)

// hasGradient and hasProduct report which results a kind has.
func (k kind) hasGradient() bool { return k == gradientOnly || k == gradientAndProduct }
func (k kind) hasProduct() bool  { return k == productOnly || k == gradientAndProduct }

// derive stores derivatives of Scale × the negative log-likelihood of the rows, zeros if
// there are none. The prior's part is left to the caller, who may have a
// cheaper place for it, and in float32 it would lose digits here.
func (e *engine[T]) derive(k kind, o operands[T], r Rows) {
	if r.Lo == r.Hi {
		clear(o.gradient)
		clear(o.product)
		return
	}
	e.frame[slotTheta], e.frame[slotVector] = o.theta, o.v
	e.frame[slotGradient], e.frame[slotProduct] = o.gradient, o.product
	for c := r.Lo; c < r.Hi; c += e.chunk {
		n := min(e.chunk, r.Hi-c)
		p := e.forward(k, c, n)
		if k.hasProduct() {
			e.lossTangent(c, n, r.Scale)
		}
		e.lossDelta(p.paired, c, n, r.Scale)
		if c == r.Lo {
			p.first.Run(e.frame)
		} else {
			p.others.Run(e.frame)
		}
	}
}

// forward computes the outputs of n columns from row lo on, and their tangents
// if the kind needs them. It returns the kind's pass.
func (e *engine[T]) forward(k kind, lo, n int) *pass[T] {
	p := &e.passes[k][n]
	if p.before == nil {
		*p = e.newPass(k, n)
	}
	e.frame[e.activation(0)] = e.inputs[lo:]
	if p.paired {
		e.doubleInputs()
	}
	p.before.Run(e.frame)
	return p
}

// newPass builds the programs of a kind for n columns. Only gradients are paired: neither
// outputs nor the tangents of a product have a paired form.
func (e *engine[T]) newPass(k kind, n int) pass[T] {
	b := builder[T]{engine: e, kind: k, n: n}
	b.paired = e.pairs && n <= kernel.PairRows && k == gradientOnly
	p := pass[T]{paired: b.paired, before: b.forward()}
	if k != outputsOnly {
		p.first, p.others = b.backward(kernel.Store), b.backward(kernel.Add)
	}
	return p
}

// builder builds a pass's programs for n columns. Its methods append to the program that
// is being built.
type builder[T kernel.Float] struct {
	*engine[T]
	*kernel.Program[T] // the one being built
	kind               kind
	n                  int
	paired             bool
}

// forward returns the program that computes activations and outputs,
// f_l = W_lᵀφ(f_{l−1})/√D_{l−1} + b_l with data rows as columns, and their tangents.
func (b *builder[T]) forward() *kernel.Program[T] {
	b.Program = kernel.NewProgram[T](b.set)
	for l, y := range b.layers {
		q := kernel.Product{
			Form: b.form(kernel.PairForward), M: y.out, N: b.columns(), Scale: y.scale,
			Terms: []kernel.Term{b.weigh(slotTheta, l, y.in+1, b.inputs(l))},
			C:     at(b.activation(l + 1)), CRow: b.rowLen,
		}
		if l < len(b.layers)-1 {
			q.Epilogue, q.H = kernel.ReLU, at(b.inputs(l+1))
		}
		b.Product(q)
		if b.kind.hasProduct() {
			b.forwardTangent(l, q)
		}
	}
	return b.Program
}

// backward returns the program that computes derivatives from the loss's
// derivative by the outputs, in slotDelta, and its tangent, in
// slotTangentDelta. The epilogue stores the results or adds to them.
func (b *builder[T]) backward(e kernel.Epilogue) *kernel.Program[T] {
	b.Program = kernel.NewProgram[T](b.set)
	for l := len(b.layers) - 1; l >= 0; l-- {
		delta, tangent := b.delta(slotDelta, l), b.delta(slotTangentDelta, l)
		// Of the product alone, layer 0 takes no part that multiplies delta: its inputs are data,
		// and have no tangent.
		if b.kind.hasGradient() || l > 0 {
			b.transpose(l, delta, slotTransposed)
		}
		if b.kind.hasGradient() {
			b.outer(l, slotGradient, e, pair{b.inputs(l), delta, slotTransposed})
		}
		if b.kind.hasProduct() {
			b.outerTangent(l, e)
		}
		if l == 0 { // nothing needs the derivative by the data
			break
		}
		// With the inputs f of layer l, δ_{l−1} = 1{f > 0} W_l δ_l/√D. Its tangent has V_l δ_l and
		// W_l times the tangent of δ_l in the place of W_l δ_l. Those of l stay in the other slots.
		b.back(l, slotDelta, b.weighBack(slotTheta, l, delta))
		if b.kind.hasProduct() {
			b.back(l, slotTangentDelta,
				b.weighBack(slotVector, l, delta), b.weighBack(slotTheta, l, tangent))
		}
	}
	return b.Program
}

// form returns the given form in a paired pass, and ByRows in any other.
func (b *builder[T]) form(paired kernel.Form) kernel.Form {
	if b.paired {
		return paired
	}
	return kernel.ByRows
}

// inputs is the slot of layer l's inputs as a product takes them.
func (b *builder[T]) inputs(l int) int {
	if b.paired {
		return b.doubled(l)
	}
	return b.activation(l)
}

// stride is the length of a row in that slot.
func (b *builder[T]) stride(l int) int {
	switch {
	case b.paired:
		return kernel.PairRow
	case l == 0:
		return b.inputLen
	}
	return b.rowLen
}

// columns is the number of columns computed, a multiple of kernel.Granule.
func (b *builder[T]) columns() int { return kernel.RoundUp(b.n, kernel.Granule[T]()) }

// delta is the slot of the derivative by layer l's outputs: one of two from base on, in
// turn, since a layer's is made of the next one's.
func (e *engine[T]) delta(base, l int) int { return base + (len(e.layers)-1-l)%2 }

// weigh is the product of the first k rows of layer l's weights, transposed,
// with its inputs.
func (b *builder[T]) weigh(weights, l, k, inputs int) kernel.Term {
	y := b.layers[l]
	return kernel.Term{
		K: k,
		A: kernel.Operand{Slice: weights, Offset: y.offset}, ARow: 1, ACol: y.out,
		B: at(inputs), BRow: b.stride(l),
	}
}

// weighBack is the product of layer l's weights with a derivative by its
// outputs.
func (b *builder[T]) weighBack(weights, l, delta int) kernel.Term {
	y := b.layers[l]
	return kernel.Term{
		K: y.out,
		A: kernel.Operand{Slice: weights, Offset: y.offset}, ARow: y.out, ACol: 1,
		B: at(delta), BRow: b.rowLen,
	}
}

// back appends the product that takes a derivative through layer l, and
// through the ReLU that made its inputs, to one of the two slots from base on.
func (b *builder[T]) back(l, base int, terms ...kernel.Term) {
	y := b.layers[l]
	b.Product(kernel.Product{
		Form: b.form(kernel.PairBack), M: y.in, N: b.columns(), Scale: y.scale, Terms: terms,
		C: at(b.delta(base, l-1)), CRow: b.rowLen, Epilogue: kernel.Mask, H: at(b.activation(l)),
	})
}

// pair is one product of activations with a derivative by outputs, and the
// slot with the latter's transpose.
type pair struct{ inputs, delta, transposed int }

// outer appends what stores or adds, at layer l's weights in the result, the
// outer products of pairs, summed over the chunk's columns.
func (b *builder[T]) outer(l, result int, e kernel.Epilogue, pairs ...pair) {
	y, step := b.layers[l], 1
	if b.paired {
		step = 2 // doubled numbers
	}
	main := y.out - b.dotColumns(y.out)
	product := func(form kernel.Form, column, n int, term func(x pair) kernel.Term) {
		c := kernel.Operand{Slice: result, Offset: y.offset + column}
		q := kernel.Product{
			Form: form, M: y.in + 1, N: n, Scale: y.scale,
			C: c, CRow: y.out, Epilogue: e, H: c,
		}
		for _, x := range pairs {
			q.Terms = append(q.Terms, term(x))
		}
		b.Product(q)
	}
	if main > 0 {
		product(kernel.ByRows, 0, main, func(x pair) kernel.Term {
			return kernel.Term{
				K: b.n, A: at(x.inputs), ARow: b.stride(l), ACol: step,
				B: at(x.transposed), BRow: transposedRow[T](main),
			}
		})
	}
	// The product has brought their operands into the first-level cache. Of one
	// output among pairs, zeros leave one of two doubled numbers.
	for o := main; o < y.out; o += 2 {
		product(kernel.ByColumns, o, min(2, y.out-o), func(x pair) kernel.Term {
			return kernel.Term{
				K: step * b.n, A: at(x.inputs), ARow: b.stride(l),
				B: kernel.Operand{Slice: x.delta, Offset: o * b.rowLen}, BRow: b.rowLen,
			}
		})
	}
}

// transpose appends the transposition of a derivative by layer l's outputs, for those
// columns that outer multiplies by rows.
func (b *builder[T]) transpose(l, delta, transposed int) {
	y := b.layers[l]
	if main := y.out - b.dotColumns(y.out); main > 0 {
		b.Transpose(kernel.Transpose{
			Pairs: b.paired, M: main, N: b.n,
			S: at(delta), SRow: b.rowLen, D: at(transposed), DRow: transposedRow[T](main),
		})
	}
}

// transposedRow is the length of a row of n transposed numbers: an odd number
// of cache lines, so that a column's are spread over all sets of the cache.
func transposedRow[T kernel.Float](n int) int {
	line := kernel.Lanes[T]()
	return (kernel.RoundUp(n, line)/line | 1) * line
}

// dotColumns returns the number of a layer's last outputs whose weights have a
// gradient made of inner products along the n data, because a vector across
// outputs would be nearly empty. A row of C then costs, per output, n/lanes
// multiply-adds and a horizontal sum, which costs about six, instead of n.
func (b *builder[T]) dotColumns(out int) int {
	const horizontalSum = 6
	lanes := kernel.VectorLen[T](b.set)
	switch rest := out % lanes; {
	case out == 1:
		return 1
	case !b.paired && rest*((b.n+lanes-1)/lanes+horizontalSum) < b.n:
		return rest
	}
	return 0
}

// at is the start of a slot.
func at(slot int) kernel.Operand { return kernel.Operand{Slice: slot} }
