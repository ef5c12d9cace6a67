package datasets

import (
	"fmt"
	"math"
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

// appendNumbers parses fields as finite numbers.
func appendNumbers(dst []float64, fields []string) ([]float64, error) {
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("column %d: %.40q is not a finite number", i+1, f)
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// parseRegression reads rows of numbers separated by white space, the last
// one the target.
func parseRegression(s *Set, files [][]byte, names []string) error {
	return records(files[0], names[0], func(line string) error {
		fields := strings.Fields(line)
		if err := columns(fields, s.Features+1); err != nil {
			return err
		}
		row, err := appendNumbers(nil, fields)
		if err != nil {
			return err
		}
		s.X, s.Y = append(s.X, row[:s.Features]...), append(s.Y, row[s.Features])
		return nil
	})
}

// parseIonosphere reads 34 numbers and g (good, class 1) or b (bad, class 0),
// separated by commas.
func parseIonosphere(s *Set, files [][]byte, names []string) error {
	return records(files[0], names[0], func(line string) error {
		return s.appendLabelled(strings.Split(line, ","), map[string]int{"b": 0, "g": 1}, "b or g")
	})
}

// parseVehicle reads 18 numbers and the class's name, separated by white
// space, from several files.
func parseVehicle(s *Set, files [][]byte, names []string) error {
	classes := map[string]int{"bus": 0, "opel": 1, "saab": 2, "van": 3}
	for i, f := range files {
		err := records(f, names[i], func(line string) error {
			return s.appendLabelled(strings.Fields(line), classes, "bus, opel, saab or van")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) appendLabelled(fields []string, classes map[string]int, want string) error {
	if err := columns(fields, s.Features+1); err != nil {
		return err
	}
	class, ok := classes[fields[s.Features]]
	if !ok {
		return fmt.Errorf("column %d: class %.40q: want %s", s.Features+1, fields[s.Features], want)
	}
	x, err := appendNumbers(s.X, fields[:s.Features])
	if err != nil {
		return err
	}
	s.X, s.Labels = x, append(s.Labels, class)
	return nil
}
