package certify

import (
	"math"
	"slices"
	"strings"

	"hambench/integrators"
	"hambench/minibatch"
)

// Verdict is the outcome for one claim.
type Verdict string

const (
	// Confirmed: the order is at least the claimed one, because an error is
	// resolved, or because one of a lower order would have been.
	Confirmed Verdict = "confirmed"
	// Refuted: a term below the claimed order is resolved.
	Refuted Verdict = "refuted"
	// Exact: no error is above its resolution, and one of order 4 would have
	// been.
	Exact Verdict = "exact"
	// Unstable: the chain has no stationary law at any of the steps asked for.
	Unstable Verdict = "unstable"
	// Lawless: it has none at smaller steps either.
	Lawless Verdict = "no stationary law"
	// Frozen, Silent and Adrift: the step is not that of a sampler.
	Frozen Verdict = "theta never moves"
	Silent Verdict = "does not depend on its noise"
	Adrift Verdict = "does not depend on its force"
	// Inconclusive: the resolved errors decide nothing.
	Inconclusive Verdict = "inconclusive"
)

// claim is the order that is claimed of an integrator under a scheme, for an
// observable: +Inf if the stationary law is exact.
//
// With the full batch it is the integrator's own: the order of the joint law,
// or of the position alone, which may be higher. The scheme of more batches caps
// it.
func claim(m integrators.Method, s minibatch.Method, k int, observable string) float64 {
	if slices.Contains(stepObservables, observable) {
		return m.Claims.WeakOrder
	}
	own := m.Claims.ErgodicOrder
	if !ofMomentum(observable) {
		own = max(own, m.Claims.PositionOrder)
	}
	if k == 1 {
		return own
	}
	if c := m.Claims.BatchOrder; c > 0 && !s.Whole() {
		own = math.Min(own, c)
	}
	if observable == "joint.cov" {
		return math.Min(own, s.Cap.Joint)
	}
	return math.Min(own, s.Cap.Marginal)
}

// ofMomentum reports whether an observable is one of more than the position.
func ofMomentum(observable string) bool { return !strings.Contains(observable, "theta") }
