package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/certify"
)

// How the exact tests are done, for the page.
const (
	exactly    = "Exact errors of the stationary law (certify, no Monte Carlo) on a Gaussian problem with batches of unequal curvature and on a scalar problem that is not Gaussian. "
	withinOf   = "An order counts as the stated one within 0.3."
	worstOf    = "The order is that of the worst observable of (θ, r). "
	computeAll = reproduce + "claims"
)

// fullBatchOrder is the claim that an integrator has a certain order with
// the full batch.
func fullBatchOrder(name string, order float64, where string) Claim {
	return Claim{
		ID: "order-" + name, By: ByPaper,
		Statement: fmt.Sprintf("%s has ergodic order %g with the full batch.", name, order),
		Where:     where,
		Test:      exactly + worstOf + withinOf,
		Decide:    func(e *Evidence) Finding { return between(e.fullBatch(name), order, order) },
	}
}

// fullBatch returns the smallest order of an integrator with the full batch
// on each problem.
func (e *Evidence) fullBatch(name string) []fitted {
	return e.smallestUnder("full", func(f fitted) bool { return f.integrator == name })
}

// mt3Parameter is mt3's parameter Var(w₂), 1/12 by default.
const mt3Parameter = "w2-variance"

// The paper leaves the variance of w₂ out; Milstein and Tretyakov state it.
func mt3Variance(e *Evidence) Finding {
	variant := e.fits(bench.OfVariance, func(f fitted) bool { return f.values[mt3Parameter] == 1 })
	right, wrong := between(e.fullBatch("mt3"), 3, 3), between(smallestBy(variant, byIntegratorAndProblem), 2, 2)
	return both(right, wrong, "variance 1/12: %s; variance 1: %s")
}

// both joins two findings that must both hold. Where they do, the summary is
// theirs in the format.
func both(a, b Finding, format string) Finding {
	f := a
	switch {
	case a.Verdict == Confirmed && b.Verdict == Confirmed:
		f.Summary = fmt.Sprintf(format, a.Summary, b.Summary)
	case b.Verdict == Refuted || a.Verdict == Confirmed:
		f.Verdict, f.Summary = b.Verdict, b.Summary
	}
	f.Numbers = slices.Concat(a.Numbers, b.Numbers)
	return f
}

// The probes of the step run where a study is resolved; the plan keeps what they
// found.
func quasiSymplectic(e *Evidence) Finding {
	f := Finding{Verdict: Confirmed, Summary: "both conditions hold for each"}
	for _, name := range []string{"leapfrog", "lietrotter", "mt3"} {
		m, ok := e.Method(name)
		if !ok {
			return unavailable(computeAll)
		}
		f.addCondition(name+", determinant independent of the state", m.ConstantDeterminant)
		f.addCondition(name+", symplectic as C → 0", m.SymplecticLimit)
		if !m.ConstantDeterminant || !m.SymplecticLimit {
			f.Verdict, f.Summary = Refuted, name+" fails a condition"
		}
	}
	return f
}

// addCondition adds a condition as a number: 1 and 0.
func (f *Finding) addCondition(name string, holds bool) {
	f.Numbers = append(f.Numbers, Number{name, certify.Number(indicator(holds)), map[bool]string{true: "yes", false: "no"}[holds]})
}

func leapfrogPosition(e *Evidence) Finding {
	of := func(position bool) []fitted {
		return e.under("full", func(f fitted) bool { return f.integrator == "leapfrog" && ofPosition(f.observable) == position })
	}
	f := between(of(true), 2, math.Inf(1))
	for _, m := range of(false) {
		f.Numbers = append(f.Numbers, m.number())
	}
	if f.Verdict == Confirmed {
		f.Summary += " in θ"
		f.Detail = "On a Gaussian target the covariance of θ is even exact. Predictions depend on θ alone, so they see a scheme of order 2."
	}
	return f
}

// pair is an integrator's order under a scheme beside the least that is
// claimed.
type pair struct {
	fitted
	claimed float64
}

// capped returns the smallest order of every integrator on each problem under
// a scheme, beside the smaller of its order with the full batch and the cap.
func (e *Evidence) capped(scheme string, limit float64) []pair {
	full := make(map[string]fitted)
	for _, f := range e.smallestUnder("full", every) {
		full[byIntegratorAndProblem(f)] = f
	}
	var out []pair
	for _, f := range e.smallestUnder(scheme, every) {
		p := full[byIntegratorAndProblem(f)]
		f.known = f.known && p.known
		out = append(out, pair{f, math.Min(math.Round(p.order), limit)})
	}
	return out
}

// ordersOf drops what is claimed.
func ordersOf(pairs []pair) []fitted {
	var fits []fitted
	for _, p := range pairs {
		fits = append(fits, p.fitted)
	}
	return fits
}

// atLeast decides whether each order reaches what is claimed of it.
func atLeast(pairs []pair) Finding {
	f := between(ordersOf(pairs), math.Inf(-1), math.Inf(1))
	short := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return !p.known || p.order >= p.claimed-orderTolerance })
	if len(short) > 0 {
		f.Verdict = Refuted
		f.Summary = fmt.Sprintf("%d of %d orders are below what is claimed", len(short), len(pairs))
	} else if f.Verdict == Confirmed {
		f.Summary = fmt.Sprintf("all %d orders reach what is claimed", len(pairs))
	}
	return f
}

func reshuffleLimit(e *Evidence) Finding {
	f := between(ordersOf(e.above2("reshuffle")), 2, 2)
	if f.Verdict == Confirmed {
		f.Summary += ", of integrators of order 3 and of the exact flow"
		f.Detail = "Batches of equal curvature are an exception: see toy-order."
	}
	return f
}

// above2 returns the orders under a scheme of the integrators whose order
// with the full batch is above 2.
func (e *Evidence) above2(scheme string) []pair {
	return slices.DeleteFunc(e.capped(scheme, math.Inf(1)), func(p pair) bool { return p.claimed <= 2+orderTolerance })
}

// The paper contradicts this claim of Chen et al., so it should be refuted.
func chenErgodicError(e *Evidence) Finding {
	reshuffle, replacement := e.above2("reshuffle"), e.above2("replacement")
	f := atLeast(slices.Concat(reshuffle, replacement))
	if f.Verdict == Refuted {
		f.Summary = fmt.Sprintf("orders of 3 and more fall to %s (random orders) and %s (drawn at every step)", span(ordersOf(reshuffle)), span(ordersOf(replacement)))
	}
	return f
}

func cyclicOrder(e *Evidence) Finding {
	good := make(map[string]bool)
	for _, f := range e.smallestUnder("full", func(f fitted) bool { return ofPosition(f.observable) }) {
		good[byIntegratorAndProblem(f)] = f.known && f.order > 2-orderTolerance
	}
	cyclic := func(keep func(observable string) bool) []fitted {
		return e.smallestUnder("cyclic", func(f fitted) bool { return good[byIntegratorAndProblem(f)] && keep(f.observable) })
	}
	position := between(cyclic(ofPosition), 2, math.Inf(1))
	joint := between(cyclic(func(observable string) bool { return observable == "joint.cov" }), 1, 1)
	return both(position, joint, "θ: %s; joint law: %s")
}

func toyLaw(e *Evidence) Finding {
	const posterior = 1. / 3 // σ_l²
	var f Finding
	errs := make(map[string]float64)
	for _, scheme := range []string{"full", "replacement", "reshuffle"} {
		r, ok := e.row(bench.OfLargeSteps, "exact", 1, scheme)
		if !ok {
			return unavailable(computeAll)
		}
		errs[scheme] = errorsOf(r)[0]
		f.add("error of the variance of θ (which is 1/3), "+scheme, errs[scheme], "%.4g")
	}
	for _, r := range e.Results("toy") {
		v := histogramVariance(r.Series["edges"], r.Series["counts"])
		f.add(fmt.Sprintf("sampled variance of θ, %s, %d samples", r.Cell.Scheme, r.Cell.Samples), v, "%.4f")
	}
	f.Summary = fmt.Sprintf("variance off by %.0f %% (drawn at every step), %.0f %% (random orders), 0 with the full batch",
		100*errs["replacement"]/posterior, 100*errs["reshuffle"]/posterior)
	f.Verdict = holds(errs["full"] < 1e-10 && errs["replacement"] > 0.01*posterior && errs["reshuffle"] > 0.01*posterior)
	return f
}

// histogramVariance is the variance of draws known as counts in bins.
func histogramVariance(edges, counts []float64) float64 {
	var middles []float64
	for i := range counts {
		middles = append(middles, (edges[i]+edges[i+1])/2)
	}
	return stat.PopVariance(middles, counts)
}

// The paper illustrates Theorem 3 by the toy, but equal curvatures make it a
// special case.
func toyOrder(e *Evidence) Finding {
	of := func(scheme string) []fitted {
		return smallestBy(e.fits(bench.OfOrders, func(f fitted) bool { return f.problem == toyProblem && f.integrator == "exact" && f.scheme == scheme }), byIntegratorAndProblem)
	}
	f := both(between(of("reshuffle"), 3, 3), between(of("replacement"), 1, 1), "random orders: %s; drawn at every step: %s")
	if f.Verdict == Confirmed {
		f.Detail = "The toy supports that mini-batches spoil the stationary law (toy-law). For the order 2 of Theorem 3 batches of unequal curvature are needed (reshuffle-limit)."
	}
	return f
}

// ratios returns mt3's error divided by that of lietrotter, by step, from the
// largest down; nil if one is missing.
func (e *Evidence) ratios(scheme string) (ratios, steps []float64) {
	third, ok3 := e.row(bench.OfBottleneck, "mt3", 1, scheme)
	second, ok2 := e.row(bench.OfBottleneck, "lietrotter", 1, scheme)
	if !ok3 || !ok2 {
		return nil, nil
	}
	ratios = errorsOf(third)
	floats.Div(ratios, errorsOf(second))
	return ratios, third.Steps
}

// bottleneckExact shows every fourth step, and goes by the smallest.
func bottleneckExact(e *Evidence) Finding {
	mini, _ := e.ratios("reshuffle")
	full, steps := e.ratios("full")
	if mini == nil || full == nil {
		return unavailable(computeAll)
	}
	last := len(steps) - 1
	f := Finding{Verdict: holds(mini[last] >= 0.5 && mini[last] <= 2 && full[last] < 0.1)}
	for i := 0; i < len(steps); i += 4 {
		const ratio = "error of mt3 / error of lietrotter, %s, h = %.4g"
		f.add(fmt.Sprintf(ratio, "mini-batches", steps[i]), mini[i], "%.3g")
		f.add(fmt.Sprintf(ratio, "full batch", steps[i]), full[i], "%.3g")
	}
	f.Summary = fmt.Sprintf("ratio of errors %.2f with mini-batches, %.3f with the full batch (h = %.2g)", mini[last], full[last], steps[last])
	return f
}

// innerProblem is the problem that N_l is varied on.
const innerProblem = "gaussian"

func innerOrder(e *Evidence) Finding {
	keep := func(f fitted) bool {
		return f.integrator == "lietrotter" && f.problem == innerProblem && (f.scheme == "full" || f.scheme == "reshuffle")
	}
	fits := append(e.fits(bench.OfOrders, keep), e.fits(bench.OfInner, keep)...)
	return between(smallestBy(fits, func(f fitted) string { return fmt.Sprint(f.scheme, f.inner) }), 2, 2)
}

func innerErrorExact(e *Evidence) Finding {
	var f Finding
	at := make(map[string]float64)
	for _, scheme := range []string{"full", "reshuffle"} {
		for _, n := range bench.InnerSteps {
			r, ok := e.row(bench.OfLargeSteps, "lietrotter", n, scheme)
			if !ok {
				return unavailable(computeAll)
			}
			for i, err := range errorsOf(r) {
				if math.IsNaN(err) { // no stationary law
					err = math.Inf(1)
				}
				f.add(fmt.Sprintf("error of cov θ, %s, N_l = %d, η = %g", scheme, n, r.Steps[i]), err, "%.4g")
				if i == 0 {
					at[fmt.Sprint(scheme, n)] = err
				}
			}
		}
	}
	full, mini := at["full8"]/at["full1"], at["reshuffle8"]/at["reshuffle1"]
	f.Verdict = holds(mini > 2)
	f.Summary = fmt.Sprintf("N_l = 8 has %.1f times the error of N_l = 1 with mini-batches, %.2f times with the full batch (η = %g)", mini, full, bench.LargeSteps[0])
	f.Detail = "On a Gaussian target with the full batch the error does not depend on N_l at all. With mini-batches it is not monotone: at moderate η a longer integration has the smaller error, near the limit of stability a far larger one. For networks see inner-fan."
	return f
}
