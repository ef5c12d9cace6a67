package bench

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hambench/bench/table"
	"hambench/internal/distinct"
	"hambench/models/datasets"
)

// withSetting adds a declaration for the time of a test.
func withSetting(t *testing.T, s Setting) {
	t.Helper()
	old := declared
	declared = append(slices.Clone(declared), s)
	t.Cleanup(func() { declared = old })
}

// Files for other programs state every digit of a seed, which may be larger than what float64 holds.
func TestASeedKeepsItsDigits(t *testing.T) {
	const large = uint64(1)<<53 + 1
	i := slices.IndexFunc(declared, func(s Setting) bool { return s.Name == "seed" })
	if got := declared[i].FieldOf(Cell{Seed: large}); table.Of(got) != table.Of(large) {
		t.Errorf("%v: want %d", got, large)
	}
}

// A setting that is declared in one place is there wherever settings are.
func TestASettingIsDeclaredInOnePlace(t *testing.T) {
	before := cellsOf(t, small, Profile{})
	withSetting(t, Setting{
		Name: "heat", Flag: "heat", Column: "heat", Label: "T", Symbol: "T = ", About: "`T` of a test", Kind: table.Number, Axis: OnLines,
		Low: 0, High: 10, Default: 1.0,
	})
	text := strings.Replace(small, "[vary]", "[vary]\nheat = [1, 2.5]", 1) + "[figure]\nx = \"heat\"\n[table]\nrows = [\"heat\"]\n"
	f, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	study, err := f.Study(Profile{})
	if err != nil || len(study.Cells) != 4 {
		t.Fatalf("%d cells, %v: want 4", len(study.Cells), err)
	}
	if _, err := load(t, strings.Replace(text, "2.5", "25", 1)); err == nil || !strings.Contains(err.Error(), "vary.heat: is 25: want a number from 0 to 10") {
		t.Errorf("error %v", err)
	}
	var flagged Cell
	last := declared[len(declared)-1]
	if err := last.Set(&flagged, "2.5"); err != nil || flagged.Chain().More["heat"] != 2.5 {
		t.Errorf("by a flag, in the chain: %v, %v", flagged.Chain().More, err)
	}
	if err := last.Set(&flagged, "25"); err == nil || !strings.Contains(err.Error(), "is 25: want a number from 0 to 10") {
		t.Errorf("by a flag, out of range: %v", err)
	}
	results, plans := stored(t, study)
	cells := plans[0].Cells
	for i, j := range cells {
		text, err := json.Marshal(j.Cell)
		var again Cell
		if err != nil || json.Unmarshal(text, &again) != nil || !reflect.DeepEqual(again, j.Cell) {
			t.Errorf("%s became %+v, %v", text, again, err)
		}
		if i%2 == 0 && (j.Cell.Stream() != before[i/2].Cell.Stream() || strings.Contains(string(text), "heat")) {
			t.Errorf("the default moves the key of %s", text)
		}
		if i%2 == 1 && (j.Cell.Stream() == cells[i-1].Cell.Stream() || !strings.HasSuffix(string(text), `,"heat":2.5}`)) {
			t.Errorf("%s has no heat, or the same key", text)
		}
	}
	rows := results.Table(plans)
	found, err := LookupSettings([]string{"heat"}, rows)
	if err != nil || found[0].Text(rows.Rows()[1]) != "T = 2.5" || found[0].Axis != OnLines {
		t.Errorf("in a legend: %+v, %v", found, err)
	}
	if got := rows.Values("heat"); !slices.Equal(got, []table.Value{table.Of(1), table.Of(2.5)}) {
		t.Errorf("in rows: %v", got)
	}
	if n := len(rows.GroupBy(ColumnsOf(found...)...)); n != 2 {
		t.Errorf("%d groups", n)
	}
	results.put(t, "result", cells[1].Key, Result{Cell: cells[1].Cell, KS: 0.5})
	export := results.Table(plans).Where("missing", false)
	var csv, asJSON, list bytes.Buffer
	if err := WriteCSV(&csv, export); err != nil || !strings.Contains(csv.String(), ",observe,start,temperature,localisation,heat,rmse") || !strings.Contains(csv.String(), ",distance,truth,1,0,2.5,") {
		t.Errorf("in CSV: %v\n%s", err, csv.String())
	}
	if err := WriteJSON(&asJSON, export); err != nil || !strings.Contains(asJSON.String(), `"heat": 2.5`) {
		t.Errorf("in JSON: %v\n%s", err, asJSON.String())
	}
	if err := json.NewEncoder(&list).Encode(Settings()); err != nil || !strings.Contains(list.String(), `"flag":"heat"`) {
		t.Errorf("in the list: %v\n%s", err, list.String())
	}
}

// Temperature, localisation and a start in a file are settings of a study like others: their
// files are found beside the study, their contents are in the keys, and at its default none is.
func TestTemperedCells(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("theta.csv", strings.Repeat("0.1\n", 256))
	text := strings.Replace(small, "step = [0.01, 0.02]", "temperature = [1, 3]\nlocalisation = [0, 2]\nstart = [\"truth\", \"theta.csv\"]", 1) + "[[grid]]\nstep = 0.01\n"
	study := func(text string) (Study, error) {
		t.Helper()
		write("mine.toml", text)
		f, err := Load(filepath.Join(dir, "mine.toml"), Parts{})
		if err != nil {
			return Study{}, err
		}
		return f.Study(Profile{})
	}
	if _, err := study(text); err == nil || !strings.Contains(err.Error(), "cell with localisation 2 and start \"truth\": want \"optimum\" or the file of its centre") {
		t.Errorf("a centre at random: %v", err)
	}
	tied := strings.Replace(text, "\"truth\", ", "", 1)
	for change, want := range map[string]string{
		"temperature = [-1, 3]": "vary.temperature: is -1: want a number from 1e-30 to 1e+100",
		"temperature = [1e-31]": "vary.temperature: is 1e-31: want a number from 1e-30 to 1e+100",
		"temperature = [inf]":   "vary.temperature: is +Inf: want a number from 1e-30 to 1e+100",
	} {
		if _, err := study(strings.Replace(tied, "temperature = [1, 3]", change, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
	if _, err := study(strings.Replace(tied, "localisation = [0, 2]", "localisation = [-1]", 1)); err == nil || !strings.Contains(err.Error(), "vary.localisation: is -1: want a number from 0 to 1e+100") {
		t.Error(err)
	}
	unknown := "reference chains sample the target without them, and the posterior of model \"bnn\" is not known"
	if _, err := study(strings.Replace(tied, "data = \"linear\"", "data = \"teacher-reg\"", 1)); err == nil || !strings.Contains(err.Error(), unknown) {
		t.Errorf("reference chains of another target: %v", err)
	}
	s, err := study(tied)
	if err != nil || len(s.Cells) != 4 {
		t.Fatalf("%d cells, %v", len(s.Cells), err)
	}
	keys := func() (keys []string) {
		t.Helper()
		k := &Keys{Source: source()}
		for _, j := range s.Cells {
			key, err := k.Cell(t.Context(), j.Cell, nil)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		return keys
	}
	before := keys()
	for i, j := range s.Cells {
		c := j.Cell
		if slices.Index(before, before[i]) != i || c.Start() != filepath.Join(dir, "theta.csv") || c.Oracle != Analytic {
			t.Errorf("%+v: key %s", c, before[i])
		}
	}
	write("theta.csv", strings.Repeat("0.2\n", 256))
	for i, key := range keys() {
		if key == before[i] {
			t.Errorf("cell %d has the key of another position", i)
		}
	}
	// Its name depends on the folder that it is seen from, and is no part of keys and streams.
	after := keys()
	streams := distinct.Of(s.Cells, func(j Job) string { return j.Cell.Stream() })
	for folder, name := range map[string]string{dir: "mine.toml", filepath.Dir(dir): filepath.Join(filepath.Base(dir), "mine.toml"), "/": "." + filepath.Join(dir, "mine.toml")} {
		t.Chdir(folder)
		f, err := Load(name, Parts{})
		if err != nil {
			t.Fatal(err)
		}
		if s, err = f.Study(Profile{}); err != nil || !slices.Equal(keys(), after) {
			t.Errorf("%s in %s: other keys, %v", name, folder, err)
		}
		if now := distinct.Of(s.Cells, func(j Job) string { return j.Cell.Stream() }); !slices.Equal(now, streams) {
			t.Errorf("%s in %s: other random streams", name, folder)
		}
	}
	anywhere, err := s.Cells[0].Cell.Anywhere()
	if err != nil || strings.Contains(anywhere.Start(), "theta.csv") {
		t.Errorf("a record has the start %q, %v", anywhere.Start(), err)
	}
	var read Cell
	if text, err := json.Marshal(anywhere); err != nil || json.Unmarshal(text, &read) != nil || read.Start() != anywhere.Start() {
		t.Errorf("the cell of a record is read as %+v, %v", read, err)
	}
	stored, err := json.Marshal(s.Cells[0])
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "theta.csv"))
	var again Job
	if err := json.Unmarshal(stored, &again); err != nil || !reflect.DeepEqual(again, s.Cells[0]) {
		t.Errorf("read back when its file has gone: %+v, %v", again, err)
	}
	if _, err := study(tied); err == nil || !strings.Contains(err.Error(), "theta.csv: no such file") {
		t.Errorf("a study of a missing file: %v", err)
	}
	if _, err := (&Keys{Source: source()}).Cell(t.Context(), s.Cells[0].Cell, nil); err == nil || !strings.Contains(err.Error(), "theta.csv: no such file") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSettingsAsPeopleReadThem(t *testing.T) {
	study := studyOf(t, `
fix = {data = "linear", step = 0.1}
grid = [
	{integrator = {name = "mt3", w2-variance = 1}, batch = 32, samples = 12000},
	{integrator = "lietrotter", nl = 2},
]`)
	results, plans := stored(t, study)
	rows := results.Table(plans)
	for i, want := range []string{
		"B = 32 (K = 4), mt3, w2-variance = 1, N_l = 1, C = 5, reshuffle, samples = 12 000, w2-variance = 1",
		"full batch, lietrotter, N_l = 2, C = 5, samples = 200, w2-variance = –",
	} {
		found, err := LookupSettings([]string{"batch", "integrator", "nl", "friction", "scheme", "samples", "w2-variance"}, rows)
		if err != nil || TextOf(found, rows.Rows()[i]) != want {
			t.Errorf("%v, %s: want %s", err, TextOf(found, rows.Rows()[i]), want)
		}
	}
	if _, err := LookupSettings([]string{"h"}, rows); err == nil {
		t.Error("a column of every row is taken for a parameter of the integrator")
	}
	if _, err := LookupSettings([]string{"observe"}, rows); err == nil {
		t.Error("observe is an axis")
	}
}

// Of a model with data of its own K is known, and no number of rows.
func TestBatchesOfModelsWithOwnDataAreNamedByK(t *testing.T) {
	batch, err := LookupSettings([]string{"batch"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{"boston": "B = 8 (K = 57)", datasets.None: "K = 57"} {
		rows := table.New(table.Column{Name: "dataset", Kind: table.Text}, table.Column{Name: "batch", Kind: table.Number},
			table.Column{Name: "K", Kind: table.Number})
		rows.Add(nil, map[string]any{"dataset": set, "batch": 8, "K": 57})
		if got := batch[0].Text(rows.Rows()[0]); got != want {
			t.Errorf("%s: %q, want %q", set, got, want)
		}
	}
}

// Models with data of their own have no test rows, and so no scores of them.
func TestScoresWantADataSet(t *testing.T) {
	of := func(sets ...string) (jobs []Job) {
		for _, set := range sets {
			jobs = append(jobs, Job{Cell: Cell{Dataset: set}})
		}
		return jobs
	}
	data := datasets.Builtin()
	for _, c := range []struct {
		jobs []Job
		want bool
	}{{of("boston"), true}, {of(datasets.None, "boston"), true}, {of(datasets.None), false}, {of("ionosphere"), false}} {
		if err := checkScores(c.jobs, data, "step", "rmse"); (err == nil) != c.want {
			t.Errorf("%v: %v", c.jobs, err)
		}
	}
}

// What no truth judges has no distance: a claim of distances reads none of it.
func TestWhatIsNotJudgedHasNoDistance(t *testing.T) {
	distance, err := LookupObservation("distance")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range observables {
		got := distance.Of(Result{Cell: Cell{Observe: o}, KS: 0.25})
		if want := o.Judged(); (got == 0.25) != want || math.IsNaN(got) == want {
			t.Errorf("%s: %v", o, got)
		}
	}
}
