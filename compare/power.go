package compare

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// shownWith is the power at which Power.Needs is stated.
const shownWith = 0.9

// power states what a report shows of one column, or one pair, whose standard errors are the
// median ones. Of a deviation nothing is stated where all columns have few values: it changes with
// their shares.
func (t tests) power(columns []Column, pairs []difference) []Power {
	var location, scale []difference
	for _, c := range columns {
		location = append(location, c.location)
		if !c.coarse {
			scale = append(scale, c.scale)
		}
	}
	var out []Power
	if scale != nil {
		// A deviation that is wrong by a factor moves the mean of |z| by its logarithm times that
		// mean (see tests.scale).
		typical := median(scale)
		out = append(out, t.shows("a deviation of normal scores 8 % too large",
			math.Log(1.08)*typical.mean, typical, t.columns))
	}
	out = append(out, t.shows("a shift of normal scores by 0.1", 0.1, median(location),
		t.columns))
	// Of columns that always go together no correlation is compared.
	varying := slices.DeleteFunc(slices.Clone(pairs), func(d difference) bool {
		return d.error == 0
	})
	if len(varying) > 0 {
		out = append(out, t.shows("a correlation wrong by 0.2", 0.2, median(varying), len(pairs)))
	}
	return out
}

// median returns the difference with the median standard error, the upper one of an even
// number. It leaves the list as it is.
func median(all []difference) difference {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b difference) int { return cmp.Compare(a.error, b.error) })
	return all[len(all)/2]
}

// shows returns the power of a test of which there are n of its kind against a true difference
// by so much, if the test's standard error is that of d, and the effective size that both sides
// would have to have for a power of shownWith. The standard error falls like the root of the
// sizes, and the degrees of freedom grow in proportion to them, as the lag window stays.
func (t tests) shows(what string, by float64, d difference, n int) Power {
	level := t.level(n)
	p := Power{Of: what, Power: detects(by/d.error, d.freedom, quantile(d.freedom, level))}
	a, b := d.own.size, d.ref.size
	// With m effective draws on either side.
	with := func(m float64) float64 {
		e := d.error * math.Sqrt(2/m/(1/a+1/b))
		f := freedomOf(m, m*d.own.freedom/a, m, m*d.ref.freedom/b)
		return detects(by/e, f, quantile(f, level))
	}
	// The power grows with m: the search is over m = minMedian · exp(0.02 k), which ends at
	// 3·10⁶ times minMedian.
	const step = 0.02
	p.Needs = minMedian * math.Exp(step*float64(sort.Search(750, func(k int) bool {
		return with(minMedian*math.Exp(step*float64(k))) >= shownWith
	})))
	return p
}

// detects is the probability that a Student's t of so many degrees of freedom about a mean
// exceeds a limit (Johnson, Kotz and Balakrishnan, 1995, equation 31.25), in the normal
// approximation of the noncentral law. The chance of an excess on the wrong side is left out.
func detects(mean, freedom, limit float64) float64 {
	return distuv.UnitNormal.CDF((mean - limit) / math.Sqrt(1+limit*limit/2/freedom))
}
