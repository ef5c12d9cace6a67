package bench

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"

	"hambench/bench/table"
)

// Row is a result as WriteJSON and WriteCSV write it, with the study that needed it: a
// cell that two studies share has a row in each.
// Its columns are those of the settings, of the result, and of the machine.
type Row struct {
	Study string
	Result
}

// exportOrder are the columns of exports that programs of others read, in their order.
// The columns of other settings come after them, then the scores.
var exportOrder = []string{
	"experiment", "dataset", "split", "integrator", "nl", "friction", "scheme", "K", "batch", "h",
	"ks", "ks_self", "diverged", "steps", "gradients", "seconds", "key", "seed", "precision",
	"arch", "isa", "model", parametersColumn, "estimator", "samples", "thin", "burn_in", "observe",
}

// scores are the columns of scores, in the order of exports.
var scores = []string{"rmse", "mnll", "accuracy", "ece", "coverage", "lag1", "ess", "coupled",
	"llc", "llc_se", "llc_known"}

// exportColumns are the columns of exports but for the scores.
// A setting that is new has its column behind those that others read by position.
func exportColumns() []string {
	columns := slices.Clone(exportOrder)
	for _, s := range declared {
		if s.Column != "" && !slices.Contains(columns, s.Column) {
			columns = append(columns, s.Column)
		}
	}
	return columns
}

// fields are the row's values by column. Full refreshment is an infinite friction, the
// full batch a batch of 0; where there is no distance, ks is 0.
// Keys are the names of columns; a number that JSON cannot say is left to the writers.
func (r Row) fields() map[string]any {
	fields := map[string]any{
		"experiment": r.Study, "key": r.Key, parametersColumn: parameters(r.Cell.Values),
		"ks": r.KS, "ks_self": r.KSSelf, "diverged": r.Diverged,
		"steps": r.Steps, "gradients": r.Gradients, "seconds": r.Seconds,
		"arch": r.Made.Arch, "isa": r.Made.ISA,
	}
	for _, s := range declared {
		if s.Column != "" {
			fields[s.Column] = s.Of(r.Cell)
		}
	}
	if r.Cell.BatchSize == Full {
		fields["batch"] = Full
	}
	if r.Cell.Friction == 0 {
		fields["friction"] = math.Inf(1) // no chain ran
	}
	return fields
}

// Rows returns the rows of the plans' results that get finds, in the order of
// the cells, and the number of cells that are missing.
// Cells that two studies share have a row in each.
func Rows(plans []Plan, get Getter) (rows []Row, missing int) {
	for _, p := range plans {
		results, lacking := p.Results(get)
		missing += len(lacking)
		for _, r := range results {
			rows = append(rows, Row{p.ID, r})
		}
	}
	return rows, missing
}

// WriteJSON writes the rows as an array of objects. What JSON cannot say is null.
// Programs of others read it: columns are added, never renamed.
func WriteJSON(w io.Writer, rows []Row) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := r.writeObject(&b); err != nil {
			return err
		}
	}
	b.WriteString("]\n")
	var indented bytes.Buffer
	if err := json.Indent(&indented, b.Bytes(), "", "  "); err != nil {
		return err
	}
	_, err := w.Write(indented.Bytes())
	return err
}

// writeObject writes the row as an object, with its columns in their order and the
// scores in an object of their own.
func (r Row) writeObject(b *bytes.Buffer) error {
	fields, columns := r.fields(), exportColumns()
	if len(r.Scores) > 0 {
		fields["scores"], columns = r.Scores, append(columns, "scores")
	}
	for i, name := range columns {
		v := fields[name]
		if x, ok := v.(float64); ok && (math.IsInf(x, 0) || math.IsNaN(x)) {
			v = nil
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(strconv.Quote(name) + ":")
		b.Write(text)
	}
	return b.WriteByte('}')
}

// WriteCSV writes the rows with a header line. A missing score is empty.
// Its first columns have kept their places since the first edition.
func WriteCSV(w io.Writer, rows []Row) error {
	columns := exportColumns()
	records := [][]string{slices.Concat(columns, scores)}
	for _, r := range rows {
		fields := r.fields()
		var record []string
		for _, name := range columns {
			record = append(record, csvText(name, fields[name]))
		}
		for _, name := range scores {
			text := ""
			if v, ok := r.Scores[name]; ok {
				text = decimal(v)
			}
			record = append(record, text)
		}
		records = append(records, record)
	}
	return csv.NewWriter(w).WriteAll(records)
}

// csvText returns a value as CSV has it: "inf" for infinity, seconds with milliseconds.
func csvText(column string, v any) string {
	x, isFloat := v.(float64)
	switch {
	case isFloat && math.IsInf(x, 1):
		return "inf"
	case isFloat && column == "seconds":
		return strconv.FormatFloat(x, 'f', 3, 64)
	}
	return table.Of(v).String()
}
