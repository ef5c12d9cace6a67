package estimators

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"hambench/integrators"
	"hambench/usage"
)

// ControlVariates is G_i(θ) + ∇U(θ̂) − G_i(θ̂), with θ̂ fixed near the mode
// (Baker et al. 2019): the batches' differences at θ̂ drop out. A step costs a
// gradient of its batch at θ̂ beside the integrator's own.
var ControlVariates = Method{
	Name:           "cv",
	About:          "control variates: the batch's gradient, less its own at a mode, plus the full one there",
	HessianVectors: true,
	Extra:          func(int) float64 { return 1 },
	New: func(p Problem) (Estimator, error) {
		if p.Mode == nil {
			return nil, usage.Errorf("estimator \"cv\" needs a mode of the posterior, which nobody looks for here")
		}
		mode, err := p.Mode()
		if err != nil {
			return nil, fmt.Errorf("estimator \"cv\": %w", err)
		}
		e := &controlVariates{corrected{plus: make([]float64, p.Dim)}, mode, make([]float64, p.Dim)}
		p.Full.Gradient(e.full, mode)
		return e, nil
	},
}

type controlVariates struct {
	corrected
	mode, full []float64 // θ̂ and ∇U(θ̂)
}

func (e *controlVariates) Begin(*integrators.State) {}

func (e *controlVariates) Force(s Step, _ *integrators.State) integrators.Force {
	return e.about(s.Force, e.full, e.mode)
}

// Note says how near to a mode θ̂ is.
func (e *controlVariates) Note() string {
	return fmt.Sprintf("cv: the gradient at the mode that was found has the norm %.3g", floats.Norm(e.full, 2))
}
