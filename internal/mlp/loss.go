package mlp

import (
	"math"
)

// loss is the negative log-likelihood of a row given the network's outputs:
// the squared error under Gaussian noise, or the cross-entropy of the
// softmax.
type loss struct {
	classes  int     // 0 for the squared error
	variance float64 // σ²
}

func newLoss(p *Problem) loss {
	if p.Labels != nil {
		return loss{classes: p.Widths[len(p.Widths)-1]}
	}
	return loss{variance: p.NoiseVariance}
}

// lossDelta stores scale × the loss's derivative by the outputs, for the n
// columns of the chunk that starts at row lo, in slotDelta.
func (e *engine[T]) lossDelta(lo, n int, scale float64) {
	z, delta := e.frame[slotOutput], e.frame[slotDelta]
	if e.loss.classes == 0 {
		s := T(scale / e.loss.variance)
		y := e.targets[lo : lo+n]
		for b, t := range y {
			delta[b] = s * (z[b] - t)
		}
	} else {
		e.probabilities(delta, z, n)
		for c := range e.loss.classes {
			row := delta[c*e.rowLen:][:n]
			for b, p := range row {
				if e.labels[lo+b] == c {
					p--
				}
				row[b] = T(scale) * p
			}
		}
	}
	e.weighRows(slotDelta, lo, n)
}

// lossTangent does the same with the tangents of the outputs given, and also
// stores the derivatives' tangents in slotTangentDelta.
func (e *engine[T]) lossTangent(lo, n int, scale float64) {
	z, rz, rdelta := e.frame[slotOutput], e.frame[slotTangentOutput], e.frame[slotTangentDelta]
	if e.loss.classes == 0 {
		s := T(scale / e.loss.variance)
		for b, r := range rz[:n] {
			rdelta[b] = s * r
		}
	} else {
		// The derivative of softmax: ṗ_c = p_c (ż_c − Σ p_k ż_k).
		e.probabilities(rdelta, z, n)
		for b := range n {
			mean := T(0)
			for i := b; i < e.loss.classes*e.rowLen; i += e.rowLen {
				mean += rdelta[i] * rz[i]
			}
			for i := b; i < e.loss.classes*e.rowLen; i += e.rowLen {
				rdelta[i] *= T(scale) * (rz[i] - mean)
			}
		}
	}
	e.weighRows(slotTangentDelta, lo, n)
	e.lossDelta(lo, n, scale)
}

// probabilities stores the softmax of n columns of outputs z in p.
func (e *engine[T]) probabilities(p, z []T, n int) {
	end := e.loss.classes * e.rowLen
	for b := range n {
		top := z[b]
		for i := b + e.rowLen; i < end; i += e.rowLen {
			top = max(top, z[i])
		}
		sum := T(0)
		for i := b; i < end; i += e.rowLen {
			p[i] = T(math.Exp(float64(z[i] - top)))
			sum += p[i]
		}
		for i := b; i < end; i += e.rowLen {
			p[i] /= sum
		}
	}
}

// negLogLikelihood returns the sum over the rows [lo, hi).
func (e *engine[T]) negLogLikelihood(theta []T, lo, hi int) float64 {
	e.frame[slotTheta] = theta
	sum := 0.0
	for c := lo; c < hi; c += e.chunk {
		n := min(e.chunk, hi-c)
		e.frame[slotInputs] = e.inputs[c:]
		e.forward(n).Run(e.frame)
		for b := range n {
			sum += e.rowLoss(c+b, b)
		}
	}
	return sum
}

// rowLoss is the loss of a row whose outputs stand in column b.
func (e *engine[T]) rowLoss(row, b int) float64 {
	z := e.frame[slotOutput]
	if e.loss.classes == 0 {
		d := float64(z[b] - e.targets[row])
		return (d*d/e.loss.variance + math.Log(2*math.Pi*e.loss.variance)) / 2
	}
	top, sum := math.Inf(-1), 0.0
	for c := range e.loss.classes {
		top = max(top, float64(z[c*e.rowLen+b]))
	}
	for c := range e.loss.classes {
		sum += math.Exp(float64(z[c*e.rowLen+b]) - top)
	}
	return top + math.Log(sum) - float64(z[e.labels[row]*e.rowLen+b])
}

// outputs stores the outputs of all rows, row-major, in dst.
func (e *engine[T]) outputs(dst []float64, theta []T) {
	e.frame[slotTheta] = theta
	width := e.layers[len(e.layers)-1].out
	if len(dst) != e.rows*width {
		panic("mlp: outputs do not fit")
	}
	z := e.frame[slotOutput]
	for c := 0; c < e.rows; c += e.chunk {
		n := min(e.chunk, e.rows-c)
		e.frame[slotInputs] = e.inputs[c:]
		e.forward(n).Run(e.frame)
		for b := range n {
			for o := range width {
				dst[(c+b)*width+o] = float64(z[o*e.rowLen+b])
			}
		}
	}
}
