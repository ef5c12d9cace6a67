package figures

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/certify"
	"hambench/internal/distinct"
	"hambench/paper"
)

// observableLabels are the observables that the figure of orders shows, and
// their names on panels. For each kind of problem there is one of the
// position alone and one that the momentum takes part in: their orders
// differ.
var observableLabels = map[string]string{
	"theta.cov": "cov θ",
	"joint.cov": "cov(θ, r)",
	"theta^2":   "E θ²",
	"r^2":       "E r²",
}

// exactLine is the certified errors of one observable of one integrator under
// one scheme.
type exactLine struct {
	problem, scheme string
	integrator      string // with its parameters and N_l
	certify.Observable
	series Series // without a style
}

// exactLines are those of the observables for which keep is true, in the order
// of the rows.
func exactLines(rows []bench.Evidence, keep func(certify.Observable) bool) []exactLine {
	var out []exactLine
	for _, r := range rows {
		name := methodName(r.Row) + valuesText(r.Values)
		if r.Inner > 1 {
			name += fmt.Sprintf(", N_l = %d", r.Inner)
		}
		for _, x := range r.Observables {
			if keep(x) {
				out = append(out, exactLine{r.Problem, r.Scheme, name, x, errorSeries(r.Row, x)})
			}
		}
	}
	return out
}

// errorSeries are exact errors by ascending step. An error that is not resolved
// leaves a gap; an unstable chain counts as lost.
func errorSeries(r certify.Row, x certify.Observable) Series {
	h, order := slices.Clone(r.Steps), make([]int, len(r.Steps))
	floats.ArgsortStable(h, order)
	s := Series{X: h}
	for _, i := range order {
		e, lost := float64(x.Errors[i]), 0.0
		if i < len(r.Radii) && r.Radii[i] >= 1 {
			lost = 1
		} else if !(e > float64(x.Resolution[i])) || x.Verdict == certify.Exact {
			e = math.NaN()
		}
		s.Y = append(s.Y, e)
		s.Lost = append(s.Lost, lost)
	}
	if slices.Max(append(s.Lost, 0)) == 0 {
		s.Lost = nil
	}
	return s
}

// drawOrders makes the figure of exact errors against the step size: a row of
// panels per integrator, a panel per problem and observable, a line per scheme;
// and the table of fitted orders.
func drawOrders(d *drawing) error {
	have, missing := d.plan.Evidence(d.Results.Rows)
	shown := have
	if s := d.plan.Figure; s != nil && slices.Equal(s.Lines, []string{"estimator"}) {
		shown = byEstimator(have)
	}
	lines := exactLines(shown, func(x certify.Observable) bool { return observableLabels[x.Name] != "" })
	if len(lines) == 0 {
		return fmt.Errorf("figures: no exact errors of study %s (0 of %d jobs): run it first", d.plan.ID, len(d.plan.Exact))
	}
	if len(missing) > 0 {
		d.note(fmt.Sprintf("Incomplete: %d of %d exact jobs are missing.", len(missing), len(d.plan.Exact)))
	}
	f := ordersFigure(lines)
	f.ID, f.Title = d.plan.ID, d.plan.Title
	f.Data = ordersRecords(have)
	d.out.Figures = append(d.out.Figures, f)
	d.writeOrders(have)
	if claims := paper.Later(d.plan.ID); len(claims) > 0 {
		return d.writeClaims(paper.Decide(claims, paper.Gather([]bench.Plan{d.plan}, d.Results)), "-claims")
	}
	return nil
}

// methodName is an integrator with its estimator of gradients.
func methodName(r certify.Row) string {
	if r.Estimator == "" {
		return r.Integrator
	}
	return r.Integrator + ", " + r.Estimator
}

// byEstimator exchanges estimators and schemes, so that the former are the lines.
func byEstimator(rows []bench.Evidence) []bench.Evidence {
	out := slices.Clone(rows)
	for i, r := range rows {
		out[i].Estimator, out[i].Scheme = "", cmp.Or(r.Estimator, "plain")
		if r.Scheme != rows[0].Scheme || rows[0].Scheme != rows[len(rows)-1].Scheme {
			out[i].Estimator = r.Scheme
		}
	}
	return out
}

// alike is by what ratio the errors of two integrators may differ if one row
// stands for both: by less than shows.
const alike = 1.02

// same reports whether two integrators have the same lines.
func same(a, b []exactLine) bool {
	return slices.EqualFunc(a, b, func(a, b exactLine) bool {
		return a.problem == b.problem && a.Name == b.Name && a.scheme == b.scheme && a.series.near(b.series, alike)
	})
}

// near reports whether two lines have the same points but for a ratio.
func (s Series) near(o Series, ratio float64) bool {
	return slices.Equal(s.X, o.X) && slices.EqualFunc(s.Y, o.Y, func(a, b float64) bool {
		return math.IsNaN(a) && math.IsNaN(b) || max(a, b) <= ratio*min(a, b)
	})
}

// ordersFigure has common axes throughout, so that panels can be compared.
// Integrators with the same errors share a row.
func ordersFigure(lines []exactLine) *Figure {
	var names, schemes []string
	var columns [][2]string
	of := make(map[string][]exactLine)
	for _, l := range lines {
		names, schemes = distinct.Append(names, l.integrator), distinct.Append(schemes, l.scheme)
		columns = distinct.Append(columns, [2]string{l.problem, l.Name})
		of[l.integrator] = append(of[l.integrator], l)
	}
	f := &Figure{Width: 152, Height: 112}
	x, y := errorAxes(lines, f.Width)
	if len(names) == 1 { // whose height the label would exceed
		y.Label = "absolute error"
	}
	for i, scheme := range schemes {
		f.Legend = append(f.Legend, Entry{Name: scheme, Label: scheme, Style: Categorical(i)})
	}
	f.addSlopes(y.Lost)
	var shared []string
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(other string) bool { return same(of[other], of[name]) }) {
			continue
		}
		var twins []string
		for _, other := range names[i+1:] {
			if same(of[name], of[other]) {
				twins = append(twins, other)
			}
		}
		if len(twins) > 0 {
			shared = append(shared, name+" stands for "+strings.Join(twins, " and ")+" as well.")
		}
		var row []*Panel
		for _, c := range columns {
			p := &Panel{Title: fmt.Sprintf("%s: %s, %s", name, observableLabels[c[1]], c[0]), X: x, Y: y, Series: slopes(x, y)}
			own := slices.DeleteFunc(slices.Clone(of[name]), func(l exactLine) bool { return l.problem != c[0] || l.Name != c[1] })
			for _, l := range own {
				l.series.Name, l.series.Style = l.scheme, Categorical(slices.Index(schemes, l.scheme))
				p.Series = append(p.Series, l.series)
			}
			p.Note = orderNote(own, schemes, math.Pow(y.High/y.Low, lineWidth/2/dataHeight(f.Height)))
			row = append(row, p)
		}
		f.Rows = append(f.Rows, row)
	}
	f.Caption = strings.Join(append([]string{
		"Computed without Monte Carlo. Grey: slopes of order 1, 2, 3. Orders in panels are those that the integrator claims for what the panel shows. Exact: the error is round-off. \"A as B\": the line of A lies on that of B. Problems: the built-in ones of hambench certify.",
	}, shared...), " ")
	return f
}

// orderNote states the order that an integrator claims with the full batch for
// the law that a panel shows, which lines lie on each other, those within a
// ratio, and why there is no line for a scheme.
func orderNote(lines []exactLine, schemes []string, ratio float64) string {
	if len(lines) == 0 {
		return "does not run on this problem"
	}
	var notes, exact, unresolved []string
	absent, covered := slices.Clone(schemes), make(map[string][]string)
	for i, l := range lines {
		if k := slices.IndexFunc(lines[:i], func(o exactLine) bool { return l.series.near(o.series, ratio) }); k >= 0 {
			covered[lines[k].scheme] = append(covered[lines[k].scheme], l.scheme)
		}
		absent = slices.DeleteFunc(absent, func(s string) bool { return s == l.scheme })
		switch {
		case l.Verdict == certify.Exact:
			exact = append(exact, l.scheme)
		case !slices.ContainsFunc(l.series.Y, func(y float64) bool { return y > 0 }):
			unresolved = append(unresolved, l.scheme)
		case l.scheme == "full" && isFinite(float64(l.Claim)):
			notes = append(notes, "full batch: order "+decimal(float64(l.Claim)))
		}
	}
	for _, l := range lines {
		if on := covered[l.scheme]; len(on) > 0 && !slices.Contains(exact, l.scheme) {
			notes = append(notes, strings.Join(on, ", ")+" as "+l.scheme)
		}
	}
	for _, n := range []struct {
		what    string
		schemes []string
	}{{"exact", exact}, {"not resolved", unresolved}, {"not run", absent}} {
		if len(n.schemes) > 0 {
			notes = append(notes, n.what+": "+strings.Join(n.schemes, ", "))
		}
	}
	return strings.Join(notes, "\n")
}

// errorAxes are common axes of exact errors.
func errorAxes(lines []exactLine, width float64) (x, y Axis) {
	var steps, errors []float64
	x, y = Axis{Label: stepLabel, Unit: timeUnit, Log: true}, Axis{Label: "absolute error of the stationary expectation", Log: true, Powers: true, Grid: true}
	for _, l := range lines {
		steps, errors = append(steps, l.series.X...), append(errors, l.series.Y...)
		if l.series.Lost != nil {
			y.Lost = "unstable"
		}
	}
	y = y.over(errors).padded(0.06)
	y.Low = y.at(-0.12) // a line of a note below the smallest error
	return x.over(steps).roomy(width), y
}

// slopes are lines of error ∝ h^p for p = 1, 2, 3 from a common point at the
// upper right, as far as they stay on the panel.
func slopes(x, y Axis) []Series {
	var out []Series
	for order := 1.0; order <= 3; order++ {
		left := max(x.Low, x.High*math.Pow(y.Low/y.High, 1/order))
		out = append(out, Series{Name: "slopes", Style: dotted(0.6), X: []float64{left, x.High}, Y: []float64{y.High * math.Pow(left/x.High, order), y.High}})
	}
	return out
}

// addSlopes puts slopes, and lost points if there are any, into the legend.
func (f *Figure) addSlopes(lost string) {
	f.Legend = append(f.Legend, Entry{Name: "slopes", Label: "orders 1, 2, 3", Style: dotted(0.6)})
	if lost != "" {
		f.Legend = append(f.Legend, Entry{Label: "no stationary law", Style: Style{Color: ink}, Lost: 1})
	}
}

// ordersRecords have every error and the fitted orders.
func ordersRecords(have []bench.Evidence) Records {
	out := Records{Columns: []string{"problem", "integrator", "nl", "scheme", "observable", "h", "error", "resolution", "order", "uncertainty", "constant", "claim", "verdict"}}
	for _, r := range have {
		for _, x := range r.Observables {
			for i, h := range r.Steps {
				out.add(r.Problem, methodName(r.Row), r.Inner, r.Scheme, x.Name, h, float64(x.Errors[i]), float64(x.Resolution[i]),
					float64(x.Order), float64(x.Uncertainty), float64(x.Constant), float64(x.Claim), string(x.Verdict))
			}
		}
	}
	return out
}

// writeOrders writes the fitted orders as text and JSON. The text has hundreds
// of lines: the terminal gets their summary.
func (d *drawing) writeOrders(have []bench.Evidence) {
	var rows []certify.Row
	for _, r := range have {
		rows = append(rows, r.Row)
	}
	d.note(countVerdicts(rows) + "; the table is " + d.plan.ID + ".txt")
	d.file(".txt", func(w io.Writer) error {
		fmt.Fprintln(w, "Fitted orders of the exact ergodic error")
		return certify.WriteTable(w, rows)
	})
	d.file(".json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	})
}

// countVerdicts says how many fitted orders have which verdict.
func countVerdicts(rows []certify.Row) string {
	n := make(map[certify.Verdict]int)
	total := 0
	for _, row := range rows {
		for _, o := range row.Observables {
			n[o.Verdict]++
			total++
		}
	}
	line := fmt.Sprintf("%d orders", total)
	for _, v := range []certify.Verdict{certify.Confirmed, certify.Exact, certify.Refuted, certify.Unstable, certify.Inconclusive} {
		if n[v] > 0 || v == certify.Confirmed || v == certify.Refuted {
			line += fmt.Sprintf(", %d %s", n[v], v)
		}
	}
	return line
}

// twinObservable is what the exact twin of a sweep shows: the law of the
// position, which predictions depend on.
const twinObservable = "theta.cov"

// drawTwin makes a sweep's figure once more, as figure "ID-exact": above its
// distances, below exact errors of its integrators, a column per batch size above
// and per scheme below. Where these differ in number, the exact errors have a
// figure of their own, as those of a study without cells.
func drawTwin(d *drawing, s *sweep) error {
	have, missing := d.plan.Evidence(d.Results.Rows)
	if len(missing) > 0 {
		d.note(fmt.Sprintf("%d of %d exact jobs are missing", len(missing), len(d.plan.Exact)))
	}
	if len(have) == 0 {
		return nil
	}
	lines := exactLines(have, func(x certify.Observable) bool { return x.Name == twinObservable })
	lines = slices.DeleteFunc(lines, func(l exactLine) bool { return !slices.Contains(s.names, l.integrator) })
	var places [][2]string // problem and scheme: mini-batches first, as above
	for _, full := range []bool{false, true} {
		for _, l := range lines {
			if (l.scheme == "full") == full {
				places = distinct.Append(places, [2]string{l.problem, l.scheme})
			}
		}
	}
	title := fmt.Sprintf("The %s, sampled (above) and exact (below)", d.plan.ID)
	d.plan.ID += "-exact"
	if len(places) != len(s.columns) {
		return drawOrders(d)
	}
	f := s.figure(d)
	f.Title = title
	x, y := errorAxes(lines, f.Width)
	y.Label = "error of " + observableLabels[twinObservable]
	f.Data = Records{Columns: []string{"problem", "scheme", "integrator", "h", "error", "unstable"}}
	var row []*Panel
	for _, at := range places {
		p := &Panel{Title: at[0] + ", exact: " + at[1], X: x, Y: y, Series: slopes(x, y)}
		var notes []string
		for i, name := range s.names {
			k := slices.IndexFunc(lines, func(l exactLine) bool { return l.integrator == name && [2]string{l.problem, l.scheme} == at })
			if k < 0 {
				notes = append(notes, name+": not computed")
				continue
			}
			l := lines[k]
			if l.Verdict == certify.Exact {
				notes = append(notes, name+": exact")
			}
			l.series.Name, l.series.Style = name, s.style(i)
			p.Series = append(p.Series, l.series)
			for i, h := range l.series.X {
				f.Data.add(l.problem, l.scheme, name, h, l.series.Y[i], l.series.Lost != nil && l.series.Lost[i] > 0)
			}
		}
		p.Note = strings.Join(notes, "\n")
		row = append(row, p)
	}
	f.Rows = append(f.Rows, row)
	f.addSlopes(y.Lost)
	f.Caption = "Above: " + f.Caption + " Below: stationary error of cov θ, computed without Monte Carlo, on a problem of its own" + problemsText(d.plan) + "."
	d.out.Figures = append(d.out.Figures, f)
	return nil
}

// problemsText states the friction and the number of batches of the problems of
// a plan's exact jobs, which are not those of its cells.
func problemsText(p bench.Plan) string {
	var out []string
	for _, j := range p.Exact {
		if problem, err := certify.ParseProblem(j.Exact.Name, j.Exact.Problem); err == nil {
			out = distinct.Append(out, fmt.Sprintf("%s: C = %s, K = %d", j.Exact.Name, decimal(problem.Friction), problem.Batches()))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}
