package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench/table"
)

// caseName names a law of the study svrg-ubu by m, the steps between two full gradients,
// and by its problem, whose name has the curvature.
func caseName(g table.Group) string {
	return fmt.Sprintf("m = %v, %s", g.Get("period"), g.Get("problem").Text())
}

// The claims about svrg-ubu read the joint law of UBU with svrg: its errors have no change
// of sign over the steps of the study, at which a slope would mean nothing.

// critical returns the step at which the local slope of the error first passes
// passing from above, on the way to small steps, after it was below flat, and the
// slope nearest to 1 until there; NaN if it never does. Both are NaN if an error is not resolved,
// or the chain is unstable: then no local slope is known there.
func critical(of table.Group) (step, slope float64) {
	const flat, passing = 1.3, 1.5
	var h, errors []float64
	for _, r := range of.Rows() {
		e := resolved(r)
		if !(e > 0) || math.IsInf(e, 1) {
			return math.NaN(), math.NaN()
		}
		h, errors = append(h, r.Number("h")), append(errors, e)
	}
	// Steps fall; the local slope between two of them is that of the logarithms.
	slope, before := inf, math.NaN()
	for i := 1; i < len(h); i++ {
		now := math.Log(errors[i-1]/errors[i]) / math.Log(h[i-1]/h[i])
		// An earlier interval has set slope, so that i is 2 or more here.
		if now >= passing && slope < flat {
			// Interpolated in log h between the middles of the last two intervals, √(h[i-2]h[i-1])
			// and √(h[i-1]h[i]), by the slopes there. Their ratio is √(h[i]/h[i-2]).
			part := (passing - before) / (now - before)
			return math.Sqrt(h[i-2]*h[i-1]) * math.Pow(h[i]/h[i-2], part/2), slope
		}
		if math.Abs(now-1) < math.Abs(slope-1) {
			slope = now
		}
		before = now
	}
	return math.NaN(), slope
}

// unresolvedLaw is the finding where the local slopes of a law are not all known.
func unresolvedLaw(g table.Group) Finding {
	return undecided("not all errors are resolved: " + caseName(g))
}

// transition takes the order at small steps from its case, and the slopes above the
// critical step from the errors themselves: the one nearest to 1 counts. A law without a
// critical step refutes.
func transition(of []*evaluation) Finding {
	f := of[0].decide()
	laws := of[0].selected.GroupBy(law...)
	for _, g := range laws {
		step, slope := critical(g)
		if math.IsNaN(slope) {
			return unresolvedLaw(g)
		}
		name := fmt.Sprintf("slope above the critical step %.3g, %s", step, caseName(g))
		f.add(name, slope, "%.2f")
		if !(math.Abs(slope-1) <= orderTolerance) || math.IsNaN(step) {
			const summary = "the slope nearest to 1 at large steps is %.2f, %s"
			f.Verdict, f.Summary = Refuted, fmt.Sprintf(summary, slope, caseName(g))
		}
	}
	if f.Verdict == Confirmed {
		f.Summary = sprint(of[0].Summary, len(laws))
	}
	return f
}

// criticalSteps fits the power of m in the critical step on each problem, and holds it to
// the interval of its case. Problems come by their curvature: for each m the critical step
// must fall from one to the next.
func criticalSteps(of []*evaluation) Finding {
	f := Finding{Verdict: Confirmed}
	var powers []float64
	least := make(map[table.Value]float64) // of the critical step, by m
	for _, problem := range of[0].selected.GroupBy("problem") {
		var x, y []float64
		for _, g := range problem.GroupBy(law...) {
			step, slope := critical(g)
			if math.IsNaN(slope) {
				return unresolvedLaw(g)
			}
			f.add("critical step, "+caseName(g), step, "%.4f")
			m := g.Get("period")
			if last, ok := least[m]; ok && !(step < last) {
				f.Verdict = Refuted
			}
			least[m] = step
			x, y = append(x, math.Log(m.Number())), append(y, math.Log(step))
		}
		_, power := stat.LinearRegression(x, y, nil, false)
		f.add("power of m in the critical step, "+problem.Get("problem").Text(), power, "%.3f")
		powers = append(powers, power)
		if !of[0].holds(power) {
			f.Verdict = Refuted
		}
	}
	f.Summary = sprint(of[0].Summary, floats.Min(powers), floats.Max(powers))
	return f
}
