package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"hambench/internal/long"
)

// correlated returns chains of normal outputs with correlation rho² between
// each two, whose draws are autoregressive: lag-1 autocorrelation phi. Chain 0
// is shifted by shift.
func correlated(rng *rand.Rand, chains, samples, outputs int, phi, rho, shift float64) [][][]float32 {
	draws := make([][][]float32, chains)
	for c := range draws {
		state := make([]float64, outputs+1) // the last is common to all
		for i := range state {
			state[i] = rng.NormFloat64()
		}
		for range samples {
			row := make([]float32, outputs)
			for i := range state {
				state[i] = phi*state[i] + math.Sqrt(1-phi*phi)*rng.NormFloat64()
			}
			for o := range row {
				x := rho*state[outputs] + math.Sqrt(1-rho*rho)*state[o]
				if c == 0 {
					x += shift
				}
				row[o] = float32(x)
			}
			draws[c] = append(draws[c], row)
		}
	}
	return draws
}

// deviation is how many standard deviations the self-distance of chains lies
// from the implied one.
func deviation(draws [][][]float32) float64 {
	implied := impliedSelfDistance(draws)
	return ((&Reference{Draws: draws}).SelfDistance().Mean - implied.mean) / implied.sd
}

// The deviations of chains of one law have mean 0 and standard deviation 1,
// whatever the correlation of draws and of outputs, and beyond the check's
// limit lie as few as it states. 50 replicates have a standard error of 0.14 of
// the mean and 0.1 of the deviation: 0.5 and 0.4 are 3.5 and four of them. For
// independent blocks one of eight limits is exceeded at 2 seeds in 1000; their
// correlation makes that more, and the seed is pinned. Expected are 0.4 false
// alarms in all; more than 4 come by chance once in 10 000.
func TestSelfDistanceIsWhatTheCorrelationImplies(t *testing.T) {
	const replicates = 50
	rng := rand.New(rand.NewPCG(31, 0))
	alarms := 0
	for _, c := range []struct {
		outputs  int
		phi, rho float64
	}{{1, 0, 0}, {5, 0, 0.8}, {5, 0.3, 0.8}, {5, 0.5, 0.5}} {
		var z []float64
		for range replicates {
			d := deviation(correlated(rng, 5, 100, c.outputs, c.phi, c.rho, 0))
			z = append(z, d)
			if math.Abs(d) > copiesSpread {
				alarms++
			}
		}
		if m, sd := stat.MeanStdDev(z, nil); math.Abs(m) > 0.5 || math.Abs(sd-1) > 0.4 {
			t.Errorf("%+v: deviations have mean %.2f and standard deviation %.2f: want 0 and 1", c, m, sd)
		} else {
			t.Logf("%+v: mean %.2f, deviation %.2f, %d alarms so far", c, m, sd, alarms)
		}
	}
	if alarms > 4 {
		t.Errorf("%d false alarms in %d references", alarms, 4*replicates)
	}
}

// The pool's own way to the self-distance gives what pairs of sorted chains
// give, ties included.
func TestPoolMeasuresTheSelfDistance(t *testing.T) {
	draws := correlated(rand.New(rand.NewPCG(33, 0)), 4, 60, 7, 0.3, 0.3, 0)
	for _, chain := range draws {
		for _, d := range chain {
			d[2], d[3] = float32(math.Round(float64(d[2]))), 1
		}
	}
	want := (&Reference{Draws: draws}).SelfDistance().Mean
	if got := mean(newPool(draws).distances()); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}

// Chains that disagree are found, also where their draws are correlated; so are
// copies of a chain. A chain that is shifted lies at 3.65 ± 0.2, near the limit of
// 3.29: at one seed in ten or so one of the five is not found; the seed is pinned.
func TestSelfDistanceFindsChainsThatDisagree(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 0))
	for range 5 {
		if d := deviation(correlated(rng, 5, 200, 20, 0.4, 0.5, 0.8)); d < copiesSpread {
			t.Errorf("a chain shifted by 0.8 deviations: %.1f standard deviations, want more than %g", d, copiesSpread)
		}
		copies := correlated(rng, 5, 200, 20, 0.4, 0.5, 0)
		copies[2], copies[3], copies[4] = copies[0], copies[0], copies[0]
		if d := deviation(copies); d > -copiesSpread {
			t.Errorf("a chain that stands four times: %.1f standard deviations, want less than -%g", d, copiesSpread)
		}
	}
}

// Independent draws of the truth, more or fewer than the reference's chains
// have, are as far from it as SelfDistanceOf says. The mean over 2000
// outputs has a standard error below 1 % in each of them, and the formula
// ignores the samples' lattices: 4 %. With the ratio of the sizes inverted it
// would be off by a factor 2.
func TestLongSelfDistanceOfOtherNumbersOfDraws(t *testing.T) {
	long.Test(t)
	const outputs = 2000
	rng := rand.New(rand.NewPCG(35, 0))
	r := normalReference(rng, 3, 200, outputs)
	r.Samples = 200
	for _, n := range []int{40, 200, 800} {
		draws := converted[float64](correlated(rng, 1, n, outputs, 0, 0, 0)[0])
		if got, want := r.Distance(draws), r.SelfDistanceOf(n).Mean; math.Abs(got/want-1) > 0.04 {
			t.Errorf("%d draws: distance %.4f, SelfDistanceOf gives %.4f", n, got, want)
		}
	}
	if b := r.SelfDistanceOf(1); b.High > 1 {
		t.Errorf("of one draw: %+v, but no distance exceeds 1", b)
	}
}

// SelfDistanceOf(n).SD is how the mean distance of right chains scatters,
// correlated as the reference's own are: in units of it their distances have
// deviation 1 (80 of them, by eight references, leave 12 % of scatter; a
// reference that happens to be off makes it larger), and about 1 in 20 lies
// above 1.645.
func TestScatterOfRightChains(t *testing.T) {
	rng := rand.New(rand.NewPCG(36, 0))
	for _, c := range []struct{ phi, rho float64 }{{0, 0}, {0, 0.8}, {0.2, 0.6}} {
		var z []float64
		above := 0
		for range 8 {
			r := &Reference{Spec: Spec{Samples: 200}, Draws: correlated(rng, 5, 200, 20, c.phi, c.rho, 0)}
			self := r.SelfDistanceOf(200)
			for range 10 {
				d := r.Distance(converted[float64](correlated(rng, 1, 200, 20, c.phi, c.rho, 0)[0]))
				z = append(z, (d-self.Mean)/self.SD)
				if d > self.Mean+1.645*self.SD {
					above++
				}
			}
		}
		if m, sd := stat.MeanStdDev(z, nil); math.Abs(m) > 0.7 || sd < 0.7 || sd > 1.45 || above > 12 {
			t.Errorf("%+v: distances of right chains have mean %.2f, deviation %.2f, and %d of 80 lie above 1.645", c, m, sd, above)
		}
	}
}

// A chain whose deviation is 30 % too large is in the band of one output, but
// not where right chains are. It lies 7.5 ± 2 deviations above their mean, and the band ends at
// 11.6: over seeds 8 in 100 have one of ten chains beyond it; the seed is pinned.
func TestWideChainIsNoRightChain(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 0))
	r := &Reference{Spec: Spec{Samples: 200}, Draws: correlated(rng, 5, 200, 30, 0.1, 0.5, 0)}
	self := r.SelfDistanceOf(200)
	for range 10 {
		wide := converted[float64](correlated(rng, 1, 200, 30, 0.1, 0.5, 0)[0])
		for _, d := range wide {
			for o := range d {
				d[o] *= 1.3
			}
		}
		if d := r.Distance(wide); d > self.High || d < self.Mean+1.645*self.SD {
			t.Errorf("distance %.4f: want it in the band, up to %.4f, and above %.4f + 1.645·%.4f", d, self.High, self.Mean, self.SD)
		}
	}
}

// The cross-check expects the distance of its effective sample size: half as
// many draws are no alarm, draws of another law are.
func TestLongCrossCheckExpectsItsSampleSize(t *testing.T) {
	long.Test(t)
	rng := rand.New(rand.NewPCG(38, 0))
	alarms := 0
	for i := range 20 {
		draws := correlated(rng, 5, 200, 30, 0, 0.5, 0)
		r := &Reference{Spec: Spec{Samples: 200}, Draws: draws, Diagnostics: diagnose(draws), Potential: [][]float64{{1, 2, 3, 4}, {2, 1, 4, 3}}}
		other := correlated(rng, 1, 100, 30, 0, 0.5, 0)
		if i%2 == 1 { // within the band of one output
			for _, d := range other[0] {
				for o := range d {
					d[o] *= 1.4
				}
			}
		}
		r.MaxError = 0.01
		r.compare(other)
		checks := r.verify()
		if pass := checks[len(checks)-1].Pass; pass != (i%2 == 0) {
			alarms++
			t.Logf("replicate %d: %+v", i, checks[len(checks)-1])
		}
	}
	if alarms > 1 {
		t.Errorf("%d of 20 cross-checks judged wrongly", alarms)
	}
}
