package figures

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/certify"
)

// tenth is a distance of 0.1 for all chains.
func tenth(bench.Cell) (float64, bool) { return 0.1, true }

// Integrators that differ in a parameter alone have rows and panels of their own.
func TestParametersTellIntegratorsApart(t *testing.T) {
	own := cell("mt3", 0, 8, 0.1)
	own.Values = map[string]float64{"w2-variance": 1}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cell("mt3", 0, 8, 0.1), own)})
	m := stored(p.Cells, tenth)
	p.Figure, p.Table = &bench.FigureSpec{Panels: []string{"integrator"}}, &bench.TableSpec{Rows: []string{"integrator"}}
	out := made(t, p, m)
	if n := len(out.Figures[0].panels[0]); n != 2 {
		t.Errorf("%d panels, want 2", n)
	}
	if rows := out.Tables[0].Data.Rows; len(rows) != 2 || rows[0][0] != "mt3" || rows[1][0] != "mt3, w2-variance = 1" {
		t.Errorf("rows %v: want mt3 with and without its parameter", rows)
	}
}

// So have they in the CSV of exact errors.
func TestParametersTellExactErrorsApart(t *testing.T) {
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	p.Exact[0].Exact.Values = map[string]float64{"w2-variance": 1}
	of := p.Exact[0].Exact.Integrator
	rows := made(t, p, m).Figures[0].Data.Rows
	if !slices.ContainsFunc(rows, func(r []any) bool { return r[1] == of+", w2-variance = 1" }) {
		t.Errorf("rows %v: none is of %s with its parameter", rows, of)
	}
}

// An order is claimed of an integrator as it is by default: with another variance of its second
// noise mt3 has order 2, and none is stated. It is that with the full batch, and of distances: without
// such chains none is stated, nor along the friction, nor of scores.
func TestLegendsStateNoOrderOfAnotherSlope(t *testing.T) {
	for _, of := range []struct {
		batch int
		spec  *bench.FigureSpec
		want  string
	}{
		{bench.Full, nil, "mt3 (order 3)"},
		{bench.Full, &bench.FigureSpec{X: bench.OnRelative}, "mt3 (order 3)"},
		{8, nil, "mt3"},
		{bench.Full, &bench.FigureSpec{X: "friction"}, "mt3"},
		{bench.Full, &bench.FigureSpec{X: "gradients"}, "mt3"},
		{bench.Full, &bench.FigureSpec{Y: "lag1", YScale: "log"}, "mt3"},
	} {
		usual, own := cell("mt3", 0, of.batch, 0.1), cell("mt3", 0, of.batch, 0.1)
		own.Values = map[string]float64{"w2-variance": 1}
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(usual, own)})
		p.Figure = of.spec
		got := entries(figureOf(t, p, stored(p.Cells, tenth)))
		if want := []string{of.want, "mt3, w2-variance = 1"}; !slices.Equal(got[:2], want) {
			t.Errorf("batch %d, %+v: legend %q, want %q", of.batch, of.spec, got[:2], want)
		}
	}
}

// What a table has as columns is no head of its rows, too.
func TestColumnsAreNoHeads(t *testing.T) {
	for column, want := range map[string]string{"step": "dataset,batch,line,ks_0.01,ks_0.02", "friction": "dataset,batch,h,ks_1,ks_5,ks_50"} {
		p, m := ownStudy(t)
		p.Table = &bench.TableSpec{Columns: []string{column}, Values: []string{distance}}
		if got := strings.Join(made(t, p, m).Tables[0].Data.Columns, ","); !strings.HasPrefix(got, want) {
			t.Errorf("columns by %s: %s, want %s", column, got, want)
		}
	}
}

// The full batch has a column and a line by its scheme, as mini-batches have.
func TestFullBatchIsNamedByItsScheme(t *testing.T) {
	full := cell("mt3", 0, bench.Full, 0.1)
	full.Scheme = "full"
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cell("mt3", 0, 8, 0.1), full)})
	p.Figure = &bench.FigureSpec{Panels: []string{"data"}, Lines: []string{"scheme"}}
	p.Table = &bench.TableSpec{Rows: []string{"step"}, Columns: []string{"scheme"}, Values: []string{distance}}
	out := made(t, p, stored(p.Cells, tenth))
	if l := out.Figures[0].legend; l[0].Label != "reshuffle" || l[1].Label != "full batch" {
		t.Errorf("lines %q and %q, want reshuffle and full batch", l[0].Label, l[1].Label)
	}
	if c := out.Tables[0].Columns; c[1].Label != "reshuffle" || c[2].Label != "full batch" {
		t.Errorf("columns %v, want reshuffle and full batch", c)
	}
	p.Table.Columns = []string{"scheme", "friction"}
	c := made(t, p, stored(p.Cells, tenth)).Tables[0].Columns
	if c[1].Label != "reshuffle, C = 5" || c[2].Label != "full batch, C = 5" {
		t.Errorf("columns %v, want reshuffle and full batch, each at C = 5", c)
	}
}

// Where a panel has several data sets, its self-distance is the mean of theirs, and
// the caption says what medians are over.
func TestMediansOverDataSets(t *testing.T) {
	p, m := ownStudy(t)
	m = m.changed(func(r *bench.Result) {
		r.KSSelf = map[string]float64{"boston": 0.1, "yacht": 0.3}[r.Cell.Dataset]
	})
	p.Figure, p.Table = &bench.FigureSpec{Panels: []string{"batch"}}, &bench.TableSpec{Rows: []string{"friction"}, Values: []string{distance}}
	out := made(t, p, m)
	f := out.Figures[0]
	if self := f.panels[0][0].Series[0].Y[0]; math.Abs(self-0.2) > 1e-12 {
		t.Errorf("the floor is at %v, want 0.2", self)
	}
	if !strings.Contains(f.Caption, "median of the finite ones of up to 4 chains, which differ in splits, data set;") {
		t.Errorf("caption %q", f.Caption)
	}
	if n := out.Tables[0].Notes; n[0] != "All chains: leapfrog, reshuffle, B = 8 (K = 57)." || !strings.HasPrefix(n[1], "Means over splits, data set, η, thinning, burn-in;") {
		t.Errorf("notes %q", n)
	}
}

// Where neither panels nor lines nor the caption's settings tell batches apart, the caption says how
// many there are.
func TestCaptionsSayHowManyBatchesThereAre(t *testing.T) {
	full := cell("mt3", 0, bench.Full, 0.1)
	full.Scheme = "full"
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(full, cell("mt3", 0, 8, 0.1), cell("mt3", 0, 128, 0.1))})
	for panels, want := range map[string]string{"scheme": "Mini-batches per epoch: 4 or 57.",
		"data": "Mini-batches per epoch: 4 or 57 (reshuffle).", "batch": "B: rows per mini-batch, K: mini-batches per epoch (reshuffle)."} {
		p.Figure = &bench.FigureSpec{Panels: []string{panels}, Lines: []string{"integrator"}}
		if c := figureOf(t, p, stored(p.Cells, tenth)).Caption; !strings.Contains(c, want) {
			t.Errorf("panels by %s: caption %q, want %q", panels, c, want)
		}
	}
	p.Cells, p.Figure = p.Cells[:1], &bench.FigureSpec{Panels: []string{"scheme"}}
	if c := figureOf(t, p, stored(p.Cells, tenth)).Caption; strings.Contains(c, "atches") {
		t.Errorf("without mini-batches: caption %q", c)
	}
}

// The note of a table says whether its means are over splits, seeds or both.
func TestMeansOverSeedsAreNotCalledSplits(t *testing.T) {
	var cells []bench.Cell
	for _, seed := range []uint64{1, 2} {
		c := cell("leapfrog", 0, 8, 0.1)
		c.Seed = seed
		cells = append(cells, c)
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	p.Table = &bench.TableSpec{Rows: []string{"integrator"}, Values: []string{distance}}
	out := made(t, p, stored(p.Cells, func(bench.Cell) (float64, bool) { return 0.1, true }))
	if n := out.Tables[0].Notes; n[0] != "All chains: C = 5, reshuffle, boston, η = 0.1, B = 8 (K = 57)." || !strings.HasPrefix(n[1], "Means over seeds;") {
		t.Errorf("notes %q", n)
	}
	if c := out.Tables[0].Data.Columns; !slices.Contains(c, "chains") || slices.Contains(c, "splits") {
		t.Errorf("columns %q, want a count of chains", c)
	}
}

// A table with columns says what its means are over, if that is splits or seeds alone, and one of
// chains that all diverged says nothing of regimes, which it has none of.
func TestTablesSayWhatTheirMeansAreOver(t *testing.T) {
	cells := jobs(cell("leapfrog", 0, 8, 0.1), cell("leapfrog", 1, 8, 0.1))
	p := planOf(t, bench.Study{ID: "own", Cells: cells})
	p.Table = &bench.TableSpec{Rows: []string{"data"}, Columns: []string{"integrator"}, Values: []string{distance}}
	if notes := made(t, p, stored(p.Cells, tenth)).Tables[0].Notes; !slices.Contains(notes, "Means over splits.") {
		t.Errorf("notes %q", notes)
	}
	p.Cells = p.Cells[:1]
	if notes := made(t, p, stored(p.Cells, tenth)).Tables[0].Notes; strings.Contains(strings.Join(notes, " "), "Means") {
		t.Errorf("notes %q on single chains", notes)
	}
}

// Points without a place on the horizontal axis are counted, and marks of lost
// chains are not drawn there.
func TestPointsOffTheAxis(t *testing.T) {
	p, m := ownStudy(t)
	m = m.changed(func(r *bench.Result) { r.KS, r.Diverged = 1, r.Cell.Split == 0 })
	for x, want := range map[string]string{"split": "5 points have no place on the axis: their split is", "rmse": ""} {
		p.Figure = &bench.FigureSpec{X: x}
		out, err := m.drawer(t.TempDir()).Draw(p)
		if err != nil || !strings.Contains(out.Figures[0].Caption, want) {
			t.Errorf("against %s: caption %q, error %v", x, out.Figures[0].Caption, err)
		}
	}
	p.Figure = &bench.FigureSpec{X: "split", XScale: "linear"}
	if caption := figureOf(t, p, m).Caption; strings.Contains(caption, "no place") {
		t.Errorf("on a linear axis: caption %q", caption)
	}
	m = m.changed(func(r *bench.Result) { r.KS, r.Diverged = 1, true })
	p.Figure = &bench.FigureSpec{X: "rmse"}
	f := figureOf(t, p, m)
	if svg, err := f.layout().svg(); err != nil || strings.Contains(string(svg), "NaN") || !strings.Contains(f.Caption, "have no place") {
		t.Errorf("the figure of diverged chains has coordinates that are no numbers, or caption %q lacks a note; error %v", f.Caption, err)
	}
}

// What is observed and may be 0 or less stands on a linear axis, unless the study wants another.
func TestObservedNumbersBelowZeroHaveAPlace(t *testing.T) {
	p, m := ownStudy(t)
	m = m.changed(func(r *bench.Result) { r.Scores = map[string]float64{"mnll": float64(r.Cell.Friction) - 2} })
	for scale, want := range map[string]string{"": "", "log": "their MNLL is 0 or less, infinite, or not known"} {
		p.Figure = &bench.FigureSpec{X: "mnll", XScale: scale}
		f := figureOf(t, p, m)
		if strings.Contains(f.Caption, "no place") != (want != "") || f.panels[0][0].X.Log != (scale == "log") {
			t.Errorf("x-scale %q: logarithmic %t, caption %q", scale, f.panels[0][0].X.Log, f.Caption)
		}
		if want = strings.Replace(want, "MNLL", f.panels[0][0].X.Label, 1); !strings.Contains(f.Caption, want) {
			t.Errorf("x-scale %q: caption %q, want %q", scale, f.Caption, want)
		}
	}
}

// Captions of paths are true of paths that were thinned or burnt in, too, whose first position is
// not their start.
func TestCaptionsOfPathsSayWhatIsShown(t *testing.T) {
	for want, c := range map[string][2]int{
		"η = 0.1, every step shown: 200 steps, 20 units of simulation time.":                                   {1, 0},
		"η = 0.1, one step of 5 shown: 1000 steps, 100 units of simulation time, behind a burn-in of 7 steps.": {5, 7},
	} {
		path := cell("leapfrog", 0, bench.Full, 0.1)
		path.Observe, path.Thin, path.BurnIn = bench.Path, c[0], c[1]
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(path), Figure: &bench.FigureSpec{Kind: "paths"}})
		m := stored(p.Cells, tenth).changed(func(r *bench.Result) {
			r.Series = map[string][]float64{"theta0": {1, 2, 3}, "theta1": {1, 2, 1}}
		})
		f := figureOf(t, p, m)
		if !strings.Contains(f.Caption, want) || !slices.Contains(entries(f), "first position shown") {
			t.Errorf("caption %q, legend %q: want %q", f.Caption, entries(f), want)
		}
	}
}

// Chains without the parameter on the horizontal axis are one point of their line, as
// those of any other place are.
func TestChainsWithoutTheParameterOfTheAxis(t *testing.T) {
	own := cell("mt3", 0, 8, 0.1)
	own.Values = map[string]float64{"w2-variance": 1}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(own, cell("leapfrog", 0, 8, 0.1), cell("leapfrog", 1, 8, 0.1))})
	p.Figure = &bench.FigureSpec{X: "w2-variance", Lines: []string{"integrator"}}
	f := figureOf(t, p, stored(p.Cells, tenth))
	if len(f.Data.Rows) != 2 || !strings.Contains(f.Caption, "of 2 splits") || !strings.Contains(f.Caption, "1 point has no place") {
		t.Errorf("%d points, caption %q: want one for each integrator", len(f.Data.Rows), f.Caption)
	}
}

// Panels of one setting stand side by side: exact errors of one scheme do not fit
// below several.
func TestExactErrorsOfOneSchemeBelowPanelsOfOneSetting(t *testing.T) {
	p, m := exactPlan(t, plan(t, "quick", "bottleneck").Study)
	p.Exact = slices.DeleteFunc(p.Exact, func(j bench.ExactJob) bool { return j.Exact.Schemes[0] != "full" })
	p.Figure = &bench.FigureSpec{Panels: []string{"batch"}}
	if _, err := m.drawer(t.TempDir()).Draw(p); err != nil {
		t.Error(err)
	}
}

// Two data sets stand side by side, each a row of its own: two schemes do not fit below them.
func TestExactErrorsDoNotStandBelowOtherDataSets(t *testing.T) {
	other := cell("mt3", 0, 8, 0.1)
	other.Dataset = "yacht"
	p, m := exactPlan(t, bench.Study{ID: "own", Cells: jobs(cell("mt3", 0, 8, 0.1), other)})
	p.Figure = &bench.FigureSpec{Panels: []string{"data"}}
	out := made(t, p, m)
	if len(out.Figures) != 2 || len(out.Figures[0].panels[0]) != 2 {
		t.Fatalf("%d figures: want one of two data sets side by side, and one of exact errors", len(out.Figures))
	}
	if f := out.Figures[1]; f.ID != "own-exact" || strings.Contains(f.Caption, "Above") || strings.Contains(f.panels[0][0].Title, "yacht") {
		t.Errorf("%s, %q: want exact errors alone", f.ID, f.Caption)
	}
}

// The law after one step has orders, and no figure of stationary laws.
func TestOneStepHasOrdersAlone(t *testing.T) {
	p := planOf(t, bench.Study{ID: "own", Exact: []bench.ExactJob{{Exact: bench.Exact{Integrator: "leapfrog"}}}})
	m := memory{rows: map[string][]certify.Row{p.Exact[0].Key: {{
		Integrator: "leapfrog", Scheme: "full", Steps: []float64{0.1},
		Observables: []certify.Observable{{Name: "step.cov", Errors: []certify.Number{1}, Resolution: []certify.Number{0}, RelativeResolution: []certify.Number{0}}},
	}}}}
	out, err := m.drawer(t.TempDir()).Draw(p)
	if err != nil || len(out.Figures) != 0 || len(out.Files) != 2 || !strings.Contains(strings.Join(out.Notes, " "), "No figure") {
		t.Errorf("output %+v, error %v: want the table of orders and a note", out, err)
	}
}

// The caption says what the floor is of chains of several lengths.
func TestCaptionOfLengths(t *testing.T) {
	short := cell("mt3", 0, 8, 0.1)
	short.Samples = 40
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cell("mt3", 0, 8, 0.1), short)})
	m := stored(p.Cells, func(c bench.Cell) (float64, bool) { return map[int]float64{40: math.NaN(), 200: 0.1}[c.Samples], true })
	p.Figure = &bench.FigureSpec{X: "samples"}
	if c := figureOf(t, p, m).Caption; !strings.Contains(c, "is the mean over chains of several lengths") {
		t.Errorf("caption %q", c)
	}
}

// Against the batch size, the full batch is as large as its data set, under
// several models, too.
func TestFullBatchHasItsRowsUnderSeveralModels(t *testing.T) {
	other := cell("mt3", 0, bench.Full, 0.1)
	other.Model = "bnn:5"
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cell("mt3", 0, bench.Full, 0.1), other)})
	p.Figure = &bench.FigureSpec{Panels: []string{"data"}, X: "batch"}
	rows := float64(p.Data[0].Rows)
	f := figureOf(t, p, stored(p.Cells, tenth))
	lines := f.panels[0][0].Series // the last one is in front of the floors
	if x := lines[len(lines)-1].X[0]; len(f.panels[0]) != 2 || x != rows || rows == 0 {
		t.Errorf("%d panels, the full batch at %v: want 2, %v", len(f.panels[0]), x, rows)
	}
}

// The table of the oracles states the chains that they are.
func TestOraclesAreStatedAsTheyWereMade(t *testing.T) {
	p := plan(t, "quick", "autocorrelation")
	for i := range p.References {
		p.References[i].Spec.Chains, p.References[i].Spec.Samples = 2, 40
	}
	if n := strings.Join(made(t, p, invent(p, nil)).Tables[0].Notes, " "); !strings.Contains(n, "(adaptive SGHMC, 2 chains of 40)") || !strings.Contains(n, "ESS: of the 2 chains together") {
		t.Errorf("notes %q: want 2 chains of 40", n)
	}
}

// Panels of chains that differ in their seed or batches alone say which they are, and
// so do their numbers; a figure of one chain says how many there are.
func TestPanelsOfSeedsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		change func(c *bench.Cell, i int)
		want   []string
		column string
	}{
		{func(c *bench.Cell, i int) { c.Seed = uint64(i + 1) }, []string{"mini-batches: reshuffle, seed 1", "mini-batches: reshuffle, seed 2"}, "seed"},
		{func(c *bench.Cell, i int) { c.Batches, c.BatchSize = 2*(i+1), 4/(i+1) }, []string{"mini-batches: reshuffle, B = 4 (K = 2)", "mini-batches: reshuffle, B = 2 (K = 4)"}, "batch"},
		{func(c *bench.Cell, i int) { c.Scheme = []string{"reshuffle", "replacement"}[i] }, []string{"mini-batches: reshuffle", "mini-batches: replacement"}, "exact_density_at_middle"},
	} {
		cells := []bench.Cell{cell("exact", 0, 8, 0.4), cell("exact", 0, 8, 0.4)}
		for i := range cells {
			cells[i].Observe = bench.Histogram
			cells[i].Scheme = "reshuffle"
			c.change(&cells[i], i)
		}
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...), Figure: &bench.FigureSpec{Kind: "toy"}})
		m := stored(p.Cells, tenth)
		for k, r := range m.results {
			r.Series = map[string][]float64{"edges": {-1, 0, 1}, "counts": {1, 1}, "mean": {0}, "sd": {1}}
			m.results[k] = r
		}
		f := made(t, p, m).Figures[0]
		var titles []string
		for _, panel := range f.panels[0] {
			titles = append(titles, panel.Title)
		}
		if !slices.Equal(titles, c.want) || f.Data.Columns[len(f.Data.Columns)-1] != c.column {
			t.Errorf("titles %q, columns %q: want %q, and the last %s", titles, f.Data.Columns, c.want, c.column)
		}
	}
	second := cell("leapfrog", 0, bench.Full, 0.1)
	second.Seed = 2
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cell("leapfrog", 0, bench.Full, 0.1), second), Figure: &bench.FigureSpec{Kind: "synthetic"}})
	m := stored(p.Cells, tenth)
	for k, r := range m.results {
		r.Series = make(map[string][]float64)
		for _, name := range []string{"x", "exact_mean", "exact_sd", "q05", "q50", "q95"} {
			r.Series[name] = []float64{0, 1}
		}
		m.results[k] = r
	}
	if caption := made(t, p, m).Figures[0].Caption; !strings.Contains(caption, "The first of 2 chains is shown: split 0, seed") {
		t.Errorf("caption %q: want that it is the first of 2", caption)
	}
	failed := m.results[p.Cells[0].Key]
	failed.Diverged, failed.Series = true, nil
	m.results[failed.Key] = failed
	caption := made(t, p, m).Figures[0].Caption
	if !strings.Contains(caption, "Not shown: 1 of 2, whose chains diverged.") || strings.Contains(caption, "The first") {
		t.Errorf("caption %q: want that one of two chains diverged", caption)
	}
}

// A table without distances does not explain them.
func TestNotesAreOfTheTable(t *testing.T) {
	p, m := ownStudy(t)
	for value, want := range map[string]bool{distance: true, "gradients": false} {
		p.Table = &bench.TableSpec{Values: []string{value}}
		notes := strings.Join(made(t, p, m).Tables[0].Notes, " ")
		if strings.Contains(notes, "Right: ") != want || !strings.Contains(notes, "Means over") {
			t.Errorf("%s: notes %q", value, notes)
		}
	}
}

// Captions of single chains, and of sets without splits, name none, though the profile has them.
func TestCaptionsOfOneSplitNameNoSplits(t *testing.T) {
	for _, id := range []string{"toy", "paths", "synthetic", "methods"} {
		p := plan(t, "quick", id)
		p.Profile = "standard, float64, 5 splits, 2 seeds"
		if c := figureOf(t, p, invent(p, nil)).Caption; strings.Contains(c, "Profile") && !strings.HasPrefix(c, "Profile standard, float64, 2 seeds.") || strings.Contains(c, "5 splits") {
			t.Errorf("%s: caption %q", id, c)
		}
	}
	for profile, want := range map[string]bool{"standard, 5 splits": true, bench.AsItIs: false} {
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(cell("mt3", 0, 8, 0.1), cell("mt3", 1, 8, 0.1))})
		p.Profile = profile
		if c := figureOf(t, p, stored(p.Cells, tenth)).Caption; strings.HasPrefix(c, "Profile "+profile+".") != want || strings.Contains(c, "Profile") != want {
			t.Errorf("%s: caption %q", profile, c)
		}
	}
}

// The caption of the toy explains the schemes of its panels, and counts what lies beyond the axis.
func TestToyCaptionsExplainSchemesAndCountWhatIsNotShown(t *testing.T) {
	cells := []bench.Cell{cell("exact", 0, bench.Full, 0.4), cell("exact", 0, 228, 0.4)}
	for i := range cells {
		cells[i].Observe, cells[i].Dataset, cells[i].Model = bench.Histogram, "toy", "toy"
	}
	for i := range cells {
		cells[i].More = map[string]any{"temperature": 4.0}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...), Figure: &bench.FigureSpec{Kind: "toy"}})
	for share, want := range map[float64]string{0: "", 0.0005: "Beyond the axis: up to 0.05 % of a chain's draws."} {
		m := stored(p.Cells, tenth).changed(func(r *bench.Result) {
			r.Series = map[string][]float64{"edges": {-5, -1, 1, 5, 50, 60}, "counts": {1e5 * (1 - share), 2e5, 1e5, 0, 1e5 * share * 4},
				"mean": {0}, "sd": {1}}
			r.Series["counts"][0] -= 3e5 * share
		})
		c := figureOf(t, p, m).Caption
		if !strings.Contains(c, want) || strings.Contains(c, "Beyond") != (share > 0) ||
			!strings.Contains(c, ", C = 5, T = 4.") || !strings.Contains(c, toySchemes["reshuffle"]) || strings.Contains(c, toySchemes["replacement"]) {
			t.Errorf("share %g: caption %q", share, c)
		}
	}
}

// The caption of differences of coupled chains says how large those are that chance makes.
func TestCoupledChainsSayWhatChanceMakes(t *testing.T) {
	cells := []bench.Cell{cell("leapfrog", 0, 8, 0.1), cell("leapfrog", 0, 8, 0.2), cell("leapfrog", 0, 8, 0.4)}
	for i := range cells {
		cells[i].Observe = bench.Coupled
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...), Figure: &bench.FigureSpec{Y: "coupled", YScale: "log"}})
	m := stored(p.Cells, tenth).changed(func(r *bench.Result) {
		r.Scores = map[string]float64{"coupled": 0.1, "coupled-chance": r.Cell.Step / 10}
	})
	if c := figureOf(t, p, m).Caption; !strings.Contains(c, "Chance alone makes differences of 0.01 to 0.04, in the median 0.02.") {
		t.Errorf("caption %q", c)
	}
}

// Captions and tables state what is the same in all chains and not what follows from the rest, as a
// reader would presume; heads and lines need no repetition.
func TestCaptionsStateWhatIsUnusual(t *testing.T) {
	var cells []bench.Cell
	for _, friction := range []bench.Real{1, 5} {
		c := cell("leapfrog", 3, 8, 0.1)
		c.Friction, c.Estimator, c.Precision, c.Thin, c.BurnIn, c.Model = friction, "svrg", "float64", 1, 0, "bnn"
		c.More = map[string]any{"start": "prior"}
		cells = append(cells, c)
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	p.Figure, p.Table = &bench.FigureSpec{Panels: []string{"data"}, X: "friction"}, &bench.TableSpec{Rows: []string{"friction"}}
	out := made(t, p, stored(p.Cells, func(bench.Cell) (float64, bool) { return 0.1, true }))
	const want = "svrg, float64, start: prior, "
	if c := out.Figures[0].Caption; !strings.Contains(c, want+"split 3, η = 0.1, thinning 1, burn-in 0.") {
		t.Errorf("caption %q", c)
	}
	if n := out.Tables[0].Notes[0]; n != "All chains: leapfrog, svrg, reshuffle, float64, start: prior, boston, split 3, η = 0.1, thinning 1, burn-in 0, B = 8 (K = 57)." {
		t.Errorf("note %q", n)
	}
}

// A mean over chains that differ in more than split and seed says nothing of where right chains are:
// one that is right would hide one that is not.
func TestUnlikeChainsAreNotRightTogether(t *testing.T) {
	near, far := cell("leapfrog", 0, 8, 0.1), cell("leapfrog", 0, 8, 0.2)
	far.Friction = 1
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(near, far)})
	m := stored(p.Cells, func(c bench.Cell) (float64, bool) { return 0.1, true }).changed(func(r *bench.Result) {
		r.KSSelf, r.KSSelfSD = 0.1, 0.05
	})
	for rows, want := range map[string]string{"integrator": "–", "step": "yes"} {
		p.Table = &bench.TableSpec{Rows: []string{rows}, Values: []string{distance}}
		for _, line := range made(t, p, m).Tables[0].Rows {
			if got := line[len(line)-1]; got != want {
				t.Errorf("rows by %s: %q, want %q", rows, got, want)
			}
		}
	}
}

// Tables say how many of the chains in their means left the posterior.
func TestTablesCountChainsThatLeft(t *testing.T) {
	p, m := ownStudy(t)
	p.Table = &bench.TableSpec{Rows: []string{"friction"}}
	m = m.changed(func(r *bench.Result) { r.Scores = map[string]float64{"rmse": 1} })
	has := func(m memory) bool {
		return strings.Contains(strings.Join(made(t, p, m).Tables[0].Notes, " "), "Of the chains that stayed finite, 4 left the posterior (RMSE above 10 times")
	}
	if has(m) || !has(m.changed(func(r *bench.Result) {
		if r.Cell.Friction == 5 && r.Cell.Step == 0.02 {
			r.Scores = map[string]float64{"rmse": 11}
		}
	})) {
		t.Error("chains that left the posterior are not counted, or others are")
	}
}
