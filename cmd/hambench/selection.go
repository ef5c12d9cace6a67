package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"hambench/bench"
	"hambench/datasets"
	"hambench/models"
	"hambench/store"
	"hambench/sweep"
	"hambench/usage"
)

// selection is the flags that say which studies are meant, and where their
// results live.
type selection struct {
	profile, precision, only, on, without, out string
	splits                                     int
}

// registerStore registers the flags that say what is in the store and where
// it is.
func (f *selection) registerStore(fs *flag.FlagSet) {
	profiles := rowsOf(bench.Profiles(), func(p bench.Profile) []string { return []string{p.Name} })
	fs.StringVar(&f.profile, "profile", "quick", "`NAME` profile: "+strings.Join(slices.Concat(profiles...), ", "))
	fs.StringVar(&f.precision, "precision", "", "`PRECISION` float32 or float64, of network gradients, references included, in place of the profile's float32")
	fs.IntVar(&f.splits, "splits", 0, "`N` splits of each data set, in place of the profile's")
	fs.StringVar(&f.out, "out", defaultOut, "`DIR` folder of results and figures")
}

func (f *selection) register(fs *flag.FlagSet) {
	f.registerStore(fs)
	fs.StringVar(&f.only, "only", "", "`ID,…` studies to take; all if empty (see hambench list studies)")
}

func (f *selection) registerDatasets(fs *flag.FlagSet) {
	fs.StringVar(&f.on, "datasets", "", "`NAME,…` data sets to take; all if empty")
	fs.StringVar(&f.without, "without", "", "`NAME,…` data sets to leave out, which the figures state")
}

// check refuses values out of range.
func (f *selection) check() error {
	switch {
	case f.out == "":
		return usage.Errorf("--out is empty: want a folder")
	case f.splits < 0:
		return usage.Errorf("--splits %d: want 1 or more, or 0 for the profile's", f.splits)
	}
	return nil
}

// lookupProfile returns the profile of the flags, with what they change.
func (f *selection) lookupProfile() (bench.Profile, error) {
	p, err := bench.LookupProfile(f.profile)
	if err != nil {
		return p, err
	}
	if f.precision != "" {
		if !slices.Contains(bench.Precisions, f.precision) {
			return p, usage.Errorf("--precision %q: want one of %s", f.precision, strings.Join(bench.Precisions, ", "))
		}
		p.Precision = f.precision
	}
	if f.splits > 0 {
		p.Splits = f.splits
	}
	return p, nil
}

// label names the profile, with what changes it.
func (f *selection) label() string {
	parts := []string{f.profile}
	if f.precision != "" {
		parts = append(parts, f.precision)
	}
	if f.splits > 0 {
		parts = append(parts, fmt.Sprintf("%d splits", f.splits))
	}
	return strings.Join(parts, ", ")
}

// studies returns the studies of the flags. Data sets that are unavailable are
// named by what stands in for them, too.
func (f *selection) studies(data datasets.Registry, all models.Registry, unavailable ...string) ([]bench.Study, error) {
	profile, err := f.lookupProfile()
	if err != nil {
		return nil, err
	}
	studies, err := bench.Studies(profile, data, all, unavailable...)
	if err != nil {
		return nil, err
	}
	if studies, err = bench.Select(studies, splitList(f.only)...); err != nil {
		return nil, err
	}
	for _, list := range [][2]string{{"--datasets", f.on}, {"--without", f.without}} {
		if slices.Contains(splitList(list[1]), "") {
			return nil, usage.Errorf("%s %q: a name is missing: want one of %s", list[0], list[1], strings.Join(used(studies), ", "))
		}
	}
	if studies, err = bench.Restrict(studies, data.StandIns(splitList(f.on), unavailable)...); err != nil {
		return nil, err
	}
	return bench.Without(studies, data.StandIns(splitList(f.without), unavailable)...)
}

// resolve gives the studies their keys. The data that they use are loaded;
// what cannot be had is replaced by built-in sets, and named on stderr.
func (f *selection) resolve(ctx context.Context, keys *bench.Keys, stderr io.Writer) ([]bench.Plan, error) {
	source := keys.Source
	studies, err := f.studies(source.Datasets(), source.Models())
	if err != nil {
		return nil, err
	}
	unavailable, err := source.Unavailable(ctx, used(studies)...)
	if err != nil {
		return nil, err
	}
	if len(unavailable) > 0 {
		fmt.Fprintln(stderr, source.Datasets().MissingNote(unavailable))
		if studies, err = f.studies(source.Datasets(), source.Models(), unavailable...); err != nil {
			return nil, err
		}
	}
	return keys.Resolve(ctx, f.label(), studies, unavailable...)
}

// used returns the data sets of the studies.
func used(studies []bench.Study) []string {
	var names []string
	for _, s := range studies {
		for _, j := range s.Jobs() {
			if !slices.Contains(names, j.Cell.Dataset) {
				names = append(names, j.Cell.Dataset)
			}
		}
	}
	return names
}

// newKeys returns the keys of the built-in parts on data that are looked for
// in a folder first.
func newKeys(data string) (*bench.Keys, error) {
	resolver, err := datasets.NewResolver(data)
	if err != nil {
		return nil, err
	}
	return &bench.Keys{Source: models.NewSource(nil, resolver)}, nil
}

// manifests returns what runs of the flags' profile left in a store, as far as
// the flags mean it. Nothing is loaded or looked up for it.
func (f *selection) manifests(s *store.Store) ([]bench.Plan, error) {
	all, err := bench.Plans(s, f.label())
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, usage.Errorf("no run of profile %s in %s: %s", f.label(), s.Dir(), f.elsewhere(s))
	}
	ids, on := splitList(f.only), splitList(f.on)
	var chosen []bench.Plan
	for _, p := range bench.Widest(all) {
		if ids != nil && !slices.Contains(ids, p.ID) {
			continue
		}
		if had := len(p.Jobs()); had > 0 {
			if on != nil {
				p = p.On(on...)
			}
			if p = p.Without(splitList(f.without)...); len(p.Jobs()) == 0 {
				continue
			}
		}
		chosen = append(chosen, p)
	}
	if len(chosen) == 0 {
		return nil, usage.Errorf("no run of %s on %s in %s: run hambench reproduce first", cmp.Or(f.only, "all"), cmp.Or(f.on, "all"), s.Dir())
	}
	return chosen, nil
}

// elsewhere says of which profiles there are runs in a store.
func (f *selection) elsewhere(s *store.Store) string {
	all, err := bench.Plans(s, "")
	if err != nil || len(all) == 0 {
		return "run hambench reproduce first"
	}
	var labels []string
	for _, p := range all {
		if !slices.Contains(labels, p.Profile) {
			labels = append(labels, p.Profile)
		}
	}
	return "there are runs of " + strings.Join(labels, "; ")
}

// storePath is the store of an output folder.
func storePath(out string) string { return filepath.Join(out, "store") }

// readStore opens the store of an output folder for reading.
func readStore(out string) (*store.Store, error) {
	if out == "" {
		return nil, usage.Errorf("--out is empty: want a folder")
	}
	return store.Read(storePath(out), store.Machine{})
}

// openStore opens the store of an output folder for writing, and reports what
// is newly found corrupt in it.
func openStore(out string, stderr io.Writer) (*store.Store, error) {
	s, err := store.Open(storePath(out), sweep.Here())
	if err != nil {
		return nil, err
	}
	reportCorruptions(s, stderr)
	return s, nil
}

func reportCorruptions(s *store.Store, stderr io.Writer) {
	for _, c := range s.Corruptions() {
		if !c.Known {
			fmt.Fprintf(stderr, "hambench: store: %v\n", c)
		}
	}
}
