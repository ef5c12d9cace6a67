package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ParseError says where a data file is not what it should be.
type ParseError struct {
	File    string
	Line    int // from 1; 0 is the file as a whole
	Problem string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s: line %d: %s", e.File, e.Line, e.Problem)
}

// records calls row for every line of a file that is not blank.
func records(data []byte, file string, row func(line string) error) error {
	seen := 0
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		seen++
		if err := row(line); err != nil {
			return &ParseError{file, i + 1, err.Error()}
		}
	}
	if seen == 0 {
		return &ParseError{file, 0, "no rows"}
	}
	return nil
}

// columns checks the number of a line's fields.
func columns(fields []string, want int) error {
	if len(fields) != want {
		return fmt.Errorf("%d columns: want %d", len(fields), want)
	}
	return nil
}

// The formats of the published files: numbers, the last one the target, or
// numbers and the name of a class (of Ionosphere, b is bad and g is good).
var (
	parseRegression = rowsOf(strings.Fields)
	parseIonosphere = rowsOf(func(line string) []string { return strings.Split(line, ",") }, "b", "g")
	parseVehicle    = rowsOf(strings.Fields, "bus", "opel", "saab", "van")
)

// rowsOf returns the parser of files with a row of a set on each line, which
// cut takes apart. With classes, each row ends in the name of one.
func rowsOf(cut func(line string) []string, classes ...string) func(s *Set, files [][]byte, names []string) error {
	return func(s *Set, files [][]byte, names []string) error {
		for i, f := range files {
			err := records(f, names[i], func(line string) error { return s.appendRow(cut(line), classes) })
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func (s *Set) appendRow(fields, classes []string) error {
	n, class := s.Features, 0
	if err := columns(fields, n+1); err != nil {
		return err
	}
	if last := len(classes) - 1; last > 0 {
		if class = slices.Index(classes, fields[n]); class < 0 {
			return fmt.Errorf("column %d: class %.40q: want %s or %s", n+1, fields[n], strings.Join(classes[:last], ", "), classes[last])
		}
		fields = fields[:n]
	}
	row := make([]float64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("column %d: %.40q is not a finite number", i+1, f)
		}
		row[i] = v
	}
	s.X = append(s.X, row[:n]...)
	if classes == nil {
		s.Y = append(s.Y, row[n])
	} else {
		s.Labels = append(s.Labels, class)
	}
	return nil
}
