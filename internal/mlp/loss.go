package mlp

import (
	"fmt"
	"math"

	"hambench/internal/kernel"
)

// The loss is the negative log-likelihood of a row given the network's outputs z: under
// Gaussian noise ((z − y)²/σ² + log 2πσ²)/2, for classes the cross-entropy of the softmax,
// log Σ_c exp(z_c) − z_y.

// lossDelta stores scale × the loss's derivative by the outputs, for the n
// columns of the chunk that starts at row lo, in slotDelta: (z − y)/σ², or p_c − 1{c = y}
// with the softmax p.
func (e *engine[T]) lossDelta(paired bool, lo, n int, scale float64) {
	z, delta := e.frame[e.activation(len(e.layers))], e.frame[slotDelta]
	if paired { // the last pair of an odd number of outputs has one number only
		clear(delta[:(e.width()+1)/2*kernel.PairRow])
	}
	if e.classes == 0 {
		s := T(scale / e.given.NoiseVariance)
		for b, t := range e.targets[lo : lo+n] {
			i := e.place(paired, 0, b)
			delta[i] = s * (z[i] - t)
		}
	} else {
		e.probabilities(paired, delta, z, n)
		for b, label := range e.labels[lo : lo+n] {
			// delta has the softmax p: less 1 at the label it is the derivative of the
			// cross-entropy.
			delta[e.place(paired, label, b)]--
			for c := range e.classes {
				delta[e.place(paired, c, b)] *= T(scale)
			}
		}
	}
	e.weighRows(paired, delta, lo, n)
}

// lossTangent stores the tangents of these derivatives in slotTangentDelta, from those
// of the outputs, ż: ż/σ², or that of the softmax. It is called before lossDelta.
func (e *engine[T]) lossTangent(lo, n int, scale float64) {
	z, rz := e.frame[e.activation(len(e.layers))], e.frame[e.tangent(len(e.layers))]
	rdelta := e.frame[slotTangentDelta]
	if e.classes == 0 {
		s := T(scale / e.given.NoiseVariance)
		for b, r := range rz[:n] {
			rdelta[b] = s * r
		}
	} else {
		// The derivative of the softmax: ṗ_c = p_c (ż_c − Σ_k p_k ż_k).
		e.probabilities(false, rdelta, z, n)
		for b := range n {
			mean := T(0)
			for i := b; i < e.classes*e.rowLen; i += e.rowLen {
				mean += rdelta[i] * rz[i]
			}
			for i := b; i < e.classes*e.rowLen; i += e.rowLen {
				rdelta[i] *= T(scale) * (rz[i] - mean)
			}
		}
	}
	e.weighRows(false, rdelta, lo, n)
}

// weighRows multiplies the n columns of a derivative by the outputs, for the chunk that
// starts at row lo, by the weights of its rows, if those are gathered ones.
func (e *engine[T]) weighRows(paired bool, delta []T, lo, n int) {
	if lo < e.rows {
		return
	}
	for b, w := range e.weights[lo-e.rows:][:n] {
		for c := range e.width() {
			delta[e.place(paired, c, b)] *= w
		}
	}
}

// width is the number of outputs, D_{L+1}.
func (e *engine[T]) width() int { return e.layers[len(e.layers)-1].out }

// probabilities stores the softmax of n columns of outputs z in p. The largest output of a
// column is subtracted first, so that nothing overflows. The exponential is float64's in
// either format: Go has none in float32.
func (e *engine[T]) probabilities(paired bool, p, z []T, n int) {
	for b := range n {
		top := z[e.place(paired, 0, b)]
		for c := range e.classes {
			top = max(top, z[e.place(paired, c, b)])
		}
		sum := T(0)
		for c := range e.classes {
			i := e.place(paired, c, b)
			p[i] = T(math.Exp(float64(z[i] - top)))
			sum += p[i]
		}
		for c := range e.classes {
			p[e.place(paired, c, b)] /= sum
		}
	}
}

// eachColumn computes the outputs of the rows [lo, hi), chunk by chunk, and calls use with
// each row and the column that has its outputs until the next chunk.
func (e *engine[T]) eachColumn(theta []T, lo, hi int, use func(row, b int)) {
	e.frame[slotTheta] = theta
	for c := lo; c < hi; c += e.chunk {
		n := min(e.chunk, hi-c)
		e.forward(outputsOnly, c, n)
		for b := range n {
			use(c+b, b)
		}
	}
}

// negLogLikelihood returns the sum of the losses of the rows [lo, hi).
func (e *engine[T]) negLogLikelihood(theta []T, lo, hi int) (sum float64) {
	e.eachColumn(theta, lo, hi, func(row, b int) { sum += e.rowLoss(row, b) })
	return sum
}

// rowLoss returns the loss of a row whose outputs stand in column b, with its constants.
func (e *engine[T]) rowLoss(row, b int) float64 {
	z := e.frame[e.activation(len(e.layers))]
	if e.classes == 0 {
		d := float64(z[b] - e.targets[row])
		return (d*d/e.given.NoiseVariance + math.Log(2*math.Pi*e.given.NoiseVariance)) / 2
	}
	// log Σ_c exp(z_c) is taken relative to the largest output, so that nothing overflows.
	top, sum := math.Inf(-1), 0.0
	for c := range e.classes {
		top = max(top, float64(z[c*e.rowLen+b]))
	}
	for c := range e.classes {
		sum += math.Exp(float64(z[c*e.rowLen+b]) - top)
	}
	return top + math.Log(sum) - float64(z[e.labels[row]*e.rowLen+b])
}

// outputs stores the outputs of all rows, row-major, in dst. It panics if dst has another
// length.
func (e *engine[T]) outputs(dst []float64, theta []T) {
	width, z := e.width(), e.frame[e.activation(len(e.layers))]
	if len(dst) != e.rows*width {
		panic(fmt.Sprintf("mlp: room for %d outputs: want %d", len(dst), e.rows*width))
	}
	e.eachColumn(theta, 0, e.rows, func(row, b int) {
		for o := range width {
			dst[row*width+o] = float64(z[o*e.rowLen+b])
		}
	})
}
