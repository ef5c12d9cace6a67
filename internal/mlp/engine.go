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
	set    kernel.Set
	layers []layer
	dim    int // number of parameters

	// rows is the number of data rows, inputLen the length of a row of inputs.
	rows, inputLen int
	given          Problem // the data in the order given
	classes        int     // 0 for the squared error
	// inputs, (D_0 + 1) × inputLen, has the data in the order in force, and then the
	// rows gathered; so have targets and labels. weights are those of the rows gathered.
	inputs  []T
	targets []T
	labels  []int
	weights []T

	// chunk is the number of columns of a pass, rowLen the length of a row of
	// activations.
	chunk, rowLen int
	// frame has the slices that the programs work on, by slot.
	frame [][]T
	// passes are built when first used, by kind and number of columns.
	passes [kinds][]pass[T]
	// pairs says that frame has the slots of pairs.go.
	pairs bool
}

// layer is a layer's shape and its place in the flat parameters: (in + 1) × out numbers
// from offset on, the last row the biases.
type layer struct {
	in, out, offset int
	scale           float64 // 1/√in
}

// Slots of the frame: these, then the inputs of every layer, the outputs of the
// last, and the tangents of all these.
const (
	slotTheta  = iota
	slotVector // v of a Hessian-vector product
	slotGradient
	slotProduct
	slotDelta         // derivative of the loss by a layer's outputs; two, in turn
	slotTangentDelta  = slotDelta + 2
	slotTransposed    = slotTangentDelta + 2
	slotTangentTransp = slotTransposed + 1
	firstActivation   = slotTangentTransp + 1
)

// activation is the slot of layer l's inputs, and after the last layer of the
// network's outputs; tangent that of their derivative along v, which is 0 for
// l = 0.
func (e *engine[T]) activation(l int) int { return firstActivation + l }
func (e *engine[T]) tangent(l int) int    { return e.activation(len(e.layers) + 1 + l) }

// chunkBytes is the length of a row of a chunk, in bytes: long enough to
// amortise the products' edges, short enough for a chunk's activations to
// stay in the second-level cache. On 455 rows half and twice as much were
// within 1.5 % of it.
const chunkBytes = 1024

// newEngine returns the engine of a problem with a number of data rows, in the order given.
func newEngine[T kernel.Float](p *Problem, rows int) *engine[T] {
	e := &engine[T]{set: p.Set, rows: rows, given: *p}
	if p.Labels != nil {
		e.classes = p.Widths[len(p.Widths)-1]
	}
	for l, in := range p.Widths[:len(p.Widths)-1] {
		y := layer{in, p.Widths[l+1], e.dim, 1 / math.Sqrt(float64(in))}
		e.layers = append(e.layers, y)
		e.dim += (in + 1) * y.out
	}
	lanes := kernel.Lanes[T]()
	e.chunk = min(chunkBytes*lanes/64, kernel.RoundUp(rows, lanes))
	// A power of two would put all rows in few sets of the cache.
	e.rowLen = e.chunk + lanes
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
	// Rows that Gather copies stand behind the data, and are at most as many: what has a place for
	// each row has twice as many.
	e.inputLen = kernel.RoundUp(2*e.rows, lanes) + lanes
	e.inputs = newActivations[T](e.layers[0].in, e.inputLen)
	e.targets, e.labels = make([]T, 2*len(e.given.Targets)), make([]int, 2*len(e.given.Labels))

	e.frame = make([][]T, e.tangent(len(e.layers)+1))
	for s := slotDelta; s < slotTransposed; s++ {
		e.frame[s] = kernel.Aligned[T](kernel.RoundUp(widest, lanes) * e.rowLen)
	}
	for s := slotTransposed; s <= slotTangentTransp; s++ {
		e.frame[s] = kernel.Aligned[T](e.chunk * transposedRow[T](widest))
	}
	for l, y := range e.layers {
		e.frame[e.activation(l+1)] = newActivations[T](y.out, e.rowLen)
		// The biases' inputs are constant, so that the last row of tangents stays 0.
		e.frame[e.tangent(l+1)] = kernel.Aligned[T]((y.out + 1) * e.rowLen)
	}
	if e.pairs = e.canPair(); e.pairs {
		for _, y := range e.layers {
			e.frame = append(e.frame, newActivations[T](y.in, kernel.PairRow))
		}
	}
	for k := range e.passes {
		e.passes[k] = make([]pass[T], e.chunk+1)
	}
}

// newActivations returns room for rows of activations, and behind them a row of the
// constant √rows, the biases' input.
func newActivations[T kernel.Float](rows, length int) []T {
	a := kernel.Aligned[T]((rows + 1) * length)
	for i := range a[rows*length:] {
		a[rows*length+i] = T(math.Sqrt(float64(rows)))
	}
	return a
}

// arrange copies the data in a new order; an empty one is the given order.
func (e *engine[T]) arrange(order []int) {
	for i := range e.rows {
		j := i
		if len(order) > 0 {
			j = order[i]
		}
		e.take(j, i)
	}
}

// take copies row j of the data as given to column i, in the engine's number format.
func (e *engine[T]) take(j, i int) {
	d := e.layers[0].in
	for f, x := range e.given.Inputs[j*d : (j+1)*d] {
		e.inputs[f*e.inputLen+i] = T(x)
	}
	if e.classes > 0 {
		e.labels[i] = e.given.Labels[j]
	} else {
		e.targets[i] = T(e.given.Targets[j])
	}
}

// gather copies a list of rows behind all others; see Net.Gather.
func (e *engine[T]) gather(index []int, weights []float64) {
	e.weights = e.weights[:0]
	for i, j := range index {
		e.take(j, e.rows+i)
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		e.weights = append(e.weights, T(w))
	}
}
