package figures

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// A reference slope of order p falls by p decades over a decade of steps,
// until it leaves the panel.
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
	l := s.layout()
	l.draw(draw.New(&reader{w: l.total.X, h: l.total.Y})) // drawn twice: layouts are not used up
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
