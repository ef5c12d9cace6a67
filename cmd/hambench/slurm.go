package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/bench"
	"hambench/datasets"
	"hambench/internal/kernel"
	"hambench/slurm"
	"hambench/store"
	"hambench/sweep"
	"hambench/usage"
)

func slurmCommand() *cobra.Command {
	var r clusterRun
	c := &cobra.Command{
		Use:   "slurm [FILE]",
		Short: "Runs reproduce, or a study, on a Slurm cluster as job arrays, and follows it.",
		Long: `References come first, then the cells in --shards slices, then the figures. What
is done is read from the store in --out, which all nodes must see, never from the
scheduler. Tasks that have results missing and are not queued are submitted
again. Ctrl-C stops following, not the jobs; the same command follows them
again. See docs/cluster.md.`,
		Example: "hambench slurm --profile paper --shards 64 --cpus-per-task 4 --time 12:00:00 --out /shared/out",
		RunE:    r.carryOut,
	}
	r.registerCluster(c)
	return c
}

// clusterRun is one call of the command.
type clusterRun struct {
	reproduction
	slurm.Follower
	shards     int
	noFollow   bool
	references []bench.ReferenceJob
}

func (r *clusterRun) carryOut(c *cobra.Command, args []string) error {
	ctx := c.Context()
	if len(args) > 0 {
		if err := r.takeStudy(c, args[0]); err != nil {
			return err
		}
	}
	if err := r.checkCluster(); err != nil {
		return err
	}
	if err := r.checkShards(ctx); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.compose(c.Flags()); err != nil {
		return err
	}
	if err := r.WriteScripts(); err != nil {
		return err
	}
	r.Scheduler, r.Look, r.Log = slurm.Commands{}, r.look, r.stderr
	switch {
	case r.dryRun:
		return r.printCommands(ctx)
	case r.noFollow:
		return r.submit(ctx)
	}
	return r.followToTheEnd(ctx)
}

// passedOn are the flags that are passed to the tasks as given.
const passedOn = selectionFlags + " data exec-timeout " + datasetFlags

func (r *clusterRun) registerCluster(c *cobra.Command) {
	r.register(c, passedOn)
	fs := c.Flags()
	fs.IntVar(&r.shards, "shards", 16, "`N` tasks in the array that computes the cells, each with at least ten seconds of work")
	fs.IntVar(&r.CPUs, "cpus-per-task", 1, "`N` processors per task, and chains it runs at once")
	fs.StringVar(&r.Partition, "partition", "", "`NAME` partition")
	fs.StringVar(&r.Time, "time", "", "`LIMIT` time limit of a task, as sbatch takes it; a chain that needs longer never finishes")
	fs.StringArrayVar(&r.Extra, "sbatch", nil, "`OPTION` further long option of sbatch, such as --sbatch=--mem=4G; may be repeated")
	fs.BoolVar(&r.dryRun, "dry-run", false, "write the job scripts and print how to submit them; submit nothing")
	fs.BoolVar(&r.noFollow, "no-follow", false, "submit what is missing and return, instead of staying to submit lost tasks again and to draw at the end")
	fs.DurationVar(&r.Poll, "poll", 30*time.Second, "`TIME` between two looks at the store and the queue")
	fs.IntVar(&r.Retries, "retries", 3, "`N` times to resubmit a task that yields no new result in between")
}

func (r *clusterRun) checkCluster() error {
	switch {
	case r.shards < 1:
		return usage.Errorf("--shards %d: want at least 1", r.shards)
	case r.Poll <= 0:
		return usage.Errorf("--poll %v: want a time > 0", r.Poll)
	case r.Retries < 0:
		return usage.Errorf("--retries %d: want 0 or more", r.Retries)
	}
	r.Workers = r.CPUs
	return r.Options.Check()
}

// checkShards refuses an array that the cluster would refuse.
func (r *clusterRun) checkShards(ctx context.Context) error {
	if r.shards <= slurm.DefaultTasks {
		return nil
	}
	limit := slurm.Commands{}.MaxTasks(ctx)
	if r.shards > cmp.Or(limit, slurm.MaxTasks) {
		return usage.Errorf("--shards %d: want at most %d, the largest array that the cluster takes", r.shards, cmp.Or(limit, slurm.MaxTasks))
	}
	if limit == 0 {
		fmt.Fprintf(r.stderr, "hambench: --shards %d: a cluster takes arrays of %d tasks unless its MaxArraySize was raised\n", r.shards, slurm.DefaultTasks)
	}
	return nil
}

// compose makes the run: its name, scripts and stages. The name depends on
// what is to be computed, in which slices, how, and where it goes, so that
// the same command finds its jobs again.
func (r *clusterRun) compose(fs *pflag.FlagSet) error {
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	digest := bench.Digest(r.plans)
	name := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%s", digest, out, r.shards, kernel.ISA()))
	id := hex.EncodeToString(name[:])[:8]
	r.ID, r.Dir, r.Env = id, filepath.Join(out, "slurm", id), environment()

	command := []string{program, "reproduce"}
	if r.study != nil {
		command = []string{program, "run", absolute(r.study.Path)}
	}
	command = slices.Concat(command, passOn(fs, out), []string{"--expect=" + digest})
	stage := func(name string, tasks int, more ...string) {
		r.Stages = append(r.Stages, slurm.Stage{Name: name, Tasks: tasks, Command: slices.Concat(command, more)})
	}
	workers := fmt.Sprintf("--workers=%d", r.Workers)
	if r.references = bench.References(r.plans); len(r.references) > 0 {
		stage("oracle", len(r.references), workers, "--oracles="+oraclesOnly)
	}
	stage("sweep", r.shards, workers, "--oracles="+oraclesNone)
	stage("figures", 0, "--figures-only")
	return nil
}

// passOn returns the flags of passedOn as given, with absolute folders: jobs
// start elsewhere.
func passOn(fs *pflag.FlagSet, out string) []string {
	args := []string{"--out=" + out}
	fs.Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case f.Name == "out" || !slices.Contains(strings.Fields(passedOn), f.Name):
			return
		case f.Name == "data":
			value = absolute(value)
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	return args
}

// environment is what a task's results depend on. All nodes use one
// instruction set: results are the same bit for bit on one only.
func environment() []slurm.Var {
	env := []slurm.Var{{Name: "HAMBENCH_ISA", Value: kernel.ISA()}}
	for _, name := range []string{datasets.EnvData, datasets.EnvOffline, "XDG_CACHE_HOME"} {
		if value := os.Getenv(name); value != "" {
			if name == datasets.EnvData {
				value = absolute(value)
			}
			env = append(env, slurm.Var{Name: name, Value: value})
		}
	}
	return env
}

// absolute is the path seen from everywhere; as it is if that is unknown.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		return abs
	}
	return path
}

// printer is a scheduler that has nothing and prints what would be submitted.
type printer struct{ io.Writer }

func (p printer) Submit(_ context.Context, script string, tasks []int, after []string) (string, error) {
	stage := strings.TrimSuffix(filepath.Base(script), ".sh")
	_, err := fmt.Fprintf(p, "%s=$(sbatch %s)\n", stage, strings.Join(slurm.SubmitArgs(slurm.Quote(script), tasks, after), " "))
	return "$" + stage, err
}

func (printer) Queue(context.Context, []string) ([]slurm.Queued, error) { return nil, nil }

// printCommands prints how to submit what is missing.
func (r *clusterRun) printCommands(ctx context.Context) error {
	r.Scheduler, r.Log = printer{r.stdout}, io.Discard
	if _, err := r.Submit(ctx); err != nil {
		return err
	}
	p, err := r.look()
	fmt.Fprintf(r.stdout, "# %s; nothing was submitted\n", p.Text)
	return err
}

// look reads from the store what is missing.
func (r *clusterRun) look() (p slurm.Progress, err error) {
	if err := r.Store.Refresh(); err != nil {
		return p, err
	}
	tasks, missing := make([]slurm.Missing, r.shards), make(map[string]bool) // by key
	have, wanted := make(map[store.Kind]int), make(map[store.Kind]int)
	for _, j := range sweep.Jobs(r.plans, sweep.Shard{}, r.Store) {
		wanted[j.Kind]++
		if j.Have {
			have[j.Kind]++
			continue
		}
		missing[j.Key] = true
		p.Cost += sweep.CostModel{}.Job(j, r.Chains)
		if j.Kind != store.Reference {
			t := &tasks[j.Shard(r.shards)]
			t.All++
			if !missing[j.After] { // a reference stands before what it judges
				t.Now++
			}
		}
	}
	p.Text = fmt.Sprintf("run %s: cells %d/%d", r.ID, have[store.Result], wanted[store.Result])
	if n := len(r.references); n > 0 {
		references, there := make([]slurm.Missing, n), n
		for i, j := range r.references {
			if missing[j.Key] {
				references[i] = slurm.Missing{All: 1, Now: 1}
				there--
			}
		}
		p.Stages = append(p.Stages, references)
		p.Text += fmt.Sprintf(", references %d/%d", there, n)
	}
	p.Stages = append(p.Stages, tasks)
	if n := wanted[store.Exact]; n > 0 {
		p.Text += fmt.Sprintf(", exact jobs %d/%d", have[store.Exact], n)
	}
	return p, nil
}

// submit submits once and says how to go on.
func (r *clusterRun) submit(ctx context.Context) error {
	summary, err := r.Submit(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.stdout, "run %s: %v; the same command without --no-follow follows it\n", r.ID, summary)
	return nil
}

// followToTheEnd follows the run, and draws when it is complete.
func (r *clusterRun) followToTheEnd(ctx context.Context) error {
	summary, err := r.Follow(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted: run %s goes on without being followed; the same command follows it again, scancel --name=%s ends it: %w",
			r.ID, strings.Join(r.JobNames(), ","), err)
	case errors.Is(err, slurm.ErrIncomplete):
		return errors.Join(r.checkComplete(), err)
	case err != nil:
		return err
	}
	err = r.draw(ctx)
	fmt.Fprintf(r.stdout, "run %s is complete: %v\n", r.ID, summary)
	r.noteMissing()
	return err
}
