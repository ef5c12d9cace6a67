package minibatch

import "math/rand/v2"

// The schemes whose batches belong to no partition: B = round(N/K) rows with
// scale N/B.
var (
	// Window is kept for comparison: rows near the ends of the arrangement lie
	// in fewer windows than those in the middle, so that, given the
	// arrangement, the gradient is biased. Only the mean over arrangements is
	// not. So it states no cap, and no law is proven of it.
	windowScheme = Scheme{
		Name:  "window",
		About: "round(N/K) contiguous rows at a uniform random offset, as pysgmcmc draws them",
		Stream: func(rows, k int, rng *rand.Rand) Stream {
			order, size := shuffled(rows, rng), drawn(rows, k)
			return &stream{order: order, draw: func() Batch {
				lo := rng.IntN(rows - size + 1)
				return Batch{Index: -1, Lo: lo, Hi: lo + size, Scale: float64(rows) / float64(size)}
			}}
		},
	}

	// Most analyses of stochastic gradients assume independent rows.
	// The variance of the gradient is that of one row over B; batches without
	// replacement have less, by the factor (N − B)/(N − 1).
	iidScheme = Scheme{
		Name: "iid",
		About: "round(N/K) rows drawn independently and uniformly, with replacement " +
			"(Welling & Teh 2011)",
		Stream: func(rows, k int, rng *rand.Rand) Stream {
			// One list for all batches, which the next one overwrites.
			list := make([]int, drawn(rows, k))
			return &stream{order: identity(rows), draw: func() Batch {
				for i := range list {
					list[i] = rng.IntN(rows)
				}
				return Batch{Index: -1, List: list, Scale: float64(rows) / float64(len(list))}
			}}
		},
		Cap:   Cap{Marginal: 1, Joint: 1},
		Lists: true,
	}
)

// drawn returns B, the number of rows of a batch: N/K rounded to the nearest integer.
func drawn(rows, k int) int { return (2*rows + k) / (2 * k) }
