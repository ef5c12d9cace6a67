package oracle

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hambench/internal/rows"
)

// SelfDistance returns the Kolmogorov distances between two of the chains:
// the mean and the quantiles are over all pairs of chains and all outputs.
func (r *Reference) SelfDistance() Band {
	r.selfOnce.Do(func() {
		chains := r.columns()
		var d []float64
		for i, a := range chains {
			for _, b := range chains[:i] {
				for o := range a {
					d = append(d, Kolmogorov(a[o], b[o]))
				}
			}
		}
		r.self = bandOf(d)
		r.self.SD = impliedSelfDistance(r.Draws).replicate
	})
	return r.self
}

// SelfDistanceOf returns the band of Distance for n draws of the truth. Of fewer draws
// than a chain has it is that of blocks of n consecutive draws of one chain, to the
// others: its mean and its scatter, autocorrelation included. A Kolmogorov distance
// between samples of n and m falls with √(1/n + 1/m), so for more draws that of two
// chains, √(2/m), is scaled by √((1 + m/n)/2). Its SD stays that of a chain's length, above
// what so many draws would have.
func (r *Reference) SelfDistanceOf(n int) Band {
	if n >= r.length() {
		b := r.SelfDistance().scaled(math.Sqrt((1 + float64(r.length())/float64(n)) / 2))
		b.SD = r.SelfDistance().SD
		return b
	}
	b, _ := r.blocks.of(context.Background(), n, func() (Band, error) {
		return r.blockDistance(max(n, 1)), nil
	})
	return b
}

// blockDistance returns the distances of the blocks of n draws of each chain to the
// other chains.
func (r *Reference) blockDistance(n int) Band {
	columns := r.columns()
	var single, means []float64
	for c, draws := range r.Draws {
		// Whole blocks: fewer than n draws may be left over at the end of a chain.
		for at := 0; at+n <= len(draws); at += n {
			var sum float64
			for o := range columns[c] {
				block, _ := sortedColumn(draws[at:at+n], o)
				var d float64
				for other, chain := range columns {
					// A block is a part of its own chain, and too close to it.
					if other != c {
						d += Kolmogorov(block, chain[o]) / float64(len(columns)-1)
					}
				}
				// A Band has the quantiles of single outputs, and the scatter of means over them.
				single = append(single, d)
				sum += d
			}
			means = append(means, sum/float64(len(columns[c])))
		}
	}
	b := bandOf(single)
	b.SD = stat.StdDev(means, nil)
	return b
}

// Rearrangements of a reference's draws: their number leaves the standard
// deviation uncertain by 7 %; a fifth of a chain is long beside any
// autocorrelation that a reference should have.
const (
	rearrangements = 100
	chainBlocks    = 5
)

// implied is what chains of one law would have.
type implied struct {
	mean, sd  float64 // of the self-distance over all pairs of chains
	replicate float64 // standard deviation of one chain's distance to the others
}

// impliedSelfDistance returns the self-distance of chains of one law whose draws
// are as correlated as these: over rearrangements that deal blocks of consecutive
// draws anew to the chains. If the chains have one law and blocks are independent,
// each rearrangement is as likely as the chains themselves.
//
// A formula in the effective sample size would do only for independent
// draws. Correlated ones differ by a smooth part of their distribution
// functions, whose largest value is a smaller multiple of its standard
// deviation: for autoregressive chains with τ = 4 the distance grows by 1.37,
// while √τ is 2, and 1.7 for the τ of the indicator of the median.
func impliedSelfDistance(draws [][][]float32) implied {
	p := newPool(draws)
	length := max(1, p.samples/chainBlocks)
	var starts []int
	for c := range p.chains {
		for s := 0; s+length <= p.samples; s += length {
			starts = append(starts, c*p.samples+s)
		}
	}
	// starts are the first draws of all blocks; in each rearrangement chain k gets the blocks from
	// k·perChain on.
	perChain := len(starts) / p.chains
	rng := rand.New(rand.NewPCG(1, 0)) // pinned: checks are the same at every build
	distances, single := make([]float64, rearrangements), []float64{}
	for i := range distances {
		rng.Shuffle(len(starts), func(a, b int) { starts[a], starts[b] = starts[b], starts[a] })
		for k, at := range starts {
			for d := range length {
				p.chain[at+d] = k / perChain
			}
		}
		toOthers := p.distances()
		distances[i] = mean(toOthers)
		single = append(single, toOthers...)
	}
	out := implied{replicate: stat.StdDev(single, nil)}
	out.mean, out.sd = stat.MeanStdDev(distances, nil)
	return out
}

// pool holds the draws of all chains, sorted by each output.
type pool struct {
	chains, samples int
	// order lists, for each output, the draws in order of its value; draws are
	// numbered chain by chain.
	order [][]int
	last  [][]bool // [output][place]: the next value is another
	chain []int    // of each draw
}

// newPool sorts the draws of all chains, draws[chain][sample][output]. A rearrangement then deals
// them to other chains by p.chain alone, and sorts nothing.
func newPool(draws [][][]float32) *pool {
	p := &pool{chains: len(draws), samples: len(draws[0])}
	for d := range p.chains * p.samples {
		p.chain = append(p.chain, d/p.samples)
	}
	for o := range draws[0][0] {
		value := func(d int) float32 { return draws[d/p.samples][d%p.samples][o] }
		order, last := rows.Identity(len(p.chain)), make([]bool, len(p.chain))
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(value(a), value(b)) })
		for i := range last {
			last[i] = i+1 == len(order) || value(order[i]) != value(order[i+1])
		}
		p.order, p.last = append(p.order, order), append(p.last, last)
	}
	return p
}

// distances returns the Kolmogorov distance of each chain to another, averaged
// over the others and over outputs.
func (p *pool) distances() []float64 {
	// largest[a·chains + b] is the largest difference between the counts of draws of the chains a
	// and b so far, seen at a draw of a: that of their empirical distribution functions, as all
	// chains have as many draws. It changes at draws of a or b only, so that one pass over the pool
	// serves all pairs.
	totals, largest := make([]float64, p.chains), make([]int, p.chains*p.chains)
	below := make([]int, p.chains) // draws so far
	for o, order := range p.order {
		clear(largest)
		clear(below)
		// Counts are compared behind the last of equal values, where both functions have jumped.
		first := 0 // of the draws with one value
		for i, d := range order {
			below[p.chain[d]]++
			if !p.last[o][i] {
				continue
			}
			for ; first <= i; first++ { // the other chains' counts are as they were
				chain := p.chain[order[first]]
				of, n := largest[chain*p.chains:][:p.chains], below[chain]
				for b, m := range below {
					of[b] = max(of[b], n-m, m-n)
				}
			}
		}
		for a := range p.chains {
			for b := range a {
				n := float64(max(largest[a*p.chains+b], largest[b*p.chains+a]))
				totals[a] += n
				totals[b] += n
			}
		}
	}
	for a := range totals {
		totals[a] /= float64(p.samples * (p.chains - 1) * len(p.order))
	}
	return totals
}
