package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/internal/distinct"
	"hambench/usage"
)

// storeCommand returns the commands on stores: what they hold, whether it can be used, and
// how several become one.
func storeCommand() *cobra.Command {
	return group("store", "Verifies, merges and describes stores of results.",
		"hambench store verify --out out", verifyCommand(), mergeCommand(), statsCommand())
}

// verifyCommand returns the command that reads a whole store and changes nothing in it.
func verifyCommand() *cobra.Command {
	var f selection
	c := &cobra.Command{
		Use: "verify", Short: "Reads every record and lists what cannot be used.",
		Example: "hambench store verify --out out",
		Long: `Nothing is changed. The exit code is 1 while something is left to do: a corrupt
or foreign line or file that is not quarantined yet, a file, folder or dangling
link among the records that no store makes and none reads, or two records of one
key that differ. What is missing, reproduce --check lists. The next reproduce
with the same --out quarantines what cannot be used (a copy of a line, or the
file itself, goes to store/quarantine; lines stay in their file) and recomputes
what it needs of it. After that, verify lists the same lines as quarantined, and
the exit code is 0.`,
		RunE: func(*cobra.Command, []string) error { return f.verifyStore() },
	}
	f.register(c, "out")
	return c
}

// verifyStore prints a line for each record or file that cannot be used and for each pair of
// records that differ, and then counts. What the next run will not mend by itself, or has yet
// to quarantine, is an error.
// A store that cannot be opened, or is of another format, is reported as such and left alone.
func (f *selection) verifyStore() error {
	r, err := store.Verify(storePath(f.out))
	if err != nil {
		return err
	}
	// What is quarantined stays in the list, since its line stays in the file.
	for _, t := range r.Corruptions {
		if t.Known {
			fmt.Fprintf(f.stdout, "%v; quarantined\n", t)
		} else {
			fmt.Fprintln(f.stdout, t)
		}
	}
	for _, path := range r.Foreign {
		fmt.Fprintf(f.stdout, "%s: foreign: no file of records, and not read\n", path)
	}
	for _, e := range r.Conflicts {
		fmt.Fprintln(f.stdout, e)
	}
	fmt.Fprintf(f.stdout,
		"%d records are good: %s; %d cannot be used, %d pairs differ; files quarantined: %d\n",
		r.Records, countKinds(r.Kinds), r.New(), len(r.Conflicts), len(r.Quarantined))
	var left []string
	if n := r.New(); n > 0 {
		left = append(left, fmt.Sprintf("%d records cannot be used: the next reproduce "+
			"quarantines them", n))
	}
	if n := len(r.Foreign); n > 0 {
		left = append(left, fmt.Sprintf("%d files are not read: want them renamed to what a store "+
			"reads, or removed", n))
	}
	if n := len(r.Conflicts); n > 0 {
		left = append(left, fmt.Sprintf("%d pairs differ: want one record of each removed "+
			"by hand, of the two that are named", n))
	}
	if !r.OK() {
		return fmt.Errorf("store %s: %s", storePath(f.out), strings.Join(left, "; "))
	}
	return nil
}

// kinds names the kinds of records for people.
// They are in the order in which counts list them.
var kinds = []struct {
	kind store.Kind
	name string
}{{store.Result, "results"}, {store.Exact, "exact errors"}, {store.Reference,
	"references"}, {store.Part, "parts of references"}, {store.Run, "manifests"}}

// countKinds lists how many records there are of each kind: "12 results, 3 references".
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

// mergeCommand returns the command that adds the records of other stores to one, such as
// those of machines without a shared folder.
func mergeCommand() *cobra.Command {
	var f selection
	var published bool
	c := &cobra.Command{
		Use: "merge DIR …", Args: cobra.MinimumNArgs(1), Short: "Adds the records of other " +
			"output folders to one: results, references and exact errors.", Example: "hambench " +
			"store merge --out all out",
		Long: `Existing records are kept. Two records of one key that differ on the same machine
are an error that names both, when all others are merged; of two results of which
another machine's reference judged one, the other counts. Of two manifests of one
study and profile the newer counts: results that the other alone lists stay in the
store, but are in no export, figure or table. Records of another folder that
cannot be used are listed and left there; the exit code is then 1.`,
		RunE: func(c *cobra.Command, from []string) error {
			return f.mergeStores(c.Context(), from, published)
		},
	}
	f.register(c, "out")
	c.Flags().BoolVar(&published, "published", false,
		"leave out what figures, tables and claims do not need: references, which hold draws, "+
			"of the added manifests those that others contain, and results that none lists")
	return c
}

// mergeStores merges the stores in the output folders into that of --out, which is made if
// need be, with published what mergePublished adds.
func (f *selection) mergeStores(ctx context.Context, from []string, published bool) error {
	var sources []*store.Store // all are read first: a mistake must not leave a new store behind
	target, _ := os.Stat(storePath(f.out))
	for _, dir := range from {
		if dir == "" { // of a variable that is not set; its store would be that of this folder
			return usage.Errorf("merge: a name is missing: want output folders of reproduce")
		}
		info, err := os.Stat(storePath(dir))
		if err != nil || !info.IsDir() {
			return usage.Errorf("%s holds no store: want output folders of reproduce%s", dir,
				above(dir))
		}
		if os.SameFile(info, target) { // which has all of its own
			continue
		}
		s, err := store.Read(storePath(dir), store.Machine{})
		if err != nil {
			return err
		}
		sources = append(sources, s)
	}
	if err := f.openStore(store.Open, sweep.Here()); err != nil {
		return err
	}
	var m store.Merged
	var err error
	if published {
		m, err = f.mergePublished(ctx, sources)
	} else {
		m, err = f.Store.Merge(ctx, store.Shared, sources...)
	}
	// All that could be merged is, and is counted, even if a conflict makes the command fail.
	for _, t := range m.Corruptions {
		fmt.Fprintf(f.stdout, "not merged: %v\n", t)
	}
	fmt.Fprintf(f.stdout, "added %s to %s\n", countKinds(m.Added), f.Store.Dir())
	if m.Older > 0 {
		f.note("%d manifests gave way to newer ones of the same study and profile: results that "+
			"these do not list are in no export, figure or table", m.Older)
	}
	if err == nil && len(m.Corruptions) > 0 {
		err = fmt.Errorf("%d records cannot be used and were not merged", len(m.Corruptions))
	}
	return err
}

// above suggests the folder that a store is in, for one that is a store itself.
func above(dir string) string {
	if _, err := os.Stat(filepath.Join(dir, "format")); err != nil {
		return ""
	}
	return ", such as " + filepath.Join(dir, "..")
}

// mergePublished adds what figures, tables and claims need: the manifests, but for the added
// ones that others make superfluous (bench.Contained), and the results and exact errors that
// they list.
// All removals are tried; their failures are returned together.
func (f *selection) mergePublished(ctx context.Context, sources []*store.Store) (
	store.Merged, error) {
	own := f.Store.Keys(store.Run)
	runs, err := f.Store.Merge(ctx,
		func(kind store.Kind, _ string) bool { return kind == store.Run }, sources...)
	plans, failed := bench.Plans(f.Store, "")
	if err = errors.Join(err, failed); err != nil {
		return runs, err
	}
	for _, key := range bench.Contained(plans) {
		// Manifests that the store had before the merge are kept, whatever others contain.
		if !slices.Contains(own, key) {
			err = errors.Join(err, f.Store.Remove(store.Run, key))
		}
	}
	// All of its own are still there.
	runs.Added[store.Run] = len(f.Store.Keys(store.Run)) - len(own)
	plans, failed = bench.Plans(f.Store, "")
	if err = errors.Join(err, failed); err != nil {
		return runs, err
	}
	// The manifests that are left decide which results are merged, so they had to come first.
	listed := bench.Jobs(plans)
	m, err := f.Store.Merge(ctx, func(kind store.Kind, key string) bool {
		return store.Published(kind, key) && listed[key]
	}, sources...)
	// No manifest is a listed job, so that the first merge alone has counted them.
	m.Added[store.Run], m.Older = runs.Added[store.Run], runs.Older
	return m, err
}

// statsCommand returns the command that counts what a store holds.
func statsCommand() *cobra.Command {
	var f selection
	c := &cobra.Command{
		Use: "stats", Short: "Counts what a store holds.", Example: "hambench store stats",
		RunE: func(*cobra.Command, []string) error { return f.describeStore() },
	}
	f.register(c, "out")
	return c
}

// describeStore prints the records by kind, what they took together, the machines that made
// them, and how complete each manifest is.
func (f *selection) describeStore() error {
	if err := f.openStore(store.Read, store.Machine{}); err != nil {
		return err
	}
	t := f.Store.Stats()
	machines := distinct.Of(t.Machines, store.Machine.String)
	took := time.Duration(t.Seconds * float64(time.Second)).Round(time.Second)
	fmt.Fprintf(f.stdout, "%s in %d segments, %d records twice; chains and exact jobs took %s one "+
		"after another; machines: %s\n",
		countKinds(t.Keys), t.Segments, t.Duplicates, took, strings.Join(machines, ", "))
	plans, err := bench.Plans(f.Store, "")
	results := bench.Results{Store: f.Store}
	for _, p := range plans {
		// References are not counted: what they judge is.
		cells, exact := results.Missing(p.Study)
		all := len(p.Cells) + len(p.Exact)
		fmt.Fprintf(f.stdout, "  %s, %s: %d of %d jobs\n", p.ID, p.Profile, all-cells-exact, all)
	}
	return err
}
