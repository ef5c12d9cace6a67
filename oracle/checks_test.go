package oracle

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// simulated is a reference of 5 chains of 200 draws of 5 correlated normal outputs,
// autoregressive with lag-1 autocorrelation phi, and a cross-check with that of cross.
func simulated(rng *rand.Rand, phi, cross float64, spoil func(draws, check [][][]float32)) *Reference {
	r := &Reference{
		Spec:  Spec{Samples: 200, Chains: 5, Step: 1, MaxError: 0.01},
		Draws: correlated(rng, 5, 200, 5, phi, 0.6, 0), Potential: ar1(rng, phi, 5, 200),
		ChainStep: []float64{1, 1, 1, 1, 1},
	}
	check := correlated(rng, 1, 200, 5, cross, 0.6, 0)
	if spoil != nil {
		spoil(r.Draws, check)
	}
	r.Diagnostics, r.OwnError = diagnose(r.Draws), ownError(r.Draws)
	r.compare(check)
	r.Checks = r.verify()
	return r
}

var referenceCount = flag.Int("references", 20, "right references of each of three kinds")

// Each check fails of right references at most 1.5 in a hundred, however correlated
// their draws are; the own error is no test but says whether the chains were long
// enough. By default 20 references of each kind are looked at, of which more than 4
// fail a check by chance once in 100 000 if 1.5 % do; 700 may fail 18, which is 2.3
// standard errors above 1.5 %.
func TestRightReferencesPassEachCheck(t *testing.T) {
	expected := 0.015 * float64(*referenceCount)
	allowed := max(4, expected+2.34*math.Sqrt(expected))
	for i, c := range []struct{ phi, cross float64 }{{0, 0}, {0.2, 0}, {0.4, 0.1}} {
		rng := rand.New(rand.NewPCG(41, uint64(i)))
		failed := map[string]int{}
		for range *referenceCount {
			for _, check := range simulated(rng, c.phi, c.cross, nil).Failed() {
				failed[check.Name]++
			}
		}
		t.Logf("%+v: of %d right references fail %v", c, *referenceCount, failed)
		for name, n := range failed {
			if float64(n) > allowed && name != "own error, plus a standard error" {
				t.Errorf("%+v: %d of %d right references fail %s", c, n, *referenceCount, name)
			}
		}
	}
}

// Chains that were started again with half the step are as good as others, if there are no more
// halvings than chains: of five, one with a quarter and three with half the step have five.
func TestTooManyRestartsFail(t *testing.T) {
	r := simulated(rand.New(rand.NewPCG(44, 0)), 0, 0, nil)
	for _, c := range []struct {
		steps []float64
		pass  bool
	}{{[]float64{0.25, 0.5, 0.5, 0.5, 1}, true}, {[]float64{0.25, 0.5, 0.5, 0.5, 0.5}, false}} {
		r.ChainStep = c.steps
		check := r.verify()[0]
		if check.Name != "restarts with half the step" || check.Pass != c.pass {
			t.Errorf("steps %v: %+v, want passed %v", c.steps, check, c.pass)
		}
	}
}

// A reference whose own error is larger than was asked for is fit all the same.
func TestTheOwnErrorMakesNoReferenceUnfit(t *testing.T) {
	r := &Reference{Checks: []Check{newCheck("a", 3, 0, 2), newCheck(OwnErrorCheck, 3, 0, 2),
		newCheck("b", 1, 0, 2), newCheck("c", math.NaN(), 0, 2)}}
	if got := r.Unfit(); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("unfit for %q, want a and c", got)
	}
}

// What is wrong is found, by the check that is there for it where one is named, of 10
// references each.
func TestWrongReferencesFail(t *testing.T) {
	each := func(draws [][][]float32, change func(chain, sample int, x float64) float64) {
		for c, chain := range draws {
			for s, d := range chain {
				for o := range d {
					d[o] = float32(change(c, s, float64(d[o])))
				}
			}
		}
	}
	for _, c := range []struct {
		what, check string
		spoil       func(draws, check [][][]float32)
	}{
		{"one chain in another mode", "own error, plus a standard error", func(draws, _ [][][]float32) {
			each(draws[:1], func(_, _ int, x float64) float64 { return x + 3 })
		}},
		{"one chain of a third of the width", "", func(draws, _ [][][]float32) {
			each(draws[:1], func(_, _ int, x float64) float64 { return x / 3 })
		}},
		{"chains that are still on their way", "distance of the chains' halves", func(draws, _ [][][]float32) {
			each(draws, func(_, s int, x float64) float64 { return x + 2*math.Exp(-float64(s)/50) })
		}},
		{"a law that is half as wide again", "cross-check, distance", func(draws, _ [][][]float32) {
			each(draws, func(_, _ int, x float64) float64 { return 1.5 * x })
		}},
		{"copies of a chain", "self-distance, mean", func(draws, _ [][][]float32) {
			copy(draws[1], draws[0])
			copy(draws[2], draws[0])
			copy(draws[3], draws[0])
			copy(draws[4], draws[0])
		}},
	} {
		rng := rand.New(rand.NewPCG(42, 0))
		found := 0
		for range 10 {
			failed := simulated(rng, 0.2, 0, c.spoil).Failed()
			if slices.ContainsFunc(failed, func(k Check) bool { return c.check == "" || k.Name == c.check }) {
				found++
			}
		}
		if found < 9 {
			t.Errorf("%s: %d of 10 references fail %s", c.what, found, c.check)
		}
	}
}

// The own error is that of a known excess: each chain's mean is off by a normal shift
// of variance f, of 200 sets of 5 chains. Excess is unbiased within 4 standard errors, which
// chance exceeds in one of the three at one seed in 5 000; beside them a bias of a tenth and 0.0005
// is allowed. Upper is above √(f/m)/π about as often as one standard error should be: in 62 % of
// the sets over seeds, where 60 % are wanted of each f, so that one seed in three has fewer. The
// seed is pinned.
func TestOwnErrorIsThatOfTheShifts(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 0))
	for _, f := range []float64{0, 0.01, 0.1} {
		const sets = 200
		var excess []float64
		above := 0
		for range sets {
			draws := correlated(rng, 5, 200, 5, 0.2, 0.6, 0)
			for c := range draws {
				shift := float32(math.Sqrt(f) * rng.NormFloat64())
				for _, d := range draws[c] {
					for o := range d {
						d[o] += shift
					}
				}
			}
			e := ownError(draws)
			excess = append(excess, e.Excess)
			if e.Upper >= math.Sqrt(f/5)/math.Pi {
				above++
			}
		}
		m, se := mean(excess), math.Sqrt(autocovariance(excess, mean(excess), 0)/sets)
		want := f / (1 + f) // in units of the variance over all chains
		t.Logf("f = %g: excess %.5f ± %.5f, want %.5f; %d of %d upper bounds hold", f, m, se, want, above, sets)
		if math.Abs(m-want) > 4*se+0.1*want+0.0005 {
			t.Errorf("f = %g: mean excess %.5f ± %.5f, want %.5f", f, m, se, want)
		}
		if above < sets*6/10 {
			t.Errorf("f = %g: %d of %d upper bounds are above the error", f, above, sets)
		}
	}
}

// The chance of a reference's own error is Tukey's: the scatter of what is left without each chain.
func TestTheOwnErrorsChanceIsByJackknife(t *testing.T) {
	draws := normalReference(rand.New(rand.NewPCG(9, 0)), 5, 200, 1).Draws
	scores := rankNormalised(seriesOf(draws, 0))
	var left []float64 // the excess without each chain
	for c := range scores {
		var means, implied []float64
		for other, x := range scores {
			if other != c {
				means, implied = append(means, mean(x)), append(implied, varianceOfMean(x))
			}
		}
		left = append(left, stat.Variance(means, nil)-mean(implied))
	}
	squares := 0.0
	for _, e := range left {
		squares += (e - mean(left)) * (e - mean(left))
	}
	if e := ownError(draws); math.Abs(e.SE/math.Sqrt(4./5*squares)-1) > 1e-9 {
		t.Errorf("standard error %v, want %v", e.SE, math.Sqrt(4./5*squares))
	}
}

// The variance of two means has one degree of freedom, and so a standard error of √2 times itself:
// of two chains a deviation apart the bound says what it is by the formula.
func TestTheOwnErrorOfTwoChainsHasOneDegreeOfFreedom(t *testing.T) {
	draws := normalReference(rand.New(rand.NewPCG(8, 0)), 2, 200, 1).Draws
	for i := range draws[1] {
		draws[1][i][0]++
	}
	e := ownError(draws)
	if e.Excess < 0.1 || math.Abs(e.SE-math.Sqrt2*e.Excess) > 1e-12 || math.Abs(e.Upper-math.Sqrt((1+math.Sqrt2)*e.Excess/2)/math.Pi) > 1e-12 {
		t.Errorf("%+v", e)
	}
}
