package mlp

import (
	"math"

	"hambench/internal/kernel"
)

// Up to kernel.PairRows data rows would leave half of every vector of AVX-512
// empty in float32. Their gradient keeps two numbers of a data row side by
// side instead: activations as pairs, for the ReLU's mask, and doubled, to be
// multiplied with pairs of weights; derivatives by outputs as pairs.

// pairSlots are the slots of the frame that this takes, from the first one on.
type pairSlots struct {
	first, layers int
}

// doubled are layer l's inputs, and a row for the biases; pairs are the same
// for 1 ≤ l, without it, and the outputs for the number of layers; delta is
// the derivative by layer l's outputs. last is a copy of the last layer's
// parameters, with room behind them, as the last pair of an odd number of
// outputs ends one beyond.
func (s pairSlots) doubled(l int) int { return s.first + l }
func (s pairSlots) pairs(l int) int   { return s.first + s.layers + l - 1 }
func (s pairSlots) delta(l int) int   { return s.first + 2*s.layers + (s.layers-1-l)%2 }
func (s pairSlots) last() int         { return s.first + 2*s.layers + 2 }
func (s pairSlots) count() int        { return 2*s.layers + 3 }

// canPair says whether the engine's kernels and widths allow it.
func (e *engine[T]) canPair() bool {
	_, isFloat32 := any(e).(*engine[float32])
	if !isFloat32 || !e.set.HasPairs() || kernel.VectorLen[T](e.set) != kernel.PairRow {
		return false
	}
	for _, y := range e.layers[1:] {
		if y.in%2 != 0 {
			return false
		}
	}
	return true
}

// allocatePairs makes the buffers.
func (e *engine[T]) allocatePairs(widest int) {
	e.pairs = pairSlots{len(e.frame), len(e.layers)}
	e.frame = append(e.frame, make([][]T, e.pairs.count())...)
	rows := func(n int) []T { return kernel.Aligned[T](n * kernel.PairRow) }
	for l, y := range e.layers {
		d := rows(y.in + 1)
		for i := range d[y.in*kernel.PairRow:] {
			d[y.in*kernel.PairRow+i] = T(math.Sqrt(float64(y.in)))
		}
		e.frame[e.pairs.doubled(l)] = d
		e.frame[e.pairs.pairs(l+1)] = rows(y.out/2 + 1)
	}
	for l := range 2 {
		e.frame[e.pairs.delta(l)] = rows(widest/2 + 1)
	}
	last := e.layers[len(e.layers)-1]
	e.frame[e.pairs.last()] = kernel.Aligned[T](e.dim - last.offset + 1)
}

// pairPass returns the programs for n columns.
func (e *engine[T]) pairPass(n int) *pass[T] {
	if e.pairPasses[n].before == nil {
		e.pairPasses[n] = pass[T]{e.pairForward(), e.pairBackward(n, sumTo(slotGradient, true)), e.pairBackward(n, sumTo(slotGradient, false))}
	}
	return &e.pairPasses[n]
}

// pairGradient stores the gradient over the n columns from row lo on, or adds
// it to the result.
func (e *engine[T]) pairGradient(lo, n int, scale float64, first bool) {
	p := e.pairPass(n)
	e.pairInputs(lo)
	copy(e.frame[e.pairs.last()], e.frame[slotTheta][e.layers[len(e.layers)-1].offset:])
	p.before.Run(e.frame)
	e.pairDelta(lo, n, scale)
	if first {
		p.first.Run(e.frame)
	} else {
		p.others.Run(e.frame)
	}
}

// pairInputs doubles the inputs of the data rows from lo on, with those that
// follow the last one of a batch: their results are not used.
func (e *engine[T]) pairInputs(lo int) {
	doubled, inputs := e.frame[e.pairs.doubled(0)], e.inputsFrom(lo)
	for i := range e.layers[0].in {
		d := (*[kernel.PairRow]T)(doubled[i*kernel.PairRow:])
		for b, x := range (*[kernel.PairRows]T)(inputs[i*e.inputLen:]) {
			d[2*b], d[2*b+1] = x, x
		}
	}
}

// pairDelta takes the derivative of the loss by the outputs.
func (e *engine[T]) pairDelta(lo, n int, scale float64) {
	last := len(e.layers) - 1
	out, pairs, delta := e.frame[slotOutput], e.frame[e.pairs.pairs(last+1)], e.frame[e.pairs.delta(last)]
	each := func(copyNumber func(plain, pair int)) {
		for m := range e.layers[last].out {
			for b := range n {
				copyNumber(m*e.rowLen+b, kernel.PairIndex(m, b))
			}
		}
	}
	each(func(plain, pair int) { out[plain] = pairs[pair] })
	e.lossDelta(lo, n, scale)
	clear(delta)
	each(func(plain, pair int) { delta[pair] = e.frame[slotDelta][plain] })
}

func (e *engine[T]) pairForward() *kernel.Program[T] {
	p := kernel.NewProgram[T](e.set)
	for l, y := range e.layers {
		q := kernel.PairForward{
			M: y.out, K: y.in + 1, Scale: y.scale,
			A: kernel.Operand{Slice: slotTheta, Offset: y.offset}, ACol: y.out,
			B: at(e.pairs.doubled(l)), C: at(e.pairs.pairs(l + 1)),
		}
		if l < len(e.layers)-1 {
			q.WithReLU, q.D = true, at(e.pairs.doubled(l+1))
		} else {
			q.A = at(e.pairs.last())
		}
		p.PairForward(q)
	}
	return p
}

func (e *engine[T]) pairBackward(n int, to sum) *kernel.Program[T] {
	p := kernel.NewProgram[T](e.set)
	for l := len(e.layers) - 1; l >= 0; l-- {
		e.pairOuter(p, l, n, to)
		if y := e.layers[l]; l > 0 {
			p.PairBack(kernel.PairBack{
				M: y.in, K: y.out, Scale: y.scale,
				A: kernel.Operand{Slice: slotTheta, Offset: y.offset}, ARow: y.out,
				B: at(e.pairs.delta(l)), C: at(e.pairs.delta(l - 1)), H: at(e.pairs.pairs(l)),
			})
		}
	}
	return p
}

// pairOuter appends layer l's part of the gradient.
func (e *engine[T]) pairOuter(p *kernel.Program[T], l, n int, to sum) {
	y := e.layers[l]
	result := kernel.Operand{Slice: to.result, Offset: y.offset}
	if y.out == 1 { // the zeros among pairs leave one of two doubled numbers
		p.Dots(kernel.Dots{
			M: y.in + 1, N: 1, Scale: y.scale, C: result, CRow: 1, Epilogue: to.epilogue, H: result,
			Terms: []kernel.Term{{K: 2 * n, A: at(e.pairs.doubled(l)), ARow: kernel.PairRow, B: at(e.pairs.delta(l))}},
		})
		return
	}
	row := wholeVectors[T](y.out)
	p.PairTranspose(kernel.PairTranspose{M: y.out, S: at(e.pairs.delta(l)), D: at(slotTransposed), DRow: row})
	p.Product(kernel.Product{
		M: y.in + 1, N: y.out, Scale: y.scale, C: result, CRow: y.out, Epilogue: to.epilogue, H: result,
		Terms: []kernel.Term{{K: n, A: at(e.pairs.doubled(l)), ARow: kernel.PairRow, ACol: 2, B: at(slotTransposed), BRow: row}},
	})
}
