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

// exportOrder are the columns of exports that programs of others read, in their order.
// The columns of other settings come after them, then the scores.
var exportOrder = []string{
	"experiment", "dataset", "split", "integrator", "nl", "friction", "scheme", "K", "batch", "h",
	"ks", "ks_self", "diverged", "steps", "gradients", "seconds", "key", "seed", "precision",
	"arch", "isa", "model", parametersColumn, "estimator", "samples", "thin", "burn_in", "observe",
}

// scores are the columns of scores, in the order of exports.
// Other programs read the columns by position: the order stays, whatever that of observations is.
var scores = []string{"rmse", "mnll", "accuracy", "ece", "coverage", "lag1", "ess", "coupled",
	"llc", "llc_se", "llc_known", "coupled-chance", "rhat_p95", "own_error", "metropolis_distance",
	"metropolis_acceptance", "checks_failed"}

// exportColumns are the columns of exports but for the scores.
// A setting that is new has its column behind those that others read by position.
func exportColumns() []string {
	// New settings come in the order of their declarations.
	columns := slices.Clone(exportOrder)
	for _, s := range declared {
		if s.Column != "" && !slices.Contains(columns, s.Column) {
			columns = append(columns, s.Column)
		}
	}
	return columns
}

// exported is the value of a column of exports in a cell's row, which differs from the table's
// in what programs of others have always read: full refreshment, as no chain at all, is an
// infinite friction, the full batch a batch of 0, and where there is no distance, ks is 0, or 1
// of a chain that diverged, and ks_self what the record has, usually 0.
func exported(r table.Row, column string) table.Value {
	switch {
	case column == "experiment":
		return r.Get("study")
	case column == "ks":
		return table.Of(r.Source.(Result).KS)
	case column == "ks_self":
		return table.Of(r.Source.(Result).KSSelf)
	case column == "friction" && !(r.Number(column) > 0): // no chain ran
		return table.Of(math.Inf(1))
	case column == "batch" && math.IsInf(r.Number(column), 1):
		return table.Of(Full)
	}
	return r.Get(column)
}

// WriteJSON writes rows of cells that have results (Results.Table) as an array of objects. What
// JSON cannot say is null. Programs of others read it: columns are added, never renamed.
func WriteJSON(w io.Writer, rows *table.Table) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range rows.Rows() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeObject(&b, r); err != nil {
			return err
		}
	}
	b.WriteString("]\n")
	// The objects were written by hand, since maps of package json have no order; they are indented
	// as a whole.
	var indented bytes.Buffer
	if err := json.Indent(&indented, b.Bytes(), "", "  "); err != nil {
		return err
	}
	_, err := w.Write(indented.Bytes())
	return err
}

// writeObject writes a row as an object, with its columns in their order and the
// scores, whatever their names, in an object of their own.
func writeObject(b *bytes.Buffer, r table.Row) error {
	write := func(name string, value any) error {
		text, err := json.Marshal(value)
		b.WriteString(strconv.Quote(name) + ":")
		b.Write(text)
		return err
	}
	b.WriteByte('{')
	for i, name := range exportColumns() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(name, exported(r, name)); err != nil {
			return err
		}
	}
	if all := r.Source.(Result).Scores; len(all) > 0 {
		b.WriteByte(',')
		if err := write("scores", all); err != nil {
			return err
		}
	}
	return b.WriteByte('}')
}

// WriteCSV writes the rows that WriteJSON writes with a header line. A missing score is empty.
// Its first columns have kept their places since the first edition.
func WriteCSV(w io.Writer, rows *table.Table) error {
	columns := exportColumns()
	records := [][]string{slices.Concat(columns, scores)}
	for _, r := range rows.Rows() {
		var record []string
		for _, name := range columns {
			record = append(record, csvText(name, exported(r, name)))
		}
		for _, name := range scores {
			text := ""
			if v, ok := r.Source.(Result).Scores[name]; ok {
				text = decimal(v)
			}
			record = append(record, text)
		}
		records = append(records, record)
	}
	return csv.NewWriter(w).WriteAll(records)
}

// csvText returns a value as CSV has it: nothing for none, "inf" for infinity, seconds with
// milliseconds.
func csvText(column string, v table.Value) string {
	switch {
	case v.IsNone():
		return ""
	case math.IsInf(v.Number(), 1):
		return "inf"
	case column == "seconds":
		return strconv.FormatFloat(v.Number(), 'f', 3, 64)
	}
	return v.String()
}
