package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"hambench/bench"
	"hambench/store"
	"hambench/sweep"
	"hambench/usage"
)

var storeCommand = &command{
	name:    "store",
	about:   "Verifies, merges and describes stores of results.",
	example: "hambench store verify --out out",
	sub: []*command{
		{name: "verify", about: "Reads every record and lists what cannot be used.", detail: verifyDetail, example: "hambench store verify --out out", run: runStoreVerify},
		{name: "merge", about: "Adds the records of other output folders to one: results, references, exact errors.", usage: "DIR …", detail: mergeDetail, example: "hambench store merge --out all shard0 shard1", run: runStoreMerge},
		{name: "stats", about: "Counts what a store holds.", example: "hambench store stats", run: runStoreStats},
	},
}

const (
	verifyDetail = `Nothing is changed. The exit code is 1 while something is left to do: a corrupt
or foreign line or file that is not quarantined yet, or two records of one key
that differ. The next reproduce with the same --out quarantines what cannot be
used (a copy of a line, or the file itself, goes to store/quarantine; lines stay
in their file) and computes again what it needs of it. After that verify lists
the same lines as quarantined, and the exit code is 0.`
	mergeDetail = `What is there is kept. Two records of one key that differ on the same machine are
an error that names both. What cannot be used in another folder is listed and
left there; the exit code is then 1.`
)

// storeArgs parses --out, beside a command's own flags, and returns it with the
// arguments.
func storeArgs(c *command, fs *flag.FlagSet, stdout io.Writer, args []string) (out string, rest []string, err error) {
	fs.StringVar(&out, "out", defaultOut, "`DIR` folder of results and figures")
	rest, err = c.parse(fs, stdout, args)
	if err == nil && out == "" {
		err = usage.Errorf("--out is empty: want a folder")
	}
	return out, rest, err
}

func runStoreVerify(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	out, _, err := storeArgs(c, c.flagSet(), stdout, args)
	if err != nil {
		return err
	}
	r, err := store.Verify(storePath(out))
	if err != nil {
		return err
	}
	for _, t := range r.Corruptions {
		if t.Known {
			fmt.Fprintf(stdout, "%v; quarantined\n", t)
		} else {
			fmt.Fprintln(stdout, t)
		}
	}
	for _, e := range r.Conflicts {
		fmt.Fprintln(stdout, e)
	}
	fmt.Fprintf(stdout, "%d records are good: %s; %d cannot be used, %d pairs differ; files quarantined: %d\n",
		r.Records, countKinds(r.Keys), r.New(), len(r.Conflicts), len(r.Quarantined))
	if !r.OK() {
		return fmt.Errorf("store %s has records that cannot be used; the next reproduce quarantines corrupt ones", out)
	}
	return nil
}

// kinds names the kinds of records for people.
var kinds = []struct {
	kind store.Kind
	name string
}{{store.Result, "results"}, {store.Exact, "exact errors"}, {store.Reference, "references"}, {store.Part, "parts of references"}, {store.Run, "manifests"}}

func countKinds(n map[store.Kind]int) string {
	var parts []string
	for _, k := range kinds {
		if n[k.kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[k.kind], k.name))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func runStoreMerge(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	fs := c.flagSet()
	published := fs.Bool("published", false, "leave out references, which hold draws: figures, tables and claims need none")
	out, from, err := storeArgs(c, fs, stdout, args)
	if err != nil {
		return err
	}
	if len(from) == 0 {
		return usage.Errorf("%s: no folders to merge: want one or more output folders", c.name)
	}
	for i, dir := range from {
		from[i] = storePath(dir)
		// A mistyped folder must not leave a new store behind.
		if info, err := os.Stat(from[i]); err != nil || !info.IsDir() {
			return usage.Errorf("%s holds no store: want output folders of reproduce", dir)
		}
	}
	s, err := store.Open(storePath(out), sweep.Here())
	if err != nil {
		return err
	}
	defer s.Close()
	kinds := store.Shared
	if *published {
		kinds = store.Published
	}
	m, err := s.Merge(kinds, from...)
	for _, t := range m.Corruptions {
		fmt.Fprintf(stdout, "not merged: %v\n", t)
	}
	fmt.Fprintf(stdout, "added %s\n", countKinds(m.Added))
	if err == nil && len(m.Corruptions) > 0 {
		err = fmt.Errorf("%d records cannot be used and were not merged", len(m.Corruptions))
	}
	return err
}

func runStoreStats(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	out, _, err := storeArgs(c, c.flagSet(), stdout, args)
	if err != nil {
		return err
	}
	s, err := readStore(out)
	if err != nil {
		return err
	}
	t := s.Stats()
	var machines []string
	for _, m := range t.Machines {
		machines = append(machines, m.String())
	}
	took := time.Duration(t.Seconds * float64(time.Second)).Round(time.Second)
	fmt.Fprintf(stdout, "%s in %d segments, %d records twice; %s of one core; machines: %s\n",
		countKinds(t.Keys), t.Segments, t.Duplicates, took, strings.Join(machines, ", "))
	plans, err := bench.Plans(s, "")
	for _, p := range plans {
		have, missing := p.Results(bench.Results{Store: s}.Result)
		fmt.Fprintf(stdout, "  %s, %s: %d of %d cells\n", p.ID, p.Profile, len(have), len(have)+len(missing))
	}
	return err
}
