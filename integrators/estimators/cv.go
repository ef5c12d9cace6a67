package estimators

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hambench/integrators"
	"hambench/usage"
)

// ControlVariates is G_i(θ) + ∇U(θ̂) − G_i(θ̂), with θ̂ fixed near the mode
// (Baker et al. 2019): the batches' differences at θ̂ drop out. The gradients
// G_i(θ̂) of a fixed partition are kept once computed, up to mostKept numbers in
// all; beyond that a step costs one of them besides the integrator's own.
var ControlVariates = Estimator{
	Name: "cv",
	About: "control variates: the batch's gradient, less its own at a mode, " +
		"plus the full one there",
	Keeps: integrators.Available{HessianVectors: true},
	New: func(p Problem) (Instance, error) {
		if p.Mode == nil {
			return nil, usage.Errorf(
				"estimator \"cv\" needs a mode of the posterior, which nobody looks for here")
		}
		mode, err := p.Mode()
		if err != nil {
			return nil, fmt.Errorf("estimator \"cv\": %w", err)
		}
		e := &controlVariates{corrected: newCorrected(p.Dim), mode: mode}
		if !p.Probed && p.Batches*p.Dim <= mostKept {
			e.kept = slices.Collect(slices.Chunk(make([]float64, p.Batches*p.Dim), p.Dim))
			e.known = make([]bool, p.Batches)
		}
		p.Full.Gradient(e.full, mode)
		return e, nil
	},
}

// controlVariates is the estimator of one chain. It has no variables: the anchor θ̂ is
// fixed, and the gradients kept only save work.
type controlVariates struct {
	corrected
	mode  []float64   // θ̂
	kept  [][]float64 // G_i(θ̂) by the batch, once it is known
	known []bool
}

// mostKept bounds the numbers kept, to 64 MB.
const mostKept = 1 << 23

// Begin adds no variables.
func (e *controlVariates) Begin(*integrators.State) {}

// Force takes G_i(θ̂) from those kept, or computes it.
func (e *controlVariates) Force(s Step, _ *integrators.State) integrators.Force {
	if s.Batch < 0 || s.Batch >= len(e.kept) {
		return e.at(s.Force, e.mode)
	}
	if !e.known[s.Batch] {
		s.Force.Gradient(e.kept[s.Batch], e.mode)
		e.known[s.Batch] = true
	}
	// As at does, with the gradient at the anchor that is kept.
	e.batch, e.own = s.Force, e.kept[s.Batch]
	return e
}

// Note says how near to a mode θ̂ is.
func (e *controlVariates) Note() string {
	return fmt.Sprintf("cv: the gradient at the mode that was found has the norm %.3g",
		floats.Norm(e.full, 2))
}
