package figures

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/usage"
)

func TestRecordsAsFiles(t *testing.T) {
	r := Records{Columns: []string{"a", "b"}}
	r.add(math.NaN(), "x,y")
	r.add(0.1, true)
	if b, err := r.CSV(); err != nil || string(b) != "a,b\n,\"x,y\"\n0.1,true\n" {
		t.Errorf("CSV %q, error %v", b, err)
	}
	if b, err := r.json(); err != nil || !strings.Contains(string(b), `"a": null`) || !strings.Contains(string(b), `"a": 0.1`) {
		t.Errorf("JSON %s, error %v", b, err)
	}
}

// ownStudy has two data sets, three frictions and two steps, two splits of each.
func ownStudy(t *testing.T) (bench.Plan, memory) {
	t.Helper()
	var cells []bench.Cell
	for _, set := range []string{"boston", "yacht"} {
		for split := range 2 {
			for _, friction := range []bench.Real{1, 5, 50} {
				for _, h := range []float64{0.01, 0.02} {
					c := cell("leapfrog", split, 8, h)
					c.Dataset, c.Friction = set, friction
					cells = append(cells, c)
				}
			}
		}
	}
	p := planOf(t, bench.Study{ID: "own", Title: "Own", Cells: jobs(cells...)})
	return p, stored(p.Cells, func(c bench.Cell) (float64, bool) {
		return 0.1 + 10*c.Step, !(c.Dataset == "yacht" && c.Friction == 50)
	}).changed(func(r *bench.Result) {
		r.Gradients, r.Scores = int64(1000/r.Cell.Step), map[string]float64{"rmse": 2 + float64(r.Cell.Split) + float64(r.Cell.Friction)}
	})
}

// A study's file says what its figure shows.
func TestFigureOfAStudysOwn(t *testing.T) {
	p, m := ownStudy(t)
	p.Figure = &bench.FigureSpec{Panels: []string{"data"}, X: "friction", Lines: []string{"step"}, Y: "rmse", YScale: "log"}
	f := figureOf(t, p, m)
	if len(f.panels) != 1 || len(f.panels[0]) != 2 || f.panels[0][1].Title != "yacht" {
		t.Fatalf("%d rows of panels, want one of boston and yacht", len(f.panels))
	}
	panel := f.panels[0][0]
	if panel.X.Label != "friction C" || !panel.X.Log || panel.Y.Label != "test RMSE" || !panel.Y.Log {
		t.Errorf("axes %+v and %+v: want the friction and the RMSE, both logarithmic", panel.X, panel.Y)
	}
	line := panel.Series[1]
	if line.Name != "η = 0.02" || !reflect.DeepEqual(line.X, []float64{1, 5, 50}) || !reflect.DeepEqual(line.Y, []float64{3.5, 7.5, 52.5}) || line.Low[0] >= 3.5 {
		t.Errorf("line %+v: want medians over the splits with a band", line)
	}
	if y := f.panels[0][1].Series[0].Y; !math.IsNaN(y[2]) {
		t.Errorf("yacht lacks C = 50, and has %v there", y[2])
	}
	if got := strings.Join(f.Data.Columns, ","); got != "dataset,batch,K,scheme,integrator,nl,friction,h,cells,cells_expected,cells_diverged,rmse_mean,rmse_sd,self_mean,self_p05,self_p95,rmse_median,rmse_min,rmse_max,share_diverged,floor" {
		t.Errorf("CSV has the columns %s", got)
	}
	p.Figure = &bench.FigureSpec{Panels: []string{"integrator"}, X: "friction"}
	if f := figureOf(t, p, m); len(f.panels[0]) != 1 || len(f.panels[0][0].Series) != 2 || !strings.HasPrefix(f.legend[0].Label, "leapfrog") {
		t.Errorf("what lines could be named by is an axis: %+v", f.legend)
	}
	p.Figure = &bench.FigureSpec{X: "relative"}
	for i, j := range p.Cells { // a step of yacht, at two frictions that ran, has no place
		if p.Cells[i].Relative = 25 * j.Cell.Step; j.Cell.Dataset == "yacht" && j.Cell.Step == 0.02 {
			p.Cells[i].Relative = 0
		}
	}
	f = figureOf(t, p, m)
	if line := f.panels[0][0].Series[1]; !reflect.DeepEqual(line.X, []float64{0.25, 0.5}) || f.panels[0][0].X.Label != "step η over the largest stable step" || !slices.Contains(f.Data.Columns, "relative") {
		t.Errorf("against relative steps: axis %q, x = %v, columns %v", f.panels[0][0].X.Label, line.X, f.Data.Columns)
	}
	if !strings.Contains(f.Caption, "2 points have no place on the axis: their step η over the largest stable step is 0 or less, infinite, or not known.") {
		t.Errorf("caption %q does not count yacht's", f.Caption)
	}
	p.Figure = &bench.FigureSpec{X: "gradients"}
	if line := figureOf(t, p, m).panels[0][0].Series[1]; !reflect.DeepEqual(line.X, []float64{100000, 50000}) || math.Abs(line.Y[0]-0.2) > 1e-12 {
		t.Errorf("against gradients: x = %v, y = %v", line.X, line.Y)
	}
}

// An estimate of one chain stands with its standard error, beside what it estimates.
func TestEstimatesHaveTheirErrors(t *testing.T) {
	p, m := ownStudy(t)
	p.Cells = slices.DeleteFunc(p.Cells, func(j bench.Job) bool { return j.Cell.Split > 0 || j.Cell.Friction != 5 })
	p.Figure = &bench.FigureSpec{Panels: []string{"data"}, Y: "llc"}
	m = m.changed(func(r *bench.Result) {
		r.Scores = map[string]float64{"llc": 3 + 10*r.Cell.Step, "llc_se": r.Cell.Step, "llc_known": 4.5}
	})
	f := figureOf(t, p, m)
	panel := f.panels[0][0]
	if n := len(f.Data.Columns); f.Data.Columns[n-1] != "llc_se" || f.Data.Rows[0][n-1] != 0.02 && f.Data.Rows[0][n-1] != 0.01 {
		t.Errorf("columns %v, %v: want the standard error", f.Data.Columns, f.Data.Rows[0])
	}
	known, line := panel.Series[0], panel.Series[1]
	if !reflect.DeepEqual(known.Y, []float64{4.5, 4.5}) || panel.Y.High < 4.5 || f.legend[1].Label != "learning coefficient" {
		t.Errorf("%+v on an axis to %v, legend %+v: want the coefficient across the panel", known, panel.Y.High, f.legend)
	}
	for i, h := range line.X {
		if math.Abs(line.High[i]-line.Y[i]-h) > 1e-12 || math.Abs(line.Y[i]-line.Low[i]-h) > 1e-12 {
			t.Errorf("at η = %v the band goes from %v to %v around %v", h, line.Low[i], line.High[i], line.Y[i])
		}
	}
	if !strings.Contains(f.Caption, "L₀: the loss where it began. ") {
		t.Errorf("caption %q does not say what nβ(L̄ − L₀) is", f.Caption)
	}
	if !strings.Contains(f.Caption, "Bands: from a standard error below to one above") {
		t.Errorf("caption %q does not say what bands are", f.Caption)
	}
}

// Chains that no truth judges have no self-distance: a figure's file states none of theirs, and
// those of others without them.
func TestWhatIsNotJudgedHasNoSelfDistance(t *testing.T) {
	for unjudged, want := range map[int]any{0: 0.085, 1: 0.09, 2: nil} { // splits, of two
		p, m := ownStudy(t)
		p.Cells = slices.DeleteFunc(p.Cells, func(j bench.Job) bool { return j.Cell.Friction != 5 })
		for i, j := range p.Cells {
			if j.Cell.Split < unjudged {
				p.Cells[i].Cell.Observe = bench.Learning
			}
		}
		p.Figure = &bench.FigureSpec{Panels: []string{"data"}, Y: "llc"}
		m = m.changed(func(r *bench.Result) { r.Scores = map[string]float64{"llc": 3} })
		data := figureOf(t, p, m).Data
		at := slices.Index(data.Columns, "self_mean")
		for _, row := range data.Rows {
			got, ok := row[at].(float64)
			if mean, stated := want.(float64); ok != stated || math.Abs(got-mean) > 1e-12 || (row[at+1] == nil) == stated || (row[at+2] == nil) == stated {
				t.Errorf("%d of 2 splits not judged: self-distance %v, want %v", unjudged, row[at:at+3], want)
			}
		}
	}
}

func TestTableOfAStudysOwn(t *testing.T) {
	p, m := ownStudy(t)
	p.Table = &bench.TableSpec{Rows: []string{"data", "step"}, Columns: []string{"friction"}, Values: []string{"rmse", "distance"}, Note: "A note."}
	out := made(t, p, m)
	if len(out.Figures) != 0 || len(out.Tables) != 1 || out.Tables[0].ID != "own" || !strings.Contains(out.Text, "A note.") {
		t.Fatalf("%d figures, %d tables: want a table alone, with its note", len(out.Figures), len(out.Tables))
	}
	r := out.Tables[0].Data
	if got := strings.Join(r.Columns[:8], ","); got != "dataset,h,rmse_1,rmse_5,rmse_50,ks_1,ks_5,ks_50" {
		t.Errorf("columns %s", got)
	}
	if len(r.Rows) != 4 || r.Rows[0][2] != 3.5 || r.Rows[3][4] != nil {
		t.Errorf("rows %v: want means over splits, and nothing where there are no results", r.Rows)
	}
}

func TestWrongNamesAreUsageErrors(t *testing.T) {
	for want, change := range map[string]func(p *bench.Plan){
		`unknown value "speed"`:              func(p *bench.Plan) { p.Figure = &bench.FigureSpec{Y: "speed"} },
		`x = "colour"`:                       func(p *bench.Plan) { p.Figure = &bench.FigureSpec{X: "colour"} },
		`"scheme" is no number`:              func(p *bench.Plan) { p.Figure = &bench.FigureSpec{X: "scheme"} },
		`"size" is no setting of a cell`:     func(p *bench.Plan) { p.Figure = &bench.FigureSpec{Panels: []string{"size"}} },
		`"length" is no setting of a cell`:   func(p *bench.Plan) { p.Table = &bench.TableSpec{Rows: []string{"length"}} },
		`kind of figure "pie": want one of `: func(p *bench.Plan) { p.Figure = &bench.FigureSpec{Kind: "pie"} },
		`unknown value "magic"`:              func(p *bench.Plan) { p.Table = &bench.TableSpec{Values: []string{"magic"}} },
	} {
		p, m := ownStudy(t)
		change(&p)
		_, err := m.drawer("").Make(p)
		var mistake *usage.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a usage error with %s", err, want)
		}
	}
}
