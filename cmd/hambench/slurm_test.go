package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/bench/slurm"
	"hambench/internal/kernel"
)

func TestBadInputOfSlurm(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	for _, c := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"no workers", []string{"--array", "0"}, "--array 0: want at least 1 worker"},
		{"no processors", []string{"--cpus-per-task", "0"}, "--cpus-per-task 0: want at least 1"},
		{"an array of the user's", []string{"--sbatch=--array=0-3"}, "--array is set by hambench"},
		{"an unknown study", []string{"--only", "figure1"}, `unknown study "figure1"`},
		{"a choice among one study", []string{"sms-ubu", "--only", "toy"}, "--only chooses among reproduce's studies: with sms-ubu there is one"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		code, stdout, stderr := call(t, append([]string{"slurm", "--out", out}, c.args...)...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) ||
			stdout != "" {
			t.Errorf("%s: exit code %d, %q, %q; want one line with %q", c.reason, code, stdout, stderr, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s left something behind", c.reason)
		}
	}
	t.Setenv("PATH", t.TempDir())
	out := filepath.Join(t.TempDir(), "out")
	code, _, stderr := call(t, "slurm", "--only", "toy", "--out", out)
	if code != exitUsage || !strings.Contains(stderr, "sbatch is not on the PATH") {
		t.Errorf("no Slurm: exit code %d, %s", code, stderr)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("no Slurm: something is left behind")
	}
}

var scriptLine = regexp.MustCompile(`(?m)^exec \S+ (.*)$`)

// The script that --dry-run writes can be run: its command computes everything, and
// called again afterwards hambench slurm says that nothing is missing.
func TestSlurmDryRunWritesAScriptThatWorks(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	out := t.TempDir()
	slurm := []string{"slurm", "--only", "toy,paths", "--array", "3", "--dry-run", "--out", out}
	code, stdout, stderr := call(t, slurm...)
	if code != exitOK || !strings.HasPrefix(stdout, "sbatch "+out) ||
		!strings.Contains(stdout, "8 of 8 jobs are missing; nothing was submitted") {
		t.Fatalf("exit code %d, %s %s", code, stdout, stderr)
	}
	scripts, _ := filepath.Glob(filepath.Join(out, "slurm", "*", "job.sh"))
	if len(scripts) != 1 {
		t.Fatalf("scripts %v", scripts)
	}
	text := read(t, scripts[0])
	command := scriptLine.FindStringSubmatch(text)
	if command == nil {
		t.Fatalf("no command in the script\n%s", text)
	}
	for _, want := range []string{
		"\n#SBATCH --array=0-2\n", "\n#SBATCH --requeue\n",
		"\nexport HAMBENCH_ISA=" + kernel.ISA() + "\n", "\nexport HAMBENCH_OFFLINE=1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("script lacks %q\n%s", want, text)
		}
	}
	if code, _, stderr := call(t, strings.Fields(command[1])...); code != exitOK {
		t.Errorf("worker: exit code %d, %s", code, stderr)
	}
	if code, stdout, _ := call(t, slurm...); code != exitOK ||
		!strings.HasPrefix(stdout, "nothing is missing of 8 jobs in ") {
		t.Errorf("everything is there: exit code %d, %s", code, stdout)
	}
}

// What a complete run says of drawing can be typed, for a study of one's own, too.
func TestSlurmSaysHowACompleteRunIsDrawn(t *testing.T) {
	inFolder(t, map[string]string{"tiny.toml": tiny})
	if code, _, stderr := call(t, "run", "tiny.toml", "--out", "out", "--repeat", "2"); code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	_, stdout, _ := call(t, "slurm", "tiny.toml", "--out", "out", "--repeat", "2")
	_, command, _ := strings.Cut(strings.TrimSpace(stdout), "draw it by: hambench ")
	if code, _, stderr := call(t, strings.Fields(command)...); code != exitOK || !strings.HasSuffix(command, " --figures-only") {
		t.Errorf("%s: exit code %d, %s", stdout, code, stderr)
	}
}

// Workers of a study get it under a name that they find from anywhere: a built-in one by its name,
// a file by its path.
func TestSlurmNamesTheStudyOfWorkers(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Chdir(t.TempDir())
	text := "[fix]\ndata = \"toy\"\nintegrator = \"leapfrog\"\nK = 2\nstep = 0.1\nsamples = 20\n"
	if err := os.WriteFile("mine.toml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	here, _ := os.Getwd()
	for study, want := range map[string]string{"sms-ubu": "sms-ubu", "mine.toml": filepath.Join(here, "mine.toml")} {
		out := t.TempDir()
		if code, _, stderr := call(t, "slurm", study, "--dry-run", "--out", out); code != exitOK {
			t.Fatalf("%s: exit code %d, %s", study, code, stderr)
		}
		scripts, _ := filepath.Glob(filepath.Join(out, "slurm", "*", "job.sh"))
		if len(scripts) != 1 {
			t.Fatalf("%s: scripts %v", study, scripts)
		}
		command := scriptLine.FindStringSubmatch(read(t, scripts[0]))
		if command == nil || !strings.HasPrefix(command[1], "run "+want+" ") {
			t.Fatalf("%s: %q, want run %s", study, command, want)
		}
		t.Chdir(t.TempDir()) // of the worker
		if code, _, stderr := call(t, append(strings.Fields(command[1]), "--dry-run")...); code != exitOK {
			t.Errorf("%s: worker: exit code %d, %s", study, code, stderr)
		}
		t.Chdir(here)
	}
}

// A study that starts at the position in a file is the same from every folder and by every name of
// its file: workers get the absolute one, and whoever submits them counts by another.
func TestAStartInAFileIsTheSameFromEveryFolder(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	inFolder(t, map[string]string{"deep/start.txt": "0.1\n",
		"deep/mine.toml": "[fix]\ndata = \"toy\"\nintegrator = \"leapfrog\"\nK = 2\nstep = 0.1\nsamples = 20\nstart = \"./start.txt\"\n" +
			"[[claim]]\nid = \"c\"\ntext = \"It stays finite.\"\nwhere = {start = \"./start.txt\"}\nstatistic = \"share\"\nof = \"diverged\"\nbetween = [0, 0.5]\n"})
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(here, "out")
	if code, _, stderr := call(t, "run", "deep/mine.toml", "--out", out); code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for folder, name := range map[string]string{".": "./deep/mine.toml", "deep": "mine.toml", "out": filepath.Join(here, "deep", "mine.toml")} {
		t.Chdir(filepath.Join(here, folder))
		if code, stdout, stderr := call(t, "slurm", name, "--out", out, "--dry-run"); code != exitOK || !strings.HasPrefix(stdout, "nothing is missing") {
			t.Errorf("%s in %s: exit code %d, %s%s: want nothing to submit", name, folder, code, stdout, stderr)
		}
	}
	// Draws are of the seed.
	sample := func(folder, name string) string {
		t.Chdir(filepath.Join(here, folder))
		code, stdout, stderr := call(t, "sample", "--model", "toy", "--h", "0.1", "--samples", "1", "--start", name)
		if code != exitOK {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
		return stdout
	}
	if first, other := sample("deep", "./start.txt"), sample("out", filepath.Join(here, "deep", "start.txt")); first != other {
		t.Errorf("draws %q and %q from the same position", first, other)
	}
}

// The printed command is made of the shell's words, whatever the folder is called.
func TestSlurmDryRunQuotesPaths(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("PATH", t.TempDir())
	out := filepath.Join(t.TempDir(), "a b's")
	code, stdout, stderr := call(t, "slurm", "--only", "toy", "--dry-run", "--out", out)
	quoted := strings.ReplaceAll(out, "'", `'\''`)
	if code != exitOK || !strings.HasPrefix(stdout, "sbatch '"+quoted+"/slurm/") {
		t.Errorf("exit code %d, %s %s", code, stdout, stderr)
	}
}

// composed returns a run as the command makes it, without a store.
func composed(t *testing.T, args ...string) *clusterRun {
	t.Helper()
	r := &clusterRun{}
	c := &cobra.Command{}
	r.registerCluster(c)
	fs := c.Flags()
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	studies, err := r.studies()
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
		for i := range s.Cells {
			s.Cells[i].Key = s.Cells[i].Cell.Stream()
		}
		plans = append(plans, bench.Plan{Study: s})
	}
	return plans
}

// All that is submitted for one run has one name; another run has another.
func TestRunIsNamedByWhatItComputes(t *testing.T) {
	base := []string{"--only", "methods", "--datasets", "linear", "--out", "a"}
	name := composed(t, base...).Name
	for _, same := range [][]string{{"--cpus-per-task", "4"}, {"--partition", "x"}, {"--array", "9"}} {
		if composed(t, append(base, same...)...).Name != name {
			t.Errorf("%v gives the run another name", same)
		}
	}
	for _, other := range [][]string{{"--out", "b"}, {"--only", "friction"}, {"--profile", "standard"}} {
		if composed(t, append(base, other...)...).Name == name {
			t.Errorf("%v gives the run the same name", other)
		}
	}
}

// A worker gets the selection's flags, with folders that it finds from anywhere.
func TestWorkersCommand(t *testing.T) {
	t.Setenv("HAMBENCH_DATA", "relative")
	r := composed(t, "--only", "methods", "--datasets", "yacht,boston", "--data", "d", "--out", "o",
		"--array", "9", "--cpus-per-task", "2", "--precision", "float64")
	here, _ := os.Getwd()
	for _, want := range []string{
		"reproduce", "--workers=2", "--out=" + filepath.Join(here, "o"), "--data=" + filepath.Join(here, "d"),
		"--only=methods", "--datasets=yacht,boston", "--precision=float64",
	} {
		if !slices.Contains(r.Command, want) {
			t.Errorf("%q lacks %s", r.Command, want)
		}
	}
	if !filepath.IsAbs(r.Command[0]) {
		t.Errorf("program %s is not absolute", r.Command[0])
	}
	v := slurm.Var{Name: "HAMBENCH_DATA", Value: filepath.Join(here, "relative")}
	if !slices.Contains(r.Env, v) {
		t.Errorf("environment %v lacks %v", r.Env, v)
	}
}
