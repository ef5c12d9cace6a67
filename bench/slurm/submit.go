package slurm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"hambench/internal/child"
	"hambench/usage"
)

// patience ends an sbatch whose controller does not answer: Slurm's own patience is
// about a minute.
var patience = 2 * time.Minute

// Installed returns a usage error if jobs cannot be submitted from here.
func Installed() error {
	if _, err := exec.LookPath("sbatch"); err != nil {
		return usage.Errorf("sbatch is not on the PATH: " +
			"want a machine where jobs are submitted, or --dry-run")
	}
	return nil
}

// Submit submits the script of a job of that name and returns the job's number. Cancelling the
// context does not interrupt sbatch: otherwise there might be a job that nobody knows of.
func Submit(ctx context.Context, script, name string) (job string, err error) {
	if err := Installed(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "sbatch", "--parsable", script)
	cmd.Stdout, cmd.Stderr = &out, &errs
	// A child of sbatch that keeps its output open delays the end of Run by this at most.
	cmd.WaitDelay = time.Second
	child.SetGroup(cmd) // or an interrupt from the terminal would reach it all the same
	err = cmd.Run()
	switch {
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("sbatch did not answer within %v: the job may have been submitted "+
			"all the same: see squeue --name=%s", patience, name)
	case err != nil:
		return "", fmt.Errorf("sbatch: %s", reason(errs.String(), err))
	}
	job, _, _ = strings.Cut(strings.TrimSpace(out.String()), ";") // what follows is the cluster
	if _, err := strconv.Atoi(job); err != nil {
		return "", fmt.Errorf("sbatch: no job number in its answer %q", out.String())
	}
	return job, nil
}

// reason returns the last line that a program printed on standard error, without the
// program's name, or else how it ended.
func reason(stderr string, err error) string {
	stderr = strings.TrimSpace(stderr)
	last := stderr[strings.LastIndex(stderr, "\n")+1:]
	if _, after, ok := strings.Cut(last, "error: "); ok {
		last = after
	}
	return cmp.Or(last, err.Error())
}
