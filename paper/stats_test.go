package paper

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The interval covers the mean of normal values in 99 of 100 samples; 10 000 of
// them have a standard error of 0.1 %.
func TestStudentIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	const samples = 10_000
	missed := 0
	for range samples {
		x := make([]float64, 7)
		for i := range x {
			x[i] = 3 + rng.NormFloat64()
		}
		if _, low, high, ok := studentInterval(x); !ok || low > 3 || high < 3 {
			missed++
		}
	}
	if share := float64(missed) / samples; math.Abs(share-(1-level)) > 0.004 {
		t.Errorf("%.2f %% of the intervals miss, want %.2f %%", 100*share, 100*(1-level))
	}
}

func TestStudentIntervalNeedsDataSets(t *testing.T) {
	if mean, low, high, ok := studentInterval([]float64{1, 2, 3}); ok || mean != 2 || !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("of three values: mean %v in [%v, %v], %t", mean, low, high, ok)
	}
	if mean, _, _, ok := studentInterval(nil); ok || !math.IsNaN(mean) {
		t.Errorf("mean of nothing is %v", mean)
	}
	// Tables: 5.841 for 3 degrees of freedom at 0.995; the deviation of 1, 2, 3, 4
	// is 1.2910.
	if _, low, _, _ := studentInterval([]float64{1, 2, 3, 4}); math.Abs(low-(2.5-5.841*1.2910/2)) > 1e-3 {
		t.Errorf("lower end %v", low)
	}
}

// t quantiles of tables: 4.604 for 4 degrees of freedom at 0.995.
func TestStudentLimit(t *testing.T) {
	if got, want := studentLimit(1, 5, 1), 4.604*math.Sqrt(1.2); math.Abs(got-want) > 2e-3 {
		t.Errorf("limit %v, want %v", got, want)
	}
	if studentLimit(5, 5, 1) >= studentLimit(1, 5, 1) || studentLimit(1, 5, 16) <= studentLimit(1, 5, 1) {
		t.Error("want less with more splits, more with more tests")
	}
}

func TestHistogramVariance(t *testing.T) {
	// ±1 with equal counts, in bins of width 2.
	if v := histogramVariance([]float64{-2, 0, 2}, []float64{5, 5}); v != 1 {
		t.Errorf("variance %v, want 1", v)
	}
}
