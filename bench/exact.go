package bench

import (
	"cmp"
	"encoding/json"
	"fmt"

	"hambench/certify"
	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/estimators"
)

// Exact is to exact ergodic errors what a Cell is to sampled ones: one problem
// and integrator under some mini-batch schemes, without Monte Carlo (package
// certify).
type Exact struct {
	Name       string          `json:"name"`    // of the problem, for people
	Problem    json.RawMessage `json:"problem"` // as certify.ParseProblem reads it
	Integrator string          `json:"integrator"`
	// the integrator's own parameters, where they are not its defaults
	Values    map[string]float64 `json:"values,omitempty"`
	Estimator string             `json:"estimator,omitempty"`
	Inner     int                `json:"nl"`
	InvMass   []float64          `json:"inv_mass,omitempty"` // diagonal of M⁻¹; nil: the identity
	// errors of the law after one step, not of the stationary one
	OneStep bool `json:"one_step,omitempty"`
	// errors of the law at the ends of all steps, averaged, not at those of periods
	EveryStep bool      `json:"every_step,omitempty"`
	Schemes   []string  `json:"schemes"`
	Steps     []float64 `json:"steps,omitempty"` // nil: the problem kind's own
	// Further answers: see the fields of certify.Options with these names.
	Budgets   []float64 `json:"budget,omitempty"` // in gradients of a batch; all data count K
	Stability bool      `json:"stability,omitempty"`
	Distances bool      `json:"distance,omitempty"`
	Energy    bool      `json:"energy,omitempty"`
}

// plainExact is an Exact without its methods.
type plainExact Exact

// MarshalJSON writes the canonical JSON of the job.
// Its bytes make the job's key.
func (e Exact) MarshalJSON() ([]byte, error) {
	e.Estimator = omitPlain(e.Estimator)
	return json.Marshal(plainExact(e))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Exact) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*plainExact)(e))
	e.Estimator = cmp.Or(e.Estimator, estimators.Plain.Name)
	return err
}

// Options returns the options with which package certify computes the job.
// A name that the registries do not have is a usage error.
func (e Exact) Options(r chain.Registries) (certify.Options, error) {
	// The problem is read from the job itself, and not looked up: a built-in one may have changed
	// since the job was listed.
	p, err := certify.ParseProblem(e.Name, e.Problem)
	if err != nil {
		return certify.Options{}, err
	}
	p.Name = e.Name
	o := certify.Options{Problem: p, Steps: e.Steps, Inner: e.Inner, Values: e.Values,
		InvMass: e.InvMass, OneStep: e.OneStep, EveryStep: e.EveryStep,
		Budgets: e.Budgets, Stability: e.Stability, Distances: e.Distances,
		Energy: e.Energy}
	m, err := r.Integrator(e.Integrator)
	if err != nil {
		return o, err
	}
	o.Integrators = []integrators.Integrator{m}
	if o.Estimator, err = r.Estimator(e.Estimator); err != nil {
		return o, err
	}
	for _, name := range e.Schemes {
		s, err := r.Scheme(name)
		if err != nil {
			return o, err
		}
		o.Schemes = append(o.Schemes, s)
	}
	return o, nil
}

// String names the job for people.
// It is for messages: jobs that differ in other fields have the same text.
func (e Exact) String() string {
	return fmt.Sprintf("exact errors of %s (nl %d) on %s", e.Integrator, e.Inner, e.Name)
}
