package main

import (
	"flag"
	"fmt"

	"hambench/bench"
	"hambench/sweep"
	"hambench/usage"
)

// What a task does about references.
const (
	oraclesBuild = "build" // those that its cells need
	oraclesOnly  = "only"  // and no cells
	oraclesNone  = "none"  // cells whose reference is missing fail
)

// taskFlags are the flags of reproduce that the tasks of a cluster use.
type taskFlags struct{ oracles, expect string }

func (r *reproduction) registerTask(fs *flag.FlagSet) {
	fs.StringVar(&r.oracles, "oracles", oraclesBuild, "`WHICH` build, only or none: with only, stop when the references of the slice are there; with none, cells whose reference is missing fail")
	fs.StringVar(&r.expect, "expect", "", "`DIGEST` digest of the plans (see hambench slurm); others are refused")
}

func (r *reproduction) checkOracles() error {
	if r.oracles != oraclesBuild && r.oracles != oraclesOnly && r.oracles != oraclesNone {
		return usage.Errorf("--oracles %q: want %s, %s or %s", r.oracles, oraclesBuild, oraclesOnly, oraclesNone)
	}
	return nil
}

// checkDigest refuses a task that would compute something else than what was
// submitted, because its node has another program, or lacks data for which a
// built-in set would take the place.
func (r *reproduction) checkDigest() error {
	if digest := bench.Digest(r.plans); r.expect != "" && digest != r.expect {
		return usage.Errorf("--expect %s: the plans here have the digest %s: the program, the selection or the data at hand are not those of the submission", r.expect, digest)
	}
	return nil
}

// runner computes the jobs of the slice.
func (r *reproduction) runner() *sweep.Runner {
	run := &sweep.Runner{
		Store: r.store, Source: r.keys.Source, Chains: r.keys.Chains, Made: sweep.MadeHere(), Workers: r.workers, Shard: r.slice, Progress: r.stderr,
		ReferencesOnly: r.oracles == oraclesOnly, NoReferences: r.oracles == oraclesNone,
	}
	if r.cost != nil {
		run.Cost = *r.cost
	}
	return run
}

func (r *reproduction) listFailures(s sweep.Summary) {
	for _, f := range s.Failures {
		fmt.Fprintf(r.stderr, "hambench: failed: %s: %v\n", f.Name, f.Err)
	}
}
