package main

import (
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/bench"
	"hambench/datasets"
	"hambench/usage"
)

// defaultOut is where results and figures go.
const defaultOut = "out"

// Flags that commands have in common.
const (
	storeFlags     = "profile precision splits samples repeat seed-from out" // what is in the store, and where it is
	datasetFlags   = "datasets without"
	chainFlags     = "data workers"
	modeFlags      = "shard oracles expect dry-run check figures-only within exec-timeout" // what is done with studies
	selectionFlags = storeFlags + " only"
	referenceFlags = "profile precision out " + chainFlags // of one reference
)

// What a task does about references.
const (
	oraclesBuild = "build" // those that its cells need
	oraclesOnly  = "only"  // and no cells
	oraclesNone  = "none"  // cells whose reference is missing fail
)

// register registers the flags of the given names, whose values are checked
// before the command runs, and sets the values of all that several commands share
// to their defaults.
func (f *selection) register(c *cobra.Command, names string) {
	c.PreRunE = func(*cobra.Command, []string) error { return f.check() }
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.StringVar(&f.profile, "profile", "quick", "`NAME` profile (see hambench list profiles)")
	oneOf(all, &f.precision, "precision", "precision of network gradients, references included, in place of the profile's", bench.Precisions...)
	all.IntVar(&f.splits, "splits", 0, "`N` splits of each data set, in place of the profile's")
	all.IntVar(&f.samples, "samples", 0, "`N` samples of each chain, in place of the profile's where it has its own")
	all.IntVar(&f.repeat, "repeat", 0, "`N` seeds of each chain, for error bars")
	all.Uint64Var(&f.seedFrom, "seed-from", 0, "`SEED` first of the seeds, in place of 1")
	all.StringVar(&f.out, "out", defaultOut, "`DIR` folder of results and figures")
	all.StringVar(&f.only, "only", "", "`ID,...` studies to take; all if empty (see hambench list studies)")
	all.StringVar(&f.on, "datasets", "", "`NAME,...` data sets to take; all if empty")
	all.StringVar(&f.without, "without", "", "`NAME,...` data sets to leave out, which the figures state")
	registerData(all, &f.data)
	registerTimeout(all, &f.timeout)
	all.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "`N` chains at once")
	all.StringVar(&f.shard, "shard", "", "`I/N` compute only slice I (from 0) of N; slices share one --out")
	f.oracles = oraclesBuild
	oneOf(all, &f.oracles, "oracles", "with only, stop when the references of the slice are there; with none, cells whose reference is missing fail", oraclesBuild, oraclesOnly, oraclesNone)
	all.StringVar(&f.expect, "expect", "", "`DIGEST` digest of the plans (see hambench slurm); others are refused")
	all.BoolVar(&f.dryRun, "dry-run", false, "print what would be run and how long it would take, then stop")
	all.BoolVar(&f.missingOnly, "check", false, "list the jobs that are missing; exit code 1 if there are any")
	all.BoolVar(&f.figuresOnly, "figures-only", false, "draw what earlier runs left in --out; run nothing, load no data")
	all.DurationVar(&f.within, "within", 0, "`TIME` in which it should be done, such as 20m: of the data sets and grids, what fits on this machine is chosen, and named")
	for _, name := range strings.Fields(names) {
		c.Flags().AddFlag(all.Lookup(name))
	}
}

func registerData(fs *pflag.FlagSet, dir *string) {
	fs.StringVar(dir, "data", "", "`DIR` folder with copies of the data (else $"+datasets.EnvData+", the cache, the network)")
}

func registerTimeout(fs *pflag.FlagSet, to *time.Duration) {
	fs.DurationVar(to, "exec-timeout", time.Minute, "`TIME` for each answer of a command in another process")
}

// check refuses values out of range.
func (f *selection) check() error {
	switch {
	case f.workers < 1:
		return usage.Errorf("--workers %d: want at least 1", f.workers)
	case f.out == "":
		return usage.Errorf("--out is empty: want a folder")
	case f.splits < 0:
		return usage.Errorf("--splits %d: want 1 or more, or 0 for the profile's", f.splits)
	case f.samples < 0 || f.samples > 1e6:
		return usage.Errorf("--samples %d: want 1 to 1000000, or 0 for the profile's", f.samples)
	case f.repeat < 0 || f.repeat > 1000:
		return usage.Errorf("--repeat %d: want 1 to 1000, or 0 for the study's own", f.repeat)
	case f.seedFrom > 1<<61: // cells take seeds up to 2^62
		return usage.Errorf("--seed-from %d: want 1 to 2^61", f.seedFrom)
	case f.timeout <= 0:
		return usage.Errorf("--exec-timeout %v: want more than 0", f.timeout)
	case f.within < 0:
		return usage.Errorf("--within %v: want a time > 0", f.within)
	case f.within > 0 && (f.shard != "" || f.missingOnly || f.figuresOnly):
		return usage.Errorf("--within goes with neither --shard, --check nor --figures-only: name what was chosen, as the run with --within did")
	case f.figuresOnly && !f.missingOnly && !f.dryRun && (f.shard != "" || f.oracles != oraclesBuild):
		return usage.Errorf("--figures-only draws all that is stored: want neither --shard nor --oracles beside it")
	}
	return nil
}

// splitList splits a comma-separated list; nil if it is empty. A name that is
// missing between commas stays as "", which no lookup finds: a list of commas
// must not stand for everything.
func splitList(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.Split(s, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}
