package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hambench/bench"
	"hambench/datasets"
	"hambench/internal/distinct"
	"hambench/models"
	"hambench/store"
	"hambench/sweep"
	"hambench/usage"
)

// selection is the values of the flags that several commands share: which
// studies are meant, where their results live, and what is done with them.
type selection struct {
	profile, precision, only, on, without, out string
	data, shard, oracles, expect               string
	splits, samples, repeat, workers           int
	seedFrom                                   uint64
	dryRun, missingOnly, figuresOnly           bool
	within, timeout                            time.Duration

	study  *bench.File // of run; nil: the built-in ones
	stable func(bench.Cell) (float64, error)
	known  map[string]float64 // stable steps of an earlier run
}

// lookupProfile returns the profile of the flags, with what they change.
func (f *selection) lookupProfile() (bench.Profile, error) {
	p := bench.Profile{Name: f.profile}
	if f.study == nil {
		var err error
		if p, err = bench.LookupProfile(f.profile); err != nil {
			return p, err
		}
	}
	p.Samples, p.Repeat, p.SeedFrom, p.Stable, p.Known = f.samples, f.repeat, f.seedFrom, f.stable, f.known
	if f.precision != "" {
		p.Precision = f.precision
	}
	if f.splits > 0 {
		p.Splits = f.splits
	}
	if f.study != nil {
		return p, f.study.Takes(p)
	}
	return p, nil
}

// label names the profile, with what changes it.
func (f *selection) label() string {
	parts := []string{cmp.Or(f.profile, bench.AsItIs)}
	if f.precision != "" {
		parts = append(parts, f.precision)
	}
	if f.splits > 0 {
		parts = append(parts, fmt.Sprintf("%d splits", f.splits))
	}
	if f.samples > 0 {
		parts = append(parts, fmt.Sprintf("%d samples", f.samples))
	}
	if f.repeat > 0 {
		parts = append(parts, fmt.Sprintf("%d seeds", f.repeat))
	}
	if f.seedFrom > 0 {
		parts = append(parts, fmt.Sprintf("seeds from %d", f.seedFrom))
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
	var studies []bench.Study
	if f.study != nil {
		studies = make([]bench.Study, 1)
		studies[0], err = f.study.Study(profile, unavailable...)
	} else {
		studies, err = bench.Studies(profile, data, all, unavailable...)
	}
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
	left, err := bench.Without(studies, data.StandIns(splitList(f.without), unavailable)...)
	if err == nil && len(left) == 0 {
		return nil, usage.Errorf("--without %s: nothing is left of %s", f.without, strings.Join(used(studies), ", "))
	}
	return left, err
}

// resolve gives the studies their keys. The data that they use are loaded;
// what cannot be had is replaced by built-in sets, and named on stderr.
func (f *selection) resolve(ctx context.Context, keys *bench.Keys, stderr io.Writer) ([]bench.Plan, error) {
	source := keys.Source
	studies, err := f.studies(source.Datasets(), source.Models())
	if err != nil {
		return nil, err
	}
	relative := func(s bench.Study) bool {
		return slices.ContainsFunc(s.Jobs(), func(j bench.Job) bool { return j.Relative > 0 })
	}
	unavailable, err := source.Unavailable(ctx, used(studies)...)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(studies, relative) {
		if err := f.fixSteps(ctx, keys, used(studies), stderr); err != nil {
			return nil, err
		}
	}
	if len(unavailable) > 0 {
		fmt.Fprintln(stderr, source.Datasets().MissingNote(unavailable))
	}
	if len(unavailable) > 0 || f.stable != nil {
		if studies, err = f.studies(source.Datasets(), source.Models(), unavailable...); err != nil {
			return nil, err
		}
	}
	return keys.Resolve(ctx, f.label(), studies, unavailable...)
}

// fixSteps has relative steps follow the largest stable ones: as an earlier run
// left them in the store, or estimated now.
func (f *selection) fixSteps(ctx context.Context, keys *bench.Keys, on []string, stderr io.Writer) error {
	s, err := store.ReadIfThere(storePath(f.out), sweep.Here())
	if err != nil {
		return err
	}
	plans, err := bench.Plans(s, f.label())
	if err != nil {
		return err
	}
	f.known = keys.Known(ctx, plans, on...)
	f.stable = func(c bench.Cell) (float64, error) {
		h, err := keys.Stable(ctx, c)
		if err == nil {
			fmt.Fprintf(stderr, "hambench: the largest stable step of %s on %s, K = %d, is about %.3g\n", c.Integrator, c.Dataset, c.Batches, h)
		}
		return h, err
	}
	return nil
}

// used returns the data sets of the studies.
func used(studies []bench.Study) []string {
	var names []string
	for _, s := range studies {
		for _, j := range s.Jobs() {
			names = distinct.Append(names, j.Cell.Dataset)
		}
	}
	return names
}

// newKeys returns the keys of the built-in parts on data that are looked for
// in a folder first; the data sets are those of a study, if there is one.
func newKeys(data string, study *bench.File) (*bench.Keys, error) {
	resolver, err := datasets.NewResolver(data)
	if err != nil {
		return nil, err
	}
	keys := &bench.Keys{Source: models.NewSource(nil, resolver)}
	if study != nil {
		resolver.Registry = study.Data
		keys.Source.Processes.Dir = filepath.Dir(study.Path)
	}
	return keys, nil
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
		var there []string
		for _, p := range bench.Widest(all) {
			there = append(there, p.ID)
		}
		return nil, usage.Errorf("no run of %s on %s in %s: there are runs of %s", cmp.Or(f.only, "all"), cmp.Or(f.on, "all"), s.Dir(), strings.Join(there, ", "))
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
		labels = distinct.Append(labels, p.Profile)
	}
	return "there are runs of " + strings.Join(labels, "; ")
}

// storePath is the store of an output folder.
func storePath(out string) string { return filepath.Join(out, "store") }

// readStore opens the store of an output folder for reading.
func readStore(out string) (*store.Store, error) {
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
