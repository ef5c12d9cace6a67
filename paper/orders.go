package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/certify"
)

// orderTolerance is how far a fitted order may be from the stated one.
// Orders are whole numbers, and fits are good to a few hundredths.
const orderTolerance = 0.3

// fitted is the order of one observable of one row of exact errors.
type fitted struct {
	certify.Row
	observable         string
	order, uncertainty float64 // +Inf and 0 if the law is exact
	known              bool
	claimed            float64 // the least that is claimed of it, for atLeast
}

// fits returns the orders found for a purpose for which keep is true, of a chain
// that has several names once.
func (e *Evidence) fits(purpose string, keep func(f fitted) bool) []fitted {
	return fitsOf(independent(e.Rows(purpose)), keep)
}

func fitsOf(rows []certify.Row, keep func(f fitted) bool) []fitted {
	var out []fitted
	for _, r := range rows {
		for _, o := range r.Observables {
			f := fitted{Row: r, observable: o.Name}
			switch o.Verdict {
			case certify.Exact:
				f.order, f.known = math.Inf(1), true
			case certify.Confirmed, certify.Refuted:
				f.order, f.uncertainty, f.known = float64(o.Order), float64(o.Uncertainty), true
				if math.IsNaN(f.order) { // what is known at least
					f.order, f.known = float64(o.AtLeast), !math.IsNaN(float64(o.AtLeast))
				}
			}
			if keep(f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// independent leaves out rows whose errors are those of an earlier one under
// another name: frozen sghmc-adaptive, and sghmc with the full batch, are
// leapfrog, and so are no evidence of their own.
func independent(rows []certify.Row) []certify.Row {
	var out []certify.Row
	for _, r := range rows {
		if !slices.ContainsFunc(out, func(o certify.Row) bool {
			return o.Problem == r.Problem && o.Scheme == r.Scheme && o.Inner == r.Inner && o.Estimator == r.Estimator &&
				o.Integrator != r.Integrator && sameErrors(o, r)
		}) {
			out = append(out, r)
		}
	}
	return out
}

// sameErrors reports whether the errors of two rows are equal, but for
// round-off and for what neither resolves, and some are resolved.
func sameErrors(a, b certify.Row) bool {
	seen := false
	for _, o := range a.Observables {
		x, y := errorsOf(a, o.Name), errorsOf(b, o.Name)
		if !floats.EqualFunc(x, y, func(v, w float64) bool { return v == w || math.Abs(v-w) <= 1e-9*v || v != v && w != w }) {
			return false
		}
		seen = seen || len(x) > 0 && floats.Max(x) > 0
	}
	return seen
}

// under returns the orders on the problems whose batches differ in curvature,
// under a scheme.
func (e *Evidence) under(scheme string, keep func(f fitted) bool) []fitted {
	return e.fits(bench.OfOrders, func(f fitted) bool { return f.Problem != toyProblem && f.Scheme == scheme && keep(f) })
}

// smallestUnder returns the smallest of these orders for each integrator on
// each problem.
func (e *Evidence) smallestUnder(scheme string, keep func(f fitted) bool) []fitted {
	return smallestBy(e.under(scheme, keep), byIntegratorAndProblem)
}

// worst returns the orders of the worst observables found for a purpose for which
// keep is true.
func (e *Evidence) worst(purpose string, keep func(f fitted) bool) []fitted {
	return smallestBy(e.fits(purpose, keep), byIntegratorAndProblem)
}

// worstUnder decides whether the integrators' orders of the worst observable under
// a scheme lie in an interval, on problems whose batches differ in curvature.
func (e *Evidence) worstUnder(purpose, scheme string, low, high float64, integrators ...string) Finding {
	return between(e.worst(purpose, func(f fitted) bool {
		return f.Problem != toyProblem && f.Scheme == scheme && slices.Contains(integrators, f.Integrator)
	}), low, high)
}

// toyProblem is the toy of the paper's Figure 3. Its batches have one and the
// same curvature, so that mini-batches cost less there than elsewhere.
const toyProblem = "toy"

// row returns the first row of a purpose, integrator and scheme with N_l = 1; nil
// if there is none.
func (e *Evidence) row(purpose, integrator, scheme string) *certify.Row {
	for _, x := range e.Exact {
		if x.Purpose == purpose && x.Integrator == integrator && x.Inner == 1 && x.Scheme == scheme {
			return &x.Row
		}
	}
	return nil
}

// covariance names the observable that the claims about single errors use.
const covariance = "theta.cov"

// errorsOf returns the errors of an observable by step, NaN where unstable; 0
// stands for what is not above its resolution.
func errorsOf(r certify.Row, observable string) []float64 {
	var out []float64
	for _, o := range r.Observables {
		if o.Name != observable {
			continue
		}
		for i, x := range o.Errors {
			if i < len(o.Resolution) && x <= o.Resolution[i] {
				x = 0
			}
			out = append(out, float64(x))
		}
	}
	return out
}

// ratios returns, by step, the error of an observable under a over that under
// b: NaN where one is unstable or both are too small to tell. There are none of
// an observable that one of the two does not have, as sgld has no momentum.
func ratios(a, b certify.Row, observable string) []float64 {
	x, y := errorsOf(a, observable), errorsOf(b, observable)
	if len(x) != len(y) {
		return nil
	}
	return floats.DivTo(x, x, y)
}

// versus is the error of an observable under one chain over that under another,
// on one problem.
type versus struct {
	a, b       certify.Row
	observable string
	ratios     []float64 // by step
}

// pairs compares the observables of every two rows on one problem for which keep
// is true.
func pairs(rows []certify.Row, keep func(a, b certify.Row) bool) []versus {
	var out []versus
	for _, a := range rows {
		for _, b := range rows {
			if a.Problem != b.Problem || !keep(a, b) {
				continue
			}
			for _, o := range a.Observables {
				if r := ratios(a, b, o.Name); len(r) > 0 {
					out = append(out, versus{a, b, o.Name, r})
				}
			}
		}
	}
	return out
}

// atSmallest is the ratio at the smallest step.
func (v versus) atSmallest() (h, ratio float64) {
	i := floats.MinIdx(v.a.Steps)
	return v.a.Steps[i], v.ratios[i]
}

// ofPosition reports whether an observable is one of θ alone.
func ofPosition(observable string) bool { return observable != "joint.cov" && observable != "r^2" }

// text is the order as people read it.
func (f fitted) text() string {
	switch {
	case !f.known:
		return "not known"
	case math.IsInf(f.order, 1):
		return "exact"
	case math.IsInf(f.uncertainty, 1):
		return fmt.Sprintf("%.2f", f.order)
	}
	return fmt.Sprintf("%.2f ± %.2f", f.order, f.uncertainty)
}

// name says what the order is of.
func (f fitted) name() string {
	return fmt.Sprintf("%s, %s, %s, %s", f.Name(), f.Scheme, f.Problem, f.observable)
}

// number is the order as a finding states it.
func (f fitted) number() Number { return Number{f.name(), certify.Number(f.order), f.text()} }

// indicator is 1 for true.
func indicator(b bool) int {
	if b {
		return 1
	}
	return 0
}

// smallestBy returns the fit of the lowest order of each group, in order of
// appearance. An unknown order counts as lower than all.
func smallestBy(fits []fitted, group func(fitted) string) []fitted {
	var out []fitted
	at := make(map[string]int) // places in out
	for _, f := range fits {
		i, ok := at[group(f)]
		if !ok {
			at[group(f)] = len(out)
			out = append(out, f)
		} else if f.below(out[i]) {
			out[i] = f
		}
	}
	return out
}

// below compares orders for smallestBy.
func (f fitted) below(g fitted) bool {
	if f.known != g.known {
		return g.known
	}
	return cmp.Less(f.order, g.order)
}

// byProblem groups by problems, whose names may say more than the potential.
func byProblem(f fitted) string { return f.Problem }

// byIntegratorAndProblem groups the observables of one chain's law: its order
// is that of the worst.
func byIntegratorAndProblem(f fitted) string {
	return fmt.Sprint(f.Integrator, f.Values, f.Estimator, f.Inner, f.Problem)
}

// between decides whether every order lies in [low, high], give or take the
// tolerance. One that certainly does not refutes; one that is not known
// leaves it open.
func between(fits []fitted, low, high float64) Finding {
	f := Finding{Verdict: Confirmed}
	if len(fits) == 0 {
		return unavailable(computeAll)
	}
	for _, x := range fits {
		f.Numbers = append(f.Numbers, x.number())
		switch {
		case !x.known:
			if f.Verdict == Confirmed {
				f.Verdict, f.Summary = NotDecided, "the order of "+x.name()+" could not be fitted"
			}
		case x.order < low-orderTolerance || x.order > high+orderTolerance:
			f.Verdict, f.Summary = Refuted, fmt.Sprintf("%s has order %s", x.name(), x.text())
		}
	}
	if f.Verdict == Confirmed {
		f.Summary = span(fits)
	}
	return f
}

// span says between what the orders lie.
func span(fits []fitted) string {
	var finite []float64
	for _, x := range fits {
		if !math.IsInf(x.order, 1) {
			finite = append(finite, x.order)
		}
	}
	if len(finite) == 0 {
		return "exact"
	}
	low, high := fmt.Sprintf("%.2f", floats.Min(finite)), fmt.Sprintf("%.2f", floats.Max(finite))
	if low == high {
		return "order " + low
	}
	return "orders from " + low + " to " + high
}

// unavailable is the finding where there is no evidence yet.
func unavailable(command string) Finding {
	return Finding{Verdict: NotDecided, Summary: "no results yet: run " + command}
}

// reproduce is the command that gives a study's results.
const reproduce = "hambench reproduce --only "

// reproduceMore gives results of a study beyond those that a smaller profile
// has.
const reproduceMore = "hambench reproduce --profile paper --only "

// holds is the verdict on a condition that decides.
func holds(condition bool) Verdict {
	if condition {
		return Confirmed
	}
	return Refuted
}

// add appends a number with the format that people read it in.
func (f *Finding) add(name string, v float64, verb string) {
	f.Numbers = append(f.Numbers, Number{name, certify.Number(v), fmt.Sprintf(verb, v)})
}
