package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/usage"
)

// programs puts shell scripts in the place of Slurm's programs.
func programs(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

func TestSubmitReadsTheJobNumber(t *testing.T) {
	for answer, want := range map[string]string{"17": "17", "17;cluster": "17"} {
		programs(t, map[string]string{"sbatch": `[ "$*" = "--parsable --array=0-1 /s.sh" ] && echo '` + answer + `'`})
		if job, err := (Commands{}).Submit(t.Context(), "/s.sh", []int{0, 1}, nil); err != nil || job != want {
			t.Errorf("answer %q: job %q, %v", answer, job, err)
		}
	}
	programs(t, map[string]string{"sbatch": "echo Submitted batch job 17"})
	if _, err := (Commands{}).Submit(t.Context(), "/s.sh", nil, nil); err == nil {
		t.Error("an answer without a number was accepted")
	}
	programs(t, map[string]string{"sbatch": "echo 'sbatch: warning: x' >&2; echo 'sbatch: error: invalid partition specified: gpu' >&2; exit 1"})
	if _, err := (Commands{}).Submit(t.Context(), "/s.sh", nil, nil); err == nil || err.Error() != "sbatch: invalid partition specified: gpu" {
		t.Errorf("refused: %v; want sbatch's reason in one line", err)
	}
	programs(t, nil)
	t.Setenv("PATH", t.TempDir())
	var u *usage.Error
	if _, err := (Commands{}).Submit(t.Context(), "/s.sh", nil, nil); !errors.As(err, &u) || !strings.Contains(err.Error(), "--dry-run") {
		t.Errorf("no sbatch: %v; want a usage error that names --dry-run", err)
	}
}

func TestQueue(t *testing.T) {
	programs(t, map[string]string{"squeue": `[ "$3" = --name=hambench-a-sweep,hambench-a-figures ] || exit 1
cat <<'END'
17|0|RUNNING|None|hambench-a-sweep
17|1|PENDING|Resources|hambench-a-sweep
18|5|PENDING|launch failed requeued held|hambench-a-sweep
19|N/A|PENDING|Dependency|hambench-a-figures
20|5|PENDING|DependencyNeverSatisfied|hambench-a-sweep
END`})
	got, err := (Commands{}).Queue(t.Context(), []string{"hambench-a-sweep", "hambench-a-figures"})
	want := []Queued{
		{"17", "hambench-a-sweep", 0, "RUNNING"},
		{"17", "hambench-a-sweep", 1, "PENDING"},
		{"18", "hambench-a-sweep", 5, "PENDING"},
		{"19", "hambench-a-figures", -1, "PENDING"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// A dead controller's squeue prints nothing, as an empty queue does: the exit
// code tells them apart.
func TestDeadControllerIsNoEmptyQueue(t *testing.T) {
	programs(t, map[string]string{"squeue": "true"})
	if got, err := (Commands{}).Queue(t.Context(), []string{"a"}); err != nil || len(got) != 0 {
		t.Errorf("empty queue: %v, %v", got, err)
	}
	programs(t, map[string]string{"squeue": "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1"})
	if _, err := (Commands{}).Queue(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "Unable to contact slurm controller") {
		t.Errorf("dead controller: %v", err)
	}
	for _, line := range []string{"17|0|RUNNING", "17|x|RUNNING|None|a"} {
		if _, err := parseQueue(line); err == nil {
			t.Errorf("line %q was read", line)
		}
	}
}
