package figures

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/certify"
	"hambench/oracle"
	"hambench/paper"
)

// regimesStudy has chains on boston, ω = 50, in each regime, and exact problems of ω = 2, whose errors
// are 1, 3 and 9 times those of the first.
func regimesStudy(t *testing.T) (bench.Plan, memory) {
	t.Helper()
	var cells []bench.Cell
	for _, scheme := range []string{"reshuffle", "replacement"} {
		for _, k := range []int{2, 4, 40} {
			for _, h := range []float64{0.001, 0.002} {
				for _, friction := range []float64{2, 4} {
					c := cell("leapfrog", 0, 8, h)
					c.Scheme, c.Batches, c.Friction = scheme, k, bench.Real(friction)
					cells = append(cells, c)
				}
			}
		}
	}
	for _, friction := range []float64{2, 4} {
		full := cell("leapfrog", 0, bench.Full, 0.005)
		full.Scheme, full.Friction = "full", bench.Real(friction)
		cells = append(cells, full)
	}
	text := json.RawMessage(`{"kind":"gaussian","friction":1,"batches":[{"precision":[[3]],"shift":[0]},{"precision":[[5]],"shift":[0]}]}`)
	p := planOf(t, bench.Study{ID: "regimes", Title: "Laws", Cells: jobs(cells...), Figure: &bench.FigureSpec{Kind: "regimes"},
		Exact: []bench.ExactJob{
			{Purpose: "regimes", Exact: bench.Exact{Name: "a", Problem: text, Integrator: "exact", Inner: 1}},
			{Purpose: "regimes", Exact: bench.Exact{Name: "b", Problem: text, Integrator: "exact", Inner: 1}},
			{Purpose: "regimes", Exact: bench.Exact{Name: "c", Problem: text, Integrator: "exact", Inner: 1}},
		}})
	m := stored(p.Cells, func(c bench.Cell) (float64, bool) {
		switch { // the floor is 0.09, heat goes with η/C
		case c.Batches == 1:
			return 0.09, true
		case c.Scheme == "replacement" || c.Batches == 40:
			return 0.09 + 100*c.Step/float64(c.Friction), true
		}
		return 0.09 + 1000*c.Step*c.Step, true
	}).changed(func(r *bench.Result) { r.Scales = &oracle.Scales{Omega: 50, Spread: 3} })
	m.rows = map[string][]certify.Row{}
	for i, job := range p.Exact {
		for scheme, power := range map[string]float64{"reshuffle": 2, "replacement": 1} {
			o := certify.Observable{Name: "theta.cov"}
			steps := []float64{0.05, 0.2}
			for _, h := range steps {
				o.Errors = append(o.Errors, certify.Number(math.Pow(3, float64(i))*math.Pow(h, power)))
			}
			o.Resolution = make([]certify.Number, 2)
			m.rows[job.Key] = append(m.rows[job.Key], certify.Row{Problem: job.Exact.Name, Integrator: "exact", Inner: 1, Scheme: scheme,
				Steps: steps, Observables: []certify.Observable{o}})
		}
	}
	return p, m
}

// The figure's data have the line Kηω = 1, the names of the regions where the regimes are, and
// each place with what its panels show.
func TestFigureOfRegimes(t *testing.T) {
	p, m := regimesStudy(t)
	p.LeftOut = []string{"yacht", "linear"}
	out := made(t, p, m)
	f := out.Figures[0]
	at := func(row []any, column string) any { return row[slices.Index(f.Data.Columns, column)] }
	line, rest, regions := 0, 0, map[any]float64{}
	places := 0
	for _, row := range f.Data.Rows {
		x, _ := at(row, "k_eta_omega").(float64)
		switch at(row, "kind") {
		case "line":
			if at(row, "name") == "Kηω = 1" {
				if line++; x != 1 {
					t.Errorf("the line Kηω = 1 is at %v", x)
				}
			}
			if y := at(row, "c_over_omega"); at(row, "name") == "orders | rest of the heat" {
				if rest++; x != y {
					t.Errorf("the line C/ω = Kηω has the end %v, %v", x, y)
				}
			}
		case "region":
			regions[at(row, "name")] = x
		case "place":
			places++
			h, k := at(row, "h").(float64), at(row, "K").(float64)
			name := at(row, "name").(string)
			exact := name != "boston"
			omega, friction := 50., at(row, "friction").(float64)
			if exact {
				omega = 2
			}
			if math.Abs(x-k*h*omega) > 1e-9 || math.Abs(at(row, "c_over_omega").(float64)-friction/omega) > 1e-9 {
				t.Errorf("%v: want Kηω = %g and C/ω = %g", row, k*h*omega, friction/omega)
			}
			excess, ratio := 1000*h*h, 10*h*friction
			switch independent := at(row, "scheme") == "replacement"; {
			case exact && independent:
				excess, ratio = h, 1
			case exact:
				excess, ratio = h*h, h
			case independent || k == 40:
				excess, ratio = 100*h/friction, 1
			}
			if exact {
				excess *= map[string]float64{"a": 1, "b": 3, "c": 9}[name]
			}
			for column, want := range map[string]float64{"excess": excess, "ratio": ratio,
				"excess_over_eta_c": excess * friction / h, "excess_over_eta2": excess / h / h} {
				if got, _ := at(row, column).(float64); math.Abs(got-want) > 1e-9*want {
					t.Errorf("%s of %v: %g, want %g", column, row, got, want)
				}
			}
		}
	}
	if line != 2 || rest != 2 || places != 36 {
		t.Errorf("%d ends of the line Kηω = 1, %d of C/ω = Kηω, and %d places, want 2, 2 and 36", line, rest, places)
	}
	if !(regions["orders"] < 0.3 && regions["between"] > 0.3 && regions["between"] < 3 && regions["heat"] > 3 && regions["rest of the heat"] < 0.3) {
		t.Errorf("regions at %v", regions)
	}
	for _, row := range f.panels {
		for _, p := range row {
			if s := p.Series[0]; s.X[0] != 1 || s.X[1] != 1 || s.Y[0] != p.Y.Low || s.Y[1] != p.Y.High {
				t.Errorf("the line of a panel is at %v, %v", s.X, s.Y)
			}
		}
	}
	// Problems that differ in nothing else are one line, of their median; the line at 1 stands before it.
	if s := f.panels[3][0].Series; len(s) != 2 || len(s[1].Y) != 2 || math.Abs(s[1].Y[0]-3) > 1e-9 || math.Abs(s[1].Y[1]-3) > 1e-9 {
		t.Errorf("exact errors over η² are drawn as %+v, want a line at 3", s[1:])
	}
	// What chance makes of chains is not divided by the step: of boston the cells in heat are left.
	for _, s := range f.panels[3][1].Series[1:] {
		for i, x := range s.X {
			if x < 1 || s.Y[i] < 1e4 {
				t.Errorf("sampled errors over η² are drawn at %v, %v", s.X, s.Y)
			}
		}
	}
	// No name of a region lies on a place.
	for _, p := range f.panels[0] {
		for _, w := range p.Words {
			for _, s := range p.Series {
				for i := range s.X {
					across, up := math.Log10(s.X[i]/w.X), math.Log10(s.Y[i]/w.Y)
					if s.Style.Marker != "" && math.Abs(across) < 0.15 && math.Abs(up) < 0.15 {
						t.Errorf("%q at %g, %g lies on a place at %g, %g", w.Text, w.X, w.Y, s.X[i], s.Y[i])
					}
				}
			}
		}
	}
	if want := "left out: yacht, linear."; !strings.Contains(f.Caption, want) {
		t.Errorf("caption %q: want %q", f.Caption, want)
	}
	if n := len(f.panels); n != 4 || len(f.panels[0]) != 2 || len(f.panels[0][0].Words) != 5 {
		t.Errorf("%d rows of panels", n)
	}
}

// The table has the powers of each regime and scheme: of heat 1 and −1.
func TestTableOfPowers(t *testing.T) {
	p, m := regimesStudy(t)
	// The exact errors at another friction, too, so that these have powers.
	s := p.Study
	for _, j := range p.Exact {
		j.Exact.Problem = bytes.Replace(j.Exact.Problem, []byte(`"friction":1`), []byte(`"friction":2`), 1)
		s.Exact = append(s.Exact, j)
	}
	all := planOf(t, s)
	for i, j := range all.Exact {
		m.rows[j.Key] = m.rows[p.Exact[i%len(p.Exact)].Key]
	}
	p = all
	table := made(t, p, m).Tables[0]
	data := table.Data
	// People, too, see whether a row is of chains or of exact errors.
	kinds := make(map[string]bool)
	for _, row := range table.Rows {
		kinds[row[0]] = true
	}
	if table.Columns[0].Label != "kind" || !kinds[exactKind] || !kinds[sampledKind] || !strings.Contains(strings.Join(table.Notes, " "), "their excess is the error of cov θ itself") {
		t.Errorf("columns %v, kinds %v, notes %q", table.Columns, kinds, table.Notes)
	}
	at := func(row []any, column string) any { return row[slices.Index(data.Columns, column)] }
	seen := 0
	for _, row := range data.Rows {
		name := at(row, "name").(string)
		if at(row, "scheme") != "replacement" || !strings.HasPrefix(name, "boston") {
			continue
		}
		seen++
		if a, b := at(row, "step_power").(float64), at(row, "friction_power").(float64); math.Abs(a-1) > 1e-6 || math.Abs(b+1) > 1e-6 {
			t.Errorf("%v: want powers 1 and −1", row)
		}
	}
	if seen != 3 {
		t.Errorf("%d rows of independent batches on boston, want one for each K", seen)
	}
}

func TestAStudyOfChainsDecidesItsClaims(t *testing.T) {
	var cells []bench.Cell
	for _, scheme := range []string{"full", "reshuffle"} {
		c := cell("leapfrog", 0, map[bool]int{true: bench.Full, false: 8}[scheme == "full"], 0.005)
		c.Scheme = scheme
		cells = append(cells, c)
	}
	text := json.RawMessage(`{"kind":"crossing","friction":1,"batches":[{"slope":1,"precision":1}]}`)
	p := planOf(t, bench.Study{ID: "crossing-orders", Title: "Valleys", Cells: jobs(cells...), Figure: &bench.FigureSpec{Panels: []string{"integrator"}, X: "step", Lines: []string{"scheme"}, Y: "distance"},
		Exact: []bench.ExactJob{{Purpose: "crossing-orders", Exact: bench.Exact{Name: "s = 1", Problem: text, Integrator: "leapfrog", Inner: 1}}}})
	m := stored(p.Cells, func(bench.Cell) (float64, bool) { return 0.1, true })
	m.rows = map[string][]certify.Row{p.Exact[0].Key: {{Problem: "s = 1", Integrator: "leapfrog", Inner: 1, Scheme: "reshuffle", Steps: []float64{0.01},
		Observables: []certify.Observable{{Name: "theta1^2", Errors: []certify.Number{certify.Number(math.NaN())}, Resolution: []certify.Number{certify.Number(math.Inf(1))}, Verdict: certify.Alone}}}}}
	if out := made(t, p, m); !strings.Contains(out.Text, "crossing-removes-heat") || !strings.Contains(out.Text, "not decided") {
		t.Errorf("text %q: want the verdicts", out.Text)
	}
}

// A place whose independent batches have hardly an excess has no ratio, and one whose chain diverged
// is not there: its distance of 1 is none.
func TestPlacesOfChainsWithoutAnExcessHaveNoRatio(t *testing.T) {
	p, m := regimesStudy(t)
	m = m.changed(func(r *bench.Result) {
		switch c := r.Cell; {
		case c.Batches == 2 && c.Step == 0.001 && c.Friction == 4 && c.Scheme == "replacement":
			r.KS = 0.09 + 0.9*paper.ClearExcess
		case c.Batches == 2 && c.Step == 0.002 && c.Friction == 2 && c.Scheme == "reshuffle":
			r.KS, r.Diverged = 1, true
		}
	})
	data := figureOf(t, p, m).Data
	found := 0
	for _, row := range data.Rows {
		at := func(column string) any { return row[slices.Index(data.Columns, column)] }
		if row[0] != "place" || at("name") != "boston" || at("K") != 2. || at("scheme") != "reshuffle" {
			continue
		}
		found++
		small := at("h") == 0.001 && at("friction") == 4.
		if (at("ratio") == nil) != small || at("h") == 0.002 && at("friction") == 2. {
			t.Errorf("place %v", row)
		}
	}
	if found != 3 {
		t.Errorf("%d places, want three of four", found)
	}
}

// The caption says what the panels do not reach, and what is chance, where that is so; exact lines of
// one friction are told apart by their numbers of batches.
func TestRegimesSayTheirLimits(t *testing.T) {
	four := json.RawMessage(`{"kind":"gaussian","friction":1,"batches":[{"precision":[[3]],"shift":[0]},{"precision":[[5]],"shift":[0]},{"precision":[[3]],"shift":[0]},{"precision":[[5]],"shift":[0]}]}`)
	for _, far := range []bool{false, true} {
		p, m := regimesStudy(t)
		step := 0.2
		if far {
			p.Exact[2].Exact.Problem, step = four, 1.6
			m = m.changed(func(r *bench.Result) {
				switch c := r.Cell; {
				case c.Batches == 2 && c.Step == 0.001 && c.Scheme == "reshuffle": // Kηω = 0.1
					r.KS = 0.09 - 0.001
				case c.Batches == 4 && c.Step == 0.002 && c.Scheme == "reshuffle": // Kηω = 0.4
					r.KS = 0.09 + 0.03
				}
			})
		}
		for _, rows := range m.rows {
			for i := range rows {
				rows[i].Steps = []float64{0.05, step}
			}
		}
		f := figureOf(t, p, m)
		for text, want := range map[string]bool{
			"Negative ratios are chance.":                    far,
			"no place with Kηω < 1 has an excess that large": !far,
			"Exact places reach ηω = 3.2; beyond 2 neither":  far,
		} {
			if strings.Contains(f.Caption, text) != want {
				t.Errorf("%t: caption %q has or lacks %q", far, f.Caption, text)
			}
		}
		if got := strings.Count(strings.Join(entries(f), "|"), "exact, K = "); got != map[bool]int{true: 2}[far] {
			t.Errorf("%t: legend %q", far, entries(f))
		}
		dashes := make(map[int]bool)
		for _, c := range f.panels[1][0].Series {
			if strings.HasPrefix(c.Name, "exact") {
				dashes[len(c.Style.Dashes)] = true
			}
		}
		if len(dashes) != map[bool]int{true: 2, false: 1}[far] {
			t.Errorf("%t: lines of exact problems have the dashes %v", far, dashes)
		}
	}
}

// Where a study has no full batch, the caption says what stands in the place of the measured floor.
func TestRegimesSayWhereThereIsNoFloor(t *testing.T) {
	p, m := regimesStudy(t)
	const says = "above the measured floor (where there is none, above the self-distance of the truth's draws), without"
	if c := figureOf(t, p, m).Caption; strings.Contains(c, "self-distance") || !strings.Contains(c, "above the measured floor, without") {
		t.Errorf("caption %q", c)
	}
	p.Cells = slices.DeleteFunc(p.Cells, func(j bench.Job) bool { return j.Cell.Batches == 1 && j.Cell.Friction == 2 })
	if c := figureOf(t, p, m).Caption; !strings.Contains(c, says) {
		t.Errorf("without a full batch at one friction: caption %q", c)
	}
}

// No line has the marker that the map has for what random orders leave.
func TestRegimeLinesHaveMarkersOfTheirOwn(t *testing.T) {
	shown := newPlaces()
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		shown.Add(nil, map[string]any{"kind": sampledKind, "of": name})
	}
	for name, s := range regimeStyles(shown) {
		if s.Marker == ratioClasses[0].style.Marker {
			t.Errorf("%s has the marker %q", name, s.Marker)
		}
	}
}

// The bound by which the rest of the heat begins is where C/ω = Kηω, also on a map whose lower edge
// cuts it off.
func TestTheRestOfTheHeatBeginsOnTheDiagonal(t *testing.T) {
	x, y := axis{Log: true, Low: 1e-3, High: 10}, axis{Log: true, Low: 0.02, High: 10}
	bounds, _ := regimeBounds(x, y)
	rest := bounds[len(bounds)-1]
	if !slices.Equal(rest.X, rest.Y) || slices.Min(rest.Y) != y.Low {
		t.Errorf("the bound goes through %v, %v: want the diagonal from %v on", rest.X, rest.Y, y.Low)
	}
}
