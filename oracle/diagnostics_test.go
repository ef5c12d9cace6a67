package oracle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// ar1 returns stationary chains x' = φx + √(1−φ²) ξ.
func ar1(rng *rand.Rand, phi float64, chains, n int) [][]float64 {
	out := make([][]float64, chains)
	for c := range out {
		x := rng.NormFloat64()
		out[c] = make([]float64, n)
		for i := range out[c] {
			out[c][i] = x
			x = phi*x + math.Sqrt(1-phi*phi)*rng.NormFloat64()
		}
	}
	return out
}

// splitRHat is rHat of the halves of chains.
func splitRHat(chains [][]float64) float64 { return rHat(halves(chains)) }

// AR(1) has lag-k autocorrelation φᵏ and effective sample size N(1−φ)/(1+φ).
// The standard error of the autocorrelation is 0.01 or less (Bartlett: 0.0115 at
// φ = −0.5 and lag 2), that of the effective sample size 6 % at φ = 0.9 and less
// elsewhere. Limits are 3.4 of them and more: over seeds 2 in 1000 exceed one; the
// seed is pinned.
func TestDiagnosticsOfAR1(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	const chains, n = 4, 10_000
	for _, phi := range []float64{-0.5, 0, 0.3, 0.9} {
		x := ar1(rng, phi, chains, n)
		for lag, want := range []float64{1, phi, phi * phi} {
			if got := Autocorrelation(x[0], lag); math.Abs(got-want) > 0.04 {
				t.Errorf("φ = %v: lag-%d autocorrelation %v, want %v", phi, lag, got, want)
			}
		}
		want := chains * n * (1 - phi) / (1 + phi)
		if got := EffectiveSampleSize(x); math.Abs(got/want-1) > 0.2 {
			t.Errorf("φ = %v: effective sample size %v, want %v", phi, got, want)
		}
		if got := splitRHat(x); got > 1.01 {
			t.Errorf("φ = %v: split-R̂ %v of stationary chains", phi, got)
		}
	}
}

// Halves {1,2},{3,4},{1,2},{3,4}: W = 1/2, means 1.5, 3.5, 1.5, 3.5, B/n =
// 4/3, pooled W/2 + 4/3 = 19/12, R̂ = √(19/6).
func TestSplitRHatByHand(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	if got, want := splitRHat([][]float64{x, x}), math.Sqrt(19.0/6); math.Abs(got-want) > 1e-15 {
		t.Errorf("split-R̂ %v, want %v", got, want)
	}
	// The middle draw of an odd chain belongs to neither half.
	odd := []float64{1, 2, 99, 3, 4}
	if got, want := splitRHat([][]float64{odd, odd}), math.Sqrt(19.0/6); math.Abs(got-want) > 1e-15 {
		t.Errorf("split-R̂ of an odd chain %v, want %v", got, want)
	}
}

// What split-R̂ is for: a chain elsewhere, and a trend within all chains. Over seeds
// it is 1.086 ± 0.014 and 1.119 ± 0.016: 5 in 1000 miss the shift; the seed is pinned.
func TestSplitRHatSeesWhatIsWrong(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	shifted, trended := ar1(rng, 0, 5, 200), ar1(rng, 0, 5, 200)
	for i := range shifted[0] {
		shifted[0][i]++
	}
	for _, x := range trended {
		for i := range x {
			x[i] += 2 * float64(i) / 200
		}
	}
	if got := splitRHat(shifted); got < 1.05 {
		t.Errorf("one chain shifted by a deviation: %v", got)
	}
	if got := splitRHat(trended); got < 1.05 {
		t.Errorf("a common trend of two deviations: %v", got)
	}
}

// Saturated class probabilities give constant draws: no NaN may come out.
func TestDiagnosticsOfConstants(t *testing.T) {
	same := [][]float64{{1, 1, 1, 1}, {1, 1, 1, 1}}
	apart := [][]float64{{1, 1, 1, 1}, {2, 2, 2, 2}}
	if got := Autocorrelation(same[0], 1); got != 0 {
		t.Errorf("autocorrelation %v", got)
	}
	// The mean of 200 times 0.1 is rounded.
	if got := Autocorrelation(slices.Repeat([]float64{0.1}, 200), 1); got != 0 {
		t.Errorf("lag-1 autocorrelation of a constant: %v, want 0", got)
	}
	if got := splitRHat(same); got != 1 {
		t.Errorf("split-R̂ %v of equal constants", got)
	}
	if got := splitRHat(apart); got != maxRHat {
		t.Errorf("split-R̂ %v of differing constants", got)
	}
	if got := EffectiveSampleSize(same); got != 8 {
		t.Errorf("effective sample size %v of 8 equal draws", got)
	}
}

func TestDiagnoseSummarisesOutputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	r := normalReference(rng, 5, 200, 40)
	for c := range r.Draws { // output 7 is a walk
		for s := 1; s < 200; s++ {
			r.Draws[c][s][7] += r.Draws[c][s-1][7]
		}
	}
	d := diagnose(r.Draws)
	// Independent draws: lag-1 autocorrelation −1/n with standard error
	// 1/√1000 over five chains; effective sample size 1000. Medians over
	// 40 outputs scatter by 0.0075, 17 and, for split-R̂, 0.0005: limits are
	// 4.7 of these and more, once in 500 000 seeds. The walk stands out at
	// the ends.
	if math.Abs(d.Lag1.Median) > 0.04 || d.Lag1.Max < 0.8 {
		t.Errorf("lag-1 autocorrelation %+v", d.Lag1)
	}
	if d.ESS.Median < 900 || d.ESS.Median > 1100 || d.ESS.Min > 100 {
		t.Errorf("effective sample size %+v", d.ESS)
	}
	if d.SplitRHat.Median > 1.005 || d.SplitRHat.Max < 1.1 {
		t.Errorf("split-R̂ %+v", d.SplitRHat)
	}
}

// The lag-1 autocorrelation is the mean over the chains: of one that alternates, −1, and one
// that hardly moves, 1, nearly 0.
func TestLagOneIsTheMeanOverChains(t *testing.T) {
	alternating, slow := make([][]float32, 1000), make([][]float32, 1000)
	for i := range slow {
		alternating[i], slow[i] = []float32{float32(1 - 2*(i%2))}, []float32{float32(i)}
	}
	for _, draws := range [][][][]float32{{alternating, slow}, {slow, alternating}} {
		if got := diagnose(draws).Lag1.Mean; math.Abs(got) > 0.01 {
			t.Errorf("lag-1 autocorrelation %.3f, want 0", got)
		}
	}
}

// Blom's scores of four draws, from a table of the normal law at (r − 3/8)/4.25, and Geyer's
// sum of pairs of autocorrelations, in which none exceeds the one before it.
func TestDiagnosticsFollowTheirFormulas(t *testing.T) {
	scores := rankNormalised([][]float64{{3, 10}, {-7, 5}})
	for i, want := range []float64{-0.29931, 1.04914, -1.04914, 0.29931} {
		if got := scores[i/2][i%2]; math.Abs(got-want) > 1e-4 {
			t.Errorf("draw %d has the score %.5f, want %.5f", i, got, want)
		}
	}
	pairs := []float64{0.6, 0.4, 0.1, 0.1, 0.3, 0.2, -0.5, 0.1, 9, 9}
	sum := monotoneSum(len(pairs), func(lag int) float64 { return pairs[lag] })
	if want := 1 + 0.2 + 0.2; math.Abs(sum-want) > 1e-12 {
		t.Errorf("the sum is %g, want %g", sum, want)
	}
}

// A summary has the ends, the outer twentieths, the middle and the mean of its numbers.
func TestASummaryHasTheQuantiles(t *testing.T) {
	var x []float64
	for i := range 21 {
		x = append(x, float64(20-i)*float64(20-i))
	}
	want := Summary{Min: 0, P05: 1, Median: 100, Mean: 2870. / 21, P95: 361, Max: 400}
	if got := summarise(x); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Draws that alternate are worth N log₁₀ N at most, however well their mean is known.
func TestAntitheticDrawsAreWorthSoManyAtMost(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 0))
	x := ar1(rng, -0.99, 4, 1000)
	if got, most := EffectiveSampleSize(x), 4000*math.Log10(4000); math.Abs(got/most-1) > 1e-9 {
		t.Errorf("effective sample size %g, want %g", got, most)
	}
}
