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
	// names holds the columns' names, empty ones without a header; nil until the first
	// row, which decides how many columns there are.
	names []string
	// headed says that the first line has the names.
	headed bool
	// classes lists the classes that a target may name, in order; nil means any.
	classes []string

	// x holds the features, row-major; y the targets of a regression, words those of
	// a classification.
	x, y  []float64
	words []string
	// lines holds the number of each row's line, from 1, for errors.
	lines []int
}

// labels returns the numbers of the rows' classes, from 0, in the order of classes.
func (t *table) labels() []int {
	var labels []int
	for _, w := range t.words {
		c, _ := slices.BinarySearchFunc(t.classes, w, compareClasses)
		labels = append(labels, c)
	}
	return labels
}

// set returns the set of an entry with the rows read.
func (t *table) set(d Dataset) *Set { return &Set{d, t.x, t.y, t.labels()} }

// read adds the rows of a file. The first line of the first file decides on the header and
// on the number of columns. Its error names the line and mostly the column, but not
// the file. A file without rows is an error, too.
func (t *table) read(data []byte) error {
	before := len(t.lines)
	err := eachRow(data, func(line int, fields []string) error {
		if t.names == nil {
			if err := t.begin(fields); err != nil || t.headed {
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

// eachRow calls row for every line that is not blank, cut into fields. If the first line
// has a comma, commas separate them, else semicolons, else white space. It stops at the
// first error of row, and adds the line to it. UTF-16 and quotes that do not close are
// errors of its own.
func eachRow(data []byte, row func(line int, fields []string) error) error {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return errors.New("text in UTF-16: want UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // byte order mark
	first, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	comma := ','
	if !bytes.ContainsRune(first, comma) {
		comma = ';'
	}
	if !bytes.ContainsRune(first, comma) {
		for i, line := range strings.Split(string(data), "\n") {
			if fields := strings.Fields(line); len(fields) > 0 {
				if err := row(i+1, fields); err != nil {
					return fmt.Errorf("line %d: %w", i+1, err)
				}
			}
		}
		return nil
	}
	// Rows of another length are left to add, whose error says how many columns it wants.
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = comma, -1, true
	for {
		fields, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return fmt.Errorf("line %d: %w", bad.Line, bad.Err)
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		line, _ := r.FieldPos(0)
		if err := row(line, fields); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// begin takes the first row, which is the header if none of its fields is a number, and
// finds the target's column by its name or its number. Its errors are those of the
// whole file: one column only, and a wanted column that is missing or ambiguous.
func (t *table) begin(fields []string) error {
	n := len(fields)
	if n < 2 {
		return fmt.Errorf("%d columns: want a target and at least one feature", n)
	}
	// A header of numbers cannot be told from a row, so that a header has none.
	t.headed = !slices.ContainsFunc(fields, isNumber)
	t.names = make([]string, n)
	if t.headed {
		copy(t.names, fields)
	}
	if t.wanted == "" {
		t.target = n - 1
		return nil
	}
	if t.target = slices.Index(t.names, t.wanted); t.target >= 0 {
		if slices.Contains(t.names[t.target+1:], t.wanted) {
			return fmt.Errorf("two columns are called %q: want the number of one, from 1 to %d",
				t.wanted, n)
		}
		return nil
	}
	// It is no name, so it must be a number.
	i, err := strconv.Atoi(t.wanted)
	switch {
	case err != nil && t.headed:
		return fmt.Errorf("no column is called %q: want one of %s",
			t.wanted, strings.Join(t.names, ", "))
	case err != nil:
		return fmt.Errorf("no header, so no column is called %q: want a number from 1 to %d",
			t.wanted, n)
	case i < 1 || i > n:
		return fmt.Errorf("no column %d: want 1 to %d", i, n)
	}
	t.target = i - 1
	return nil
}

// isNumber reports whether a field can be read as a number; nan and inf count as one,
// so that a row of them is not taken for a header.
func isNumber(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err == nil
}

// column returns what errors call column i: its number from 1, and its name if it has one.
func (t *table) column(i int) string {
	if t.headed {
		return fmt.Sprintf("column %d (%.40q)", i+1, t.names[i])
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
	if len(fields) != len(t.names) {
		return fmt.Errorf("%d columns: want %d", len(fields), len(t.names))
	}
	for i, f := range fields {
		if slices.Contains(missing, strings.ToLower(f)) {
			return fmt.Errorf(
				"%s: the value is missing (%q): want every value, or the row left out",
				t.column(i), f)
		}
		// In a file of the project's own the classes are known; in a user's, any word is one.
		if i == t.target && t.task == Classification {
			t.words = append(t.words, class(f))
			if last := len(t.classes) - 1; last > 0 && !slices.Contains(t.classes, f) {
				return fmt.Errorf("%s: class %.40q: want %s or %s", t.column(i), f,
					strings.Join(t.classes[:last], ", "), t.classes[last])
			}
			continue
		}
		// The comparison is false for NaN, too.
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || !(math.Abs(v) <= largest) {
			return fmt.Errorf("%s: %.40q is not a number from %g to %g",
				t.column(i), f, -largest, largest)
		}
		if i == t.target {
			t.y = append(t.y, v)
		} else {
			t.x = append(t.x, v)
		}
	}
	return nil
}

// class returns the name of a field's class. Numbers are written in one form, so that 1
// and 1.0 are the same class.
func class(field string) string {
	if v, err := strconv.ParseFloat(field, 64); err == nil {
		return strconv.FormatFloat(v, 'g', -1, 64)
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
