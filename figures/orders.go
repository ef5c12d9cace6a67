package figures

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

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

// line holds what a panel shows of one integrator under one scheme.
type line struct {
	problem, scheme string
	integrator      string         // with its estimator, its parameters and N_l
	row, name       string         // of its row of panels, and of the line in the legend
	of              string         // the observable, average or law, which names the panel
	claim           certify.Number // the order of an observable
	exact           bool           // its error is round-off
	readings        []reading
	series          Series // of them, without a style
}

// place is the line's problem and scheme.
func (l line) place() [2]string { return [2]string{l.problem, l.scheme} }

// reading is one number of a row. Lines run by ascending x.
type reading struct {
	x                   float64 // h or gradients
	h, gradients, value float64
	lost                float64 // 1 if there is no stationary law
}

// errorLines are exact errors. One that is not resolved leaves a gap.
func errorLines(r certify.Row) (out []line) {
	for _, x := range r.Observables {
		if observableLabels[x.Name] == "" {
			continue
		}
		y := slices.Clone(x.Errors)
		for i := range y {
			if !(y[i] > x.Resolution[i]) || x.Verdict == certify.Exact {
				y[i] = nan
			}
		}
		l := atSteps(r, x.Name, nan, y)
		l.claim, l.exact = x.Claim, x.Verdict == certify.Exact
		out = append(out, l)
	}
	return out
}

var nan = certify.Number(math.NaN())

// atSteps are numbers at a row's steps, of a chain that costs a number of
// gradients.
func atSteps(r certify.Row, of string, gradients certify.Number, y []certify.Number) line {
	l := line{of: of, claim: nan}
	for i, v := range y {
		at := reading{x: r.Steps[i], h: r.Steps[i], gradients: float64(gradients), value: float64(v)}
		if i < len(r.Radii) && r.Radii[i] >= 1 {
			at.lost = 1
		}
		l.readings = append(l.readings, at)
	}
	return l
}

// ofLaw are distances of θ's law at a row's steps. One that is no larger than what
// round-off and truncation make of its moments leaves a gap.
func ofLaw(r certify.Row, distances []certify.Number) []line {
	y := slices.Clone(distances)
	for _, x := range r.Observables {
		for i, resolution := range x.RelativeResolution {
			if strings.Contains(x.Name, "theta") && i < len(y) && !(y[i] > resolution) {
				y[i] = nan
			}
		}
	}
	return []line{atSteps(r, "theta", nan, y)}
}

// quantity is what a figure of exact errors shows.
type quantity struct {
	y       Axis      // without a range
	x       Axis      // as well; the step if it has no label
	column  string    // of y in CSV, with the unit; "" for errors, which have columns of their own
	powers  []float64 // slopes of grey lines
	legend  string    // of these
	caption string
	lines   func(r certify.Row) []line // without what all lines of the row share
}

const (
	ordersLegend = "orders 1, 2, 3"
	mseColumn    = "mse_per_target_variance"
	mseText      = "Bias² + variance of the average over a stationary chain that costs a number of gradients of a batch (all data count K, a Hessian-vector product 2), of the worst average: 0.001 is what 1000 independent draws of the target give."
)

var (
	orders  = []float64{1, 2, 3}
	mseAxis = Axis{Label: "mean squared error", Unit: "target variances"}
	// quantities are what bench.FigureSpec.Y may name, and what stands against a
	// budget.
	quantities = map[string]quantity{
		bench.OnError: {y: Axis{Label: "absolute error of the stationary expectation"}, powers: orders, legend: ordersLegend, lines: errorLines,
			caption: "Grey: slopes of order 1, 2, 3. Orders in panels are those that the integrator claims for what the panel shows. Exact: the error is round-off."},
		bench.OnKolmogorov: {y: Axis{Label: "Kolmogorov distance"}, column: "kolmogorov", powers: orders, legend: ordersLegend,
			caption: "Between the stationary law of θ and the target, from 0 to 1: the largest of the marginals along the target's principal axes.",
			lines:   func(r certify.Row) []line { return ofLaw(r, r.Kolmogorov) }},
		bench.OnWasserstein: {y: Axis{Label: "Wasserstein distance", Unit: "standard deviations"}, column: "wasserstein_per_target_sd", powers: orders, legend: ordersLegend,
			caption: "Of order 2, between the stationary law of θ and the target, in coordinates in which the target is N(0, I); on Gaussian problems of normal laws with the exact moments.",
			lines:   func(r certify.Row) []line { return ofLaw(r, r.Wasserstein) }},
		bench.OnAutocorrelation: {y: Axis{Label: "autocorrelation time", Unit: "outer steps"}, column: "autocorrelation_outer_steps", powers: []float64{-1}, legend: "inverse to η",
			caption: "Integrated autocorrelation times along the stationary chain, in the worst direction.",
			lines: func(r certify.Row) (out []line) {
				for _, a := range r.Averages {
					out = append(out, atSteps(r, a.Name, nan, a.Autocorrelation))
				}
				return out
			}},
		bench.OnMSE: {y: mseAxis, column: mseColumn, caption: mseText,
			lines: func(r certify.Row) (out []line) {
				for _, b := range r.Budgets {
					out = append(out, atSteps(r, decimal(b.Gradients)+" gradients", certify.Number(b.Gradients), b.MSE))
				}
				return out
			}},
		// At the best step: h^2p + 1/(hN) is smallest, as h varies, in proportion to
		// N^(−2p/(2p + 1)).
		bench.OnBudget: {y: mseAxis, x: Axis{Label: "budget", Unit: "gradients of a batch", Powers: true}, column: mseColumn,
			powers: []float64{-2. / 3, -4. / 5, -6. / 7}, legend: ordersLegend,
			caption: mseText + " Each point has its own best step. Grey: what a bias of order 1, 2, 3 leads to, slopes −2/3, −4/5, −6/7.",
			lines: func(r certify.Row) []line {
				best := line{of: "best step", claim: nan}
				for _, b := range r.Budgets {
					best.readings = append(best.readings, reading{x: b.Gradients, h: float64(b.Step), gradients: b.Gradients, value: float64(b.Best)})
				}
				return []line{best}
			}},
	}
)

// quantityOf is what a figure asks for, or the errors.
func quantityOf(s bench.FigureSpec) quantity {
	if s.X == bench.OnBudget {
		return quantities[bench.OnBudget]
	}
	if q, ok := quantities[s.Y]; ok {
		return q
	}
	return quantities[bench.OnError]
}

// ofErrors reports whether the quantity is the errors.
func (q quantity) ofErrors() bool { return q.column == "" }

// of returns the lines of the rows, by ascending step or budget. Lines are those of
// schemes, estimators or integrators.
func (q quantity) of(rows []bench.Evidence, lines string) (out []line) {
	schemes := distinct.Of(rows, func(r bench.Evidence) string { return r.Scheme })
	for _, r := range rows {
		for _, l := range q.lines(r.Row) {
			if l.readings == nil {
				continue
			}
			l.problem, l.scheme, l.integrator = r.Problem, r.Scheme, r.Name()
			l.row, l.name = shownAs(r.Row, lines, len(schemes) > 1)
			for _, r := range slices.SortedStableFunc(slices.Values(l.readings), func(a, b reading) int { return cmp.Compare(a.x, b.x) }) {
				l.series.X, l.series.Y, l.series.Lost = append(l.series.X, r.x), append(l.series.Y, r.value), append(l.series.Lost, r.lost)
			}
			out = append(out, l)
		}
	}
	return out
}

// records are the numbers behind the lines.
func (q quantity) records(rows []bench.Evidence) Records {
	if q.ofErrors() {
		return ordersRecords(rows)
	}
	out := Records{Columns: []string{"problem", "integrator", "nl", "scheme", "of", "h", "batch_gradients", q.column}}
	for _, r := range rows {
		for _, l := range q.lines(r.Row) {
			for _, x := range l.readings {
				out.add(r.Problem, methodName(r.Row), r.Inner, r.Scheme, l.of, x.h, x.gradients, x.value)
			}
		}
	}
	return out
}

// drawOrders makes the figure of exact errors against the step size: a row of
// panels per integrator, a panel per problem and observable, a line per scheme;
// and the table of fitted orders.
func drawOrders(d *drawing) error {
	have, missing := d.plan.Evidence(d.Results.Rows)
	spec := *cmp.Or(d.plan.Figure, new(bench.FigureSpec))
	q, linesOf := quantityOf(spec), ""
	if len(spec.Lines) == 1 {
		linesOf = spec.Lines[0]
	}
	if len(have) == 0 {
		return fmt.Errorf("no exact errors of study %s (0 of %d jobs): run it first", d.plan.ID, len(d.plan.Exact))
	}
	if len(missing) > 0 {
		d.note(fmt.Sprintf("Incomplete: %d of %d exact jobs are missing.", len(missing), len(d.plan.Exact)))
	}
	if lines := q.of(have, linesOf); len(lines) > 0 {
		f := q.figure(lines)
		f.ID, f.Title = d.plan.ID, d.plan.Title
		f.Data = q.records(have)
		d.out.Figures = append(d.out.Figures, f)
	} else {
		d.note("No figure: it shows stationary laws, and there are none")
	}
	d.writeOrders(have)
	if claims := paper.Later(d.plan.ID); d.plan.BuiltIn() && len(claims) > 0 {
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

// shownAs returns the names of a row's panels and of its line, if lines are those of
// schemes, estimators or integrators.
func shownAs(r certify.Row, lines string, severalSchemes bool) (panels, line string) {
	switch lines {
	case "estimator":
		line = cmp.Or(r.Estimator, "plain")
		r.Estimator = ""
		if severalSchemes { // in the place of the estimator
			r.Estimator = r.Scheme
		}
		return r.Name(), line
	case "integrator":
		return r.Scheme, r.Name()
	}
	return r.Name(), r.Scheme
}

// alike is by what ratio the errors of two integrators may differ if one row
// stands for both: by less than shows.
const alike = 1.02

// same reports whether two integrators have the same lines.
func same(a, b []line) bool {
	return slices.EqualFunc(a, b, func(a, b line) bool {
		return a.problem == b.problem && a.name == b.name && a.of == b.of && a.series.near(b.series, alike)
	})
}

// near reports whether two lines have the same points but for a ratio.
func (s Series) near(o Series, ratio float64) bool {
	return slices.Equal(s.X, o.X) && slices.EqualFunc(s.Y, o.Y, func(a, b float64) bool {
		return math.IsNaN(a) && math.IsNaN(b) || max(a, b) <= ratio*min(a, b)
	})
}

// abreast is how many panels stand side by side where each row would have one.
const abreast = 3

// figure has common axes throughout, so that panels can be compared. Integrators
// with the same errors share a row.
func (q quantity) figure(lines []line) *Figure {
	legend := distinct.Of(lines, func(l line) string { return l.name })
	columns := distinct.Of(lines, func(l line) [2]string { return [2]string{l.problem, l.of} })
	of := make(map[string][]line)
	for _, l := range lines {
		of[l.row] = append(of[l.row], l)
	}
	f := &Figure{Width: 152, Height: 112}
	x, y := q.axes(lines, f.Width)
	if len(of) == 1 && q.ofErrors() { // whose height the label would exceed
		y.Label = "absolute error"
	}
	for i, name := range legend {
		f.Legend = append(f.Legend, Entry{Name: name, Label: name, Style: Categorical(i)})
	}
	f.addSlopes(q.legend, y.Lost)
	f.Caption = "Computed without Monte Carlo. " + q.caption + " \"A as B\": the line of A lies on that of B."
	names := distinct.Of(lines, func(l line) string { return l.row })
	for len(names) > 0 {
		name := names[0]
		isTwin := func(other string) bool { return same(of[name], of[other]) }
		if twins := slices.DeleteFunc(slices.Clone(names[1:]), func(other string) bool { return !isTwin(other) }); len(twins) > 0 {
			f.Caption += " " + name + " stands for " + strings.Join(twins, " and ") + " as well."
		}
		names = slices.DeleteFunc(names[1:], isTwin)
		var row []*Panel
		for _, c := range columns {
			label := observableLabels[c[1]]
			if !q.ofErrors() {
				label = strings.ReplaceAll(c[1], "theta", "θ")
			}
			p := &Panel{Title: fmt.Sprintf("%s: %s, %s", name, label, c[0]), X: x, Y: y, Series: slopes(x, y, q.powers...)}
			own := slices.DeleteFunc(slices.Clone(of[name]), func(l line) bool { return l.problem != c[0] || l.of != c[1] })
			for _, l := range own {
				l.series.Name, l.series.Style = l.name, Categorical(slices.Index(legend, l.name))
				p.Series = append(p.Series, l.series)
			}
			p.Note = orderNote(own, legend, math.Pow(y.High/y.Low, lineWidth/2/dataHeight(f.Height)))
			row = append(row, p)
		}
		f.Rows = append(f.Rows, row)
	}
	if len(columns) == 1 && !q.ofErrors() { // side by side
		f.Rows = Grid(slices.Concat(f.Rows...), abreast)
	}
	if len(f.Rows) == 1 && !q.ofErrors() { // for the label with its unit
		f.Height = 180
	}
	return f
}

// orderNote states the order that an integrator claims with the full batch for
// the law that a panel shows, which lines lie on each other, those within a
// ratio, and why a line of the legend is not there.
func orderNote(lines []line, legend []string, ratio float64) string {
	if len(lines) == 0 {
		return "does not run on this problem"
	}
	var notes []string
	why, covered := make(map[string][]string), make(map[string][]string)
	absent := slices.Clone(legend)
	for i, l := range lines {
		if k := slices.IndexFunc(lines[:i], func(o line) bool { return l.series.near(o.series, ratio) }); k >= 0 {
			covered[lines[k].name] = append(covered[lines[k].name], l.name)
		}
		absent = slices.DeleteFunc(absent, func(s string) bool { return s == l.name })
		switch {
		case l.exact:
			why["exact"] = append(why["exact"], l.name)
		case !slices.ContainsFunc(l.series.Y, func(y float64) bool { return y > 0 }):
			why["not resolved"] = append(why["not resolved"], l.name)
		case l.scheme == "full" && l.name == l.scheme && isFinite(float64(l.claim)):
			notes = append(notes, "full batch: order "+decimal(float64(l.claim)))
		}
	}
	for _, l := range lines {
		if on := covered[l.name]; len(on) > 0 && !l.exact {
			notes = append(notes, strings.Join(on, ", ")+" as "+l.name)
		}
	}
	why["not run"] = absent
	for _, reason := range []string{"exact", "not resolved", "not run"} {
		if of := why[reason]; len(of) > 0 {
			notes = append(notes, reason+": "+strings.Join(of, ", "))
		}
	}
	return strings.Join(notes, "\n")
}

// axes are common to all lines.
func (q quantity) axes(lines []line, width float64) (x, y Axis) {
	var steps, errors []float64
	x, y = cmp.Or(q.x, Axis{Label: stepLabel, Unit: timeUnit}), q.y
	x.Log, y.Log, y.Powers, y.Grid = true, true, true, true
	for _, l := range lines {
		steps, errors = append(steps, l.series.X...), append(errors, l.series.Y...)
		if slices.Max(l.series.Lost) > 0 {
			y.Lost = "unstable"
		}
	}
	y = y.over(errors).padded(0.06)
	y.Low = y.at(-0.12) // a line of a note below the smallest error
	return x.over(steps).roomy(width), y
}

// slopes are lines of y ∝ x^p from a common point at the upper right, or the upper
// left for p < 0, as far as they stay on the panel.
func slopes(x, y Axis, powers ...float64) []Series {
	var out []Series
	for _, p := range powers {
		from := x.High
		if p < 0 {
			from = x.Low
		}
		end := x.Clamp(from * math.Pow(y.Low/y.High, 1/p))
		out = append(out, Series{Name: "slopes", Style: dotted(0.6), X: []float64{end, from}, Y: []float64{y.High * math.Pow(end/from, p), y.High}})
	}
	return out
}

// addSlopes puts slopes, and lost points, into the legend, if there are any.
func (f *Figure) addSlopes(label, lost string) {
	if label != "" {
		f.Legend = append(f.Legend, Entry{Name: "slopes", Label: label, Style: dotted(0.6)})
	}
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
	answered := false // something beside errors was asked for
	for _, r := range have {
		rows = append(rows, r.Row)
		answered = answered || r.K > 0
	}
	d.note(countVerdicts(rows) + "; the table is " + d.plan.ID + ".txt")
	d.file(".txt", func(w io.Writer) error {
		fmt.Fprintln(w, "Fitted orders of the exact ergodic error")
		err := certify.WriteTable(w, rows)
		if err == nil && answered {
			err = certify.WriteAnswers(w, rows)
		}
		return err
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
		}
		total += len(row.Observables)
	}
	line := fmt.Sprintf("%d orders", total)
	for _, v := range certify.Verdicts() {
		if n[v] > 0 || v == certify.Confirmed || v == certify.Refuted {
			line += fmt.Sprintf(", %d %s", n[v], v)
			total -= n[v]
		}
	}
	if total > 0 {
		line += fmt.Sprintf(", %d of verdicts that this version does not know", total)
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
	q := quantities[bench.OnError]
	lines := slices.DeleteFunc(q.of(have, ""), func(l line) bool { return l.of != twinObservable || !slices.Contains(s.names, l.integrator) })
	places := distinct.Of(lines, line.place)
	slices.SortStableFunc(places, func(a, b [2]string) int { return compareIn([]string{"full"}, a[1], b[1]) }) // last, as above
	title := fmt.Sprintf("The %s, sampled (above) and exact (below)", d.plan.ID)
	d.plan.ID += "-exact"
	f := s.figure(d)
	if len(places) != len(f.Rows[0]) {
		return drawOrders(d)
	}
	f.Title = title
	x, y := q.axes(lines, f.Width)
	y.Label = "error of " + observableLabels[twinObservable]
	f.Data = Records{Columns: []string{"problem", "scheme", "integrator", "h", "error", "unstable"}}
	var row []*Panel
	for _, at := range places {
		p := &Panel{Title: at[0] + ", exact: " + at[1], X: x, Y: y, Series: slopes(x, y, q.powers...)}
		var notes []string
		for i, name := range s.names {
			k := slices.IndexFunc(lines, func(l line) bool { return l.integrator == name && l.place() == at })
			if k < 0 {
				notes = append(notes, name+": not computed")
				continue
			}
			l := lines[k]
			if l.exact {
				notes = append(notes, name+": exact")
			}
			l.series.Name, l.series.Style = name, s.style(i)
			p.Series = append(p.Series, l.series)
			for i, h := range l.series.X {
				f.Data.add(l.problem, l.scheme, name, h, l.series.Y[i], l.series.Lost[i] > 0)
			}
		}
		p.Note = strings.Join(notes, "\n")
		row = append(row, p)
	}
	f.Rows = append(f.Rows, row)
	f.addSlopes(q.legend, y.Lost)
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
