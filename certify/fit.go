package certify

import (
	"cmp"
	"math"
	"slices"

	"hambench/certify/markov"

	"gonum.org/v1/gonum/floats"
)

// node is the signed error of an observable at a step, known but for bound. The error is
// relative, as markov.Observation has it, so that nodes of different steps are comparable.
type node struct {
	h      float64
	signed []float64 // element by element: d of a mean, d × d of a covariance
	bound  float64   // on the norm of the error of signed
}

// coefficient is a term of an error's expansion in the step, in units of the
// fastest rate's powers, known but for bound.
type coefficient struct {
	value    []float64 // as long as a node's signed error
	size     float64   // of value, as the observable measures errors; see markov.Engine
	bound    float64   // what size must exceed, by resolvedAbove, to differ from 0
	spread   float64   // how far it may be off
	resolved bool      // differs from 0
}

const (
	// mostTerms bounds the powers of h that are looked at: from 0, a law that
	// the steps do not approach, to above the highest claim that there is.
	mostTerms = 6
	// mostNodes bounds the nodes of one interpolation: more add round-off.
	mostNodes = 9
	// contraction is by how much an interpolation must change less with each
	// node that is added: an expansion in whole powers does so by the ratio of
	// the steps over the radius of convergence, others do not.
	contraction = 1.0 / 3
	// fastContraction is less than what a node is expected to gain.
	fastContraction = 1.0 / 8
	// spreadSafety is how many times more than what leaving out the largest step,
	// or the two largest, changes a coefficient may be off. Of 2 000 constants of
	// random problems one in twenty-five was off by more than its bound, up to ten
	// times, and the worst by 2.7 times that change.
	spreadSafety = 4
	// resolvedAbove is how many times its bound a coefficient must be to be
	// known to differ from 0. Of errors like h^1.5 interpolation finds terms
	// that are six times their bounds.
	resolvedAbove = 10
)

// expand finds the coefficients of an error's expansion c₀ + c₁t + c₂t² + …,
// t = h·fast, from its values at nodes, the largest step first. Several steps next
// to one another give an interpolation; what leaving out the largest step changes is its bound,
// besides what the nodes' own bounds amount to, and it counts only if leaving
// out one more changes it more. Of the interpolations from a largest step on,
// the one with the smallest bound is taken, power by power. A bound may be small
// by chance, or because large steps do not see what an error does at small ones:
// it is made to cover what interpolations from smaller steps on contradict. Of
// those from all largest steps the best is taken, and the next best must agree
// that a coefficient is not 0.
//
// That decides what is 0, with a margin. It is no uncertainty: where the largest
// steps are beyond an expansion's radius of convergence, interpolations from there
// on agree by chance, and of many bounds the smallest is taken. So a
// coefficient has a spread, too (see spreadSafety).
func expand(nodes []node, fast float64, size func([]float64) float64) []coefficient {
	out := make([]coefficient, mostTerms)
	for q := range out {
		units := math.Pow(fast, float64(-q))
		var found []coefficient
		for first := range nodes {
			if c := bestFrom(nodes[first:], q); c.value != nil {
				floats.Scale(units, c.value)
				c.bound, c.spread = units*c.bound, units*c.spread
				c.size = size(c.value)
				found = append(found, c)
			}
		}
		for i, c := range found {
			for _, nearer := range found[i+1:] {
				apart := floats.Distance(c.value, nearer.value, 2) - nearer.bound
				found[i].bound = max(found[i].bound, apart)
			}
		}
		slices.SortFunc(found, func(a, b coefficient) int { return cmp.Compare(a.bound, b.bound) })
		out[q].bound = math.Inf(1)
		if len(found) > 0 {
			out[q] = found[0]
			out[q].resolved = len(found) > 1 && found[0].differs() && found[1].differs()
		}
	}
	return out
}

// mostGrowth bounds the powers of 1/h that are looked at: of a step without its factor √h before
// the noise the variance grows as 1/h.
const mostGrowth = 2

// growing returns the negative power of h, and its coefficient, by which errors certainly grow as
// the step falls; 0 if there is none. Times t^q the expansion begins with that of t^(−q).
func growing(nodes []node, fast float64, size func([]float64) float64) (power int, c coefficient) {
	for q := mostGrowth; q > 0; q-- {
		var times []node
		for _, n := range nodes {
			t := math.Pow(n.h*fast, float64(q))
			times = append(times, node{n.h, floats.ScaleTo(make([]float64, len(n.signed)), t,
				n.signed), t * n.bound})
		}
		// Of t^q times the error, the constant term is the coefficient of t^(−q) itself.
		if c := expand(times, fast, size)[0]; c.resolved {
			return -q, c
		}
	}
	return 0, c
}

// differs reports whether one interpolation alone has a coefficient differ
// from 0.
func (c coefficient) differs() bool { return c.size > resolvedAbove*c.bound }

// bestFrom returns the coefficient of h^q with the smallest bound by the
// interpolations that begin with the first node.
func bestFrom(nodes []node, q int) coefficient {
	best := coefficient{bound: math.Inf(1)}
	for last := q + 3; last <= min(len(nodes), mostNodes); last++ {
		// Even without its two largest steps an interpolation needs q + 1 nodes for the coefficient
		// of h^q: so the shortest list has q + 3.
		long := interpolate(nodes[:last], q)
		middle := interpolate(nodes[1:last], q)
		short := interpolate(nodes[2:last], q)
		noise := long.bound + middle.bound
		now := floats.Distance(long.value, middle.value, 2)
		before := floats.Distance(middle.value, short.value, 2)
		if now > contraction*before+noise {
			continue
		}
		// The change may be small by chance; then the one before was not.
		if bound := long.bound + max(now, before*fastContraction); bound < best.bound {
			best = coefficient{value: long.value, bound: bound,
				spread: long.bound + spreadSafety*max(now, before)}
		}
	}
	return best
}

// interpolate returns the coefficient of h^q of the polynomial through the
// nodes.
func interpolate(nodes []node, q int) coefficient {
	out := coefficient{value: make([]float64, len(nodes[0].signed))}
	for j, at := range nodes {
		// Lagrange's polynomial of node j. Steps are positive, so its
		// coefficients are sums without cancellation.
		l := make([]float64, 1, len(nodes))
		l[0] = 1
		for i, other := range nodes {
			if i == j {
				continue
			}
			// Times (h − h_i)/(h_j − h_i), from the highest power down: each needs the coefficient
			// below as it was.
			l = append(l, 0)
			for power := len(l) - 1; power >= 0; power-- {
				l[power] *= -other.h
				if power > 0 {
					l[power] += l[power-1]
				}
			}
			floats.Scale(1/(at.h-other.h), l)
		}
		floats.AddScaled(out.value, l[q], at.signed)
		out.bound += math.Abs(l[q]) * at.bound
	}
	return out
}

// finding holds what an error's expansion says of its order.
type finding struct {
	order       float64   // below 0 of an error that grows as h falls; NaN if not known
	uncertainty float64   // of the leading coefficient, relative to it; +Inf if not known
	constant    float64   // of h^order; NaN if not known
	leading     []float64 // the coefficient of h^order that constant is the size of; or nil
	atLeast     float64   // all lower coefficients are bounded; NaN if order is known, or nothing
	atMost      float64   // a coefficient that differs from 0; NaN if none does
	// limits bound the sizes of the coefficients of h^0, h^1, … that are known to be absent: one
	// for each power below the first of which that is not known.
	limits  []float64
	seen    bool    // some error is above its bound
	visible float64 // the highest order of an error that would have been seen
}

// unknown is the finding of no nodes.
func unknown() finding {
	nan := math.NaN()
	return finding{order: nan, uncertainty: math.Inf(1), constant: nan, atLeast: nan, atMost: nan,
		visible: math.Inf(-1)}
}

const (
	// negligible is how small, next to what the dynamics make natural, a
	// coefficient must be to be taken for absent: a term of order q comes from q
	// factors of the problem's rates, of which the slowest is the smallest.
	negligible = 1e-3
	// small is the largest error below which all of its terms are smaller than
	// what the dynamics make natural, and so is what is negligible.
	small = 1e-3
)

// noticeable is how large, next to what the dynamics make natural, an error must
// be to be said not to be there.
const noticeable = 1e-2

// exactWithin is how well an error must be known to be said not to be there.
const exactWithin = 1e-6

// judge turns an expansion into a finding.
func judge(nodes []node, p markov.Pace, size func([]float64) float64) finding {
	f := unknown()
	// The largest step first.
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b node) int { return cmp.Compare(b.h, a.h) })
	largest := 0.0
	for _, n := range nodes {
		e := size(n.signed)
		largest = max(largest, e)
		f.seen = f.seen || e > resolvedAbove*n.bound
		// An error of order q is naturally of the size noticeable·(h·Slow)^q. It would stand out
		// from the bound up to the q at which the two are equal.
		if natural := n.h * p.Slow; natural < 1 && n.bound < exactWithin {
			f.visible = max(f.visible, math.Log(n.bound/noticeable)/math.Log(natural))
		}
	}
	// found makes a power the order.
	found := func(q int, c coefficient) finding {
		f.atMost = float64(q)
		f.order, f.uncertainty = f.atMost, max(c.bound, c.spread)/c.size
		f.constant = c.size * math.Pow(p.Fast, float64(q))
		f.leading = floats.ScaleTo(make([]float64, len(c.value)), math.Pow(p.Fast, float64(q)),
			c.value)
		return f
	}
	if p.Memory > 0 {
		if c := unfallen(nodes, size); c.resolved {
			return found(0, c)
		}
	} else if q, c := growing(nodes, p.Fast, size); q < 0 {
		return found(q, c)
	}
	// Power by power from 0: clear counts those that are absent for certain. From the first that is
	// neither absent nor resolved (open) on, a resolved one says only what the order is at most.
	clear, open := 0, false
	for q, c := range expand(nodes, p.Fast, size) {
		if c.resolved && gone(nodes, q, c.size*math.Pow(p.Fast, float64(q)), size) {
			open = true
		} else if c.resolved {
			if !open {
				return found(q, c)
			}
			f.atMost = float64(q)
			break
		}
		limit := c.size + c.bound
		absent := negligible * min(1, largest/small) * math.Pow(p.Slow/p.Fast, float64(q))
		if open = open || c.differs() || !(limit <= absent); !open {
			f.limits = append(f.limits, limit*math.Pow(p.Fast, float64(q)))
			clear++
		}
	}
	if clear > 0 && f.seen {
		f.atLeast = float64(clear)
	}
	return f
}

// gone reports whether a term of an error is not in it at the smallest steps, where it was found by
// larger ones: a step may do something else below some length.
func gone(nodes []node, power int, constant float64, size func([]float64) float64) bool {
	// Higher powers cancel a term at one step, and not at the next.
	return !slices.ContainsFunc(nodes[max(0, len(nodes)-2):], func(n node) bool {
		return size(n.signed)+n.bound >= constant*math.Pow(n.h, float64(power))/2
	})
}

// unfallen finds an error of order 0 where an auxiliary variable remembers steps, whose powers
// need not be whole: one that is seen at all steps, and at the smallest is at least half of what
// it is at one thirty times as large. Its size is that at the smallest step, and it is as
// uncertain as it changes over the last three.
func unfallen(nodes []node, size func([]float64) float64) (c coefficient) {
	var sizes []float64
	for _, n := range nodes {
		sizes = append(sizes, size(n.signed))
		if !(sizes[len(sizes)-1] > resolvedAbove*n.bound) {
			return coefficient{}
		}
	}
	last := len(nodes) - 1
	if last < 2 || nodes[0].h < levelOver*nodes[last].h || sizes[last] < sizes[0]/2 {
		return coefficient{}
	}
	n, near := nodes[last], sizes[last-2:]
	return coefficient{value: n.signed, size: sizes[last], bound: n.bound,
		spread: slices.Max(near) - slices.Min(near) + n.bound, resolved: true}
}

// levelOver is the ratio of steps over which an error of order 1 falls as much.
const levelOver = 30

// lacks reports whether no term of a power, nor of a lower one, is in the error.
func (f finding) lacks(power int) bool {
	return len(f.limits) > power || !f.seen && f.visible > float64(power)
}

// apartAbove is how many times the uncertainties a prediction must be off to be said to be
// another: of 2 000 constants of random problems one was off by 2.4 times its own.
const apartAbove = 10

// contradicts reports whether an error with a leading coefficient of a size, known but for
// unsure, is certainly not the one that was found.
func (f finding) contradicts(order int, size, unsure float64) bool {
	switch found := float64(order); {
	case f.order < found:
		return true
	case f.order == found:
		return math.Abs(f.constant-size) > apartAbove*(f.uncertainty*f.constant+unsure)
	}
	return len(f.limits) > order && size > apartAbove*(f.limits[order]+unsure)
}

// beside limits a finding under random orders of the batches by that with all of the data. What is
// certain there of order 0 or 1 is in the error here, too, to which random orders add nothing of
// these orders: where the term is small enough to count as absent, that there is none is not known.
func (f finding) beside(own finding) finding {
	q := own.order
	certain := own.leading != nil && q >= 0 && q < 2
	unsure := own.uncertainty * own.constant
	if !certain || f.order <= q || f.contradicts(int(q), own.constant, unsure) {
		return f
	}
	return f.upTo(q)
}

// around limits the finding of an error of which another is a part: a term that is certain in the
// part is in the whole, however small it is beside the other elements.
func (f finding) around(part finding) finding {
	if part.leading == nil || f.order <= part.order {
		return f
	}
	out := f.upTo(part.order)
	if !(out.atMost <= part.order) {
		out.atMost = part.order
	}
	return out
}

// upTo forgets what is said of an order and of the powers of h from q on.
func (f finding) upTo(q float64) finding {
	out := unknown()
	out.seen, out.visible, out.atMost = f.seen, min(f.visible, q), f.atMost
	out.limits = f.limits[:min(len(f.limits), int(max(0, q)))]
	if len(out.limits) > 0 && f.seen {
		out.atLeast = float64(len(out.limits))
	}
	return out
}

// below bounds what the terms that are taken for absent may add to the error at a step.
func (f finding) below(h float64) float64 {
	sum := 0.0
	for q, limit := range f.limits {
		sum += limit * math.Pow(h, float64(q))
	}
	return sum
}

// verdict judges a finding against a claim.
func (f finding) verdict(claimed float64) Verdict {
	switch {
	// Orders and their bounds are NaN where they are not known, and NaN fails every comparison.
	case f.order >= claimed:
		return Confirmed
	case f.atMost < claimed:
		return Refuted
	// The claim of an exact law, +Inf, is met here alone: no order reaches it.
	case !f.seen && f.visible >= exactBeyond:
		return Exact
	case f.atLeast >= claimed, f.hidden(claimed):
		return Confirmed
	}
	return Inconclusive
}

// hidden reports whether an error that was not seen is, if it is there, of the
// claimed order at least.
func (f finding) hidden(claimed float64) bool { return !f.seen && f.visible >= claimed }

// exactBeyond is the order of which an error must have been visible for a law to
// be exact, whatever is claimed of it: no scheme here is above it.
const exactBeyond = 4

// trusted is how many times its resolution an error must be for its
// logarithm to enter a slope, which is then off by at most 0.03 over a factor
// of 2.
const trusted = 50

// localSlopes are the orders between neighbouring steps, from the largest down,
// of the errors that are resolved.
func localSlopes(steps []float64, errors, resolution []Number) []Number {
	var index []int
	for i, e := range errors {
		if e > trusted*resolution[i] && !math.IsInf(float64(e), 0) {
			index = append(index, i)
		}
	}
	slices.SortFunc(index, func(i, j int) int { return cmp.Compare(steps[j], steps[i]) })
	slopes := []Number{}
	for n := 1; n < len(index); n++ {
		i, j := index[n-1], index[n]
		// Both errors are sizes, so that their ratio is positive.
		rise := math.Log(float64(errors[i] / errors[j]))
		slopes = append(slopes, Number(rise/math.Log(steps[i]/steps[j])))
	}
	return slopes
}
