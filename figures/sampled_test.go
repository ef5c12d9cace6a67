package figures

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hambench/bench"
)

// Lines are named by what varies among the cells of a panel, and the caption
// states the rest.
func TestLinesAreNamedByWhatVaries(t *testing.T) {
	base := cell("lietrotter", 0, 8, 0.01)
	with := func(change func(c *bench.Cell)) bench.Cell {
		c := base
		change(&c)
		return c
	}
	float64s := with(func(c *bench.Cell) { c.Dataset, c.Model, c.Precision = "linear", "linear", "float64" })
	for name, c := range map[string]struct {
		other        bench.Cell
		lines, fixed string
	}{
		"integrator":            {with(func(c *bench.Cell) { c.Integrator = "mt3" }), "lietrotter|mt3", "C = 5"},
		"N_l":                   {with(func(c *bench.Cell) { c.Inner = 10 }), "N_l = 1|N_l = 10", "lietrotter, C = 5"},
		"friction":              {with(func(c *bench.Cell) { c.Friction = bench.Real(math.Inf(1)) }), "C = 5|C = ∞", "lietrotter"},
		"integrator and C":      {with(func(c *bench.Cell) { c.Integrator, c.Friction = "mt3", 1 }), "lietrotter, C = 5|mt3, C = 1", ""},
		"a scheme's parameter":  {with(func(c *bench.Cell) { c.Values = map[string]float64{"a": 2} }), "lietrotter|lietrotter, a = 2", "C = 5"},
		"mini-batch scheme":     {with(func(c *bench.Cell) { c.Scheme = "cyclic" }), "reshuffle|cyclic", "lietrotter, C = 5"},
		"step alone":            {with(func(c *bench.Cell) { c.Step = 0.02 }), "lietrotter", "C = 5"},
		"model of the data set": {float64s, "lietrotter", "C = 5"},
	} {
		cells := jobs(base, c.other)
		s := arranged(t, stored(cells, tenth), bench.Study{ID: "own", Cells: cells})
		if got := strings.Join(s.names, "|"); got != c.lines {
			t.Errorf("%s varies: lines %q, want %q", name, got, c.lines)
		}
		if got := bench.TextOf(s.stated, s.facets[0][0].Rows()[0]); got != c.fixed {
			t.Errorf("%s varies: the caption says %q, want %q", name, got, c.fixed)
		}
	}
}

// Captions state the friction of chains that have one: sgld has no momentum for it to act on.
func TestCaptionsStateNoFrictionWithoutMomentum(t *testing.T) {
	for integrator, want := range map[string]string{"sgld": "", "psgld": "", "mt3": "C = 5"} {
		a, b := cell(integrator, 0, 8, 0.01), cell(integrator, 0, 8, 0.02)
		cells := jobs(a, b)
		s := arranged(t, stored(cells, tenth), bench.Study{ID: "own", Cells: cells})
		if got := bench.TextOf(s.stated, s.facets[0][0].Rows()[0]); got != want {
			t.Errorf("%s: the caption says %q, want %q", integrator, got, want)
		}
	}
}

// Integrators that the list of styles lacks, such as splitting words, have
// looks of their own beside it and beside each other.
func TestUnlistedIntegratorsHaveStylesOfTheirOwn(t *testing.T) {
	names := append([]string{"split:OBABO", "split:BAOAB", "nose-hoover"}, integratorStyles...)
	styles := stylesOf(names)
	for i, a := range names {
		for j, b := range names[:i] {
			if reflect.DeepEqual(styles[i], styles[j]) {
				t.Errorf("%s and %s look alike", a, b)
			}
		}
	}
	few := stylesOf([]string{"leapfrog", "ubu", "split:OBABO", "split:BAOAB"})
	for i, a := range few {
		for _, b := range few[:i] {
			if a.Marker == b.Marker || a.Color == b.Color {
				t.Errorf("of four integrators, two share a marker or a colour: %+v, %+v", a, b)
			}
		}
	}
}

// The table of a sweep has the scores that there are, of the chains that stayed
// finite.
func TestSweepTable(t *testing.T) {
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cell("mt3", 0, 8, 0.01), cell("mt3", 1, 8, 0.01), cell("mt3", 0, 8, 0.02))})
	m := stored(p.Cells, func(c bench.Cell) (float64, bool) {
		return map[bool]float64{true: math.NaN(), false: 0.1}[c.Split == 1 || c.Step == 0.02], true
	}).changed(func(r *bench.Result) {
		r.Scores, r.Gradients = map[string]float64{"rmse": 2 + float64(r.Cell.Split), "coverage": 0.9}, 1000
	})
	dir := t.TempDir()
	out, err := m.drawer(dir).Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "own-table.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| boston   | 8     | mt3  | 0.01 | 2 (1 diverged) | 0.100    | NO    | 2.000 | 0.900    | 1000      |",
		"| boston   | 8     | mt3  | 0.02 | 1 (1 diverged) | –        | NO    | –     | –        | 1000      |",
	} {
		if !strings.Contains(string(whole), want) {
			t.Errorf("table lacks\n%s in\n%s", want, whole)
		}
	}
	if strings.Contains(out.Text, "accuracy") {
		t.Error("the table has a column of a score that no chain has")
	}
}

// Data sets and models that a study names for its panels stand in rows and columns, and nowhere
// twice.
func TestDataAndModelsStandInRowsAndColumns(t *testing.T) {
	var cells []bench.Job
	for _, data := range []string{"boston", "yacht"} {
		for _, model := range []string{"bnn:25,25", "bnn:50,50"} {
			c := cell("mt3", 0, 8, 0.01)
			c.Dataset, c.Model = data, model
			cells = append(cells, jobs(c)...)
		}
	}
	s := arranged(t, stored(cells, tenth), bench.Study{ID: "own", Cells: cells,
		Figure: &bench.FigureSpec{Panels: []string{"data", "model"}}})
	want := "boston, bnn:25,25|boston, bnn:50,50|yacht, bnn:25,25|yacht, bnn:50,50"
	if got := strings.Join(panelTexts(s), "|"); got != want {
		t.Errorf("panels %q, want %q", got, want)
	}
	if len(s.facets) != 2 || len(s.facets[0]) != 2 || s.facets[0][1] == nil || s.facets[1][0] == nil {
		t.Errorf("facets %v: want two rows of two", s.facets)
	}
}

// Panels fill the sheet: a single column goes on beside itself, and so does a long one of two.
func TestColumnsOfPanelsFillTheSheet(t *testing.T) {
	ten := []string{"boston", "concrete", "energy", "yacht", "kin8nm", "power", "naval", "wine-red",
		"wine-white", "abalone"}
	for _, c := range []struct {
		sets          []string
		batches       []int
		rows, columns int
	}{
		{ten, []int{8}, 3, 4},
		{ten, []int{8, bench.Full}, 5, 4},
		{ten[:6], []int{8, bench.Full}, 6, 2},
		{ten, []int{8, 32, bench.Full}, 10, 3},
	} {
		var cells []bench.Job
		for _, data := range c.sets {
			for _, batch := range c.batches {
				one := cell("mt3", 0, batch, 0.01)
				one.Dataset = data
				cells = append(cells, jobs(one)...)
			}
		}
		f := figureOf(t, planOf(t, bench.Study{ID: "own", Cells: cells}), stored(cells, tenth))
		if len(f.panels) != c.rows || len(f.panels[0]) != c.columns {
			t.Errorf("%d sets in batches of %v: %d rows of %d panels, want %d of %d", len(c.sets),
				c.batches, len(f.panels), len(f.panels[0]), c.rows, c.columns)
		}
	}
}

// A line of the full batch says so where no panel's title does.
func TestFullBatchIsNamedOnce(t *testing.T) {
	full := cell("mt3", 0, bench.Full, 0.01)
	full.Scheme, full.Batches = "full", 1
	cells := jobs(cell("mt3", 0, 8, 0.01), full)
	for want, panels := range map[string][]string{
		"reshuffle, C = 5|full batch, C = 5": {"data"},
		"reshuffle, C = 5|C = 5":             {"data", "batch"},
	} {
		s := arranged(t, stored(cells, tenth), bench.Study{ID: "own", Cells: cells,
			Figure: &bench.FigureSpec{Panels: panels, Lines: []string{"scheme", "friction"}}})
		if got := strings.Join(s.names, "|"); got != want {
			t.Errorf("panels %v: lines %q, want %q", panels, got, want)
		}
	}
}

// Models on one data set have panels of their own: each is judged by its own references.
func TestModelsOnOneDataSetHavePanelsOfTheirOwn(t *testing.T) {
	a, b := cell("mt3", 0, 8, 0.01), cell("mt3", 0, 8, 0.01)
	b.Model = "tree"
	cells := jobs(a, b)
	for want, spec := range map[string]*bench.FigureSpec{
		"boston, bnn, B = 8 (K = 57)|boston, tree, B = 8 (K = 57)": nil,
		"boston, bnn|boston, tree":                                 {Panels: []string{"data"}},
		"bnn|tree":                                                 {Panels: []string{"model"}},
		"B = 8 (K = 57)":                                           {Panels: []string{"batch"}},
	} {
		study := bench.Study{ID: "own", Cells: cells, Figure: spec}
		s := arranged(t, stored(cells, tenth), study)
		if got := strings.Join(panelTexts(s), "|"); got != want {
			t.Errorf("%+v: panels %q, want %q", spec, got, want)
		}
		if spec == nil {
			if records := s.records(); records.Rows[0][8] == records.Rows[1][8] || records.Columns[8] != "model" {
				t.Errorf("the CSV does not tell the models apart: %v", records)
			}
		}
	}
}
