package figures

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/usage"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// studyIDs are the built-in studies that need no exact errors to be drawn.
var studyIDs = []string{"bottleneck", "paths", "toy", "methods", "integration-length", "friction", "synthetic", "regression", "classification", "autocorrelation", "precision", "claims"}

// Every study of a profile is drawn, into the files that are promised.
func TestEveryStudyIsDrawn(t *testing.T) {
	for _, id := range studyIDs {
		p := plan(t, "quick", id)
		dir := filepath.Join(t.TempDir(), "new", "folder")
		out, err := invent(p, nil).drawer(dir).Draw(p)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		want := []string{".csv", ".png", ".svg", ".pdf"}
		if slices.Contains([]string{"bottleneck", "methods", "integration-length", "friction"}, id) {
			want = append(want, "-table.txt", "-table.csv", "-table.json")
		}
		switch {
		case id == "claims":
			want = []string{".txt", ".md", ".json"}
		case slices.Contains([]string{"regression", "classification", "autocorrelation", "precision"}, id):
			want = []string{".csv", ".json", ".txt"}
		}
		for _, suffix := range want {
			path := filepath.Join(dir, id+suffix)
			if !slices.Contains(out.Files, path) || len(read(t, path)) == 0 {
				t.Errorf("%s: no file %s", id, path)
			}
		}
		if out.Cells != out.Of || len(out.Notes) > 0 != (len(p.Exact) > 0) {
			t.Errorf("%s: %d of %d cells, notes %q: want all, and notes of missing exact errors alone", id, out.Cells, out.Of, out.Notes)
		}
	}
}

// The same results give the same bytes, however long they took to compute.
func TestFilesAreDeterministic(t *testing.T) {
	for _, id := range []string{"methods", "paths", "toy", "synthetic", "regression", "autocorrelation"} {
		p, m := small(t, id)
		if id != "methods" {
			p = plan(t, "quick", id)
			m = invent(p, nil)
		}
		slower := m.changed(func(r *bench.Result) { r.Seconds *= 3 })
		a, b := t.TempDir(), t.TempDir()
		out, err := m.drawer(a).Draw(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := slower.drawer(b).Draw(p); err != nil {
			t.Fatal(err)
		}
		for _, path := range out.Files {
			name := filepath.Base(path)
			if filepath.Ext(name) != ".pdf" && !bytes.Equal(read(t, path), read(t, filepath.Join(b, name))) {
				t.Errorf("%s differs between two drawings of the same results", name)
			}
		}
	}
}

func TestDrawRefusals(t *testing.T) {
	p := plan(t, "quick", "methods")
	if _, err := (memory{}).drawer(t.TempDir()).Draw(p); err == nil || !strings.Contains(err.Error(), "no results of study methods") {
		t.Errorf("without results: error %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var mistake *usage.Error
	if _, err := invent(p, nil).drawer(file).Draw(p); !errors.As(err, &mistake) {
		t.Errorf("folder that is a file: error %v, want a usage error", err)
	}
}

// What a figure of distances cannot show is refused, not drawn as if it were one.
func TestOtherRecordsNeedAKind(t *testing.T) {
	for _, id := range []string{"paths", "regression"} {
		p := plan(t, "quick", id)
		p.Figure = nil
		if _, err := invent(p, nil).drawer("").Make(p); err == nil || !strings.Contains(err.Error(), "names no kind of figure") {
			t.Errorf("%s: error %v", id, err)
		}
	}
}

// A result without its series is an error that names it, not a panic.
func TestDamagedSeriesAreErrors(t *testing.T) {
	for _, id := range []string{"toy", "paths", "synthetic"} {
		p := plan(t, "quick", id)
		damaged := invent(p, nil).changed(func(r *bench.Result) {
			r.Series = map[string][]float64{"theta0": {1}, "edges": {1, 2}, "x": {1}}
		})
		if _, err := damaged.drawer(t.TempDir()).Draw(p); err == nil || !strings.Contains(err.Error(), "series") {
			t.Errorf("%s: error %v, want one about the series", id, err)
		}
	}
}

func TestMissingCellsAreCounted(t *testing.T) {
	p := plan(t, "quick", "methods")
	m := invent(p, func(c bench.Cell) bool { return c.Dataset != "yacht" && c.Integrator != "mt3" })
	out, err := m.drawer(t.TempDir()).Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	if out.Cells >= out.Of || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "Incomplete") {
		t.Errorf("%d of %d cells, notes %q: want a note that the figure is incomplete", out.Cells, out.Of, out.Notes)
	}
}

func TestStandInsAreLabelled(t *testing.T) {
	for id, want := range map[string]string{
		"methods":        "Data not available: boston, concrete, energy, yacht, ionosphere, vehicle.",
		"regression":     "Data not available: boston, concrete, energy, yacht.",
		"classification": "Data not available: ionosphere, vehicle.",
	} {
		p := plan(t, "quick", id, uci...)
		dir := t.TempDir()
		out, err := invent(p, nil).drawer(dir).Draw(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Notes) != 1 || !strings.Contains(out.Notes[0], want) || !strings.Contains(out.Notes[0], "teacher-") {
			t.Errorf("%s: notes %q, want %q and the names of the stand-ins", id, out.Notes, want)
		}
		label := out.Text
		if label == "" {
			label = string(read(t, filepath.Join(dir, id+".svg")))
		}
		if !strings.Contains(label, "Data not available") {
			t.Errorf("%s does not carry the label", id)
		}
	}
}

// Nothing panics on what is worst for an axis: all chains diverged, and
// distances of zero on a logarithmic axis.
func TestDegenerateResults(t *testing.T) {
	for _, id := range []string{"bottleneck", "methods"} {
		p, _ := small(t, id)
		for name, ks := range map[string]float64{"all diverged": math.NaN(), "all zero": 0, "all one": 1} {
			m := stored(p.Cells, func(bench.Cell) (float64, bool) { return ks, true })
			dir := t.TempDir()
			if _, err := m.drawer(dir).Draw(p); err != nil {
				t.Errorf("%s, %s: %v", id, name, err)
				continue
			}
			svg := string(read(t, filepath.Join(dir, id+".svg")))
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s, %s: the SVG has coordinates that are no numbers", id, name)
			}
			if got := strings.Contains(svg, ">diverged<"); got != (name == "all diverged") {
				t.Errorf("%s, %s: strip for diverged cells is %v", id, name, got)
			}
			if name == "all zero" && !strings.Contains(figureOf(t, p, m).Caption, "no place on a logarithmic axis") {
				t.Errorf("%s, %s: the caption does not mention hidden points", id, name)
			}
		}
	}
}

func TestSweepCSV(t *testing.T) {
	p, m := small(t, "methods")
	dir := t.TempDir()
	if _, err := m.drawer(dir).Draw(p); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(read(t, filepath.Join(dir, "methods.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	header := "dataset,batch,K,scheme,integrator,nl,friction,h,cells,cells_expected,cells_diverged,ks_mean,ks_sd,self_mean,self_p05,self_p95,ks_median,ks_min,ks_max,share_diverged,floor"
	if strings.Join(rows[0], ",") != header || len(rows) != 1+2*3*4 {
		t.Fatalf("header %v and %d rows, want a row per panel, method and step", rows[0], len(rows)-1)
	}
	find := func(prefix string) string {
		for _, r := range rows {
			if line := strings.Join(r, ","); strings.HasPrefix(line, prefix) {
				return strings.TrimPrefix(line, prefix)
			}
		}
		return "(no row)"
	}
	// 0.085 + 30·0.02²·(1, 1.2, 1.4) + 0.1: mean and median 0.1994, sd 0.0024.
	if got, want := find("boston,8,57,reshuffle,leapfrog,1,5,0.02,"), "3,3,0,0.1994,0.0024,0.085,0.05,0.13,0.1994,0.197,0.2018,0,0.1259"; got != want {
		t.Errorf("leapfrog at 0.02: %s, want %s", got, want)
	}
	if got, want := find("boston,0,1,reshuffle,mt3,1,5,0.01,"), "0,3,0,,,0.085,0.05,0.13,,,,,0.1259"; got != want {
		t.Errorf("missing cells: %s, want %s", got, want)
	}
	if got, want := find("boston,0,1,reshuffle,sghmc,1,5,0.05,"), "3,3,3,,,0.085,0.05,0.13,,,,1,0.1259"; got != want {
		t.Errorf("diverged cells: %s, want %s: three of three, without a mean or a median", got, want)
	}
	// 0.085 + 30·0.05²·(1, 1.2) + 0.1, and one that diverged
	if got, want := find("boston,8,57,reshuffle,leapfrog,1,5,0.05,"), "3,3,1,0.2675,0.010606602,0.085,0.05,0.13,0.2675,0.26,0.275,0.33333333,0.1259"; got != want {
		t.Errorf("one of three diverged: %s, want %s", got, want)
	}
}

func TestRegressionTableFiles(t *testing.T) {
	p := plan(t, "paper", "regression")
	same := invent(p, nil).changed(func(r *bench.Result) { // a score that is easy to compare
		r.Scores = map[string]float64{"rmse": 2.821 + 0.615 + 0.1*float64(r.Cell.Split-2), "mnll": 2.6}
	})
	dir := t.TempDir()
	out, err := same.drawer(dir).Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range out.Tables[0].Rows { // which the page sorts
		if row[0] == "" || row[1] == "" || row[2] == "" {
			t.Errorf("a row without its data set, sizes or variance: %q", row)
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(read(t, filepath.Join(dir, "regression.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+4*2 {
		t.Fatalf("%d rows, want two for each of four sets", len(rows)-1)
	}
	// Splits 0 … 4 lie 0.1 apart: sd √0.025; the mean is one of the paper's
	// deviations above the paper's, which is 0.005 larger than printed.
	if got, want := strings.Join(rows[1], ","), "boston,455,51,0.2,,SHMC,leapfrog,0.005,5,0,3.436,0.15811388,2.821,0.61,1,2.6,0,2.6,0.09,0"; got != want {
		t.Errorf("boston, SHMC:\n%s, want\n%s", got, want)
	}
	if got := rows[7][7]; rows[7][0] != "yacht" || got != "0.002 0.005" {
		t.Errorf("%s at step %s, want yacht at 0.002 in some splits, and 0.005 in the others", rows[7][0], got)
	}
	var table []struct {
		Dataset, Method string
		Paper           float64 `json:"rmse_paper"`
		Difference      float64 `json:"rmse_difference_in_sd"`
	}
	if err := json.Unmarshal(read(t, filepath.Join(dir, "regression.json")), &table); err != nil {
		t.Fatal(err)
	}
	if len(table) != 8 || table[0].Paper != 2.821 || math.Abs(table[0].Difference-1) > 1e-9 {
		t.Errorf("JSON differs from the CSV: %+v", table)
	}
}

// Scores in small units are no zeros; differences keep their digits.
func TestSmallNumbersHaveDigits(t *testing.T) {
	for _, c := range []struct {
		mean, sd float64
		digits   int
		want     string
	}{
		{0.00031, math.NaN(), 3, "0.00031"}, {0.00031, 0.000042, 3, "0.00031 ± 4.2e-05"}, {-4e-4, math.NaN(), 3, "-0.0004"}, {0.25, 0.004, 3, "0.250 ± 0.004"},
		{0, 0, 3, "0.000 ± 0.00"}, {0.3, 1e-17, 3, "0.300 ± 0.00"}, {0.001, 0.01, 3, "0.001 ± 0.01"}, {1234, math.NaN(), 0, "1234"}, {0, math.NaN(), 0, "0"},
	} {
		if got := show(c.mean, c.sd, c.digits); got != c.want {
			t.Errorf("%g ± %g with %d digits is %q, want %q", c.mean, c.sd, c.digits, got, c.want)
		}
	}
	if got := signed(-0.001, 2); got != "-0.00" {
		t.Errorf("a difference of -0.001 is %q", got)
	}
}

// How the paper's steps were chosen is no statement about a user's.
func TestScoresOfAUsersStudyDoNotStateTheStepsOfThePaper(t *testing.T) {
	p := plan(t, "quick", "classification")
	for origin, want := range map[string]bool{"": true, "a user's file": false} {
		p.Origin = origin
		if notes := strings.Join(made(t, p, invent(p, nil)).Tables[0].Notes, " "); strings.Contains(notes, "Full batch. η: of 0.005, 0.002 and 0.001") != want {
			t.Errorf("origin %q: notes %q", origin, notes)
		}
	}
}

func TestOneSplitHasNoDeviation(t *testing.T) {
	p := plan(t, "quick", "classification")
	dir := t.TempDir()
	out, err := invent(p, nil).drawer(dir).Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(out.Text, "\n") {
		if n := strings.Count(line, " ± "); strings.Contains(line, "| ionosphere") && n != 2 {
			t.Errorf("%d ± in %q: want the paper's two alone", n, line)
		}
	}
	if s := string(read(t, filepath.Join(dir, "classification.json"))); !strings.Contains(s, `"mnll_sd": null`) {
		t.Error("the JSON has a deviation of one split")
	}
}

// All chains of a data set diverged at all steps: the row says so.
func TestTableOfDivergedChains(t *testing.T) {
	p := plan(t, "quick", "regression")
	diverged := invent(p, nil).changed(func(r *bench.Result) {
		r.Diverged = r.Cell.Dataset == "energy" && r.Cell.Observe == bench.Distance
	})
	out, err := diverged.drawer(t.TempDir()).Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(out.Text, "\n") {
		if strings.Contains(line, "| energy") && strings.Contains(line, "| SHMC") && !strings.Contains(line, "1 (1 diverged)") {
			t.Errorf("row %q does not state that the chain diverged", line)
		}
	}
}

func TestPNGHasItsResolution(t *testing.T) {
	p, m := small(t, "methods")
	l := figureOf(t, p, m).layout()
	b, err := l.png(resolution)
	if err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if want := l.total.X.Points() / 72 * resolution; math.Abs(float64(config.Width)-want) > 1 {
		t.Errorf("%d pixels wide, want %v", config.Width, want)
	}
}

// The PDF writer holds back its errors until the end, and turns into an empty
// file: text in a font that it lacks, or in letters beyond its code page.
func TestPDFIsWhole(t *testing.T) {
	for _, name := range []string{"methods", "bottleneck"} {
		p, m := small(t, name)
		b, err := figureOf(t, p, m).layout().pdf()
		if err != nil || !bytes.HasPrefix(b, []byte("%PDF-")) || !bytes.Contains(b[max(0, len(b)-32):], []byte("%%EOF")) {
			t.Errorf("%s: PDF of %d bytes, error %v", name, len(b), err)
		}
	}
}
