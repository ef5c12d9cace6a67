package oracle

import (
	"math"
)

// Check is one verified property of a reference: Value must lie in [Low, High].
type Check struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Pass  bool    `json:"pass"`
}

// OwnErrorCheck is the name of the check of a reference's own error. Where it fails, the
// error is more than was asked for, and still known.
const OwnErrorCheck = "own error, plus a standard error"

// newCheck passes if low ≤ value ≤ high, which NaN is not.
func newCheck(name string, value, low, high float64) Check {
	pass := low <= value && value <= high
	return Check{Name: name, Value: value, Low: low, High: high, Pass: pass}
}

// Limits of the checks. Each test of a distance refuses a difference that is beyond
// chance at a nominal 1 % and by more than the reference may err: a small difference is no
// failure, however surely it is there. The latter is added to what empirical distances are
// expected to be, of which noise hides a part: of 200 draws a difference of 0.03 to 0.04
// between laws adds 0.01, so that several times the allowed error may pass.
const (
	oneInAHundred = 2.3263 // normal quantile
	// copiesSpread is how many standard deviations the self-distance may lie below
	// what is implied, as of chains that are copies.
	copiesSpread = 3.29
	// crossCheckESS is the fewest effective samples, on average over the outputs, of a
	// cross-check that can check anything; half of its samples if these are fewer.
	crossCheckESS = 100
)

// maxSplitRHat is the limit of the outputs' split-R̂ at its 95th percentile, maxPotentialRHat
// that of the potential's.
const maxSplitRHat, maxPotentialRHat = 1.05, 1.1

// potentialRHat is the split-R̂ of the one number that sees every parameter.
func (r *Reference) potentialRHat() float64 { return rHat(rankNormalised(halves(r.Potential))) }

// mixed reports whether the potential has mixed. Build drops first samples that have not mixed as
// burn-in, without a test for a trend: one chain in five that is still on its way cannot be told
// from slow mixing by how all chains change, and the samples that slow chains lose in this way are
// few beside those of the doublings that they need.
func (r *Reference) mixed() bool { return r.potentialRHat() <= maxPotentialRHat }

// tooShort reports whether a longer simulation would mend what is wrong: the error of the
// reference's own is above MaxError, or its chains have not mixed.
func (r *Reference) tooShort() bool {
	return r.OwnError.Upper > r.MaxError || r.Diagnostics.SplitRHat.P95 > maxSplitRHat ||
		!r.mixed()
}

// minCrossCheckESS is how many effective samples, on average over the outputs, a cross-check must
// have.
func (s Spec) minCrossCheckESS() float64 { return min(crossCheckESS, float64(s.Samples)/2) }

// verify checks a reference. Chains that were started again with half the step are
// as good as others, but not if there are more halvings than chains. The limit of split-R̂
// is the usual 1.05 for the outputs and, for the one number that sees every parameter, 1.1 (BDA3).
// The self-distance must be what the draws' correlation implies: above it, the
// chains disagree; below it, they are not independent.
func (r *Reference) verify() []Check {
	restarts := 0.0
	for _, h := range r.ChainStep {
		restarts += math.Log2(r.Step / h)
	}
	self := r.SelfDistance()
	implied := impliedSelfDistance(r.Draws)
	apart, expected, sd := halvesDistance(r.Draws)
	cross := r.CrossCheck
	atMost := func(mean, sd float64) float64 { return mean + r.MaxError + oneInAHundred*sd }
	most := float64(r.Samples) * math.Log10(float64(r.Samples)) // of antithetic draws
	return []Check{
		newCheck("restarts with half the step", restarts, 0, float64(r.Chains)),
		newCheck(OwnErrorCheck, r.OwnError.Upper, 0, r.MaxError),
		newCheck("split-R̂ of outputs, 95th percentile", r.Diagnostics.SplitRHat.P95, 0,
			maxSplitRHat),
		newCheck("split-R̂ of the potential", r.potentialRHat(), 0, maxPotentialRHat),
		newCheck("self-distance, mean", self.Mean, implied.mean-copiesSpread*implied.sd,
			atMost(implied.mean, implied.sd)),
		newCheck("distance of the chains' halves", apart, 0, atMost(expected, sd)),
		newCheck("cross-check, effective samples", cross.ESS.Mean, r.minCrossCheckESS(), most),
		newCheck("cross-check, distance", cross.Distance, 0,
			atMost(cross.Expected, cross.ExpectedSD)),
	}
}

// compare fills in the distance of the cross-check's draws, and what it would be if
// their law were the reference's: of each output by the effective sample sizes of
// both sides. Correlated draws have a smaller distance than independent ones as many
// as their effective sample size (see impliedSelfDistance); by which factor, the
// reference's own chains tell, at their autocorrelation: a cross-check that is more
// correlated is expected too far away, by 0.013 at 100 of 200 effective draws, and tells less.
func (r *Reference) compare(draws [][][]float32) {
	x := &r.CrossCheck
	x.Distance, x.ESS = r.Distance(converted[float64](draws[0])), diagnose(draws).ESS
	own, other := essOf(r.Draws), essOf(draws)
	var self, cross float64
	for o := range own {
		// The scatter of independent draws, up to a factor: between two chains of the reference,
		// and between one of them and the cross-check.
		perChain := own[o] / float64(len(r.Draws))
		self += math.Sqrt(2 / perChain)
		cross += math.Sqrt(1/perChain + 1/other[o])
	}
	implied := impliedSelfDistance(r.Draws)
	x.Expected = implied.mean * cross / self
	x.ExpectedSD = implied.replicate * cross / self
}

// essOf returns the bulk effective sample size of each output.
func essOf(draws [][][]float32) []float64 {
	ess := make([]float64, len(draws[0][0]))
	for o := range ess {
		ess[o] = essOfHalves(rankNormalised(halves(seriesOf(draws, o))))
	}
	return ess
}

// seriesOf returns the draws of one output, by chain.
func seriesOf(draws [][][]float32, output int) [][]float64 {
	series := make([][]float64, len(draws))
	for c, chain := range draws {
		for _, d := range chain {
			series[c] = append(series[c], float64(d[output]))
		}
	}
	return series
}
