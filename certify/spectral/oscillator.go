package spectral

import (
	"math"
	"slices"

	"hambench/integrators"
)

// Oscillator is the scaled potential ½k(θ−c)² + a·cos(fθ + p) of one batch of a scalar problem.
type Oscillator struct {
	Stiffness float64 `json:"stiffness"` // k, whose mean over the batches is > 0
	Center    float64 `json:"center"`    // c
	Amplitude float64 `json:"amplitude"` // a
	Frequency float64 `json:"frequency"` // f
	Phase     float64 `json:"phase"`     // p
}

// Value returns U(θ).
func (o Oscillator) Value(theta float64) float64 {
	x := theta - o.Center
	return o.Stiffness*x*x/2 + o.Amplitude*math.Cos(o.Frequency*theta+o.Phase)
}

// Gradient returns U′(θ).
func (o Oscillator) Gradient(theta float64) float64 {
	return o.Stiffness*(theta-o.Center) -
		o.Amplitude*o.Frequency*math.Sin(o.Frequency*theta+o.Phase)
}

// Curvature returns U″(θ).
func (o Oscillator) Curvature(theta float64) float64 {
	return o.Stiffness - o.Amplitude*o.Frequency*o.Frequency*math.Cos(o.Frequency*theta+o.Phase)
}

// tail is the force far out, where the bounded oscillation does not count:
// it alone decides whether a chain has a stationary law with second moments.
func (o Oscillator) tail() *integrators.Affine {
	return integrators.NewAffine([]float64{o.Stiffness}, []float64{o.Stiffness * o.Center})
}

// Mean is the mean of potentials, and its force: of one batch, or of the full
// data. It confines if the mean stiffness is above 0.
type Mean []Oscillator

// Affine reports whether the force of every potential is affine.
func (m Mean) Affine() bool {
	return !slices.ContainsFunc(m, func(o Oscillator) bool { return o.Amplitude*o.Frequency != 0 })
}

// average is the mean of a function over the potentials.
func (m Mean) average(of func(o Oscillator, theta float64) float64, theta float64) float64 {
	sum := 0.0
	for _, o := range m {
		sum += of(o, theta)
	}
	return sum / float64(len(m))
}

// value is U(θ).
func (m Mean) value(theta float64) float64 { return m.average(Oscillator.Value, theta) }

// slope is U′(θ).
func (m Mean) slope(theta float64) float64 { return m.average(Oscillator.Gradient, theta) }

// curvature is U″(θ).
func (m Mean) curvature(theta float64) float64 { return m.average(Oscillator.Curvature, theta) }

// spread is the variance of the potentials' slopes, E (U_i′ − U′)².
func (m Mean) spread(theta float64) (sum float64) {
	whole := m.slope(theta)
	for _, o := range m {
		g := o.Gradient(theta) - whole
		sum += g * g / float64(len(m))
	}
	return sum
}

// Gradient stores U′(θ) in g.
func (m Mean) Gradient(g, theta []float64) { g[0] = m.slope(theta[0]) }

// HessianVector stores U″(θ)v in hv.
func (m Mean) HessianVector(hv, theta, v []float64) { hv[0] = m.curvature(theta[0]) * v[0] }
