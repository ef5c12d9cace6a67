package paper

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/certify"
)

//go:embed later.toml
var laterText string

// Later returns the claims that the study of a later paper decides, each by the
// exact errors whose purpose is that study.
func Later(study string) []Claim {
	claims := withDeciders(laterText, laterDeciders)
	for i, c := range claims {
		claims[i].Decide = func(e *Evidence) Finding {
			if len(e.Rows(c.Study)) == 0 {
				return unavailable("hambench run " + c.Study)
			}
			return c.Decide(e)
		}
	}
	return slices.DeleteFunc(claims, func(c Claim) bool { return c.Study != study })
}

var laterDeciders = map[string]func(e *Evidence) Finding{
	"sms-ubu-order": func(e *Evidence) Finding { return e.worstUnder(bench.OfSMSUBU, "symmetric", 2, math.Inf(1), "ubu") },
	"sg-order": func(e *Evidence) Finding {
		return e.worstUnder(bench.OfSMSUBU, "replacement", 1, 1, "ubu", "baoab", "sghmc")
	},
	"sms-against-orders":  againstOrders,
	"sg-ubu-order":        firstOrder,
	"svrg-ubu-transition": transition,
	"svrg-ubu-critical":   criticalSteps,
	"quicsort-order":      func(e *Evidence) Finding { return e.worstUnder(bench.OfQUICSORT, "full", 3, 3, "quicsort") },
	"quicsort-bottleneck": func(e *Evidence) Finding {
		under := func(scheme string, order float64) Finding {
			return e.worstUnder(bench.OfQUICSORT, scheme, order, order, "quicsort")
		}
		twice := both(under("reshuffle", 2), under("symmetric", 2), "random orders: %s; symmetric sweeps: %s")
		return both(twice, under("replacement", 1), "%s; drawn at every step: %s")
	},
}

// againstOrders compares symmetric sweeps with random orders.
func againstOrders(e *Evidence) Finding {
	var f Finding
	var all []float64
	for _, v := range pairs(e.Rows(bench.OfSMSUBU), func(a, b certify.Row) bool {
		return a.Integrator == "ubu" && b.Integrator == "ubu" && a.Scheme == "reshuffle" && b.Scheme == "symmetric"
	}) {
		h, r := v.atSmallest()
		f.add(fmt.Sprintf("error in random orders / in symmetric sweeps, %s, %s, h = %g", v.a.Problem, v.observable, h), r, "%.3f")
		all = append(all, r)
	}
	if len(all) == 0 {
		return unavailable("hambench run sms-ubu")
	}
	f.Summary = fmt.Sprintf("ratios of errors from %.3f to %.3f", floats.Min(all), floats.Max(all))
	f.Verdict = holds(floats.Min(all) > 1/margin && floats.Max(all) < margin)
	return f
}

// svrgRows are the rows of the study svrg-ubu under estimators for which keep is
// true of their m: 0 is the plain gradient; svrg alone and saga have none.
func (e *Evidence) svrgRows(keep func(m int) bool) (rows []certify.Row, every []int) {
	for _, r := range e.Rows(bench.OfSVRGUBU) {
		m := 0
		if _, err := fmt.Sscanf(r.Estimator, "svrg:%d", &m); (err == nil || r.Estimator == "") && keep(m) {
			rows, every = append(rows, r), append(every, m)
		}
	}
	return rows, every
}

// jointLaw is the observable that has no change of sign in the study svrg-ubu.
const jointLaw = "joint.cov"

func firstOrder(e *Evidence) Finding {
	rows, _ := e.svrgRows(func(m int) bool { return m == 0 })
	return between(fitsOf(rows, func(f fitted) bool { return f.observable == jointLaw }), 1, 1)
}

// critical returns the step at which the local slope of the error first passes
// passing from above, on the way to small steps, after it was below flat, and the
// slope nearest to 1 until there; NaN if it never does.
func critical(r certify.Row) (step, slope float64) {
	const flat, passing = 1.3, 1.5
	h, errors := r.Steps, errorsOf(r, jointLaw)
	slope, before := math.Inf(1), math.NaN()
	for i := 1; i < len(h); i++ {
		now := math.Log(errors[i-1]/errors[i]) / math.Log(h[i-1]/h[i])
		if now >= passing && slope < flat {
			// Between the middles of the last two intervals, by the slopes there.
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

func transition(e *Evidence) Finding {
	rows, every := e.svrgRows(func(m int) bool { return m == 128 || m == 512 })
	f := between(fitsOf(rows, func(f fitted) bool { return f.observable == jointLaw }), 2, math.Inf(1))
	for i, r := range rows {
		step, slope := critical(r)
		f.add(fmt.Sprintf("slope above the critical step %.3g, m = %d, %s", step, every[i], r.Problem), slope, "%.2f")
		if !(math.Abs(slope-1) <= orderTolerance) || math.IsNaN(step) {
			f.Verdict, f.Summary = Refuted, fmt.Sprintf("the slope nearest to 1 at large steps is %.2f, m = %d, %s", slope, every[i], r.Problem)
		}
	}
	if f.Verdict == Confirmed {
		f.Summary = fmt.Sprintf("slopes of 1 at large steps and order 2 or more at small ones in all %d cases", len(rows))
		f.Detail = "Between the two the slope is up to 3: svrg's own error is of order 3, and UBU's of order 2 rules where that is smaller."
	}
	return f
}

func criticalSteps(e *Evidence) Finding {
	rows, every := e.svrgRows(func(m int) bool { return m >= 128 })
	f := Finding{Verdict: Confirmed}
	logs := make(map[string][2][]float64) // of m and of the critical step, by problem
	least := make(map[int]float64)        // of the critical step, by m: problems come by curvature
	for i, r := range rows {
		step, _ := critical(r)
		f.add(fmt.Sprintf("critical step, m = %d, %s", every[i], r.Problem), step, "%.4f")
		if last, ok := least[every[i]]; ok && !(step < last) {
			f.Verdict = Refuted
		}
		least[every[i]] = step
		x := logs[r.Problem]
		logs[r.Problem] = [2][]float64{append(x[0], math.Log(float64(every[i]))), append(x[1], math.Log(step))}
	}
	var powers []float64
	for _, problem := range slices.Sorted(maps.Keys(logs)) {
		_, power := stat.LinearRegression(logs[problem][0], logs[problem][1], nil, false)
		f.add("power of m in the critical step, "+problem, power, "%.3f")
		powers = append(powers, power)
		if !(math.Abs(power+1) <= 0.1) {
			f.Verdict = Refuted
		}
	}
	if len(powers) == 0 {
		return unavailable("hambench run svrg-ubu")
	}
	f.Summary = fmt.Sprintf("m to the power %.2f to %.2f", floats.Min(powers), floats.Max(powers))
	return f
}
