// Package figures draws figures and tables from what runs left in a store. It
// runs no chain and computes nothing but layout and means over splits.
//
// A Drawer draws one study of a run at a time, given its plan: the manifest that
// states which results the study needs and what legends and captions say of its
// data sets and integrators.
//
//	plans, err := bench.Plans(store, "quick")
//	drawer := figures.Drawer{Results: bench.Results{Store: store}, Dir: "out", All: plans}
//	out, err := drawer.Draw(plans[0])
//
// A study is drawn by what it has, so one of your own needs nothing here:
//
//	distances           a panel per data set and batch size against the step size, a
//	                    line per whatever varies beside, and a table (sweep.go, summary.go)
//	exact errors        a panel per observable and scheme, and fitted orders (orders.go)
//	both                the first, and a twin with exact errors below (twin.go)
//	paths, histograms,  the paper's Figures 2 and 3 and the predictive posterior
//	marginals           (paths.go, toy.go, synthetic.go)
//	choices, references the paper's tables, beside its numbers (tables.go)
//
// Two studies are known by id: precision (precision.go) and claims (claims.go).
//
// Every figure comes as PNG, SVG and PDF with a CSV of the numbers drawn; every
// table as text, CSV and JSON. All but the PDFs, which carry a date, have the
// same bytes for the same results.
package figures

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hambench/bench"
	"hambench/internal/atomicfile"
	"hambench/internal/table"
	"hambench/paper"
	"hambench/usage"
)

// Drawer draws studies.
type Drawer struct {
	// Results are the stored results and exact errors; a bench.Results, as a
	// rule.
	Results paper.Source
	Dir     string // where files go; created if needed
	// All are the plans of the run, which the claims are decided by.
	All []bench.Plan
}

// Output is what was drawn.
type Output struct {
	Files []string
	Text  string // a table, for the terminal; empty for figures
	Notes []string
	Cells int // that there are results of
	Of    int // cells needed
}

// Draw draws one study's figures and tables. Results that are missing leave
// gaps, which the caption counts; none at all is an error.
func (r Drawer) Draw(p bench.Plan) (*Output, error) {
	d := r.drawing(p)
	if len(p.Jobs()) > 0 && len(d.results) == 0 {
		return nil, fmt.Errorf("figures: no results of study %s (0 of %d cells): run it first", p.ID, d.out.Of)
	}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return nil, usage.Errorf("folder for figures cannot be created: %w", err)
	}
	return d.out, drawerOf(p)(d)
}

// drawerOf returns what draws a study.
func drawerOf(p bench.Plan) func(*drawing) error {
	observed := make(map[bench.Observable]bool)
	for _, j := range p.Cells {
		observed[j.Cell.Observe] = true
	}
	switch {
	case p.ID == paper.StudyID:
		return drawClaims
	case p.ID == "precision":
		return drawPrecision
	case len(p.Jobs()) == 0:
		return drawOrders
	case observed[bench.Path] || observed[bench.Density]:
		return drawPaths
	case observed[bench.Histogram]:
		return drawToy
	case observed[bench.Marginals]:
		return drawSynthetic
	case len(p.Choices) > 0:
		return drawScores
	case observed[bench.Reference]:
		return drawAutocorrelation
	}
	return drawSweep
}

// drawing is one figure or table in the making.
type drawing struct {
	Drawer
	plan    bench.Plan
	results []bench.Result
	out     *Output
}

// drawing reads what there is of the plan's results.
func (r Drawer) drawing(p bench.Plan) *drawing {
	results, missing := p.Results(r.Results.Result)
	return &drawing{Drawer: r, plan: p, results: results, out: &Output{Cells: len(results), Of: len(results) + len(missing)}}
}

// write writes one of the drawing's files.
func (d *drawing) write(suffix string, data []byte) error {
	path := filepath.Join(d.Dir, d.plan.ID+suffix)
	if err := atomicfile.Write(path, data); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	d.out.Files = append(d.out.Files, path)
	return nil
}

// listing is a table as text, CSV and JSON.
type listing[R any] struct {
	rows      []R
	header    string // columns for people, separated by commas
	text      func(R) []string
	csvHeader string // columns for programs
	csv       func(R) []string
	json      any // the rows if nil
	notes     []string
}

// write writes the files of a listing.
func (l listing[R]) write(d *drawing) error {
	var text, csv [][]string
	for _, r := range l.rows {
		text, csv = append(text, l.text(r)), append(csv, l.csv(r))
	}
	if err := d.csv(strings.Split(l.csvHeader, ","), csv); err != nil {
		return err
	}
	if l.json == nil {
		l.json = l.rows
	}
	if err := d.json(l.json); err != nil {
		return err
	}
	return d.table(strings.Split(l.header, ","), text, l.notes)
}

// csv writes the numbers drawn.
func (d *drawing) csv(header []string, rows [][]string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(append([][]string{header}, rows...)); err != nil {
		return fmt.Errorf("figures: %s.csv: %w", d.plan.ID, err)
	}
	return d.write(".csv", b.Bytes())
}

// json writes what a program reads.
func (d *drawing) json(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("figures: %s.json: %w", d.plan.ID, err)
	}
	return d.write(".json", append(data, '\n'))
}

// named is the drawing of a second figure or table of the study, whose files
// have the suffix in their names.
func (d *drawing) named(suffix string) *drawing {
	second := *d
	second.plan.ID += suffix
	return &second
}

// table writes the text of a table, with a title and notes, for the terminal
// and as a file.
func (d *drawing) table(header []string, rows [][]string, notes []string) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, d.plan.Title)
	if w := d.replaced(); w != "" {
		fmt.Fprintln(&b, w)
	}
	if err := table.Write(&b, header, rows); err != nil {
		return fmt.Errorf("figures: %s: %w", d.plan.ID, err)
	}
	for _, n := range notes {
		fmt.Fprintln(&b, n)
	}
	if c := d.caption(); c != "" {
		fmt.Fprintln(&b, c)
	}
	d.out.Text = b.String()
	return d.write(".txt", b.Bytes())
}

// save writes the sheet as PNG, SVG and PDF. The bytes of PNG and SVG depend on
// the sheet alone; a PDF carries its date.
func (d *drawing) save(s *sheet) error {
	l := s.layout()
	for _, f := range []struct {
		suffix string
		encode func(layout) ([]byte, error)
	}{{".png", encodePNG}, {".svg", encodeSVG}, {".pdf", encodePDF}} {
		data, err := f.encode(l)
		if err != nil {
			return fmt.Errorf("figures: %s%s: %w", d.plan.ID, f.suffix, err)
		}
		if err := d.write(f.suffix, data); err != nil {
			return err
		}
	}
	return nil
}

// lacks is the error of a result without what its drawing needs. A record from
// a store is intact, but may come from a program that recorded something else.
func lacks(r bench.Result, what string) error {
	return fmt.Errorf("figures: result %.12s (%v) lacks %s", r.Key, r.Cell, what)
}

// number writes a number for a CSV: eight digits, nothing if there is none.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 8, 64)
}

// fields writes values for a CSV: floats as number does, nothing for null.
func fields(values ...any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case float64:
			out[i] = number(v)
		case *float64:
			if v != nil {
				out[i] = number(*v)
			}
		default:
			out[i] = fmt.Sprint(v)
		}
	}
	return out
}

// decimal writes a number without an exponent: 0.001, 20.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// caption joins the sentences with what every caption states: the profile,
// the length of the chains, and what is missing.
func (d *drawing) caption(sentences ...string) string {
	var head []string
	if d.plan.Profile != "" {
		head = append(head, "Profile "+d.plan.Profile+".")
	}
	head = append(head, sentences...)
	if n := d.samples(); n != "" {
		head = append(head, n)
	}
	if d.out.Cells < d.out.Of {
		gap := fmt.Sprintf("Incomplete: %d of %d cells; what is missing leaves gaps.", d.out.Cells, d.out.Of)
		d.note(gap)
		head = append(head, gap)
	}
	return strings.Join(head, " ")
}

// note adds a note to the output, once.
func (d *drawing) note(text string) { d.out.Notes = appendNew(d.out.Notes, text) }

// samples states the number of samples of the chains.
func (d *drawing) samples() string {
	var counts []string
	for _, j := range d.plan.Cells {
		if c := j.Cell; c.Observe != bench.Density && c.Observe != bench.Path { // a path's caption states its steps
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

// replaced is the label that built-in sets stand in for real data; empty if
// they do not. It is a note, too.
func (d *drawing) replaced() string {
	var absent, present []string
	for _, s := range d.plan.Data {
		if len(s.For) > 0 {
			absent, present = append(absent, s.For...), append(present, s.Name)
		}
	}
	if len(present) == 0 {
		return ""
	}
	text := fmt.Sprintf("Data not available: %s. Built-in sets (%s) stand in for them.", strings.Join(absent, ", "), strings.Join(present, ", "))
	d.note(text)
	return text
}
