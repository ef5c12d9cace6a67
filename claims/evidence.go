package claims

import (
	"fmt"
	"math"
	"slices"

	"hambench/certify"
)

// orderTolerance is how far a fitted order may be from the stated one.
// Orders are whole numbers, and fits are good to a few hundredths.
const orderTolerance = 0.3

// fitted is the order of one observable of one certified row.
type fitted struct {
	problem, integrator, scheme, observable string
	inner                                   int
	order, uncertainty                      float64 // +Inf and 0 if the law is exact
	known                                   bool
}

// fits returns the orders that keep lets through.
func (e *Evidence) fits(keep func(f fitted) bool) []fitted {
	var out []fitted
	for _, r := range e.Rows {
		if r.Steps[0] == largeSteps[0] || r.Problem == bottleneckName {
			continue // steps too large for orders
		}
		for _, o := range r.Observables {
			f := fitted{problem: r.Problem, integrator: r.Integrator, scheme: r.Scheme, observable: o.Name, inner: r.Inner}
			switch o.Verdict {
			case certify.Exact:
				f.order, f.known = math.Inf(1), true
			case certify.Confirmed, certify.Refuted:
				f.order, f.uncertainty, f.known = float64(o.Order), float64(o.Uncertainty), true
			}
			if keep(f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// bottleneckName is the problem of the exact Figure 1.
var bottleneckName = certify.BottleneckProblem().Name

// rowAt returns the row with the given first step; 0 for the usual steps.
func (e *Evidence) rowAt(problem, integrator string, inner int, scheme string, first float64) (certify.Row, bool) {
	for _, r := range e.Rows {
		usual := r.Steps[0] != largeSteps[0]
		if r.Problem == problem && r.Integrator == integrator && r.Inner == inner && r.Scheme == scheme && (r.Steps[0] == first || first == 0 && usual) {
			return r, true
		}
	}
	return certify.Row{}, false
}

// errorsOf returns an observable's errors by step, NaN where unstable.
func errorsOf(r certify.Row, observable string) []float64 {
	for _, o := range r.Observables {
		if o.Name == observable {
			out := make([]float64, len(o.Errors))
			for i, x := range o.Errors {
				out[i] = float64(x)
			}
			return out
		}
	}
	return nil
}

// unequal are the built-in problems whose batches differ in curvature.
func unequal(problem string) bool { return problem == "gaussian" || problem == "scalar" }

// ofPosition tells the observables of θ alone.
func ofPosition(observable string) bool { return observable != "joint.cov" && observable != "r^2" }

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
	if f.inner > 1 {
		s += fmt.Sprintf(", N_l = %d", f.inner)
	}
	return fmt.Sprintf("%s, %s, %s, %s", s, f.scheme, f.problem, f.observable)
}

func (f fitted) number() Number { return Number{f.name(), certify.Number(f.order), f.text()} }

// smallest returns the fit of the lowest order; an unknown one counts as
// lower than all.
func smallest(fits []fitted) fitted {
	return slices.MinFunc(fits, func(a, b fitted) int {
		switch {
		case a.known != b.known:
			if b.known {
				return -1
			}
			return 1
		case a.order < b.order:
			return -1
		case a.order > b.order:
			return 1
		}
		return 0
	})
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
