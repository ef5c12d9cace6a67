package mlp

import "hambench/internal/kernel"

// Up to kernel.PairRows data rows would leave half of every vector of AVX-512
// empty in float32. Their gradient keeps two numbers of a data row side by
// side instead: activations as pairs, for the ReLU's mask, and doubled, to be
// multiplied with pairs of weights; derivatives by outputs as pairs. Pairs
// stand in the slots of what they are, doubled numbers in those behind all
// others.

// doubled is the slot of layer l's inputs, and a row for the biases.
func (e *engine[T]) doubled(l int) int { return len(e.frame) - len(e.layers) + l }

// canPair says whether the engine's kernels and widths allow it.
func (e *engine[T]) canPair() bool {
	if !e.set.HasPairs() || kernel.Lanes[T]() != kernel.PairRow {
		return false
	}
	// A ReLU stores whole pairs alone, so that hidden layers need even widths. Inputs, which are
	// doubled one by one, and outputs may be odd.
	for _, y := range e.layers[1:] {
		if y.in%2 != 0 {
			return false
		}
	}
	return true
}

// doubleInputs doubles the inputs of a batch's data rows and of those that
// follow its last one, whose results are not used.
func (e *engine[T]) doubleInputs() {
	doubled, inputs := e.frame[e.doubled(0)], e.frame[e.activation(0)]
	for i := range e.layers[0].in {
		d := (*[kernel.PairRow]T)(doubled[i*kernel.PairRow:])
		for b, x := range (*[kernel.PairRows]T)(inputs[i*e.inputLen:]) {
			d[2*b], d[2*b+1] = x, x
		}
	}
}

// place is where output c of data row b stands in a slot.
func (e *engine[T]) place(paired bool, c, b int) int {
	if paired {
		return kernel.PairIndex(c, b)
	}
	return c*e.rowLen + b
}
