//go:build linux

// Command faults breaks sweeps in the ways that machines break them, and
// counts what the store lost and what it has wrong: both must be 0.
//
// It builds the program, and a small one of the same packages (test/faults/small),
// which it lets run undisturbed once. It compares every store that went through
// a fault with that one, record by record and bit by bit, with a reader of its
// own. It prints one line per fault and exits with 1
// if one of them was not withstood.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// fault is one way to break a run.
type fault struct {
	name string
	run  func(*lab) (verdict, error)
}

// verdict is what a fault did to a store.
type verdict struct {
	done   string // what was done, in words
	before int    // records when the fault struck, the first time if it did more than once
	after  int    // records in the end
	damage
}

// errSkipped says that this machine cannot play a fault.
var errSkipped = errors.New("SKIPPED")

func faults() []fault {
	return []fault{
		{"controls", (*lab).controls},
		{"kill", (*lab).kill},
		{"disk", (*lab).fullDisk},
		{"readonly", (*lab).readOnly},
		{"path", (*lab).oddPath},
		{"clock", (*lab).clock},
		{"shared", (*lab).shared},
		{"signals", (*lab).signals},
		{"planted", (*lab).planted},
		{"memory", (*lab).memory},
	}
}

func main() {
	ok, err := run(os.Stdout, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(stdout io.Writer, args []string) (ok bool, err error) {
	fs := flag.NewFlagSet("faults", flag.ContinueOnError)
	only := fs.String("only", "", "`NAME,…` of the faults; all if empty")
	seed := fs.Uint64("seed", 1, "of the random moments")
	kills := fs.Int("kills", 100, "number of kills")
	keep := fs.Bool("keep", false, "keep the folder of the stores")
	if err := fs.Parse(args); err != nil {
		return false, err
	}
	l, err := newLab(*seed, *kills)
	if err != nil {
		return false, err
	}
	if *keep {
		fmt.Fprintln(stdout, "folder:", l.dir)
	} else {
		defer os.RemoveAll(l.dir)
	}
	begin := time.Now()
	if err := l.prepare(); err != nil {
		return false, err
	}
	fmt.Fprintf(stdout, "built, and ran undisturbed: %d records of cells and references, %d figures and tables (%s)\n",
		len(l.whole.records), len(l.whole.figures), time.Since(begin).Round(time.Second))
	ok = true
	for _, f := range faults() {
		if *only == "" || slices.Contains(strings.Split(*only, ","), f.name) {
			ok = l.report(stdout, f) && ok
		}
	}
	fmt.Fprintf(stdout, "seed %d, %s\n", *seed, time.Since(begin).Round(time.Second))
	return ok, nil
}

// report runs a fault and prints its line.
func (l *lab) report(stdout io.Writer, f fault) bool {
	begin := time.Now()
	v, err := f.run(l)
	took := time.Since(begin).Round(time.Second)
	switch {
	case errors.Is(err, errSkipped):
		fmt.Fprintf(stdout, "%-8s ***SKIPPED***  %v\n", f.name, err)
		return true
	case err != nil:
		fmt.Fprintf(stdout, "%-8s FAILED  %s: %v (%s)\n", f.name, v.done, err, took)
		return false
	}
	word := "ok"
	if v.lost+v.wrong > 0 {
		word = "FAILED"
	}
	fmt.Fprintf(stdout, "%-8s %s  %s: records %d -> %d, lost %d, wrong %d (%s)\n", f.name, word, v.done, v.before, v.after, v.lost, v.wrong, took)
	for _, d := range v.details[:min(len(v.details), 5)] {
		fmt.Fprintf(stdout, "         %s\n", d)
	}
	return word == "ok"
}

// lab is where the faults are played.
type lab struct {
	dir, module string
	program     string // as users have it
	small       string // made of the same packages, with small references and short chains
	seed        uint64
	kills       int
	wholeOut    string // output folder of the undisturbed run of small
	whole       contents
}

func newLab(seed uint64, kills int) (*lab, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	dir, err := os.MkdirTemp("", "faults-")
	if err != nil {
		return nil, err
	}
	// Programs of another user must get in.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	l := &lab{dir: dir, module: strings.TrimSpace(string(out)), seed: seed, kills: kills}
	l.program, l.small = filepath.Join(dir, "hambench"), filepath.Join(dir, "small")
	l.wholeOut = filepath.Join(dir, "whole")
	return l, nil
}

// prepare builds the programs and makes the undisturbed run.
func (l *lab) prepare() error {
	if err := errors.Join(build(l.module, "./cmd/hambench", l.program), build(l.module, "./test/faults/small", l.small)); err != nil {
		return err
	}
	if err := l.finish(l.wholeOut); err != nil {
		return fmt.Errorf("undisturbed run: %w", err)
	}
	var err error
	l.whole, err = read(l.wholeOut)
	if err == nil && (len(l.whole.records) < 200 || len(l.whole.torn) > 0) {
		err = fmt.Errorf("undisturbed run: %d records, torn %v: want 200 or more, none torn", len(l.whole.records), l.whole.torn)
	}
	return err
}

// all is what a gauge counts at the sweep's end.
func (l *lab) all() int { return len(l.whole.records) - 1 + partsOfReference }

// folder returns a new output folder's path.
func (l *lab) folder(name string) string { return filepath.Join(l.dir, name, "out") }

// compare compares an output folder with the undisturbed one.
func (l *lab) compare(out string) (contents, damage, error) {
	c, err := read(out)
	if err != nil {
		return c, damage{}, err
	}
	d := compare(l.whole, c)
	if p := l.call(l.program, "store", "verify", "--out", out); p.code != 0 {
		err = fmt.Errorf("store verify: exit code %d: %s", p.code, p.stdout)
	}
	return c, d, err
}
