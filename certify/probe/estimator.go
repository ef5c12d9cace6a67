package probe

import (
	"fmt"
	"slices"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/usage"
)

// Estimation makes the forces of the steps out of those of the batches. The zero
// estimation is plain.
type Estimation struct{ Method estimators.Estimator }

// Plain reports whether the forces of steps are those of the batches.
func (e Estimation) Plain() bool {
	return e.Method.New == nil || e.Method.Name == estimators.Plain.Name
}

// Name is that of the estimator; "" for plain.
func (e Estimation) Name() string {
	if e.Plain() {
		return ""
	}
	return e.Method.Name
}

// Period is the number of steps after which the estimator starts again, of a problem of some
// batches; 1 for one that never does.
func (e Estimation) Period(batches int) int {
	if e.Plain() || e.Method.Period == nil {
		return 1
	}
	return e.Method.Period(batches)
}

// Check refuses, naming both, an integrator that the estimator does not fit, of N_l inner
// kernels on a problem of some batches.
func (e Estimation) Check(m integrators.Integrator, inner, batches int) error {
	if e.Plain() {
		return nil
	}
	if err := m.Check(e.Method.Keeps, fmt.Sprintf("estimator %q", e.Method.Name)); err != nil {
		return err
	}
	// An inner step's batches, or the variance of the batches' own gradient, are not an
	// estimator's.
	switch period := e.Period(batches); {
	case m.Claims.BatchOrder > 0:
		return usage.Errorf("integrator %q is certified with the variance of the batches' own "+
			"gradient, and estimator %q has another", m.Name, e.Method.Name)
	case inner > 1 && period > 1:
		return usage.Errorf("integrator %q with N_l = %d inner steps: estimator %q begins anew "+
			"every %d steps: want N_l = 1", m.Name, inner, e.Method.Name, period)
	}
	return nil
}

// CheckScheme refuses, naming both, a scheme whose words the estimator's periods
// cut.
func (e Estimation) CheckScheme(s minibatch.Scheme, batches int) error {
	if s.Whole() || s.Visits == nil {
		return nil
	}
	if period, word := e.Period(batches), s.Visits.Period(batches); period > 1 && period%word != 0 {
		return usage.Errorf("estimator %q begins anew every %d steps, and scheme %q every %d: "+
			"want a multiple", e.Method.Name, period, s.Name, word)
	}
	return nil
}

// Cap is the highest order that integrators keep under a scheme: the scheme's own with plain
// gradients, else what the estimator claims under that kind of visits.
func (e Estimation) Cap(s minibatch.Scheme) minibatch.Cap {
	by := e.Method.Caps.Fixed // of the other laws: one order for ever, and lists of words
	switch s.Visits.(type) {
	case minibatch.Single:
		return s.Cap
	case minibatch.Independent:
		by = e.Method.Caps.Independent
	case minibatch.Permutation, minibatch.Palindrome:
		by = e.Method.Caps.Shuffled
	}
	if by == 0 {
		return s.Cap
	}
	return minibatch.Cap{Marginal: by, Joint: by}
}

// Variables is the number of state variables that the estimator adds for a position, as one
// that is made for a trial force says.
func (e Estimation) Variables(batches int) int {
	if e.Plain() {
		return 0
	}
	var force integrators.Force = integrators.NewAffine([]float64{1}, []float64{0})
	made, err := e.made(slices.Repeat([]integrators.Force{force}, batches), force, []float64{0})
	if err != nil {
		return 0 // Wrap returns the error
	}
	z := integrators.NewState(1)
	made.Begin(z)
	return len(z.Aux)
}

// made is the estimator of the forces of batches, of which full is the mean, and mode the
// position of largest density.
func (e Estimation) made(forces []integrators.Force, full integrators.Force,
	mode []float64) (estimators.Instance, error) {
	return e.Method.New(estimators.Problem{
		Dim: len(mode), Epoch: len(forces), Batches: len(forces), Full: full, Probed: true,
		Part: func(i int) integrators.Force { return forces[i] },
		Mode: func() ([]float64, error) { return slices.Clone(mode), nil },
	})
}

// Wrap returns the integrator under the estimator: its kernel takes the forces
// of batches and steps under the estimator's. An estimator's variables stand
// behind the integrator's own, and where it begins anew, that is a refreshment
// after as many kernels.
func (e Estimation) Wrap(in *integrators.Instance, forces []integrators.Force,
	full integrators.Force, mode []float64) (*integrators.Instance, error) {
	if e.Plain() {
		return in, nil
	}
	made, err := e.made(forces, full, mode)
	if err != nil {
		return nil, err
	}
	out := *in
	// What Begin puts behind the integrator's own variables becomes part of its state.
	state := in.NewState()
	made.Begin(state)
	out.Integrator.Variables = func(int, integrators.Params) []integrators.Variable {
		var all []integrators.Variable
		for _, v := range state.Aux {
			all = append(all, integrators.Variable{Start: slices.Clone(v)})
		}
		return all
	}
	out.Kernel = &estimated{in.Kernel, made, forces}
	if period := e.Period(len(forces)); period > 1 {
		out.Batches, out.Refresh = period, &restart{made, forces[0]}
	}
	return &out, nil
}

// estimated is a kernel under an estimator.
type estimated struct {
	kernel    integrators.Stepper
	estimator estimators.Instance
	forces    []integrators.Force // of the batches, in their order
}

// Step takes the force of a batch, which must be one of the estimator's. Its number is that of
// no first step of a period: those are the restart's.
func (s *estimated) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	own, _ := f.(*integrators.Affine)
	// The batch is known by its force; a force of scalar problems is no pointer to compare, and
	// estimators with a use for the number are of Gaussian problems.
	batch := slices.IndexFunc(s.forces, func(g integrators.Force) bool {
		a, ok := g.(*integrators.Affine)
		return ok && a == own
	})
	s.kernel.Step(z, s.estimator.Force(estimators.Step{Number: 1, Batch: batch, Force: f}, z), n)
}

// restart re-initialises an estimator's variables at the start of a period.
type restart struct {
	estimator estimators.Instance
	force     integrators.Force // of any batch
}

// Step leaves position and momentum as they are.
func (s *restart) Step(z *integrators.State, _ integrators.Force, _ integrators.Noise) {
	s.estimator.Force(estimators.Step{Number: 0, Batch: 0, Force: s.force}, z)
}
