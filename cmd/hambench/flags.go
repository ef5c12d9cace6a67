package main

import (
	"flag"
	"runtime"
	"strings"

	"hambench/datasets"
	"hambench/internal/kernel"
	"hambench/usage"
)

// defaultOut is where results and figures go.
const defaultOut = "out"

// runFlags are the flags of commands that run chains.
type runFlags struct {
	selection
	data, shard string
	workers     int
}

func (f *runFlags) registerChains(fs *flag.FlagSet) {
	registerData(fs, &f.data)
	fs.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "`N` chains at once")
}

func (f *runFlags) registerRun(fs *flag.FlagSet) {
	f.register(fs)
	f.registerDatasets(fs)
	f.registerChains(fs)
	f.registerShard(fs)
}

func (f *runFlags) registerShard(fs *flag.FlagSet) {
	fs.StringVar(&f.shard, "shard", "", "`I/N` compute only slice I (from 0) of N; slices share one --out")
}

func registerData(fs *flag.FlagSet, dir *string) {
	fs.StringVar(dir, "data", "", "`DIR` folder with copies of the data (else $"+datasets.EnvData+", the cache, the network)")
}

// check refuses values out of range, and a processor setting that cannot be
// had.
func (f *runFlags) check() error {
	if f.workers < 1 {
		return usage.Errorf("--workers %d: want at least 1", f.workers)
	}
	if err := f.selection.check(); err != nil {
		return err
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
