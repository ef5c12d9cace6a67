// Package gate compares two runs and decides whether the second is worse: the
// convergence orders and constants of certify's JSON, the distances and costs
// of exported cells, or benchmarks in Go's text format.
//
// Compare recognises the kind of its input by its form and returns a Report. There
// are three distinct outcomes:
//
//	Err() == nil                        nothing moved
//	errors.Is(r.Err(), ErrMoved)        something did: Moved has what, and why
//	errors.Is(r.Err(), ErrUndecided)    the noise hides a change that counts
//
// Equal values pass. A value that differs passes only if a change that counts
// (Options.Effect, Options.Distance) would look like it in at most one of ten
// runs. It has moved if it is significantly worse, at an error rate of
// Options.Alpha over all comparisons together. What is neither is undecided, and
// the report says how many more runs would decide it. docs/gate.md has the power
// and the rate of false alarms, both by simulation.
//
// Orders and constants are exact: they are compared without a test.
package gate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hambench/internal/distinct"
	"hambench/internal/table"
	"hambench/usage"
)

// The errors of a Report.
var (
	// ErrMoved says that the new run is not as good as, or not the same as, the
	// old one.
	ErrMoved = errors.New("moved")
	// ErrUndecided says that nothing moved for certain, and that a change that
	// counts could have been missed.
	ErrUndecided = errors.New("cannot decide")
)

// Options are the thresholds. Zero means the default.
type Options struct {
	Order    float64 // largest change of a convergence order; default 0.05
	Constant float64 // largest relative change of a leading constant or error; default 0.005
	Alpha    float64 // family-wise error rate over all tests; default 0.05
	// Effect is the smallest relative change of a benchmark that counts; for the
	// costs of cells it is twice that. Default 0.05.
	Effect float64
	// Distance is the smallest change of a cell's Kolmogorov distance that
	// counts, for distances of up to 0.1; above, it grows in proportion. Default
	// 0.03.
	Distance float64
	// NoCost leaves out the costs of cells, which differ between machines.
	NoCost bool
}

func (o Options) complete() (Options, error) {
	o.Order, o.Constant, o.Alpha = cmp.Or(o.Order, 0.05), cmp.Or(o.Constant, 0.005), cmp.Or(o.Alpha, 0.05)
	o.Effect, o.Distance = cmp.Or(o.Effect, 0.05), cmp.Or(o.Distance, 0.03)
	names := []string{"order", "constant", "alpha", "effect", "distance"}
	for i, v := range []float64{o.Order, o.Constant, o.Alpha, o.Effect, o.Distance} {
		if !(v > 0) || math.IsInf(v, 0) {
			return o, usage.Errorf("gate: threshold %s = %v: want a finite number > 0", names[i], v)
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

// Undecided is a comparison that the noise hides.
type Undecided struct {
	Where, What string
	Change      string // as measured
	Smallest    string // the change that would be found in nine of ten runs
	Flag        string // that sets what counts
	Effect      string // what counts
	More        int    // runs of each side that would decide it
}

// Pair is a quantity in both runs: the mean distance of a cell, the mean of a
// benchmark, the relative error of an observable at the smallest step.
type Pair struct {
	Where, What string
	Old, New    float64 // NaN if a chain diverged, or if there is no value
	Outcome     Outcome
}

// Outcome is the decision on a pair.
type Outcome string

// The outcomes, in the order in which they matter.
const (
	Moved     Outcome = "moved"
	Hidden    Outcome = "undecided"
	Passed    Outcome = "passed"
	Unchanged Outcome = "equal"
)

// Report is the outcome of a comparison.
type Report struct {
	Old, New  string // names of the runs
	Kind      string // certify, cells or benchmarks
	Compared  int    // quantities compared
	Equal     int    // of them, those that are the same to the last digit
	Moved     []Change
	Undecided []Undecided
	Pairs     []Pair   // all quantities that were compared, in the order of the old run
	Notes     []string // what is not a failure but worth saying

	tests []comparison // to be decided
}

// Err returns an error that wraps ErrMoved if something moved, or else
// ErrUndecided if something could not be decided.
func (r *Report) Err() error {
	switch {
	case len(r.Moved) > 0:
		return fmt.Errorf("gate: %d of %d %w", len(r.Moved), r.Compared, ErrMoved)
	case len(r.Undecided) > 0:
		return fmt.Errorf("gate: %w: %s (%d of %d comparisons)", ErrUndecided, r.missing(), len(r.Undecided), r.Compared)
	}
	return nil
}

// missing says what could be missed, by flag, and how many runs would show it.
func (r *Report) missing() string {
	var parts []string
	for _, flag := range []string{absolutely.flag, relatively.flag} {
		most := Undecided{}
		for _, u := range r.Undecided {
			if u.Flag == flag && u.More > most.More {
				most = u
			}
		}
		if most.More > 0 {
			parts = append(parts, fmt.Sprintf("a change of %s %s would be missed in more than one of ten runs: run %d more", flag, most.Effect, most.More))
		}
	}
	return strings.Join(parts, "; ")
}

// Write prints the report: a table of what moved, one of what cannot be
// decided, the notes, and a line of numbers.
func (r *Report) Write(w io.Writer) error {
	var moved, undecided [][]string
	for _, c := range r.Moved {
		moved = append(moved, []string{c.Where, c.What, c.Old, c.New, c.Why})
	}
	for _, u := range r.Undecided {
		undecided = append(undecided, []string{u.Where, u.What, u.Change, u.Smallest, u.Effect, strconv.Itoa(u.More)})
	}
	var err error
	if len(moved) > 0 {
		err = table.Write(w, []string{"where", "what", "old", "new", "why"}, moved)
	}
	if len(undecided) > 0 && err == nil {
		err = table.Write(w, []string{"cannot decide", "what", "worse by", "would find", "counts from", "run more"}, undecided)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, "note:", n)
	}
	line := fmt.Sprintf("%s: %d compared, %d moved", r.Kind, r.Compared, len(r.Moved))
	if r.Kind != kindCertify {
		line += fmt.Sprintf(", %d undecided, %d equal", len(r.Undecided), r.Equal)
	}
	_, last := fmt.Fprintln(w, line)
	return cmp.Or(err, last)
}

// begin adds a quantity as both runs have it, and returns its number.
func (r *Report) begin(where, what string, old, new float64) int {
	p := Pair{where, what, old, new, Passed}
	if old == new || math.IsNaN(old) && math.IsNaN(new) {
		p.Outcome = Unchanged
	}
	r.Pairs = append(r.Pairs, p)
	r.Compared++
	return len(r.Pairs) - 1
}

// moved says of a quantity, by its number, that it moved.
func (r *Report) moved(at int, what, old, new, why string, args ...any) {
	r.Pairs[at].Outcome = Moved
	r.Moved = append(r.Moved, Change{r.Pairs[at].Where, what, old, new, fmt.Sprintf(why, args...)})
}

// test adds a comparison of a quantity, by its number, that the tests are to decide.
func (r *Report) test(at int, c comparison) {
	c.at = at
	r.tests = append(r.tests, c)
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Files compares two files of the same kind. What cannot be read or compared
// is a usage error.
func Files(oldPath, newPath string, o Options) (*Report, error) {
	var runs []Run
	for _, path := range []string{oldPath, newPath} {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, usage.Errorf("gate: %w", err)
		}
		runs = append(runs, Run{path, data})
	}
	return Compare(runs[0], runs[1], o)
}

// Run is one run's output, with its name in errors.
type Run struct {
	Name string
	Data []byte
}

// Compare compares two runs of the same kind, which it recognises by their form.
func Compare(old, new Run, o Options) (*Report, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	a, b, err := both(old, new, kindOf)
	if err != nil {
		return nil, err
	}
	if a != b {
		return nil, usage.Errorf("gate: %s holds %s and %s %s: want two runs of the same kind", old.Name, a, new.Name, b)
	}
	compare := map[string]func(Run, Run, Options) (*Report, error){kindCertify: compareCertify, kindCells: compareCells, kindBenchmarks: compareBenchmarks}[a]
	r, err := compare(old, new, o)
	if err != nil {
		return nil, err
	}
	r.Old, r.New = old.Name, new.Name
	return r, nil
}

// both parses two runs.
func both[T any](old, new Run, parse func(Run) (T, error)) (a, b T, err error) {
	if a, err = parse(old); err == nil {
		b, err = parse(new)
	}
	return a, b, err
}

// quantities are what is compared of a run, by a key that names it.
type quantities[V any] struct {
	of          map[string]*V
	keys        []string // in the order of the run
	environment environment
}

func newQuantities[V any]() *quantities[V] {
	return &quantities[V]{of: make(map[string]*V), environment: make(environment)}
}

// at is the quantity of a key, a new one if there is none.
func (q *quantities[V]) at(key string) *V {
	if q.of[key] == nil {
		q.of[key] = new(V)
		q.keys = append(q.keys, key)
	}
	return q.of[key]
}

// finish decides what is to be tested, and notes what else differs between the runs.
func finish[V any](r *Report, old, new *quantities[V], o Options) *Report {
	r.decide(o.Alpha)
	r.noteEnvironment(old.environment, new.environment)
	added := slices.DeleteFunc(slices.Clone(new.keys), func(key string) bool { return old.of[key] != nil })
	if len(added) > 0 {
		r.note("%d rows of the new run are not in the old one", len(added))
	}
	return r
}

const (
	kindCertify    = "certify"
	kindCells      = "cells"
	kindBenchmarks = "benchmarks"
)

// kindOf recognises what a run holds: JSON with observables, JSON or CSV rows
// of cells, or benchmark text. A table of another kind is refused by its name.
func kindOf(r Run) (string, error) {
	text := bytes.TrimSpace(r.Data)
	if len(text) == 0 {
		return "", usage.Errorf("gate: %s is empty: want certify JSON, exported cells, or benchmark text", r.Name)
	}
	if text[0] == '[' || text[0] == '{' {
		if bytes.Contains(text, []byte(`"observables"`)) {
			return kindCertify, nil
		}
		return kindCells, nil
	}
	header, _, _ := strings.Cut(string(text), "\n")
	if !benchmarkLine.Match(text) && strings.Contains(header, ",") {
		return kindCells, checkHeader(r.Name, strings.Split(strings.TrimSpace(header), ","))
	}
	return kindBenchmarks, nil
}

var benchmarkLine = regexp.MustCompile(`(?m)^Benchmark`)

// checkHeader distinguishes an export from the CSV of a figure or table.
func checkHeader(name string, header []string) error {
	var lacks []string
	for _, want := range required {
		if !slices.Contains(header, want) {
			lacks = append(lacks, want)
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	kind := "no export"
	if slices.Contains(header, "dataset") || slices.Contains(header, "h") || slices.Contains(header, "ks_mean") {
		kind = "the table of a figure and no export"
	}
	return usage.Errorf("gate: %s is %s: it lacks the columns %s; want the output of hambench export", name, kind, strings.Join(lacks, ", "))
}

// environment is what is said of the machine and the program that made a run:
// the values by name.
type environment map[string][]string

func (e environment) add(name, value string) {
	if value != "" {
		e[name] = distinct.Append(e[name], value)
	}
}

// values are those of a name, in order; "" if there is none.
func (e environment) values(name string) string {
	return strings.Join(slices.Sorted(slices.Values(e[name])), " and ")
}

// noteEnvironment notes how the environments differ, as far as both runs state them.
func (r *Report) noteEnvironment(old, new environment) {
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if a, b := old.values(name), new.values(name); b != "" && a != b {
			r.note("%s differs: %s in the old run, %s in the new one", name, a, b)
		}
	}
}
