package mlp

import (
	"math"

	"hambench/internal/kernel"
)

// engine computes a network's derivatives in one number format.
//
// Activations are feature-major: a row a feature, a column a data row, so
// that data rows lie in the lanes of a vector and the weights can stay flat.
// One more row of constants √D stands for the bias's input, so that a bias
// is one more row of weights. Data pass through in chunks of columns.
type engine[T kernel.Float] struct {
	set    *kernel.Set
	layers []layer
	dim    int
	loss   loss

	rows, inputLen int // data rows; length of a row of inputs
	given          data
	inputs         []T // (D_0 + 1) × inputLen, in the order in force
	targets        []T // and then those of the rows gathered
	labels         []int
	gathered       []T // inputs of the rows gathered; nil before the first
	weights        []T // theirs

	chunk    int              // columns at a time
	rowLen   int              // length of a row of activations
	frame    [][]T            // what the programs work on, by slot
	passes   [kinds][]pass[T] // by the number of columns, as the next one
	forwards []*kernel.Program[T]

	pairs      pairSlots
	pairPasses []pass[T] // by the number of columns; none if the engine cannot pair
}

// data are the rows as they were given.
type data struct {
	inputs, targets []float64
	labels          []int
}

// layer is a layer's shape and its place in the flat parameters.
type layer struct {
	in, out, offset int
	scale           float64 // 1/√in
}

// Slots of the frame. The activations of layer l's inputs, 1 ≤ l, are in
// slot firstHidden + l − 1; their tangents follow all of them.
const (
	slotInputs = iota
	slotTheta
	slotVector // v of a Hessian-vector product
	slotGradient
	slotProduct
	slotOutput
	slotTangentOutput
	slotDelta         // derivative of the loss by a layer's outputs; two, in turn
	slotTangentDelta  = slotDelta + 2
	slotTransposed    = slotTangentDelta + 2
	slotTangentTransp = slotTransposed + 1
	firstHidden       = slotTangentTransp + 1
)

// chunkBytes is the length of a row of a chunk, in bytes: long enough to
// amortise the products' edges, short enough for a chunk's activations to
// stay in the second-level cache. On 455 rows half and twice as much were
// within 1.5 % of it.
const chunkBytes = 1024

func newEngine[T kernel.Float](set *kernel.Set, p *Problem, rows int) *engine[T] {
	e := &engine[T]{set: set, rows: rows, loss: newLoss(p)}
	for l, in := range p.Widths[:len(p.Widths)-1] {
		y := layer{in, p.Widths[l+1], e.dim, 1 / math.Sqrt(float64(in))}
		e.layers = append(e.layers, y)
		e.dim += (in + 1) * y.out
	}
	e.given = data{append([]float64(nil), p.Inputs...), append([]float64(nil), p.Targets...), append([]int(nil), p.Labels...)}
	lanes := kernel.Lanes[T]()
	e.chunk = min(chunkBytes*lanes/64, (rows+lanes-1)/lanes*lanes)
	e.rowLen = e.chunk + lanes // a power of two would put all rows in few sets of the cache
	e.allocate()
	e.arrange(nil)
	return e
}

// allocate makes the buffers. Vectors at a row's end may reach a vector
// beyond the data: the values there are never used.
func (e *engine[T]) allocate() {
	lanes := kernel.Lanes[T]()
	widest := 0
	for _, y := range e.layers {
		widest = max(widest, y.out)
	}
	e.inputLen = wholeVectors[T](e.rows) + lanes
	e.inputs = e.newInputs()
	e.targets, e.labels = make([]T, len(e.given.targets)), make([]int, len(e.given.labels))

	e.frame = make([][]T, firstHidden+2*len(e.layers)-2)
	for s := slotOutput; s < slotTransposed; s++ {
		e.frame[s] = kernel.Aligned[T](wholeVectors[T](widest) * e.rowLen)
	}
	for s := slotTransposed; s <= slotTangentTransp; s++ {
		e.frame[s] = kernel.Aligned[T](e.chunk * transposedRow[T](widest))
	}
	for l, y := range e.layers[1:] {
		a := kernel.Aligned[T]((y.in + 1) * e.rowLen)
		for i := range e.rowLen {
			a[y.in*e.rowLen+i] = T(math.Sqrt(float64(y.in)))
		}
		e.frame[e.activation(l+1)] = a
		e.frame[e.tangent(l+1)] = kernel.Aligned[T]((y.in + 1) * e.rowLen) // its bias row stays 0
	}
	if e.canPair() {
		e.allocatePairs(widest)
		e.pairPasses = make([]pass[T], kernel.PairRows+1)
	}
	n := e.chunk + 1
	for k := range e.passes {
		e.passes[k] = make([]pass[T], n)
	}
	e.forwards = make([]*kernel.Program[T], n)
}

// activation and tangent are the slots of layer l's inputs and of their
// derivative along v (which is 0 for l = 0).
func (e *engine[T]) activation(l int) int {
	if l == 0 {
		return slotInputs
	}
	return firstHidden + l - 1
}

func (e *engine[T]) tangent(l int) int { return firstHidden + len(e.layers) - 1 + l - 1 }

// stride is the length of a row of layer l's inputs.
func (e *engine[T]) stride(l int) int {
	if l == 0 {
		return e.inputLen
	}
	return e.rowLen
}

// arrange copies the data in a new order.
func (e *engine[T]) arrange(order []int) {
	d := e.layers[0].in
	for i := range e.rows {
		j := i
		if order != nil {
			j = order[i]
		}
		for f, x := range e.given.inputs[j*d : (j+1)*d] {
			e.inputs[f*e.inputLen+i] = T(x)
		}
		if len(e.labels) > 0 {
			e.labels[i] = e.given.labels[j]
		} else {
			e.targets[i] = T(e.given.targets[j])
		}
	}
}

// newInputs returns room for the inputs of all rows, and those of the biases.
func (e *engine[T]) newInputs() []T {
	d := e.layers[0].in
	inputs := kernel.Aligned[T]((d + 1) * e.inputLen)
	for i := range e.inputLen {
		inputs[d*e.inputLen+i] = T(math.Sqrt(float64(d)))
	}
	return inputs
}

// gather copies a list of rows behind all others; see Net.Gather.
func (e *engine[T]) gather(index []int, weights []float64) {
	if e.gathered == nil {
		e.gathered = e.newInputs()
	}
	e.targets, e.labels, e.weights = e.targets[:len(e.given.targets)], e.labels[:len(e.given.labels)], e.weights[:0]
	d := e.layers[0].in
	for i, j := range index {
		for f, x := range e.given.inputs[j*d : (j+1)*d] {
			e.gathered[f*e.inputLen+i] = T(x)
		}
		if len(e.given.labels) > 0 {
			e.labels = append(e.labels, e.given.labels[j])
		} else {
			e.targets = append(e.targets, T(e.given.targets[j]))
		}
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		e.weights = append(e.weights, T(w))
	}
}

// inputsFrom returns the inputs with those of a row in the first column.
func (e *engine[T]) inputsFrom(row int) []T {
	if row < e.rows {
		return e.inputs[row:]
	}
	return e.gathered[row-e.rows:]
}

// weighRows multiplies a derivative by the outputs, of the n columns of the
// chunk that starts at row lo, by the rows' weights.
func (e *engine[T]) weighRows(slot, lo, n int) {
	if lo < e.rows {
		return
	}
	weights := e.weights[lo-e.rows:][:n]
	for c := range e.layers[len(e.layers)-1].out {
		row := e.frame[slot][c*e.rowLen:][:n]
		for b, w := range weights {
			row[b] *= w
		}
	}
}
