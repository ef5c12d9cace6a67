package main

import (
	"flag"
	"runtime"
	"slices"
	"strings"

	"hambench/bench"
	"hambench/datasets"
	"hambench/internal/kernel"
	"hambench/usage"
)

// defaultOut is where results and figures go.
const defaultOut = "out"

// runFlags are the flags that choose experiments and where they live.
type runFlags struct {
	profile, precision, only, out, data, shard string
	workers                                    int
}

func (f *runFlags) register(fs *flag.FlagSet) {
	f.registerStore(fs)
	fs.StringVar(&f.only, "only", "", "`ID,…` of the experiments to take; all if empty (see hambench list experiments)")
}

// registerStore registers the flags that say what is in the store and where
// it is.
func (f *runFlags) registerStore(fs *flag.FlagSet) {
	fs.StringVar(&f.profile, "profile", "quick", "`NAME` of the profile: "+profileNames())
	fs.StringVar(&f.precision, "precision", "", "`float32|float64` of network gradients, oracles included, in place of the profile's float32")
	fs.StringVar(&f.out, "out", defaultOut, "`DIR` of results and figures")
}

// lookupProfile returns the profile of the flags, with their precision.
func (f *runFlags) lookupProfile() (bench.Profile, error) {
	p, err := bench.LookupProfile(f.profile)
	if err != nil || f.precision == "" {
		return p, err
	}
	if !slices.Contains(bench.Precisions, f.precision) {
		return p, usage.Errorf("--precision %q: want one of %s", f.precision, strings.Join(bench.Precisions, ", "))
	}
	p.Precision = f.precision
	return p, nil
}

// profileLabel names the profile in captions.
func (f *runFlags) profileLabel() string {
	if f.precision == "" {
		return f.profile
	}
	return f.profile + ", " + f.precision
}

// registerChains registers the flags of commands that run chains.
func (f *runFlags) registerChains(fs *flag.FlagSet) {
	registerData(fs, &f.data)
	fs.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "`N` chains at once")
}

func (f *runFlags) registerRun(fs *flag.FlagSet) {
	f.register(fs)
	f.registerChains(fs)
	fs.StringVar(&f.shard, "shard", "", "`I/N`: compute only slice I (from 0) of N; slices share one --out")
}

func registerData(fs *flag.FlagSet, dir *string) {
	fs.StringVar(dir, "data", "", "`DIR` with copies of the data (else $"+datasets.EnvData+", the cache, the network)")
}

// check refuses values out of range, and a processor setting that cannot be
// had.
func (f *runFlags) check() error {
	if f.workers < 1 {
		return usage.Errorf("--workers %d: want at least 1", f.workers)
	}
	if f.out == "" {
		return usage.Errorf("--out is empty: want a folder")
	}
	return kernel.Err()
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

func profileNames() string {
	var names []string
	for _, p := range bench.Profiles() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
