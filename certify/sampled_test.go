package certify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hambench/integrators"
)

// manyBatches is a problem in one position whose batches differ in curvature
// and in shift.
func manyBatches(k int) *Problem {
	p := &Problem{Kind: Gaussian, Friction: 1.5}
	for i := range k {
		x := math.Sin(float64(3*i + 1))
		p.gaussian = append(p.gaussian, newAffineForce([]float64{1 + 0.6*x}, []float64{0.8 * math.Cos(float64(5*i))}))
	}
	return p
}

// TestSampledOrdersCoverTheExactErrors: of 200 repetitions at K = 10 the 95 %
// interval covers the exact error in 90 to 99 %. With a coverage of 95 % the
// number of hits is outside of that by chance in less than 0.4 % of seeds
// (binomial), and the seed is pinned.
func TestSampledOrdersCoverTheExactErrors(t *testing.T) {
	const repetitions, h = 200, 0.1
	p := manyBatches(10)
	exact := certifyOne(t, Options{Problem: p, Steps: []float64{h}, ErrorsOnly: true}, "baoab", "reshuffle")
	e, err := newGaussianEngine(p, nil, estimation{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := integrators.Builtin().Lookup("baoab")
	if err != nil {
		t.Fatal(err)
	}
	prep, err := newSolver(&Options{Problem: p}, e, m).prepared(h)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Schemes("reshuffle")
	if err != nil {
		t.Fatal(err)
	}
	hits := make([]int, len(gaussianObservables))
	for rep := range repetitions {
		at, err := prep.(*preparedGaussian).sample(context.Background(), s[0], rand.New(rand.NewPCG(5, uint64(rep))), false)
		if err != nil {
			t.Fatal(err)
		}
		for o, x := range at.observed {
			if math.Abs(x.relative-float64(exact.Observables[o].Relative[0])) <= x.relativeResolution {
				hits[o]++
			}
		}
	}
	for o, n := range hits {
		if n < 180 || n > 198 {
			t.Errorf("%s: %d of %d intervals cover the exact error, want 180 to 198", gaussianObservables[o], n, repetitions)
		}
	}
}

func TestAHundredBatchesAreSampled(t *testing.T) {
	row := certifyOne(t, Options{Problem: manyBatches(100), Steps: []float64{0.1}}, "baoab", "reshuffle")
	if row.Sampled == 0 {
		t.Error("the row does not say that orders were sampled")
	}
	for _, o := range row.Observables[1:] { // the mean's error is hidden by the orders
		if e, r := float64(o.Relative[0]), float64(o.RelativeResolution[0]); !(e > 2*r) || o.Verdict == Exact {
			t.Errorf("%s: error %v ± %v, %s", o.Name, e, r, o.Verdict)
		}
	}
}

// Where an epoch is short beside the chain's memory, the parts that the standard
// error is taken from are not independent: 200 epochs of 15 steps of 10⁻⁵ are a few
// per cent of it. Nothing is said then.
func TestSampledOrdersOfALongMemoryAreNotKnown(t *testing.T) {
	row := certifyOne(t, Options{Problem: manyBatches(15), Steps: []float64{1e-5}}, "baoab", "reshuffle")
	for _, o := range row.Observables {
		if !math.IsNaN(float64(o.Relative[0])) || !math.IsInf(float64(o.Resolution[0]), 1) || o.Verdict != Inconclusive {
			t.Errorf("%s: error %v ± %v, %s: want none that is known", o.Name, o.Relative[0], o.Resolution[0], o.Verdict)
		}
	}
}

// Batches that are equal leave round-off, which is no error of 0 resolution: the
// interval holds the error of the full batch.
func TestSampledOrdersOfEqualBatchesHaveRoundOff(t *testing.T) {
	p := &Problem{Kind: Gaussian, Friction: 2}
	for range 15 {
		p.gaussian = append(p.gaussian, newAffineForce([]float64{1.5}, []float64{1}))
	}
	o := Options{Problem: p, Steps: []float64{0.1, 0.01}, ErrorsOnly: true}
	full, row := certifyOne(t, o, "baoab", "full"), certifyOne(t, o, "baoab", "reshuffle")
	for i, x := range row.Observables {
		for at, e := range x.Relative {
			if r := x.RelativeResolution[at]; !(r > 0 && r < 1e-10) || !(math.Abs(float64(e-full.Observables[i].Relative[at])) <= float64(r+full.Observables[i].RelativeResolution[at])) {
				t.Errorf("%s at h = %v: error %v ± %v, with the full batch %v", x.Name, o.Steps[at], e, r, full.Observables[i].Relative[at])
			}
		}
	}
}
