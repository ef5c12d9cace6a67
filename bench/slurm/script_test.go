package slurm

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hambench/usage"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (go test -update writes it):\ngot\n%s\nwant\n%s", path, got, want)
	}
}

func testJob() Job {
	return Job{
		Name: "hambench-0123abcd", Dir: "/shared/my 100% out/slurm/0123abcd",
		Env: []Var{{"HAMBENCH_ISA", "avx2"}, {"HAMBENCH_DATA", "/shared/it's data"}},
		Command: []string{
			"/shared/bin/hambench", "reproduce", "--out=/shared/my 100% out", "--only=toy,paths",
		},
		Tasks: 64, CPUs: 4, Partition: "ci", Time: "12:00:00", Extra: []string{"--mem=4G", "--exclusive"},
	}
}

func TestScript(t *testing.T) { golden(t, "job.sh", testJob().Script()) }

// The shell sees the words that were meant; every task runs the same command.
func TestScriptRunsItsCommand(t *testing.T) {
	j := testJob()
	j.Dir = t.TempDir()
	j.Command = []string{
		"/bin/sh", "-c", `printf '%s\n' "$@" "$HAMBENCH_DATA"`,
		"it's", "two words", "$HOME", "", "a\nb", `"\`,
	}
	path, err := j.Write()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", path)
	cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=3")
	out, err := cmd.CombinedOutput()
	want := "two words\n$HOME\n\na\nb\n\"\\\n/shared/it's data\n"
	if err != nil || string(out) != want {
		t.Errorf("%v, the command was told %q, want %q", err, out, want)
	}
	if info, err := os.Stat(j.LogDir()); err != nil || !info.IsDir() {
		t.Errorf("no folder for what tasks print: %v", err)
	}
}

func TestOptionsThatWouldBreakTheScript(t *testing.T) {
	for reason, change := range map[string]func(*Job){
		"no workers":               func(j *Job) { j.Tasks = 0 },
		"no processors":            func(j *Job) { j.CPUs = 0 },
		"a short option":           func(j *Job) { j.Extra = []string{"-n 4"} },
		"no option":                func(j *Job) { j.Extra = []string{"mem=4G"} },
		"an array of the user's":   func(j *Job) { j.Extra = []string{"--array=0-3"} },
		"a value behind a space":   func(j *Job) { j.Extra = []string{"--array 0-1"} },
		"one behind a tab":         func(j *Job) { j.Extra = []string{"--time\t1"} },
		"another name":             func(j *Job) { j.Extra = []string{"--job-name=x"} },
		"tasks that stay lost":     func(j *Job) { j.Extra = []string{"--no-requeue"} },
		"a line break":             func(j *Job) { j.Extra = []string{"--comment=a\nb"} },
		"a quote in the partition": func(j *Job) { j.Partition = `a"b` },
		"a line break in the time": func(j *Job) { j.Time = "1\n2" },
		"a line break in the logs": func(j *Job) { j.Dir = "o\ntouch injected #" },
		"a quote in the logs":      func(j *Job) { j.Dir = `a"b` },
		"a backslash in the logs":  func(j *Job) { j.Dir = `a\b` }, // which sbatch drops
		"an escaped end":           func(j *Job) { j.Extra = []string{`--comment=a\`} },
	} {
		j := testJob()
		change(&j)
		var u *usage.Error
		if err := j.Check(); !errors.As(err, &u) {
			t.Errorf("%s: %v, want a usage error", reason, err)
		}
	}
	if err := testJob().Check(); err != nil {
		t.Error(err)
	}
}

// sbatch is a program that stands for Slurm's.
func sbatch(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sbatch"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestSubmit(t *testing.T) {
	sbatch(t, `test "$*" = "--parsable /s.sh" && echo '17;cluster'`)
	if job, err := Submit(t.Context(), "/s.sh", "hb"); job != "17" || err != nil {
		t.Errorf("job %q, %v; want 17", job, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if job, err := Submit(ctx, "/s.sh", "hb"); job != "17" || err != nil {
		t.Errorf("cancelled: job %q, %v; want 17, as sbatch is not interrupted", job, err)
	}
	// A signal to a group of $$ finds one if the program leads its own, out of the terminal's reach.
	sbatch(t, `kill -s 0 -- -$$ && echo 17`)
	if job, err := Submit(t.Context(), "/s.sh", "hb"); job != "17" || err != nil {
		t.Errorf("job %q, %v: sbatch has no group of its own, and an interrupt would reach it", job, err)
	}
	for want, script := range map[string]string{
		`no job number in its answer "hello`:     "echo hello",
		"sbatch: invalid partition specified: x": "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1",
		"sbatch: exit status 3":                  "exit 3",
	} {
		sbatch(t, script)
		if _, err := Submit(t.Context(), "/s.sh", "hb"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	patient := patience
	t.Cleanup(func() { patience = patient })
	patience = time.Millisecond
	sbatch(t, "while :; do :; done")
	if _, err := Submit(t.Context(), "/s.sh", "hb"); err == nil || !strings.Contains(err.Error(), "within 1ms: the job may have been submitted all the same: see squeue --name=hb") {
		t.Errorf("no answer: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	var u *usage.Error
	if _, err := Submit(t.Context(), "/s.sh", "hb"); !errors.As(err, &u) {
		t.Errorf("no Slurm: %v, want a usage error", err)
	}
}
