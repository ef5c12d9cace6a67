package bench

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
)

// Row is a result as Export writes it: one row per experiment and cell, so
// a cell that two experiments share has a row in each.
type Row struct {
	Experiment string   `json:"experiment"`
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
}

var columns = []string{
	"experiment", "dataset", "split", "integrator", "nl", "friction", "scheme", "K", "batch", "h",
	"ks", "ks_self", "diverged", "steps", "gradients", "seconds", "key", "seed",
}

// Rows returns the rows of the results that get has of the experiments, in
// the order of their cells.
func Rows(exps []Experiment, get func(key string) (Result, bool)) []Row {
	var rows []Row
	for _, e := range exps {
		results, _ := e.Results(get)
		for _, r := range results {
			rows = append(rows, rowOf(e.ID, r))
		}
	}
	return rows
}

func rowOf(experiment string, r Result) Row {
	c := r.Cell
	row := Row{
		Experiment: experiment, Dataset: c.Dataset, Split: c.Split, Integrator: c.Integrator, Inner: c.Inner,
		Scheme: c.Scheme, Batches: c.Batches, BatchSize: c.BatchSize(), Step: c.Step, Seed: c.Seed,
		KS: r.KS, KSSelf: r.KSSelf, Diverged: r.Diverged, Steps: r.Steps, Gradients: r.Gradients, Seconds: r.Seconds, Key: r.Key,
	}
	if c.Friction != 0 {
		row.Friction = &c.Friction
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
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	for _, r := range rows {
		if err := out.Write(r.fields()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// fields are the row's columns as text.
func (r Row) fields() []string {
	friction := "inf"
	if r.Friction != nil {
		friction = decimal(*r.Friction)
	}
	return []string{
		r.Experiment, r.Dataset, strconv.Itoa(r.Split), r.Integrator, strconv.Itoa(r.Inner), friction, r.Scheme,
		strconv.Itoa(r.Batches), strconv.Itoa(r.BatchSize), decimal(r.Step),
		decimal(r.KS), decimal(r.KSSelf), strconv.FormatBool(r.Diverged), strconv.FormatInt(r.Steps, 10),
		strconv.FormatInt(r.Gradients, 10), strconv.FormatFloat(r.Seconds, 'f', 3, 64), r.Key,
		strconv.FormatUint(r.Seed, 10),
	}
}

// decimal writes a number exactly and without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
