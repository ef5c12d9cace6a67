package models

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hambench/usage"
)

// checkTolerance bounds relative errors of gradients: a wrong term causes a larger one, and
// float32 and differences of a potential smaller ones.
const checkTolerance = 1e-3

// checkSteps are the steps ε of the differences of a potential. The first is right for most;
// larger ones are for potentials in float32, smaller ones for stiff ones.
var checkSteps = []float64{1e-4, 1e-3, 1e-2, 1e-5, 1e-6}

// checkGradient returns a usage error if, at a random position θ, the gradient g of all rows is
// not that of the potential along its own direction or a random one v,
//
//	gᵀv ≠ (U(θ + εv) − U(θ − εv))/2ε,
//
// or if the gradients of the two halves of the rows, each with scale 2, do not have the
// mean g. A chain with either mistake runs, and samples another law.
func checkGradient(t Target) error {
	n, d, draw := t.Rows(), t.Dim(), newPoints(9)
	theta, v := draw.point(d), draw.point(d)
	g, half := make([]float64, d), make([]float64, d)
	t.Gradient(g, theta, Rows{Lo: 0, Hi: n, Scale: 1})
	size := floats.Norm(g, 2)
	if at := t.Potential(theta) + size; math.IsNaN(at) || math.IsInf(at, 0) {
		return usage.Errorf("potential or gradient is not finite at a random position near 0: " +
			"want finite ones at all positions")
	}
	// Both directions are of the length of a draw from N(0, I). Along g itself a wrong factor of
	// the gradient shows, along a random one a wrong element.
	along := floats.ScaleTo(make([]float64, d), math.Sqrt(float64(d))/max(size, 1e-300), g)
	for _, v := range [][]float64{v, along} {
		slope := floats.Dot(g, v)
		if want, ok := differs(t, theta, v, slope, size); ok {
			return usage.Errorf("gradient is not that of the potential: along one direction "+
				"it is %.4g, and by differences of the potential (rows 0 to %d, scale 1) %.4g",
				slope, n, want)
		}
	}
	for _, r := range []Rows{{Lo: 0, Hi: n / 2, Scale: 2}, {Lo: n / 2, Hi: n, Scale: 2}} {
		t.Gradient(half, theta, r)
		floats.AddScaled(g, -0.5, half)
	}
	if off := floats.Norm(g, 2); n > 1 && !(off <= checkTolerance*size) {
		return usage.Errorf("gradients of the two halves of the rows, each with scale 2, "+
			"have another mean than that of all %d rows: off by %.2g (relative): "+
			"want scale times the rows' part, plus the prior's", n, off/size)
	}
	return nil
}

// differs reports whether the slope of a target's potential along v, by differences, is another
// one than a given slope of a gradient of some size. It is if no difference agrees with that, and
// two of them with one another; else differences say nothing.
func differs(t Target, theta, v []float64, slope, size float64) (want float64, ok bool) {
	at, before := make([]float64, len(theta)), []float64(nil)
	for _, e := range checkSteps {
		up := t.Potential(floats.AddScaledTo(at, theta, e, v))
		down := t.Potential(floats.AddScaledTo(at, theta, -e, v))
		// Errors are relative to the slope, or to the gradient's size where that is larger. The
		// potential's own rounding, some 10⁻¹⁶ |U| over e, counts besides them.
		now := (up - down) / (2 * e)
		tolerance := checkTolerance * (max(size, math.Abs(slope)) + math.Abs(up)*1e-8)
		if math.Abs(now-slope) <= tolerance {
			return now, false
		}
		for _, other := range before {
			if !ok && math.Abs(now-other) <= tolerance {
				want, ok = now, true
			}
		}
		before = append(before, now)
	}
	return want, ok
}
