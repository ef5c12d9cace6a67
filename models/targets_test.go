package models

import (
	"math"
	"math/rand/v2"
	"testing"

	"hambench/models/datasets"
)

// With the seed fixed, each mean and share of 40 000 draws is within four standard errors:
// a false alarm in 2 000 seeds.
func TestTargetsAreDrawnFromTheLikelihood(t *testing.T) {
	const n = 40_000
	rng := rand.New(rand.NewPCG(1, 2))
	regression := &datasets.Split{Task: datasets.Regression, NoiseVariance: 0.25, TestY: []float64{1, -2}}
	dst, mean, square := make([]float64, 2), 0.0, 0.0
	for range n {
		DrawTargets(dst, []float64{3, 7}, regression, rng)
		mean, square = mean+(dst[0]-3)/n, square+(dst[1]-7)*(dst[1]-7)/n
	}
	if math.Abs(mean) > 4*0.5/math.Sqrt(n) || math.Abs(square-0.25) > 4*0.25*math.Sqrt(2.0/n) {
		t.Errorf("mean %g, variance %g: want 0 and 0.25", mean, square)
	}
	for _, c := range []struct {
		classes     int
		predictions []float64
		want        []float64
	}{{2, []float64{0.3}, []float64{0.7, 0.3}}, {3, []float64{0.5, 0.2, 0.3}, []float64{0.5, 0.2, 0.3}}} {
		split := &datasets.Split{Task: datasets.Classification, Classes: c.classes, TestLabels: []int{1}}
		share := make([]float64, c.classes)
		for range n {
			DrawTargets(dst[:1], c.predictions, split, rng)
			share[int(dst[0])] += 1.0 / n
		}
		for k, p := range c.want {
			if math.Abs(share[k]-p) > 4*math.Sqrt(p*(1-p)/n) {
				t.Errorf("class %d of %d in %g of the draws: want %g", k, c.classes, share[k], p)
			}
		}
		if LogLikelihood(dst[:1], c.predictions, split); dst[0] != math.Log(c.want[1]) {
			t.Errorf("log-likelihood %g: want that of %g", dst[0], c.want[1])
		}
	}
	LogLikelihood(dst, []float64{1.5, -2}, regression)
	top := -math.Log(2*math.Pi*0.25) / 2
	if math.Abs(dst[0]-(top-0.5)) > 1e-15 || math.Abs(dst[1]-top) > 1e-15 {
		t.Errorf("log-likelihoods %v: want %g and %g", dst, top-0.5, top)
	}
}
