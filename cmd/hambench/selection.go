package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/bench/table"
	"hambench/chain"
	"hambench/integrators/estimators"
	"hambench/internal/distinct"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// selection is what a command works on: the values of the flags that several
// commands share, and what the command has opened for them. It is studies with
// their results in a store, or the posterior of a model on a data set's split.
// Commands embed it or have one of their own. A command goes through some of these steps:
//
//	register    declares its flags; when it is called, their values are checked
//	takeStudy   loads the file of a user's study (run, slurm, claims)
//	open        prepares the sources of data and models, and the keys of jobs
//	resolve     expands the studies into plans, whose jobs have keys: this loads data
//	openStore   opens the store of --out, to read or to write
//	stored      opens it to read, and has the plans that a run left there: this loads no data
//	close       is called by register, whatever happened
type selection struct {
	// asked is the profile by its name, with what flags change in it; only and on are the
	// studies and data sets to use, nil for all.
	asked    bench.Profile
	only, on []string
	// dataset, model, noise and split name one posterior; noise is the variance of the
	// likelihood of a data set in a file.
	dataset, model string
	noise          float64
	split          int
	// data is the folder with copies of data files, out that of results; timeout is how long
	// a command in another process may take for an answer.
	data, out string
	timeout   time.Duration
	// What is done with studies instead of running them: --dry-run, --check, --figures-only.
	dryRun, missingOnly, figuresOnly bool

	stdout, stderr io.Writer // of the command; set by register
	// study is the file that run, slurm or claims is given; nil for the built-in studies.
	study *bench.File
	// keys gives jobs their keys, and has the source of models and data. It is nil until open.
	keys *bench.Keys
	// Runner runs the jobs. It has the store, nil until openStore, and the registries of data sets
	// and models: nil, which means the built-in ones, until open.
	sweep.Runner
}

// open prepares keys over the built-in parts, with data looked for in --data
// first; the data sets are those of the study, if there is one.
// Commands of models in other processes run in the study's folder.
func (f *selection) open(study *bench.File) error {
	resolver, err := datasets.NewResolver(f.data)
	if err != nil {
		return err
	}
	source := models.NewSource(nil, resolver)
	source.Processes.Timeout = f.timeout
	// Keys and chains share the source, and with it what is loaded.
	f.keys, f.Source = &bench.Keys{Source: source}, source
	f.Made, f.Progress = sweep.MadeHere(), f.stderr
	if study != nil {
		resolver.Registry = study.Data
		source.Processes.Dir = filepath.Dir(study.Path)
		for _, d := range study.Data {
			for _, note := range d.Notes {
				f.note("data set %s: %s", d.Name, note)
			}
		}
	}
	f.Data, f.Models = source.Datasets(), source.Models()
	return nil
}

// note writes a line on stderr that a user should know of a run that goes on or has succeeded.
// By its first word readers know it from progress and counts: the Python package makes it a
// warning.
func (f *selection) note(format string, args ...any) {
	fmt.Fprintf(f.stderr, "note: "+format+"\n", args...)
}

// storePath is the store of an output folder.
func storePath(out string) string { return filepath.Join(out, "store") }

// openStore opens the store of --out, as open does for a machine, and reports what
// is newly found corrupt in it.
// open is store.Open, store.Read or store.ReadIfThere.
func (f *selection) openStore(open func(dir string, m store.Machine) (*store.Store, error),
	m store.Machine) (err error) {
	if f.Store, err = open(storePath(f.out), m); err != nil {
		return err
	}
	for _, c := range f.Store.Corruptions() {
		if !c.Known {
			fmt.Fprintf(f.stderr, "hambench: store: %v\n", c)
		}
	}
	return nil
}

// close ends the processes of models and releases the store.
// It may be called whether or not anything was opened.
func (f *selection) close() {
	if f.keys != nil {
		f.keys.Source.Close()
	}
	if f.Store != nil {
		f.Store.Close()
	}
}

// lookupProfile returns the profile of the flags, with what they change.
// A flag that would change nothing in the study is refused, since captions would state it.
func (f *selection) lookupProfile() (bench.Profile, error) {
	p := f.asked
	// A file lays its profile over its own settings when it is expanded (File.Study); a built-in
	// profile is laid over here.
	if f.study != nil {
		return p, f.study.Takes(p)
	}
	if p.Name == bench.AsItIs {
		return p, usage.Errorf("profile %q is of studies that hambench run ran without --profile, "+
			"which built-in ones are shown with in any: want one of %s", p.Name,
			strings.Join(distinct.Of(bench.Profiles(), func(p bench.Profile) string {
				return p.Name
			}), ", "))
	}
	named, err := bench.LookupProfile(p.Name)
	p.Precision, p.Splits = cmp.Or(p.Precision, named.Precision), cmp.Or(p.Splits, named.Splits)
	return p, err
}

// label names the profile, with what changes it.
// Manifests are kept under it, so that runs with other flags do not replace each other's:
// "quick, float64, 2 splits".
func (f *selection) label() string {
	// Labels are keys of manifests in stores: their words stay as they are.
	label := cmp.Or(f.asked.Name, bench.AsItIs)
	if f.asked.Precision != "" {
		label += ", " + f.asked.Precision
	}
	for _, change := range []struct {
		format string
		n      uint64
	}{
		{"%d splits", uint64(f.asked.Splits)},
		{"%d samples", uint64(f.asked.Samples)},
		{"%d seeds", uint64(f.asked.Repeat)},
		{"seeds from %d", f.asked.SeedFrom},
	} {
		if change.n > 0 {
			label += fmt.Sprintf(", "+change.format, change.n)
		}
	}
	return label
}

// studies returns the studies of the flags, restricted to --only and --datasets, on the data
// sets and models that are open, or else the built-in ones. Data sets that are unavailable are
// named by what stands in for them, too.
// An unknown name is a usage error that lists the names there are.
func (f *selection) studies(unavailable ...string) ([]bench.Study, error) {
	profile, err := f.lookupProfile()
	if err != nil {
		return nil, err
	}
	var studies []bench.Study
	if f.study != nil { // the file's, on the data sets and models that it was loaded with
		studies = make([]bench.Study, 1)
		studies[0], err = f.study.Study(profile, unavailable...)
	} else {
		profile.Only = f.only
		studies, err = bench.Studies(profile, f.Data, f.Models, unavailable...)
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(f.on, "") {
		return nil, usage.Errorf("--datasets %q: a name is missing: want one of %s",
			strings.Join(f.on, ","), strings.Join(used(studies), ", "))
	}
	return bench.Restrict(studies, f.Data.StandIns(f.on, unavailable)...)
}

// resolve gives the studies their keys. The data that they use are loaded;
// what cannot be had is replaced by built-in sets, and named on stderr.
// Relative steps are fixed first, since the keys depend on them.
func (f *selection) resolve(ctx context.Context) ([]bench.Plan, error) {
	studies, err := f.studies()
	if err != nil {
		return nil, err
	}
	unavailable, err := f.keys.Source.Unavailable(ctx, used(studies)...)
	if err != nil {
		return nil, err
	}
	// The step of a relative cell is unknown, and with it the key, until fixSteps has it.
	relative := func(s bench.Study) bool {
		return slices.ContainsFunc(s.Cells, func(j bench.Job) bool { return j.Relative > 0 })
	}
	follow := slices.ContainsFunc(studies, relative)
	if follow {
		if err := f.fixSteps(ctx, used(studies), unavailable); err != nil {
			return nil, err
		}
	}
	if len(unavailable) > 0 {
		fmt.Fprintln(f.stderr, f.Data.MissingNote(unavailable))
	}
	// Expanded once more, now with stand-ins and known steps.
	if len(unavailable) > 0 || follow {
		if studies, err = f.studies(unavailable...); err != nil {
			return nil, err
		}
	}
	return f.keys.Resolve(ctx, f.label(), studies, unavailable...)
}

// fixSteps has relative steps follow the largest stable ones, taken from an earlier
// run in the store or estimated now.
// Estimates differ between machines, so that those of the first run count for all later ones
// in its store.
func (f *selection) fixSteps(ctx context.Context, on, unavailable []string) error {
	s, err := store.ReadIfThere(storePath(f.out), sweep.Here())
	if err != nil {
		return err
	}
	plans, err := bench.Plans(s, f.label())
	if err != nil {
		return err
	}
	f.asked.Known = f.keys.Known(ctx, plans, on...)
	// Expanding the studies reports each chain whose limit is not known.
	var missing []bench.Cell
	f.asked.Missing = func(c bench.Cell) { missing = append(missing, c) }
	defer func() { f.asked.Missing = nil }()
	studies, err := f.studies(unavailable...)
	if err != nil {
		return err
	}
	wanted := used(studies) // of --only and --datasets
	missing = slices.DeleteFunc(missing, func(c bench.Cell) bool {
		return !slices.Contains(wanted, c.Dataset)
	})
	// tell reports one limit as it is found; left is how many are still to find.
	tell := func(c bench.Cell, h float64, left int) {
		more := ""
		if left > 0 {
			more = fmt.Sprintf(" (%d more to find)", left)
		}
		fmt.Fprintf(f.stderr, "hambench: the largest stable step of %s on %s, C = %g, K = %d%s, "+
			"is about %.3g%s\n", c.Integrator, c.Dataset, float64(c.Friction), c.Batches,
			f.besides(c), h, more)
	}
	steps, err := f.keys.StableSteps(ctx, missing, f.Workers, tell)
	maps.Copy(f.asked.Known, steps)
	return err
}

// besides states what else than integrator, data set, friction and K a stable step is of, as far
// as it differs from the usual.
func (f *selection) besides(c bench.Cell) string {
	var of []string
	if d, err := f.Data.Lookup(c.Dataset); err == nil && d.Model != c.Model {
		of = append(of, c.Model)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Values)) {
		of = append(of, fmt.Sprintf("%s = %g", name, c.Values[name]))
	}
	if c.Inner > 1 {
		of = append(of, fmt.Sprintf("N_l = %d", c.Inner))
	}
	if c.Estimator != estimators.Plain.Name {
		of = append(of, c.Estimator)
	}
	if c.Scheme != chain.DefaultScheme(c.Batches) {
		of = append(of, c.Scheme)
	}
	for _, s := range bench.Settings() {
		// More has the settings without a field of their own, where they are not at their default.
		if v, ok := c.More[s.Name]; ok && s.Kind == table.Number {
			of = append(of, s.Symbol+fmt.Sprint(v))
		}
	}
	if of == nil {
		return ""
	}
	return ", " + strings.Join(of, ", ")
}

// used returns the data sets of the studies.
// They are in the order of the studies.
func used(studies []bench.Study) []string {
	var names []string
	for _, s := range studies {
		for _, j := range s.Cells {
			names = distinct.Append(names, j.Cell.Dataset)
		}
	}
	return names
}

// stored opens the store of --out for reading and returns its manifests of the flags'
// profile, restricted to the studies and data sets of the flags. It loads no data and looks no
// names up.
// Of several manifests of one study the widest counts (bench.Widest). If none is left, the
// error lists what the store has.
func (f *selection) stored() ([]bench.Plan, error) {
	if err := f.openStore(store.Read, store.Machine{}); err != nil {
		return nil, err
	}
	all, err := bench.Plans(f.Store, "")
	if err != nil {
		return nil, err
	}
	var labels []string // of profiles of which there are runs
	for _, p := range all {
		labels = distinct.Append(labels, p.Profile)
	}
	if label := f.label(); !slices.Contains(labels, label) {
		instead := "run hambench reproduce first"
		if len(labels) > 0 {
			instead = "there are runs of " + strings.Join(labels, "; ")
		}
		return nil, usage.Errorf("no run of profile %s in %s: %s", label, f.Store.Dir(), instead)
	}
	plans, err := bench.Plans(f.Store, f.label())
	if err != nil {
		return nil, err
	}
	chosen, there := f.choose(plans)
	absent := slices.DeleteFunc(slices.Clone(f.only), func(id string) bool {
		return slices.Contains(there, id)
	})
	if len(chosen) > 0 && len(absent) == 0 {
		return chosen, nil
	}
	// The profile has runs, but not of these studies or data sets: those of other profiles may be.
	instead := "there are runs of " + strings.Join(there, ", ")
	others, _ := f.choose(all)
	others = slices.DeleteFunc(others, func(p bench.Plan) bool {
		return len(absent) > 0 && !slices.Contains(absent, p.ID)
	})
	if len(others) > 0 {
		instead = "there are runs of profile " + strings.Join(distinct.Of(others,
			func(p bench.Plan) string { return p.Profile }), "; ") + ": give --profile and, of " +
			"what such a run changed, --splits, --samples, --repeat, --seed-from or --precision"
	}
	of := cmp.Or(strings.Join(absent, ","), strings.Join(f.only, ","), "any study")
	if f.on != nil {
		of += " on " + strings.Join(f.on, ",")
	}
	return nil, usage.Errorf("no run of %s in %s: %s", of, f.Store.Dir(), instead)
}

// choose returns the plans of the studies and data sets of the flags, of several of one study
// the widest, and the IDs of all that there are.
func (f *selection) choose(plans []bench.Plan) (chosen []bench.Plan, there []string) {
	plans = slices.DeleteFunc(slices.Clone(plans), func(p bench.Plan) bool {
		return f.study != nil && f.study.BuiltIn() != p.BuiltIn()
	})
	for _, p := range bench.Widest(plans) {
		there = append(there, p.ID)
		left := p
		if f.on != nil {
			left = p.On(f.on...)
		}
		// A study without cells, of exact errors alone, uses no data set: --datasets keeps it.
		lost := len(p.Cells) > 0 && len(left.Cells) == 0
		if !lost && (f.only == nil || slices.Contains(f.only, p.ID)) {
			chosen = append(chosen, left)
		}
	}
	return chosen, there
}
