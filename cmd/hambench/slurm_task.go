package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"

	"hambench/bench"
	"hambench/usage"
)

// What a task does about oracles.
const (
	oraclesBuild = "build" // those that its cells need
	oraclesOnly  = "only"  // and no cells
	oraclesNone  = "none"  // cells whose oracle is missing fail
)

// taskFlags are the flags of reproduce that the tasks of a cluster use.
type taskFlags struct{ oracles, expect string }

func (r *reproduction) registerDatasets(fs *flag.FlagSet) {
	fs.StringVar(&r.on, "datasets", "", "`NAME,…` of the data sets to take; all if empty")
}

func (r *reproduction) registerTask(fs *flag.FlagSet) {
	fs.StringVar(&r.oracles, "oracles", oraclesBuild, "`build|only|none`: with only, stop when the oracles of the slice are there; with none, cells whose oracle is missing fail")
	fs.StringVar(&r.expect, "expect", "", "`DIGEST` of the cells and exact errors (see hambench slurm): refuse to run others")
}

// checkTask refuses a task that would compute something else than what was
// submitted, because its node has another program, or lacks data for which a
// built-in set would take the place.
func (r *reproduction) checkTask() error {
	if r.oracles != oraclesBuild && r.oracles != oraclesOnly && r.oracles != oraclesNone {
		return usage.Errorf("--oracles %q: want %s, %s or %s", r.oracles, oraclesBuild, oraclesOnly, oraclesNone)
	}
	if r.expect == "" {
		return nil
	}
	digest, err := r.digest()
	if err == nil && digest != r.expect {
		return usage.Errorf("--expect %s: the cells here have the digest %s: the program, the selection or the data at hand are not those of the submission", r.expect, digest)
	}
	return err
}

// digestLength is how many hex digits tell selections apart: 64 bits.
const digestLength = 16

// digest names all that the experiments need, by the keys.
func (r *reproduction) digest() (string, error) {
	jobs, err := exactJobs(r.exps)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range r.exps {
		fmt.Fprintf(h, "experiment %s\n", e.ID)
		for _, c := range e.Cells {
			fmt.Fprintf(h, "cell %s\n", c.Key())
		}
		for _, choice := range e.Choices {
			for _, c := range choice {
				fmt.Fprintf(h, "or %s\n", c.Key())
			}
		}
	}
	for _, o := range bench.Oracles(r.exps) {
		fmt.Fprintf(h, "oracle %s\n", o.Key())
	}
	for _, j := range jobs {
		fmt.Fprintf(h, "exact %s\n", j.Key)
	}
	return hex.EncodeToString(h.Sum(nil))[:digestLength], nil
}

// runner computes the cells of the slice.
func (r *reproduction) runner() *bench.Runner {
	return &bench.Runner{
		Store: r.store, Source: r.source, Workers: r.workers, Shard: r.slice, Progress: r.stderr,
		OraclesOnly: r.oracles == oraclesOnly, NoOracles: r.oracles == oraclesNone,
	}
}

func (r *reproduction) listFailures(s bench.Summary) {
	for _, f := range s.Failures {
		fmt.Fprintf(r.stderr, "hambench: failed: %s: %v\n", f.Name, f.Err)
	}
}

// buildOracles computes the oracles of the slice and nothing else.
func (r *reproduction) buildOracles(ctx context.Context) error {
	summary, err := r.runner().Run(ctx, r.exps)
	r.listFailures(summary)
	if errors.Is(err, context.Canceled) {
		return err
	}
	fmt.Fprintf(r.stdout, "oracles: computed %d, reused %d\n", summary.OraclesBuilt, summary.OraclesReused)
	return err
}
