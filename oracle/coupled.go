package oracle

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// CoupledBias summarises the differences of coupled chains, differences[sample][value].
// bias is the root mean square over the values of their means, less what chance adds
// to it. chance is the root mean square of the means' standard errors, which are those
// of as many independent differences as the effective sample size.
func CoupledBias(differences [][]float64) (bias, chance float64) {
	values := len(differences[0])
	var squares, errors float64
	series := make([]float64, len(differences))
	for v := range values {
		for i, d := range differences {
			series[i] = d[v]
		}
		mean, variance := stat.MeanVariance(series, nil)
		squares += mean * mean
		if variance > 0 {
			errors += variance / EffectiveSampleSize([][]float64{series})
		}
	}
	n := float64(values)
	return math.Sqrt(max(0, squares-errors) / n), math.Sqrt(errors / n)
}
