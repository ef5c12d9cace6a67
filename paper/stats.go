package paper

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// level is the confidence of every interval of this package.
const level = 0.99

// fewest is how many data sets an interval needs.
const fewest = 4

// studentInterval returns the mean of x and Student's interval for the mean of
// the law that x was drawn from. ok is false with fewer than fewest values, for
// which it would say little.
func studentInterval(x []float64) (mean, low, high float64, ok bool) {
	mean, sd := stat.MeanStdDev(x, nil)
	if len(x) < fewest {
		return mean, math.Inf(-1), math.Inf(1), false
	}
	half := studentQuantile(len(x)-1, 1) * sd / math.Sqrt(float64(len(x)))
	return mean, mean - half, mean + half, true
}

// studentQuantile is what Student's law exceeds in size with probability
// (1 − level)/tests.
func studentQuantile(freedom, tests int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(1 - (1-level)/float64(2*tests))
}

// studentLimit is what the difference of the means of n1 and n2 normal
// values, in units of the standard deviation that the second sample gives,
// exceeds in size with probability (1 − level)/tests or less, were their
// laws the same.
func studentLimit(n1, n2, tests int) float64 {
	return studentQuantile(n2-1, tests) * math.Sqrt(1/float64(n1)+1/float64(n2))
}
