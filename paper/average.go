package paper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/internal/distinct"
)

// fewest is how many replicates an interval needs: with fewer, Student's quantile is so
// large that an interval would say little, and would rest on the normal law alone.
const fewest = 4

// replicateNames are columns whose values are replicates, and what these are called: data
// sets, or the splits or seeds of the only one.
var replicateNames = [][2]string{{"dataset", "data sets"}, {"split", "splits"}, {"seed", "seeds"}}

// over settles what an interval of numbers of these rows is over, unless the case says
// so: the first of the columns in which they differ. It states the replicates in every
// summary, so that an interval over seeds is not taken for one over data sets.
func (x *evaluation) over(rows *table.Table) {
	for _, by := range replicateNames {
		if x.Replicates == "" && rows.Varies(by[0]) {
			x.Replicates = by[0]
		}
	}
	x.Replicates = cmp.Or(x.Replicates, "dataset")
}

// overAll is over of the rows that count or, of users' claims, of all that were selected: sets of
// which every chain diverged are replicates that are missing, and do not make seeds of the only
// set that is left stand for them.
func (x *evaluation) overAll(left *table.Table) {
	if x.users() {
		left = x.selected
	}
	x.over(left)
}

// replicates is what the values of the column are called.
func (x *evaluation) replicates() string {
	i := slices.IndexFunc(replicateNames, func(by [2]string) bool { return by[0] == x.Replicates })
	return replicateNames[i][1]
}

// replicate is what was added of a replicate, all of which counts as one number, the mean.
type replicate struct {
	numbers []float64
	// shifts are by how much the sum of the numbers moves if the distances to a reference
	// move by the reference's own error, by reference.
	shifts map[string]float64
}

// add adds a number of a row's replicate, and how much it moves for each unit by which the
// distances to the row's reference move: all those to one reference together.
func (x *evaluation) add(r table.Row, v, perDistance float64) {
	name := r.Get(x.Replicates).String()
	if x.values[name] == nil {
		x.values[name] = &replicate{shifts: make(map[string]float64)}
	}
	of := x.values[name]
	of.numbers = append(of.numbers, v)
	if own := r.Number("reference_error"); own > 0 {
		of.shifts[r.Text("oracle")] += perDistance * own
	}
}

// replicateMeans are the means of the numbers of each replicate, in the order of their
// names.
func (x *evaluation) replicateMeans() (means []float64) {
	for _, name := range slices.Sorted(maps.Keys(x.values)) {
		means = append(means, stat.Mean(x.values[name].numbers, nil))
	}
	return means
}

// referenceVariance is the variance of the mean over replicates by the references' own
// errors, which are taken for standard deviations, independent between references.
func (x *evaluation) referenceVariance() (sum float64) {
	// With R replicates, of n_i numbers each, the mean moves by Σ_i s_ij/(n_i R) if the distances
	// to reference j move by its error, s_ij being the shift of replicate i. The variance is the
	// sum of the squares over the references.
	moved := make(map[string]float64)
	for _, name := range slices.Sorted(maps.Keys(x.values)) { // sums in one order
		of := x.values[name]
		for reference, shift := range of.shifts {
			moved[reference] += shift / float64(len(of.numbers)*len(x.values))
		}
	}
	for _, reference := range slices.Sorted(maps.Keys(moved)) {
		sum += moved[reference] * moved[reference]
	}
	return sum
}

// interval decides by Student's interval of the mean over replicates, whose degrees of
// freedom are one less than there are replicates. A share that is the same on all of them,
// or that each of them has of one chain, has the interval of a binomial law instead.
func (x *evaluation) interval() Finding {
	means := x.replicateMeans()
	mean, half := MeanInterval(means, x.referenceVariance(), x.Level)
	e := estimate{value: mean, low: mean - half, high: mean + half}
	shares := x.Statistic == bench.ShareStatistic || x.Statistic == worseStatistic
	logarithms := indicator(x.Statistic == bench.LogRatioStatistic)
	switch {
	case shares && (half == 0 || x.yesOrNo()): // scatter says little here
		e.low, e.high = x.binomial(mean)
	case x.users() && half <= roundOff*max(math.Abs(mean), logarithms):
		e.open = sameNumber
	}
	return x.decideMean(e, means)
}

// sameNumber is why a user's claim has no interval where replicates do not differ: numbers that are
// rounded or counted, or chains that the compared setting does not change, may be equal by chance
// or by construction, and then say nothing of how far others would be. Built-in claims know what
// they count.
const sameNumber = "all replicates have one number, and so no scatter that an interval could be of"

// roundOff is the width of an interval, as a share of its number, that rounding may leave where all
// replicates have one (Fieller's ends differ by a root of it); of logarithms, of which 0 is as good
// a number as any, it is the width itself.
const roundOff = 1e-7

// yesOrNo reports whether each replicate has one chain, which counts as 0 or 1.
func (x *evaluation) yesOrNo() bool {
	for _, of := range x.values {
		if len(of.numbers) != 1 || of.numbers[0] != 0 && of.numbers[0] != 1 {
			return false
		}
	}
	return true
}

// decideMean decides by an interval, and lists the means of the replicates with how many
// numbers each is of. The interval is of numbers as they were averaged; the scale makes
// them numbers as people read them, such as a ratio of its logarithm.
func (x *evaluation) decideMean(e estimate, means []float64) (f Finding) {
	// Every scale is monotone: the ends of an interval become its ends.
	e.value, e.low, e.high = x.scale(e.value), x.scale(e.low), x.scale(e.high)
	n, over := len(means), x.replicates()
	// The names are those of means, in the same order.
	for i, name := range slices.Sorted(maps.Keys(x.values)) {
		name = fmt.Sprintf("%s, %s (%d)", x.what, name, len(x.values[name].numbers))
		f.note(name, x.scale(means[i]), x.format(x.scale(means[i])))
	}
	f.Verdict = NotDecided
	switch value := x.format(e.value) + x.Unit; {
	case n == 0:
		f.Summary = x.nothing().Summary
	case n < fewest:
		f.Summary = fmt.Sprintf("%s on %d %s: want %d or more", value, n, over, fewest)
		switch study := x.study(); {
		case slices.Contains(bench.Later(), study):
			f.Summary += "; run hambench run " + study
		case len(x.Where["study"]) > 0:
			f.Summary += "; run " + reproduceMore + study
		}
	case e.open != "" && e.value != e.value: // 0/0
		f.Summary = e.open
	case e.open != "":
		f.Summary = value + ": " + e.open
	default:
		name := fmt.Sprintf("%g %% interval over %s, ", 100*x.Level, over)
		f.note(name+"low", e.low, x.format(e.low))
		f.note(name+"high", e.high, x.format(e.high))
		f.Summary = fmt.Sprintf("%s, in [%s, %s], %d %s",
			value, x.format(e.low), x.format(e.high), n, over)
		f.Verdict = x.verdict(e)
	}
	return f
}

// MeanInterval returns the mean of x, and half of Student's interval at a level for the mean of
// the law that x was drawn from: infinite of fewer than two values. The variance of the
// mean by what all values may share is added to that by their scatter.
func MeanInterval(x []float64, shared, level float64) (mean, half float64) {
	mean, variance := stat.MeanVariance(x, nil)
	if len(x) < 2 {
		return mean, math.Inf(1)
	}
	return mean, quantile(1-level, len(x)-1) * math.Sqrt(variance/float64(len(x))+shared)
}

// quantile is what Student's law with some degrees of freedom exceeds in size with a
// probability.
func quantile(probability float64, freedom int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(1 - probability/2)
}

// binomial is the interval of Clopper and Pearson for a share that is the same on all
// replicates, where Student's has no width, or of one chain on each, where Student's is too narrow.
// A share of 0 or 1 counts each replicate once: chains on one data set share what made them alike.
func (x *evaluation) binomial(share float64) (low, high float64) {
	n, tail := float64(len(x.values)), (1-x.Level)/2
	if share > 0 && share < 1 {
		n = 0
		for _, of := range x.values {
			n += float64(len(of.numbers))
		}
	}
	k := math.Round(share * n)
	// Of no case, or of all, the end that the share is at is 0 or 1 itself: a Beta law with a
	// parameter 0 has no quantile.
	if low, high = 0, 1; k > 0 {
		low = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(1 - tail)
	}
	return low, high
}

// asShare is the scale of shares, whose intervals end at 0 and 1.
func asShare(x float64) float64 { return min(max(x, 0), 1) }

// means decides by the mean over replicates of a number, a share, or a difference from a
// published number, in units of the published deviation. Chains that diverged are left out
// of all but shares, which may be of them, and counted.
func (x *evaluation) means() Finding {
	if x.exact() {
		return x.numbers()
	}
	rows := x.selected
	switch x.Statistic {
	case bench.ShareStatistic:
		x.scale = asShare
	case bench.DistanceStatistic:
		if rows.Varies("dataset") {
			return undecided("rows of more than one data set: a published number is of one")
		}
		fallthrough
	default:
		rows = x.finite(rows)
	}
	x.overAll(rows)
	for _, r := range rows.Rows() {
		x.add(r, x.shifted(r), x.ofDistance()/unitOf(x.DataClaim))
	}
	return x.interval()
}

// finite leaves out the rows of chains that diverged, which have no accuracy, and counts
// them as statements about stability.
func (x *evaluation) finite(rows *table.Table) *table.Table {
	left := rows.Filter(func(r table.Row) bool { return !diverged(r) })
	if n := rows.Len() - left.Len(); n > 0 {
		x.count("chains that diverged, left out", n)
	}
	return left
}

// fewestSteps is how many steps a slope needs: two have a slope whatever the law is.
const fewestSteps = 3

// slopes takes the slope of the logarithm over that of the step, of the chains that differ
// in their step alone. Numbers that are not above 0, such as an excess that chance made
// negative, have no logarithm and are left out.
func (x *evaluation) slopes() Finding {
	rows := x.finite(x.selected)
	x.overAll(rows)
	var dim []float64 // steps at which a number is not told from 0
	// Chains that differ in their seed are averaged, unless seeds are the replicates.
	lines := rows.GroupBy(x.ofLines(rows)...)
	x.lines = len(lines)
	for _, line := range lines {
		// If a distance v moves by d, its logarithm moves by d/v: the slope then moves by d times
		// that of 1/v.
		var h, y, inverse []float64
		for _, at := range line.GroupBy("h") {
			v := x.mean(at.Table)
			if x.users() && v <= aboveChance*x.chance(at.Table) {
				dim = distinct.Append(dim, at.Get("h").Number())
			}
			if v > 0 {
				h, y = append(h, math.Log(at.Get("h").Number())), append(y, math.Log(v))
				inverse = append(inverse, 1/v)
			}
		}
		if len(h) < fewestSteps {
			x.short++
			continue
		}
		_, slope := stat.LinearRegression(h, y, nil, false)
		_, moved := stat.LinearRegression(h, inverse, nil, false)
		x.add(line.Rows()[0], slope, x.ofDistance()*moved)
	}
	if len(x.values) == 0 {
		const why = "no line has %d steps or more with a number above 0"
		return undecided(fmt.Sprintf(why, fewestSteps))
	}
	f := x.interval()
	if len(dim) > 0 && f.Verdict != NotDecided {
		f.Verdict = NotDecided
		f.Summary += fmt.Sprintf(": on some line the number at %d steps, the largest of them "+
			"%.4g, is not told from 0, and those that happen to be positive there flatten the "+
			"slope: select larger steps", len(dim), slices.Max(dim))
	}
	return f
}

// ofLines are the columns that tell lines of steps apart. Thinning and burn-in follow from the step
// by default, so that they tell users' chains apart only where they differ at one step.
func (x *evaluation) ofLines(rows *table.Table) []string {
	columns := append([]string{"split", x.Replicates}, x.apart()...)
	var follow []string
	columns = slices.DeleteFunc(columns, func(c string) bool {
		follows := c == "thin" || c == "burn_in"
		if follows {
			follow = append(follow, c)
		}
		return follows
	})
	at := rows.GroupBy(append(columns, "h")...)
	for _, c := range follow {
		if slices.ContainsFunc(at, func(g table.Group) bool { return g.Varies(c) }) {
			columns = append(columns, c)
		}
	}
	return columns
}

// aboveChance is how many of its standard deviations an excess has to be above 0 for its logarithm
// to be little off: below, chains whose excess chance made negative are missing.
const aboveChance = 3

// chance is the standard deviation of the mean of the rows' numbers if they are excesses, by that
// of distances between draws of the truth; 0 of other numbers.
func (x *evaluation) chance(rows *table.Table) float64 {
	n := float64(rows.Len())
	sd := rows.Mean(func(r table.Row) float64 { return r.Number("ks_self_sd") })
	if x.Of != bench.ExcessColumn || !(sd > 0) { // older records have none
		return 0
	}
	return sd / math.Sqrt(n)
}

// excessRatios averages both sides over the pairs of a replicate. The interval of the
// ratio of their means is Fieller's: a ratio of two distances that share a sampling floor
// is pulled to 1, that of their excesses over the floor is not, but may divide by little.
// The ratio of distances is stated beside it where the numbers are excesses over a floor
// that was measured.
func (x *evaluation) excessRatios(pairs []table.Pair) Finding {
	excess, ratios := x.fiellerOf(pairs)
	switch {
	case !x.users() || excess.open != "":
	case math.IsInf(excess.low, 0) || math.IsInf(excess.high, 0):
		excess.open = "numbers are too large for an interval"
	case excess.high-excess.low <= roundOff*math.Abs(excess.value):
		excess.open = sameNumber
	}
	f := x.decideMean(excess, ratios)
	if x.Of == aboveFloor && len(pairs) > 0 {
		f.Excess = excess.interval()
		x.stateDistances(&f, pairs)
	}
	return f
}

// fiellerOf is the ratio of the means of both sides over replicates, and that of each. It leaves
// the numbers of the right side in x.values. They have the counts and the shifts of the left side,
// too: sides are paired, and an error of the reference moves both numbers of a pair alike.
func (x *evaluation) fiellerOf(pairs []table.Pair) (e estimate, ratios []float64) {
	sides := [2][]float64{}
	for i := range sides {
		clear(x.values)
		for _, p := range pairs {
			number := x.mean([2]*table.Table{p.Left, p.Right}[i])
			x.add(p.Left.Rows()[0], number, x.ofDistance())
		}
		sides[i] = x.replicateMeans()
	}
	for i, above := range sides[0] {
		ratios = append(ratios, above/sides[1][i])
	}
	return fieller(sides[0], sides[1], x.referenceVariance(), x.Level), ratios
}

// stateDistances adds the ratio of distances of the pairs to a finding, by its logarithm.
// It decides nothing.
func (x *evaluation) stateDistances(f *Finding, pairs []table.Pair) {
	clear(x.values)
	x.addLogarithms(pairs, func(r table.Row) float64 { return r.Number("ks") }, 1)
	mean, half := MeanInterval(x.replicateMeans(), x.referenceVariance(), x.Level)
	e := estimate{value: math.Exp(mean), low: math.Exp(mean - half), high: math.Exp(mean + half)}
	f.Distance = e.interval()
	if len(x.values) < fewest || e.value != e.value {
		return
	}
	text := fmt.Sprintf("%.2f, in [%.2f, %.2f]", e.value, e.low, e.high)
	f.note("ratio of distances, which share the floor", e.value, text)
	f.Summary += "; distances " + text
}

// interval is the estimate as findings have it. Ends that are not known are NaN.
func (e estimate) interval() *Interval {
	if e.open != "" {
		e.low, e.high = math.NaN(), math.NaN()
	}
	return &Interval{certify.Number(e.value), certify.Number(e.low), certify.Number(e.high)}
}

// worse decides by the share of pairs in which the left side is worse: it alone diverged, or
// has the larger number. So chains that diverged count, where a ratio could not have them.
// A tie is half, and so is a difference that the reference's own error could make. Pairs both of
// which diverged say nothing, and are counted. The ratios of finite pairs are stated, without
// deciding.
func (x *evaluation) worse() Finding {
	x.over(x.selected)
	pairs := x.pairs()
	// For the summary, and before the shares, which need x.values empty: this fills it.
	excess, ratios := x.fiellerOf(pairs)
	clear(x.values)
	neither := 0
	for _, line := range x.compared() {
		for _, p := range line {
			left, right := anyDiverged(p.Left), anyDiverged(p.Right)
			difference := x.mean(p.Left) - x.mean(p.Right)
			share, own := 0.5, 0.0 // a tie; own is how far the reference may be off
			if e := p.Left.Rows()[0].Number("reference_error"); e > 0 {
				own = x.ofDistance() * e
			}
			switch {
			case left && right:
				neither++
				continue
			case left || !right && difference > own:
				share = 1
			case right || difference < -own:
				share = 0
			}
			x.add(p.Left.Rows()[0], share, 0)
		}
	}
	x.count("pairs both of which diverged, which are left out", neither)
	a, b := x.sides()
	x.what, x.scale = "share of pairs in which "+a+" is worse than "+b, asShare
	f := x.interval()
	if len(pairs) > 0 {
		f.Excess = excess.interval()
		if len(x.values) >= fewest {
			f.Summary += "; finite pairs"
			if len(ratios) < len(x.values) { // in the others a side always diverged
				f.Summary += fmt.Sprintf(" of %d %s", len(ratios), x.replicates())
			}
			f.Summary += fmt.Sprintf(": excess %.2f times", excess.value)
			if excess.open != "" {
				f.Summary += ": " + excess.open
			}
		}
		x.stateDistances(&f, pairs)
	}
	return f
}

// divergence decides by the share of pairs in which the left side diverged less the share
// in which the right one did. Where no chain diverged the difference is 0.
func (x *evaluation) divergence() Finding {
	x.over(x.selected)
	lost := func(r table.Row) float64 { return indicator(diverged(r)) }
	left, right, n := 0., 0., 0.
	for _, line := range x.compared() {
		for _, p := range line {
			l, r := p.Left.Mean(lost), p.Right.Mean(lost)
			left, right, n = left+l, right+r, n+1
			x.add(p.Left.Rows()[0], l-r, 0)
		}
	}
	a, b := x.sides()
	x.what = "share diverged, " + a + " less " + b
	f := x.interval()
	if n > 0 {
		f.add("share diverged, "+a, left/n, "%.3f")
		f.add("share diverged, "+b, right/n, "%.3f")
	}
	return f
}

// fieller is the interval of the ratio of two means whose values come in pairs: the
// ratios r for which the mean of a − r b is not told from 0. Differences are allowed
// on both sides to be below 0, as excesses over a floor may be. The variance of what moves
// both means by the same is shared.
func fieller(a, b []float64, shared, level float64) estimate {
	meanA, meanB, n := stat.Mean(a, nil), stat.Mean(b, nil), len(a)
	e := estimate{value: meanA / meanB}
	if n < 2 {
		e.low, e.high = math.NaN(), math.NaN()
		return e
	}
	// The ends are the roots of (mean a − r mean b)² = q² var(a − r b)/n in r. Unless the mean
	// of b is told from 0, what lies between them is not what satisfies it.
	q := quantile(1-level, n-1)
	ofMean := func(variance float64) float64 { return q * q * (variance/float64(n) + shared) }
	square := meanB*meanB - ofMean(stat.Variance(b, nil))
	linear := meanA*meanB - ofMean(stat.Covariance(a, b, nil))
	constant := meanA*meanA - ofMean(stat.Variance(a, nil))
	switch {
	case !(square > 0):
		e.open = "what the ratio divides by is not told from 0"
		return e
	case meanB < 0:
		e.open = "what the ratio divides by is below 0"
		return e
	}
	root := max(linear*linear-square*constant, 0) // below 0 by rounding alone
	e.low, e.high = (linear-math.Sqrt(root))/square, (linear+math.Sqrt(root))/square
	return e
}
