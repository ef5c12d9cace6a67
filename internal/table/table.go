// Package table prints ASCII tables that fit a terminal: columns are wrapped first, then
// those of least importance left out, then words cut. Widths are in characters.
package table

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// usualWidth is the width of tables where that of the terminal is unknown.
const usualWidth = 100

// Width returns the width of the terminal according to COLUMNS, or 100.
func Width() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return usualWidth
}

// WidthOf returns the most that tables on a writer may be wide, from its method Width; 0,
// which means any width, if it has none.
func WidthOf(w io.Writer) int {
	if o, ok := w.(interface{ Width() int }); ok {
		return o.Width()
	}
	return 0
}

// Write prints the rows under the header as an ASCII table, which fits the
// writer's width if that has one, with verdicts in colour if the writer shows
// colours; minor is as in Fit, and a line says what is left out. Headers keep
// their case. Errors are those of the writer.
func Write(w io.Writer, header []string, rows [][]string, minor ...int) error {
	var b strings.Builder
	left, err := Fit(&b, WidthOf(w), minor, header, rows)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, Colour(w, b.String())); err != nil || len(left) == 0 {
		return err
	}
	return Note(w, "Left out for want of room: "+strings.Join(left, ", ")+
		"; COLUMNS says how much there is.")
}

// Note prints lines under a table, each wrapped as Write's tables are.
func Note(w io.Writer, lines ...string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, Wrap(line, WidthOf(w))); err != nil {
			return err
		}
	}
	return nil
}

// long is the width down to which a column is wrapped before others are left out.
const long = 28

// Fit prints a table of at most width characters; 0 means any width. Rows are as long
// as the header, and so is minor, unless it is nil: the least important columns have
// the highest numbers, and those with 0 are never left out.
//
// It wraps headers and long columns, then leaves out minor ones, those with the highest
// number first, then wraps what can be wrapped, and cuts long words last. It returns the
// headers of the columns left out, and the error of the writer.
func Fit(w io.Writer, width int, minor []int, header []string, rows [][]string) (
	left []string, err error) {
	all := grid(append([][]string{header}, rows...))
	t := all.fit(width)
	for width > 0 && t.width() > width && len(minor) > 0 && slices.Max(minor) > 0 {
		i := slices.Index(minor, slices.Max(minor))
		left = append(left, all[0][i])
		minor = slices.Delete(slices.Clone(minor), i, i+1)
		for k, row := range all {
			all[k] = slices.Delete(slices.Clone(row), i, i+1)
		}
		t = all.fit(width)
	}
	// All that matters is left: wrap every column down to its longest word, then cut words,
	// a third of a column's width at a time.
	t.narrow(width, Wrap, func(_, _, word int) int { return word })
	t.narrow(width, cutLines, func(_, n, _ int) int { return max(shortest, n*2/3) })
	out := tablewriter.NewTable(w,
		tablewriter.WithSymbols(tw.NewSymbols(tw.StyleASCII)),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
	)
	out.Header(t[0])
	if err := out.Bulk(t[1:]); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	if err := out.Render(); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return left, nil
}

// grid holds a table's cells: the header, and then the rows. A cell may have several
// lines.
type grid [][]string

// fit returns the table with headers and long columns wrapped until it fits, or until
// that gains nothing more.
func (g grid) fit(width int) grid {
	g = slices.Clone(g)
	g.narrow(width, Wrap, func(column, _, word int) int {
		body, _ := g[1:].column(column)
		return max(body, word)
	})
	g.narrow(width, Wrap, func(_, _, word int) int { return max(long, word) })
	return g
}

// column returns the width of a column, and that of its longest word.
func (g grid) column(i int) (width, word int) {
	for _, row := range g {
		for _, line := range strings.Split(row[i], "\n") {
			width = max(width, utf8.RuneCountInString(line))
		}
		for _, w := range strings.Fields(row[i]) {
			word = max(word, utf8.RuneCountInString(w))
		}
	}
	return width, word
}

// width returns the width of the whole table, with its borders.
func (g grid) width() int {
	total := 1
	for i := range g[0] {
		n, _ := g.column(i)
		total += n + len(" ") + len(" |")
	}
	return total
}

// shortest is the least width to which words are cut: narrower columns are hard to read.
const shortest = 4

// narrow breaks lines until the table fits a width, or no column has anything to spare; 0
// means any width. Again and again it takes the column with the most to spare, and breaks
// its cells by broken. least returns the width that a column keeps at one such step,
// given its width now and that of its longest word.
func (g grid) narrow(width int, broken func(cell string, width int) string,
	least func(column, now, word int) int) {
	for excess := g.width() - width; width > 0 && excess > 0; excess = g.width() - width {
		most, to, spare := 0, 0, 0
		for i := range g[0] {
			n, word := g.column(i)
			if keep := least(i, n, word); n-keep > spare {
				most, to, spare = i, max(keep, n-excess), n-keep
			}
		}
		if spare == 0 {
			return
		}
		for k, row := range g {
			g[k] = slices.Clone(row)
			g[k][most] = broken(row[most], to)
		}
	}
}

// cutLines breaks each line of a text into pieces of at most width characters, in the
// middle of words if need be.
func cutLines(s string, width int) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		r := []rune(line)
		for ; len(r) > width; r = r[width:] {
			out = append(out, string(r[:width]))
		}
		out = append(out, string(r))
	}
	return strings.Join(out, "\n")
}

// Wrap breaks a text into lines of at most width characters, at spaces; 0 means
// any width.
//
// Runs of spaces and line breaks of the text become single spaces.
func Wrap(s string, width int) string {
	if width <= 0 {
		return s
	}
	fits := func(line string) bool { return utf8.RuneCountInString(line) <= width }
	return strings.Join(Break(s, fits), "\n")
}

// Break breaks a text, at spaces, into lines that fit. A word that does not fit has a
// line of its own.
func Break(s string, fits func(line string) bool) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && !fits(longer) {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}
