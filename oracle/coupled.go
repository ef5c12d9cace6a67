package oracle

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/chain"
	"hambench/integrators"
	"hambench/models"
)

// RunCoupled runs coupled chains (chain.Coupled) on two copies of a target, which
// they take over, from where WarmUp ends. After each sample's time observe gets the
// difference of their predictive values, or of their positions, coarse less fine.
// bias and chance are those of CoupledBias. counts is the work of both chains, also
// of chains that diverged; it is 0 if an error kept them from starting.
func RunCoupled(
	ctx context.Context, r chain.Registries, coarse, fine models.Target, s chain.Spec,
	p chain.Plan, predictive bool, observe func(sample int, difference []float64) error,
) (bias, chance float64, counts chain.Counts, err error) {
	// Mistakes of the spec show before the warm-up, which takes seconds.
	chains, err := r.Couple(coarse, fine, s)
	if err != nil {
		return 0, 0, counts, err
	}
	start, err := WarmUp(ctx, coarse, s.Key)
	if err != nil {
		return 0, 0, counts, err
	}
	var differences [][]float64
	err = chains.Run(ctx, start, p, func(i int, a, b *integrators.State) error {
		d, other := slices.Clone(a.Theta), b.Theta
		if predictive {
			d, other = make([]float64, coarse.Outputs()), make([]float64, fine.Outputs())
			coarse.Predict(d, a.Theta)
			fine.Predict(other, b.Theta)
		}
		floats.Sub(d, other)
		differences = append(differences, d)
		return observe(i, d)
	})
	if err == nil {
		bias, chance = CoupledBias(differences)
	}
	return bias, chance, chains.Counts(), err
}

// CoupledBias summarises the differences of coupled chains, differences[sample][value].
// bias is the root mean square over the values of their means, less what chance adds
// to it. chance is the root mean square of the means' standard errors, which are those
// of as many independent differences as the effective sample size.
func CoupledBias(differences [][]float64) (bias, chance float64) {
	values := len(differences[0])
	var squares, variances float64
	series := make([]float64, len(differences))
	for v := range values {
		for i, d := range differences {
			series[i] = d[v]
		}
		mean, variance := stat.MeanVariance(series, nil)
		// Its expectation is the square of the bias plus the variance of the mean, which is taken
		// off below.
		squares += mean * mean
		if variance > 0 {
			variances += variance / EffectiveSampleSize([][]float64{series})
		}
	}
	n := float64(values)
	return math.Sqrt(max(0, squares-variances) / n), math.Sqrt(variances / n)
}
