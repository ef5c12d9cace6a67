package slurm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hambench/usage"
)

// Queued is a task that the scheduler has and that has not ended.
type Queued struct {
	Job   string // number of the job or array
	Name  string // of the job
	Index int    // in the array; -1 for a job that is not an array
	State string // such as PENDING, RUNNING
}

// Scheduler is what a Follower needs of Slurm. An error means that nothing is
// known, not that nothing is queued.
type Scheduler interface {
	// Submit submits a script, as an array of the given tasks if there are
	// any, to start when the jobs with the given numbers have ended. It
	// returns the job's number.
	Submit(ctx context.Context, script string, tasks []int, after []string) (job string, err error)
	// Queue lists the tasks of the jobs with the given names.
	Queue(ctx context.Context, names []string) ([]Queued, error)
}

// Commands is the Scheduler of Slurm's own programs, sbatch and squeue.
type Commands struct{}

// commandTimeout ends a program that waits for a controller that is not
// there: Slurm's own patience is about a minute.
const commandTimeout = 2 * time.Minute

// SubmitArgs returns the arguments of sbatch for a submission.
func SubmitArgs(script string, tasks []int, after []string) []string {
	args := []string{"--parsable"}
	if len(tasks) > 0 {
		args = append(args, "--array="+indices(tasks))
	}
	if len(after) > 0 {
		// afterany and not afterok: one task of many that failed must hold up
		// no others, and those that need its results leave them out.
		args = append(args, "--dependency=afterany:"+strings.Join(after, ":"))
	}
	return append(args, script)
}

// Submit calls sbatch and does not interrupt it: otherwise there might be a job
// whose number is unknown.
func (Commands) Submit(ctx context.Context, script string, tasks []int, after []string) (string, error) {
	out, err := call(context.WithoutCancel(ctx), "sbatch", SubmitArgs(script, tasks, after)...)
	if err != nil {
		return "", err
	}
	job, _, _ := strings.Cut(strings.TrimSpace(out), ";") // behind it: the cluster
	if _, err := strconv.Atoi(job); err != nil {
		return "", fmt.Errorf("sbatch: no job number in its answer %q", out)
	}
	return job, nil
}

// queueFormat asks squeue for what parseQueue reads: the number of the array,
// the index, state, reason and name.
const queueFormat = "%F|%K|%T|%r|%j"

// Queue calls squeue.
func (Commands) Queue(ctx context.Context, names []string) ([]Queued, error) {
	out, err := call(ctx, "squeue", "--noheader", "--array", "--name="+strings.Join(names, ","), "--format="+queueFormat)
	if err != nil {
		return nil, err
	}
	return parseQueue(out)
}

func parseQueue(out string) ([]Queued, error) {
	r := csv.NewReader(strings.NewReader(out))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = '|', strings.Count(queueFormat, "|")+1, true
	lines, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("squeue: want lines of the form %s: %w", queueFormat, err)
	}
	var list []Queued
	for _, f := range lines {
		if f[3] == "DependencyNeverSatisfied" {
			continue // will never start
		}
		q := Queued{Job: f[0], Name: f[4], Index: -1, State: f[2]}
		if f[1] != "N/A" {
			if q.Index, err = strconv.Atoi(f[1]); err != nil {
				return nil, fmt.Errorf("squeue: line %q has no index of a task", f)
			}
		}
		list = append(list, q)
	}
	return list, nil
}

var arraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*([0-9]+)`)

// MaxTasks returns the largest array that the cluster takes; 0 if it does not
// say.
func (Commands) MaxTasks(ctx context.Context) int {
	out, err := call(ctx, "scontrol", "show", "config")
	if m := arraySize.FindStringSubmatch(out); err == nil && m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}

// call runs a program and returns what it printed; its error is one line.
func call(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", usage.Errorf("%s is not on the PATH: want a machine where jobs are submitted, or --dry-run", name)
	case errors.Is(ctx.Err(), context.Canceled):
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("%s: %s", name, reason(errs.String(), err))
	}
	return out.String(), nil
}

// reason is the last line that a program printed on standard error, without
// the program's name, or else how it ended.
func reason(stderr string, err error) string {
	stderr = strings.TrimSpace(stderr)
	last := stderr[strings.LastIndex(stderr, "\n")+1:]
	if _, after, ok := strings.Cut(last, "error: "); ok {
		last = after
	}
	return cmp.Or(last, err.Error())
}
