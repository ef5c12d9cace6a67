package certify

import (
	"slices"
	"strings"
)

// Verdict is the outcome for one claim.
type Verdict string

const (
	// Confirmed: the order is at least the claimed one, because an error is
	// resolved, or because one of a lower order would have been.
	Confirmed Verdict = "confirmed"
	// Refuted: a term below the claimed order is resolved.
	Refuted Verdict = "refuted"
	// Exact: no error is above ten times its resolution, and one of order 4, of a hundredth of
	// the natural size or more, would have been.
	Exact Verdict = "exact"
	// Unstable: the chain has no stationary law with finite second moments at any of the steps
	// asked for.
	Unstable Verdict = "unstable"
	// Lawless: it has none at smaller steps either, or hardly moves there.
	Lawless Verdict = "no stationary law"
	// Frozen, Silent and Adrift: the step is not that of a sampler.
	Frozen Verdict = "theta never moves"
	Silent Verdict = "does not depend on its noise"
	Adrift Verdict = "does not depend on its force"
	// Alone: there are no exact errors, as of too many orders of the batches, and the prediction
	// stands alone.
	Alone Verdict = "prediction alone"
	// Inconclusive: the resolved errors decide nothing.
	Inconclusive Verdict = "inconclusive"
)

// verdicts are all verdicts, from the mildest to the most serious.
var verdicts = []Verdict{
	Exact, Confirmed, Alone, Inconclusive, Unstable, Lawless, Frozen, Silent, Adrift, Refuted,
}

// Verdicts returns all verdicts, from an exact law to a refuted claim.
func Verdicts() []Verdict { return slices.Clone(verdicts) }

// Worse returns the more serious verdict. One that this version does not know is more
// serious than all that it does.
func Worse(a, b Verdict) Verdict {
	rank := func(v Verdict) int {
		if i := slices.Index(verdicts, v); i >= 0 {
			return i
		}
		return len(verdicts)
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// claim is the order that is claimed of the integrator under the scheme, for an
// observable: +Inf if the stationary law is exact.
//
// With the full batch it is the integrator's own: the order of the joint law,
// or of the position alone, which may be higher. The scheme of more batches caps
// it, and so does the estimator.
func (c *certification) claim(observable int) float64 {
	claims, name := c.asked.method.Claims, c.asked.Observables()[observable]
	if c.options.OneStep {
		return claims.WeakOrder
	}
	own := c.own(name)
	if c.options.Problem.Batches() == 1 {
		return own
	}
	if claims.BatchOrder > 0 && !c.scheme.Whole() {
		own = min(own, claims.BatchOrder)
	}
	by := c.options.estimation().Cap(c.scheme)
	// Of one order for ever θ keeps more than (θ, r) because a shift of r by the gradients'
	// differences undoes what the order does. Friction that comes after every N_l batches, and
	// so more often after some of them than after others, has no such shift.
	if name == "joint.cov" || c.options.Inner > 1 {
		return min(own, by.Joint)
	}
	return min(own, by.Marginal)
}

// own is the order that is claimed of the integrator's law with all of the data.
func (c *certification) own(observable string) float64 {
	claims := c.asked.method.Claims
	if ofMomentum(observable) {
		return claims.ErgodicOrder
	}
	return max(claims.ErgodicOrder, claims.PositionOrder)
}

// ofMomentum reports whether an observable is one of more than the position.
func ofMomentum(observable string) bool { return !strings.Contains(observable, "theta") }
