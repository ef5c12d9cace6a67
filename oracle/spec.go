package oracle

import (
	"math"

	"hambench/internal/fingerprint"
	"hambench/usage"
)

// Spec says how a reference is made: everything that its numbers depend on.
type Spec struct {
	Dataset    string  `json:"dataset"`
	Split      int     `json:"split"`
	Model      string  `json:"model"`
	Precision  string  `json:"precision"` // float32 or float64, of the network's gradient
	Seed       uint64  `json:"seed"`
	Integrator string  `json:"integrator"`
	Step       float64 `json:"h"`
	Friction   float64 `json:"friction"`
	Chains     int     `json:"chains"`
	Samples    int     `json:"samples"` // per chain
	Thin       int     `json:"thin"`    // steps per sample, before any doubling
	// BurnIn is how many steps at h follow the warm-up, in which the integrator adapts.
	BurnIn int `json:"burn_in"`
	// MaxError is the largest error of the reference's own, as a Kolmogorov
	// distance: chains are doubled, at most maxDoublings times, until theirs is
	// below (see OwnError).
	MaxError float64 `json:"max_error,omitempty"`
}

// maxDoublings is how often the simulation time of a reference may double.
const maxDoublings = 5

// maxBurned is how often what chains have sampled may turn out to be burn-in.
const maxBurned = 4

// NewSpec returns the usual settings: five chains of 200 samples at h = 0.005, as in
// the paper (appendix "Comparison framework and convergence to posterior"). Where
// the paper fixes 500 steps per sample, chains here begin with 250 and double until
// they are long enough. The friction is 1: a full batch has no noise to damp, and
// chains mix faster than at the paper's C = 5 for its samplers. The burn-in is
// 10 000 steps instead of 2000: from prior draws on energy and yacht the potential
// is still falling after 5000.
func NewSpec(dataset string, split int, model string) Spec {
	return Spec{
		Dataset: dataset, Split: split, Model: model, Precision: "float32", Seed: 1,
		Integrator: "sghmc-adaptive", Step: 0.005, Friction: 1, Chains: 5, Samples: 200,
		Thin: 250, BurnIn: 10_000, MaxError: 0.01,
	}
}

// ID names the spec: the hex SHA-256 of its canonical JSON. The random streams
// of a reference come from it. It does not include the code and the data, on which
// a reference's numbers also depend (see Fingerprint).
func (s Spec) ID() string { return fingerprint.JSON(s) }

// check refuses settings that no reference can be made with.
func (s Spec) check() error {
	switch {
	// Conditions on real numbers are negated, so that NaN is refused, too.
	case !(s.Step > 0) || math.IsInf(s.Step, 1):
		return usage.Errorf("oracle: step size %v: want a positive number", s.Step)
	case !(s.Friction > 0) || math.IsInf(s.Friction, 1):
		return usage.Errorf("oracle: friction %v: want a positive number", s.Friction)
	case s.Chains < 2:
		return usage.Errorf("oracle: %d chains: want at least 2, for the self-distance", s.Chains)
	case s.Samples < 4:
		return usage.Errorf("oracle: %d samples per chain: want at least 4, for split-R̂",
			s.Samples)
	case s.Thin < 1:
		return usage.Errorf("oracle: %d steps per sample: want at least 1", s.Thin)
	case !(s.MaxError > 0) || s.MaxError > 1:
		return usage.Errorf("oracle: largest error %v: want a distance, above 0 and at most 1",
			s.MaxError)
	case s.BurnIn < 0:
		return usage.Errorf("oracle: burn-in of %d steps: want 0 or more", s.BurnIn)
	}
	return nil
}
