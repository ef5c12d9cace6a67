package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/certify"
)

const computeAll = reproduce + "claims"

// mt3Parameter is mt3's parameter Var(w₂), 1/12 by default.
const mt3Parameter = "w2-variance"

// The paper leaves the variance of w₂ out; Milstein and Tretyakov state it.
func mt3Variance(e *Evidence) Finding {
	variant := e.worst(bench.OfVariance, func(f fitted) bool { return f.Values[mt3Parameter] == 1 })
	return both(e.worstUnder(bench.OfOrders, "full", 3, 3, "mt3"), between(variant, 2, 2), "variance 1/12: %s; variance 1: %s")
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
		return e.under("full", func(f fitted) bool { return f.Integrator == "leapfrog" && ofPosition(f.observable) == position })
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

// capped returns the smallest order of every integrator on each problem under
// a scheme. Claimed of each is the smaller of its order with the full batch and
// the limit.
func (e *Evidence) capped(scheme string, limit float64) []fitted {
	full := make(map[string]fitted)
	for _, f := range smallestBy(fitsOf(e.Rows(bench.OfOrders), func(f fitted) bool { return f.Scheme == "full" }), byIntegratorAndProblem) {
		full[byIntegratorAndProblem(f)] = f
	}
	fits := e.smallestUnder(scheme, func(fitted) bool { return true })
	for i, f := range fits {
		p := full[byIntegratorAndProblem(f)]
		fits[i].known, fits[i].claimed = f.known && p.known, math.Min(math.Round(p.order), limit)
	}
	return fits
}

// atLeast decides whether each order reaches what is claimed of it.
func atLeast(fits []fitted) Finding {
	f := between(fits, math.Inf(-1), math.Inf(1))
	short := slices.DeleteFunc(slices.Clone(fits), func(f fitted) bool { return !f.known || f.order >= f.claimed-orderTolerance })
	if len(short) > 0 {
		f.Verdict = Refuted
		f.Summary = fmt.Sprintf("%d of %d orders are below what is claimed: %s has order %s, not %g", len(short), len(fits), short[0].name(), short[0].text(), short[0].claimed)
	} else if f.Verdict == Confirmed {
		f.Summary = fmt.Sprintf("all %d orders reach what is claimed", len(fits))
	}
	return f
}

func reshuffleLimit(e *Evidence) Finding {
	f := between(e.above2("reshuffle"), 2, 2)
	if f.Verdict == Confirmed {
		f.Summary += ", of integrators of order 3 and of the exact flow"
		f.Detail = "Batches of equal curvature are an exception: see toy-order."
	}
	return f
}

// above2 returns the orders under a scheme of the integrators whose order
// with the full batch is above 2.
func (e *Evidence) above2(scheme string) []fitted {
	return slices.DeleteFunc(e.capped(scheme, math.Inf(1)), func(f fitted) bool { return f.claimed <= 2+orderTolerance })
}

// The paper contradicts this claim of Chen et al., so it should be refuted.
func chenErgodicError(e *Evidence) Finding {
	reshuffle, replacement := e.above2("reshuffle"), e.above2("replacement")
	f := atLeast(slices.Concat(reshuffle, replacement))
	if f.Verdict == Refuted {
		f.Summary = fmt.Sprintf("orders of 3 and more fall to %s (random orders) and %s (drawn at every step)", span(reshuffle), span(replacement))
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
		r := e.row(bench.OfLargeSteps, "exact", scheme)
		if r == nil {
			return unavailable(computeAll)
		}
		errs[scheme] = errorsOf(*r, covariance)[0]
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
		return e.worst(bench.OfOrders, func(f fitted) bool { return f.Problem == toyProblem && f.Integrator == "exact" && f.Scheme == scheme })
	}
	f := both(between(of("reshuffle"), 3, 3), between(of("replacement"), 1, 1), "random orders: %s; drawn at every step: %s")
	if f.Verdict == Confirmed {
		f.Detail = "The toy supports that mini-batches spoil the stationary law (toy-law). For the order 2 of Theorem 3 batches of unequal curvature are needed (reshuffle-limit)."
	}
	return f
}

// bottleneckExact shows every fourth step, and goes by the smallest.
func bottleneckExact(e *Evidence) Finding {
	of := func(scheme string) (r, steps []float64) {
		third, second := e.row(bench.OfBottleneck, "mt3", scheme), e.row(bench.OfBottleneck, "lietrotter", scheme)
		if third == nil || second == nil {
			return nil, nil
		}
		return ratios(*third, *second, covariance), third.Steps
	}
	mini, _ := of("reshuffle")
	full, steps := of("full")
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
		return f.Integrator == "lietrotter" && f.Problem == innerProblem && (f.Scheme == "full" || f.Scheme == "reshuffle")
	}
	fits := append(e.fits(bench.OfOrders, keep), e.fits(bench.OfInner, keep)...)
	return between(smallestBy(fits, func(f fitted) string { return fmt.Sprint(f.Scheme, f.Inner) }), 2, 2)
}

func innerErrorExact(e *Evidence) Finding {
	var f Finding
	first := map[string]map[int]float64{"full": {}, "reshuffle": {}} // at the largest step, by scheme and N_l
	most, step := 1, 0.0
	for _, r := range e.Rows(bench.OfLargeSteps) {
		if r.Integrator != "lietrotter" || first[r.Scheme] == nil {
			continue
		}
		for i, err := range errorsOf(r, covariance) {
			if math.IsNaN(err) { // no stationary law
				err = math.Inf(1)
			}
			f.add(fmt.Sprintf("error of cov θ, %s, N_l = %d, η = %g", r.Scheme, r.Inner, r.Steps[i]), err, "%.4g")
			if i == 0 {
				first[r.Scheme][r.Inner] = err
				most, step = max(most, r.Inner), r.Steps[i]
			}
		}
	}
	growth := func(scheme string) (by float64, ok bool) {
		short, ok1 := first[scheme][1]
		long, ok2 := first[scheme][most]
		return long / short, ok1 && ok2 && most > 1
	}
	full, ok1 := growth("full")
	mini, ok2 := growth("reshuffle")
	if !ok1 || !ok2 {
		return unavailable(computeAll)
	}
	f.Verdict = holds(mini > 2)
	f.Summary = fmt.Sprintf("N_l = %d has %.1f times the error of N_l = 1 with mini-batches, %.2f times with the full batch (η = %g)", most, mini, full, step)
	f.Detail = "On a Gaussian target with the full batch the error does not depend on N_l at all. With mini-batches it is not monotone: at moderate η a longer integration has the smaller error, near the limit of stability a far larger one. For networks see inner-fan."
	return f
}

// ofMass reports whether a fit is of a mass other than the identity.
func ofMass(f fitted) bool { return strings.Contains(f.Problem, "M ≠ I") }

// weakOrders are those that the paper states.
func weakOrders(e *Evidence) Finding {
	stated := map[string]float64{"leapfrog": 1, "lietrotter": 2, "mt3": 3}
	fits := e.worst(bench.OfWeak, func(f fitted) bool { return stated[f.Integrator] > 0 })
	for i, f := range fits {
		fits[i].claimed = stated[f.Integrator]
	}
	f := atLeast(fits)
	switch {
	case f.Verdict == Confirmed && len(fits) < len(stated):
		return unavailable(computeAll)
	case f.Verdict == Refuted:
		f.Detail = "exp(hH)exp(hD) is of weak order 1. Its ergodic order is 2 all the same (order-lietrotter), since exp(hD) keeps the stationary law: the weak order is sufficient, not necessary, as the paper's appendix says."
	}
	return f
}

// decideDuels counts the steps at which a has the smaller error. One that loses
// at every step refutes, and so does one that loses at some step, unless that is
// left open.
func decideDuels(duels []versus, open bool) Finding {
	f := Finding{Verdict: Confirmed}
	wins, n, lost := 0, 0, []string{}
	for _, d := range duels {
		won, of := 0, 0
		for _, r := range d.ratios {
			won += indicator(r < 1)
			of += indicator(!math.IsNaN(r))
		}
		if of == 0 {
			continue
		}
		wins, n = wins+won, n+of
		name := fmt.Sprintf("%s against %s, %s, %s", d.a.Integrator, d.b.Integrator, d.a.Problem, d.observable)
		f.Numbers = append(f.Numbers, Number{"steps with the smaller error, " + name, certify.Number(won), fmt.Sprintf("%d of %d", won, of)})
		switch {
		case won == 0 || won < of && !open:
			f.Verdict, lost = Refuted, append(lost, name)
		case won < of && f.Verdict == Confirmed:
			f.Verdict = NotDecided
		}
	}
	if n == 0 {
		return unavailable(computeAll)
	}
	f.Summary = fmt.Sprintf("smaller error in %d of %d comparisons", wins, n)
	if len(lost) > 0 {
		f.Summary += "; larger: " + strings.Join(lost, "; ")
	}
	return f
}

func higherOrderBetter(e *Evidence) Finding {
	var duels []versus
	for _, pair := range [][2]string{{"mt3", "lietrotter"}, {"mt3", "leapfrog"}, {"lietrotter", "leapfrog"}} {
		high, low := e.row(bench.OfBottleneck, pair[0], "full"), e.row(bench.OfBottleneck, pair[1], "full")
		if high == nil || low == nil {
			return unavailable(computeAll)
		}
		duels = append(duels, versus{*high, *low, covariance, ratios(*high, *low, covariance)})
	}
	f := decideDuels(duels, false)
	if f.Verdict == Refuted {
		f.Detail = "leapfrog, of order 1, has no error at all in the covariance of θ on a Gaussian target (leapfrog-position): no scheme of higher order is better there."
	}
	return f
}

// quasiSymplecticBetter compares schemes of one order.
func quasiSymplecticBetter(e *Evidence) Finding {
	structured := func(m bench.Method) bool { return m.ConstantDeterminant && m.SymplecticLimit }
	return decideDuels(pairs(independent(e.Rows(bench.OfOrders)), func(a, b certify.Row) bool {
		x, ok1 := e.Method(a.Integrator)
		y, ok2 := e.Method(b.Integrator)
		return ok1 && ok2 && x.Joint == y.Joint && structured(x) && !structured(y) &&
			a.Problem != toyProblem && a.Scheme == "full" && b.Scheme == "full" && len(a.Observables) == len(b.Observables)
	}), true)
}

// second returns an observable of a row if its order is 2.
func second(r certify.Row, name string) (certify.Observable, bool) {
	i := slices.IndexFunc(r.Observables, func(o certify.Observable) bool { return o.Name == name && o.Order == 2 })
	if i < 0 {
		return certify.Observable{}, false
	}
	return r.Observables[i], true
}

// batchesOf is the K of a problem of bench.OfBatches.
func batchesOf(r certify.Row) (k float64) {
	fmt.Sscanf(r.Problem, "K = %g", &k)
	return k
}

// byBatches returns the rows of problems that differ in K alone, by K.
func (e *Evidence) byBatches() []certify.Row {
	rows := e.Rows(bench.OfBatches)
	slices.SortStableFunc(rows, func(a, b certify.Row) int { return cmp.Compare(batchesOf(a), batchesOf(b)) })
	return rows
}

// growth decides how the constant of η² grows with K, by the slope of the
// logarithms.
func growth(e *Evidence) Finding {
	var f Finding
	var x, y []float64
	for _, r := range e.byBatches() {
		if o, ok := second(r, covariance); ok && r.Scheme == "reshuffle" && !math.IsNaN(float64(o.Constant)) {
			c, k := float64(o.Constant), batchesOf(r)
			x, y = append(x, math.Log(k)), append(y, math.Log(c))
			f.Numbers = append(f.Numbers, Number{fmt.Sprintf("constant of η², K = %g", k), o.Constant, fmt.Sprintf("%.5f ± %.1g = %.5f K; closed form %.5f", c, c*float64(o.Uncertainty), c/k, r.ClosedForm[covariance])})
		}
	}
	if len(x) < 3 {
		return unavailable(computeAll)
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	f.Verdict = holds(math.Abs(slope-1) < 0.1)
	f.Summary = fmt.Sprintf("K to the power %.2f for K = %.0f … %.0f: %.3f K", slope, math.Exp(x[0]), math.Exp(x[len(x)-1]), math.Exp(stat.Mean(y, nil)-stat.Mean(x, nil)))
	f.Detail = "For a fixed K the order of Theorem 3 stands. The mini-batch error of an epoch of K steps is that of a splitting with the step Kη."
	return f
}

// Epochs that are long and short beside the time scale 1/ω = 1 of the problems
// of bench.OfBatches.
const (
	longEpoch  = 6
	shortEpoch = 1
)

func longEpochs(e *Evidence) Finding {
	var f Finding
	long, short := []float64{}, []float64{}
	for _, v := range pairs(e.byBatches(), func(a, b certify.Row) bool { return a.Scheme == "reshuffle" && b.Scheme == "replacement" }) {
		for i, r := range v.ratios {
			x := batchesOf(v.a) * v.a.Steps[i]
			switch {
			case v.observable != covariance || math.IsNaN(r):
				continue
			case x >= longEpoch:
				long = append(long, r)
			case x <= shortEpoch:
				short = append(short, r)
			}
			f.add(fmt.Sprintf("error in random orders / drawn at every step, %s, Kηω = %.3g", v.a.Problem, x), r, "%.3f")
		}
	}
	if len(long) == 0 || len(short) == 0 {
		return unavailable(computeAll)
	}
	f.Verdict = holds(floats.Min(long) >= 0.5 && floats.Max(short) <= 0.25)
	f.Summary = fmt.Sprintf("ratio of errors %.2f to %.2f for Kηω ≥ %d, at most %.2f for Kηω ≤ %d", floats.Min(long), floats.Max(long), longEpoch, floats.Max(short), shortEpoch)
	return f
}

// threeDigits is how near the closed form must be to constants known as well.
const threeDigits = 1e-3

func closedForm(e *Evidence) Finding {
	f := Finding{Verdict: Confirmed}
	compared, worst := 0, 0.0
	for _, r := range e.Rows(bench.OfClosedForm) {
		for _, o := range r.Observables {
			predicted, ok := r.ClosedForm[o.Name]
			if !ok || math.IsNaN(float64(o.Order)) || math.IsNaN(float64(o.Constant)) {
				continue
			}
			off, unsure := math.Abs(float64(o.Constant/predicted)-1), float64(o.Uncertainty)
			if o.Order != 2 {
				off = math.Inf(1)
			}
			f.Numbers = append(f.Numbers, Number{fmt.Sprintf("constant of η², %s, %s", r.Problem, o.Name), o.Constant, fmt.Sprintf("%.5f ± %.1g, closed form %.5f", o.Constant, unsure*float64(o.Constant), predicted)})
			if off > max(threeDigits, unsure) {
				f.Verdict = Refuted
			}
			if unsure <= threeDigits {
				compared, worst = compared+1, max(worst, off)
			}
		}
	}
	toy := slices.IndexFunc(e.Exact, func(x bench.Evidence) bool {
		return x.Purpose == bench.OfOrders && x.Problem == toyProblem && x.Integrator == "exact" && x.Scheme == "reshuffle"
	})
	if compared == 0 || toy < 0 {
		return unavailable(computeAll)
	}
	vanishes := e.Exact[toy].ClosedForm != nil && e.Exact[toy].ClosedForm[covariance] == 0
	_, ofOrder2 := second(e.Exact[toy].Row, covariance)
	f.Summary = fmt.Sprintf("%d constants agree to %.1g; on the toy it vanishes", compared, worst)
	switch {
	case f.Verdict == Refuted || !vanishes || ofOrder2:
		f.Verdict, f.Summary = Refuted, fmt.Sprintf("constants differ by up to %.1g; toy: closed form 0: %t, error of order 2: %t", worst, vanishes, ofOrder2)
	case compared < 5:
		f.Verdict, f.Summary = NotDecided, fmt.Sprintf("only %d constants are known to three digits", compared)
	}
	return f
}

// sghmcCorrection is decided exactly; sampled chains alone do not show an error
// below their noise. Where they do show a difference, it is one.
func sghmcCorrection(e *Evidence) Finding {
	f := Finding{Verdict: Confirmed}
	by := make(map[string][]float64) // ratios at the smallest step, by scheme
	for _, v := range pairs(e.Rows(bench.OfOrders), func(a, b certify.Row) bool {
		return a.Integrator == "sghmc" && b.Integrator == "leapfrog" && a.Problem != toyProblem && a.Scheme == b.Scheme && (a.Scheme == "reshuffle" || a.Scheme == "replacement")
	}) {
		h, r := v.atSmallest()
		if !ofPosition(v.observable) || math.IsNaN(r) {
			continue
		}
		f.add(fmt.Sprintf("error of sghmc / error of leapfrog, %s, %s, %s, h = %g", v.a.Scheme, v.a.Problem, v.observable, h), r, "%.3g")
		by[v.a.Scheme] = append(by[v.a.Scheme], r)
		if r > 2 || r < 0.5 {
			f.Verdict = Refuted
		}
	}
	if len(by) < 2 {
		return unavailable(computeAll)
	}
	f.Summary = fmt.Sprintf("exactly, the correction makes errors of θ %.3g to %.3g times as large in random orders, %.3g to %.3g times with batches drawn at every step",
		floats.Min(by["reshuffle"]), floats.Max(by["reshuffle"]), floats.Min(by["replacement"]), floats.Max(by["replacement"]))
	for _, name := range []string{"sghmc", "leapfrog"} {
		keep := func(f fitted) bool {
			return f.Integrator == name && f.Scheme == "reshuffle" && f.Problem != toyProblem && ofPosition(f.observable)
		}
		orders := smallestBy(fitsOf(e.Rows(bench.OfOrders), keep), byIntegratorAndProblem)
		f.Summary += fmt.Sprintf("; %s: %s in random orders", name, span(orders))
		for _, o := range orders {
			f.Numbers = append(f.Numbers, o.number())
		}
	}
	mini := func(t trial[string]) bool { return t.batches > 1 }
	s := compare(e, "methods", mini, integratorOf, "sghmc", "leapfrog")
	f.Detail = "The correction is made for gradient noise that is independent from step to step; in random orders it is not." + s.left
	sampled := s.decide(1, 1) // refuted if the interval leaves out 1
	f.Numbers = append(f.Numbers, sampled.Numbers...)
	if len(s.sets) >= fewest {
		f.Summary += "; sampled " + sampled.Summary
	}
	if sampled.Verdict == Refuted {
		f.Verdict = Refuted
	}
	return f
}
