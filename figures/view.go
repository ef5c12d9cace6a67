package figures

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
)

// point is the mean of the cells at one step size, one per split (or seed).
type point struct {
	h        float64
	mean, sd float64 // over the cells there are; sd is NaN for fewer than two
	expected int
	have     int
	diverged int
	results  []bench.Result
}

// known reports whether there is anything to draw.
func (s point) known() bool { return s.have > 0 }

// low and high are the ends of the error band: one standard deviation around
// the mean, within the range of a distance.
func (s point) low() float64 { return max(0, s.mean-spread(s)) }

func (s point) high() float64 { return min(1, s.mean+spread(s)) }

// spread is 0 where one cell has none.
func spread(s point) float64 {
	if math.IsNaN(s.sd) {
		return 0
	}
	return s.sd
}

// line is one method over the step sizes of a block.
type line struct {
	name   string
	cell   bench.Cell // one of its cells, for what they share
	points []point    // by ascending h; one for every h that was asked for
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
func newSweep(jobs []bench.Job, get bench.Getter, name func(bench.Cell) string) *sweep {
	s := &sweep{}
	groups := make(map[[2]any][]bench.Job)
	for _, j := range jobs {
		c := j.Cell
		s.datasets = appendNew(s.datasets, c.Dataset)
		s.batches = appendNew(s.batches, c.BatchSize)
		s.names = appendNew(s.names, name(c))
		s.steps = appendNew(s.steps, c.Step)
		g := [2]any{c.Dataset, c.BatchSize}
		groups[g] = append(groups[g], j)
	}
	slices.Sort(s.steps)
	slices.SortFunc(s.batches, func(a, b int) int { return cmp.Compare(ascending(a), ascending(b)) })
	for _, d := range s.datasets {
		for _, b := range s.batches {
			if jobs := groups[[2]any{d, b}]; len(jobs) > 0 {
				s.blocks = append(s.blocks, newBlock(jobs, get, s.names, name))
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

// appendNew appends what is not there yet, so that lists keep the order of the
// cells.
func appendNew[T comparable](s []T, x T) []T {
	if slices.Contains(s, x) {
		return s
	}
	return append(s, x)
}

// newBlock has a line per name that occurs in it, a point per step that was
// asked for: what is missing is a point without results.
func newBlock(jobs []bench.Job, get bench.Getter, names []string, name func(bench.Cell) string) block {
	first := jobs[0].Cell
	b := block{dataset: first.Dataset, batch: first.BatchSize, k: first.Batches}
	type place struct {
		name string
		step float64
	}
	var steps []float64
	at := make(map[place][]bench.Job)
	for _, j := range jobs {
		steps = appendNew(steps, j.Cell.Step)
		p := place{name(j.Cell), j.Cell.Step}
		at[p] = append(at[p], j)
	}
	slices.Sort(steps)
	var results []bench.Result
	for _, n := range names {
		l := line{name: n}
		for _, h := range steps {
			if jobs := at[place{n, h}]; len(jobs) > 0 {
				pt := newPoint(h, jobs, get)
				l.cell, l.points = jobs[0].Cell, append(l.points, pt)
				results = append(results, pt.results...)
			}
		}
		if len(l.points) > 0 {
			b.lines = append(b.lines, l)
		}
	}
	b.self = selfBand(results)
	return b
}

// newPoint takes the mean over what there is of the jobs.
func newPoint(h float64, jobs []bench.Job, get bench.Getter) point {
	s := point{h: h, expected: len(jobs)}
	var distances []float64
	for _, j := range jobs {
		r, ok := get(j.Key)
		if !ok {
			continue
		}
		s.have++
		if r.Diverged {
			s.diverged++
		}
		distances = append(distances, r.KS)
		s.results = append(s.results, r)
	}
	s.mean, s.sd = stat.MeanStdDev(distances, nil)
	return s
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
	return band{stat.Mean(mean, nil), stat.Mean(low, nil), stat.Mean(high, nil), len(seen) > 0}
}

// each calls f with every point, the block and the line that it is of.
func (s *sweep) each(f func(block, line, point)) {
	for _, b := range s.blocks {
		for _, l := range b.lines {
			for _, p := range l.points {
				f(b, l, p)
			}
		}
	}
}

// diverged reports whether any cell did.
func (s *sweep) diverged() bool { return s.count(func(p point) bool { return p.diverged > 0 }) > 0 }

// count counts the points for which is is true.
func (s *sweep) count(is func(point) bool) int {
	n := 0
	s.each(func(_ block, _ line, p point) {
		if is(p) {
			n++
		}
	})
	return n
}

// splits is the largest number of cells per point.
func (s *sweep) splits() int {
	n := 0
	s.each(func(_ block, _ line, p point) { n = max(n, p.expected) })
	return n
}
