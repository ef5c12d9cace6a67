// Package figures makes figures and tables of what runs left in a store, and
// draws them. It runs no chain and computes nothing but layout, medians and means over
// splits, and what is exact of a linear model with the full batch (bench.FullBatch).
//
// A Drawer makes one study of a run at a time, given its plan: the manifest that
// states which results the study needs and what legends and captions say of its
// data sets and integrators.
//
//	plans, err := bench.Plans(store, "quick")
//	drawer := figures.Drawer{Results: bench.NewResults(store), Dir: "out", All: plans}
//	out, err := drawer.Draw(plans[0])
//
// Figure and Table are plain data: Draw writes them as files, and any other
// renderer can show them. Make returns them and writes nothing.
//
// What the store has for a plan is one table (bench.Results.Table). A figure says which of
// its columns are rows and columns of panels, lines, x and y, and one builder arranges them
// (chart.go): the scores of cells, as a study says (bench.FigureSpec; sampled.go), and exact
// errors (exact.go). Tables are groups of the same rows (tables.go). The paper's figures of
// paths and densities are programs of their own.
//
// Every figure comes as PNG, SVG and PDF with a CSV of the numbers drawn; every
// table as text, CSV and JSON. All but the PDFs, which carry a date, have the
// same bytes for the same results. What is not a number is empty in CSV and null
// in JSON; columns are named as those of the table of rows are. A CSV has a row for
//
//   - a point of a figure of cells: its settings, the number of its cells, mean and
//     deviation, and the self-distance of its panel;
//   - an exact error at a step, with the fitted order of its observable, or another
//     number that the figure shows of a problem, sampler, scheme and step;
//   - a point of the exact errors below cells: problem, scheme, line, step, error, which of the
//     figure's own full batch is its distance;
//   - a bin of a histogram, a place of a density or a path, an input of marginals;
//   - a line of a table.
package figures

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/internal/atomicfile"
	"hambench/internal/distinct"
	text "hambench/internal/table"
	"hambench/usage"
)

// Drawer draws studies.
type Drawer struct {
	Results bench.Results
	Dir     string // where files go; created if needed
	// All are the plans of the run, by which claims are decided.
	All []bench.Plan
	// Width is that of Output.Text in characters, where possible; 0 means any width.
	Width int
}

// Output is what a study shows.
type Output struct {
	Figures []*Figure
	Tables  []*Table
	Text    string   // tables for the terminal; empty if there is none, or if they are long
	Notes   []string // what a reader should know besides, such as what is missing
	Cells   int      // cells with a result
	Of      int      // cells needed
	Files   []string // paths of the files that Draw wrote

	others []file // those that are not of figures and tables
}

// file is a file of a study: its name, and what makes its bytes.
type file struct {
	name   string
	encode func() ([]byte, error) // called by Draw: Make encodes nothing
}

// Draw makes one study's figures and tables and writes their files. Missing
// results leave gaps, which the caption counts; no results at all is an error. A file that
// cannot be made keeps none of the others from being written; the first such error is returned.
func (r Drawer) Draw(p bench.Plan) (*Output, error) {
	out, err := r.Make(p)
	if err != nil {
		return out, err
	}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return nil, usage.Errorf("folder for figures cannot be created: %w", err)
	}
	var files []file
	for _, f := range out.Figures {
		l := f.layout()
		png := func() ([]byte, error) { return l.png(resolution) }
		files = append(files, file{f.ID + ".csv", f.Data.CSV}, file{f.ID + ".png", png},
			file{f.ID + ".svg", l.svg}, file{f.ID + ".pdf", l.pdf})
	}
	for _, t := range out.Tables {
		text := func() ([]byte, error) { // with all columns, however wide
			s, err := t.text(0)
			return []byte(s), err
		}
		files = append(files, file{t.ID + ".csv", t.Data.CSV}, file{t.ID + ".json", t.Data.json},
			file{t.ID + ".txt", text})
	}
	var failed error
	for _, f := range append(files, out.others...) {
		data, err := f.encode()
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("figures: %s: %w", f.name, err))
			continue
		}
		path := filepath.Join(r.Dir, f.name)
		if err := atomicfile.Write(path, data); err != nil {
			return out, fmt.Errorf("figures: %w", err)
		}
		out.Files = append(out.Files, path)
	}
	return out, failed
}

// Make makes one study's figures and tables, as Draw does, but writes nothing. It returns what
// there is with an error of a later part. A study that asks for what figures do not know is a
// usage error.
func (r Drawer) Make(p bench.Plan) (*Output, error) {
	rows := r.Results.Table([]bench.Plan{p})
	d := &drawing{Drawer: r, plan: p, rows: rows, cells: rows.Where("record", bench.CellRecord)}
	d.out = &Output{Cells: present(d.cells).Len(), Of: d.cells.Len()}
	if d.out.Of > 0 && d.out.Cells == 0 {
		return nil, fmt.Errorf("figures: no results of study %s (0 of %d cells): run it first",
			p.ID, d.out.Of)
	}
	kind := cmp.Or(p.Figure, new(bench.FigureSpec)).Kind
	if kind == "" && d.out.Of == 0 {
		kind = "orders" // exact errors alone
	}
	if makers[kind] == nil {
		return nil, usage.Errorf("study %s: kind of figure %q: want one of %s",
			p.ID, kind, strings.Join(slices.Sorted(maps.Keys(makers)), ", "))
	}
	err := makers[kind](d)
	if d.plan = p; err == nil { // a maker may have given it the name of a second figure
		err = d.decideLater()
	}
	if err != nil {
		return d.out, fmt.Errorf("figures: study %s: %w", p.ID, err)
	}
	// The text for the terminal has the tables but for long ones that a figure shows as well.
	for _, t := range d.out.Tables {
		if len(d.out.Figures) > 0 && len(t.Rows) > longestPrinted {
			continue
		}
		text, err := t.text(r.Width)
		if err != nil {
			return d.out, err
		}
		if d.out.Text != "" {
			d.out.Text += "\n"
		}
		d.out.Text += text
	}
	return d.out, nil
}

// longestPrinted is how many rows of a table beside a figure a terminal gets;
// longer ones are files alone.
const longestPrinted = 24

// makers make the figures and tables that a study may ask for by kind
// (bench.FigureSpec.Kind).
var makers = map[string]func(*drawing) error{
	"": drawSampled, "orders": drawOrders,
	"claims": drawClaims, "scores": drawScores,
	"autocorrelation": drawAutocorrelation,
	"regimes":         drawRegimes,
	"paths":           drawPaths, "toy": drawToy, "synthetic": drawSynthetic,
}

// drawing is a study's figures and tables in the making. Makers append to out, and call note and
// file for what stands beside figures and tables.
type drawing struct {
	Drawer
	// plan is the study's, under the name of the figure that is drawn: a second figure of the
	// study changes its ID.
	plan   bench.Plan
	rows   *table.Table // all that the store has for the plan
	cells  *table.Table // those of its cells, missing ones included
	out    *Output
	hidden int  // chains that diverged and that no panel shows
	single bool // panels show one chain each, of which there are no splits
}

// finite returns the rows of the chains that stayed finite, for panels of one chain each; captions
// then count the others, and say nothing of the splits that the profile has.
// A record from a store is intact, but may come from a program that recorded something that
// whole does not accept.
func (d *drawing) finite(whole func(bench.Result) bool) (of []table.Row, err error) {
	d.single = true
	for _, row := range present(d.cells).Rows() {
		switch r := resultOf(row); {
		case r.Diverged:
			d.hidden++
		case !whole(r):
			return nil, fmt.Errorf("result %.12s (%v) lacks series that its figure shows",
				r.Key, r.Cell)
		default:
			of = append(of, row)
		}
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("all %d chains diverged: there is nothing to show", d.hidden)
	}
	return of, nil
}

// file keeps a file of the study for Draw to write.
func (d *drawing) file(suffix string, write func(io.Writer) error) {
	d.out.others = append(d.out.others, file{d.plan.ID + suffix, func() ([]byte, error) {
		var b bytes.Buffer
		err := write(&b)
		return b.Bytes(), err
	}})
}

// text returns the table with its title and notes, at most width characters wide
// if possible; 0 means any width.
func (t *Table) text(width int) (string, error) {
	var b bytes.Buffer
	fmt.Fprintln(&b, t.Title)
	if t.Warning != "" {
		fmt.Fprintln(&b, t.Warning)
	}
	var header []string
	var minor []int
	for _, c := range t.Columns {
		header, minor = append(header, c.Label), append(minor, c.Minor)
	}
	left, err := text.Fit(&b, width, minor, header, t.Rows)
	if err != nil {
		return "", fmt.Errorf("figures: %s: %w", t.ID, err)
	}
	notes := t.Notes
	if len(left) > 0 {
		missing := fmt.Sprintf("Left out for want of room: %s; %s.txt has all.",
			strings.Join(left, ", "), t.ID)
		notes = append([]string{missing}, notes...)
	}
	for _, n := range notes {
		fmt.Fprintln(&b, text.Wrap(n, width))
	}
	return b.String(), nil
}

// caption joins the sentences with what every caption states: the profile,
// the length of the chains, and what is missing, which is a note, too.
func (d *drawing) caption(sentences ...string) string {
	if profile := d.plan.Profile; profile != "" && profile != bench.AsItIs && !d.single {
		changes := strings.Split(profile, ", ")
		if !d.cells.Varies("split") { // the profile's splits are those of other sets
			changes = slices.DeleteFunc(changes, func(s string) bool {
				return strings.HasSuffix(s, " splits")
			})
		}
		sentences = slices.Insert(sentences, 0, "Profile "+strings.Join(changes, ", ")+".")
	}
	// Cells of one study may differ in length: all lengths are stated.
	long := d.cells.Filter(func(r table.Row) bool { // a path's caption states its steps
		is := bench.Observable(r.Text("observe"))
		return is != bench.Density && is != bench.Path
	})
	samples := distinct.Of(long.Rows(), setting("samples").Plain)
	if len(samples) > 0 {
		sentences = append(sentences, strings.Join(samples, " or ")+" samples per chain.")
	}
	note := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		d.note(text)
		sentences = append(sentences, text)
	}
	if of := bench.FailedReferences(d.cells); len(of) > 0 {
		note("No verdict is by distances to references that failed checks of their own: %s.",
			strings.Join(of, ", "))
	}
	if of := d.plan.LeftOut; len(of) > 0 {
		note("Data sets of the study that were left out: %s.", strings.Join(of, ", "))
	}
	if d.hidden > 0 {
		note("Not shown: %d of %d, whose chains diverged.", d.hidden, d.out.Cells)
	}
	if d.out.Cells < d.out.Of {
		sets := d.cells.Where("missing", true).Values("dataset")
		note("Incomplete: %d of %d cells; missing ones, of %s, leave gaps or are not in the means.",
			d.out.Cells, d.out.Of, strings.Join(distinct.Of(sets, table.Value.Text), ", "))
	}
	return strings.Join(sentences, " ")
}

// note adds a note to the output, once.
func (d *drawing) note(text string) { d.out.Notes = distinct.Append(d.out.Notes, text) }

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
	text := fmt.Sprintf("Data not available: %s. Built-in sets (%s) stand in for them.",
		strings.Join(absent, ", "), strings.Join(present, ", "))
	d.note(text)
	return text
}
