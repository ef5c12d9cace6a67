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
// median ones.
func (t tests) power(columns []Column, pairs []difference) []Power {
	var location, scale []difference
	for _, c := range columns {
		location, scale = append(location, c.location), append(scale, c.scale)
	}
	typical := median(scale)
	out := []Power{
		t.shows("a deviation 8 % too large", math.Log(1.08)*typical.mean, typical, t.columns),
		t.shows("a shift of 0.1 standard deviations", 0.1, median(location), t.columns),
	}
	if pairs != nil {
		out = append(out, t.shows("a correlation wrong by 0.2", 0.2, median(pairs), len(pairs)))
	}
	return out
}

// median returns the difference with the median standard error.
func median(all []difference) difference {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b difference) int { return cmp.Compare(a.error, b.error) })
	return all[len(all)/2]
}

// shows returns the power of a test of which there are n of its kind against a difference.
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
	const step = 0.02 // of a logarithm
	p.Needs = minMedian * math.Exp(step*float64(sort.Search(750, func(k int) bool {
		return with(minMedian*math.Exp(step*float64(k))) >= shownWith
	})))
	return p
}

// detects is the probability that a Student's t of so many degrees of freedom about a mean
// exceeds a limit (Johnson, Kotz and Balakrishnan, 1995, equation 31.25).
func detects(mean, freedom, limit float64) float64 {
	return distuv.UnitNormal.CDF((mean - limit) / math.Sqrt(1+limit*limit/2/freedom))
}
