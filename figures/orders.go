package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/bench"
	"hambench/certify"
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

// exactErrors are the certified errors of one observable of one problem under
// one scheme, a line per integrator.
type exactErrors struct {
	problem, observable, scheme string
	lines                       []line
}

// drawOrders draws the exact errors against the step size, a panel per
// observable and scheme, a line per integrator, with reference slopes of
// order 1, 2 and 3; and writes the table of fitted orders. Errors below their
// resolution are left out.
func drawOrders(d *drawing) error {
	have, missing := d.plan.Evidence(d.Results.Rows)
	panels := groupErrors(have, func(r certify.Row, x certify.Observable) bool { return observableLabels[x.Name] != "" })
	if len(panels) == 0 {
		return fmt.Errorf("figures: no exact errors of study %s (0 of %d jobs): run it first", d.plan.ID, len(d.plan.Exact))
	}
	if len(missing) > 0 {
		d.note(fmt.Sprintf("Incomplete: %d of %d exact jobs are missing.", len(missing), len(d.plan.Exact)))
	}
	if err := d.writeOrders(have); err != nil {
		return err
	}
	return d.save(ordersSheet(d, panels))
}

// groupErrors gathers the errors of the observables for which keep is true, in
// the order of the rows.
func groupErrors(rows []bench.Evidence, keep func(certify.Row, certify.Observable) bool) []exactErrors {
	var out []exactErrors
	for _, r := range rows {
		for _, x := range r.Observables {
			if !keep(r.Row, x) {
				continue
			}
			i := slices.IndexFunc(out, func(e exactErrors) bool {
				return e.problem == r.Problem && e.observable == x.Name && e.scheme == r.Scheme
			})
			if i < 0 {
				i = len(out)
				out = append(out, exactErrors{problem: r.Problem, observable: x.Name, scheme: r.Scheme})
			}
			out[i].lines = append(out[i].lines, errorLine(r.Row, x))
		}
	}
	return out
}

// errorLine is a line of exact errors. An error that is not resolved leaves
// a gap; an unstable chain counts as diverged.
func errorLine(r certify.Row, x certify.Observable) line {
	l := line{name: r.Integrator + valuesText(r.Values)}
	if r.Inner > 1 {
		l.name += fmt.Sprintf(", N_l = %d", r.Inner)
	}
	for i, h := range r.Steps {
		s := point{h: h, mean: float64(x.Errors[i]), sd: math.NaN(), expected: 1}
		switch {
		case i < len(r.Radii) && r.Radii[i] >= 1:
			s.have, s.diverged = 1, 1
		case s.mean > float64(x.Resolution[i]) && x.Verdict != certify.Exact:
			s.have = 1
		}
		l.points = append(l.points, s)
	}
	slices.SortFunc(l.points, func(a, b point) int { return cmp.Compare(a.h, b.h) })
	return l
}

// ordersSheet has a row per problem and observable, a column per scheme.
func ordersSheet(d *drawing, panels []exactErrors) *sheet {
	var schemes, names []string
	var groups [][2]string
	for _, p := range panels {
		schemes = appendNew(schemes, p.scheme)
		groups = appendNew(groups, [2]string{p.problem, p.observable})
		for _, l := range p.lines {
			names = appendNew(names, l.name)
		}
	}
	sh := &sheet{title: d.plan.Title, width: 172, height: 150, xLabel: stepLabel, yLabels: []string{"absolute error of the stationary expectation"}}
	o := errorRowOptions{names: names, steps: stepsOf(panels), unstable: unstable(panels), title: func(p exactErrors) string {
		return p.problem + ": " + observableLabels[p.observable] + ", " + p.scheme
	}}
	for j, g := range groups {
		row := make([]exactErrors, len(schemes))
		for _, p := range panels {
			if p.problem == g[0] && p.observable == g[1] {
				row[slices.Index(schemes, p.scheme)] = p
			}
		}
		o.labelled = j == len(groups)-1
		sh.panels = append(sh.panels, errorRow(sh, row, o))
	}
	for i, n := range names {
		sh.legend = append(sh.legend, lineSwatch(integratorLook(i, n), withOrders(d.plan, n)))
	}
	sh.legend = append(sh.legend, strokeSwatch(slopeStyle, "orders 1, 2, 3"))
	if o.unstable {
		sh.legend = append(sh.legend, divergedSwatch(true, "no stationary law"))
	}
	sh.caption = "Computed without Monte Carlo. Grey: slopes of order 1, 2, 3. Where an integrator has no line its error is round-off: it is exact."
	return sh
}

// withOrders adds the orders of an integrator's laws to its name: panels show
// that of θ and that of (θ, r).
func withOrders(p bench.Plan, name string) string {
	m, _ := p.Method(baseName(name))
	if m.Joint == m.Position {
		return withOrder(p, name)
	}
	return fmt.Sprintf("%s (order %s in θ, %s jointly)", name, decimal(float64(m.Position)), decimal(float64(m.Joint)))
}

// errorRowOptions say how a row of panels of exact errors is drawn.
type errorRowOptions struct {
	names    []string  // of the figure's lines, which looks go by
	steps    []float64 // that the horizontal axis spans
	labelled bool      // the horizontal axis has labels
	unstable bool      // there is a strip for chains without a stationary law
	title    func(exactErrors) string
}

// errorRow makes a row of panels with one vertical axis. A place without lines
// stays empty.
func errorRow(sh *sheet, errors []exactErrors, o errorRowOptions) []panel {
	x, y := stepAxis(o.steps, sh.width), errorAxis(errors)
	shown := y
	if o.unstable {
		shown = withStrip(y, "unstable", sh.height-panelTitle-6)
	}
	row := make([]panel, len(errors))
	for i, p := range errors {
		if len(p.lines) == 0 {
			continue
		}
		row[i] = panel{title: o.title(p), Plot: errorPlot(p, o.names, y, o.unstable)}
		x.apply(&row[i].X, o.labelled)
		shown.apply(&row[i].Y, i == 0)
	}
	return row
}

// stepsOf returns the steps of all lines.
func stepsOf(panels []exactErrors) []float64 {
	var steps []float64
	for _, s := range pointsOf(panels) {
		steps = appendNew(steps, s.h)
	}
	return steps
}

// stepAxis is a horizontal axis over the steps, for panels of a width.
func stepAxis(steps []float64, width vg.Length) axis {
	data := width - panelGap - 8
	x := logRange(steps).padded(float64(edge / (data - 2*edge)))
	x.ticks = logTicks(x.low, x.high, data, across)
	return x
}

// errorAxis spans the errors of the panels.
func errorAxis(panels []exactErrors) axis {
	var errors []float64
	for _, s := range pointsOf(panels) {
		if s.known() {
			errors = append(errors, s.mean)
		}
	}
	y := logRange(errors).padded(0.06)
	y.ticks = decadeTicks(y.low, y.high)
	return y
}

// mostDecades is how many labels an axis of errors has at most.
const mostDecades = 6

// decadeTicks returns ticks at the powers of ten, every second, third …
// labelled if they are many.
func decadeTicks(low, high float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log10(low))), int(math.Floor(math.Log10(high)))
	every := 1 + (last-first)/mostDecades
	var ticks []plot.Tick
	for k := first; k <= last; k++ {
		t := plot.Tick{Value: power(1, k)}
		if (k-first)%every == 0 {
			t.Label = fmt.Sprintf("1e%d", k)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// unstable reports whether any chain has no stationary law.
func unstable(panels []exactErrors) bool {
	return slices.ContainsFunc(pointsOf(panels), func(s point) bool { return s.diverged > 0 })
}

// pointsOf are the points of all lines.
func pointsOf(panels []exactErrors) []point {
	var out []point
	for _, p := range panels {
		for _, l := range p.lines {
			out = append(out, l.points...)
		}
	}
	return out
}

// errorPlot is one panel. Looks go by the place of a line's name in the whole
// figure, so that a name looks the same in every panel.
func errorPlot(p exactErrors, names []string, y axis, unstable bool) *plot.Plot {
	out := newPlot()
	if unstable {
		out.Add(strip{})
	}
	out.Add(gridLines{y.ticks}, referenceSlopes{y})
	for i, l := range p.lines {
		out.Add(curve{look: integratorLook(slices.Index(names, l.name), l.name), points: l.points, axis: y, lane: i, lanes: len(p.lines), strip: unstable})
	}
	return out
}

// baseName is an integrator's name without its parameters and N_l.
func baseName(name string) string {
	base, _, _ := strings.Cut(name, ",")
	return base
}

// referenceSlopes draws error ∝ h^p for p = 1, 2, 3 from a common point at
// the upper right.
type referenceSlopes struct{ axis axis }

// slopeStyle is that of reference slopes, which are no data.
var slopeStyle = draw.LineStyle{Color: selfGrey, Width: 0.6, Dashes: []vg.Length{1.2, 1.8}}

func (r referenceSlopes) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	h, e := p.X.Max, r.axis.high
	for order := 1.0; order <= 3; order++ {
		left := max(p.X.Min, h*math.Pow(p.Y.Min/e, 1/order)) // where the line leaves the panel
		end := vg.Point{X: x(left), Y: y(e * math.Pow(left/h, order))}
		c.StrokeLine2(slopeStyle, end.X, max(end.Y, c.Min.Y), x(h), y(e))
	}
}

// writeOrders writes every error and the fitted orders as text, CSV and JSON.
func (d *drawing) writeOrders(have []bench.Evidence) error {
	var rows []certify.Row
	var out [][]string
	for _, r := range have {
		rows = append(rows, r.Row)
		for _, x := range r.Observables {
			for i, h := range r.Steps {
				out = append(out, fields(r.Problem, r.Integrator, r.Inner, r.Scheme, x.Name, h, float64(x.Errors[i]), float64(x.Resolution[i]),
					float64(x.Order), float64(x.Uncertainty), float64(x.Constant), float64(x.Claim), x.Verdict))
			}
		}
	}
	var text strings.Builder
	fmt.Fprintln(&text, "Fitted orders of the exact ergodic error")
	if err := certify.WriteTable(&text, rows); err != nil {
		return fmt.Errorf("figures: %s: %w", d.plan.ID, err)
	}
	// The text has hundreds of lines: the terminal gets their summary.
	d.note(countVerdicts(rows) + "; the table is " + d.plan.ID + ".txt")
	if err := d.write(".txt", []byte(text.String())); err != nil {
		return err
	}
	if err := d.json(rows); err != nil {
		return err
	}
	return d.csv([]string{"problem", "integrator", "nl", "scheme", "observable", "h", "error", "resolution", "order", "uncertainty", "constant", "claim", "verdict"}, out)
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
