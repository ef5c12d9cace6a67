package oracle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hambench/models"
	"hambench/usage"
)

// Judgement is what Judge finds about draws of predictive values that any program made.
type Judgement struct {
	Chains int `json:"chains"`
	Draws  int `json:"draws"` // of each chain
	// Distance is that of all draws together to the truth. Self is that of
	// Effective independent draws, which exceeds Limit with probability 1 %.
	Distance float64 `json:"distance"`
	Self     Band    `json:"self_distance"`
	// Effective is the mean effective sample size over the outputs, at most all draws.
	Effective float64 `json:"effective_draws"`
	Limit     float64 `json:"limit"`
	Accepted  bool    `json:"accepted"`
	// Undecided says why these draws decide nothing; empty if they do. They are then
	// neither accepted nor refused.
	Undecided string `json:"undecided,omitempty"`
	// Diagnostics are over the outputs, Scores the target's of all draws.
	Diagnostics Diagnostics        `json:"diagnostics"`
	Scores      map[string]float64 `json:"scores,omitempty"`
}

// The normal quantile of a false alarm in a hundred, and what takes its place where
// the deviation is an estimate from a few chains: of 750 sets each of 40, 400, 2000
// and 8000 independent draws of the law of a reference's chains, 12, 3, 1 and 5 were
// then refused.
const falseAlarm, falseAlarmOfChains = 2.3263, 2.7

// judgeSets is how many sets of exact draws the scatter of their distance is
// taken over: 4 % off leaves between 0.7 and 1.4 % false alarms.
const judgeSets = 300

// Judge compares chains of draws, chains[chain][draw][output] as the target's
// Predict stores them, with the truth. The chains must be of one length, at least
// 4, and finite.
//
// The mean distance of independent draws is taken to be lognormal with its mean and
// deviation, which is accurate enough here: for a single output, whose law is
// Kolmogorov's, the 99 % quantile is then 1.65/√n where 1.63/√n is right.
func Judge(t models.Target, truth Truth, chains [][][]float64) (Judgement, error) {
	if len(chains) == 0 {
		return Judgement{}, usage.Errorf("no chains to judge")
	}
	j := Judgement{Chains: len(chains), Draws: len(chains[0])}
	var all [][]float64
	var single [][][]float32
	for _, draws := range chains {
		if len(draws) != j.Draws || j.Draws < 4 {
			return j, usage.Errorf("chains of %d and %d draws: want the same number in all, at least 4",
				j.Draws, len(draws))
		}
		for _, d := range draws {
			if len(d) != t.Outputs() {
				return j, usage.Errorf("a draw of %d predictive values: want %d",
					len(d), t.Outputs())
			}
		}
		all, single = append(all, draws...), append(single, converted[float32](draws))
	}
	j.Diagnostics = diagnose(single)
	j.Effective = min(j.Diagnostics.ESS.Mean, float64(len(all)))
	j.Distance = truth.Distance(all)
	j.Self = truth.SelfDistanceOf(max(1, int(math.Round(j.Effective))))
	quantile := falseAlarm
	switch truth := truth.(type) {
	case *Analytic:
		j.Self.SD = truth.scatterOver(judgeSets) * math.Sqrt(replicateDraws/max(1, j.Effective))
	case *Reference:
		j.Self.SD, quantile = truth.scatter(max(1, j.Effective)), falseAlarmOfChains
	}
	spread := math.Log1p(math.Pow(j.Self.SD/j.Self.Mean, 2)) // σ² of the logarithm
	j.Limit = j.Self.Mean * math.Exp(quantile*math.Sqrt(spread)-spread/2)
	j.Undecided = j.undecided(single, truth)
	j.Accepted = j.Undecided == "" && j.Distance <= j.Limit
	if s := models.CapabilitiesOf(t).Scorer; s != nil {
		j.Scores = s.Scores(all)
	}
	return j, nil
}

// ErrUndecided says that draws decide nothing.
var ErrUndecided = errors.New("cannot decide")

// Err returns nil for draws of the posterior, and an error that says what is wrong for
// others; it wraps ErrUndecided where they decide nothing.
func (j Judgement) Err() error {
	switch {
	case j.Undecided != "":
		return fmt.Errorf("%w: %s", ErrUndecided, j.Undecided)
	case !j.Accepted:
		return fmt.Errorf("not draws of this posterior: distance %.3f, beyond %.3f", j.Distance,
			j.Limit)
	}
	return nil
}

// What draws must have for their distance to say something of their law. Both limits are
// conventions: split-R̂ as Brooks and Gelman (1998) would have it at most, for chains that
// speak for the whole, and as many effective draws as put the expected distance of
// independent ones below 0.2.
const (
	minEffective  = 20
	maxChainsRHat = 1.2
)

// undecided returns why draws, draws[chain][draw][output], decide nothing, "" if they do.
func (j *Judgement) undecided(draws [][][]float32, truth Truth) string {
	for o := range draws[0][0] {
		for c, chain := range draws {
			stuck := !slices.ContainsFunc(chain, func(d []float32) bool { return d[o] != chain[0][o] })
			if stuck && !unvarying(truth, o) {
				return fmt.Sprintf("chain %d never moved: its output %d has one value", c+1, o)
			}
		}
	}
	r, ofReference := truth.(*Reference)
	switch {
	case j.Diagnostics.SplitRHat.P95 > maxChainsRHat:
		return fmt.Sprintf("the chains have not mixed: split-R̂ is %.3g, want at most %g",
			j.Diagnostics.SplitRHat.P95, maxChainsRHat)
	case j.Effective < minEffective:
		return fmt.Sprintf("an effective sample size of %.1f: want at least %d", j.Effective,
			minEffective)
	case ofReference && len(r.Failed()) > 0:
		return "the reference chains fail a check: " + r.Failed()[0].Name
	}
	return ""
}

// unvarying reports whether an output has one value only under the truth, as far as its
// draws show.
func unvarying(truth Truth, output int) bool {
	r, ok := truth.(*Reference)
	if !ok {
		return false
	}
	for _, c := range r.columns() {
		if c[output][0] != c[output][len(c[output])-1] {
			return false
		}
	}
	return true
}
