package certify

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"hambench/chain/minibatch"
	"hambench/integrators/estimators"
	"hambench/internal/distinct"
	"hambench/internal/table"
)

// WriteTable prints the rows as an ASCII table, a line per observable, and below it what its
// columns and verdicts mean. Where the table is too wide for the writer, table.Write leaves out
// columns in the order of the numbers that it is given.
func WriteTable(w io.Writer, rows []Row) error {
	header := []string{"problem", "integrator", "scheme", "law", "observable",
		"relative error at smallest h", "slopes", "order", "constant", "predicted", "claim",
		"verdict"}
	law := lawOf(rows)
	var lines [][]string
	for _, r := range rows {
		name := r.Name()
		for _, o := range r.Observables {
			// In the order of the header.
			lines = append(lines, []string{
				r.Problem, name, r.Scheme, law(r), o.Name, r.finest(o), formatSlopes(o.Slopes),
				formatOrder(o), format("%.4g", o.Constant), o.formatPredicted(),
				formatClaim(o.Claim), r.formatVerdict(o),
			})
		}
	}
	// Nothing is predicted of all data at every step, and in records of before predictions.
	predicted := slices.Index(header, "predicted")
	header, minor := withoutEmpty(header, []int{0, 0, 0, 0, 0, 2, 3, 0, 1, 1, 0, 0}, lines,
		predicted, predicted+1)
	at := slices.Index(header, "law")
	header, minor = withoutEmpty(header, minor, lines, at, at+1)
	if err := table.Write(w, header, lines, minor...); err != nil {
		return err
	}
	grows := func(o Observable) bool { return o.Order < 0 }
	for _, r := range rows {
		if i := slices.IndexFunc(r.Observables, grows); i >= 0 {
			if err := table.Note(w, fmt.Sprintf("order %g: the error grows as h^%g: there is no "+
				"law that smaller steps come closer to.", float64(r.Observables[i].Order),
				float64(r.Observables[i].Order))); err != nil {
				return err
			}
			break
		}
	}
	if err := writeSettings(w, rows); err != nil {
		return err
	}
	return table.Note(w,
		"order: the lowest power of the step that is certain to be in the error, taken for a "+
			"series of whole powers; claim: a lower bound on it.",
		"confirmed: the order is at least the claim; exact: no error, where one of order 4 "+
			"would be seen;",
		"refuted: a lower power is certain; inconclusive: the errors decide nothing.")
}

// lawOf returns what tables say of the law that a row is of: "-" where all rows are of one.
func lawOf(rows []Row) func(Row) string {
	observed := func(r Row) string { return r.Observe }
	if len(distinct.Of(rows, observed)) > 1 {
		return observed
	}
	return func(Row) string { return "-" }
}

// writeSettings prints, for each problem and mini-batch scheme, how long an epoch is beside the
// highest frequency, and which law that makes; and what predictions are.
func writeSettings(w io.Writer, rows []Row) error {
	var lines []string
	schemes := make(map[string][]string) // by what is said of them, with the problem
	// Which of the notes below are needed: of predictions that are contradicted, of rows without
	// exact errors, and of predictions that leave out the integrator's own error.
	apart, alone, partial := false, false, false
	for _, r := range rows {
		for _, o := range r.Observables {
			apart, alone = apart || o.Apart, alone || o.Verdict == Alone
			partial = partial || o.PredictedOrder > 0 && o.Reason != ""
		}
		// Nothing is said of rows whose regime is not proven at every step.
		if len(r.Regimes) < len(r.Steps) || len(r.Steps) == 0 || r.unproven() {
			continue
		}
		at := func(h float64) string {
			i := slices.Index(r.Steps, h)
			law := string(r.Regimes[i])
			// The slow directions may be under another law than the fast ones.
			if r.Slowest != nil && r.Slowest[i] != r.Regimes[i] {
				slow := r.Slowest[i]
				law += fmt.Sprintf("; at the lowest frequency %s", slow)
			}
			return fmt.Sprintf("%.3g (%s)", r.Epochs[i], law)
		}
		// The schemes of a problem mostly share a line: %s is left in it for their names.
		line := fmt.Sprintf("%s, %%s: K·h·ω from %s to %s, C/ω = %.3g, with frequencies from %.3g "+
			"to ω = %.3g.", r.Problem, at(slices.Max(r.Steps)), at(slices.Min(r.Steps)), r.Damping,
			r.Low, r.High)
		lines = distinct.Append(lines, line)
		schemes[line] = distinct.Append(schemes[line], r.Scheme)
	}
	for i, line := range lines {
		lines[i] = strings.Replace(line, "%s", strings.Join(schemes[line], ", "), 1)
	}
	if len(lines) == 0 {
		return nil
	}
	lines = append(lines, "In brackets: the law of orders, the law of heat, or between them "+
		"(docs/theory.md), of the batches' own gradients and of the integrators of which the laws "+
		"are proven. predicted: the constant by the law of orders, as the step falls; -: not "+
		"proven, --json says why.")
	if apart {
		lines = append(lines, "apart: the constant is certainly not the one predicted: the step "+
			"is not as the law assumes.")
	}
	if alone {
		lines = append(lines, "prediction alone: there are no exact errors to compare with; at "+
			"steps beyond the law of orders the error is another one.")
	}
	if partial {
		lines = append(lines, "(batches): what random orders add; the integrator's own error of "+
			"order 2 is not known.")
	}
	return table.Note(w, lines...)
}

// unproven reports whether a row of an earlier version states regimes where no law is proven: of
// an estimator, or of a scheme.
func (r Row) unproven() bool {
	m, err := minibatch.Builtin().Lookup(r.Scheme)
	return r.Slowest == nil && (!r.plain() || err != nil || m.Regime(2, 1, 1, 1) == "")
}

// plain reports whether gradients are those of the batches.
func (r Row) plain() bool { return r.Estimator == "" || r.Estimator == estimators.Plain.Name }

// formatPredicted is the constant that is predicted, with its power of the step where that is
// not the order found.
func (o Observable) formatPredicted() string {
	s := format("%.4g", o.Predicted)
	if o.PredictedOrder > 0 && o.Predicted != 0 && float64(o.Order) != float64(o.PredictedOrder) {
		s += fmt.Sprintf(" h^%d", o.PredictedOrder)
	}
	switch {
	case o.Apart:
		s += " (apart)"
	case o.PredictedOrder > 0 && o.Reason != "":
		s += " (batches)"
	}
	return s
}

// finest is the relative error at the smallest step, "< bound" where it is not resolved, or
// "-" where it is not known.
func (r Row) finest(o Observable) string {
	at := slices.Index(r.Steps, slices.Min(r.Steps))
	if at >= len(o.Relative) || at >= len(o.RelativeResolution) { // of a row of the first edition
		return "-"
	}
	// An error below its bound may be 0; a bound that is not known says nothing.
	e, res := float64(o.Relative[at]), float64(o.RelativeResolution[at])
	if res == 0 && e == 0 {
		return "0"
	}
	if e <= res && !math.IsInf(res, 1) {
		return fmt.Sprintf("< %.0e", res)
	}
	return format("%.3e", o.Relative[at])
}

// formatVerdict is the verdict on an observable, with the largest spectral radius over the
// row's steps if the chain is unstable.
func (r Row) formatVerdict(o Observable) string {
	if o.Verdict != Unstable {
		return string(o.Verdict)
	}
	radius := Number(0) // the largest; NaN stands where the chain is stable
	for _, v := range r.Radii {
		if v > radius {
			radius = v
		}
	}
	return fmt.Sprintf("unstable (radius %.4g)", float64(radius))
}

// format is a number by a verb of package fmt, or "-" for what is not finite.
func format(verb string, v Number) string {
	x := float64(v)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	return fmt.Sprintf(verb, x)
}

// formatOrder is the order where it is known, else its lower bound where there is one.
func formatOrder(o Observable) string {
	switch {
	case !math.IsNaN(float64(o.Order)):
		return fmt.Sprintf("%g", float64(o.Order))
	case !math.IsNaN(float64(o.AtLeast)):
		return fmt.Sprintf(">= %g", float64(o.AtLeast))
	}
	return "-"
}

// formatClaim is the claimed order, or "exact" for the infinite one of a law that is claimed to
// have no error.
func formatClaim(v Number) string {
	if math.IsInf(float64(v), 1) {
		return "exact"
	}
	return format("%g", v)
}

// formatSlopes are the local orders between neighbouring steps in one cell, from the largest
// steps down.
func formatSlopes(slopes []Number) string {
	var s []string
	for _, v := range slopes {
		s = append(s, format("%.2f", v))
	}
	return strings.Join(s, " ")
}

// Orders returns the orders of the position's law and of the joint law in short, as
// one observable of each shows them: a number, "exact", "≥ 2" if only a bound is
// known, "?" if nothing is, "–" if the row has no such observable.
func (r Row) Orders() (position, joint string) {
	return r.shortOrder("theta.cov", "theta^2"), r.shortOrder("joint.cov", "r^2")
}

// shortOrder is the order of the first of the named observables that the row has, in the words
// of Orders.
func (r Row) shortOrder(names ...string) string {
	for _, x := range r.Observables {
		switch order, least := float64(x.Order), float64(x.AtLeast); {
		// An observable of another name: the next one.
		case !slices.Contains(names, x.Name):
		case x.Verdict == Exact:
			return "exact"
		case !math.IsNaN(order) && !math.IsInf(order, 0):
			return fmt.Sprintf("%.2g", order)
		case !math.IsNaN(least) && least > 0:
			return fmt.Sprintf("≥ %.2g", least)
		default:
			return "?"
		}
	}
	return "–"
}

// WriteAnswers prints the rows' Answers as an ASCII table, a line for each budget, or one line
// of a row without budgets; distances and energies are those at the smallest step. Columns of
// what was not asked for are left out.
func WriteAnswers(w io.Writer, rows []Row) error {
	header := []string{"problem", "integrator", "scheme", "law", "largest stable h",
		"Kolmogorov at smallest h", "Wasserstein", "covariance bias at smallest h", "energy error",
		"batch energy error", "budget", "best h", "MSE there", "bias", "IACT", "worst average"}
	// The higher a column's number, the earlier a narrow terminal does without it.
	minor := []int{3, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 5, 2, 4}
	const ofBudget = 10 // the first of the columns of a budget; those before it are of the row
	law := lawOf(rows)
	var lines [][]string
	for _, r := range rows {
		line := slices.Concat([]string{r.Problem, r.Name(), r.Scheme, law(r)},
			slices.Repeat([]string{"-"}, len(header)-4))
		// Without a largest stable step there is none that is too large.
		if r.StableStep != nil && math.IsInf(float64(*r.StableStep), 1) {
			line[4] = "none"
		} else if r.StableStep != nil {
			line[4] = format("%.4g", *r.StableStep)
		}
		for i, at := range [][]Number{r.Kolmogorov, r.Wasserstein, r.CovarianceBias,
			r.EnergyError, r.BatchEnergyError} {
			if at != nil {
				line[5+i] = format("%.3g", at[slices.Index(r.Steps, slices.Min(r.Steps))])
			}
		}
		// The first budget stands in the row's own line, others in copies of it.
		lines = append(lines, line)
		for i, b := range r.Budgets {
			if i > 0 {
				lines = append(lines, slices.Clone(line))
			}
			at := lines[len(lines)-1]
			copy(at[ofBudget:], []string{fmt.Sprintf("%g", b.Gradients), format("%.4g", b.Step),
				format("%.3g", b.Best) + b.approximate(), format("%.2g", b.Bias),
				format("%.3g", b.Autocorrelation), b.Worst})
		}
	}
	// What was not asked for is "-" in all lines.
	header, minor = withoutEmpty(header, minor, lines, 3, len(header))
	return table.Write(w, header, lines, minor...)
}

// approximate marks an error by the variance of a normal process that the chain is not, which is
// no bound; it is empty for others.
func (b AtBudget) approximate() string {
	if b.Normal {
		return " (normal)"
	}
	return ""
}

// withoutEmpty leaves out those of the columns from … to − 1 that are "-" in all lines, of the
// header, of its columns' weights, and of the lines, in place.
func withoutEmpty(header []string, minor []int, lines [][]string, from, to int) ([]string, []int) {
	// Backwards, so that the columns still to come keep their places.
	for i := to - 1; i >= from; i-- {
		if slices.ContainsFunc(lines, func(line []string) bool { return line[i] != "-" }) {
			continue
		}
		header, minor = slices.Delete(header, i, i+1), slices.Delete(minor, i, i+1)
		for j := range lines {
			lines[j] = slices.Delete(lines[j], i, i+1)
		}
	}
	return header, minor
}

// Name names the sampler of a row: the integrator, the estimator unless it is plain,
// the integrator's own parameters where they were given, in the order of their names, and N_l
// above 1. It is text for people: rows are told apart by their fields.
func (r Row) Name() string {
	name := r.Integrator
	if !r.plain() {
		name += ", " + r.Estimator
	}
	for _, parameter := range slices.Sorted(maps.Keys(r.Values)) {
		// In full digits and without an exponent, as it may be given on the command line.
		name += ", " + parameter + " = " + strconv.FormatFloat(r.Values[parameter], 'f', -1, 64)
	}
	if r.Inner > 1 {
		name += fmt.Sprintf(", N_l = %d", r.Inner)
	}
	return name
}
