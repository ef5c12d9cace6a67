package figures

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

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
		j := bench.ExactJob{Purpose: bench.OfOrders, Exact: bench.Exact{Name: r.Problem, Integrator: r.Integrator, Schemes: []string{r.Scheme}}}
		s.Exact = append(s.Exact, j)
	}
	p := planOf(t, s)
	for i, r := range inventRows() {
		m.rows[p.Exact[i].Key] = []certify.Row{r}
	}
	m.results = invent(p, nil).results
	return p, m
}

// inventPanels are the panels of inventRows.
func inventPanels(t *testing.T) (bench.Plan, []exactErrors) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	have, _ := p.Evidence(m.Rows)
	return p, groupErrors(have, func(certify.Row, certify.Observable) bool { return true })
}

func TestDrawOrders(t *testing.T) {
	dir := t.TempDir()
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	out, err := Drawer{Results: m, Dir: dir}.Draw(p)
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
	p, _ := inventPanels(t)
	if _, err := (Drawer{Results: memory{}, Dir: t.TempDir()}).Draw(p); err == nil || !strings.Contains(err.Error(), "no exact errors of study orders (0 of 8 jobs)") {
		t.Errorf("error %v: want one that says that there is nothing to draw", err)
	}
}

func TestErrorLineLeavesGaps(t *testing.T) {
	_, panels := inventPanels(t)
	for _, p := range panels {
		for _, l := range p.lines {
			known := 0
			for _, s := range l.points {
				if s.known() {
					known++
				}
				if (s.diverged > 0) != (l.name == "euler" && s.h == 0.04) {
					t.Errorf("%s under %s at h = %v: diverged %d", l.name, p.scheme, s.h, s.diverged)
				}
			}
			want := map[string]int{"euler": 4, "lietrotter": 4, "mt3": 4, "exact": 4}[l.name]
			if l.name == "exact" && p.scheme == "full" {
				want = 0
			}
			if known != want {
				t.Errorf("%s under %s: %d points drawn, want %d", l.name, p.scheme, known, want)
			}
		}
	}
}

// strokes notes the lines drawn.
type strokes struct {
	reader
	lines []vg.Path
}

func (s *strokes) Stroke(p vg.Path) { s.lines = append(s.lines, slices.Clone(p)) }

// A reference slope of order p falls by p decades over a decade of steps,
// until it leaves the panel: here, with two decades of steps on 200 points and
// four of errors on 400, by p points for each point to the left.
func TestReferenceSlopes(t *testing.T) {
	p := newPlot()
	axis{low: 0.001, high: 0.1, log: true}.apply(&p.X, false)
	y := axis{low: 1e-5, high: 0.1, log: true}
	y.apply(&p.Y, false)
	s := &strokes{reader: reader{w: 200, h: 400}}
	referenceSlopes{y}.Plot(draw.New(s), p)
	if len(s.lines) != 3 {
		t.Fatalf("%d lines, want 3", len(s.lines))
	}
	for i, l := range s.lines {
		a, b := l[0].Pos, l[1].Pos
		slope := (b.Y - a.Y) / (b.X - a.X)
		if want := vg.Length(i + 1); math.Abs(float64(slope-want)) > 1e-9 { // rounding of logarithms
			t.Errorf("line %d has slope %v, want %v", i, slope, want)
		}
		if a.X < -1e-9 || a.Y < -1e-9 || b != (vg.Point{X: 200, Y: 400}) {
			t.Errorf("line %d runs from %v to %v: want it on the panel, ending at its upper right", i, a, b)
		}
	}
}

func TestOrdersSheetHasRoom(t *testing.T) {
	p, panels := inventPanels(t)
	s := ordersSheet(Drawer{Results: memory{}}.drawing(p), panels)
	texts, found := clashes(s)
	for _, f := range found {
		t.Error(f)
	}
	for _, p := range texts {
		checkGlyphs(t, "orders", p)
	}
	if len(s.panels) != 1 || len(s.panels[0]) != 2 {
		t.Errorf("%d rows of %d panels, want 1 of 2", len(s.panels), len(s.panels[0]))
	}
}

// A study with cells and exact errors is drawn twice: as it was sampled, and
// with the exact errors below.
func TestExactTwin(t *testing.T) {
	p, m := exactPlan(t, plan(t, "quick", "bottleneck").Study)
	dir := t.TempDir()
	out, err := Drawer{Results: m, Dir: dir}.Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Files) != 11 {
		t.Errorf("files %v, want CSV, PNG, SVG and PDF of two figures and three of a table", out.Files)
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
	if a, b := strings.Index(svg, "exact: replacement"), strings.Index(svg, "exact: full"); a < 0 || b < a {
		t.Error("the exact panels do not stand below the sampled ones: mini-batches first, then the full batch")
	}
	if !strings.Contains(svg, "leapfrog (order 2)") {
		t.Error("the legend does not state leapfrog's order in θ, which distances depend on")
	}
	_, panels := inventPanels(t)
	f := newFamily(p)
	if _, found := clashes(twinSheet(Drawer{Results: m}.drawing(p), f, newSweep(p.Cells, m.Result, f.name), panels)); len(found) > 0 {
		t.Error(strings.Join(found, "; "))
	}
	p.Exact = slices.DeleteFunc(p.Exact, func(j bench.ExactJob) bool { return j.Exact.Schemes[0] != "full" })
	if _, err := (Drawer{Results: m, Dir: dir}).Draw(p); err != nil {
		t.Fatal(err)
	}
	if svg := string(read(t, filepath.Join(dir, "bottleneck-exact.svg"))); strings.Contains(svg, "Kolmogorov") || !strings.Contains(svg, "absolute error") {
		t.Error("exact errors of one scheme below two batch sizes: want a figure of their own")
	}
}

// Exact errors that are missing leave the sampled figure alone.
func TestTwinWithoutExactErrors(t *testing.T) {
	p := plan(t, "quick", "bottleneck")
	out, err := Drawer{Results: invent(p, nil), Dir: t.TempDir()}.Draw(p)
	if err != nil || len(out.Files) != 7 || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "4 of 4 exact jobs are missing") {
		t.Errorf("files %v, notes %q, error %v: want the files of the sampled figure and its table, and a note", out.Files, out.Notes, err)
	}
}

// certified adds to a store what the certifier finds for a plan's jobs on
// Gaussian problems, for the gallery.
func certified(t *testing.T, p bench.Plan, m memory) {
	t.Helper()
	for _, j := range p.Exact {
		o, err := j.Exact.Options(chain.Registry{})
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
