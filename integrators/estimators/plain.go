package estimators

import "hambench/integrators"

// Plain is the gradient of the batch itself, G_i(θ). It can use a network's
// fused steps.
var Plain = Estimator{
	Name:  "plain",
	About: "the scaled gradient of the mini-batch",
	Keeps: integrators.Available{HessianVectors: true, Affine: true},
	New:   func(Problem) (Instance, error) { return plain{}, nil },
}

// plain has no state.
type plain struct{}

func (plain) Begin(*integrators.State) {}

func (plain) Force(s Step, _ *integrators.State) integrators.Force { return s.Force }
