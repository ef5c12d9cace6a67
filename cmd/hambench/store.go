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
	"hambench/internal/usage"
)

func storeCommand() *command {
	return &command{
		name:    "store",
		about:   "Verifies, merges and describes stores of results.",
		example: "hambench store verify --out out",
		sub: []*command{
			{name: "verify", about: "Reads every record and lists what cannot be used; exit code 1 if there is any.", example: "hambench store verify --out out", run: runStoreVerify},
			{name: "merge", about: "Adds the results of other output folders to one.", usage: "DIR …", example: "hambench store merge --out all shard0 shard1", run: runStoreMerge},
			{name: "stats", about: "Counts what a store holds.", example: "hambench store stats", run: runStoreStats},
		},
	}
}

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
		fmt.Fprintln(stdout, t)
	}
	for _, e := range r.Clashes {
		fmt.Fprintln(stdout, e)
	}
	fmt.Fprintf(stdout, "%d records of %d cells and %d oracles are good; %d cannot be used, %d pairs differ\n",
		r.Records, r.Cells, r.Oracles, len(r.Troubles), len(r.Clashes))
	if !r.OK() {
		return fmt.Errorf("store %s has records that cannot be used", out)
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
	records, oracles, err := s.Merge(from...)
	fmt.Fprintf(stdout, "added %d records and %d oracles\n", records, oracles)
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
