package oracle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"hambench/internal/ranks"
)

// Diagnostics summarises, over the predictive outputs, how well the chains
// mixed and agree.
type Diagnostics struct {
	Lag1      Summary `json:"lag1"`       // lag-1 autocorrelation, mean over the chains
	ESS       Summary `json:"ess"`        // bulk effective sample size of all chains together
	SplitRHat Summary `json:"split_rhat"` // rank-normalised split-R̂
}

// Summary is the spread of a number over the outputs.
type Summary struct {
	Min    float64 `json:"min"`
	P05    float64 `json:"p05"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	P95    float64 `json:"p95"`
	Max    float64 `json:"max"`
}

// summarise sorts x, one number an output.
func summarise(x []float64) Summary {
	slices.Sort(x)
	return Summary{
		Min: x[0], P05: Quantile(x, 0.05), Median: Quantile(x, 0.5),
		Mean: mean(x), P95: Quantile(x, 0.95), Max: x[len(x)-1],
	}
}

// diagnose computes the diagnostics of draws[chain][sample][output].
func diagnose(draws [][][]float32) Diagnostics {
	outputs := len(draws[0][0])
	lag1, ess, rhat := make([]float64, outputs), make([]float64, outputs), make([]float64, outputs)
	for o := range outputs {
		series := seriesOf(draws, o)
		for _, x := range series {
			lag1[o] += Autocorrelation(x, 1) / float64(len(draws))
		}
		parts := halves(series)
		ranked := rankNormalised(parts)
		ess[o] = essOfHalves(ranked)
		// The first sees chains that differ in location, the second those that differ in scale.
		rhat[o] = max(rHat(ranked), rHat(rankNormalised(folded(parts))))
	}
	return Diagnostics{Lag1: summarise(lag1), ESS: summarise(ess), SplitRHat: summarise(rhat)}
}

// rankNormalised replaces the draws of all chains by normal scores of their ranks,
// Φ⁻¹((r − 3/8)/(N + 1/4)), equal draws by that of their mean rank (Vehtari et al.
// 2021, equation 14): what is computed of them does not ask for moments of the draws.
func rankNormalised(chains [][]float64) [][]float64 {
	all := slices.Concat(chains...)
	middle, _ := ranks.Middle(all)
	scores := make([][]float64, len(chains))
	for c, x := range chains {
		for range x {
			// Middle counts the draw itself as one half, a rank counts it as one.
			rank := middle[0] + 1./2
			scores[c] = append(scores[c],
				distuv.UnitNormal.Quantile((rank-3./8)/(float64(len(all))+1./4)))
			middle = middle[1:]
		}
	}
	return scores
}

// folded returns |x − median| over all chains: R̂ of it compares the chains' scales.
func folded(chains [][]float64) [][]float64 {
	all := slices.Concat(chains...)
	slices.Sort(all)
	median := Quantile(all, 0.5)
	out := make([][]float64, len(chains))
	for c, x := range chains {
		for _, v := range x {
			out[c] = append(out[c], math.Abs(v-median))
		}
	}
	return out
}

// Autocorrelation returns the estimate Σ (x_i − x̄)(x_{i+lag} − x̄) / Σ (x_i −
// x̄)² of one chain; 0 if the chain is constant.
func Autocorrelation(x []float64, lag int) float64 {
	v := autocovariance(x, mean(x), 0)
	if v == 0 || slices.Min(x) == slices.Max(x) { // whose mean may be rounded
		return 0
	}
	return autocovariance(x, mean(x), lag) / v
}

// autocovariance is the estimate with divisor n, whose sequence is positive
// definite.
func autocovariance(x []float64, m float64, lag int) float64 {
	var s float64
	for i, v := range x[lag:] {
		s += (x[i] - m) * (v - m)
	}
	return s / float64(len(x))
}

// maxRHat stands for an infinite split-R̂ (constant, differing half chains),
// which JSON cannot express.
const maxRHat = 1e6

// rHat is R̂ of chains as they are. Of halves of chains of equal length it is split-R̂ (Gelman
// et al., BDA3, 2013, equations 11.3–11.4): the pooled variance is compared with the mean
// variance within a half. Chains that are all constant and equal have 1.
func rHat(parts [][]float64) float64 {
	_, within, pooled := variances(parts)
	switch {
	case pooled == 0:
		return 1
	case within == 0:
		return maxRHat
	}
	return min(math.Sqrt(pooled/within), maxRHat)
}

// EffectiveSampleSize returns the effective sample size of chains of equal
// length, by Geyer's initial monotone sequence over split chains (Vehtari et
// al. 2021, equations 10–13). Stan and ArviZ cut the sequence four lags before its
// end and add one autocorrelation behind it: from 50 draws a chain on they differ by a
// few per cent, of slow chains by a fifth; of fewer than ten they have up to ten times as
// many. For antithetic chains it may exceed the number of draws N, up to N log₁₀ N.
// Chains without variance have N.
func EffectiveSampleSize(chains [][]float64) float64 { return essOfHalves(halves(chains)) }

// essOfHalves is the effective sample size of chains that have been cut in halves.
func essOfHalves(parts [][]float64) float64 {
	n := len(parts[0])
	total := float64(len(parts) * n)
	means, within, pooled := variances(parts)
	if pooled == 0 {
		return total
	}
	// ρ_t = 1 − (W − s_t)/V, with s_t the mean autocovariance within the parts, W their mean
	// variance and V the pooled one. The divisors of W and s_0 differ, so that ρ_0 is set.
	rho := func(lag int) float64 {
		if lag == 0 {
			return 1
		}
		var s float64
		for c, x := range parts {
			s += autocovariance(x, means[c], lag)
		}
		return 1 - (within-s/float64(len(parts)))/pooled
	}
	// The sum over all lags is twice that from 0 on, less the lag 0.
	tau := max(2*monotoneSum(n, rho)-1, 1/math.Log10(total))
	return total / tau
}

// monotoneSum is Geyer's initial monotone sequence estimate (1992, section 3.3) of the sum
// of an autocovariance, or autocorrelation, over the lags from 0 on, of n draws. For a
// reversible chain the sums of pairs, of lags 2k and 2k + 1, are positive and decreasing (of
// chains with a momentum, which are not reversible, that is a heuristic): it
// stops at the first that is not positive, where what is left is noise, and cuts each down to
// the one before it.
func monotoneSum(n int, at func(lag int) float64) (sum float64) {
	last := math.Inf(1)
	for lag := 0; lag+1 < n; lag += 2 {
		pair := min(at(lag)+at(lag+1), last)
		if pair <= 0 {
			break
		}
		sum, last = sum+pair, pair
	}
	return sum
}

// halves cuts each chain in two; of an odd chain the middle draw is left
// out.
func halves(chains [][]float64) [][]float64 {
	parts := make([][]float64, 0, 2*len(chains))
	for _, x := range chains {
		n := len(x) / 2
		parts = append(parts, x[:n], x[len(x)-n:])
	}
	return parts
}

// variances returns the means of the chains, the mean variance W within them, and the pooled
// estimate (n−1)/n W + B/n.
func variances(chains [][]float64) (means []float64, within, pooled float64) {
	n := float64(len(chains[0]))
	means = make([]float64, len(chains))
	for c, x := range chains {
		means[c] = mean(x)
		within += autocovariance(x, means[c], 0) * n / (n - 1) / float64(len(chains))
	}
	m := float64(len(chains))
	between := autocovariance(means, mean(means), 0) * m / (m - 1) // B/n
	return means, within, (n-1)/n*within + between
}
