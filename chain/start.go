package chain

import (
	"math"

	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/models"
)

// Start returns the state in which a chain starts: at the position theta, or,
// if that is nil, at a draw from the prior; with a fresh momentum from N(0, M)
// and the integrator's auxiliary variables at their start. What is random
// comes from the key's stream StreamStart.
func (s *Sampler) Start(key uint64, theta []float64) *integrators.State {
	return s.start(theta, noise.New(key, noise.StreamStart))
}

func (s *Sampler) start(theta []float64, n integrators.Noise) *integrators.State {
	z := s.in.NewState()
	if theta != nil {
		copy(z.Theta, theta)
	} else {
		drawPrior(z.Theta, s.target, n)
	}
	n.Normal(z.R)
	for i, w := range s.in.InvMass() {
		z.R[i] /= math.Sqrt(w)
	}
	return z
}

// StartAtRest returns a start without momentum or auxiliary variables, at a draw
// from the prior made of the given noise. It is for warm-ups, which change
// integrators on the way.
func StartAtRest(t models.Target, n integrators.Noise) *integrators.State {
	z := integrators.NewState(t.Dim())
	drawPrior(z.Theta, t, n)
	return z
}

func drawPrior(theta []float64, t models.Target, n integrators.Noise) {
	n.Normal(theta)
	t.DrawPrior(theta)
}
