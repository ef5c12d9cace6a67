package oracle

import (
	"context"

	"hambench/chain"
	"hambench/integrators/noise"
	"hambench/models"
	"hambench/usage"
)

// Where a chain starts, unless it is at the position in a file.
const (
	AtTruth   = "truth"   // at a draw of the truth
	AtPrior   = "prior"   // at a draw of the prior
	AtTypical = "typical" // where WarmUp ends
	AtOptimum = chain.AtOptimum
)

// Starts are the words for the places where a chain may start.
var Starts = []string{AtTruth, AtPrior, AtTypical, AtOptimum}

// warmUpKeys is the bit of a key that sets the warm-up's random streams apart from the
// chain's, whose numbers are then the same whether its start was found here or given.
const warmUpKeys = 1 << 63

// StartAt returns the position at which the chain of a key starts; nil for a draw of the
// prior, which chain.Sampler.Start makes. The truth may be nil if no chain starts there.
func StartAt(
	ctx context.Context, where string, t models.Target, truth Truth, key uint64,
) ([]float64, error) {
	switch {
	case chain.IsFixed(where):
		return chain.FixedStart(where, t)
	case where == AtPrior:
		return nil, nil
	case where == AtTypical:
		return WarmUp(ctx, t, key^warmUpKeys)
	case truth == nil:
		return nil, usage.Errorf("no truth to start at: want one of %s, %s", AtPrior, AtTypical)
	}
	theta := make([]float64, t.Dim())
	truth.DrawStart(theta, noise.New(key, noise.StreamStart).Rand())
	return theta, nil
}
