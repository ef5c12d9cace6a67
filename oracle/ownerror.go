package oracle

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// OwnError is how far the law of a reference's pooled draws is from the posterior
// because its chains have not forgotten where they began, as far as they differ in that,
// as a Kolmogorov distance, a root mean square over the outputs. What all chains share, as a
// mode that none has found, shows in no check of outputs. The scatter of finitely many draws is
// not part of it: that is the self-distance.
type OwnError struct {
	// Excess is by how much the variance between the chains' means exceeds what
	// their autocorrelation implies, in units of the variance of a draw, averaged
	// over the outputs; SE its standard error, by jackknife over the chains. It may
	// be negative by chance, and is too small, since what is implied is biased upwards: by
	// 0.0005 for 200 independent draws, by up to 0.002 for positions that oscillate.
	Excess float64 `json:"excess_variance"`
	SE     float64 `json:"excess_se"`
	// Distance is the error that the excess implies, Upper that of the excess, or of
	// none if it is negative, plus one standard error: no bound, as it is above the error in two
	// thirds to four fifths of references of five chains.
	Distance float64 `json:"distance"`
	Upper    float64 `json:"upper"`
}

// ownError estimates the error of draws[chain][sample][output]. On the scale of
// normal scores an excess f of the variance of each of m chains' means shifts the
// pooled law by a normal shift of variance f/m; a shift δ moves a normal law by the
// Kolmogorov distance δ/√(2π), and E|δ| = √(2f/πm): the error is √(f/m)/π.
//
// The variance that a chain's autocorrelation implies is that of its own draws,
// about its own mean: directions slower than the chain are missing from it, and so
// show as excess.
func ownError(draws [][][]float32) OwnError {
	m := len(draws)
	outputs := len(draws[0][0])
	means, implied := make([][]float64, outputs), make([][]float64, outputs) // [output][chain]
	for o := range outputs {
		for _, x := range rankNormalised(seriesOf(draws, o)) {
			means[o] = append(means[o], mean(x))
			implied[o] = append(implied[o], varianceOfMean(x))
		}
	}
	// excess of all chains but those from a place to another, averaged over outputs.
	excess := func(from, to int) float64 {
		var sum float64
		for o := range outputs {
			x := slices.Delete(slices.Clone(means[o]), from, to)
			v := slices.Delete(slices.Clone(implied[o]), from, to)
			sum += stat.Variance(x, nil) - mean(v)
		}
		return sum / float64(outputs)
	}
	e := OwnError{Excess: excess(0, 0)}
	// The jackknife: each chain in turn is left out.
	if m > 2 {
		left := make([]float64, m)
		for c := range left {
			left[c] = excess(c, c+1)
		}
		e.SE = math.Sqrt(stat.Variance(left, nil)) * float64(m-1) / math.Sqrt(float64(m))
	} else {
		e.SE = math.Sqrt2 * math.Abs(e.Excess) // a crude scale
	}
	distance := func(f float64) float64 { return math.Sqrt(max(f, 0)/float64(m)) / math.Pi }
	e.Distance, e.Upper = distance(e.Excess), distance(max(e.Excess, 0)+e.SE)
	return e
}

// varianceOfMean estimates the variance of the mean of one chain by Geyer's initial
// monotone sequence about the chain's own mean.
func varianceOfMean(x []float64) float64 {
	m := mean(x)
	at := func(lag int) float64 { return autocovariance(x, m, lag) }
	return max(2*monotoneSum(len(x), at)-at(0), 0) / float64(len(x))
}

// The doubling test asks what the paper's asks, "the simulation time was doubled one
// more time": do the second halves of the chains have the law of the first? It deals
// the blocks of each chain anew to its halves. A half has doublingBlocks blocks; of chains of
// fewer than 50 draws, whose tenth is rounded down to a block's length, up to nine.
const doublingBlocks = 5

// halvesDistance returns the mean Kolmogorov distance between the first and the
// second halves of all chains, and its mean and standard deviation if their law is
// one.
func halvesDistance(draws [][][]float32) (distance, expected, sd float64) {
	// Chains of fewer than 10 draws have fewer blocks, of one draw each. What no block holds is
	// left out at the middle of the chain.
	length := max(1, len(draws[0])/(2*doublingBlocks))
	half := len(draws[0]) / 2 / length * length // draws of each chain's half, whole blocks
	halves := make([][][]float32, 2)
	for _, chain := range draws {
		halves[0] = append(halves[0], chain[:half]...)
		halves[1] = append(halves[1], chain[len(chain)-half:]...)
	}
	p := newPool(halves)
	distance = p.distances()[0]
	rng := rand.New(rand.NewPCG(2, 0)) // pinned: checks are the same at every build
	blocks, dealt := half/length, make([]float64, rearrangements)
	for i := range dealt {
		for c := range draws {
			// A chain's blocks stay the chain's: that chains differ from each other is no
			// difference between halves.
			for to, from := range rng.Perm(2 * blocks) {
				at := from/blocks*p.samples + c*half + from%blocks*length
				for d := range length {
					p.chain[at+d] = to / blocks
				}
			}
		}
		dealt[i] = p.distances()[0]
	}
	expected, sd = stat.MeanStdDev(dealt, nil)
	return distance, expected, sd
}
