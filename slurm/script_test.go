package slurm

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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

func testRun() Run {
	return Run{
		ID: "0123abcd", Dir: "/shared/my 100% out/slurm/0123abcd",
		Env:     []Var{{"HAMBENCH_ISA", "avx2"}, {"HAMBENCH_DATA", "/shared/it's data"}},
		Options: Options{Partition: "ci", Time: "12:00:00", CPUs: 4, Extra: []string{"--mem=4G", "--exclusive"}},
		Stages: []Stage{
			{Name: "sweep", Tasks: 64, Command: []string{"/shared/bin/hambench", "reproduce", "--out=/shared/my 100% out", "--only=toy,paths"}},
			{Name: "figures", Command: []string{"/shared/bin/hambench", "reproduce", "--figures-only"}},
		},
	}
}

func TestScripts(t *testing.T) {
	r := testRun()
	golden(t, "sweep.sh", r.Script(r.Stages[0]))
	golden(t, "figures.sh", r.Script(r.Stages[1]))
}

// The shell sees the words that were meant, and the part of the array.
func TestScriptRunsItsCommand(t *testing.T) {
	r := testRun()
	r.Dir = t.TempDir()
	words := []string{"/bin/sh", "-c", `printf '%s\n' "$@" "$HAMBENCH_DATA"`, "it's", "two words", "$HOME", "", "a\nb", `"\`}
	s := Stage{Name: "sweep", Tasks: 7, Command: words}
	r.Stages = []Stage{s}
	if err := r.WriteScripts(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", r.ScriptPath(s))
	cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_COUNT=2")
	out, err := cmd.CombinedOutput()
	want := "two words\n$HOME\n\na\nb\n\"\\\n--shard\n3/7\n/shared/it's data\n"
	if err != nil || string(out) != want {
		t.Errorf("%v, the command was told %q, want %q", err, out, want)
	}
	if info, err := os.Stat(r.LogDir()); err != nil || !info.IsDir() {
		t.Errorf("no folder for what jobs print: %v", err)
	}
}

func TestOptionsThatWouldBreakTheScripts(t *testing.T) {
	for reason, o := range map[string]Options{
		"no processors":            {},
		"a short option":           {CPUs: 1, Extra: []string{"-n 4"}},
		"no option":                {CPUs: 1, Extra: []string{"mem=4G"}},
		"an array of the user's":   {CPUs: 1, Extra: []string{"--array=0-3"}},
		"another name":             {CPUs: 1, Extra: []string{"--job-name=x"}},
		"a line break":             {CPUs: 1, Extra: []string{"--comment=a\nb"}},
		"a quote in the partition": {CPUs: 1, Partition: `a"b`},
	} {
		var u *usage.Error
		if err := o.Check(); !errors.As(err, &u) {
			t.Errorf("%s: %v, want a usage error", reason, err)
		}
	}
	if err := testRun().Check(); err != nil {
		t.Error(err)
	}
}

func TestIndices(t *testing.T) {
	for want, tasks := range map[string][]int{
		"":           nil,
		"5":          {5},
		"0-3":        {0, 1, 2, 3},
		"0,2-3,7,9":  {0, 2, 3, 7, 9},
		"1-2,4-5,10": {1, 2, 4, 5, 10},
	} {
		if got := indices(tasks); got != want {
			t.Errorf("%v is written %q, want %q", tasks, got, want)
		}
	}
}

func TestSubmitArgs(t *testing.T) {
	got := strings.Join(SubmitArgs("/s.sh", []int{3, 7}, []string{"12", "13"}), " ")
	if want := "--parsable --array=3,7 --dependency=afterany:12:13 /s.sh"; got != want {
		t.Errorf("sbatch %s, want %s", got, want)
	}
	if got := strings.Join(SubmitArgs("/s.sh", nil, nil), " "); got != "--parsable /s.sh" {
		t.Errorf("sbatch %s", got)
	}
}
