package bench

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hambench/bench/table"
)

// withSetting adds a declaration for the time of a test.
func withSetting(t *testing.T, s Setting) {
	t.Helper()
	old := declared
	declared = append(slices.Clone(declared), s)
	t.Cleanup(func() { declared = old })
}

// A setting that is declared in one place is there wherever settings are.
func TestASettingIsDeclaredInOnePlace(t *testing.T) {
	before := cellsOf(t, small, Profile{})
	withSetting(t, Setting{
		Name: "temperature", Flag: "temperature", Column: "temperature", Label: "T", Symbol: "T = ", About: "`T` of the target", Kind: table.Number, Axis: OnLines,
		Low: 0, High: 10, Default: 1.0,
	})
	text := strings.Replace(small, "[vary]", "[vary]\ntemperature = [1, 2.5]", 1) + "[figure]\nx = \"temperature\"\n[table]\nrows = [\"temperature\"]\n"
	f, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	study, err := f.Study(Profile{})
	if err != nil || len(study.Cells) != 4 {
		t.Fatalf("%d cells, %v: want 4", len(study.Cells), err)
	}
	if _, err := load(t, strings.Replace(text, "2.5", "25", 1)); err == nil || !strings.Contains(err.Error(), "vary.temperature: is 25: want a number from 0 to 10") {
		t.Errorf("error %v", err)
	}
	var flagged Cell
	last := declared[len(declared)-1]
	if err := last.Set(&flagged, "2.5"); err != nil || flagged.Chain().More["temperature"] != 2.5 {
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
		if i%2 == 0 && (j.Cell.Stream() != before[i/2].Cell.Stream() || strings.Contains(string(text), "temperature")) {
			t.Errorf("the default moves the key of %s", text)
		}
		if i%2 == 1 && (j.Cell.Stream() == cells[i-1].Cell.Stream() || !strings.HasSuffix(string(text), `,"temperature":2.5}`)) {
			t.Errorf("%s has no temperature, or the same key", text)
		}
	}
	rows := results.Table(plans)
	found, err := LookupSettings([]string{"temperature"}, rows)
	if err != nil || found[0].Text(rows.Rows()[1]) != "T = 2.5" || found[0].Axis != OnLines {
		t.Errorf("in a legend: %+v, %v", found, err)
	}
	if got := rows.Values("temperature"); !slices.Equal(got, []table.Value{table.Of(1), table.Of(2.5)}) {
		t.Errorf("in rows: %v", got)
	}
	if n := len(rows.GroupBy(ColumnsOf(found...)...)); n != 2 {
		t.Errorf("%d groups", n)
	}
	results.put(t, "result", cells[1].Key, Result{Cell: cells[1].Cell, KS: 0.5})
	export, _ := Rows(plans, results.Result)
	var csv, asJSON, list bytes.Buffer
	if err := WriteCSV(&csv, export); err != nil || !strings.Contains(csv.String(), ",observe,start,temperature,rmse") || !strings.Contains(csv.String(), ",distance,truth,2.5,") {
		t.Errorf("in CSV: %v\n%s", err, csv.String())
	}
	if err := WriteJSON(&asJSON, export); err != nil || !strings.Contains(asJSON.String(), `"temperature": 2.5`) {
		t.Errorf("in JSON: %v\n%s", err, asJSON.String())
	}
	if err := json.NewEncoder(&list).Encode(Settings()); err != nil || !strings.Contains(list.String(), `"flag":"temperature"`) {
		t.Errorf("in the list: %v\n%s", err, list.String())
	}
}

func TestSettingsAsPeopleReadThem(t *testing.T) {
	study, err := NewStudy(source(), "own", "", []Cell{
		{Dataset: "linear", Integrator: "mt3", Values: map[string]float64{"w2-variance": 1}, Step: 0.1, BatchSize: 32, Samples: 12000},
		{Dataset: "linear", Integrator: "leapfrog", Step: 0.1, Inner: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	results, plans := stored(t, study)
	rows := results.Table(plans)
	for i, want := range []string{
		"B = 32 (K = 4), mt3, w2-variance = 1, N_l = 1, C = 5, reshuffle, samples = 12 000, w2-variance = 1",
		"full batch, leapfrog, N_l = 2, C = 5, samples = 200, w2-variance = –",
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
