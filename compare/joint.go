package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// tests knows how many tests of a report share its level. Bonferroni's bound is used throughout:
// the tests of a report depend on each other in ways that differ from law to law.
type tests struct {
	columns int // that are compared
	// kinds of tests share Level equally: location, scale and shape of columns; with two
	// columns or more also correlations and directions.
	kinds  float64
	pinned bool // the reference is (see Side.Pinned)
}

// newTests returns those of a report on so many columns.
func newTests(columns int) tests {
	t := tests{columns: columns, kinds: 3}
	if t.columns > 1 {
		t.kinds = 5
	}
	return t
}

// level is that of each of n tests of a kind.
func (t tests) level(n int) float64 { return Level / t.kinds / float64(n) }

// adjusted is the P of a test of which there are n of its kind: at most Level exactly if its own
// p is at most the level of each.
func (t tests) adjusted(d difference, n int) float64 {
	return min(1, d.p()*t.kinds*float64(n))
}

// of returns a test with its interval.
func (t tests) of(d difference, n int) Test {
	w := d.width(t.level(n))
	return Test{d.value, d.value - w, d.value + w, t.adjusted(d, n)}
}

// scale returns a test of |z| as one of the ratio of deviations. If the draws' normal scores are
// (1 + ε) times as wide as the reference's, the means of |z| differ by ε of that mean, to first
// order: so value/mean estimates the logarithm of the ratio, whose interval is mapped back by
// exp, which keeps its ends above 0.
func (t tests) scale(d difference, n int) Test {
	w, ratio := d.width(t.level(n))/d.mean, math.Exp(d.value/d.mean)
	high := min(ratio*math.Exp(w), math.MaxFloat64) // few degrees of freedom have no upper end
	return Test{ratio, ratio * math.Exp(-w), high, t.adjusted(d, n)}
}

// shape returns a test of distribution functions, which differ by at most 1.
func (t tests) shape(d difference, n int) Test {
	x := t.of(d, n)
	x.Low, x.High = max(x.Low, -1), min(x.High, 1)
	return x
}

// column compares one column, and returns its normal scores, too.
func (t tests) column(name string, p pooled) (c Column, z []float64) {
	s := scoresOf(p, limits{})
	// farthest takes the share of the reference's draws that are independent: the fewer there are,
	// the less is known of the reference's tail.
	c = Column{
		Name: name, ReferenceEffective: s.location.ref.size, Effective: s.location.own.size,
		location: s.location, scale: s.scale, coarse: s.coarse,
		stray:    p.farthest(s.location.ref.size / float64(p.split)),
		Location: t.of(s.location, t.columns), Scale: t.scale(s.scale, t.columns),
	}
	c.P = min(c.Location.P, c.Scale.P)
	// |z| is about the centre of all draws: those of a shifted side are larger.
	if c.Location.P <= Level {
		c.Scale = Test{}
	}
	c.ReferenceMean, c.ReferenceSD = meanSD(p.x[:p.split])
	c.Mean, c.SD = meanSD(p.x[p.split:])
	c.rounding = p.rounding(min(c.ReferenceSD, c.SD), s.z)
	n := t.columns * (cuts - 1) // tests of shape, at every cut of every column
	for k, d := range s.shape {
		c.Curve = append(c.Curve, Point{s.at[k], s.share[k], d.value, min(d.width(t.level(n)), 1)})
	}
	if len(s.shape) > 0 {
		c.Shape = t.shape(s.shape[worstOf(s.shape)], n)
		c.P = min(c.P, c.Shape.P)
	}
	return c, s.z
}

// meanSD returns the mean and the standard deviation, of draws that have diverged or are tiny,
// too: their squares are beyond all numbers, or 0.
func meanSD(x []float64) (mean, sd float64) {
	most := floats.Norm(x, math.Inf(1))
	if most == 0 || most > 1e-150 && most < 1e150 {
		return stat.MeanStdDev(x, nil)
	}
	x = slices.Clone(x)
	for i := range x {
		x[i] /= most
	}
	mean, sd = stat.MeanStdDev(x, nil)
	return mean * most, min(sd*most, math.MaxFloat64)
}

// worstOf returns the place of the smallest p.
func worstOf(all []difference) (worst int) {
	least := all[0].p()
	for k, d := range all {
		if p := d.p(); p < least {
			worst, least = k, p
		}
	}
	return worst
}

// The joint tests: correlations of all pairs of up to wholeColumns columns, of neighbours
// where there are more; as many principal axes, or none; random directions. For axes either side
// has perAxis effective draws for each column: of fewer, the axes of small variance are
// those along which the one side's draws happen to vary less than the other's.
const (
	wholeColumns     = 100
	perAxis          = 10
	randomDirections = 16
)

// What varies little more than by rounding is not compared: neither the correlation of columns that
// nearly always go together, nor an axis along which draws hardly vary.
const (
	// roundOff is the deviation, in units of the columns', below which a direction is taken not to
	// vary.
	roundOff = 1e-9
	// aboveRounding is how many times the variance of a combination of columns is to be what
	// rounding adds to that of one side. At that many, it makes the deviation 0.5 % larger.
	aboveRounding = 100
)

// rounding is the variance that a coarser rounding of one side's values adds, in units of the
// square of a deviation: that of float32, or of six digits, beside double precision, or that of the
// scores z of draws that repeat the one before. Where both sides are whole numbers, or rounded
// alike, that is 0. It counts as so much at most that correlations below 0.9 are compared however
// coarse a side is, which its column's shape shows.
func (p pooled) rounding(sd float64, z []float64) float64 {
	const least, most = roundOff * roundOff / aboveRounding, 0.1 / aboveRounding
	if sd == 0 {
		return least
	}
	ref, own := spacing(p.x[:p.split])/sd, spacing(p.x[p.split:])/sd
	coarser := max(math.Abs(ref*ref-own*own)/12, least)
	ref, own = p.ties(z, 0, p.split), p.ties(z, p.split, len(z))
	if high := max(ref, own); high > 2*min(ref, own) { // else sides repeat alike
		coarser = max(coarser, high)
	}
	return min(coarser, most)
}

// ties is the mean variance of the scores within the ranks that draws from one place to another
// take which are equal to the one before or after: a rejected proposal's have one rank, in which
// those of a column that moved meanwhile differ.
func (p pooled) ties(z []float64, from, to int) (sum float64) {
	n := float64(len(z))
	for first := from; first < to; {
		last := first + 1
		for last < to && p.x[last] == p.x[first] {
			last++
		}
		if run := float64(last - first); run > 1 {
			// Ranks that are run/n wide are so wide in scores, by the normal density.
			width := run / n / distuv.UnitNormal.Prob(z[first])
			sum += run * width * width / 12
		}
		first = last
	}
	return sum / float64(to-from)
}

// spacing is the smallest distance between two values, of that half of them which is farther from
// 0, where numbers of so many digits are farther apart; if these are equal, of the largest two. It
// is 0 if all are as far from 0.
func spacing(x []float64) float64 {
	sizes := make([]float64, len(x))
	for i, v := range x {
		sizes[i] = math.Abs(v)
	}
	slices.Sort(sizes)
	var least float64
	for i := len(sizes) - 1; i > 0 && (i > len(sizes)/2 || least == 0); i-- {
		if d := sizes[i] - sizes[i-1]; d > 0 && (d < least || least == 0) {
			least = d
		}
	}
	return least
}

// joint tests what single columns, with the normal scores z, do not show; p is any column's, of
// which only the chains are used. It returns the worst correlation and the worst direction, those
// that are compared, and all correlations for the power. Directions mix columns: their windows are
// at least as long as that of the median column. They leave out those of an effective size below
// minMedian, which do not show how slow they are, and would refuse right draws by a part of each
// direction.
func (t tests) joint(p pooled, z [][]float64, columns []Column) (worst []Joint,
	pairs []difference) {
	var ofRef, ofOwn []int
	var mixed []Column
	var scores [][]float64 // of those that are mixed
	for j, c := range columns {
		ofRef, ofOwn = append(ofRef, c.location.ref.lag), append(ofOwn, c.location.own.lag)
		if c.smallest() >= minMedian {
			mixed, scores = append(mixed, c), append(scores, z[j])
		}
	}
	correlation, pairs := t.correlations(p, z, columns)
	typical := pairs
	if some := compared(pairs); len(some) > 0 {
		worst, typical = append(worst, correlation), some
	}
	if len(mixed) < 2 {
		return worst, pairs
	}
	slices.Sort(ofRef)
	slices.Sort(ofOwn)
	slow := limits{limit{lag: ofRef[len(ofRef)/2]}, limit{lag: ofOwn[len(ofOwn)/2]}}
	return append(worst, t.directions(p, scores, mixed, median(typical), slow)), pairs
}

// compared returns the pairs whose correlations are compared: the scores of others are all 0.
func compared(pairs []difference) []difference {
	return slices.DeleteFunc(slices.Clone(pairs), func(d difference) bool { return d.error == 0 })
}

// correlations compares the correlations of two columns' normal scores: of all pairs or, with
// more than wholeColumns columns, of each column with the next few, so that the number of pairs
// stays near that of wholeColumns columns. It returns the worst and all, in the order of pairs.
// A pair of columns forgets about as fast as the faster of them, so that this one's window
// is the shortest that a pair may have. Two columns below minMedian do not show how slow they are,
// and so their pair does not: it is not compared.
func (t tests) correlations(p pooled, z [][]float64, columns []Column) (
	Joint, []difference) {
	reach := t.columns - 1
	if t.columns > wholeColumns {
		reach = max(1, wholeColumns*wholeColumns/2/t.columns)
	}
	type pair struct{ a, b int }
	var pairs []pair
	var first []int // of a column's pairs
	for a := range z {
		first = append(first, len(pairs))
		for b := a + 1; b < min(len(z), a+1+reach); b++ {
			pairs = append(pairs, pair{a, b})
		}
	}
	centres, scales := make([][2]float64, len(z)), make([][2]float64, len(z))
	for j, x := range z {
		for side, of := range [][]float64{x[:p.split], x[p.split:]} {
			centres[j][side], scales[j][side] = stat.PopMeanStdDev(of, nil)
		}
	}
	all := make([]difference, len(pairs))
	each(len(z)-1, func(a int) { // one column's pairs, which share one buffer of scores
		products := p.like(make([]float64, len(p.x)))
		for k := first[a]; k < first[a+1]; k++ {
			b := pairs[k].b
			rounding := (columns[a].rounding + columns[b].rounding) / 2
			p.correlated(products.x, [2][]float64{z[a], z[b]}, rounding,
				[2][2]float64{centres[a], centres[b]}, [2][2]float64{scales[a], scales[b]})
			if max(columns[a].smallest(), columns[b].smallest()) < minMedian {
				clear(products.x)
			}
			of, in := columns[a].location.lags(), columns[b].location.lags()
			all[k] = products.compare(limits{limit{lag: min(of.ref.lag, in.ref.lag)},
				limit{lag: min(of.own.lag, in.own.lag)}})
		}
	})
	w := worstOf(all)
	if all[w].error == 0 { // every P is 1: one that is compared, if there is one
		w = max(0, slices.IndexFunc(all, func(d difference) bool { return d.error > 0 }))
	}
	worst := t.of(all[w], len(pairs))
	worst.Low, worst.High = max(worst.Low, -2), min(worst.High, 2) // as correlations allow
	return Joint{"correlation", columns[pairs[w].a].Name + ", " + columns[pairs[w].b].Name, worst,
		len(pairs)}, all
}

// correlated stores the scores of a pair of columns, whose means and deviations it takes by column
// and side: with both columns in units of their own side's deviation about its own mean, u and v,
// the scores uv − ρ(u² + v²)/2, where ρ is the mean of all uv. Their mean is the side's correlation
// less ρ, and their variance that of the estimated correlation, to first order: so shifts and
// deviations of single columns are no differences. Where one does not vary on a side, or both go
// together as far as rounding lets them, there is nothing to compare: the scores are 0.
func (p pooled) correlated(scores []float64, z [2][]float64, rounding float64,
	centres, scales [2][2]float64) {
	clear(scores)
	if min(scales[0][0], scales[0][1], scales[1][0], scales[1][1]) == 0 {
		return
	}
	// store stores the scores for a ρ.
	store := func(rho float64) {
		from := 0
		for side, to := range []int{p.split, len(scores)} {
			a, perA := centres[0][side], 1/scales[0][side]
			b, perB := centres[1][side], 1/scales[1][side]
			x, y := z[0][from:to], z[1][from:to]
			for i := range x {
				u, v := (x[i]-a)*perA, (y[i]-b)*perB
				scores[from+i] = u*v - rho*(u*u+v*v)/2
			}
			from = to
		}
	}
	store(0)
	rho := stat.Mean(scores, nil)
	if 1-math.Abs(rho) < max(roundOff, aboveRounding*rounding) {
		clear(scores)
		return
	}
	store(rho)
}

// directions compares the laws of linear combinations of the whitened columns, and that of the
// distance from their centre: each in scale and shape. Whitening uses both sides, in
// proportion to the effective sizes of products, so that it suits neither better.
func (t tests) directions(p pooled, z [][]float64, columns []Column, products difference,
	slow limits) Joint {
	var names []string
	var all [][]float64
	least := min(products.own.size, products.ref.size)
	if len(z) <= wholeColumns && float64(perAxis*len(z)) <= least {
		for k, x := range whitened(p, z, columns, products.own.size, products.ref.size) {
			if x != nil {
				names, all = append(names, fmt.Sprintf("principal axis %d", k+1)), append(all, x)
			}
		}
		z = slices.Clone(all)
	}
	radius := make([]float64, len(p.x))
	for _, x := range z {
		for i, v := range x {
			radius[i] += v * v
		}
	}
	names, all = append(names, "radius"), append(all, radius)
	// Of a linear combination only the law matters, not its size: weights are not normalised.
	rng := rand.New(rand.NewPCG(1, 0)) // pinned: a report is the same at every call
	for k := range randomDirections {
		sum := make([]float64, len(p.x))
		for _, x := range z {
			w := rng.NormFloat64()
			for i, v := range x {
				sum[i] += w * v
			}
		}
		names, all = append(names, fmt.Sprintf("random direction %d", k+1)), append(all, sum)
	}
	// In the distance from a centre that all draws are equally far from nothing varies but
	// round-off, and along columns that always go together, if there are too few draws for axes.
	// A random direction always varies.
	var kept int
	for k, x := range all {
		if mean, sd := stat.PopMeanStdDev(x, nil); sd > roundOff*max(1, math.Abs(mean)) {
			names[kept], all[kept] = names[k], x
			kept++
		}
	}
	names, all = names[:kept], all[:kept]
	n := len(all) * cuts // scale, and a test at each of cuts − 1 values
	found := make([]Joint, len(all))
	each(len(all), func(k int) {
		s := scoresOf(p.like(all[k]), slow)
		j := Joint{"direction", names[k] + ", deviation", t.scale(s.scale, n), n}
		if len(s.shape) > 0 {
			d := s.shape[worstOf(s.shape)]
			if shape := t.shape(d, n); shape.P < j.P || shape.P == j.P && d.p() < s.scale.p() {
				j = Joint{"direction", names[k] + ", distribution function", shape, n}
			}
		}
		found[k] = j
	})
	// Not by slices.MinFunc, to which NaN is the smallest.
	worst := found[0]
	for _, j := range found {
		if j.P < worst.P {
			worst = j
		}
	}
	return worst
}

// whitened returns the coordinates of z along the principal axes of the pooled covariance,
// in units of their deviations. The covariance has a share of the identity added that
// falls with the number of effective draws. Axes along which little varies but what rounding adds
// are nil, but for the one along which most does.
func whitened(p pooled, z [][]float64, columns []Column, own, ref float64) [][]float64 {
	n := len(z)
	weight := make([]float64, len(p.x))
	// A side's draws together weigh as much as its effective size.
	for i := range weight {
		if i < p.split {
			weight[i] = ref / float64(p.split)
		} else {
			weight[i] = own / float64(len(p.x)-p.split)
		}
	}
	total := own + ref
	// Row j is the scores of column j, each times the root of its draw's share of all weight: the
	// matrix times its transpose is the weighted second moments.
	data := mat.NewDense(n, len(p.x), nil)
	for j, x := range z {
		row := data.RawRowView(j)
		for i, v := range x {
			row[i] = v * math.Sqrt(weight[i]/total)
		}
	}
	var c mat.SymDense
	c.SymOuterK(1, data)
	for j := range n {
		c.SetSym(j, j, c.At(j, j)+float64(n)/total/10)
	}
	var e mat.EigenSym
	e.Factorize(&c, true) // of a matrix that is finite and positive definite by its ridge
	var axes mat.Dense
	e.VectorsTo(&axes)
	values := e.Values(nil)
	out := make([][]float64, n)
	each(n, func(k int) {
		along := make([]float64, len(p.x))
		var rounding float64
		for j, x := range z {
			w := axes.At(j, k) / math.Sqrt(values[k])
			rounding += w * w * columns[j].rounding
			for i, v := range x {
				along[i] += w * v
			}
		}
		// Values of the covariance ascend.
		if k == n-1 || stat.PopVariance(along, nil) > aboveRounding*rounding {
			out[k] = along
		}
	})
	return out
}
