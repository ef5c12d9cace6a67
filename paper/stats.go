package paper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// level is the confidence of every interval of this package.
const level = 0.99

// medianInterval returns the median and an interval for the median of the
// law that x was drawn from, free of assumptions on that law: the k-th
// smallest and the k-th largest value, k by the binomial law of how many
// values lie below the median. It covers with probability level or more. ok
// is false with fewer than 8 values, when no such interval exists.
func medianInterval(x []float64) (median, low, high float64, ok bool) {
	n := len(x)
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN(), false
	}
	s := slices.Sorted(slices.Values(x))
	median = (s[(n-1)/2] + s[n/2]) / 2
	b := distuv.Binomial{N: float64(n), P: 0.5}
	k := 0
	for b.CDF(float64(k)) <= (1-level)/2 {
		k++
	}
	if k == 0 {
		return median, math.Inf(-1), math.Inf(1), false
	}
	return median, s[k-1], s[n-k], true
}

// shareInterval is Clopper and Pearson's interval for a probability of which
// hits in n trials were seen.
func shareInterval(hits, n int) (low, high float64) {
	low, high = 0, 1
	k := float64(hits)
	if hits > 0 {
		low = distuv.Beta{Alpha: k, Beta: float64(n) - k + 1}.Quantile((1 - level) / 2)
	}
	if hits < n {
		high = distuv.Beta{Alpha: k + 1, Beta: float64(n) - k}.Quantile((1 + level) / 2)
	}
	return low, high
}

// studentLimit is what the difference of the means of n1 and n2 normal
// values, in units of the standard deviation that the second sample gives,
// exceeds in size with probability (1 − level)/tests or less, were their
// laws the same.
func studentLimit(n1, n2, tests int) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n2 - 1)}
	return t.Quantile(1-(1-level)/float64(2*tests)) * math.Sqrt(1/float64(n1)+1/float64(n2))
}
