package figures

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/certify"
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

func TestDrawOrders(t *testing.T) {
	dir := t.TempDir()
	out, err := DrawOrders(inventRows(), Options{Dir: dir})
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
	if _, err := DrawOrders(nil, Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no certified errors") {
		t.Errorf("error %v: want one that says that there is nothing to draw", err)
	}
}

func TestErrorLineLeavesGaps(t *testing.T) {
	panels := groupErrors(inventRows(), func(certify.Row, certify.Observable) bool { return true })
	for _, p := range panels {
		for _, l := range p.lines {
			known := 0
			for _, s := range l.stats {
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
	d := &drawing{out: &Output{}}
	d.experiment.Title = "orders"
	panels := groupErrors(inventRows(), func(certify.Row, certify.Observable) bool { return true })
	s := ordersSheet(d, panels)
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

func TestDrawExactBottleneck(t *testing.T) {
	e := experiment(t, "quick", "bottleneck")
	dir := t.TempDir()
	out, err := DrawExactBottleneck(e, invent(e, nil), inventRows(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Files) != 4 {
		t.Errorf("files %v, want CSV, PNG, SVG and PDF", out.Files)
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
	s := newSweep(e.Cells, invent(e, nil), bottleneckFamily.name)
	panels := groupErrors(inventRows(), func(certify.Row, certify.Observable) bool { return true })
	d := &drawing{experiment: e, get: invent(e, nil), out: &Output{}}
	if _, found := clashes(exactSheet(d, s, panels)); len(found) > 0 {
		t.Error(strings.Join(found, "; "))
	}
	full := slices.DeleteFunc(inventRows(), func(r certify.Row) bool { return r.Scheme != "full" })
	if _, err := DrawExactBottleneck(e, invent(e, nil), full, Options{Dir: dir}); err == nil {
		t.Error("rows of one scheme beside two batch sizes are not refused")
	}
}

// certified is what DrawOrders gets in earnest, for the gallery.
func certified(t *testing.T) []certify.Row {
	t.Helper()
	var rows []certify.Row
	for _, p := range certify.Builtin() {
		if p.Kind != certify.Gaussian {
			continue
		}
		r, err := certify.Run(context.Background(), certify.Options{Problem: p})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r...)
	}
	return rows
}
