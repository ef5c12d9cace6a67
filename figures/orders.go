package figures

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/bench"
	"hambench/certify"
	"hambench/usage"
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

// DrawOrders draws the exact errors against the step size, a panel per
// observable and scheme, a line per integrator, with reference slopes of
// order 1, 2 and 3; and writes the table of fitted orders. Errors below their
// resolution are left out.
func DrawOrders(rows []certify.Row, o Options) (*Output, error) {
	d := &drawing{experiment: bench.Experiment{ID: "orders", Title: "Exact ergodic error against the step size, by mini-batch scheme"}, options: o, out: &Output{}}
	panels := groupErrors(rows, func(r certify.Row, x certify.Observable) bool { return observableLabels[x.Name] != "" })
	if len(panels) == 0 {
		return nil, fmt.Errorf("figures: no certified errors to draw: %d rows without the observables %s", len(rows), strings.Join(slices.Sorted(maps.Keys(observableLabels)), ", "))
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, usage.Errorf("folder for figures cannot be created: %w", err)
	}
	if err := d.writeOrders(rows); err != nil {
		return d.out, err
	}
	return d.out, d.save(ordersSheet(d, panels))
}

// groupErrors gathers the errors of the observables that keep lets through,
// in the order of the rows.
func groupErrors(rows []certify.Row, keep func(certify.Row, certify.Observable) bool) []exactErrors {
	var out []exactErrors
	for _, r := range rows {
		for _, x := range r.Observables {
			if !keep(r, x) {
				continue
			}
			i := slices.IndexFunc(out, func(e exactErrors) bool {
				return e.problem == r.Problem && e.observable == x.Name && e.scheme == r.Scheme
			})
			if i < 0 {
				i = len(out)
				out = append(out, exactErrors{problem: r.Problem, observable: x.Name, scheme: r.Scheme})
			}
			out[i].lines = append(out[i].lines, errorLine(r, x))
		}
	}
	return out
}

// errorLine is a line of exact errors. An error that is not resolved leaves
// a gap; an unstable chain counts as diverged.
func errorLine(r certify.Row, x certify.Observable) line {
	l := line{name: r.Integrator}
	if r.Inner > 1 {
		l.name = fmt.Sprintf("%s, N_l = %d", r.Integrator, r.Inner)
	}
	for i, h := range r.Steps {
		s := stat{h: h, mean: float64(x.Errors[i]), sd: math.NaN(), expected: 1}
		switch {
		case i < len(r.Radii) && r.Radii[i] >= 1:
			s.have, s.diverged = 1, 1
		case s.mean > float64(x.Resolution[i]) && x.Verdict != certify.Exact:
			s.have = 1
		}
		l.stats = append(l.stats, s)
	}
	slices.SortFunc(l.stats, func(a, b stat) int {
		if a.h < b.h {
			return -1
		}
		return 1
	})
	return l
}

// ordersSheet has a row per problem and observable, a column per scheme.
func ordersSheet(d *drawing, panels []exactErrors) *sheet {
	var schemes, names []string
	var groups [][2]string
	var steps []float64
	for _, p := range panels {
		schemes = appendNew(schemes, p.scheme)
		groups = appendNew(groups, [2]string{p.problem, p.observable})
		for _, l := range p.lines {
			names = appendNew(names, l.name)
			for _, s := range l.stats {
				steps = appendNew(steps, s.h)
			}
		}
	}
	sh := &sheet{title: d.experiment.Title, width: 172, height: 150, xLabel: stepLabel, yLabels: []string{"absolute error of the stationary expectation"}}
	x := stepAxis(steps, sh.width)
	unstable := slices.ContainsFunc(panels, exactErrors.unstable)
	for j, g := range groups {
		row := make([]panel, len(schemes))
		y := errorAxis(panels, func(p exactErrors) bool { return p.problem == g[0] && p.observable == g[1] })
		for _, p := range panels {
			if p.problem != g[0] || p.observable != g[1] {
				continue
			}
			i := slices.Index(schemes, p.scheme)
			shown := y
			if unstable {
				shown = withStrip(y, "unstable", sh.height-panelTitle-6)
			}
			row[i] = panel{title: p.problem + ": " + observableLabels[p.observable] + ", " + p.scheme, Plot: errorPlot(p, y, unstable)}
			x.apply(&row[i].X, j == len(groups)-1)
			shown.apply(&row[i].Y, i == 0)
		}
		sh.panels = append(sh.panels, row)
	}
	sh.legend = integratorLegend(names)
	if unstable {
		sh.legend = append(sh.legend, divergedSwatch(true, "no stationary law"))
	}
	sh.caption = "Computed without Monte Carlo. Grey: slopes of order 1, 2, 3. Where an integrator has no line its error is round-off: it is exact."
	return sh
}

// stepAxis is a horizontal axis over the steps, for panels of a width.
func stepAxis(steps []float64, width vg.Length) axis {
	data := width - panelGap - 8
	x := logRange(steps).padded(float64(edge / (data - 2*edge)))
	x.ticks = logTicks(x.low, x.high, data, across)
	return x
}

// errorAxis spans the errors of the panels that in lets through.
func errorAxis(panels []exactErrors, in func(exactErrors) bool) axis {
	var errors []float64
	for _, p := range panels {
		if !in(p) {
			continue
		}
		for _, l := range p.lines {
			for _, s := range l.stats {
				if s.known() {
					errors = append(errors, s.mean)
				}
			}
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
func (e exactErrors) unstable() bool {
	return slices.ContainsFunc(e.lines, func(l line) bool {
		return slices.ContainsFunc(l.stats, func(s stat) bool { return s.diverged > 0 })
	})
}

func errorPlot(p exactErrors, y axis, unstable bool) *plot.Plot {
	out := newPlot()
	if unstable {
		out.Add(strip{})
	}
	out.Add(gridLines{y.ticks}, referenceSlopes{y})
	for i, l := range p.lines {
		out.Add(curve{look: integratorLook(baseName(l.name)), stats: l.stats, axis: y, lane: i, lanes: len(p.lines), strip: unstable})
	}
	return out
}

// baseName is an integrator's name without its N_l.
func baseName(name string) string {
	base, _, _ := strings.Cut(name, ",")
	return base
}

func integratorLegend(names []string) []swatch {
	var out []swatch
	for _, n := range names {
		out = append(out, lineSwatch(integratorLook(baseName(n)), withOrder(n)))
	}
	return append(out, strokeSwatch(slopeStyle, "orders 1, 2, 3"))
}

// referenceSlopes draws error ∝ h^p for p = 1, 2, 3 from a common point at
// the upper right.
type referenceSlopes struct{ axis axis }

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
func (d *drawing) writeOrders(rows []certify.Row) error {
	var text strings.Builder
	fmt.Fprintln(&text, "Fitted orders of the exact ergodic error")
	if err := certify.WriteTable(&text, rows); err != nil {
		return fmt.Errorf("figures: orders: %w", err)
	}
	d.out.Text = text.String()
	if err := d.write(".txt", []byte(d.out.Text)); err != nil {
		return err
	}
	data, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return fmt.Errorf("figures: orders.json: %w", err)
	}
	if err := d.write(".json", append(data, '\n')); err != nil {
		return err
	}
	var out [][]string
	for _, r := range rows {
		for _, x := range r.Observables {
			for i, h := range r.Steps {
				out = append(out, []string{
					r.Problem, r.Integrator, fmt.Sprint(r.Inner), r.Scheme, x.Name, number(h), number(float64(x.Errors[i])), number(float64(x.Resolution[i])),
					number(float64(x.Order)), number(float64(x.Uncertainty)), number(float64(x.Constant)), number(float64(x.Claim)), string(x.Verdict),
				})
			}
		}
	}
	return d.csv([]string{"problem", "integrator", "nl", "scheme", "observable", "h", "error", "resolution", "order", "uncertainty", "constant", "claim", "verdict"}, out)
}
