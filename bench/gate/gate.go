// Package gate compares two runs and decides whether the second is worse: the
// convergence orders and constants of certify's JSON, or the distances of exported
// cells.
//
// Compare recognises the kind of its input by its form and returns a Report. There are
// three distinct outcomes:
//
//	Err() == nil                        nothing moved by as much as counts
//	errors.Is(r.Err(), ErrMoved)        something did: Moved has what, and why
//	errors.Is(r.Err(), ErrUndecided)    the noise hides a change that counts
//
// Orders and constants are exact: they are compared without a test. Distances that are
// equal pass. A distance that differs passes if a change that counts
// (Options.Distance) would look like it in at most one of ten runs. Otherwise it has moved if it
// is significantly worse, at an error rate of Options.Alpha over all comparisons together.
// What is neither is undecided, and the report says how many more splits would decide
// it. docs/gate.md has the power and the rate of false alarms, both by simulation.
package gate

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"hambench/bench/table"
	"hambench/internal/distinct"
	"hambench/internal/input"
	tables "hambench/internal/table"
	"hambench/usage"
)

// The errors of a Report.
var (
	// ErrMoved says that the new run is not as good as, or not the same as, the old
	// one.
	ErrMoved = errors.New("moved")
	// ErrUndecided says that nothing moved for certain, and that a change that counts
	// could have been missed.
	ErrUndecided = errors.New("cannot decide")
)

// Options are the thresholds. Zero means the default.
// They are those of the command's flags.
type Options struct {
	Order    float64 // largest change of a convergence order; default 0.05
	Constant float64 // largest relative change of a leading constant or error; default 0.005
	Alpha    float64 // family-wise error rate over all tests; default 0.05
	// Distance is the smallest change of a cell's Kolmogorov distance that counts, for
	// distances of up to 0.1; above, it grows in proportion. Default 0.03.
	Distance float64
}

// complete fills in the defaults and refuses thresholds that are out of range.
func (o Options) complete() (Options, error) {
	// The pointers are into o, a copy of the caller's. NaN is not 0, so no default replaces it, and
	// not above 0 either: it is refused.
	for _, v := range []struct {
		name  string
		value *float64
		usual float64
	}{
		{"order", &o.Order, 0.05}, {"constant", &o.Constant, 0.005},
		{"alpha", &o.Alpha, 0.05}, {"distance", &o.Distance, 0.03},
	} {
		*v.value = cmp.Or(*v.value, v.usual)
		if !(*v.value > 0) || math.IsInf(*v.value, 0) {
			return o, usage.Errorf("gate: threshold %s = %v: want a finite number > 0", v.name,
				*v.value)
		}
	}
	if o.Alpha >= 1 {
		return o, usage.Errorf("gate: threshold alpha = %v: want less than 1", o.Alpha)
	}
	return o, nil
}

// Change is one thing that differs, in words: a Report is for people, and scripts have the exit
// code.
type Change struct {
	Where    string // the row: integrator, scheme …; or the cell
	What     string // the quantity
	Old, New string
	Why      string // the threshold or the test
}

// Undecided is a comparison that the noise hides, or of a cell of which other chains diverge than
// before, and no more of them: these have no test, and no number of splits decides them.
type Undecided struct {
	Where, What string
	Change      string // as measured
	Smallest    string // the change that would be found in nine of ten runs
	Effect      string // what counts
	// splits of each run that would decide it; above mostRuns: more than those; 0: none would
	More int
}

// Report is the outcome of a comparison.
// Moved and Undecided are in the order of the old run, what had no test first.
type Report struct {
	Kind      string // certify or cells
	Compared  int    // quantities compared
	Equal     int    // of them, those cells that are the same to the last digit
	Moved     []Change
	Undecided []Undecided
	Notes     []string // what is not a failure but should be said
}

// Err returns an error that wraps ErrMoved if something moved, or else ErrUndecided if
// something could not be decided.
// Its text says how many comparisons moved, or how many splits would decide.
func (r *Report) Err() error {
	switch {
	case len(r.Moved) > 0:
		return fmt.Errorf("gate: %d of %d %w", len(r.Moved), r.Compared, ErrMoved)
	case len(r.Undecided) > 0:
		// As many splits as the least certain comparison needs decide all that any decide.
		u := slices.MaxFunc(r.Undecided, func(a, b Undecided) int {
			return cmp.Compare(a.More, b.More)
		})
		why := "other chains diverge than before, and no more of them, which no test decides"
		if u.More > 0 {
			why = fmt.Sprintf("a change of --distance %s would be missed in more than one of ten "+
				"runs: run %s further splits", u.Effect, splits(u.More))
		}
		return fmt.Errorf("gate: %w: %s (%d of %d comparisons)", ErrUndecided, why,
			len(r.Undecided), r.Compared)
	}
	return nil
}

// Write prints the report: a table of what moved, one of what cannot be decided, the
// notes, and a line of numbers.
// Nothing is printed of comparisons that passed, except their number.
func (r *Report) Write(w io.Writer) error {
	var moved, undecided [][]string
	for _, c := range r.Moved {
		moved = append(moved, []string{c.Where, c.What, c.Old, c.New, c.Why})
	}
	for _, u := range r.Undecided {
		undecided = append(undecided, []string{
			u.Where, u.What, u.Change, u.Smallest, u.Effect, splits(u.More),
		})
	}
	var err error
	if len(moved) > 0 {
		err = tables.Write(w, []string{"where", "what", "old", "new", "why"}, moved)
	}
	if len(undecided) > 0 && err == nil {
		header := []string{"cannot decide", "what", "worse by", "would find", "counts from",
			"run more"}
		err = tables.Write(w, header, undecided)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, "note:", n)
	}
	// Of orders none is undecided, and none is counted as equal.
	line := fmt.Sprintf("%s: %d compared, %d moved", r.Kind, r.Compared, len(r.Moved))
	if r.Kind == kindCells {
		passed := r.Compared - len(r.Moved) - len(r.Undecided) - r.Equal
		line += fmt.Sprintf(", %d undecided, %d equal, %d differ and pass", len(r.Undecided),
			r.Equal, passed)
	}
	_, last := fmt.Fprintln(w, line)
	return cmp.Or(err, last)
}

// moved adds a change that makes the gate fail.
func (r *Report) moved(where, what, old, now, why string) {
	r.Moved = append(r.Moved, Change{where, what, old, now, why})
}

// exchanged adds a cell of which some chains diverge newly, and as many or more do no more. Two
// right runs differ so where chains diverge by chance: it has not moved, and does not pass either.
func (r *Report) exchanged(where string, newly, ceased int) {
	r.Undecided = append(r.Undecided, Undecided{
		Where: where, What: "diverged", Smallest: "no test", Effect: "1 more than before",
		Change: fmt.Sprintf("%d chains newly, %d no more", newly, ceased),
	})
}

// note adds what should be said and is no failure.
func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// join has the rows of the old run compared with those of the new one that have the same
// values in the columns, of which the new run may have none: compare then gets a table without
// rows, and decides what that means. What only the new run has, such as a further split of a
// cell, is noted, since a new integrator is no regression.
func (r *Report) join(old, now *table.Table, columns []table.Column,
	compare func(where string, old, now *table.Table)) {
	added := 0
	for _, p := range table.Join(old, now, namesOf(columns)...) {
		// Both sides may have several rows, as splits: the new run's surplus is what was added.
		added += max(0, p.Right.Len()-p.Left.Len())
		if p.Left.Len() == 0 {
			continue
		}
		r.Compared++
		compare(where(p.Left.Rows()[0], columns), p.Left, p.Right)
	}
	if added > 0 {
		r.note("%d rows of the new run are not in the old one", added)
	}
}

// where names a row for people by its values in the columns, except those that it lacks.
func where(r table.Row, columns []table.Column) string {
	var parts []string
	for _, c := range columns {
		if v := r.Get(c.Name); !v.IsNone() {
			text := v.String()
			if text == "+Inf" { // as files write it
				text = "inf"
			}
			parts = append(parts, c.Name+"="+text)
		}
	}
	return strings.Join(parts, " ")
}

// namesOf returns the names of columns.
func namesOf(columns []table.Column) []string {
	return distinct.Of(columns, func(c table.Column) string { return c.Name })
}

// Run is one run's output, with its name in errors.
type Run struct {
	Name string
	Data []byte
}

// Files compares two files of the same kind. What cannot be read or compared is a usage
// error.
func Files(oldPath, newPath string, o Options) (*Report, error) {
	var runs []Run
	for _, path := range []string{oldPath, newPath} {
		data, err := input.Read(path)
		if err != nil {
			return nil, usage.Errorf("gate: %w", err)
		}
		runs = append(runs, Run{path, data})
	}
	return Compare(runs[0], runs[1], o)
}

// Compare compares two runs of the same kind, which it recognises by their form.
// Two runs of different kinds are a usage error.
func Compare(old, now Run, o Options) (*Report, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	for _, r := range []*Run{&old, &now} { // as spreadsheets write CSV
		r.Data = bytes.TrimPrefix(r.Data, []byte("\ufeff"))
	}
	a, b, err := both(old, now, kindOf)
	switch {
	case err != nil:
		return nil, err
	case a != b:
		return nil, usage.Errorf("gate: %s holds %s and %s %s: want two runs of the same kind",
			old.Name, a, now.Name, b)
	case a == kindCertify:
		return compareCertify(old, now, o)
	}
	return compareCells(old, now, o)
}

// both parses two runs.
// The error is that of the first which cannot be parsed.
func both[T any](old, now Run, parse func(Run) (T, error)) (a, b T, err error) {
	if a, err = parse(old); err == nil {
		b, err = parse(now)
	}
	return a, b, err
}

// Kinds of runs, as reports and errors name them.
const (
	kindCertify = "certify"
	kindCells   = "cells"
)

// wanted says in errors what can be compared.
const wanted = "want the output of certify --json or of hambench export " +
	"(benchmarks: benchstat, see docs/gate.md)"

// kindOf recognises what a run holds: JSON with observables, or JSON or CSV rows of
// cells. A table of another kind is refused by its name.
// What a cell's table lacks is named, and the table of a figure, which looks like one, by its
// kind.
func kindOf(r Run) (string, error) {
	text := bytes.TrimSpace(r.Data)
	header, _, _ := strings.Cut(string(text), "\n")
	switch {
	case len(text) == 0:
		return "", usage.Errorf("gate: %s is empty: %s", r.Name, wanted)
	case text[0] == '[' || text[0] == '{':
		// The key of certify's rows; no column of an export has this name.
		if bytes.Contains(text, []byte(`"observables"`)) {
			return kindCertify, nil
		}
		return kindCells, nil
	case !strings.Contains(header, ","):
		return "", usage.Errorf("gate: %s is neither JSON nor CSV: %s", r.Name, wanted)
	}
	names, err := csv.NewReader(bytes.NewReader(text)).Read() // quoted or not
	if err != nil {
		return "", usage.Errorf("gate: %s: %w", r.Name, err)
	}
	return kindCells, checkHeader(r.Name, names)
}

// checkHeader distinguishes an export from the CSV of a figure or table.
// A figure's table has means over splits, of which no single cell can be compared.
func checkHeader(name string, header []string) error {
	lacks := slices.DeleteFunc(slices.Clone(required), func(column string) bool {
		return slices.Contains(header, column)
	})
	for i, column := range header {
		if column != "" && slices.Contains(header[:i], column) {
			return usage.Errorf("gate: %s has two columns %q: want each once", name, column)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	kind := "no export"
	isFigure := func(column string) bool { return slices.Contains(header, column) }
	if slices.ContainsFunc([]string{"dataset", "h", "ks_mean"}, isFigure) {
		kind = "the table of a figure and no export"
	}
	return usage.Errorf("gate: %s is %s: it lacks the columns %s; want the output of "+
		"hambench export",
		name, kind, strings.Join(lacks, ", "))
}
