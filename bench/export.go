package bench

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hambench/estimators"
)

// Row is a result as WriteJSON and WriteCSV write it: one row per study and
// cell, so a cell that two studies share has a row in each.
type Row struct {
	Study      string   `json:"experiment"`
	Dataset    string   `json:"dataset"`
	Split      int      `json:"split"`
	Integrator string   `json:"integrator"`
	Inner      int      `json:"nl"`
	Friction   *float64 `json:"friction"` // null for full refreshment (inf in CSV)
	Scheme     string   `json:"scheme"`
	Batches    int      `json:"K"`
	BatchSize  int      `json:"batch"` // 0 for the full batch
	Step       float64  `json:"h"`
	KS         float64  `json:"ks"`
	KSSelf     float64  `json:"ks_self"`
	Diverged   bool     `json:"diverged"`
	Steps      int64    `json:"steps"`
	Gradients  int64    `json:"gradients"`
	Seconds    float64  `json:"seconds"`
	Key        string   `json:"key"`
	Seed       uint64   `json:"seed"`
	Precision  string   `json:"precision"`
	Arch       string   `json:"arch"`
	ISA        string   `json:"isa"`
	Model      string   `json:"model"`
	Parameters string   `json:"parameters"` // the integrator's own that differ from its defaults: name=value name=value
	Estimator  string   `json:"estimator"`
	Samples    int      `json:"samples"`
	Thin       int      `json:"thin"`    // outer steps per sample
	BurnIn     int      `json:"burn_in"` // outer steps
	Observe    string   `json:"observe"` // coupled, density and path have no distance: ks is 0
	// Scores are those of Result; a CSV column is empty where a score is missing.
	Scores map[string]float64 `json:"scores,omitempty"`
}

// columns are the names of a Row's fields but for Scores, which come after them.
var columns = func() (names []string) {
	row := reflect.TypeFor[Row]()
	for i := range row.NumField() - 1 {
		names = append(names, row.Field(i).Tag.Get("json"))
	}
	return names
}()

// scores are the columns after these.
var scores = []string{"rmse", "mnll", "accuracy", "ece", "coverage", "lag1", "ess", "coupled"}

// Rows returns the rows of the plans' results that get finds, in the order of
// the cells, and the number of cells that are missing.
func Rows(plans []Plan, get Getter) (rows []Row, missing int) {
	for _, p := range plans {
		results, lacking := p.Results(get)
		missing += len(lacking)
		for _, r := range results {
			rows = append(rows, rowOf(p.ID, r))
		}
	}
	return rows, missing
}

func rowOf(study string, r Result) Row {
	c := r.Cell
	row := Row{
		Study: study, Dataset: c.Dataset, Split: c.Split, Integrator: c.Integrator, Inner: c.Inner,
		Scheme: c.Scheme, Batches: c.Batches, BatchSize: c.BatchSize, Step: c.Step, Seed: c.Seed,
		KS: r.KS, KSSelf: r.KSSelf, Diverged: r.Diverged, Steps: r.Steps, Gradients: r.Gradients, Seconds: r.Seconds, Key: r.Key,
		Precision: c.Precision, Arch: r.Made.Arch, ISA: r.Made.ISA,
		Model: c.Model, Estimator: cmp.Or(c.Estimator, estimators.Plain.Name), Samples: c.Samples, Scores: r.Scores,
		Thin: c.Thin, BurnIn: c.BurnIn, Observe: string(c.Observe),
	}
	for _, name := range slices.Sorted(maps.Keys(c.Values)) {
		row.Parameters = strings.TrimSpace(row.Parameters + " " + name + "=" + decimal(c.Values[name]))
	}
	if f := float64(c.Friction); !math.IsInf(f, 1) && f != 0 {
		row.Friction = &f
	}
	return row
}

// WriteJSON writes the rows as an array.
func WriteJSON(w io.Writer, rows []Row) error {
	if rows == nil {
		rows = []Row{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}

// WriteCSV writes the rows with a header line.
func WriteCSV(w io.Writer, rows []Row) error {
	records := [][]string{slices.Concat(columns, scores)}
	for _, r := range rows {
		records = append(records, r.fields())
	}
	return csv.NewWriter(w).WriteAll(records)
}

// fields are the row's columns as text.
func (r Row) fields() (out []string) {
	row := reflect.ValueOf(r)
	for i, name := range columns {
		text := fmt.Sprint(row.Field(i))
		switch x := row.Field(i).Interface().(type) {
		case float64:
			if text = decimal(x); name == "seconds" {
				text = strconv.FormatFloat(x, 'f', 3, 64)
			}
		case *float64: // the friction
			if text = "inf"; x != nil {
				text = decimal(*x)
			}
		}
		out = append(out, text)
	}
	for _, name := range scores {
		text := ""
		if v, ok := r.Scores[name]; ok {
			text = decimal(v)
		}
		out = append(out, text)
	}
	return out
}

// decimal writes a number exactly and without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
