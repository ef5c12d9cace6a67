package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hambench/bench"
	"hambench/usage"
)

func storeCommand() *command {
	return &command{
		name:    "store",
		about:   "Verifies, merges and describes stores of results.",
		example: "hambench store verify --out out",
		sub: []*command{
			{name: "verify", about: "Reads every record and oracle and lists what cannot be used.", detail: verifyDetail, example: "hambench store verify --out out", run: runStoreVerify},
			{name: "merge", about: "Adds the results of other output folders to one: records, oracles, exact errors.", usage: "DIR …", detail: mergeDetail, example: "hambench store merge --out all shard0 shard1", run: runStoreMerge},
			{name: "stats", about: "Counts what a store holds.", example: "hambench store stats", run: runStoreStats},
		},
	}
}

const (
	verifyDetail = `Nothing is changed. The exit code is 1 while something is left to do: a damaged
or foreign line or a damaged oracle that is not set aside yet, or two results of
one cell that differ. The next reproduce with the same --out sets aside what
cannot be used (a copy of the line, or the oracle itself, goes to
store/set-aside; lines stay in their file) and computes again what it needs of
it. After that verify lists the same lines as set aside, and the exit code is 0.`
	mergeDetail = `What is there is kept. Two results of one cell, or two oracles, that differ on
the same instruction set are an error that names both, and so are exact errors
with another verdict. What cannot be used in another folder is listed and left
there; the exit code is then 1.`
)

// storeArgs parses --out and returns it with the arguments.
func storeArgs(c *command, stdout io.Writer, args []string) (out string, rest []string, err error) {
	fs := c.flagSet()
	fs.StringVar(&out, "out", defaultOut, "`DIR` of results and figures")
	rest, err = c.parse(fs, stdout, args)
	if err == nil && out == "" {
		err = usage.Errorf("--out is empty: want a folder")
	}
	return out, rest, err
}

func runStoreVerify(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	out, _, err := storeArgs(c, stdout, args)
	if err != nil {
		return err
	}
	r, err := bench.Verify(filepath.Join(out, "store"))
	if err != nil {
		return err
	}
	for _, t := range r.Troubles {
		if t.Known {
			fmt.Fprintf(stdout, "%v; set aside\n", t)
		} else {
			fmt.Fprintln(stdout, t)
		}
	}
	for _, e := range r.Clashes {
		fmt.Fprintln(stdout, e)
	}
	fmt.Fprintf(stdout, "%d records of %d cells and %d oracles are good; %d cannot be used, %d pairs differ; files set aside: %d\n",
		r.Records, r.Cells, r.Oracles, r.New(), len(r.Clashes), len(r.SetAside))
	if !r.OK() {
		return fmt.Errorf("store %s has records or oracles that cannot be used; the next reproduce sets damaged ones aside", out)
	}
	return nil
}

func runStoreMerge(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	out, from, err := storeArgs(c, stdout, args)
	if err != nil {
		return err
	}
	if len(from) == 0 {
		return usage.Errorf("%s: no folders to merge: want one or more output folders", c.name)
	}
	for i, dir := range from {
		from[i] = filepath.Join(dir, "store")
		// A mistyped folder must not leave a new store behind.
		if info, err := os.Stat(from[i]); err != nil || !info.IsDir() {
			return usage.Errorf("%s holds no store: want output folders of reproduce", dir)
		}
	}
	s, err := bench.Open(filepath.Join(out, "store"))
	if err != nil {
		return err
	}
	defer s.Close()
	m, err := s.Merge(from...)
	ours, exact := certifiedRows(s), 0
	for _, dir := range from {
		if err == nil {
			var n int
			n, err = ours.Merge(filepath.Join(dir, filepath.Base(ours.Dir)))
			exact += n
		}
	}
	for _, t := range m.Troubles {
		fmt.Fprintf(stdout, "not merged: %v\n", t)
	}
	fmt.Fprintf(stdout, "added %d records, %d oracles and %d files of exact errors\n", m.Records, m.Oracles, exact)
	if err == nil && len(m.Troubles) > 0 {
		err = fmt.Errorf("%d records or oracles cannot be used and were not merged", len(m.Troubles))
	}
	return err
}

func runStoreStats(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	out, _, err := storeArgs(c, stdout, args)
	if err != nil {
		return err
	}
	s, err := readStore(out)
	if err != nil {
		return err
	}
	t := s.Stats()
	took := time.Duration(t.Seconds * float64(time.Second)).Round(time.Second)
	fmt.Fprintf(stdout, "%d cells (%d diverged) in %d records of %d segments, %d of them duplicates; %d oracles; %s of chains; kernels: %s\n",
		t.Cells, t.Diverged, t.Records, t.Segments, t.Duplicates, t.Oracles, took, strings.Join(t.ISAs, ", "))
	var names []string
	for name := range t.ByData {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(stdout, "  %-12s %d\n", name, t.ByData[name])
	}
	return nil
}
