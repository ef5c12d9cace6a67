package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/bench"
	"hambench/bench/slurm"
	"hambench/internal/fingerprint"
	"hambench/internal/kernel"
	"hambench/models/datasets"
	"hambench/usage"
)

// slurmCommand returns the command that submits a run to a cluster. The workers are the
// commands reproduce or run themselves, which divide the work by leases in the shared store: the
// command here makes the plans, to know whether anything is missing, and computes nothing.
func slurmCommand() *cobra.Command {
	var r clusterRun
	c := &cobra.Command{
		Use: "slurm [FILE]",
		Short: "Submits reproduce, or a study, to a Slurm cluster as one array of identical " +
			"workers.",
		Long: `Each task of the array runs reproduce (or run FILE) on the store in --out, which
all nodes must see. The tasks divide the work among them, and take over what a
lost task was computing. Each ends when everything is there and draws. Submitted
again, the command resumes; if nothing is missing, it says so. See
docs/cluster.md.`,
		Example: "hambench slurm --profile paper --array 16 --cpus-per-task 4 --time 12:00:00 " +
			"--out /shared/out",
		Args: cobra.MaximumNArgs(1),
		RunE: r.carryOut,
	}
	r.registerCluster(c)
	return c
}

// clusterRun is one call of the command.
// The job's name and folder follow from what it computes and where.
type clusterRun struct {
	reproduction // what the workers run, whose plans say what is missing
	slurm.Job    // the array of workers
	// file is the argument of run that names the study from any folder; "" for reproduce.
	file string
}

// passedOn are the flags that are passed to the workers as given.
// Flags that say where and how fast, such as --workers, are the job's own.
const passedOn = selectionFlags + " data exec-timeout " + datasetFlags

// registerCluster adds the flags of the run, which workers get as typed, and those of the
// job.
func (r *clusterRun) registerCluster(c *cobra.Command) {
	r.register(c, passedOn)
	fs := c.Flags()
	fs.IntVar(&r.Tasks, "array", 4, "`N` workers; more finish sooner, any number finishes")
	fs.IntVar(&r.CPUs, "cpus-per-task", 1, "`N` processors per worker, and chains it runs at once")
	fs.StringVar(&r.Partition, "partition", "", "`NAME` partition")
	fs.StringVar(&r.Time, "time", "", "`LIMIT` time limit of a worker, as sbatch takes it; "+
		"a chain that needs longer never finishes")
	fs.StringArrayVar(&r.Extra, "sbatch", nil,
		"`OPTION` further long option of sbatch, such as --sbatch=--mem=4G; may be repeated")
	fs.BoolVar(&r.dryRun, "dry-run", false,
		"write the job script and print how to submit it; submit nothing")
}

// carryOut submits the workers, unless nothing is missing.
// The plans are made here, too, so that bad input and complete runs cost no job.
func (r *clusterRun) carryOut(c *cobra.Command, args []string) error {
	ctx := c.Context()
	if len(args) > 0 {
		// run, which the workers call, has no such flag.
		if c.Flags().Changed("only") {
			return usage.Errorf("--only chooses among reproduce's studies: with %s there is one, "+
				"and nothing to choose", args[0])
		}
		if err := r.takeStudy(c, args[0]); err != nil {
			return err
		}
		if r.file = args[0]; !r.study.BuiltIn() {
			r.file = absolute(r.file)
		}
	}
	// Before the plans, which may take minutes of estimates of stable steps. The last part of the
	// folder, which depends on the plans, is letters and digits.
	r.Dir = absolute(r.out)
	if err := r.Check(); err != nil {
		return err
	}
	// What cannot be submitted leaves nothing behind; whether anything is missing is said all the
	// same.
	unable := slurm.Installed()
	r.missingOnly = unable != nil && !r.dryRun
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.compose(c.Flags()); err != nil {
		return err
	}
	missing, wanted := r.missing()
	if missing == nil {
		var words []string // of a worker, which draws the same
		for _, word := range r.Command[1:] {
			words = append(words, slurm.Quote(word))
		}
		fmt.Fprintf(r.stdout, "nothing is missing of %d jobs in %s; nothing was submitted; draw "+
			"it by: hambench %s --figures-only\n", wanted, r.Store.Dir(), strings.Join(words, " "))
		return nil
	}
	if r.missingOnly {
		return unable
	}
	script, err := r.Write()
	if err != nil {
		return err
	}
	if r.dryRun {
		fmt.Fprintf(r.stdout, "sbatch %s\n# %d of %d jobs are missing; nothing was submitted\n",
			slurm.Quote(script), len(missing), wanted)
		return nil
	}
	job, err := slurm.Submit(ctx, script, r.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.stdout, "submitted %d workers as job %s, %s: %d of %d jobs are missing; "+
		"the same command submits again if workers were lost\n",
		r.Tasks, job, r.Name, len(missing), wanted)
	return nil
}

// compose completes the job. Its name depends on what is computed and where it goes, so
// that scancel and squeue find all that was submitted for one run.
// The program is this one, by its path: nodes must have it there.
func (r *clusterRun) compose(fs *pflag.FlagSet) error {
	out := absolute(r.out)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	// Jobs and folder make the name, and flags that change neither, such as the time limit, do not:
	// submitted again, a run has the name that it had.
	id := fingerprint.Bytes(fmt.Appendf(nil, "%s\n%s", bench.Digest(r.plans), out))[:8]
	r.Name, r.Dir, r.Env = "hambench-"+id, filepath.Join(out, "slurm", id), environment()

	r.Command = []string{program, "reproduce"}
	if r.file != "" {
		r.Command = []string{program, "run", r.file}
	}
	r.Command = append(r.Command, passOn(fs, out)...)
	r.Command = append(r.Command, fmt.Sprintf("--workers=%d", r.CPUs))
	return nil
}

// passOn returns the flags of passedOn as given, with absolute folders: jobs start
// elsewhere.
// Flags that were not typed are left out, so that the script shows what was chosen.
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

// environment returns the variables that a worker's results depend on. All nodes use
// one instruction set: results are the same bit for bit on one only.
// Folders are made absolute.
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

// absolute returns the path seen from everywhere; as it is if that is unknown.
// Jobs start in another folder than the command.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		return abs
	}
	return path
}
