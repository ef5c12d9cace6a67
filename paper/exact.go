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
	computeAll = "hambench reproduce --only claims"
)

// Theorem 1 is tested with mt3, whose errors vanish at order 3: were the law of
// the SDE another one, the difference would remain.
func stationaryLaw() Claim {
	return Claim{
		ID: "stationary-law", By: ByPaper,
		Statement: "The stationary law of the SDE is the posterior times a normal law of the momentum, whatever the friction C > 0.",
		Where:     "Theorem 1 (th:stationary)",
		Test: fmt.Sprintf("%sFor C = %v, mt3 with the full batch, which does not know the law it should reach: as the step goes to 0 all its errors vanish, at its own order 3. %s",
			exactly, bench.Frictions, withinOf),
		Decide: func(e *Evidence) Finding {
			byProblem := func(f fitted) string { return f.problem } // its name says C
			return between(smallestBy(e.fits(bench.OfFriction, every), byProblem), 3, math.Inf(1))
		},
	}
}

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
	return smallestBy(e.under("full", func(f fitted) bool { return f.integrator == name }), byIntegratorAndProblem)
}

func orderLeapfrog() Claim {
	return fullBatchOrder("leapfrog", 1, "Section 2.2; appendix, leapfrog (eq:stoleap)")
}

func orderSymmetric() Claim {
	return fullBatchOrder("symmetric", 2, "Section 2.2; Section 5, Comparison of integrators")
}

func orderLieTrotter() Claim {
	return fullBatchOrder("lietrotter", 2, "Section 4 (eq:lietr)")
}

func orderMT3() Claim {
	return fullBatchOrder("mt3", 3, "Section 2.2; appendix, mt3 (mt3scheme)")
}

// mt3Parameter is mt3's parameter Var(w₂), 1/12 by default.
const mt3Parameter = "w2-variance"

// The paper leaves the variance of w₂ out; Milstein and Tretyakov state it.
func mt3Variance() Claim {
	return Claim{
		ID: "mt3-variance", By: ByUs,
		Statement: "mt3 is of order 3 only if w₂ has variance 1/12. The paper does not state the variance; with variance 1 the scheme is of order 2.",
		Where:     "appendix, mt3 (mt3scheme); Milstein & Tretyakov 2003, Section 2.3",
		Test:      exactly + worstOf + "Confirmed if it is 3 with variance 1/12 and 2 with variance 1. " + withinOf,
		Decide: func(e *Evidence) Finding {
			variant := e.fits(bench.OfVariance, func(f fitted) bool { return f.values[mt3Parameter] == 1 })
			right, wrong := between(e.fullBatch("mt3"), 3, 3), between(smallestBy(variant, byIntegratorAndProblem), 2, 2)
			f := both(right, wrong)
			if f.Verdict == Confirmed {
				f.Summary = fmt.Sprintf("variance 1/12: %s; variance 1: %s", right.Summary, wrong.Summary)
			}
			return f
		},
	}
}

// both joins two findings that must both hold.
func both(a, b Finding) Finding {
	f := a
	if b.Verdict == Refuted || a.Verdict == Confirmed {
		f.Verdict, f.Summary = b.Verdict, b.Summary
	}
	f.Numbers = append(slices.Clone(a.Numbers), b.Numbers...)
	return f
}

// The probes of the step run where a study is resolved; the plan keeps what they
// found.
func quasiSymplectic() Claim {
	return Claim{
		ID: "quasi-symplectic", By: ByPaper,
		Statement: "leapfrog, lietrotter and mt3 are quasi-symplectic.",
		Where:     "Section 2.2; appendix, Quasi-symplectic integrators (definition:qsintegrator)",
		Test:      "Jacobians of one step of a non-linear potential, by differences good to 1e-8: the determinant does not depend on the state, and the step is symplectic as C → 0.",
		Decide: func(e *Evidence) Finding {
			f := Finding{Verdict: Confirmed, Summary: "both conditions hold for each"}
			for _, name := range []string{"leapfrog", "lietrotter", "mt3"} {
				m, ok := e.Method(name)
				if !ok {
					return unavailable(computeAll)
				}
				f.Numbers = append(f.Numbers,
					yesNo(name+", determinant independent of the state", m.ConstantDeterminant),
					yesNo(name+", symplectic as C → 0", m.SymplecticLimit))
				if !m.ConstantDeterminant || !m.SymplecticLimit {
					f.Verdict, f.Summary = Refuted, name+" fails a condition"
				}
			}
			return f
		},
	}
}

// yesNo is a condition as a number: 1 and 0.
func yesNo(name string, holds bool) Number {
	return Number{name, certify.Number(indicator(holds)), map[bool]string{true: "yes", false: "no"}[holds]}
}

func leapfrogPosition() Claim {
	return Claim{
		ID: "leapfrog-position", By: ByUs,
		Statement: "leapfrog competes with schemes of order 2 because its error of order 1 is in the momentum alone: every average over θ is of order 2.",
		Where:     "explains Section 2.2 and Section 5, Comparison of integrators; the paper gives no reason",
		Test:      exactly + "Full batch: confirmed if every observable of θ is of order 2 or exact. " + withinOf,
		Decide: func(e *Evidence) Finding {
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
		},
	}
}

func reshuffleOrder() Claim {
	return Claim{
		ID: "reshuffle-order", By: ByPaper,
		Statement: "With mini-batches in a fresh random order every epoch, an integrator of order p has ergodic order min(p, 2).",
		Where:     "Theorems 2 and 3 (randomorderop:specialcase, genericintegratorerdogic)",
		Test:      exactly + "Every integrator that there is, p its measured order with the full batch. " + worstOf + "Confirmed if each is at least min(p, 2), less 0.3.",
		Decide:    func(e *Evidence) Finding { return atLeast(e.capped("reshuffle", 2)) },
	}
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
	for _, f := range smallestBy(e.under("full", every), byIntegratorAndProblem) {
		full[byIntegratorAndProblem(f)] = f
	}
	var out []pair
	for _, f := range smallestBy(e.under(scheme, every), byIntegratorAndProblem) {
		p, ok := full[byIntegratorAndProblem(f)]
		f.known = f.known && ok && p.known
		out = append(out, pair{f, math.Min(math.Round(p.order), limit)})
	}
	return out
}

// atLeast decides whether each order reaches what is claimed of it.
func atLeast(pairs []pair) Finding {
	if len(pairs) == 0 {
		return unavailable(computeAll)
	}
	var fits []fitted
	short := 0
	for _, p := range pairs {
		fits = append(fits, p.fitted)
		if p.known && p.order < p.claimed-orderTolerance {
			short++
		}
	}
	f := between(fits, math.Inf(-1), math.Inf(1))
	if short > 0 {
		f.Verdict = Refuted
		f.Summary = fmt.Sprintf("%d of %d orders are below what is claimed", short, len(pairs))
	} else if f.Verdict == Confirmed {
		f.Summary = fmt.Sprintf("all %d orders reach what is claimed", len(pairs))
	}
	return f
}

func reshuffleLimit() Claim {
	return Claim{
		ID: "reshuffle-limit", By: ByPaper,
		Statement: "With mini-batches no integrator does better than order 2, however high its own order: the bottleneck.",
		Where:     "Abstract; Section 3, after Theorem 3",
		Test:      exactly + "Integrators whose order with the full batch is above 2: under random orders their order is 2. " + worstOf + withinOf,
		Decide: func(e *Evidence) Finding {
			f := between(e.above2("reshuffle"), 2, 2)
			if f.Verdict == Confirmed {
				f.Summary += ", of integrators of order 3 and of the exact flow"
				f.Detail = "Batches of equal curvature are an exception: see toy-order."
			}
			return f
		},
	}
}

// above2 returns the orders under a scheme of the integrators whose order
// with the full batch is above 2.
func (e *Evidence) above2(scheme string) []fitted {
	var out []fitted
	for _, p := range e.capped(scheme, math.Inf(1)) {
		if p.claimed > 2+orderTolerance {
			out = append(out, p.fitted)
		}
	}
	return out
}

// The paper contradicts this claim of Chen et al., so it should be refuted.
func chenErgodicError() Claim {
	return Claim{
		ID: "chen-2015", By: ByChen,
		Statement: "Mini-batches do not affect the order of the ergodic error; the integrator's order alone decides. (The paper contradicts this.)",
		Where:     "Section 3; appendix, Toy example (sec:toyexapp), on Theorem 4 of Chen et al. 2015",
		Test:      exactly + "Integrators whose order with the full batch is above 2: confirmed if they keep it under random orders and with batches drawn at every step. " + worstOf + withinOf,
		Decide: func(e *Evidence) Finding {
			pairs := append(e.capped("reshuffle", math.Inf(1)), e.capped("replacement", math.Inf(1))...)
			pairs = slices.DeleteFunc(pairs, func(p pair) bool { return p.claimed <= 2+orderTolerance })
			f := atLeast(pairs)
			if f.Verdict == Refuted {
				f.Summary = fmt.Sprintf("orders of 3 and more fall to %s (random orders) and %s (drawn at every step)", span(e.above2("reshuffle")), span(e.above2("replacement")))
			}
			return f
		},
	}
}

func replacementOrder() Claim {
	return Claim{
		ID: "replacement-order", By: ByUs,
		Statement: "With a batch drawn anew at every step, as in the paper's toy example, every integrator has order 1: Theorem 3 needs random orders of a partition.",
		Where:     "outside Theorem 3; used in the appendix, Toy example (minib, transminib)",
		Test:      exactly + "Every integrator that there is. " + worstOf + withinOf,
		Decide: func(e *Evidence) Finding {
			var fits []fitted
			for _, p := range e.capped("replacement", 1) {
				fits = append(fits, p.fitted)
			}
			return between(fits, 1, 1)
		},
	}
}

func cyclicOrder() Claim {
	return Claim{
		ID: "cyclic-order", By: ByUs,
		Statement: "With one order of the batches for ever, averages over θ keep order 2, but the joint law of θ and r is of order 1.",
		Where:     "outside Theorem 3, which draws a fresh order every epoch",
		Test:      exactly + "Every integrator whose θ-averages have order 2 or more with the full batch. " + withinOf,
		Decide: func(e *Evidence) Finding {
			good := make(map[string]bool)
			for _, f := range smallestBy(e.under("full", func(f fitted) bool { return ofPosition(f.observable) }), byIntegratorAndProblem) {
				good[byIntegratorAndProblem(f)] = f.known && f.order > 2-orderTolerance
			}
			cyclic := func(keep func(observable string) bool) []fitted {
				return smallestBy(e.under("cyclic", func(f fitted) bool { return good[byIntegratorAndProblem(f)] && keep(f.observable) }), byIntegratorAndProblem)
			}
			position := between(cyclic(ofPosition), 2, math.Inf(1))
			joint := between(cyclic(func(observable string) bool { return observable == "joint.cov" }), 1, 1)
			f := both(position, joint)
			if f.Verdict == Confirmed {
				f.Summary = fmt.Sprintf("θ: %s; joint law: %s", position.Summary, joint.Summary)
			}
			return f
		},
	}
}

func toyLaw() Claim {
	return Claim{
		ID: "toy-law", By: ByPaper,
		Statement: "With mini-batches even an exact integrator has a wrong stationary law; with the full batch it is right (toy example, η = 0.4, C = 2).",
		Where:     "Section 3, Figure 3 (fig:toyminibach); appendix, Toy example",
		Test:      "Exact variance of θ under the exact flow of each batch, drawn at every step (as in the paper) and in random orders. Confirmed if the error is 0 with the full batch and above 1 % of the variance with mini-batches.",
		Decide: func(e *Evidence) Finding {
			const posterior = 1. / 3 // σ_l²
			var f Finding
			errs := make(map[string]float64)
			for _, scheme := range []string{"full", "replacement", "reshuffle"} {
				r, ok := e.row(bench.OfLargeSteps, "exact", 1, scheme)
				if !ok {
					return unavailable(computeAll)
				}
				errs[scheme] = errorsOf(r)[0]
				f.Numbers = append(f.Numbers, number("error of the variance of θ (which is 1/3), "+scheme, errs[scheme], "%.4g"))
			}
			for _, r := range e.Results("toy") {
				v := histogramVariance(r.Series["edges"], r.Series["counts"])
				f.Numbers = append(f.Numbers, number(fmt.Sprintf("sampled variance of θ, %s, %d samples", r.Cell.Scheme, r.Cell.Samples), v, "%.4f"))
			}
			f.Summary = fmt.Sprintf("variance off by %.0f %% (drawn at every step), %.0f %% (random orders), 0 with the full batch",
				100*errs["replacement"]/posterior, 100*errs["reshuffle"]/posterior)
			f.Verdict = Refuted
			if errs["full"] < 1e-10 && errs["replacement"] > 0.01*posterior && errs["reshuffle"] > 0.01*posterior {
				f.Verdict = Confirmed
			}
			return f
		},
	}
}

// histogramVariance is the variance of draws known as counts in bins.
func histogramVariance(edges, counts []float64) float64 {
	var middles []float64
	for i := range counts {
		middles = append(middles, (edges[i]+edges[i+1])/2)
	}
	return stat.PopVariance(middles, counts)
}

// number is a number with the format that people read it in.
func number(name string, v float64, verb string) Number {
	return Number{name, certify.Number(v), fmt.Sprintf(verb, v)}
}

// The paper illustrates Theorem 3 by the toy, but equal curvatures make it a
// special case.
func toyOrder() Claim {
	return Claim{
		ID: "toy-order", By: ByUs,
		Statement: "The toy example does not show the bottleneck of order 2. Its batches have equal curvature: in random orders its error is of order 3; drawn at every step, as the paper does, it is of order 1.",
		Where:     "Section 3, Figure 3 (fig:toyminibach); appendix, Toy example (eq:potmb, minib)",
		Test:      "Exact errors of the exact flow on the toy over a grid of steps. Worst observable of (θ, r). " + withinOf,
		Decide: func(e *Evidence) Finding {
			of := func(scheme string) []fitted {
				return smallestBy(e.fits(bench.OfOrders, func(f fitted) bool { return f.problem == toyProblem && f.integrator == "exact" && f.scheme == scheme }), byIntegratorAndProblem)
			}
			reshuffle, replacement := between(of("reshuffle"), 3, 3), between(of("replacement"), 1, 1)
			f := both(reshuffle, replacement)
			if f.Verdict == Confirmed {
				f.Summary = fmt.Sprintf("random orders: %s; drawn at every step: %s", reshuffle.Summary, replacement.Summary)
				f.Detail = "The toy supports that mini-batches spoil the stationary law (toy-law). For the order 2 of Theorem 3 batches of unequal curvature are needed (reshuffle-limit)."
			}
			return f
		},
	}
}

func bottleneckExact() Claim {
	return Claim{
		ID: "bottleneck-exact", By: ByPaper,
		Statement: "With mini-batches a third-order integrator gains nothing over a second-order one at small steps; with the full batch it does.",
		Where:     "Section 1, Figure 1 (fig:minibottle); Section 5, On the convergence bottleneck",
		Test:      "Figure 1 without noise: exact errors of the covariance of θ on a small Bayesian linear model with 8 batches. The ratio of mt3's error to that of lietrotter at the smallest step: confirmed if it lies in [0.5, 2] with mini-batches in random orders, and below 0.1 with the full batch.",
		Decide: func(e *Evidence) Finding {
			mini, steps, ok1 := e.ratios("reshuffle")
			full, _, ok2 := e.ratios("full")
			if !ok1 || !ok2 {
				return unavailable(computeAll)
			}
			return decideBottleneck(steps, mini, full)
		},
	}
}

// ratios returns mt3's error divided by that of lietrotter, by step, from the
// largest down.
func (e *Evidence) ratios(scheme string) (ratios, steps []float64, ok bool) {
	third, ok3 := e.row(bench.OfBottleneck, "mt3", 1, scheme)
	second, ok2 := e.row(bench.OfBottleneck, "lietrotter", 1, scheme)
	if !ok3 || !ok2 {
		return nil, nil, false
	}
	ratios = errorsOf(third)
	floats.Div(ratios, errorsOf(second))
	return ratios, third.Steps, true
}

// decideBottleneck shows every fourth step, and goes by the smallest.
func decideBottleneck(steps, mini, full []float64) Finding {
	f := Finding{Verdict: Refuted}
	for i := 0; i < len(steps); i += 4 {
		f.Numbers = append(f.Numbers,
			number(fmt.Sprintf("error of mt3 / error of lietrotter, mini-batches, h = %.4g", steps[i]), mini[i], "%.3g"),
			number(fmt.Sprintf("error of mt3 / error of lietrotter, full batch, h = %.4g", steps[i]), full[i], "%.3g"))
	}
	last := len(steps) - 1
	f.Summary = fmt.Sprintf("ratio of errors %.2f with mini-batches, %.3f with the full batch (h = %.2g)", mini[last], full[last], steps[last])
	if mini[last] >= 0.5 && mini[last] <= 2 && full[last] < 0.1 {
		f.Verdict = Confirmed
	}
	return f
}

// innerProblem is the problem that N_l is varied on.
const innerProblem = "gaussian"

func innerOrder() Claim {
	return Claim{
		ID: "inner-order", By: ByPaper,
		Statement: "The order of lietrotter, and so of HMC with partial momentum refreshment, does not depend on N_l: it is 2, with the full batch and with mini-batches.",
		Where:     "Section 4 (eq:hmc1, eq:hmc2); appendix, Proof of HMC convergence rate",
		Test:      fmt.Sprintf("Exact errors on the Gaussian problem (4 batches), N_l = %v, a new batch at every inner step; full batch and random orders. %s%s", bench.InnerSteps, worstOf, withinOf),
		Decide: func(e *Evidence) Finding {
			keep := func(f fitted) bool {
				return f.integrator == "lietrotter" && f.problem == innerProblem && (f.scheme == "full" || f.scheme == "reshuffle")
			}
			fits := append(e.fits(bench.OfOrders, keep), e.fits(bench.OfInner, keep)...)
			return between(smallestBy(fits, func(f fitted) string { return fmt.Sprint(f.scheme, f.inner) }), 2, 2)
		},
	}
}

func innerErrorExact() Claim {
	return Claim{
		ID: "inner-error-exact", By: ByPaper,
		Statement: "At large η the error of lietrotter grows with N_l, and more so with mini-batches.",
		Where:     "Section 4, last paragraph; Section 5, Exploring the connection with HMC",
		Test:      fmt.Sprintf("Exact errors of the covariance of θ on the Gaussian problem at η = %v. Confirmed if with mini-batches N_l = 8 at the largest step has more than twice the error of N_l = 1.", bench.LargeSteps),
		Decide: func(e *Evidence) Finding {
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
						f.Numbers = append(f.Numbers, number(fmt.Sprintf("error of cov θ, %s, N_l = %d, η = %g", scheme, n, r.Steps[i]), err, "%.4g"))
						if i == 0 {
							at[fmt.Sprint(scheme, n)] = err
						}
					}
				}
			}
			full, mini := at["full8"]/at["full1"], at["reshuffle8"]/at["reshuffle1"]
			f.Verdict = Refuted
			if mini > 2 {
				f.Verdict = Confirmed
			}
			f.Summary = fmt.Sprintf("N_l = 8 has %.1f times the error of N_l = 1 with mini-batches, %.2f times with the full batch (η = %g)", mini, full, bench.LargeSteps[0])
			f.Detail = "On a Gaussian target with the full batch the error does not depend on N_l at all. With mini-batches it is not monotone: at moderate η a longer integration has the smaller error, near the limit of stability a far larger one. For networks see inner-fan."
			return f
		},
	}
}
