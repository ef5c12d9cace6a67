package paper

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The interval covers with 99 % or more, and the next one inside it with less.
func TestMedianIntervalCovers(t *testing.T) {
	for n := 1; n <= 60; n++ {
		x := make([]float64, n) // n − 1, …, 0: the rank is the value
		for i := range x {
			x[i] = float64(n - 1 - i)
		}
		median, low, high, ok := medianInterval(x)
		if want := float64(n-1) / 2; median != want {
			t.Errorf("n = %d: median %v, want %v", n, median, want)
		}
		if ok != (n >= fewest) {
			t.Errorf("n = %d: interval %v, want one from %d values on", n, ok, fewest)
		}
		if !ok {
			continue
		}
		// The interval misses the median if low or fewer values lie below it,
		// or above it.
		misses := func(low float64) float64 {
			return 2 * distuv.Binomial{N: float64(n), P: 0.5}.CDF(low)
		}
		if high != float64(n-1)-low || misses(low) > 1-level || misses(low+1) <= 1-level {
			t.Errorf("n = %d: interval [%v, %v] misses with probability %v, the next with %v", n, low, high, misses(low), misses(low+1))
		}
	}
}

func TestMedianOfNothing(t *testing.T) {
	if m, _, _, ok := medianInterval(nil); ok || !math.IsNaN(m) {
		t.Errorf("median of nothing is %v", m)
	}
}

// Ends of Clopper and Pearson's interval in closed form.
func TestShareInterval(t *testing.T) {
	end := math.Pow((1-level)/2, 1./10)
	for _, c := range []struct {
		hits      int
		low, high float64
	}{{0, 0, 1 - end}, {10, end, 1}} {
		low, high := shareInterval(c.hits, 10)
		if math.Abs(low-c.low) > 1e-9 || math.Abs(high-c.high) > 1e-9 { // quantiles are found to 1e-12
			t.Errorf("%d of 10: [%v, %v], want [%v, %v]", c.hits, low, high, c.low, c.high)
		}
	}
	low, high := shareInterval(50, 100) // tables: 0.3689 to 0.6311
	if math.Abs(low-0.3689) > 1e-4 || math.Abs(high-0.6311) > 1e-4 {
		t.Errorf("50 of 100: [%v, %v]", low, high)
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
