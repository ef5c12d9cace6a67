package certify

import (
	"math"

	"hambench/integrators"
	"hambench/minibatch"
)

// Verdict is the outcome for one claim.
type Verdict string

const (
	// Confirmed: the fitted order is at least the claimed one.
	Confirmed Verdict = "confirmed"
	// Refuted: the fitted order is below the claimed one.
	Refuted Verdict = "refuted"
	// Exact: the errors are at round-off at every step.
	Exact Verdict = "exact"
	// Unstable: at some step the chain has no stationary law, and too few
	// steps are left for a fit.
	Unstable Verdict = "unstable"
	// Inconclusive: too few errors are resolved, or they are not asymptotic.
	Inconclusive Verdict = "inconclusive"
)

// claim is the order that is claimed of an integrator under a scheme, for an
// observable: +Inf if the stationary law is exact.
//
// With the full batch it is the integrator's own: the order of the joint law,
// or of the position alone, which may be higher. The scheme of more batches caps
// it.
func claim(m integrators.Method, s minibatch.Method, k int, observable string) float64 {
	own := m.Claims.ErgodicOrder
	position := observable != "joint.cov" && observable != "r^2"
	if position {
		own = max(own, m.Claims.PositionOrder)
	}
	if k == 1 {
		return own
	}
	if observable == "joint.cov" {
		return math.Min(own, s.Cap.Joint)
	}
	return math.Min(own, s.Cap.Marginal)
}

const (
	// claimTolerance is how far below its claim a fitted order may be to be
	// taken for it: orders are whole numbers, and the one below is 1 away.
	claimTolerance = 0.3
	// mostUncertain is the uncertainty up to which an order is decided at
	// all: half the distance between two whole orders would be a guess.
	mostUncertain = 0.4
	// mostDoubtful is the uncertainty up to which an order may be refuted: near
	// a step where an error changes its sign, slopes stray far and long.
	mostDoubtful = 0.15
	// settledBelow is the uncertainty above which smaller steps are tried.
	settledBelow = 0.1
	// fewestPoints are two slopes, which show whether they settle.
	fewestPoints = 3
)

// verdict judges a fit against a claim.
func (f fit) verdict(claimed float64, unstable bool) Verdict {
	switch {
	case f.exact:
		return Exact
	case f.resolved == 2 && f.vanishing && f.order >= claimed-claimTolerance:
		return Confirmed // faster than the engine can follow
	case f.resolved < fewestPoints && unstable:
		return Unstable
	case f.resolved < fewestPoints || !(f.uncertainty <= mostUncertain):
		return Inconclusive
	case f.order >= claimed-claimTolerance:
		return Confirmed
	case f.uncertainty > mostDoubtful:
		return Inconclusive
	}
	return Refuted
}
