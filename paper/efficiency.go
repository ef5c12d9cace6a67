package paper

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/certify"
)

// sensible is how many times the mean squared error of the best a sensible choice
// may have.
const sensible = 2

// bout compares the best mean squared errors of a choice and of the best of its
// rivals under one condition.
type bout struct {
	problem, scheme string
	gradients       float64
	choice, best    string
	ratio           float64 // of the choice over the best
}

// bouts are those of all rows that variant names, in the order of the rows. A
// choice or a rival without a known error takes no part.
func (e *Evidence) bouts(variant func(certify.Row) (problem, name string), chosen, rival func(name string) bool) []bout {
	var all []bout
	errs := make(map[bout]float64)
	for _, r := range e.Rows(bench.OfEfficiency) {
		problem, name := variant(r)
		for _, budget := range r.Budgets {
			b, mse := bout{problem: problem, scheme: r.Scheme, gradients: budget.Gradients, choice: name}, float64(budget.Best)
			if _, again := errs[b]; name != "" && !math.IsNaN(mse) && !again { // again: of another study
				all = append(all, b)
				errs[b] = mse
			}
		}
	}
	var out []bout
	for _, a := range all {
		b, least, alone := a, math.Inf(1), true
		for _, o := range all {
			if o.problem != a.problem || o.scheme != a.scheme || o.gradients != a.gradients || !rival(o.choice) {
				continue
			}
			alone = alone && o.choice == a.choice
			if errs[o] < least {
				least, b.best = errs[o], o.choice
			}
		}
		if b.ratio = errs[a] / least; chosen(a.choice) && !alone && !math.IsInf(least, 1) {
			out = append(out, b)
		}
	}
	return out
}

// decideBouts confirms if every ratio lies between low and high, and refutes if none
// does. The summary's format takes the smallest and the largest ratio, and how many
// of them hold.
func decideBouts(bouts []bout, low, high float64, summary string) Finding {
	if len(bouts) == 0 {
		return unavailable(computeAll)
	}
	f := Finding{Verdict: NotDecided}
	var all []float64
	var others []string // where the ratio lies outside
	good := 0
	for _, b := range bouts {
		f.add(fmt.Sprintf("mean squared error of %s / %s, %s, %s, %g gradients", b.choice, b.best, b.problem, b.scheme, b.gradients), b.ratio, "%.3g")
		all = append(all, b.ratio)
		if at := b.problem + " under " + b.scheme; b.ratio >= low && b.ratio <= high {
			good++
		} else if !slices.Contains(others, at) {
			others = append(others, at)
		}
	}
	switch good {
	case len(all):
		f.Verdict = Confirmed
	case 0:
		f.Verdict = Refuted
	}
	f.Summary = fmt.Sprintf(summary, floats.Min(all), floats.Max(all), good, len(all))
	f.Detail = "All this is of these problems."
	if len(others) > 0 {
		f.Detail += " Cases to the contrary: " + strings.Join(others, "; ") + "."
	}
	return f
}

const withFriction = ", C = " // stands between a problem's name and a friction that is not its own

func innerSensible(e *Evidence) Finding {
	variant := func(r certify.Row) (problem, name string) {
		if r.Integrator != "lietrotter" {
			return "", ""
		}
		return r.Problem, fmt.Sprintf("N_l = %d", r.Inner)
	}
	bouts := e.bouts(variant, func(name string) bool { return name == "N_l = 1" }, func(string) bool { return true })
	f := decideBouts(bouts, 0, sensible, "%.2f to %.2f times the mean squared error of the best N_l at the same number of gradients, at most twice in %d of %d cases")
	f.Detail += " For networks see inner-fan."
	return f
}

func mt3Cost(e *Evidence) Finding {
	variant := func(r certify.Row) (problem, name string) {
		if r.Inner > 1 {
			return "", ""
		}
		return r.Problem, r.Integrator
	}
	second := func(name string) bool { return name == "symmetric" || name == "lietrotter" }
	f := decideBouts(e.bouts(variant, func(name string) bool { return name == "mt3" }, second), 1, math.Inf(1),
		"mt3 has %.2f to %.2f times the mean squared error of the better second-order scheme at the same number of gradients, no less in %d of %d cases")
	f.Detail += " With the full batch and far more gradients the higher order must win."
	return f
}

// frictionOf is the friction of a name that has one.
func frictionOf(name string) float64 {
	_, c, _ := strings.Cut(name, withFriction[2:])
	x, _ := strconv.ParseFloat(c, 64)
	return x
}

func frictionEfficient(e *Evidence) Finding {
	variant := func(r certify.Row) (string, string) {
		problem, c, ok := strings.Cut(r.Problem, withFriction)
		if !ok {
			return "", ""
		}
		return problem, withFriction[2:] + c
	}
	bouts := e.bouts(variant, func(name string) bool { c := frictionOf(name); return c >= 5 && c <= 10 }, func(string) bool { return true })
	f := decideBouts(bouts, 0, sensible, "%.2f to %.2f times the mean squared error of the best C at the same number of gradients, at most twice in %d of %d cases")
	var best []float64 // in the unit ω
	for _, b := range bouts {
		var omega float64
		if _, err := fmt.Sscanf(b.problem, "ω = %g", &omega); err == nil {
			best = append(best, frictionOf(b.best)/omega)
		}
	}
	if len(best) > 0 {
		f.Summary += fmt.Sprintf("; the best C is %.2g to %.2g ω, ω the target's lowest frequency", floats.Min(best), floats.Max(best))
		f.Detail += " C has the unit of ω, and counts in it. Under the prior N(0, I) directions that the data say nothing of have ω = 1; those that a network's predictions depend on have larger ones, which are not known from here. For networks see friction-reasonable."
	}
	return f
}
