package paper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"hambench/bench"
	"hambench/certify"
)

// orderTolerance is how far a fitted order may be from the stated one.
// Orders are whole numbers, and fits are good to a few hundredths.
const orderTolerance = 0.3

// fitted is the order of one observable of one row of exact errors.
type fitted struct {
	problem, integrator, scheme, observable string
	values                                  map[string]float64 // of the integrator's own parameters
	inner                                   int
	order, uncertainty                      float64 // +Inf and 0 if the law is exact
	known                                   bool
}

// fits returns the orders found for a purpose for which keep is true.
func (e *Evidence) fits(purpose string, keep func(f fitted) bool) []fitted {
	var out []fitted
	for _, r := range e.Rows(purpose) {
		for _, o := range r.Observables {
			f := fitted{problem: r.Problem, integrator: r.Integrator, scheme: r.Scheme, observable: o.Name, values: r.Values, inner: r.Inner}
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

// under returns the orders on the problems whose batches differ in curvature,
// under a scheme.
func (e *Evidence) under(scheme string, keep func(f fitted) bool) []fitted {
	return e.fits(bench.OfOrders, func(f fitted) bool { return f.problem != toyProblem && f.scheme == scheme && keep(f) })
}

// every keeps all.
func every(fitted) bool { return true }

// toyProblem is the toy of the paper's Figure 3. Its batches have one and the
// same curvature, so that mini-batches cost less there than elsewhere.
const toyProblem = "toy"

// row returns the first row of a purpose, integrator, N_l and scheme.
func (e *Evidence) row(purpose, integrator string, inner int, scheme string) (certify.Row, bool) {
	rows := e.Rows(purpose)
	i := slices.IndexFunc(rows, func(r certify.Row) bool {
		return r.Integrator == integrator && r.Inner == inner && r.Scheme == scheme
	})
	if i < 0 {
		return certify.Row{}, false
	}
	return rows[i], true
}

// covariance names the observable that the claims about single errors use.
const covariance = "theta.cov"

// errorsOf returns the errors of the covariance of θ by step, NaN where
// unstable.
func errorsOf(r certify.Row) []float64 {
	var out []float64
	for _, o := range r.Observables {
		if o.Name == covariance {
			for _, x := range o.Errors {
				out = append(out, float64(x))
			}
		}
	}
	return out
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
	s := f.integrator
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		s += fmt.Sprintf(", %s = %g", name, f.values[name])
	}
	if f.inner > 1 {
		s += fmt.Sprintf(", N_l = %d", f.inner)
	}
	return fmt.Sprintf("%s, %s, %s, %s", s, f.scheme, f.problem, f.observable)
}

// number is the order as a finding states it.
func (f fitted) number() Number { return Number{f.name(), certify.Number(f.order), f.text()} }

// smallest returns the fit of the lowest order; an unknown one counts as
// lower than all.
func smallest(fits []fitted) fitted {
	return slices.MinFunc(fits, func(a, b fitted) int {
		if a.known != b.known {
			return cmp.Compare(indicator(a.known), indicator(b.known))
		}
		return cmp.Compare(a.order, b.order)
	})
}

// indicator is 1 for true.
func indicator(b bool) int {
	if b {
		return 1
	}
	return 0
}

// smallestBy returns the smallest fit of each group, in order of appearance.
func smallestBy(fits []fitted, group func(fitted) string) []fitted {
	var names []string
	groups := make(map[string][]fitted)
	for _, f := range fits {
		g := group(f)
		if groups[g] == nil {
			names = append(names, g)
		}
		groups[g] = append(groups[g], f)
	}
	var out []fitted
	for _, n := range names {
		out = append(out, smallest(groups[n]))
	}
	return out
}

// byIntegratorAndProblem groups the observables of one chain's law: its order
// is that of the worst.
func byIntegratorAndProblem(f fitted) string {
	return fmt.Sprint(f.integrator, f.inner, f.problem)
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
	low, high := math.Inf(1), math.Inf(-1)
	exact := 0
	for _, x := range fits {
		if math.IsInf(x.order, 1) {
			exact++
			continue
		}
		low, high = min(low, x.order), max(high, x.order)
	}
	switch {
	case exact == len(fits):
		return "exact"
	case fmt.Sprintf("%.2f", low) == fmt.Sprintf("%.2f", high):
		return fmt.Sprintf("order %.2f", low)
	}
	return fmt.Sprintf("orders from %.2f to %.2f", low, high)
}

// unavailable is the finding where there is no evidence yet.
func unavailable(command string) Finding {
	return Finding{Verdict: NotDecided, Summary: "no results yet: run " + command}
}
