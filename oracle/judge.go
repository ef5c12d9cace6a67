package oracle

import (
	"math"

	"hambench/models"
	"hambench/usage"
)

// Judgement is what Judge finds about draws of predictive values that were made
// elsewhere.
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
	j.Accepted = j.Distance <= j.Limit
	if s := models.CapabilitiesOf(t).Scorer; s != nil {
		j.Scores = s.Scores(all)
	}
	return j, nil
}
