package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/internal/ranks"
)

// pooled holds the draws of a column of both sides, chain after chain, the reference's
// first; chains has their lengths, and the first `reference` of them are the reference's.
type pooled struct {
	x         []float64
	chains    []int
	reference int       // chains
	split     int       // draws of the reference
	off       float64   // variance of the reference's own error, in units of a score's variance
	scratch   []float64 // twice as long as x, for averageOf; nil until like
}

// pool returns a column of both sides. A reference with the own error e has its normal scores
// off by a normal shift whose mean absolute value δ moves the distribution function by
// δ/√(2π) = e: one with the variance (πe)². Any other score may be off by that share of its
// own variance: at the median, 0.50 πe, where the shift takes 0.40 πe.
func pool(ref, own Side, column int) pooled {
	p := pooled{reference: len(ref.Chains), off: math.Pow(math.Pi*ref.OwnError, 2)}
	for _, side := range []Side{ref, own} {
		p.split = len(p.x)
		for _, x := range side.column(column) {
			p.x, p.chains = append(p.x, x...), append(p.chains, len(x))
		}
	}
	return p
}

// like returns other numbers of the same draws, which may be replaced by others in place from
// one comparison to the next: thousands of them need no memory of their own.
func (p pooled) like(x []float64) pooled {
	p.x, p.scratch = x, make([]float64, 2*len(x))
	return p
}

// average is the mean of a stationary series over one side's chains. Size is the
// number of independent values with a mean as certain, at most that of all values; freedom
// the degrees of freedom with which the size is known.
type average struct {
	mean, size, freedom float64
	lag                 int // the last of the window, in draws of one chain
}

// window is the length of the lag window in integrated autocorrelation times (Sokal, 1997), late
// by how many of its standard errors the sum of as many further lags again has to be positive for
// the window to take them in.
const (
	window = 6
	late   = 0.5
)

// averageOf estimates the integrated autocorrelation time as 1/2 + Σ ρ(t) over the lags up
// to the first M that is at least window times it, and at least `least`: a score may have a small
// part that is slow, which a window of its own would miss. Where the sum of the next M lags is
// positive by more than chance, the window becomes twice as long: past the memory of a series of
// n values with the time τ, a sum over M lags has the variance M(2τ)²/n (Bartlett, 1946). The
// autocovariances are about the mean of all chains, with the number of all values as divisor, so
// that chains that differ in their means have a long time. Where the correlations oscillate, a
// short window may see nothing of a slow part beside them, as of the square of a series that rings:
// while means of batches vary more than the time explains, the window becomes as long as the
// batches. The relative variance of the estimate is 2(2M + 1)/n, which is that of n/(2M + 1)
// degrees of freedom.
// It overwrites scratch, which is twice as long as x.
func averageOf(x, scratch []float64, chains []int, least int) average {
	d, sums := scratch[:len(x)], scratch[len(x):]
	n := float64(len(x))
	a := average{mean: floats.Sum(x) / n, size: n}
	// A constant score has the size of all its values. Its mean, which is rounded, may be another
	// number, from which all values differ as if each told of the next.
	if slices.Min(x) == slices.Max(x) {
		return average{mean: x[0], size: n, freedom: n}
	}
	for i, v := range x {
		d[i] = v - a.mean
	}
	variance := floats.Dot(d, d) // times n, as are the sums of products below
	correlation := func(lag int) float64 {
		var sum float64
		at := 0
		for _, length := range chains {
			if lag < length {
				c := d[at : at+length]
				sum += floats.Dot(c[:length-lag], c[lag:])
			}
			at += length
		}
		return sum / variance
	}
	time, lag := 0.5, 0
	longest := slices.Max(chains) - 1
	for more := variance > 0; more; { // 0 of values so near each other that squares underflow
		for lag < longest && (lag < least || float64(lag) < window*time) {
			lag++
			time += correlation(lag)
		}
		next, slow := min(2*lag, longest), 0.0
		for t := lag + 1; t <= next; t++ {
			slow += correlation(t)
		}
		more = slow > late*max(1, 2*time)*math.Sqrt(float64(next-lag)/n)
		if more {
			time, lag = time+slow, next
		} else if b := slowBatches(d, sums, chains, lag, time); b > 0 && lag < longest {
			more, least = true, min(b, longest)
		}
	}
	a.lag, a.freedom = lag, max(1, n/float64(2*lag+1))
	// Too short a time by 1/freedom, since the mean is of the same values (Wolff, 2004,
	// equation 49), and by as much again, since it shortens its own window.
	a.size = max(1, n/max(1, 2*time*(1+2/a.freedom)))
	return a
}

// Batches whose means vary more than the time explains: at least fewestBatches of one size, by more
// than the normal quantile makes of independent means: once in a thousand times.
const (
	fewestBatches = 16
	slowQuantile  = 3.09
)

// slowBatches returns the smallest size of batches, longer than a lag, at which the variance of the
// batches' means, in units of that of independent values, is above twice the time by more than
// chance; 0 if there is none. d is a series less its mean, which the time is of; sums is scratch of
// its length.
func slowBatches(d, sums []float64, chains []int, lag int, time float64) int {
	variance := floats.Dot(d, d) / float64(len(d))
	copy(sums, d)
	lengths := slices.Clone(chains)
	for size := 2; ; size *= 2 {
		// Each chain's sums of the last size are added in pairs, from the front of sums.
		from, to := 0, 0
		var square float64
		for c, length := range lengths {
			for i := range length / 2 {
				sum := sums[from+2*i] + sums[from+2*i+1]
				sums[to+i] = sum
				square += sum * sum
			}
			from, to, lengths[c] = from+length, to+length/2, length/2
		}
		if to < fewestBatches {
			return 0
		}
		if size <= lag {
			continue
		}
		batches := float64(to)
		// The quantile of χ² over its degrees of freedom (Wilson and Hilferty, 1931).
		most := math.Pow(1-2/(9*batches)+slowQuantile*math.Sqrt(2/(9*batches)), 3)
		if square/(batches*float64(size)*variance) > most*max(1, 2*time) {
			return size
		}
	}
}

// off returns the average with an error that draws do not show, of a variance that is known with
// so many degrees of freedom. The variance is in units of the score's: it adds to 1/size.
func (a average) off(variance, freedom float64) average {
	if variance > 0 {
		a.freedom = freedomOf(a.size, a.freedom, 1/variance, freedom)
		a.size = 1 / (1/a.size + variance)
	}
	return a
}

// atMost returns the average with an effective size of at most a number that is not 0.
func (a average) atMost(size float64) average {
	if size > 0 {
		a.size = min(a.size, size)
	}
	return a
}

// difference is a test of equal means of a score on both sides, before it is known how many
// tests there are.
type difference struct {
	value   float64 // draws minus reference
	mean    float64 // of all draws
	error   float64 // the standard error of value
	skew    float64 // the skewness of value
	freedom float64
	ref     average
	own     average
}

// compare tests a score of all draws. Under one law the variance of the score is that of the
// pooled draws. The windows are at least as long as slow's, and the sizes at most its sizes.
func (p pooled) compare(slow limits) difference {
	d := difference{
		ref: averageOf(p.x[:p.split], p.scratch[:2*p.split], p.chains[:p.reference], slow.ref.lag).
			off(p.off, float64(max(1, p.reference-1))).atMost(slow.ref.size),
		own: averageOf(p.x[p.split:], p.scratch[2*p.split:], p.chains[p.reference:], slow.own.lag).
			atMost(slow.own.size),
	}
	d.value = d.own.mean - d.ref.mean
	// The central moments of the pooled draws.
	m := stat.Mean(p.x, nil)
	d.mean = m
	var second, third float64
	for _, v := range p.x {
		second += (v - m) * (v - m)
		third += (v - m) * (v - m) * (v - m)
	}
	second /= float64(len(p.x))
	third /= float64(len(p.x))
	// A mean of n independent scores has the variance second/n and the third cumulant third/n²;
	// those of the reference enter the difference with the opposite sign.
	a, b := 1/d.own.size, 1/d.ref.size
	d.error = math.Sqrt(second * (a + b))
	if second > 0 {
		d.skew = third / math.Pow(second, 1.5) * (a*a - b*b) / math.Pow(a+b, 1.5)
	}
	d.freedom = freedomOf(d.own.size, d.own.freedom, d.ref.size, d.ref.freedom)
	return d
}

// limits are what a score takes over from another score of the same draws, on both sides: the
// least length of a window and, if it is not 0, the largest effective size.
type limits struct{ ref, own limit }

// limit is that of one side.
type limit struct {
	lag  int
	size float64
}

// lags are the limits of the windows alone.
func (d difference) lags() limits {
	return limits{limit{lag: d.ref.lag}, limit{lag: d.own.lag}}
}

// freedomOf is the number of degrees of freedom of a sum of variances 1/n and 1/m, which are known
// with ofN and ofM of them (Welch, 1947; Satterthwaite, 1946).
func freedomOf(n, ofN, m, ofM float64) float64 {
	return math.Pow(1/n+1/m, 2) / (1/(n*n)/ofN + 1/(m*m)/ofM)
}

// A difference with a skewness in its own direction has a longer tail there than Student's
// law: it is taken to the normal scale by the cube root of Wilson and Hilferty (1931) for a
// gamma law with that skewness. In the other direction nothing is gained.

// units returns the difference in standard errors of a law without skewness, not below 0.
func (d difference) units() float64 {
	z := math.Abs(d.value)
	if z == 0 {
		return 0
	}
	z /= d.error
	// k > 0: the longer tail is on the side of the difference. The map's limit at k = 0 is z
	// itself, which rounding would spoil.
	if k := d.skew * math.Copysign(1, d.value); k > 1e-6 {
		return min(z, 6/k*(math.Cbrt(1+k*z/2)-1)+k/6)
	}
	return z
}

// p is the probability of a larger difference, in absolute value.
func (d difference) p() float64 {
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: d.freedom}.Survival(d.units())
}

// width is the half-width of the interval outside of which p is below level, towards 0. It is
// the inverse of units at Student's quantile.
func (d difference) width(level float64) float64 {
	t := quantile(d.freedom, level)
	if k := d.skew * math.Copysign(1, d.value); k > 1e-6 {
		t = max(t, (math.Pow(1+(t-k/6)*k/6, 3)-1)*2/k)
	}
	return t * d.error
}

// quantile is the value that Student's law exceeds in absolute value with a probability.
func quantile(freedom, level float64) float64 {
	return -distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(level / 2)
}

// normalScores are the quantiles of the standard normal law at the shares of all values that
// are below each one, in (0, 1), by the middle ranks, in units of their own deviation: scores of
// few values have a smaller one than the normal law.
func normalScores(middle []float64) []float64 {
	z := make([]float64, len(middle))
	for i, below := range middle {
		z[i] = math.Sqrt2 * math.Erfinv(2*(below/float64(len(middle)))-1)
	}
	if sd := stat.PopStdDev(z, nil); sd > 0 { // not a constant
		floats.Scale(1/sd, z)
	}
	return z
}

// Distribution functions are compared where the pooled share passes 1/16 … 15/16; a share s
// only if s(1 − s) times the smaller effective size is at least minCount.
const (
	cuts     = 16
	minCount = 4
)

// scores are the tests of one column, whose normal scores are z.
type scores struct {
	z               []float64
	location, scale difference // of z and of |z|
	coarse          bool       // a value is that of two cuts: the law has atoms
	// Of each cut that is compared: its value, the reference's share of draws at most there, and
	// the test of the distribution functions.
	at, share []float64
	shape     []difference
}

// scoresOf makes the tests of a column of all draws within the limits.
func scoresOf(p pooled, slow limits) scores {
	middle, order := ranks.Middle(p.x)
	s := scores{z: normalScores(middle)}
	of := p.like(s.z)
	s.location = of.compare(slow)
	// Scores of the same draws have the location's windows at least.
	slow = s.location.lags()
	of.x = make([]float64, len(s.z))
	for i, v := range s.z {
		of.x[i] = math.Abs(v)
	}
	s.scale = of.compare(slow)
	// A side that was hardly ever beyond a cut does not show how long it stays there. Scores of all
	// its draws do: no cut has a larger size than the location.
	slow.ref.size, slow.own.size = s.location.ref.size, s.location.own.size
	below := of      // whether a draw is at most the value of a cut
	var last float64 // value of the cut before: ties may give two cuts one value
	for k := 1; k < cuts; k++ {
		at := p.x[order[k*len(order)/cuts]]
		if k > 1 && at == last {
			s.coarse = true
			continue
		}
		last = at
		n, ofRef := 0, 0
		for i, v := range p.x {
			below.x[i] = 0
			if v <= at {
				below.x[i], n = 1, n+1
				if i < p.split {
					ofRef++
				}
			}
		}
		u := float64(n) / float64(len(p.x))
		d := below.compare(slow)
		if u*(1-u)*min(d.own.size, d.ref.size) < minCount {
			continue
		}
		s.at, s.share = append(s.at, at), append(s.share, float64(ofRef)/float64(p.split))
		s.shape = append(s.shape, d)
	}
	return s
}

// stray is the draw that is furthest from the reference's median, and how many as far away are
// expected of right draws.
type stray struct{ at, median, expected float64 }

// farthest finds the stray of a column. Scores of ranks weigh a draw that is off by a hundred
// deviations like one that is off by four: of ten in four hundred they see no more than that they
// are ten. The reference's own tail tells more: nothing is improbable within its range, and beyond
// it its largest distances from the median are taken to fall like a power (Hill, 1975), the
// smallest that 95 of 100 tails of such distances have, and at most the eighth, since a bounded
// column has none. Of a reference in which only that share of draws is independent, so few of the
// distances are.
func (p pooled) farthest(independent float64) stray {
	const most, power = 100, 8
	ref := slices.Sorted(slices.Values(p.x[:p.split]))
	low, high := ref[0], ref[len(ref)-1]
	s := stray{median: ref[len(ref)/2], expected: 1}
	for i, x := range ref {
		ref[i] = math.Abs(x - s.median)
	}
	slices.Sort(ref)
	largest := 0.0
	for _, x := range p.x[p.split:] {
		if d := math.Abs(x - s.median); d > largest && (x < low || x > high) {
			s.at, largest = x, d
		}
	}
	// The tail is the k largest distances, a tenth of all at most; it starts behind them.
	k := min(most, len(ref)/10)
	start := ref[len(ref)-1-k]
	if largest <= start || start == 0 {
		return s
	}
	var logs float64
	for _, d := range ref[len(ref)-k:] {
		logs += math.Log(d / start)
	}
	// With the power α the sum of logs, times α, is a Gamma variable of shape k, so that the Gamma
	// law's lower quantile bounds α from below. Fewer independent distances have a smaller shape.
	shape := max(1, float64(k)*independent)
	falls := min(power, distuv.Gamma{Alpha: shape, Beta: 1}.Quantile(0.05)/shape*float64(k)/logs)
	share := float64(k) / float64(len(ref))
	share = share * math.Pow(largest/start, -falls)
	// The reference's own farthest draw is one of its draws, though its tail begin with a gap, as
	// that of a rare mode does.
	share = max(share, math.Pow(largest/ref[len(ref)-1], -falls)/float64(len(ref)))
	s.expected = float64(len(p.x)-p.split) * share
	return s
}
