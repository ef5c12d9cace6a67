// Package gate compares two runs and says whether something moved: the
// convergence orders and constants of certify's JSON, the distances and costs
// of exported cells, or benchmarks in Go's text format.
package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"hambench/internal/table"
	"hambench/usage"
)

// ErrMoved says that the new run is not as good as, or not the same as, the
// old one.
var ErrMoved = errors.New("moved")

// Options are the thresholds. A zero stands for the default.
type Options struct {
	Order    float64 // largest change of a convergence order; default 0.05
	Constant float64 // largest relative change of a leading constant or error; default 0.005
	Alpha    float64 // family-wise error rate over all benchmarks; default 0.05
	Effect   float64 // smallest relative change of a benchmark that counts; default 0.05
	Distance float64 // smallest change of a cell's Kolmogorov distance that counts; default 0.03
}

func (o Options) complete() (Options, error) {
	for _, f := range []struct {
		name  string
		value *float64
		want  float64
	}{
		{"order", &o.Order, 0.05}, {"constant", &o.Constant, 0.005}, {"alpha", &o.Alpha, 0.05},
		{"effect", &o.Effect, 0.05}, {"distance", &o.Distance, 0.03},
	} {
		if !(*f.value >= 0) || math.IsInf(*f.value, 0) {
			return o, usage.Errorf("gate: threshold %s = %v: want a finite number > 0", f.name, *f.value)
		}
		if *f.value == 0 {
			*f.value = f.want
		}
	}
	if o.Alpha >= 1 {
		return o, usage.Errorf("gate: threshold alpha = %v: want less than 1", o.Alpha)
	}
	return o, nil
}

// Change is one thing that differs.
type Change struct {
	Where    string // the row: integrator, scheme …; or the benchmark
	What     string // the quantity
	Old, New string
	Why      string // the threshold or the test
}

// Report is the outcome of a comparison.
type Report struct {
	Kind     string // certify, cells or benchmarks
	Compared int    // quantities compared
	Moved    []Change
	Notes    []string // what is no failure but worth saying
}

// Err returns ErrMoved, with the number of changes, if something moved.
func (r *Report) Err() error {
	if len(r.Moved) == 0 {
		return nil
	}
	return fmt.Errorf("gate: %d of %d %w", len(r.Moved), r.Compared, ErrMoved)
}

// Write prints the report: a table of what moved, and the notes.
func (r *Report) Write(w io.Writer) error {
	if len(r.Moved) > 0 {
		var rows [][]string
		for _, c := range r.Moved {
			rows = append(rows, []string{c.Where, c.What, c.Old, c.New, c.Why})
		}
		if err := table.Write(w, []string{"where", "what", "old", "new", "why"}, rows); err != nil {
			return err
		}
	}
	for _, n := range r.Notes {
		if _, err := fmt.Fprintln(w, "note:", n); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s: %d compared, %d moved\n", r.Kind, r.Compared, len(r.Moved))
	return err
}

func (r *Report) moved(where, what, old, new, why string, args ...any) {
	r.Moved = append(r.Moved, Change{where, what, old, new, fmt.Sprintf(why, args...)})
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Files compares two files of the same kind. What cannot be read or compared
// is a usage error.
func Files(oldPath, newPath string, o Options) (*Report, error) {
	old, err := os.ReadFile(oldPath)
	if err != nil {
		return nil, usage.Errorf("gate: %w", err)
	}
	new, err := os.ReadFile(newPath)
	if err != nil {
		return nil, usage.Errorf("gate: %w", err)
	}
	return Compare(Run{oldPath, old}, Run{newPath, new}, o)
}

// Run is one run's output with the name by which errors call it.
type Run struct {
	Name string
	Data []byte
}

// Compare compares two runs of the same kind, which it tells by their form.
func Compare(old, new Run, o Options) (*Report, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	a, err := kindOf(old)
	if err != nil {
		return nil, err
	}
	b, err := kindOf(new)
	if err != nil {
		return nil, err
	}
	if a != b {
		return nil, usage.Errorf("gate: %s holds %s and %s %s: want two runs of the same kind", old.Name, a, new.Name, b)
	}
	switch a {
	case kindCertify:
		return compareCertify(old, new, o)
	case kindCells:
		return compareCells(old, new, o)
	}
	return compareBenchmarks(old, new, o)
}

const (
	kindCertify    = "certify"
	kindCells      = "cells"
	kindBenchmarks = "benchmarks"
)

// kindOf tells what a run holds: JSON with observables, JSON or CSV rows of
// cells, or else benchmark text.
func kindOf(r Run) (string, error) {
	text := bytes.TrimSpace(r.Data)
	if len(text) == 0 {
		return "", usage.Errorf("gate: %s is empty: want certify JSON, exported cells, or benchmark text", r.Name)
	}
	header, _, _ := strings.Cut(string(text[:min(len(text), 4096)]), "\n")
	switch {
	case text[0] == '[' || text[0] == '{':
		if bytes.Contains(text, []byte(`"observables"`)) {
			return kindCertify, nil
		}
		return kindCells, nil
	case strings.Contains(header, ",") && strings.HasPrefix(header, cellColumns[0]+","):
		return kindCells, nil
	}
	return kindBenchmarks, nil
}
