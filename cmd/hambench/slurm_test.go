package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/datasets"
	"hambench/internal/kernel"
	"hambench/models"
	"hambench/slurm"
	"hambench/store"
	"hambench/sweep"
)

func TestBadInputOfSlurm(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	for _, c := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"no shards", []string{"slurm", "--shards", "0"}, "--shards 0: want at least 1"},
		{"no processors", []string{"slurm", "--cpus-per-task", "0"}, "--cpus-per-task 0: want at least 1"},
		{"no retries", []string{"slurm", "--retries", "-1"}, "--retries -1: want 0 or more"},
		{"no time between looks", []string{"slurm", "--poll", "0s"}, "--poll 0s: want a time > 0"},
		{"an array of the user's", []string{"slurm", "--sbatch=--array=0-3"}, "--array is set by hambench"},
		{"a time that is none", []string{"slurm", "--time", "foo"}, `--time "foo": want minutes`},
		{"an array that no cluster takes", []string{"slurm", "--only", "toy", "--shards", "5000000", "--dry-run"}, "--shards 5000000: want at most 4000001"},
		{"an unknown study", []string{"slurm", "--only", "figure1"}, `unknown study "figure1"`},
		{"a shard", []string{"slurm", "--shard", "0/2"}, "shard"},
		{"an unknown way with oracles", []string{"reproduce", "--only", "toy", "--oracles", "all"}, `"all" for "--oracles" flag: want one of build, only, none`},
		{"other cells than submitted", []string{"reproduce", "--only", "toy", "--expect", "0123456789abcdef"}, "are not those of the submission"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		code, stdout, stderr := call(t, append(c.args, "--out", out)...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s: exit code %d, %q, %q; want one line with %q", c.reason, code, stdout, stderr, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s left something behind", c.reason)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if code, _, stderr := call(t, "slurm", "--only", "toy", "--out", t.TempDir()); code != exitUsage || !strings.Contains(stderr, "squeue is not on the PATH") {
		t.Errorf("no Slurm: exit code %d, %s", code, stderr)
	}
}

var scriptLine = regexp.MustCompile(`(?m)^exec \S+ (.*) --shard "\$SLURM_ARRAY_TASK_ID/3"$`)

// What --dry-run writes can be run: the command of the job script computes
// its shard, and refuses to compute anything else.
func TestSlurmDryRunWritesScriptsThatWork(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	out := t.TempDir()
	code, stdout, stderr := call(t, "slurm", "--only", "toy,paths", "--shards", "3", "--dry-run", "--out", out)
	if code != exitOK || !strings.Contains(stdout, "sweep=$(sbatch --parsable --array=0-2 ") || !strings.Contains(stdout, "figures=$(sbatch --parsable --dependency=afterany:$sweep ") ||
		strings.Contains(stdout, "oracle") || !strings.Contains(stdout, "cells 0/8; nothing was submitted") {
		t.Fatalf("exit code %d, %s %s", code, stdout, stderr)
	}
	scripts, _ := filepath.Glob(filepath.Join(out, "slurm", "*", "sweep.sh"))
	if len(scripts) != 1 {
		t.Fatalf("scripts %v", scripts)
	}
	text, err := os.ReadFile(scripts[0])
	if err != nil {
		t.Fatal(err)
	}
	command := scriptLine.FindStringSubmatch(string(text))
	if command == nil || !strings.Contains(string(text), "\nexport HAMBENCH_ISA="+kernel.ISA()+"\n") || !strings.Contains(string(text), "\nexport HAMBENCH_OFFLINE=1\n") {
		t.Fatalf("script\n%s", text)
	}
	args := strings.Fields(command[1])
	for _, shard := range []string{"0/3", "1/3", "2/3"} {
		if code, _, stderr := call(t, append(args, "--shard", shard)...); code != exitOK {
			t.Errorf("shard %s: exit code %d, %s", shard, code, stderr)
		}
	}
	if _, stdout, _ := call(t, "slurm", "--only", "toy,paths", "--shards", "3", "--dry-run", "--out", out); !strings.Contains(stdout, "cells 8/8") || strings.Contains(stdout, "--array") {
		t.Errorf("everything is there: %s", stdout)
	}
	other := slices.Replace(slices.Clone(args), slices.Index(args, "--only=toy,paths"), slices.Index(args, "--only=toy,paths")+1, "--only=toy")
	if code, _, stderr := call(t, append(other, "--shard", "0/3")...); code != exitUsage || !strings.Contains(stderr, "not those of the submission") {
		t.Errorf("other cells: exit code %d, %s", code, stderr)
	}
}

// The printed commands are the shell's words, whatever the folder is called.
func TestSlurmDryRunQuotesPaths(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("PATH", t.TempDir())
	out := filepath.Join(t.TempDir(), "a b's")
	code, stdout, stderr := call(t, "slurm", "--only", "toy", "--shards", "2000", "--dry-run", "--out", out)
	quoted := strings.ReplaceAll(out, "'", `'\''`)
	if code != exitOK || !strings.Contains(stdout, " '"+quoted+"/slurm/") || !strings.Contains(stderr, "arrays of 1001 tasks") {
		t.Errorf("exit code %d, %s %s", code, stdout, stderr)
	}
}

// composed is a run as the command makes it, without a store.
func composed(t *testing.T, args ...string) *clusterRun {
	t.Helper()
	r := &clusterRun{}
	c := &cobra.Command{}
	r.registerCluster(c)
	fs := c.Flags()
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := r.checkCluster(); err != nil {
		t.Fatal(err)
	}
	studies, err := r.studies(datasets.Builtin(), models.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	r.keys, r.plans = &bench.Keys{}, withoutData(studies)
	if err := r.compose(fs); err != nil {
		t.Fatal(err)
	}
	return r
}

// withoutData gives studies keys that hold no fingerprints.
func withoutData(studies []bench.Study) []bench.Plan {
	var plans []bench.Plan
	for _, s := range studies {
		for i := range s.References {
			s.References[i].Key = s.References[i].Spec.ID()
		}
		for i := range s.Exact {
			s.Exact[i].Key = fmt.Sprintf("%064x", i)
		}
		for _, list := range append(s.Choices, s.Cells) {
			for i := range list {
				list[i].Key = list[i].Cell.Stream()
			}
		}
		plans = append(plans, bench.Plan{Study: s})
	}
	return plans
}

func TestRunIsNamedByWhatItComputes(t *testing.T) {
	base := []string{"--only", "methods", "--datasets", "linear", "--out", "a"}
	id := composed(t, base...).ID
	for _, same := range [][]string{{"--cpus-per-task", "4"}, {"--partition", "x"}, {"--retries", "9"}, {"--no-follow"}} {
		if got := composed(t, append(base, same...)...).ID; got != id {
			t.Errorf("%v gives the run another name", same)
		}
	}
	for _, other := range [][]string{{"--shards", "4"}, {"--out", "b"}, {"--only", "friction"}, {"--profile", "standard"}} {
		if got := composed(t, append(base, other...)...).ID; got == id {
			t.Errorf("%v gives the run the same name", other)
		}
	}
}

// Stages hold the selection's flags, with folders that jobs find, and the
// oracles come first.
func TestStages(t *testing.T) {
	t.Setenv("HAMBENCH_DATA", "relative")
	r := composed(t, "--only", "methods", "--datasets", "yacht,boston", "--data", "d", "--out", "o", "--shards", "9", "--cpus-per-task", "2", "--precision", "float64")
	var names []string
	for _, s := range r.Stages {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"oracle", "sweep", "figures"}) || r.Stages[0].Tasks != 2 || r.Stages[1].Tasks != 9 {
		t.Fatalf("stages %+v", r.Stages)
	}
	here, _ := os.Getwd()
	for i, want := range [][]string{{"--oracles=only", "--workers=2"}, {"--oracles=none", "--workers=2"}, {"--figures-only"}} {
		want = append(want, "--out="+filepath.Join(here, "o"), "--data="+filepath.Join(here, "d"), "--only=methods", "--datasets=yacht,boston", "--precision=float64")
		for _, w := range want {
			if !slices.Contains(r.Stages[i].Command, w) {
				t.Errorf("%s: %q lacks %s", names[i], r.Stages[i].Command, w)
			}
		}
		if program := r.Stages[i].Command[0]; !filepath.IsAbs(program) {
			t.Errorf("program %s is not absolute", program)
		}
	}
	if v := (slurm.Var{Name: "HAMBENCH_DATA", Value: filepath.Join(here, "relative")}); !slices.Contains(r.Env, v) {
		t.Errorf("environment %v lacks %v", r.Env, v)
	}
}

// Look counts what the store lacks, by stage and task, and what of it waits
// for oracles.
func TestLook(t *testing.T) {
	r := composed(t, "--only", "regression,bottleneck,toy", "--datasets", "yacht,linear,toy", "--shards", "4", "--out", t.TempDir())
	r.stderr = t.Output()
	if err := r.openStore(store.Open, sweep.Here()); err != nil {
		t.Fatal(err)
	}
	defer r.Store.Close()
	p, err := r.look()
	if err != nil {
		t.Fatal(err)
	}
	all, now, jobs, waiting := 0, 0, 0, 0
	for i := range 4 {
		all, now = all+p.Stages[1][i].All, now+p.Stages[1][i].Now
	}
	for _, j := range sweep.Jobs(r.plans, sweep.Shard{}, r.Store) {
		if j.Kind != store.Reference {
			jobs++
		}
		if j.After != "" {
			waiting++
		}
	}
	if waiting != 2 || all != jobs || now != all-waiting || !slices.Equal(p.Stages[0], []slurm.Missing{{All: 1, Now: 1}}) || !strings.Contains(p.Text, ", references 0/1, exact jobs 0/4") {
		t.Errorf("%+v; want %d jobs, of which 2 wait for the reference", p, jobs)
	}
	for _, j := range sweep.Jobs(r.plans, sweep.Shard{}, r.Store) {
		if j.After != "" { // as a store that was merged without references has them
			if err := r.Store.Put(store.Record{Kind: store.Result, Key: j.Key, Body: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if p, err = r.look(); err != nil || p.Stages[0][0].All != 0 {
		t.Errorf("%+v, %v: want no reference that no missing cell needs", p, err)
	}
}

// The tasks of the stages: oracles only, and none.
func TestReproduceOracles(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HAMBENCH_DATA", "")
	out := t.TempDir()
	if code, stdout, stderr := call(t, "reproduce", "--only", "toy", "--oracles", "only", "--out", out); code != exitOK || !strings.Contains(stdout, "nothing was computed") {
		t.Errorf("no oracle is needed: exit code %d, %s %s", code, stdout, stderr)
	}
	if _, stdout, _ := call(t, "reproduce", "--only", "toy", "--check", "--out", out); !strings.Contains(stdout, "3 jobs are missing, of 3") {
		t.Errorf("with --oracles only cells were computed: %s", stdout)
	}
	code, _, stderr := call(t, "reproduce", "--only", "classification", "--oracles", "none", "--out", out)
	if code != exitFailed || !strings.Contains(stderr, "needs the reference of teacher-cls, split 0, which is not there") {
		t.Errorf("a missing oracle: exit code %d, %s", code, stderr)
	}
	if entries, err := os.ReadDir(filepath.Join(out, "store", "references")); err != nil && !errors.Is(err, os.ErrNotExist) || len(entries) > 0 {
		t.Errorf("with --oracles none there is %v, %v", entries, err)
	}
}
