package datasets

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// table collects the rows of files that have one on each line.
type table struct {
	task Task
	// wanted is the target's column as the user named it: by its name, or its number
	// from 1; "" is the last one. target is the same column, from 0.
	wanted string
	target int
	unused int // columns behind the last, which are left out
	// columns are nil until the first row, which decides how many there are.
	columns []column
	// header holds the names of the first line; nil if that has none.
	header []string
	// words says that columns of words are categories, and that row names are left out.
	words bool
	// classes lists the classes that a target may name, in order; nil means any.
	classes []string

	// y holds the targets of a regression, labelled those of a classification.
	y        []float64
	labelled []string
	// lines holds the number of each row's line, from 1, for errors.
	lines []int
}

// column holds one input of each row.
type column struct {
	name string // "" without a header
	// values are numbers or, if there are words, the place in words of each row's word.
	values []float64
	words  []string
	places map[string]int // of the words
	// rowNames says that the column names the rows, and is no input.
	rowNames bool
}

// mostCategories bounds the different words of a column of categories.
const mostCategories = 20

// labels returns the numbers of the rows' classes, from 0, in the order of classes.
func (t *table) labels() []int {
	var labels []int
	for _, w := range t.labelled {
		c, _ := slices.BinarySearchFunc(t.classes, w, compareClasses)
		labels = append(labels, c)
	}
	return labels
}

// set returns the set of an entry with the rows read.
func (t *table) set(d Dataset) *Set {
	x, _ := t.inputs()
	return &Set{d, x, t.y, t.labels()}
}

// inputs returns the features, row-major, and their names. A column of categories is a
// feature for each, in their order, 1 in its rows and else 0, with the name
// column=category.
func (t *table) inputs() (x []float64, names []string) {
	var each [][]float64 // feature by feature
	for i, c := range t.columns {
		// Without a header names count the features, not the columns.
		name := cmp.Or(c.name, fmt.Sprintf("x%d", len(each)))
		switch {
		case i == t.target || c.rowNames:
		case c.words == nil:
			each, names = append(each, c.values), append(names, name)
		default: // one-hot
			for _, word := range slices.Sorted(slices.Values(c.words)) {
				hot := make([]float64, len(c.values))
				for r, v := range c.values {
					if c.words[int(v)] == word {
						hot[r] = 1
					}
				}
				each, names = append(each, hot), append(names, name+"="+word)
			}
		}
	}
	for r := range t.lines {
		for _, values := range each {
			x = append(x, values[r])
		}
	}
	return x, names
}

// read adds the rows of a file. The first lines of the first file decide on the header and
// on the number of columns. Its error names the line and mostly the column, but not
// the file. A file without rows is an error, too.
func (t *table) read(data []byte) error {
	before := len(t.lines)
	err := eachRow(data, t.words, func(line int, fields []string) error {
		if t.columns == nil {
			if t.header == nil && isHeader(fields) {
				t.header = fields
				return nil
			}
			if err := t.begin(len(fields)); err != nil {
				return err
			}
		}
		t.lines = append(t.lines, line)
		return t.add(fields)
	})
	if err == nil && len(t.lines) == before {
		return errors.New("no rows of numbers")
	}
	return err
}

// eachRow calls row for every line that is neither blank nor a comment, which begins with
// #, cut into fields. If the first such line has a comma, commas separate them, else
// semicolons, else tabs, of a user's file, else white space. It stops at the first error of row,
// and adds the line to it. UTF-16 and quotes that do not close are errors of its own.
func eachRow(data []byte, users bool, row func(line int, fields []string) error) error {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return errors.New("text in UTF-16: want UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // byte order mark
	if !bytes.Contains(data, []byte("\n")) {        // as old programs for the Mac end lines
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	}
	// Comments become blank lines, which readers skip: the numbers of lines stay those of the file.
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			lines[i] = ""
		}
	}
	var rows []fileRow
	var err error // behind the rows
	switch first := firstRow(lines); {
	case strings.Contains(first, ","):
		rows, err = separated(lines, ',')
	case strings.Contains(first, ";"):
		rows, err = separated(lines, ';')
	case users && strings.Contains(first, "\t"):
		rows, err = tabbed(lines)
	default:
		rows = spaced(lines)
	}
	for _, r := range rows {
		if err := row(r.line, r.fields); err != nil {
			return fmt.Errorf("line %d: %w", r.line, err)
		}
	}
	return err
}

// fileRow holds the fields of a row, and the number of its line, from 1.
type fileRow struct {
	line   int
	fields []string
}

// spaced cuts lines at white space.
func spaced(lines []string) (rows []fileRow) {
	for i, line := range lines {
		fields := strings.Fields(line)
		// Quotes around a field are left out. They do not hold a name of several words together.
		for k, f := range fields {
			if len(f) > 1 && f[0] == '"' && f[len(f)-1] == '"' {
				fields[k] = f[1 : len(f)-1]
			}
		}
		if len(fields) > 0 {
			rows = append(rows, fileRow{i + 1, fields})
		}
	}
	return rows
}

// separated cuts lines at a character outside quotes. Rows of another length are left to add,
// whose error says how many columns it wants.
func separated(lines []string, comma rune) (rows []fileRow, err error) {
	r := csv.NewReader(strings.NewReader(strings.Join(lines, "\n")))
	r.Comma, r.FieldsPerRecord = comma, -1
	r.TrimLeadingSpace = comma != '\t' // of which it would trim those of empty fields
	for {
		fields, err := r.Read()
		if err == io.EOF {
			return rows, nil
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return rows, fmt.Errorf("line %d: %w", bad.Line, bad.Err)
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		line, _ := r.FieldPos(0)
		rows = append(rows, fileRow{line, fields})
	}
}

// tabbed cuts lines at tabs or, if that gives no table and white space does, as of columns that are
// aligned by several tabs, or by tabs and spaces, at white space.
func tabbed(lines []string) ([]fileRow, error) {
	rows, err := separated(lines, '\t')
	blank := func(fields []string) bool {
		return !slices.ContainsFunc(fields, func(f string) bool { return f != "" })
	}
	rows = slices.DeleteFunc(rows, func(r fileRow) bool { return blank(r.fields) })
	for i := longest(rows) - 1; i >= 0; i-- { // tabs at the ends of lines, for example
		var column []string
		for _, r := range rows {
			column = append(column, r.fields[min(i, len(r.fields)):min(i+1, len(r.fields))]...)
		}
		if !blank(column) {
			continue
		}
		for k, r := range rows {
			if i < len(r.fields) {
				rows[k].fields = slices.Delete(r.fields, i, i+1)
			}
		}
	}
	apart := slices.ContainsFunc(rows, func(r fileRow) bool {
		return slices.ContainsFunc(r.fields, severalNumbers)
	})
	if other := spaced(lines); aligned(other) && (err != nil || apart || !aligned(rows)) {
		return other, nil
	}
	return rows, err
}

// longest is the largest number of fields of a row.
func longest(rows []fileRow) (n int) {
	for _, r := range rows {
		n = max(n, len(r.fields))
	}
	return n
}

// aligned reports whether rows are a table: all as long, two fields or more, but for a header that
// may be one name short.
func aligned(rows []fileRow) bool {
	n := longest(rows)
	for i, r := range rows {
		if len(r.fields) != n && !(i == 0 && len(r.fields) == n-1) {
			return false
		}
	}
	return n > 1
}

// severalNumbers reports whether a field has numbers with white space between them.
func severalNumbers(field string) bool {
	words := strings.Fields(field)
	word := func(w string) bool { return !isNumber(w) }
	return len(words) > 1 && !slices.ContainsFunc(words, word)
}

// firstRow returns the first line that is not blank, with those behind it that a quoted name with
// line breaks goes on in.
func firstRow(lines []string) string {
	blank := func(l string) bool { return strings.TrimSpace(l) == "" }
	first := slices.IndexFunc(lines, func(l string) bool { return !blank(l) })
	if first < 0 {
		return ""
	}
	quotes := 0
	for i, line := range lines[first:] {
		if quotes += strings.Count(line, `"`); quotes%2 == 0 {
			return strings.Join(lines[first:first+i+1], "\n")
		}
	}
	return lines[first] // a quote that does not close is an error of its reader, if it has one
}

// isHeader reports whether the first line has names: none of its fields is a number, or
// they are those that pandas gives to columns without names, "", 0, 1, 2, …
func isHeader(fields []string) bool {
	numbered := len(fields) > 1 && fields[0] == ""
	for i, f := range fields[1:] {
		numbered = numbered && f == strconv.Itoa(i)
	}
	return numbered || !slices.ContainsFunc(fields, isNumber)
}

// begin takes the header, and the number of columns of the first row, and finds the
// target's column by its name or its number. A header that is one name short belongs to
// rows that begin with their names, as R writes them. Its errors are those of the whole
// file: one column only, and a wanted column that is missing or ambiguous.
func (t *table) begin(n int) error {
	if n < 2 {
		return fmt.Errorf("%d columns: want a target and at least one feature", n)
	}
	if t.words && t.header != nil && len(t.header) == n-1 {
		t.header = append([]string{""}, t.header...)
	}
	if t.header != nil && len(t.header) != n {
		return fmt.Errorf("%d columns: want %d, as the header has", n, len(t.header))
	}
	t.columns = make([]column, n)
	for i, name := range t.header {
		t.columns[i].name = name
	}
	t.target = n - 1
	if t.wanted == "" {
		return nil
	}
	if at := slices.Index(t.header, t.wanted); at >= 0 {
		if t.target = at; slices.Contains(t.header[at+1:], t.wanted) {
			return fmt.Errorf("two columns are called %q: want the number of one, from 1 to %d",
				t.wanted, n)
		}
		return nil
	}
	// It is no name, so it must be a number.
	i, err := strconv.Atoi(t.wanted)
	switch {
	case err != nil && t.header != nil:
		return fmt.Errorf("no column is called %q: want one of %s",
			t.wanted, strings.Join(t.header, ", "))
	case err != nil:
		return fmt.Errorf("no header, so no column is called %q: want a number from 1 to %d",
			t.wanted, n)
	case i < 1 || i > n:
		return fmt.Errorf("no column %d: want 1 to %d", i, n)
	}
	t.target = i - 1
	return nil
}

// number reads a number in decimal digits; NaN and infinities are none.
func number(field string) (float64, bool) {
	v, err := strconv.ParseFloat(field, 64)
	// The comparison is false for NaN, too. Underscores and hexadecimal digits are Go's.
	return v, err == nil && math.Abs(v) <= largest && !strings.ContainsAny(field, "_xX")
}

// isNumber reports whether a field is a number; nan and inf count as one, so that a row of
// them is not taken for a header.
func isNumber(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err == nil
}

// column returns what errors call column i: its number from 1, and its name if it has one.
func (t *table) column(i int) string {
	if t.header != nil {
		return fmt.Sprintf("column %d (%.40q)", i+1, t.header[i])
	}
	return fmt.Sprintf("column %d", i+1)
}

// missing lists the usual words for a missing value, in lower case.
var missing = []string{"", "?", "na", "n/a", "nan", "null", "none", "-"}

// largest bounds the numbers of a file in magnitude, so that sums of their squares are
// finite in float64.
const largest = 1e150

// add appends a row. It returns an error, with the column but without the line, for a
// missing value, a word or a huge number where a number is wanted, and an unknown class.
func (t *table) add(fields []string) error {
	if len(fields) != len(t.columns)+t.unused {
		return fmt.Errorf("%d columns: want %d", len(fields), len(t.columns)+t.unused)
	}
	fields = fields[:len(t.columns)]
	for i, f := range fields {
		if slices.Contains(missing, strings.ToLower(f)) {
			return fmt.Errorf(
				"%s: the value is missing (%q): want every value, or the row left out",
				t.column(i), f)
		}
		// In a file of the project's own the classes are known; in a user's, any word is one.
		if i == t.target && t.task == Classification {
			t.labelled = append(t.labelled, class(f))
			if last := len(t.classes) - 1; last > 0 && !slices.Contains(t.classes, f) {
				return fmt.Errorf("%s: class %.40q: want %s or %s", t.column(i), f,
					strings.Join(t.classes[:last], ", "), t.classes[last])
			}
			continue
		}
		c := &t.columns[i]
		v, ok := number(f)
		// As Excel writes 1.5 in half of the world.
		point := strings.Replace(f, ",", ".", 1)
		decimalComma := point != f && isNumber(point)
		// The first row decides whether a column is one of words or of numbers: a field of the
		// other kind further down is an error.
		switch word := t.words && i != t.target && !isNumber(f) && !decimalComma; {
		case c.words != nil && !word:
			return fmt.Errorf("%s: %.40q is a number, and %.40q in line %d is not: want numbers "+
				"or categories", t.column(i), f, c.words[0], t.lines[0])
		case word && (c.words != nil || len(c.values) == 0):
			at, known := c.places[f]
			if !known {
				if c.places == nil {
					c.places = make(map[string]int)
				}
				at, c.words = len(c.words), append(c.words, f)
				c.places[f] = at
			}
			v = float64(at)
		case decimalComma:
			return fmt.Errorf("%s: %.40q is not a number from %g to %g with a decimal point",
				t.column(i), f, -largest, largest)
		case !ok:
			return fmt.Errorf("%s: %.40q is not a number from %g to %g",
				t.column(i), f, -largest, largest)
		}
		if i == t.target {
			t.y = append(t.y, v)
		} else {
			c.values = append(c.values, v)
		}
	}
	return nil
}

// settle decides which columns of a user's file are inputs, once all rows are read. It
// returns what the user should know of them, a line each. A column of too many words is an
// error.
func (t *table) settle() (notes []string, err error) {
	if t.header == nil && t.startsCounting() {
		notes = append(notes, fmt.Sprintf("line %d is 0, 1, …: if it is a header, as of an array "+
			"without names, name the columns", t.lines[0]))
	}
	varies := false
	for i := range t.columns {
		c := &t.columns[i]
		if i == t.target {
			continue
		}
		if i == 0 && t.header != nil && c.name == "" && c.distinct() {
			c.rowNames = true
			notes = append(notes, "column 1 has no name and names the rows: it is no input")
			continue
		}
		// Words that are mostly different, such as names or dates, are no categories.
		if n, rows := len(c.words), len(t.lines); n > mostCategories || n > max(1, rows/2) {
			return nil, fmt.Errorf("line %d: %s: %.40q is not a number, and %d different words in "+
				"%d rows are no categories: want at most %d, of two rows each on average",
				t.lines[0], t.column(i), c.words[0], n, rows, mostCategories)
		}
		if c.counts() {
			notes = append(notes, t.column(i)+" counts the rows, and is an input like the others: "+
				"leave it out if it is an index")
		}
		if _, deviation := spread(c.values, 1, 0); deviation > 0 {
			varies = true
		} else if slices.Min(c.values) < slices.Max(c.values) {
			notes = append(notes, fmt.Sprintf("%s is %g in every row%s", t.column(i), c.values[0],
				tooSmall))
		}
	}
	if _, names := t.inputs(); len(names) == 0 {
		return nil, errors.New("no inputs: want a target and at least one feature")
	}
	if !varies {
		notes = append(notes, "all inputs are constant: nothing can be learnt from them")
	}
	return notes, nil
}

// startsCounting reports whether the first row is 0, 1, 2, …, as pandas names columns.
func (t *table) startsCounting() bool {
	for i, c := range t.columns {
		var counts bool
		switch {
		case i != t.target:
			counts = c.words == nil && c.values[0] == float64(i)
		case t.task == Classification:
			counts = t.labelled[0] == strconv.Itoa(i)
		default:
			counts = t.y[0] == float64(i)
		}
		if !counts {
			return false
		}
	}
	return true
}

// distinct reports whether the column has another word, or another whole number, in every
// row.
func (c *column) distinct() bool {
	sorted := slices.Sorted(slices.Values(c.values))
	fraction := func(v float64) bool { return v != math.Trunc(v) }
	if len(c.words) == 0 && slices.ContainsFunc(sorted, fraction) {
		return false
	}
	return len(slices.Compact(sorted)) == len(c.values)
}

// counts reports whether the column goes up by one from row to row, over three or more.
func (c *column) counts() bool {
	for i, v := range c.values {
		if v != c.values[0]+float64(i) {
			return false
		}
	}
	// Beyond 2⁵³ adding 1 may change nothing: a constant counts no rows.
	return c.words == nil && len(c.values) > 2 && c.values[0] < c.values[len(c.values)-1]
}

// class returns the name of a field's class. Numbers are written in one form, so that 1
// and 1.0 are the same class.
func class(field string) string {
	if v, err := strconv.ParseFloat(field, 64); err == nil {
		return strconv.FormatFloat(v+0, 'g', -1, 64) // −0 is 0
	}
	return field
}

// compareClasses orders class names: numbers by value, before words by name.
func compareClasses(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}
