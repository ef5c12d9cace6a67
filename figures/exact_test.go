package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/certify"
	"hambench/chain"
)

// inventRows are certified errors constant·h^order under two schemes; one
// integrator is exact, and one is unstable at the largest step.
func inventRows() []certify.Row {
	var rows []certify.Row
	steps := []float64{0.04, 0.02, 0.01, 0.005}
	for _, scheme := range []string{"full", "replacement"} {
		for name, order := range map[string]float64{"euler": 1, "lietrotter": 2, "mt3": 3, "exact": math.Inf(1)} {
			if scheme == "replacement" {
				order = min(order, 1)
			}
			x := certify.Observable{Name: "theta.cov", Order: certify.Number(order), Uncertainty: 0.01, Constant: 0.3, Claim: certify.Number(order), Verdict: certify.Confirmed}
			for i, h := range steps {
				e := 0.3 * math.Pow(h, order)
				if name == "euler" && i == 0 {
					e = math.NaN()
				}
				x.Errors, x.Resolution = append(x.Errors, certify.Number(e)), append(x.Resolution, 1e-14)
			}
			var radii []certify.Number
			if name == "euler" {
				radii = []certify.Number{1.2, certify.Number(math.NaN()), certify.Number(math.NaN()), certify.Number(math.NaN())}
			}
			rows = append(rows, certify.Row{Radii: radii, Problem: "gaussian", Integrator: name, Inner: 1, Scheme: scheme, Steps: steps, Observables: []certify.Observable{x}})
		}
	}
	slices.SortFunc(rows, func(a, b certify.Row) int { return strings.Compare(a.Scheme+a.Integrator, b.Scheme+b.Integrator) })
	return rows
}

// exactPlan is a study whose exact errors are inventRows, and their store.
func exactPlan(t *testing.T, s bench.Study) (bench.Plan, memory) {
	t.Helper()
	m := memory{rows: map[string][]certify.Row{}}
	s.Exact = nil
	for _, r := range inventRows() {
		j := bench.ExactJob{Purpose: bench.OfOrders, Exact: bench.Exact{Name: r.Problem, Integrator: r.Integrator, Inner: r.Inner, Schemes: []string{r.Scheme}}}
		s.Exact = append(s.Exact, j)
	}
	p := planOf(t, s)
	for i, r := range inventRows() {
		m.rows[p.Exact[i].Key] = []certify.Row{r}
	}
	m.results = invent(p, nil).results
	return p, m
}

func TestDrawOrders(t *testing.T) {
	dir := t.TempDir()
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	out, err := m.drawer(dir).Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{".png", ".svg", ".pdf", ".csv", ".txt", ".json"} {
		if path := filepath.Join(dir, "orders"+suffix); !slices.Contains(out.Files, path) {
			t.Errorf("no file %s among %v", path, out.Files)
		}
	}
	csv, err := os.ReadFile(filepath.Join(dir, "orders.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"gaussian,lietrotter,1,full,theta.cov,0.02,0.00012,1e-14,2,0.01,0.3,2,confirmed",
		"gaussian,euler,1,full,theta.cov,0.04,,1e-14,1,", // unstable: no error
		"gaussian,exact,1,full,theta.cov,0.04,0,1e-14,,", // an infinite order
	} {
		if !strings.Contains(string(csv), want) {
			t.Errorf("orders.csv lacks %q", want)
		}
	}
}

func TestDrawOrdersWithoutErrorsFails(t *testing.T) {
	p, _ := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	if _, err := (memory{}).drawer(t.TempDir()).Draw(p); err == nil || !strings.Contains(err.Error(), "no exact errors of study orders (0 of 8 jobs)") {
		t.Errorf("error %v: want one that says that there is nothing to draw", err)
	}
}

// What was fitted is not what is claimed: a panel states both.
func TestPanelsStateFittedAndClaimedOrders(t *testing.T) {
	for _, c := range []struct {
		order, least float64
		want         string
	}{
		{4, math.NaN(), "full batch: fitted 4.0, claimed 2"},
		{math.NaN(), 2, "full batch: fitted 3.5, claimed 2"}, // by the points, of which a bound says less
	} {
		p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
		for _, rows := range m.rows {
			if x := &rows[0].Observables[0]; rows[0].Integrator+rows[0].Scheme == "lietrotterfull" {
				x.Order, x.AtLeast = certify.Number(c.order), certify.Number(c.least)
				for i, h := range rows[0].Steps {
					x.Errors[i] = certify.Number(math.Pow(h, 3.5))
				}
			}
		}
		for _, row := range figureOf(t, p, m).panels {
			if name, _, _ := strings.Cut(row[0].Title, ":"); name == "lietrotter" && row[0].Note != c.want {
				t.Errorf("note %q, want %q", row[0].Note, c.want)
			}
		}
	}
}

// gridOf are the rows of an exact plan as its figure of errors shows them.
func gridOf(p bench.Plan, m memory, lines string) (*grid, []bench.Setting) {
	rows := bench.Results{Store: m}.Table([]bench.Plan{p})
	c, of := quantities[bench.OnError].chart(rows, rows, lines)
	return c.arrange(rows, nil), of
}

// Lines have the points that are resolved, and marks where a chain has no stationary law.
func TestErrorsThatAreNotResolvedLeaveGaps(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	for _, rows := range m.rows {
		switch x := &rows[0].Observables[0]; rows[0].Integrator + " " + rows[0].Scheme {
		case "mt3 full":
			x.Errors[3] = 1e-15 // below its resolution
		case "lietrotter replacement":
			x.Verdict = certify.Exact // though larger than a bound
		}
	}
	g, _ := gridOf(p, m, "")
	type line struct{ known, lost int }
	got := make(map[string]line)
	for _, at := range g.points() {
		r := at.Rows()[0]
		of := got[r.Text("integrator")+" "+r.Text("scheme")]
		if at.y > 0 {
			of.known++
		}
		if at.lost > 0 {
			of.lost++
		}
		if (at.lost > 0) != (r.Text("integrator") == "euler" && at.x == 0.04) {
			t.Errorf("%s at h = %v: lost is %v", r.Text("integrator"), at.x, at.lost)
		}
		got[r.Text("integrator")+" "+r.Text("scheme")] = of
	}
	want := map[string]line{"euler full": {3, 1}, "euler replacement": {3, 1}, "lietrotter full": {4, 0},
		"lietrotter replacement": {0, 0}, "mt3 full": {3, 0}, "mt3 replacement": {4, 0},
		"exact full": {0, 0}, "exact replacement": {4, 0}}
	if !maps.Equal(got, want) {
		t.Errorf("points drawn %v, want %v", got, want)
	}
}

// twoLaws is a study of the laws after a period, of the errors of exactPlan, and after every step,
// of twice these.
func twoLaws(t *testing.T, s bench.Study) (bench.Plan, memory) {
	t.Helper()
	p, m := exactPlan(t, s)
	for i, r := range inventRows() {
		j := p.Exact[i]
		m.rows[j.Key][0].Observe, r.Observe = "period", "every-step"
		for k := range r.Steps {
			r.Observables[0].Errors[k] *= 2
		}
		j.Key = "every " + j.Key
		p.Exact, m.rows[j.Key] = append(p.Exact, j), []certify.Row{r}
	}
	return p, m
}

// Laws that differ are told apart, by panels or by lines, and in the files: no point is the median
// of two.
func TestLawsAreToldApart(t *testing.T) {
	for _, lines := range [][]string{nil, {"integrator"}} {
		p, m := twoLaws(t, bench.Study{ID: "orders", Title: "orders", Figure: &bench.FigureSpec{Kind: "orders", Lines: lines}})
		dir := t.TempDir()
		out, err := m.drawer(dir).Draw(p)
		if err != nil {
			t.Fatal(err)
		}
		f := out.Figures[0]
		var names []string // of panels and lines
		for _, panel := range slices.Concat(f.panels...) {
			names = append(names, panel.Title)
			for _, s := range panel.Series {
				if s.Low != nil && !slices.EqualFunc(s.Low, s.High, func(a, b float64) bool { return a == b || a != a && b != b }) {
					t.Errorf("lines %v, %s: %s is between %v and %v", lines, panel.Title, s.Name, s.Low, s.High)
				}
			}
		}
		for _, e := range f.legend {
			names = append(names, e.Label)
		}
		for _, law := range []string{"mt3", "mt3, every step"} {
			if !slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, law) }) {
				t.Errorf("lines %v: panels and lines %q, none of %q", lines, names, law)
			}
		}
		if !strings.Contains(f.Caption, ofLaws) || strings.Contains(f.Caption, "Throughout") {
			t.Errorf("lines %v: caption %q", lines, f.Caption)
		}
		csv, table := string(read(t, filepath.Join(dir, "orders.csv"))), string(read(t, filepath.Join(dir, "orders.txt")))
		for _, law := range []string{"period", "every-step"} {
			if want := "gaussian,mt3,1,full," + law + ",theta.cov,0.02,"; strings.Count(csv, want) != 1 {
				t.Errorf("orders.csv has %d lines %q, want one", strings.Count(csv, want), want)
			}
			if strings.Count(table, law) < 8 {
				t.Errorf("orders.txt does not name the law %s of 8 rows:\n%s", law, table)
			}
		}
	}
}

// Below cells, whose lines no law tells apart, two laws have a figure of their own.
func TestTwoLawsDoNotStandBelowDistances(t *testing.T) {
	p, m := twoLaws(t, plan(t, "quick", "bottleneck").Study)
	spec := *cmp.Or(p.Figure, new(bench.FigureSpec))
	spec.Y, p.Figure = distance, &spec // which exact errors have not
	f := made(t, p, m).Figures[1]
	if f.ID != "bottleneck-exact" || strings.Contains(f.Caption, "Above") || !slices.ContainsFunc(slices.Concat(f.panels...), func(p *panel) bool { return strings.Contains(p.Title, ", every step: ") }) {
		t.Errorf("%s, %q: want a figure of exact errors alone, whose panels name the law", f.ID, f.Caption)
	}
}

// What all lines share and neither they nor titles name, the caption states, unless it is the default.
func TestCaptionsOfExactErrorsStateWhatLinesShare(t *testing.T) {
	for _, c := range []struct {
		lines, estimator string
		inner            int
		law, want        string
	}{
		{"", "plain", 1, "period", ""},
		{"", "svrg", 1, "period", "Throughout: svrg. "},
		{"integrator", "svrg", 8, "every-step", "Throughout: svrg, N_l = 8, every step. "},
		{"estimator", "svrg", 8, "period", "Throughout: N_l = 8. "}, // of two schemes, which panels name
	} {
		share := func(p bench.Plan, m memory) {
			for i, j := range p.Exact {
				p.Exact[i].Exact.Estimator, p.Exact[i].Exact.Inner = c.estimator, c.inner
				m.rows[j.Key][0].Observe = c.law
			}
		}
		p, m := exactPlan(t, bench.Study{ID: "orders", Figure: &bench.FigureSpec{Kind: "orders", Lines: []string{c.lines}}})
		share(p, m)
		says := figureOf(t, p, m).Caption
		if c.want == "" && strings.Contains(says, "Throughout") || !strings.Contains(says, c.want) {
			t.Errorf("%+v: caption %q", c, says)
		}
		if strings.Contains(says, ofPeriods) != (c.estimator == "svrg") || strings.Contains(says, ofLaws) != (c.law == "every-step") {
			t.Errorf("%+v: caption %q: want svrg and the law explained where they are named", c, says)
		}
		// So does that of a figure of cells, of the small problem below.
		p, m = exactPlan(t, plan(t, "quick", "bottleneck").Study)
		share(p, m)
		if says := made(t, p, m).Figures[1].Caption; !strings.HasPrefix(says, "Above") || c.law == "every-step" && !strings.Contains(says, "; svrg, N_l = 8, every step)") {
			t.Errorf("%+v: caption %q", c, says)
		}
	}
}

// Exact errors beside a table of cells, without a figure, have a table of their own.
func TestExactErrorsBesideATableAreWritten(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "own", Title: "Own", Cells: jobs(cell("mt3", 0, 8, 0.1)), Table: &bench.TableSpec{Rows: []string{"integrator"}}})
	delete(m.rows, p.Exact[0].Key)
	dir := t.TempDir()
	out, err := m.drawer(dir).Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range out.Files {
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	if want := []string{"own-exact.json", "own-exact.txt", "own.csv", "own.json", "own.txt"}; !slices.Equal(names, want) {
		t.Fatalf("files %q, want %q", names, want)
	}
	if table := string(read(t, filepath.Join(dir, "own-exact.txt"))); !strings.Contains(table, "lietrotter") || strings.Contains(table, "law") {
		t.Errorf("the table of exact errors is\n%s", table)
	}
	if says := strings.Join(out.Notes, " "); !strings.Contains(says, "1 of 8 exact jobs are missing") || !strings.Contains(says, "the table is own-exact.txt") {
		t.Errorf("notes %q", out.Notes)
	}
}

// A reference slope of order p falls by p decades over a decade of steps, until
// it leaves the panel.
func TestReferenceSlopes(t *testing.T) {
	x, y := axis{Low: 0.001, High: 0.1, Log: true}, axis{Low: 1e-5, High: 0.1, Log: true}
	for i, s := range slopes(x, y, orders...) {
		fall := math.Log(s.Y[1]/s.Y[0]) / math.Log(s.X[1]/s.X[0])
		if math.Abs(fall-float64(i+1)) > 1e-9 { // rounding of logarithms
			t.Errorf("line %d has slope %v", i, fall)
		}
		if s.X[0] < x.Low || s.Y[0] < y.Low*(1-1e-9) || s.X[1] != x.High || s.Y[1] != y.High {
			t.Errorf("line %d runs from (%v, %v) to (%v, %v): want it on the panel, ending at its upper right", i, s.X[0], s.Y[0], s.X[1], s.Y[1])
		}
	}
}

// Each integrator has a row, integrators with the same errors share one, and a panel says
// why a scheme has no line in it.
func TestOrdersFigure(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	for i, j := range p.Exact {
		if j.Exact.Integrator == "mt3" {
			j.Exact.Integrator, j.Key = "mt3-again", fmt.Sprint("again ", i)
			p.Exact = append(p.Exact, j)
			m.rows[j.Key] = m.rows[p.Exact[i].Key]
		}
	}
	g, of := gridOf(p, m, "")
	f := quantities[bench.OnError].figure(g, of)
	notes := map[string]string{"euler": "full batch: fitted 1.0, claimed 1\nreplacement as full", "exact": "not resolved: full",
		"lietrotter": "full batch: fitted 2.0, claimed 2", "mt3": "full batch: fitted 3.0, claimed 3"}
	if len(f.panels) != 4 || !strings.Contains(f.Caption, "mt3 stands for mt3-again as well") {
		t.Errorf("%d rows, caption %q: want a row for each of four integrators, one of which stands for another", len(f.panels), f.Caption)
	}
	for _, row := range f.panels {
		name, _, _ := strings.Cut(row[0].Title, ":")
		if len(row) != 1 || row[0].Note != notes[name] || len(row[0].Series) != 3+2 {
			t.Errorf("%s: %d panels with the note %q and %d lines: want one with %q, two schemes and three slopes", name, len(row), row[0].Note, len(row[0].Series), notes[name])
		}
	}
	for i, j := range p.Exact {
		if j.Exact.Integrator == "euler" && j.Exact.Schemes[0] == "replacement" {
			p.Exact = slices.Delete(p.Exact, i, i+1)
			break
		}
	}
	g, of = gridOf(p, m, "")
	if note := quantities[bench.OnError].figure(g, of).panels[0][0].Note; !strings.Contains(note, "not run: replacement") {
		t.Errorf("a scheme without errors has the note %q", note)
	}
}

// An empty panel of an integrator without a momentum does not say that it cannot run on the problem
// beside it.
func TestPanelsWithoutMomentumSaySo(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	// One integrator has errors on a problem of its own, too.
	j := p.Exact[slices.IndexFunc(p.Exact, func(j bench.ExactJob) bool { return j.Exact.Integrator == "mt3" })]
	other := m.rows[j.Key][0]
	other.Problem, j.Exact.Name, j.Key = "other", "other", "other"
	p.Exact, m.rows[j.Key] = append(p.Exact, j), []certify.Row{other}
	for key, rows := range m.rows {
		if rows[0].Integrator != "euler" {
			joint := rows[0].Observables[0]
			joint.Name = "joint.cov"
			m.rows[key][0].Observables = append(m.rows[key][0].Observables, joint)
		}
	}
	seen := 0
	for _, row := range figureOf(t, p, m).panels {
		for _, panel := range row {
			want := map[string]string{"euler: cov(θ, r), gaussian": "no momentum", "euler: cov θ, other": "does not run on this problem"}[panel.Title]
			if want != "" && panel.Note != want {
				t.Errorf("%s: note %q, want %q", panel.Title, panel.Note, want)
			}
			if want != "" {
				seen++
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d empty panels of euler, want 2", seen)
	}
}

// A law that does not exist is not one without error: neither row stands for the other, and notes
// say of each line why it is not there. No line lies on one that is not drawn.
func TestUnstableLinesAreNotExactOnes(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	nan := certify.Number(math.NaN())
	for _, rows := range m.rows {
		r := &rows[0]
		x := &r.Observables[0]
		switch r.Integrator {
		case "exact":
			x.Errors, x.Verdict = make([]certify.Number, len(r.Steps)), certify.Exact
		case "euler", "lietrotter":
			x.Errors, r.Radii = []certify.Number{nan, nan, nan, nan}, []certify.Number{1.2, 1.1, 1.1, 1.1}
		case "mt3":
			x.Errors = []certify.Number{1e-3, 1e-15, 1e-15, 1e-15} // the last three below the resolution
			if r.Scheme == "replacement" {
				x.Errors[0] = 1e-15
			}
		}
	}
	f := figureOf(t, p, m)
	if want := "euler stands for lietrotter as well."; !strings.Contains(f.Caption, want) || strings.Count(f.Caption, "stands for") != 1 {
		t.Errorf("caption %q, want %q alone", f.Caption, want)
	}
	notes := map[string]string{"euler": "no stationary law: full, replacement", "exact": "exact: full, replacement", "mt3": "full batch: fitted 3.0, claimed 3\nnot resolved: replacement"}
	for _, row := range f.panels {
		name, _, _ := strings.Cut(row[0].Title, ":")
		if row[0].Note != notes[name] {
			t.Errorf("%s: note %q, want %q", name, row[0].Note, notes[name])
		}
	}
	if len(f.panels) != 3 || strings.Contains(f.Caption, "lies on") {
		t.Errorf("%d rows, caption %q", len(f.panels), f.Caption)
	}
}

// A bias that is round-off is exact in the figure of energy errors, too.
func TestEnergyFigureNamesExactBias(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	for _, rows := range m.rows {
		r := &rows[0]
		bias := 1e-3
		if r.Integrator+" "+r.Scheme == "exact full" {
			r.Observables[0].Verdict, bias = certify.Exact, 0
		}
		for range r.Steps {
			r.CovarianceBias = append(r.CovarianceBias, certify.Number(bias))
			r.EnergyError = append(r.EnergyError, 1e-4)
			r.BatchEnergyError = append(r.BatchEnergyError, 1e-4)
		}
	}
	all := bench.Results{Store: m}.Table([]bench.Plan{p})
	rows, q := all.Where("record", bench.EnergyRecord), quantities[bench.OnEnergy]
	c, of := q.chart(all, rows, "")
	named := 0
	for _, panel := range slices.Concat(q.figure(c.arrange(rows, nil), of).panels...) {
		if strings.Contains(panel.Note, "exact: full") {
			named++
		}
	}
	if named != 1 {
		t.Errorf("%d panels name the bias of the full batch exact, want one", named)
	}
	// A step without an energy error, as beyond stability, has no place, which is said; the file
	// has what the axes show.
	p.Figure = &bench.FigureSpec{Kind: "orders", Y: bench.OnEnergy}
	for _, of := range m.rows {
		of[0].BatchEnergyError[0] = certify.Number(math.NaN())
	}
	f := figureOf(t, p, m)
	if want := fmt.Sprintf("%d points have no place on the axis: their energy error is", len(m.rows)); !strings.Contains(f.Caption, want) {
		t.Errorf("caption %q, want %q", f.Caption, want)
	}
	i := slices.Index(f.Data.Columns, "batch_energy_error")
	if i < 0 || f.Data.Rows[0][i] != nil || f.Data.Rows[1][i] != 1e-4 {
		t.Errorf("columns %q, rows %v: want the energy error of each step", f.Data.Columns, f.Data.Rows[:2])
	}
}

// A study with cells and exact errors is drawn twice: as it was sampled, and
// with the exact errors below.
func TestExactErrorsStandBelowDistances(t *testing.T) {
	p, m := exactPlan(t, plan(t, "quick", "bottleneck").Study)
	dir := t.TempDir()
	out, err := m.drawer(dir).Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Files) != 11 {
		t.Errorf("files %v, want CSV, PNG, SVG and PDF of two figures and three of a table", out.Files)
	}
	var dashes []string // of the legend's grey lines
	for _, e := range out.Figures[1].legend {
		if e.Style.Color == selfGrey {
			dashes = append(dashes, fmt.Sprint(e.Style.Dashes))
		}
	}
	if len(dashes) != 2 || dashes[0] == dashes[1] {
		t.Errorf("the floor and the slopes have the dashes %q: want two that differ", dashes)
	}
	csv := string(read(t, filepath.Join(dir, "bottleneck-exact.csv")))
	for _, want := range []string{"gaussian,replacement,mt3,0.02,0.006,false", "gaussian,full,euler,0.04,,true"} {
		if !strings.Contains(csv, want) {
			t.Errorf("bottleneck-exact.csv lacks %q", want)
		}
	}
	if strings.Contains(csv, ",exact,") {
		t.Error("the exact flow is drawn, which the sampled figure lacks")
	}
	svg := string(read(t, filepath.Join(dir, "bottleneck-exact.svg")))
	if a, b := strings.Index(svg, "small problem, replacement: error of cov θ"), strings.Index(svg, "linear, full batch, exact"); a < 0 || b < a {
		t.Error("the exact panels do not stand below the sampled ones: mini-batches first, then the full batch")
	}
	if !strings.Contains(svg, "leapfrog (order 2 in θ, 1 jointly)") {
		t.Error("the legend does not state leapfrog's orders")
	}
	if !strings.Contains(svg, "not run: leapfrog") || strings.Contains(svg, "where an integrator has no line it is exact") {
		t.Error("leapfrog, of which there are no exact errors, is not said to lack them")
	}
	p.Exact = slices.DeleteFunc(p.Exact, func(j bench.ExactJob) bool { return j.Exact.Schemes[0] != "full" })
	if _, err := m.drawer(dir).Draw(p); err != nil {
		t.Fatal(err)
	}
	if svg := string(read(t, filepath.Join(dir, "bottleneck-exact.svg"))); strings.Contains(svg, "Kolmogorov") || !strings.Contains(svg, "absolute error") {
		t.Error("exact errors of one scheme below two batch sizes: want a figure of their own")
	}
}

// Below the full batch of a linear model stand the exact distances of its own chains: of the
// integrators' orders in θ, none of leapfrog, none beyond the stable step, with the floor of the
// chains above. Networks and mini-batches have none.
func TestFullBatchHasExactDistancesOfItsOwn(t *testing.T) {
	p, m := exactPlan(t, plan(t, "quick", "bottleneck").Study)
	f := made(t, p, m).Figures[1]
	panel := f.panels[1][1]
	if left := f.panels[1][0].Title; left != "small problem, replacement: error of cov θ" {
		t.Errorf("below mini-batches stands %q", left)
	}
	slope := map[string]float64{"euler": 1, "lietrotter": 2, "mt3": 3}
	for _, s := range panel.Series {
		want, ok := slope[s.Name]
		if !ok {
			continue
		}
		delete(slope, s.Name)
		if got := math.Log(s.Y[1]/s.Y[0]) / math.Log(s.X[1]/s.X[0]); math.Abs(got-want) > 0.3 { // the steps, 0.005 and 0.01, are near euler's limit
			t.Errorf("%s: slope %v at the smallest steps, want %v", s.Name, got, want)
		}
		// 0.04 is beyond euler's limit at the largest frequency, and far within the others'.
		last := len(s.X) - 1
		if s.X[last] != 0.04 || (s.Lost[last] == 1) != (s.Name == "euler") || math.IsNaN(s.Y[last]) != (s.Name == "euler") {
			t.Errorf("%s: %v, lost %v", s.Name, s.Y, s.Lost)
		}
	}
	if len(slope) > 0 || panel.Note != "exact: leapfrog" || len(named(panel, "floor")) != 1 || !strings.Contains(f.Caption, "smaller problem (gaussian: ") {
		t.Errorf("lacks %v; note %q, caption %q", slope, panel.Note, f.Caption)
	}
	// Of the full batch alone nothing stands beside it, and errors of another scheme do not below it.
	q := p
	q.Cells = slices.DeleteFunc(slices.Clone(p.Cells), func(j bench.Job) bool { return j.Cell.Batches > 1 })
	for scheme, want := range map[string]string{"full": "would have. Exact: the error is round-off.", "replacement": "Computed without Monte Carlo."} {
		q.Exact = slices.DeleteFunc(slices.Clone(p.Exact), func(j bench.ExactJob) bool { return j.Exact.Schemes[0] != scheme })
		if c := made(t, q, m).Figures[1].Caption; !strings.Contains(c, want) || strings.Contains(c, "Beside it") {
			t.Errorf("exact errors of scheme %s below the full batch alone: caption %q, want %q", scheme, c, want)
		}
	}
	cells := jobs(cell("mt3", 0, bench.Full, 0.1), cell("mt3", 0, 8, 0.1))
	s := arranged(t, stored(cells, tenth), bench.Study{ID: "own", Cells: cells})
	for _, p := range s.facets[0] {
		if s.fullBatch(p, []float64{0.1}) != nil {
			t.Errorf("%s is exact", s.title(p))
		}
	}
}

// Exact errors that are missing leave the sampled figure alone.
func TestDistancesStandAloneWithoutExactErrors(t *testing.T) {
	p := plan(t, "quick", "bottleneck")
	out, err := invent(p, nil).drawer(t.TempDir()).Draw(p)
	if err != nil || len(out.Files) != 7 || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "4 of 4 exact jobs are missing") {
		t.Errorf("files %v, notes %q, error %v: want the files of the sampled figure and its table, and a note", out.Files, out.Notes, err)
	}
}

// certified adds to a store what the certifier finds for a plan's jobs on
// Gaussian problems, for the gallery.
func certified(t *testing.T, p bench.Plan, m memory) {
	t.Helper()
	for _, j := range p.Exact {
		o, err := j.Exact.Options(chain.Registries{})
		if err != nil {
			t.Fatal(err)
		}
		if o.Problem.Kind == certify.Gaussian {
			if m.rows[j.Key], err = certify.Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// With lines by the estimator, panels have the scheme where there are several; with lines by
// integrator, names state what samplers differ in.
func TestPanelsAndLinesOfSamplers(t *testing.T) {
	for _, c := range []struct {
		lines string
		rows  [][3]string // scheme, estimator, N_l
		want  []string
	}{
		{"estimator", [][3]string{{"reshuffle", "plain", "1"}, {"reshuffle", "saga", "1"}}, []string{"ubu: plain", "ubu: saga"}},
		{"estimator", [][3]string{{"reshuffle", "plain", "1"}, {"cyclic", "saga", "1"}}, []string{"ubu, reshuffle: plain", "ubu, cyclic: saga"}},
		{"integrator", [][3]string{{"full", "plain", "1"}, {"full", "plain", "8"}}, []string{"full: ubu, N_l = 1", "full: ubu, N_l = 8"}},
		{"", [][3]string{{"full", "plain", "1"}, {"cyclic", "saga", "1"}}, []string{"ubu, plain: full", "ubu, saga: cyclic"}},
	} {
		var s bench.Study
		m := memory{rows: make(map[string][]certify.Row)}
		for i, r := range c.rows {
			inner, _ := strconv.Atoi(r[2])
			j := bench.ExactJob{Exact: bench.Exact{Integrator: "ubu", Estimator: r[1], Inner: inner}}
			s.Exact = append(s.Exact, j)
			m.rows[fmt.Sprint(i)] = []certify.Row{{Integrator: "ubu", Scheme: r[0], Inner: inner, Steps: []float64{0.1},
				Observables: []certify.Observable{{Name: "theta.cov", Errors: []certify.Number{1}, Resolution: []certify.Number{0}}}}}
		}
		g, of := gridOf(planOf(t, s), m, c.lines)
		var got []string
		names := g.names
		for p, at := range g.points() {
			got = append(got, bench.TextOf(of, p.Rows()[0])+": "+names[at.line])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("lines by %q: %q, want %q", c.lines, got, c.want)
		}
	}
}

// A long row of panels, of one sampler on many problems, is broken, and its caption explains
// orders where panels state some.
func TestLongRowsOfExactErrorsAreBroken(t *testing.T) {
	for scheme, noted := range map[string]bool{"full": true, "reshuffle": false} {
		var s bench.Study
		m := memory{rows: make(map[string][]certify.Row)}
		for i := range 6 {
			problem := fmt.Sprint("problem ", i)
			s.Exact = append(s.Exact, bench.ExactJob{Purpose: bench.OfOrders,
				Exact: bench.Exact{Name: problem, Integrator: "ubu", Schemes: []string{scheme}}})
			m.rows[fmt.Sprint(i)] = []certify.Row{{Problem: problem, Integrator: "ubu", Scheme: scheme,
				Inner: 1, Steps: []float64{0.2, 0.1}, Observables: []certify.Observable{{
					Name: "theta.cov", Order: 2, Claim: 2, Errors: []certify.Number{0.04, 0.01},
					Resolution: []certify.Number{0, 0}}}}}
		}
		g, of := gridOf(planOf(t, s), m, "scheme")
		f := quantities[bench.OnError].figure(g, of)
		if len(f.panels) != 2 || len(f.panels[0]) != 3 {
			t.Errorf("%s: %d rows of %d panels, want 2 of 3", scheme, len(f.panels), len(f.panels[0]))
		}
		if says := strings.Contains(f.Caption, "Orders in panels"); says != noted {
			t.Errorf("%s: the note is %q, the caption %q", scheme, f.panels[0][0].Note, f.Caption)
		}
	}
}

// What certify says beside errors has axes with units, a line for each scheme or
// integrator, and CSV with the same numbers.
func TestFiguresOfAnswers(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "answers", Title: "answers"})
	for key, rows := range m.rows {
		r := &rows[0]
		less := certify.Number(map[string]float64{"mt3": 0.5}[r.Integrator] + 0.5)
		for i := range r.Steps {
			x := certify.Number(i+1) * less
			r.Kolmogorov, r.Wasserstein = append(r.Kolmogorov, 0.1/x), append(r.Wasserstein, 0.2/x)
		}
		r.Observables[0].Relative = r.Observables[0].Errors
		r.Observables[0].RelativeResolution = []certify.Number{1e-14, 1e-14, 1e-14, 1e-14}
		if r.Scheme == "full" {
			r.Wasserstein[3] = 1e-15
		}
		r.K, r.Averages = 4, []certify.Average{{Name: "theta", Autocorrelation: []certify.Number{10, 20, 40, 80}}, {Name: "theta^2", Autocorrelation: []certify.Number{11, 21, 41, certify.Number(math.Inf(1))}}}
		for _, n := range []float64{1e5, 1000} { // in any order
			best := certify.Number(100/n) * less
			r.Budgets = append(r.Budgets, certify.AtBudget{Gradients: n, Step: 0.3, Best: best, MSE: []certify.Number{4 * best, 3 * best, 2 * best, certify.Number(math.NaN())}})
		}
		m.rows[key] = rows
	}
	for _, c := range []struct {
		spec          bench.FigureSpec
		x, y, title   string
		rows, columns int
		line          string // of CSV
	}{
		{bench.FigureSpec{Y: bench.OnKolmogorov}, "step size η (simulation time)", "Kolmogorov distance", "lietrotter: θ, gaussian", 1, 2, "gaussian,lietrotter,1,full,theta,0.02,,0.1"},
		{bench.FigureSpec{Y: bench.OnWasserstein}, "step size η (simulation time)", "Wasserstein distance (standard deviations)", "lietrotter: θ, gaussian", 1, 2, "gaussian,lietrotter,1,full,theta,0.02,,0.2\ngaussian,lietrotter,1,full,theta,0.01,,0.13333333\ngaussian,lietrotter,1,full,theta,0.005,,"},
		{bench.FigureSpec{Y: bench.OnAutocorrelation}, "step size η (simulation time)", "autocorrelation time (outer steps)", "lietrotter: θ^2, gaussian", 1, 2, "gaussian,lietrotter,1,full,theta^2,0.02,,21"},
		{bench.FigureSpec{Y: bench.OnMSE}, "step size η (simulation time)", "mean squared error (target variances)", "lietrotter: 1000 gradients, gaussian", 2, 2, "gaussian,lietrotter,1,full,1000 gradients,0.02,1000,0.15"},
		{bench.FigureSpec{X: bench.OnBudget, Y: bench.OnMSE, Lines: []string{"integrator"}}, "budget (gradients of a batch)", "mean squared error (target variances)", "full, gaussian", 1, 1, "gaussian,lietrotter,1,full,best step,0.3,1000,0.05"},
	} {
		c.spec.Kind = "orders"
		p.Figure = &c.spec
		out, err := m.drawer(t.TempDir()).Draw(p)
		if err != nil {
			t.Fatal(err)
		}
		f := out.Figures[0]
		var titles []string
		for _, row := range f.panels {
			for _, panel := range row {
				if panel == nil { // an empty place
					continue
				}
				titles = append(titles, panel.Title)
				if panel.X.title() != c.x || panel.Y.title() != c.y {
					t.Errorf("%+v: axes %q and %q, want %q and %q", c.spec, panel.X.title(), panel.Y.title(), c.x, c.y)
				}
				for _, s := range panel.Series {
					if s.Name != "slopes" && (!slices.IsSorted(s.X) || len(s.X) < 2) {
						t.Errorf("%+v: line %s runs over %v", c.spec, s.Name, s.X)
					}
				}
			}
		}
		// Integrators with equal numbers share a row, and rows of one panel stand side by
		// side.
		if len(f.panels) != c.rows || len(f.panels[0]) != c.columns {
			t.Errorf("%+v: %d rows of %d panels, want %d of %d", c.spec, len(f.panels), len(f.panels[0]), c.rows, c.columns)
		}
		if !slices.Contains(titles, c.title) && !slices.Contains(titles, strings.Replace(c.title, "lietrotter", "euler", 1)) {
			t.Errorf("%+v: panels %q, want %q", c.spec, titles, c.title)
		}
		csv, err := f.Data.CSV()
		if err != nil || !strings.Contains(string(csv), c.line+"\n") {
			t.Errorf("%+v: %v, CSV lacks %s:\n%s", c.spec, err, c.line, csv)
		}
		for _, name := range out.Files {
			if strings.HasSuffix(name, ".txt") && !strings.Contains(string(read(t, name)), "MSE there") {
				t.Errorf("%s has no table of the answers", name)
			}
		}
	}
}

// A reference slope of negative order falls to the right from the upper left.
func TestReferenceSlopesThatFall(t *testing.T) {
	x, y := axis{Low: 1000, High: 1e6, Log: true}, axis{Low: 1e-3, High: 0.1, Log: true}
	for _, s := range slopes(x, y, quantities[bench.OnBudget].powers...) {
		if s.X[1] != x.Low || s.Y[1] != y.High || s.X[0] > x.High || s.Y[0] < y.Low*(1-1e-9) || s.Y[0] >= s.Y[1] {
			t.Errorf("a line runs from (%v, %v) to (%v, %v)", s.X[0], s.Y[0], s.X[1], s.Y[1])
		}
	}
}

// The parts of the note on verdicts add up to its total, whichever verdicts there are.
func TestCountVerdictsCountsAll(t *testing.T) {
	row := certify.Row{}
	for _, v := range append(certify.Verdicts(), "of a later version") {
		row.Observables = append(row.Observables, certify.Observable{Verdict: v})
	}
	var sum, total int
	for i, part := range strings.Split(countVerdicts([]certify.Row{row}), ", ") {
		var n int
		if _, err := fmt.Sscan(part, &n); err != nil {
			t.Fatalf("%q: %v", part, err)
		}
		if i == 0 {
			total = n
		} else {
			sum += n
		}
	}
	if sum != total || total != 11 {
		t.Errorf("parts of %d make %d of 11 verdicts", sum, total)
	}
}

// A scheme has one style in all figures, and so has an integrator: whatever lines stand beside it.
func TestSchemesHaveOneStyle(t *testing.T) {
	want := stylesOf([]string{"full", "reshuffle", "replacement", "cyclic", "symmetric"})
	got := stylesOf([]string{"symmetric", "replacement", "full batch"})
	if !slices.EqualFunc(got, []style{want[4], want[2], want[0]}, sameStyle) {
		t.Errorf("styles %+v, want those of %+v", got, want)
	}
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	for _, e := range figureOf(t, p, m).legend {
		if slices.Contains(schemeStyles, e.Name) && !sameStyle(e.Style, stylesOf([]string{e.Name})[0]) {
			t.Errorf("the figure of orders has %s as %+v", e.Name, e.Style)
		}
	}
}

func sameStyle(a, b style) bool {
	return a.Color == b.Color && a.Marker == b.Marker && slices.Equal(a.Dashes, b.Dashes)
}

// Captions explain the letters of problems and estimators that they show.
func TestCaptionsExplainLetters(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Figure: &bench.FigureSpec{Kind: "orders", Lines: []string{"estimator"}}})
	for i, j := range p.Exact {
		p.Exact[i].Exact.Name, p.Exact[i].Exact.Estimator = "λ = 4", "svrg:32"
		m.rows[j.Key][0].Problem, m.rows[j.Key][0].Estimator = "λ = 4", "svrg:32"
	}
	c := figureOf(t, p, m).Caption
	if !strings.Contains(c, problemLetters["λ"]) || !strings.Contains(c, ofPeriods) || strings.Contains(c, problemLetters["ω"]) {
		t.Errorf("caption %q", c)
	}
}

// Where lines are estimators of one scheme, the caption names it.
func TestCaptionsNameTheOnlyScheme(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Figure: &bench.FigureSpec{Kind: "orders", Lines: []string{"estimator"}}})
	for i, j := range p.Exact {
		p.Exact[i].Exact.Schemes, m.rows[j.Key][0].Scheme = []string{"replacement"}, "replacement"
	}
	if says := figureOf(t, p, m).Caption; !strings.Contains(says, "Throughout: replacement. ") {
		t.Errorf("caption %q", says)
	}
}
