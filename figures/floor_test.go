package figures

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/oracle"
)

// named are the series of a panel with a name.
func named(p *panel, name string) (of []curve) {
	for _, s := range p.Series {
		if s.Name == name {
			of = append(of, s)
		}
	}
	return of
}

func entries(f *Figure) (of []string) {
	for _, e := range f.legend {
		of = append(of, e.Label)
	}
	return of
}

// Distances stand on a logarithmic axis that begins just below their floor and ends at the
// largest that a chain has, and both floors are drawn across the panels and named. What chains
// that diverged would count as is not on the axis.
func TestDistancesStandOnALogAxisFromTheirFloor(t *testing.T) {
	p, m := small(t, "methods")
	f := figureOf(t, p, m)
	for _, row := range f.panels {
		for _, p := range row {
			// self-distances 0.085; the largest finite distance is 0.085 + 30·0.05²·1.2 + 0.1
			if y := p.Y; !y.Log || y.Low > 0.085 || y.Low < 0.075 || y.High < 0.275 || y.High > 0.3 {
				t.Errorf("%s: axis %+v, want a logarithmic one over 0.085 … 0.275", p.Title, y)
			}
			self, measured := named(p, "self"), named(p, "floor")
			// The median over methods of 0.085 + 30·0.005²·(1, 1.2, 1.4) + (0, 0.04, 0.1),
			// then over splits.
			if len(self) != 1 || len(measured) != 1 || math.Abs(measured[0].Y[0]-0.1259) > 1e-12 ||
				math.Abs(self[0].Y[0]-0.085) > 1e-12 || measured[0].X[0] != p.X.Low || measured[0].X[1] != p.X.High {
				t.Errorf("%s: floors %+v and %+v, want 0.085 and 0.1259 across the panel", p.Title, self, measured)
			}
		}
	}
	for _, want := range []string{"self-distance of the truth's draws", "measured floor: full batch, smallest η of any integrator", "share of chains that diverged"} {
		if !slices.Contains(entries(f), want) {
			t.Errorf("the legend lacks %q: %q", want, entries(f))
		}
	}
	p.Figure = &bench.FigureSpec{YScale: "linear"}
	if figureOf(t, p, m).panels[0][0].Y.Log {
		t.Error("a study that asks for a linear axis gets another one")
	}
}

// A friction at which chains forget slowly has a floor of its own, in its line's colour: its
// chains are not taken for wrong ones.
func TestFrictionsHaveFloorsOfTheirOwn(t *testing.T) {
	var cells []bench.Cell
	for _, friction := range []bench.Real{5, 50} {
		for _, batch := range []int{8, bench.Full} {
			c := cell("leapfrog", 0, batch, 0.01)
			c.Friction = friction
			cells = append(cells, c)
		}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	f := figureOf(t, p, stored(p.Cells, func(c bench.Cell) (float64, bool) { return 0.1 + 0.001*float64(c.Friction), true }))
	for _, p := range f.panels[0] {
		floors := named(p, "floor")
		if len(floors) != 2 || math.Abs(floors[0].Y[0]-0.105) > 1e-12 || math.Abs(floors[1].Y[0]-0.15) > 1e-12 {
			t.Fatalf("%s: floors %+v, want 0.105 and 0.15", p.Title, floors)
		}
		for i, name := range []string{"C = 5", "C = 50"} {
			if floors[i].Style.Color != named(p, name)[0].Style.Color {
				t.Errorf("%s: the floor of %s has the colour %v", p.Title, name, floors[i].Style.Color)
			}
		}
	}
	if want := "measured floor: full batch, smallest η; of several, each in the colour of the first line that has it"; !slices.Contains(entries(f), want) {
		t.Errorf("the legend lacks %q: %q", want, entries(f))
	}
}

// The legend says whose floors there are, and the caption what distances are to: draws are independent
// only where all posteriors are known. An empty place is explained.
func TestFiguresSayWhatDistancesAndFloorsAreOf(t *testing.T) {
	for _, of := range []struct {
		known      []string // data sets
		integrator string   // of the second set
		inner      int      // of it, too
		batch      int      // of it, with the full one
		want       []string
	}{
		{nil, "leapfrog", 1, bench.Full, []string{"self-distance of the truth's draws", "measured floor: full batch, smallest η", "distance to the reference", "predictions to those of reference chains, mean over predicted values."}},
		{[]string{"linear"}, "mt3", 1, bench.Full, []string{"self-distance of the truth's draws", "η of any integrator", "distance to the reference", "of reference chains (linear: of the exact posterior), mean"}},
		{[]string{"boston", "linear"}, "leapfrog", 5, 8, []string{"floor of independent draws", "full batch, N_l = 1, smallest η", "distance to the posterior", "to those of the exact posterior, mean", "An empty place was not run."}},
	} {
		a, b, c := cell("leapfrog", 0, bench.Full, 0.1), cell(of.integrator, 0, bench.Full, 0.1), cell(of.integrator, 0, of.batch, 0.1)
		b.Dataset, b.Inner, c.Dataset = "linear", of.inner, "linear"
		cells := []bench.Cell{a, b, c}
		for i, c := range cells {
			if cells[i].Oracle = "a reference"; slices.Contains(of.known, c.Dataset) {
				cells[i].Oracle = bench.Analytic
			}
		}
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
		f := figureOf(t, p, stored(p.Cells, tenth))
		text := strings.Join(append(entries(f), f.Caption, f.panels[0][len(f.panels[0])-1].Y.Label, ""), "|")
		for i, want := range of.want {
			if i == 1 { // the end of an entry
				want += "|"
			}
			if !strings.Contains(text, want) {
				t.Errorf("%+v: no %q in %q", of, want, text)
			}
		}
		if strings.Contains(text, "empty place") != (of.batch == 8) {
			t.Errorf("%+v: %q", of, text)
		}
	}
}

// The distance to finitely many draws is not that to the posterior: captions say which it is.
func TestCaptionsSayHowManyExactDrawsJudge(t *testing.T) {
	a, b := cell("leapfrog", 0, bench.Full, 0.1), cell("leapfrog", 0, 8, 0.1)
	for _, c := range []*bench.Cell{&a, &b} {
		c.Dataset, c.Oracle, c.ExactDraws = "linear", bench.Analytic, &oracle.ExactDraws{Chains: 5, Samples: 2000, Seed: 1}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(a, b)})
	if caption := figureOf(t, p, stored(p.Cells, tenth)).Caption; !strings.Contains(caption, "to those of 5 sets of 2000 exact draws, mean") || strings.Contains(caption, "posterior") {
		t.Errorf("caption %q", caption)
	}
	a.Observe = bench.Marginals
	p = planOf(t, bench.Study{ID: "own", Cells: jobs(a), Figure: &bench.FigureSpec{Kind: "synthetic"}})
	m := stored(p.Cells, tenth).changed(func(r *bench.Result) {
		r.Series = make(map[string][]float64)
		for _, name := range alongX {
			r.Series[name] = []float64{0, 1}
		}
	})
	if caption := figureOf(t, p, m).Caption; !strings.Contains(caption, "distance to 5 sets of 2000 exact draws is 0.100 (independent draws: 0.080)") {
		t.Errorf("caption %q", caption)
	}
}

// Chains of another temperature or localisation forget at another rate, as those of another friction
// do: their floors are not those of each other.
func TestTargetsHaveFloorsOfTheirOwn(t *testing.T) {
	for _, name := range []string{"temperature", "localisation"} {
		var cells []bench.Cell
		for _, v := range []float64{2, 9} {
			c := cell("leapfrog", 0, bench.Full, 0.01)
			c.More = map[string]any{name: v}
			cells = append(cells, c)
		}
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
		f := figureOf(t, p, stored(p.Cells, func(c bench.Cell) (float64, bool) { return 0.01 * c.More[name].(float64), true }))
		var got []float64
		for _, floor := range named(f.panels[0][0], "floor") {
			got = append(got, floor.Y[0])
		}
		if !slices.Equal(got, []float64{0.02, 0.09}) {
			t.Errorf("%s: floors %v, want 0.02 and 0.09", name, got)
		}
	}
}

// A floor that several lines have is drawn once, in the colour of the first of them: two such floors
// can be told apart.
func TestAFloorOfSeveralLinesHasTheColourOfTheFirst(t *testing.T) {
	var cells []bench.Cell
	for _, of := range []struct {
		integrator string
		friction   bench.Real
	}{{"leapfrog", 5}, {"mt3", 5}, {"leapfrog", 50}, {"mt3", 50}} {
		for _, batch := range []int{8, bench.Full} {
			c := cell(of.integrator, 0, batch, 0.01)
			c.Friction = of.friction
			cells = append(cells, c)
		}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	f := figureOf(t, p, stored(p.Cells, func(c bench.Cell) (float64, bool) { return 0.1 + 0.001*float64(c.Friction), true }))
	floors := named(f.panels[0][0], "floor")
	if len(floors) != 2 || floors[0].Style.Color != f.legend[0].Style.Color || floors[1].Style.Color != f.legend[2].Style.Color {
		t.Errorf("floors %+v, want two in the colours of the first lines that have them: %+v", floors, f.legend)
	}
	// Along the friction all lines have one curve.
	p.Figure = &bench.FigureSpec{X: "friction"}
	f = figureOf(t, p, stored(p.Cells, func(c bench.Cell) (float64, bool) { return 0.1 + 0.001*float64(c.Friction), true }))
	if floors = named(f.panels[0][0], "floor"); len(floors) != 1 || floors[0].Style.Color != ink || !slices.Equal(floors[0].X, []float64{5, 50}) {
		t.Errorf("floors %+v along the friction, want one in ink", floors)
	}
}

// Chains that ended far from the posterior have a distance like any; the caption counts them by
// set, also where most did. Whether they grew to the end it does not say: some stay where they are.
// Their points are hollow, and no line leads to them.
func TestCaptionsCountRunawayChains(t *testing.T) {
	var cells []bench.Cell
	for split := range 5 {
		for _, h := range []float64{0.01, 0.02, 0.05} {
			cells = append(cells, cell("leapfrog", split, 8, h))
		}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	for _, away := range []float64{29, 31, 1e144} { // the least is 3
		m := stored(p.Cells, func(c bench.Cell) (float64, bool) {
			if c.Step == 0.05 && c.Split == 4 {
				return math.NaN(), true
			}
			return 0.3, true
		})
		for key, r := range m.results {
			r.Scores = map[string]float64{"rmse": 3}
			if r.Cell.Step > 0.01 {
				r.Scores["rmse"] = away
			}
			if !r.Diverged {
				m.results[key] = r
			}
		}
		want := "Of the chains that stayed finite, 9 on boston left the posterior (RMSE above 10 times the least of their set)"
		f := figureOf(t, p, m)
		for _, part := range []string{want, "left the posterior", "Hollow markers, to which no line leads: half or more"} {
			if strings.Contains(f.Caption, part) != (away > 30) {
				t.Errorf("RMSE %g: caption %q, which lacks or has %q", away, f.Caption, part)
			}
		}
		line := f.panels[0][0].Series[len(f.panels[0][0].Series)-1]
		if slices.Contains(line.Left, true) != (away > 30) || len(f.panels[0][0].stretches(line)) != map[bool]int{true: 3, false: 1}[away > 30] {
			t.Errorf("RMSE %g: the points of chains that left are %v, stretches %v", away, line.Left, f.panels[0][0].stretches(line))
		}
	}
}

// A point is of chains that left the posterior where half of its finite ones did, and markers that
// are hollow already become crosses.
func TestHollowMarkersAreOfHalfTheFiniteChains(t *testing.T) {
	for left, want := range []bool{false, false, true, true} {
		var cells []bench.Cell
		for split := range 5 {
			cells = append(cells, cell("sghmc", split, 8, 0.01), cell("sghmc", split, 8, 0.02))
		}
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
		m := stored(p.Cells, func(c bench.Cell) (float64, bool) {
			if c.Step == 0.02 && c.Split == 4 { // four are finite
				return math.NaN(), true
			}
			return 0.3, true
		})
		for key, r := range m.results {
			r.Scores = map[string]float64{"rmse": 3}
			if r.Cell.Step == 0.02 && r.Cell.Split < left {
				r.Scores["rmse"] = 1e9
			}
			m.results[key] = r
		}
		f := figureOf(t, p, m)
		says := strings.Contains(f.Caption, "Hollow markers (crosses where a line's own are)")
		if line := named(f.panels[0][0], "sghmc")[0]; line.Left[0] || line.Left[1] != want || says != want {
			t.Errorf("%d of 4 left: %v, caption %q", left, line.Left, f.Caption)
		}
	}
	for marker, want := range map[marker]marker{"circle": "open circle", "open square": "open cross"} {
		if got := (style{Marker: marker}).hollow().Marker; got != want {
			t.Errorf("the hollow %q is %q, want %q", marker, got, want)
		}
	}
}

// A chain whose squared errors overflowed has a coverage and no RMSE, since records hold finite
// numbers: it ran away further than those with one.
func TestCaptionsCountRunawayChainsWithoutAnError(t *testing.T) {
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(
		cell("leapfrog", 0, 8, 0.01), cell("leapfrog", 0, 8, 0.02), cell("leapfrog", 0, 8, 0.5))})
	m := stored(p.Cells, func(bench.Cell) (float64, bool) { return 0.3, true })
	for key, r := range m.results {
		r.Scores = map[string]float64{"rmse": 3, "coverage": 1}
		if r.Cell.Step == 0.5 {
			delete(r.Scores, "rmse")
		}
		m.results[key] = r
	}
	want := "Of the chains that stayed finite, 1 on boston left the posterior"
	if c := figureOf(t, p, m).Caption; !strings.Contains(c, want) {
		t.Errorf("caption %q, want %q", c, want)
	}
}

// Against the friction the floor is that of each friction: a line through the points of chains
// without visible error, and not their median across the panel.
func TestFloorFollowsTheFriction(t *testing.T) {
	var cells []bench.Cell
	for _, friction := range []bench.Real{0.5, 5, 50} {
		for _, batch := range []int{8, bench.Full} {
			c := cell("leapfrog", 0, batch, 0.01)
			c.Friction = friction
			cells = append(cells, c)
		}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	p.Figure = &bench.FigureSpec{Panels: []string{"data", "batch"}, X: "friction"}
	f := figureOf(t, p, stored(p.Cells, func(c bench.Cell) (float64, bool) {
		return 0.1 + 0.001*float64(c.Friction) + 0.05*float64(min(c.Batches-1, 1)), true
	}))
	for _, p := range f.panels[0] {
		floors := named(p, "floor")
		if len(floors) != 1 || !slices.Equal(floors[0].X, []float64{0.5, 5, 50}) ||
			math.Abs(floors[0].Y[0]-0.1005) > 1e-12 || math.Abs(floors[0].Y[2]-0.15) > 1e-12 {
			t.Errorf("%s: floors %+v, want 0.1005, 0.105, 0.15", p.Title, floors)
		}
	}
}

// The legend states both orders of an integrator whose law of θ has another one than its joint
// law.
func TestLegendStatesBothOrders(t *testing.T) {
	p, m := small(t, "bottleneck")
	f := figureOf(t, p, m)
	got := strings.Join(entries(f), "|")
	if !strings.Contains(f.Caption, "Orders are those with the full batch.") {
		t.Errorf("the caption does not say what the orders in the legend are: %q", f.Caption)
	}
	if want := "sghmc (order 2 in θ, 1 jointly)|leapfrog (order 2 in θ, 1 jointly)|mt3 (order 3)|"; !strings.HasPrefix(got, want) {
		t.Errorf("legend %q, want %q", got, want)
	}
}

// The caption of a figure of one data set says which lines leave the floor, and from which step
// on: where all chains are above all that the floor is of.
func TestCaptionSaysWhichLinesLeaveTheFloor(t *testing.T) {
	var cells []bench.Cell
	for split := range 5 {
		for _, name := range []string{"mt3", "leapfrog", "lietrotter"} {
			for _, h := range []float64{0.01, 0.02, 0.05, 0.1} {
				cells = append(cells, cell(name, split, bench.Full, h))
			}
		}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	f := figureOf(t, p, stored(p.Cells, func(c bench.Cell) (float64, bool) {
		ks := 0.1 + 0.01*float64(c.Split)
		switch {
		case c.Integrator == "lietrotter" && c.Step >= 0.05:
			ks += 0.05
		case c.Integrator == "leapfrog" && c.Step == 0.02: // and back on the floor
			ks += 0.05
		case c.Integrator == "mt3" && c.Step == 0.1:
			if ks += 0.037; c.Split == 2 { // three above all others, one lost
				ks = math.NaN()
			}
		}
		return ks, true
	}))
	want := "Boston, full batch: clear of the floor (every chain above every one of the floor's): lietrotter from η = 0.05 on; nowhere: mt3, leapfrog."
	if !strings.Contains(f.Caption, want) {
		t.Errorf("caption %q, want %q", f.Caption, want)
	}
	p.Cells = slices.DeleteFunc(p.Cells, func(j bench.Job) bool { return j.Cell.Step > 0.01 })
	if f := figureOf(t, p, stored(p.Cells, tenth)); strings.Contains(f.Caption, "the floor's") {
		t.Errorf("the step that the floor is of is told from it: %q", f.Caption)
	}
}

// leavingPlan are chains of some seeds with the full batch at the steps 0.01, 0.02, 0.05 and 0.1, the
// two larger ones clear of the floor.
func leavingPlan(t *testing.T, seeds int, change func(*bench.Cell)) (bench.Plan, memory) {
	var cells []bench.Cell
	for seed := range seeds {
		for _, h := range []float64{0.01, 0.02, 0.05, 0.1} {
			c := cell("leapfrog", 0, bench.Full, h)
			c.Seed = uint64(seed + 1)
			change(&c)
			cells = append(cells, c)
		}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	for i, j := range p.Cells {
		p.Cells[i].Relative = j.Cell.Step * 5
	}
	return p, stored(p.Cells, func(c bench.Cell) (float64, bool) {
		return 0.1 + 0.001*float64(c.Seed) + max(0, c.Step-0.02), true
	})
}

// Two chains are above two others once in six times by chance: fewer than four seeds say nothing.
func TestFewChainsAreNotToldFromTheirFloor(t *testing.T) {
	for seeds, want := range map[int]bool{1: false, 2: false, 3: false, 4: true} {
		p, m := leavingPlan(t, seeds, func(*bench.Cell) {})
		if c := figureOf(t, p, m).Caption; strings.Contains(c, "Boston, full batch: clear of the floor (every chain above every one of the floor's): leapfrog from η = 0.05 on.") != want {
			t.Errorf("%d seeds: caption %q", seeds, c)
		}
	}
}

// A line is clear of all chains that the floor is of, and not of their median over samplers alone.
func TestChainsAreClearOfEveryOneOfTheFloors(t *testing.T) {
	p, m := leavingPlan(t, 4, func(*bench.Cell) {})
	for _, c := range p.Cells {
		for _, name := range []string{"mt3", "euler"} {
			other := c.Cell
			other.Integrator = name
			p.Cells = append(p.Cells, bench.Job{Cell: other})
		}
	}
	p = planOf(t, bench.Study{ID: "own", Cells: p.Cells})
	m = stored(p.Cells, func(c bench.Cell) (float64, bool) {
		ks := 0.1 + 0.001*float64(c.Seed) + max(0, c.Step-0.02)
		if c.Integrator == "euler" {
			ks += 0.04 // above leapfrog at 0.05, not at 0.1
		}
		return ks, true
	})
	if c := figureOf(t, p, m).Caption; !strings.Contains(c, "leapfrog from η = 0.1") {
		t.Errorf("caption %q, want leapfrog clear of the floor from 0.1 on", c)
	}
}

// Where lines leave the floor is said along the step alone, in the words of the axis. Elsewhere the
// error need not grow: with x = "batch" it falls to the full batch, which is the floor.
func TestLeavingTheFloorIsSaidInWordsOfTheAxis(t *testing.T) {
	const is = "clear of the floor"
	for x, want := range map[string]string{
		"step": "leapfrog from η = 0.05 on.", bench.OnRelative: "leapfrog from step η over the largest stable step = 0.25 on.",
		"gradients": "", "samples": "",
	} {
		p, m := leavingPlan(t, 4, func(*bench.Cell) {})
		p.Figure = &bench.FigureSpec{X: x}
		c := figureOf(t, p, m).Caption
		if !strings.Contains(c, want) || strings.Contains(c, is) != (want != "") {
			t.Errorf("x = %s: caption %q, want %q", x, c, want)
		}
	}
	var cells []bench.Cell
	for seed := range 4 {
		for _, batch := range []int{8, 32, bench.Full} {
			c := cell("leapfrog", 0, batch, 0.01)
			c.Seed = uint64(seed + 1)
			cells = append(cells, c)
		}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...), Figure: &bench.FigureSpec{Panels: []string{"data"}, X: "batch"}})
	m := stored(p.Cells, func(c bench.Cell) (float64, bool) { return 0.1 + 0.01*float64(c.Batches-1), true })
	if c := figureOf(t, p, m).Caption; strings.Contains(c, is) {
		t.Errorf("x = batch: caption %q", c)
	}
}

// A panel may be named by a symbol, which is not of one byte.
func TestCaptionsBeginWithWholeLetters(t *testing.T) {
	for name, want := range map[string]string{"baoab": "Baoab", "η = 0.1": "η = 0.1", "B = 8": "B = 8", "": ""} {
		if got := capital(name); got != want {
			t.Errorf("capital(%q) is %q, want %q", name, got, want)
		}
	}
}

// A line may be of points that differ in more than the horizontal axis: the caption names it, and not
// what follows from the axis.
func TestCaptionsNameWhatChangesAlongALine(t *testing.T) {
	for also, change := range map[string]func(*bench.Cell){
		"":             func(c *bench.Cell) { c.Thin, c.BurnIn, c.Seed = 7, 9, 3 },
		"C":            func(c *bench.Cell) { c.Friction = 50 },
		"C, precision": func(c *bench.Cell) { c.Friction, c.Precision = 50, "float64" },
	} {
		cells := []bench.Cell{cell("mt3", 0, 8, 0.01), cell("mt3", 0, 8, 0.02)}
		change(&cells[1])
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...), Figure: &bench.FigureSpec{X: "step", Lines: []string{"integrator"}, Panels: []string{"data"}}})
		f := figureOf(t, p, stored(p.Cells, tenth))
		if want := "Along a line these change, too: " + also + "."; strings.Contains(f.Caption, "  ") || strings.Contains(f.Caption, "Along a line") != (also != "") || also != "" && !strings.Contains(f.Caption, want) {
			t.Errorf("caption %q, want %q", f.Caption, want)
		}
	}
}

// Where the full batch has one step, the caption says that its floor may be none.
func TestCaptionSaysWhereTheFloorIsOfOneStep(t *testing.T) {
	for steps, want := range map[int]bool{1: true, 2: false} {
		var cells []bench.Cell
		for i, h := range []float64{0.01, 0.02, 0.05} {
			cells = append(cells, cell("leapfrog", 0, 8, h))
			if i < steps {
				cells = append(cells, cell("leapfrog", 0, bench.Full, h))
			}
		}
		f := figureOf(t, planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)}), stored(jobs(cells...), tenth))
		if says := strings.Contains(f.Caption, "Of the full batch there is one step"); says != want {
			t.Errorf("%d steps: caption %q", steps, f.Caption)
		}
	}
}

// A split has one floor, at however many steps its chains ran.
func TestASplitHasOneFloor(t *testing.T) {
	var cells []bench.Cell
	for split, steps := range [][]float64{{0.01, 0.02, 0.05}, {0.01}, {0.01}} {
		cells = append(cells, cell("leapfrog", split, bench.Full, 0.01))
		for _, h := range steps {
			cells = append(cells, cell("leapfrog", split, 8, h))
		}
	}
	p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
	f := figureOf(t, p, stored(p.Cells, func(c bench.Cell) (float64, bool) { return []float64{0.3, 0.1, 0.2}[c.Split], true }))
	if y := named(f.panels[0][0], "floor")[0].Y[0]; math.Abs(y-0.2) > 1e-12 {
		t.Errorf("the floor is at %g, want the median of the three splits', 0.2", y)
	}
}
