package certify

import (
	"math"
	"slices"
)

// fit is what a sequence of errors over steps says of the asymptotics
// error ≈ constant · h^order.
type fit struct {
	slopes      []float64 // local slopes between neighbouring steps, from the largest down
	order       float64   // NaN if not known
	uncertainty float64   // of the order; +Inf if there is one slope only
	constant    float64   // NaN if not known
	resolved    int       // points used
	exact       bool      // all errors are at round-off
	vanishing   bool      // the errors at all steps below those used are lost in their resolution
}

// trusted is how many times its resolution an error must be for its
// logarithm to enter a fit: a slope over a factor of 2 is then off by at
// most 0.03.
const trusted = 50

// exactBelow is what counts as exact: errors of round-off, amplified by the
// mixing time of a chain with small steps.
const exactBelow = 1e-11

// fitOrder fits errors at steps (any order). A point that is not finite or
// not resolved is left out.
//
// The mean of the local slopes telescopes: only the first and the last point
// would count. So the order is the limit of the slopes: an error
// c·h^p·(1 + a·h + …) has slopes p + O(h), which are extrapolated from the
// two last slopes; the distance from the last slope is the uncertainty, or,
// with four points, the change of the extrapolation if that is less.
func fitOrder(steps, errors, resolution []float64) fit {
	f := fit{order: math.NaN(), uncertainty: math.Inf(1), constant: math.NaN(), exact: true}
	var index []int
	for i, e := range errors {
		if math.IsNaN(e) || math.IsInf(e, 0) || e > max(exactBelow, resolution[i]) || resolution[i] > exactBelow*100 {
			f.exact = false
		}
		if e > trusted*resolution[i] && !math.IsInf(e, 0) {
			index = append(index, i)
		}
	}
	f.exact = f.exact && len(errors) > 0
	slices.SortFunc(index, func(i, j int) int { // largest step first
		if steps[i] > steps[j] {
			return -1
		}
		return 1
	})
	f.resolved = len(index)
	f.vanishing = vanishes(steps, errors, index)
	var at []float64 // geometric mean of the steps of a slope
	for n := 1; n < len(index); n++ {
		i, j := index[n-1], index[n]
		f.slopes = append(f.slopes, math.Log(errors[i]/errors[j])/math.Log(steps[i]/steps[j]))
		at = append(at, math.Sqrt(steps[i]*steps[j]))
	}
	f.limit(at)
	if n := len(index); n >= 2 {
		i, j := index[n-2], index[n-1]
		f.constant = f.leading(steps[i], errors[i], steps[j], errors[j])
	}
	return f
}

// vanishes reports whether the points used, given by index, the last with
// the smallest step, are followed by smaller steps alone.
func vanishes(steps, errors []float64, index []int) bool {
	for i, e := range errors {
		used := slices.Contains(index, i)
		if !used && (len(index) == 0 || math.IsNaN(e) || steps[i] > steps[index[len(index)-1]]) {
			return false
		}
	}
	return len(index) < len(errors)
}

// limit extrapolates the slopes to step 0.
func (f *fit) limit(at []float64) {
	n := len(f.slopes)
	switch {
	case n == 0:
		return
	case n == 1:
		f.order = f.slopes[0]
		return
	}
	last := extrapolate(at[n-2], f.slopes[n-2], at[n-1], f.slopes[n-1])
	f.order = last
	f.uncertainty = math.Abs(last - f.slopes[n-1])
	if n > 2 {
		before := extrapolate(at[n-3], f.slopes[n-3], at[n-2], f.slopes[n-2])
		f.uncertainty = min(f.uncertainty, math.Abs(last-before))
	}
}

// extrapolate continues the line through two points to 0.
func extrapolate(x1, y1, x2, y2 float64) float64 { return y2 - x2*(y1-y2)/(x1-x2) }

// leading is the constant of the leading term: error/h^p at the two smallest
// steps, extrapolated to 0, where p is the order, rounded if it is close to
// a whole number.
func (f *fit) leading(h1, e1, h2, e2 float64) float64 {
	p := f.order
	if whole := math.Round(p); math.Abs(p-whole) < 0.25 {
		p = whole
	}
	c := extrapolate(h1, e1/math.Pow(h1, p), h2, e2/math.Pow(h2, p))
	if c <= 0 { // not yet asymptotic
		return e2 / math.Pow(h2, p)
	}
	return c
}
