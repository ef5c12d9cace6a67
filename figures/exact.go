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
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/internal/distinct"
)

// ObservableLabel is the name for people of an observable that figures show; "" for others.
func ObservableLabel(name string) string { return observableLabels[name] }

// observableLabels are the observables of stationary laws that the figure of orders shows, and
// their names on panels. For each kind of problem there is one of the position alone and one
// that the momentum takes part in: their orders differ. Tables and CSV files have all others.
var observableLabels = map[string]string{
	"theta.cov": "cov θ",
	"joint.cov": "cov(θ, r)",
	"theta^2":   "E θ²",
	"r^2":       "E r²",
}

// quantity declares what a figure of exact errors shows: a column of one kind of rows against
// another one, on logarithmic axes.
type quantity struct {
	record string // of the rows: bench.ErrorRecord …
	column string // of the table, shown against x
	x      string // a column, too: h or budget
	// of is the column that panels differ in besides the problem: observables or budgets; ""
	// for none.
	of string
	// csv names the column of the numbers in CSV files, with their unit; "" for errors, whose
	// files have columns of their own.
	csv     string
	axes    [2]axis                 // x and y, without ranges
	powers  []float64               // slopes of grey lines, to compare lines with
	legend  string                  // of these
	bound   func(x float64) float64 // drawn with them, if not nil
	caption string                  // what the numbers are
}

// What several quantities have in common.
const (
	ordersLegend = "orders 1, 2, 3"
	mseText      = "Bias² + variance of the average over a stationary chain that costs a number " +
		"of gradients of a batch (all data count K, a Hessian-vector product 2), of the worst " +
		"average: 0.001 is what 1000 independent draws of the target give."
	mseColumn = "mse_per_target_variance"
)

var (
	orders   = []float64{1, 2, 3}
	stepAxis = axis{Label: axisLabel(setting("step")), Unit: timeUnit}
	mseAxis  = axis{Label: "mean squared error", Unit: "target variances"}
	// quantities are what bench.FigureSpec.Y may name, and what stands against a budget. Laws
	// and averages have a slope to compare with, as errors do; a mean squared error has none,
	// being a sum of two terms that fall and rise with the step.
	quantities = map[string]quantity{
		// Absolute errors in the problem's units, of all observables that have a label.
		bench.OnError: {
			record: bench.ErrorRecord, column: "error", x: "h", of: "observable",
			axes:   [2]axis{stepAxis, {Label: "absolute error of the stationary expectation"}},
			powers: orders, legend: ordersLegend,
			caption: "Grey: slopes of order 1, 2, 3.",
		},
		// Distances of θ's law: of one order with its error, but in one unit for all problems.
		bench.OnKolmogorov: {
			record: bench.LawRecord, column: "kolmogorov", x: "h", of: "observable",
			csv:    "kolmogorov",
			axes:   [2]axis{stepAxis, {Label: "Kolmogorov distance"}},
			powers: orders, legend: ordersLegend,
			caption: "Between the stationary law of θ and the target, from 0 to 1: the largest " +
				"of the marginals along the target's principal axes.",
		},
		bench.OnWasserstein: {
			record: bench.LawRecord, column: "wasserstein", x: "h", of: "observable",
			csv:    "wasserstein_per_target_sd",
			axes:   [2]axis{stepAxis, {Label: "Wasserstein distance", Unit: "standard deviations"}},
			powers: orders, legend: ordersLegend,
			caption: "Of order 2, between the stationary law of θ and the target, in coordinates " +
				"in which the target is N(0, I); on Gaussian problems of normal laws with the " +
				"exact moments.",
		},
		// What tuners of unadjusted samplers see, against what they are to bound.
		bench.OnEnergy: {
			record: bench.EnergyRecord, column: "covariance_bias", x: "batch_energy_error",
			of: "observable", csv: "covariance_bias",
			axes: [2]axis{{Label: "energy error", Unit: "variance per position", Powers: true},
				{Label: "bias of cov θ", Unit: "root mean square"}},
			bound: certify.EnergyBound, legend: "bound for Verlet",
			caption: "The bias of the covariance of θ, in coordinates in which the target is " +
				"N(0, I), against the variance of the change of energy in a step without " +
				"friction, as the step's own batch has it. A step is a point. Grey: what both " +
				"are for a velocity Verlet step between half steps of friction (obabo) on a " +
				"normal target of one frequency. With all data it bounds that step's bias on any " +
				"normal target (Robnik, Cohn-Gordon & Seljak, arXiv 2412.08876); other steps, " +
				"and mini-batches, are compared with it.",
		},
		// Autocorrelation times grow as the step falls: a chain of fixed length in time has the
		// same number of independent draws.
		bench.OnAutocorrelation: {
			record: bench.AverageRecord, column: "autocorrelation", x: "h", of: "observable",
			csv:    "autocorrelation_outer_steps",
			axes:   [2]axis{stepAxis, {Label: "autocorrelation time", Unit: "outer steps"}},
			powers: []float64{-1}, legend: "inverse to η",
			caption: "Integrated autocorrelation times along the stationary chain, " +
				"in the worst direction.",
		},
		// A panel for each budget: the best step is where the line is lowest.
		bench.OnMSE: {
			record: bench.BudgetRecord, column: "mse", x: "h", of: "budget", csv: mseColumn,
			axes: [2]axis{stepAxis, mseAxis}, caption: mseText,
		},
		// At the best step: h^2p + 1/(hN) is smallest, as h varies, in proportion to
		// N^(−2p/(2p + 1)).
		bench.OnBudget: {
			record: bench.BestRecord, column: "mse", x: "budget", csv: mseColumn,
			axes:   [2]axis{{Label: "budget", Unit: "gradients of a batch", Powers: true}, mseAxis},
			powers: []float64{-2. / 3, -4. / 5, -6. / 7}, legend: ordersLegend,
			caption: mseText + " Each point has its own best step. Grey: what a bias of order " +
				"1, 2, 3 leads to, slopes −2/3, −4/5, −6/7.",
		},
	}
)

// quantityOf is what a study's figure asks for: by default, and where it asks for what its cells
// have, the errors. What stands against a budget is always the mean squared error at the best step.
func quantityOf(s bench.FigureSpec) quantity {
	if s.X == bench.OnBudget {
		return quantities[bench.OnBudget]
	}
	if q, ok := quantities[s.Y]; ok {
		return q
	}
	return quantities[bench.OnError]
}

// subject names what a row is about, besides its problem and sampler, as CSV has it: an
// observable such as theta.cov, an average such as theta^2, a number of gradients.
func (q quantity) subject(r table.Row) string {
	switch q.of {
	case "":
		return "best step"
	case "budget":
		return decimal(r.Number("budget")) + " gradients" // of a batch
	}
	return r.Text("observable")
}

// label is the subject for people, as titles of panels have it; "" for an observable that no
// panel shows, such as theta.mean.
func (q quantity) label(r table.Row) string {
	subject := q.subject(r)
	if q.record == bench.ErrorRecord || q.record == bench.EnergyRecord {
		return observableLabels[subject]
	}
	return strings.ReplaceAll(subject, "theta", "θ")
}

// Exact errors are rows of the table as scores of cells are: one for each observable at each step,
// for each average at each step, for each budget. What figures of them have besides panels and
// lines is knowledge of what the numbers can be: slopes to compare with, gaps below what is
// resolved, marks where no stationary law is, and notes for lines that a panel lacks.

// exactOf is what certify found for a sampler under a scheme, of which the row is one number.
// It has what no column has: the name of the problem with its friction and mass.
func exactOf(r table.Row) certify.Row { return r.Source.(certify.Row) }

// methodName is an integrator with its own parameters, and its estimator of gradients, if it is
// not plain, as CSV has it.
func methodName(r table.Row) string {
	name := setting("integrator").Plain(r)
	if of := exactOf(r).Estimator; of != "" {
		name += ", " + of
	}
	return name
}

// records are the numbers behind a figure, in the order of the rows. Of errors there are all,
// with their resolution and the fitted orders; of other quantities those that the figure
// shows, by shown, at their step and number of gradients.
func (q quantity) records(rows *table.Table, shown func(table.Row) float64) Records {
	of := []string{"of", "h", "batch_gradients", q.csv}
	numbers := []string{"h", "budget"}
	if !slices.Contains(numbers, q.x) { // what the figure shows against it
		of, numbers = slices.Insert(of, 3, q.x), append(numbers, q.x)
	}
	if q.record == bench.ErrorRecord {
		of = []string{"observable", "h", "error", "resolution", "order", "uncertainty", "constant",
			"claim", "verdict"}
		numbers = of[1:8] // between the observable and the verdict, which are texts
	}
	// The name of a problem has its friction and mass, which the columns of CSV files lack.
	by := []string{"problem", "integrator", "nl", "scheme"}
	laws := rows.Varies(bench.Law.Column) // else the caption states it
	if laws {
		by = append(by, bench.Law.Column)
	}
	out := Records{Columns: append(by, of...)}
	for _, r := range rows.Rows() {
		x := exactOf(r)
		fields := []any{x.Problem, methodName(r), x.Inner, x.Scheme}
		if laws {
			fields = append(fields, x.Observe)
		}
		fields = append(fields, q.subject(r))
		for _, column := range numbers {
			fields = append(fields, r.Number(column))
		}
		if q.record == bench.ErrorRecord {
			fields = append(fields, r.Text("verdict"))
		} else {
			fields = append(fields, shown(r))
		}
		out.add(fields...)
	}
	return out
}

// value returns the number that a figure shows of a row, or NaN for a gap. An error that is
// round-off, or no larger than its resolution, leaves one, and so does a distance of θ's law
// that is no larger than what round-off and truncation make of θ's moments: of them the rows
// of errors at the same step tell, which are joined from all rows of the study.
func (q quantity) value(all *table.Table) func(table.Row) float64 {
	// A law and the errors of its moments have the job, the scheme and the step in common. Of the
	// moments of θ the one that is resolved worst counts.
	at := []string{"key", "scheme", "h"}
	least := make(map[table.Key]float64)
	moments := new(table.Table) // only laws need them
	if q.record == bench.LawRecord || q.record == bench.EnergyRecord {
		moments = all.Where("record", bench.ErrorRecord)
	}
	for _, r := range moments.Rows() {
		x := r.Get("relative_resolution")
		if !x.IsNone() && strings.Contains(r.Text("observable"), "theta") {
			least[r.Key(at...)] = max(least[r.Key(at...)], x.Number())
		}
	}
	return func(r table.Row) float64 {
		y, resolved := r.Number(q.column), true
		switch q.record {
		case bench.ErrorRecord:
			resolved = y > r.Number("resolution") && !isExact(r)
		case bench.LawRecord, bench.EnergyRecord:
			resolved = y > least[r.Key(at...)]
		}
		if !resolved {
			return math.NaN()
		}
		return y
	}
}

// isExact reports whether a row's error is round-off at all steps of its line: there is nothing
// to draw on a logarithmic axis.
func isExact(r table.Row) bool { return r.Text("verdict") == string(certify.Exact) }

// problem are the columns that tell problems apart. One name may stand for a family of them.
var problem = []string{"problem", "friction", "mass"}

// ofSamplers are what samplers are named by beside the integrator with its parameters, where it
// varies: the law that is observed of them, too.
var ofSamplers = []bench.Setting{setting("estimator"), setting("nl"), bench.Law}

// chart arranges the rows that a figure shows, among all rows of its study, and returns the
// settings that rows of panels are named by. Lines are those of schemes or, if the study says
// so, of estimators or integrators; rows of panels are what lines do not tell apart: samplers
// under schemes, or schemes. Samplers are named by what varies: an estimator, an N_l or a law that
// all have is stated by the caption (grid.stated).
func (q quantity) chart(all, shown *table.Table, lines string) (chart, []bench.Setting) {
	// named are the settings of lines, panels those of rows of panels: at first samplers are
	// both, by the integrator with its parameters and what else varies among them.
	scheme, named := setting("scheme"), []bench.Setting{setting("integrator")}
	var panels []bench.Setting
	// An integrator's own parameters are told apart with it.
	for _, s := range ofSamplers {
		if s.Name != lines && shown.Varies(s.Column) {
			named = append(named, s)
		}
	}
	switch lines {
	case "integrator": // a row of panels is a scheme, and named has the samplers
		panels = []bench.Setting{scheme}
	case "estimator":
		if panels = named; shown.Varies("scheme") {
			panels = append(panels, scheme)
		}
		named = []bench.Setting{setting("estimator")}
	default: // a row of panels is a sampler
		panels, named = named, []bench.Setting{scheme}
	}
	columns := problem // of panels
	if q.of != "" {
		columns = append(slices.Clip(columns), q.of)
	}
	return chart{
		rows: bench.ColumnsOf(panels...), columns: columns, lines: bench.ColumnsOf(named...),
		x: []string{q.x}, at: func(t *table.Table) float64 { return t.Rows()[0].Number(q.x) },
		y: q.value(all), name: func(r table.Row) string { return bench.TextOf(named, r) },
	}, panels
}

// drawOrders makes the figure of a study's exact errors and the table of fitted orders, and
// decides the claims of the later paper that the study repeats, if it is such a one. A study
// of laws after one step has no figure: it has none of the observables that panels show.
func drawOrders(d *drawing) error {
	have := d.certified()
	if len(have) == 0 {
		return fmt.Errorf("no exact errors of study %s (0 of %d jobs): run it first",
			d.plan.ID, len(d.plan.Exact))
	}
	if _, missing := d.Results.Missing(d.plan.Study); missing > 0 {
		d.note(fmt.Sprintf("Incomplete: %d of %d exact jobs are missing.",
			missing, len(d.plan.Exact)))
	}
	// A study without cells need not say that it shows errors.
	spec := *cmp.Or(d.plan.Figure, new(bench.FigureSpec))
	q := quantityOf(spec)
	// The CSV has all rows of the kind, the figure those that panels have a name for.
	rows := d.rows.Where("record", q.record)
	shown := rows.Filter(func(r table.Row) bool { return q.label(r) != "" && r.Number(q.x) > 0 })
	if shown.Len() > 0 {
		c, panels := q.chart(d.rows, shown, strings.Join(spec.Lines, ""))
		f := q.figure(c.arrange(shown, nil), panels)
		f.ID, f.Title, f.Data = d.plan.ID, d.plan.Title, q.records(rows, c.y)
		none := rows.Filter(func(r table.Row) bool {
			return q.label(r) != "" && !(r.Number(q.x) > 0)
		})
		if none.Len() > 0 { // as of the energy error of a step without a stationary law
			f.Caption += " " + offAxis(none.Len(), axis{Label: q.axes[0].Label, Log: true})
		}
		d.out.Figures = append(d.out.Figures, f)
	} else {
		d.note("No figure of exact numbers: there are none to draw; the table has what is known")
	}
	d.writeOrders(have)
	return nil
}

// certified are all rows of the study's exact jobs, whole, to be written; parts of them are drawn.
func (d *drawing) certified() (have []certify.Row) {
	for _, j := range d.plan.Exact {
		found, _ := d.Results.Rows(j.Key)
		have = append(have, found...)
	}
	return have
}

// noteMissing counts the exact jobs beside cells that have no result.
func (d *drawing) noteMissing() {
	if _, missing := d.Results.Missing(d.plan.Study); missing > 0 {
		d.note(fmt.Sprintf("%d of %d exact jobs are missing", missing, len(d.plan.Exact)))
	}
}

// alike is by what ratio the errors of two samplers may differ if one row of panels stands for
// both: by less than shows on axes of many decades.
const alike = 1.02

// near reports whether two lines have the same points but for a ratio: gaps at the same
// places, for the same reason, and values of which the larger is at most ratio times the smaller.
func near(a, b []point, ratio float64) bool {
	return slices.EqualFunc(a, b, func(a, b point) bool {
		// Gaps are alike, too, but an error of round-off is not a law that does not exist.
		gaps := math.IsNaN(a.y) && math.IsNaN(b.y) && a.lost == b.lost
		return a.x == b.x && (gaps || max(a.y, b.y) <= ratio*min(a.y, b.y))
	})
}

// sameLines reports whether two rows of panels show the same: facets of the same columns, lines
// at the same places that are near to each other.
func sameLines(a, b []*facet) bool {
	return slices.EqualFunc(a, b, func(a, b *facet) bool {
		if a == nil || b == nil {
			return a == b
		}
		// A line that was not computed, which is nil, is like none that was.
		return slices.EqualFunc(a.lines, b.lines, func(a, b []point) bool {
			return near(a, b, alike)
		})
	})
}

// abreast is how many panels stand side by side where each row would have one: as many as a
// sheet of about the width of a page takes.
const abreast = 3

// figure draws a grid whose rows of panels the settings of name. Samplers whose errors are the
// same share a row, under the first one's name: the caption says for whom it stands. Where each
// row would have one panel, they stand side by side, but for those of errors, whose order among
// integrators is read from above to below; a single long row is broken.
func (q quantity) figure(g *grid, of []bench.Setting) *Figure {
	f := &Figure{width: 152, height: 112} // points: rows are many
	x, y := q.ranges(g, f.width)
	ofErrors := q.record == bench.ErrorRecord
	look := categorical
	if g.chart.lines[0] != "estimator" { // as in all other figures
		look = func(i int) style { return stylesOf(g.names)[i] }
	}
	f.legend = g.legend(func(i int) string { return g.names[i] }, look)
	f.addSlopes(q.legend, y.Lost)
	// What all figures of exact errors say, then what this one shows.
	f.Caption = "Computed without Monte Carlo. "
	stated := g.stated()
	if stated != "" {
		f.Caption += "Throughout: " + stated + ". "
	}
	f.Caption += q.caption
	// Two lines lie on each other if they are apart by less than half the width of one. On the
	// logarithmic axis, whose whole length is dataHeight, that distance is a ratio of values.
	width := math.Pow(y.High/y.Low, lineWidth/2/dataHeight(f.height))
	name := func(row int) string { return bench.TextOf(of, g.rowsOf[row]) }
	// Of rows that show the same the first is drawn. The comparison is of any two rows, not of
	// neighbours, so that it does not depend on the order of the samplers.
	var used []string // terms that notes use, and that the caption explains
	for i, row := range g.facets {
		same := func(o []*facet) bool { return sameLines(row, o) }
		if slices.ContainsFunc(g.facets[:i], same) {
			continue // one above stands for it
		}
		var others []string
		for k := i + 1; k < len(g.facets); k++ {
			if same(g.facets[k]) {
				others = append(others, name(k))
			}
		}
		if len(others) > 0 {
			f.Caption += fmt.Sprintf(" %s stands for %s as well.",
				name(i), strings.Join(others, " and "))
		}
		var drawn []*panel
		for k, p := range row {
			column := g.columnsOf[k]
			out := g.draw(p, x, y, look, q.guides(x, y)...)
			out.Title = name(i) + ", " + exactOf(column).Problem
			if q.of != "" {
				out.Title = name(i) + ": " + q.label(column) + ", " + exactOf(column).Problem
			}
			var terms []string
			out.Note, terms = g.note(p, width)
			if p == nil && ofMomentum(column) && g.runsOn(i, column) {
				out.Note = "no momentum"
			}
			drawn, used = append(drawn, out), append(used, terms...)
		}
		f.panels = append(f.panels, drawn)
	}
	all := slices.Concat(f.panels...)
	// A single column of panels is rearranged into rows, except of errors, which stay one below
	// the other; so is a single row that is too long.
	if len(f.panels[0]) == 1 && !ofErrors || len(f.panels) == 1 && len(all) > mostColumns {
		f.panels = inRows(all, abreast)
	}
	for _, r := range g.columnsOf {
		for letter, says := range problemLetters {
			if strings.HasPrefix(exactOf(r).Problem, letter+" = ") {
				used = append(used, says)
			}
		}
	}
	for _, p := range g.all() {
		if p.Where("law", "every-step").Len() > 0 {
			used = append(used, ofLaws)
		}
		svrg := func(r table.Row) bool { return strings.HasPrefix(r.Text("estimator"), "svrg") }
		if p.Filter(svrg).Len() > 0 {
			used = append(used, ofPeriods)
		}
	}
	for _, term := range []string{ofOrders, ofExact, ofCovered, problemLetters["λ"],
		problemLetters["ω"], ofPeriods, ofLaws} {
		if slices.Contains(used, term) {
			f.Caption += " " + term
		}
	}
	return f
}

// stated is what all lines share of what tells samplers and laws apart, where neither they nor
// titles name it: an estimator, an N_l, a law, a scheme. It is empty where these are what is
// expected.
func (g *grid) stated() string {
	var same []bench.Setting
	r := g.columnsOf[0]
	by := slices.Concat(g.chart.rows, g.chart.columns, g.chart.lines)
	for _, s := range append(slices.Clip(ofSamplers), setting("scheme")) {
		if !slices.Contains(by, s.Column) && (s.Name == "scheme" || !usual(s, r)) {
			same = append(same, s)
		}
	}
	return bench.TextOf(same, r)
}

// What captions say of the terms of panels' notes.
const (
	ofOrders = "Orders in panels are those of the full batch: fitted to what the panel shows, " +
		"and claimed by the integrator."
	ofExact   = "Exact: the error is round-off."
	ofCovered = "\"A as B\": the line of A lies on that of B."
	ofPeriods = "svrg:m has a gradient of all data every m steps, svrg every K."
	ofLaws    = "Every step: the mean of the laws at the ends of all steps of a period; where it " +
		"is not named, the law at the period's end."
)

// problemLetters are what captions say of the letters that problems are named by.
var problemLetters = map[string]string{
	"λ": "λ: curvature of the target.", "ω": "ω: frequency of the target.",
}

// note is what a panel says of its lines: the order with the full batch, fitted and as the
// integrator claims it for the law that it shows, where lines are those of schemes; which lines
// lie on each other, being within a ratio; and why a line of the legend is not there. A line that
// was computed is exact, where its error is round-off, without a stationary law, where no step has
// one, or not resolved, where what there is is below what the engine can tell. With it come the
// terms that it uses, as captions explain them.
func (g *grid) note(p *facet, ratio float64) (text string, terms []string) {
	if p == nil {
		return "does not run on this problem", nil
	}
	// Notes stand in the order: the orders, lines on each other, lines that are not there.
	var notes []string
	reasons := []string{"exact", "not resolved", "no stationary law", "not run"}
	why, covered := make([][]string, len(reasons)), make([][]string, len(g.names))
	missing := func(reason, i int) { why[reason] = append(why[reason], g.names[i]) }
	for i, line := range p.lines {
		if line == nil {
			missing(3, i)
			continue
		}
		// Of several lines on each other the first in the legend is named: others cover it. One
		// that is not there covers none.
		drawn := slices.ContainsFunc(line, func(at point) bool { return at.y > 0 })
		on := slices.IndexFunc(p.lines[:i], func(o []point) bool {
			return drawn && near(o, line, ratio)
		})
		if on >= 0 {
			covered[on] = append(covered[on], g.names[i])
		}
		first := line[0].Rows()[0] // claim and verdict are those of the whole line
		switch claim := first.Number("claim"); {
		case isExact(first):
			missing(0, i)
			terms = append(terms, ofExact)
		case !slices.ContainsFunc(line, func(at point) bool { return at.lost == 0 }):
			missing(2, i)
		case !drawn: // all gaps
			missing(1, i)
		case slices.Equal(g.chart.lines, []string{"scheme"}) && first.Text("scheme") == "full" &&
			isFinite(claim):
			notes = append(notes, "full batch: "+fittedText(line)+"claimed "+decimal(claim))
			terms = append(terms, ofOrders)
		}
	}
	for i, on := range covered {
		if len(on) > 0 {
			notes = append(notes, strings.Join(on, ", ")+" as "+g.names[i])
			terms = append(terms, ofCovered)
		}
	}
	for i, reason := range reasons {
		if len(why[i]) > 0 {
			notes = append(notes, reason+": "+strings.Join(why[i], ", "))
		}
	}
	return strings.Join(notes, "\n"), terms
}

// ofMomentum reports whether a row is of an observable that the momentum takes part in.
func ofMomentum(r table.Row) bool {
	observable := r.Text("observable")
	return observable == "joint.cov" || observable == "r^2"
}

// runsOn reports whether a row of panels has any panel of the problem that another one is of.
func (g *grid) runsOn(row int, of table.Row) bool {
	for k, p := range g.facets[row] {
		if p != nil && exactOf(g.columnsOf[k]).Problem == exactOf(of).Problem {
			return true
		}
	}
	return false
}

// fittedText is the order of a line, with a comma behind it: that which certify is certain of or,
// where it knows a bound alone, the slope of the points drawn; "" of fewer than two.
func fittedText(line []point) string {
	order := line[0].Rows()[0].Number("order") // that of the whole line
	var h, y []float64
	for _, at := range line {
		if at.y > 0 {
			h, y = append(h, math.Log(at.x)), append(y, math.Log(at.y))
		}
	}
	if !isFinite(order) && len(h) > 1 {
		_, order = stat.LinearRegression(h, y, nil, false)
	}
	if !isFinite(order) {
		return ""
	}
	return fmt.Sprintf("fitted %.1f, ", order)
}

// ranges are the axes of a quantity over all points of a grid, on panels of a width in points.
// Gaps have no part in them; without any value they are a decade around 1.
func (q quantity) ranges(g *grid, width float64) (x, y axis) {
	// Numbers span many decades: labels are powers of ten, and the grid helps to compare.
	x, y = q.axes[0], q.axes[1]
	x.Log, y.Log, y.Powers, y.Grid = true, true, true, true
	if g.anyLost {
		y.Lost = "unstable"
	}
	y = y.over(g.ys).padded(0.06) // of its length, for markers
	y.Low = y.at(-0.12)           // a line of a note below the smallest error
	return x.over(g.xs).roomy(width), y
}

// slopeStyle is that of slopes to compare with: other dashes than those of floors, which may
// stand beside them.
var slopeStyle = style{Color: selfGrey, Width: 0.6, Dashes: []float64{5, 1.5, 1, 1.5}}

// slopes are lines of y ∝ x^p for each power p, from a common point at the upper right, or the
// upper left for p < 0, to where they leave the panel.
func slopes(x, y axis, powers ...float64) []curve {
	var out []curve
	for _, p := range powers {
		// The line begins at (from, y.High): y = y.High (x/from)^p.
		from := x.High
		if p < 0 {
			from = x.Low
		}
		end := x.clamp(from * math.Pow(y.Low/y.High, 1/p)) // where y is at its low end
		out = append(out, curve{Name: "slopes", Style: slopeStyle,
			X: []float64{end, from}, Y: []float64{y.High * math.Pow(end/from, p), y.High}})
	}
	return out
}

// guides are the slopes of a quantity, and the bound that it has, within the panel.
func (q quantity) guides(x, y axis) []curve {
	out := slopes(x, y, q.powers...)
	if q.bound == nil {
		return out
	}
	// The bound need not be monotone: where it is beyond the panel, it is left out.
	line := curve{Name: "slopes", Style: slopeStyle}
	for _, at := range floats.LogSpan(make([]float64, 100), x.Low, x.High) {
		if b := q.bound(at); b >= y.Low && b <= y.High {
			line.X, line.Y = append(line.X, at), append(line.Y, b)
		}
	}
	return append(out, line)
}

// addSlopes puts slopes into the legend, and the mark of points without a stationary law, if
// there are any: if label and lost are not "".
func (f *Figure) addSlopes(label, lost string) {
	if label != "" {
		f.legend = append(f.legend, legendEntry{Name: "slopes", Label: label, Style: slopeStyle})
	}
	if lost != "" {
		f.legend = append(f.legend,
			legendEntry{Label: lost + ": no stationary law", Style: style{Color: ink}, Lost: 1})
	}
}

// writeOrders writes the fitted orders of all observables as text and JSON, with the answers to
// what else the study asked of certify. The text has hundreds of lines: the terminal gets their
// summary.
func (d *drawing) writeOrders(rows []certify.Row) {
	// Something besides errors was asked for: answers state K, the batches of an epoch.
	answered := slices.ContainsFunc(rows, func(r certify.Row) bool { return r.K > 0 })
	d.note(countVerdicts(rows) + "; the table is " + d.plan.ID + ".txt")
	// Files are made when they are written: a page needs none.
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

// countVerdicts says how many fitted orders have which verdict, confirmed and refuted ones in
// any case. Its parts add up to its total, whatever version recorded the verdicts.
func countVerdicts(rows []certify.Row) string {
	n := make(map[certify.Verdict]int) // of observables
	total := 0                         // then: of those that no part has counted
	for _, row := range rows {
		for _, o := range row.Observables {
			n[o.Verdict]++
		}
		total += len(row.Observables)
	}
	// The order of the parts is that of the verdicts' seriousness.
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

// belowSampled is the observable whose exact errors stand below distances: the covariance of the
// position, on whose law predictions depend. Distances are of predictions.
const belowSampled = "theta.cov"

// drawAboveExact makes a study's figure of cells once more, as figure "ID-exact": above its
// distances, below exact ones of the same lines, a column per batch size above and per
// problem and scheme below. Below the full batch stand the distances of its own chains, where
// they are exact (bench.FullBatch); below all else errors on the problem of the study's exact
// jobs, since no problem with so many rows is exact with mini-batches. The rows of both have the
// columns that tell lines apart: a line below is that of the same values, whatever it is called.
// Where columns differ in number, panels above do not stand in the columns of their facets, errors
// of mini-batches would stand below the full batch, or lines do not tell all samplers and laws
// apart, the exact errors have a figure of their own, as those of a study without cells.
func drawAboveExact(d *drawing, s *sampled) error {
	d.noteMissing()
	// Whatever the study's figure shows of its cells, below are errors.
	q := quantities[bench.OnError]
	exact := d.rows.Where("record", bench.ErrorRecord)
	if exact.Len() == 0 {
		return nil
	}
	// Of the errors those of the lines above, at any friction that lines do not differ in.
	sampled := table.ByKey(s.lines)
	shown := exact.Where("observable", belowSampled).Filter(func(r table.Row) bool {
		return sampled[r.Key(s.chart.lines...)] != nil
	})
	c, _ := q.chart(d.rows, shown, "")
	c.rows, c.columns = nil, append(slices.Clip(problem), "scheme")
	c.lines, c.name = s.chart.lines, s.name
	g := c.arrange(shown, s.lines)
	// From here on the study is the figure's: files and notes have its name. Make puts the plan
	// back before claims are decided.
	title := fmt.Sprintf("The %s, sampled (above) and exact (below)", d.plan.ID)
	d.plan.ID += "-exact"
	// The figure of cells once more, under its new name: panels are added below its own.
	f := s.figure(d)
	// A single column of facets, or a long one, is laid out in rows: then no panel below would be
	// of the cells above it.
	columns := len(s.facets[0])
	merged := func(k bench.Setting) bool { // as laws are, which no cell has
		return !slices.Contains(c.lines, k.Column) && shown.Varies(k.Column)
	}
	if slices.ContainsFunc(ofSamplers, merged) || len(g.facets) == 0 ||
		len(g.facets[0]) != columns || len(f.panels[0]) != columns {
		return drawOrders(d)
	}
	// Above, batch sizes ascend to the full one.
	isFull := func(p *facet) int { return p.Where("scheme", "full").Len() }
	slices.SortStableFunc(g.facets[0], func(a, b *facet) int { // last, as above
		return cmp.Compare(min(isFull(a), 1), min(isFull(b), 1))
	})
	own := make([]*facet, len(g.facets[0])) // by panel: what is exact of the one above it
	g.ys = nil                              // of the others
	for i, p := range g.facets[0] {
		switch own[i] = s.fullBatch(s.facets[0][i], p.steps()); {
		case own[i] == nil:
			for _, at := range slices.Concat(p.lines...) {
				g.ys = append(g.ys, at.y)
			}
		case isFull(p) == 0: // errors of another scheme would not be shown
			return drawOrders(d)
		}
	}
	// Panels of the row share the axis of the errors of the small problem. That of the full
	// batch's own distances has another one, since these are no errors of moments.
	x, y := q.ranges(g, f.width) // of their own: steps are smaller than those of chains
	y.Label = "error, without Monte Carlo"
	of := strings.TrimSuffix(problemsText(shown)+"; "+g.stated(), "; ")
	small := " Below: stationary error of cov θ on a small problem (" + of + ")."
	if slices.ContainsFunc(own, func(p *facet) bool { return p != nil }) {
		small = " Below the full batch: the distance that infinitely many draws of its chains " +
			"would have."
		if slices.Contains(own, nil) {
			small += " Beside it, since none of that size is exact with mini-batches: stationary " +
				"error of cov θ on another, smaller problem (" + of + ")."
		}
		small += " " + ofExact
	}
	f.Data = Records{Columns: []string{"problem", "scheme", "integrator", "h", "error", "unstable"}}
	var row []*panel
	for i, p := range g.facets[0] {
		scheme := exactOf(p.Rows()[0]).Scheme
		out := g.draw(p, x, y, s.style, slopes(x, y, q.powers...)...)
		out.Title = "small problem, " + scheme + ": error of " + observableLabels[belowSampled]
		out.Note, _ = g.note(p, 1)
		if own := own[i]; own != nil {
			out = s.drawnExact(own, x, y, q.powers, s.floors[s.facets[0][i]].curves(x, s.style))
			for _, at := range slices.Concat(own.lines...) {
				f.Data.add(s.title(own), scheme, s.names[at.line], at.x, at.y, at.lost > 0)
			}
		}
		y.Lost = cmp.Or(y.Lost, out.Y.Lost)
		row = append(row, out)
	}
	f.Title, f.panels = title, append(f.panels, row)
	// A point that is not resolved has no error; one without a stationary law is unstable.
	for _, at := range g.points() {
		r := exactOf(at.Rows()[0])
		f.Data.add(r.Problem, r.Scheme, g.names[at.line], at.x, at.y, at.lost > 0)
	}
	f.addSlopes(q.legend, y.Lost)
	f.Caption = "Above: " + f.Caption + small
	d.out.Figures = append(d.out.Figures, f)
	return nil
}

// writeBeside writes the table of the exact errors of a study whose cells have a table and no
// figure, as "ID-exact": below a figure they would be drawn. Make puts the plan back.
func writeBeside(d *drawing) {
	d.noteMissing()
	if have := d.certified(); len(have) > 0 {
		d.plan.ID += "-exact"
		d.writeOrders(have)
	}
}

// steps are the places of the points of a facet, ascending.
func (p *facet) steps() (of []float64) {
	for _, at := range slices.Concat(p.lines...) {
		of = append(of, at.x)
	}
	slices.Sort(of)
	return slices.Compact(of)
}

// fullBatch are the exact distances of the chains of a panel of the full batch, at some steps: a
// facet whose points have no rows. An error that is round-off leaves a gap. It is nil of
// mini-batches, and where chains are not exact, as those of networks.
func (s *sampled) fullBatch(p *facet, steps []float64) *facet {
	if p == nil || p.Where("K", 1).Len() < p.Len() || len(s.floors) == 0 {
		return nil
	}
	target, err := bench.NewFullBatch(resultOf(p.Rows()[0]).Cell)
	if err != nil {
		return nil
	}
	out := &facet{p.Table, make([][]point, len(p.lines))}
	for i, line := range p.lines {
		for _, h := range steps {
			if line == nil {
				break
			}
			d, err := target.Distance(resultOf(line[0].Rows()[0]).Cell, h)
			at := point{line: i, x: h, y: d, low: d, high: d}
			switch {
			case err != nil:
				return nil
			case math.IsNaN(d): // there is no stationary law
				at.lost = 1
			case d == 0:
				at.y = math.NaN()
			}
			out.lines[i] = append(out.lines[i], at)
		}
	}
	return out
}

// drawnExact is the panel of exact distances, on the axis of the steps and one of distances like
// y, with slopes of some powers, and the floors of the panel above it. Lines that are exact have
// a note.
func (s *sampled) drawnExact(p *facet, x, y axis, powers []float64, floors []curve) *panel {
	var ys []float64
	var exact []string
	for i, line := range p.lines {
		values, known := make([]float64, 0, len(line)), false
		for _, at := range line {
			values, known = append(values, at.y), known || at.y > 0
			if at.lost > 0 {
				y.Lost = "unstable"
			}
		}
		if ys = append(ys, values...); line != nil && !known {
			exact = append(exact, s.names[i])
		}
	}
	y = y.over(ys).padded(0.06)
	y.Low = y.at(-0.12) // a line of a note below the smallest one
	out := s.draw(p, x, y, s.style, append(slopes(x, y, powers...), floors...)...)
	out.Title = s.title(p) + ", exact: distance to the posterior"
	if len(exact) > 0 {
		out.Note = "exact: " + strings.Join(exact, ", ")
	}
	return out
}

// problemsText states the friction and the number of batches of the problems of exact errors,
// which are not those of the cells above them.
func problemsText(t *table.Table) string {
	friction := setting("friction")
	return strings.Join(distinct.Of(t.Rows(), func(r table.Row) string {
		return fmt.Sprintf("%s: %s, K = %v", exactOf(r).Problem, friction.Text(r), r.Get("K"))
	}), "; ")
}
