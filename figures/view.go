package figures

import (
	"cmp"
	"math"
	"slices"

	"hambench/bench"
)

// stat is the mean of the cells of one point, one per split (or seed).
type stat struct {
	h        float64
	mean, sd float64 // over the cells there are; sd is NaN for fewer than two
	expected int
	have     int
	diverged int
}

// known reports whether there is anything to draw.
func (s stat) known() bool { return s.have > 0 }

// low and high are the ends of the error band: one standard deviation around
// the mean, within the range of a distance.
func (s stat) low() float64 { return max(0, s.mean-spread(s)) }

func (s stat) high() float64 { return min(1, s.mean+spread(s)) }

func spread(s stat) float64 {
	if math.IsNaN(s.sd) {
		return 0
	}
	return s.sd
}

// line is one method over the step sizes of a block.
type line struct {
	name  string
	cell  bench.Cell // one of its cells, for what they share
	stats []stat     // by ascending h; one for every h that was asked for
}

// block is what one panel of a sweep shows: a data set at a batch size.
type block struct {
	dataset string
	batch   int
	k       int
	lines   []line
	self    band
}

// band is the self-distance: a mean with its 5 and 95 % quantiles. It is
// unknown without results.
type band struct {
	mean, low, high float64
	known           bool
}

// sweep is a grid of blocks.
type sweep struct {
	datasets []string
	batches  []int // ascending, bench.Full last
	names    []string
	blocks   []block
	steps    []float64 // of all blocks, ascending
}

// newSweep groups cells, and the results that get has of them, by data set,
// batch size, and the name that lines go by. The orders of the data sets and
// the names are those of the cells.
func newSweep(cells []bench.Cell, get Getter, name func(bench.Cell) string) *sweep {
	s := &sweep{}
	groups := make(map[[2]any][]bench.Cell)
	for _, c := range cells {
		s.datasets = appendNew(s.datasets, c.Dataset)
		s.batches = appendNew(s.batches, c.BatchSize())
		s.names = appendNew(s.names, name(c))
		s.steps = appendNew(s.steps, c.Step)
		g := [2]any{c.Dataset, c.BatchSize()}
		groups[g] = append(groups[g], c)
	}
	slices.Sort(s.steps)
	slices.SortFunc(s.batches, func(a, b int) int { return cmp.Compare(ascending(a), ascending(b)) })
	for _, d := range s.datasets {
		for _, b := range s.batches {
			if cells := groups[[2]any{d, b}]; len(cells) > 0 {
				s.blocks = append(s.blocks, newBlock(cells, get, s.names, name))
			}
		}
	}
	return s
}

// ascending sorts the full batch behind all batch sizes.
func ascending(batch int) int {
	if batch == bench.Full {
		return math.MaxInt
	}
	return batch
}

func appendNew[T comparable](s []T, x T) []T {
	if slices.Contains(s, x) {
		return s
	}
	return append(s, x)
}

func newBlock(cells []bench.Cell, get Getter, names []string, name func(bench.Cell) string) block {
	b := block{dataset: cells[0].Dataset, batch: cells[0].BatchSize(), k: cells[0].Batches}
	var steps []float64
	for _, c := range cells {
		steps = appendNew(steps, c.Step)
	}
	slices.Sort(steps)
	var results []bench.Result
	for _, n := range names {
		l := line{name: n}
		for _, h := range steps {
			point := slices.DeleteFunc(slices.Clone(cells), func(c bench.Cell) bool { return c.Step != h || name(c) != n })
			if len(point) == 0 {
				continue
			}
			l.cell = point[0]
			st, rs := newStat(h, point, get)
			l.stats = append(l.stats, st)
			results = append(results, rs...)
		}
		if len(l.stats) > 0 {
			b.lines = append(b.lines, l)
		}
	}
	b.self = selfBand(results)
	return b
}

func newStat(h float64, cells []bench.Cell, get Getter) (stat, []bench.Result) {
	s := stat{h: h, expected: len(cells)}
	var results []bench.Result
	var distances []float64
	for _, c := range cells {
		r, ok := get(c.Key())
		if !ok {
			continue
		}
		s.have++
		if r.Diverged {
			s.diverged++
		}
		distances = append(distances, r.KS)
		results = append(results, r)
	}
	s.mean, s.sd = meanSD(distances)
	return s, results
}

// meanSD returns the mean, NaN of nothing, and the standard deviation (with
// n − 1), NaN of fewer than two.
func meanSD(x []float64) (mean, sd float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return mean, math.NaN()
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(x)-1))
}

// selfBand is the mean self-distance over the splits. All results of a split
// (or seed) carry the same one: each split counts once.
func selfBand(results []bench.Result) band {
	type split struct {
		index int
		seed  uint64
	}
	var seen []split
	var mean, low, high []float64
	for _, r := range results {
		at := split{r.Cell.Split, r.Cell.Seed}
		if slices.Contains(seen, at) {
			continue
		}
		seen = append(seen, at)
		mean, low, high = append(mean, r.KSSelf), append(low, r.KSSelfLow), append(high, r.KSSelfHigh)
	}
	b := band{known: len(seen) > 0}
	b.mean, _ = meanSD(mean)
	b.low, _ = meanSD(low)
	b.high, _ = meanSD(high)
	return b
}

// diverged reports whether any cell did.
func (s *sweep) diverged() bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool {
		return slices.ContainsFunc(b.lines, func(l line) bool {
			return slices.ContainsFunc(l.stats, func(st stat) bool { return st.diverged > 0 })
		})
	})
}

// splits is the largest number of cells per point.
func (s *sweep) splits() int {
	n := 0
	for _, b := range s.blocks {
		for _, l := range b.lines {
			for _, st := range l.stats {
				n = max(n, st.expected)
			}
		}
	}
	return n
}

// find returns the block of a data set and batch size.
func (s *sweep) find(dataset string, batch int) (block, bool) {
	i := slices.IndexFunc(s.blocks, func(b block) bool { return b.dataset == dataset && b.batch == batch })
	if i < 0 {
		return block{}, false
	}
	return s.blocks[i], true
}
