package compare

import (
	"cmp"
	"math"
	"slices"

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
	if some := compared(pairs); len(some) > 0 {
		out = append(out, t.shows("a correlation wrong by 0.2", 0.2, median(some), len(pairs)))
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
// by so much, if the test's standard error is that of d, and the effective size that both sides, or
// the draws against a reference that stays as it is, would have to have for a power of shownWith.
// The standard error falls like the root of the sizes, and the degrees of freedom grow in
// proportion to them, as the lag window stays.
func (t tests) shows(what string, by float64, d difference, n int) Power {
	level := t.level(n)
	now := detects(by/d.error, d.freedom, quantile(d.freedom, level))
	p := Power{Of: what, Power: now, Most: now}
	a, b := d.own.size, d.ref.size
	// With m(k) = minMedian · exp(k/50) effective draws. Against a reference that stays, the
	// degrees of freedom fall to its own, so that the power need not grow with m: the search goes
	// up to 3·10⁶ times minMedian by tens of k, and back by ones.
	size := func(k int) float64 { return minMedian * math.Exp(float64(k)/50) }
	with := func(k int) float64 {
		m := size(k)
		ref, ofRef := m, m*d.ref.freedom/b
		if t.pinned {
			ref, ofRef = b, d.ref.freedom
		}
		e := d.error * math.Sqrt((1/m+1/ref)/(1/a+1/b))
		f := freedomOf(m, m*d.own.freedom/a, ref, ofRef)
		return detects(by/e, f, quantile(f, level))
	}
	for k := 0; k < 750; k += 10 {
		if most := with(k); most < shownWith {
			p.Most = max(p.Most, most)
			continue
		}
		for k > 0 && with(k-1) >= shownWith {
			k--
		}
		p.Needs, p.Most = size(k), 0
		break
	}
	return p
}

// detects is the probability that a Student's t of so many degrees of freedom about a mean
// exceeds a limit (Johnson, Kotz and Balakrishnan, 1995, equation 31.25), in the normal
// approximation of the noncentral law. The chance of an excess on the wrong side is left out.
func detects(mean, freedom, limit float64) float64 {
	return distuv.UnitNormal.CDF((mean - limit) / math.Sqrt(1+limit*limit/2/freedom))
}
