// Package figures draws the figures and tables from stored results. It runs
// no chain and computes nothing but layout and means over splits.
//
// Every figure comes as PNG, SVG and PDF with a CSV of the numbers drawn;
// every table as text, CSV and JSON. All but the PDFs, which carry a date,
// have the same bytes for the same results.
package figures

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hambench/bench"
	"hambench/internal/atomicfile"
	"hambench/usage"
)

// Getter returns the result of a cell's key, as bench.Store.Get does.
type Getter = func(key string) (bench.Result, bool)

// Options say where figures go and what their captions tell.
type Options struct {
	Dir     string // created if needed
	Profile string // name of the profile, for captions; may be empty
}

// Output is what was drawn.
type Output struct {
	Files []string
	Text  string // a table, for the terminal; empty for figures
	Notes []string
	Cells int // that there are results of
	Of    int // cells needed
}

// drawers are the figures and tables by experiment. What is drawn from
// certified errors has functions of its own: DrawOrders, DrawExactBottleneck.
func drawers() map[string]func(*drawing) error {
	return map[string]func(*drawing) error{
		"bottleneck":         bottleneckFamily.draw,
		"paths":              drawPaths,
		"toy":                drawToy,
		"methods":            methodFamily.draw,
		"integration-length": lengthFamily.draw,
		"friction":           frictionFamily.draw,
		"synthetic":          drawSynthetic,
		"regression":         drawRegression,
		"classification":     drawClassification,
		"autocorrelation":    drawAutocorrelation,
		"precision":          drawPrecision,
	}
}

// Draw draws one experiment's figure or table from the results that get
// has. Cells without a result leave gaps, which the caption counts; no
// result at all is an error.
func Draw(e bench.Experiment, get Getter, o Options) (*Output, error) {
	draw, ok := drawers()[e.ID]
	if !ok {
		return nil, usage.Errorf("no figure or table %q: want one of %s", e.ID, strings.Join(slices.Sorted(maps.Keys(drawers())), ", "))
	}
	results, missing := e.Results(get)
	d := &drawing{
		experiment: e, get: get, options: o, results: results,
		out: &Output{Cells: len(results), Of: len(results) + len(missing)},
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("figures: no results of experiment %s (0 of %d cells): run it first", e.ID, d.out.Of)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, usage.Errorf("folder for figures cannot be created: %w", err)
	}
	return d.out, draw(d)
}

// drawing is one figure or table in the making.
type drawing struct {
	experiment bench.Experiment
	get        Getter
	options    Options
	results    []bench.Result
	out        *Output
}

// write writes one of the drawing's files.
func (d *drawing) write(suffix string, data []byte) error {
	path := filepath.Join(d.options.Dir, d.experiment.ID+suffix)
	if err := atomicfile.Write(path, data); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	d.out.Files = append(d.out.Files, path)
	return nil
}

// csv writes the numbers drawn.
func (d *drawing) csv(header []string, rows [][]string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(append([][]string{header}, rows...)); err != nil {
		return fmt.Errorf("figures: %s.csv: %w", d.experiment.ID, err)
	}
	return d.write(".csv", b.Bytes())
}

// save renders the sheet.
func (d *drawing) save(s *sheet) error {
	files, err := s.save(d.options.Dir, d.experiment.ID)
	d.out.Files = append(d.out.Files, files...)
	return err
}

// number writes a number for a CSV: eight digits, nothing if there is none.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 8, 64)
}

// caption joins the sentences with what every caption tells: the profile,
// the length of the chains, and what is missing.
func (d *drawing) caption(sentences ...string) string {
	var head []string
	if d.options.Profile != "" {
		head = append(head, "Profile "+d.options.Profile+".")
	}
	head = append(head, sentences...)
	if n := d.samples(); n != "" {
		head = append(head, n)
	}
	if d.out.Cells < d.out.Of {
		gap := fmt.Sprintf("Incomplete: %d of %d cells; what is missing leaves gaps.", d.out.Cells, d.out.Of)
		d.out.Notes = append(d.out.Notes, gap)
		head = append(head, gap)
	}
	return strings.Join(head, " ")
}

// samples tells the number of samples of the chains.
func (d *drawing) samples() string {
	var counts []string
	for _, c := range d.experiment.Cells {
		if c.Observe != bench.Density && c.Observe != bench.Path { // a path's caption tells its steps
			counts = appendNew(counts, thousands(c.Samples))
		}
	}
	if len(counts) == 0 {
		return ""
	}
	return strings.Join(counts, " or ") + " samples per chain."
}

// thousands writes a count with a space between groups of three digits from
// 10 000 on.
func thousands(n int) string {
	s := strconv.Itoa(n)
	if n < 10000 {
		return s
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// replaced is the label that built-in sets take the place of real data;
// empty if they do not. It is a note, too.
func (d *drawing) replaced() string {
	present := make(map[string]bool)
	var teachers []string
	for _, c := range d.experiment.Cells {
		present[c.Dataset] = true
		if p, ok := bench.LookupProblem(c.Dataset); ok && p.Builtin && strings.HasPrefix(c.Dataset, "teacher-") {
			teachers = appendNew(teachers, c.Dataset)
		}
	}
	if len(teachers) == 0 {
		return ""
	}
	var absent []string
	for _, name := range bench.UCI() {
		p, _ := bench.LookupProblem(name)
		if !present[name] && slices.ContainsFunc(teachers, func(t string) bool { q, _ := bench.LookupProblem(t); return q.Task == p.Task }) {
			absent = append(absent, name)
		}
	}
	note := fmt.Sprintf("Data not available: %s. Built-in teacher networks (%s) take their place.", strings.Join(absent, ", "), strings.Join(teachers, ", "))
	d.out.Notes = append(d.out.Notes, note)
	return note
}
