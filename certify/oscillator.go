package certify

import "math"

// Oscillator is the scalar potential ½k(θ−c)² + a·cos(fθ + p).
type Oscillator struct {
	Stiffness float64 `json:"stiffness"` // k, whose mean over the batches is > 0
	Center    float64 `json:"center"`    // c
	Amplitude float64 `json:"amplitude"` // a
	Frequency float64 `json:"frequency"` // f
	Phase     float64 `json:"phase"`     // p
}

// Value returns the potential.
func (o Oscillator) Value(theta float64) float64 {
	x := theta - o.Center
	return o.Stiffness*x*x/2 + o.Amplitude*math.Cos(o.Frequency*theta+o.Phase)
}

// Gradient returns the first derivative.
func (o Oscillator) Gradient(theta float64) float64 {
	return o.Stiffness*(theta-o.Center) - o.Amplitude*o.Frequency*math.Sin(o.Frequency*theta+o.Phase)
}

// Curvature returns the second derivative.
func (o Oscillator) Curvature(theta float64) float64 {
	return o.Stiffness - o.Amplitude*o.Frequency*o.Frequency*math.Cos(o.Frequency*theta+o.Phase)
}

// reach is an interval around 0 beyond which the mean of oscillators has no barrier of
// tailDepth that something may lie behind: (−1, 1) where amplitudes are too small
// for one, else wherever U may be within tailDepth of its minimum. Of other
// potentials nothing is known.
func (m scalarMean) reach() (lo, hi float64) {
	stiffness, pull, height, k := 0.0, 0.0, 0.0, float64(len(m))
	for _, u := range m {
		o, ok := u.(Oscillator)
		if !ok {
			return -1, 1
		}
		stiffness, pull, height = stiffness+o.Stiffness/k, pull+o.Stiffness*o.Center/k, height+2*math.Abs(o.Amplitude)/k
	}
	if height <= tailDepth {
		return -1, 1
	}
	center, far := pull/stiffness, math.Sqrt(2*(height+tailDepth)/stiffness)
	return min(-1, center-far), max(1, center+far)
}

// density is the target's.
func (m scalarMean) density() (*density, error) {
	lo, hi := m.reach()
	return densityFrom(m.Value, lo, hi)
}

// tail is the force far out, where the bounded oscillation does not count:
// it alone decides whether a chain has a stationary law with second moments.
func (o Oscillator) tail() *affineForce {
	return newAffineForce([]float64{o.Stiffness}, []float64{o.Stiffness * o.Center})
}
