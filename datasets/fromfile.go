package datasets

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hambench/usage"
)

// FileOptions say how FromFile reads a file.
type FileOptions struct {
	// Target is the target's column: its name in the header, or its number,
	// from 1. "" is the last one.
	Target string
	// Task is what is predicted. The classes of a classification may be
	// words; they are numbered in order.
	Task Task
	// NoiseVariance is σ² of the Gaussian likelihood on the standardised
	// target. A regression must state it.
	NoiseVariance float64
	// TestShare is the share of the rows that are held out in each split; 0
	// is 0.1.
	TestShare float64
	// Label and About are those of the Dataset; "" are the name, and the
	// file's path.
	Label, About string
	// Model is the model of the Dataset; "" is bnn.
	Model string
}

// FromFile returns the data set in a file, to be appended to a Registry: rows
// of columns that are separated by commas, semicolons or white space. A first
// row without a number is the header. All columns but the target are
// features, and must hold numbers; one that is constant keeps deviation 1.
// Splits are drawn by the project's own seed.
//
// Usage errors name row and column: missing values, words, rows of other
// lengths than the first, a class with a single row, a target that is
// constant.
func FromFile(name, path string, o FileOptions) (Dataset, error) {
	d := Dataset{
		Name: name, Path: path, NoiseVariance: o.NoiseVariance, Shape: Shape{Task: o.Task},
		Label: cmp.Or(o.Label, name), About: cmp.Or(o.About, path), Model: cmp.Or(o.Model, "bnn"),
	}
	if err := o.check(name); err != nil {
		return d, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return d, usage.Errorf("data set %q: %w", name, err)
	}
	t, err := parseTable(data, path, o)
	if err != nil {
		return d, usage.Errorf("data set %q: %w", name, err)
	}
	d.Digest = digest(data)
	d.Features, d.Classes, d.Rows = len(t.names)-1, len(t.classes), len(t.lines)
	d.TestRows = int(math.Round(cmp.Or(o.TestShare, defaultTestShare) * float64(d.Rows)))
	d.TrainRows = d.Rows - d.TestRows
	if d.TrainRows < 2 || d.TestRows < 1 {
		return d, usage.Errorf("data set %q: %s: %d rows are %d to train and %d to test: want at least 2 and 1", name, path, d.Rows, d.TrainRows, d.TestRows)
	}
	d.Make = func(s *Set) { s.X, s.Y, s.Labels = t.x, t.y, t.labels }
	return d, nil
}

// defaultTestShare is that of the published splits.
const defaultTestShare = 0.1

// nameForm is what a name may be: it becomes a part of files' names.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func (o FileOptions) check(name string) error {
	switch {
	case !nameForm.MatchString(name):
		return usage.Errorf("data set %q: want a name of letters, digits, - and _", name)
	case o.Task != Regression && o.Task != Classification:
		return usage.Errorf("data set %q: task %d: want Regression or Classification", name, int(o.Task))
	case o.Task == Regression && !(o.NoiseVariance > 0 && o.NoiseVariance < math.Inf(1)):
		return usage.Errorf("data set %q: noise variance %g: want a positive number, the share of the target's variance that is noise", name, o.NoiseVariance)
	case o.Task == Classification && o.NoiseVariance != 0:
		return usage.Errorf("data set %q: noise variance %g: a classification has none", name, o.NoiseVariance)
	case !(o.TestShare >= 0 && o.TestShare < 1):
		return usage.Errorf("data set %q: test share %g: want 0 to 1, 1 excluded", name, o.TestShare)
	}
	return nil
}

// userTable is a user's file under way.
type userTable struct {
	file    string
	names   []string // of the columns: from the header, or their numbers
	headed  bool
	target  int // column
	task    Task
	x, y    []float64
	labels  []int
	words   []string // classes as they stand in the file, a row each
	lines   []int    // line of each row
	classes []string
}

// parseTable reads the bytes of a user's file.
func parseTable(data []byte, file string, o FileOptions) (*userTable, error) {
	t := &userTable{file: file, task: o.Task}
	err := eachRow(data, file, func(line int, fields []string) error {
		read := t.add
		if t.names == nil {
			read = func(line int, fields []string) error { return t.begin(line, fields, o.Target) }
		}
		if err := read(line, fields); err != nil {
			return &ParseError{file, line, err.Error()}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.lines) == 0 {
		return nil, &ParseError{file, 0, "no rows of numbers"}
	}
	return t, t.finish()
}

// eachRow calls row for every line that is not blank, cut into fields. What
// separates them shows in the first: a comma, else a semicolon, else white
// space.
func eachRow(data []byte, file string, row func(line int, fields []string) error) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark
	first, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	comma := ','
	if !bytes.ContainsRune(first, comma) {
		comma = ';'
	}
	if !bytes.ContainsRune(first, comma) {
		for i, line := range strings.Split(string(data), "\n") {
			if fields := strings.Fields(line); len(fields) > 0 {
				if err := row(i+1, fields); err != nil {
					return err
				}
			}
		}
		return nil
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = comma, -1, true
	for {
		fields, err := r.Read()
		var bad *csv.ParseError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &bad):
			return &ParseError{file, bad.Line, bad.Err.Error()}
		case err != nil:
			return err
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		line, _ := r.FieldPos(0)
		if err := row(line, fields); err != nil {
			return err
		}
	}
}

// begin reads the first row: the header if it has no number.
func (t *userTable) begin(line int, fields []string, target string) error {
	if len(fields) < 2 {
		return fmt.Errorf("%d columns: want a target and at least one feature", len(fields))
	}
	t.headed = !slices.ContainsFunc(fields, isNumber)
	for i, f := range fields {
		if !t.headed {
			f = strconv.Itoa(i + 1)
		}
		t.names = append(t.names, f)
	}
	if err := t.choose(target); err != nil || t.headed {
		return err
	}
	return t.add(line, fields)
}

func isNumber(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err == nil
}

// choose finds the target's column.
func (t *userTable) choose(target string) error {
	n := len(t.names)
	t.target = n - 1
	if target == "" {
		return nil
	}
	if i := slices.Index(t.names, target); i >= 0 {
		t.target = i
		if slices.Contains(t.names[i+1:], target) {
			return fmt.Errorf("two columns are called %q: want the number of one, from 1 to %d", target, n)
		}
		return nil
	}
	i, err := strconv.Atoi(target)
	switch {
	case err != nil && t.headed:
		return fmt.Errorf("no column is called %q: want one of %s", target, strings.Join(t.names, ", "))
	case err != nil:
		return fmt.Errorf("no header, so no column is called %q: want a number from 1 to %d", target, n)
	case i < 1 || i > n:
		return fmt.Errorf("no column %d: want 1 to %d", i, n)
	}
	t.target = i - 1
	return nil
}

// column is how errors call a column.
func (t *userTable) column(i int) string {
	if t.headed {
		return fmt.Sprintf("column %d (%.40q)", i+1, t.names[i])
	}
	return fmt.Sprintf("column %d", i+1)
}

// missing are the usual words for a value that is not there.
var missing = []string{"", "?", "na", "n/a", "nan", "null", "none", "-"}

// largest bounds the numbers of a user's file, so that their squares are
// finite.
const largest = 1e150

func (t *userTable) add(line int, fields []string) error {
	if err := columns(fields, len(t.names)); err != nil {
		return err
	}
	for i, f := range fields {
		if slices.Contains(missing, strings.ToLower(f)) {
			return fmt.Errorf("%s: the value is missing (%q): want every value, or the row left out", t.column(i), f)
		}
		if i == t.target && t.task == Classification {
			t.words = append(t.words, class(f))
			continue
		}
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || !(math.Abs(v) <= largest) {
			return fmt.Errorf("%s: %.40q is not a number from %g to %g", t.column(i), f, -largest, largest)
		}
		if i == t.target {
			t.y = append(t.y, v)
		} else {
			t.x = append(t.x, v)
		}
	}
	t.lines = append(t.lines, line)
	return nil
}

// finish numbers the classes and judges the target as a whole.
func (t *userTable) finish() error {
	whole := func(format string, args ...any) error {
		return &ParseError{t.file, 0, t.column(t.target) + ": " + fmt.Sprintf(format, args...)}
	}
	if t.task == Regression {
		if slices.Min(t.y) == slices.Max(t.y) {
			return whole("the target is %g in every row: want values that differ", t.y[0])
		}
		return nil
	}
	t.classes = slices.Clone(t.words)
	slices.SortFunc(t.classes, compareClasses)
	t.classes = slices.Compact(t.classes)
	if len(t.classes) < 2 {
		return whole("every row is of class %q: want at least two classes", t.classes[0])
	}
	count, at := make([]int, len(t.classes)), make([]int, len(t.classes))
	for row, w := range t.words {
		c, _ := slices.BinarySearchFunc(t.classes, w, compareClasses)
		t.labels = append(t.labels, c)
		count[c]++
		at[c] = t.lines[row]
	}
	for c, n := range count {
		if n == 1 {
			return &ParseError{t.file, at[c], fmt.Sprintf("%s: the only row of class %.40q: want at least two", t.column(t.target), t.classes[c])}
		}
	}
	return nil
}

// class is the name of the class that a field stands for: 1 and 1.0 are the
// same.
func class(field string) string {
	if v, err := strconv.ParseFloat(field, 64); err == nil {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return field
}

// compareClasses puts numbers before words, and sorts them by value.
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
