package certify

import (
	"hambench/certify/probe"
	"hambench/integrators"
)

// ResponseOf returns how a step of an integrator, with its own parameters, answers to the
// gradient of its batch, on which the coefficient of the law of orders rests; or the reason for
// which that law is not proven of the integrator. The friction is one that its steps may take.
func ResponseOf(m integrators.Integrator, values map[string]float64,
	friction float64) (r probe.Response, reason string, err error) {
	if m.PositionOnly {
		return r, "the integrator has no momentum", nil
	}
	if m.Variables != nil {
		return r, "the integrator has auxiliary variables", nil
	}
	of := func(h float64) (*integrators.Instance, error) {
		in, err := m.New(1, integrators.Params{Step: h, Friction: friction, Values: values})
		if err == nil {
			in.Freeze()
		}
		return in, err
	}
	in, err := of(1)
	if err != nil {
		return r, "", err
	}
	if _, corrected := in.Kernel.(integrators.VarianceCorrected); corrected {
		return r, "the integrator lessens its noise by the variance of the batches' gradients", nil
	}
	if probe.BatchesTaken(in.Kernel) > 1 {
		return r, "a step takes several batches", nil
	}
	r, ok, err := probe.NewResponse(friction, of)
	if err == nil && !ok {
		reason = "a small step is not one of dθ = M⁻¹r dt, dr = −∇U dt"
	}
	return r, reason, err
}
