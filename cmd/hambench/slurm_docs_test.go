package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/datasets"
	"hambench/models"
)

var (
	manifestArgs        = regexp.MustCompile(`(?m)^ +args: (\[.*\])$`)
	manifestCompletions = regexp.MustCompile(`(?m)^  completions: (\d+)`)
)

// The Jobs of the Kubernetes manifest run commands that are understood, in as
// many pods as there are slices, and as many oracles as the profile has.
func TestKubernetesManifest(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	text, err := os.ReadFile("../../docs/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "\t") {
		t.Error("YAML with tabs")
	}
	jobs := strings.Split(string(text), "\n---\n")
	if len(jobs) != 3 {
		t.Fatalf("%d Jobs, want 3", len(jobs))
	}
	var paper bench.Profile
	for i, job := range jobs {
		var args []string
		if m := manifestArgs.FindStringSubmatch(job); m == nil || json.Unmarshal([]byte(m[1]), &args) != nil {
			t.Fatalf("Job %d has no list of arguments:\n%s", i, job)
		}
		for j, a := range args {
			switch args[max(j, 1)-1] {
			case "--profile":
				if paper, err = bench.LookupProfile(a); err != nil {
					t.Error(err)
				}
			case "--out":
				args[j] = t.TempDir()
			case "--shard":
				n := manifestCompletions.FindStringSubmatch(job)
				if n == nil || a != "$(JOB_COMPLETION_INDEX)/"+n[1] {
					t.Errorf("Job %d: shard %q and completions %v", i, a, n)
				}
				args[j] = strings.Replace(a, "$(JOB_COMPLETION_INDEX)", "0", 1)
			}
		}
		// --check reads the same flags and computes nothing.
		code, stdout, stderr := call(t, append(args, "--check", "--only", "toy")...)
		if code == exitUsage || !strings.Contains(stdout, " are missing") {
			t.Errorf("Job %d: %v: exit code %d, %s", i, args, code, stderr)
		}
	}
	studies, err := bench.Studies(paper, datasets.Builtin(), models.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	references := len(bench.References(withoutData(studies)))
	if n := manifestCompletions.FindStringSubmatch(jobs[0]); references != 30 || n[1] != "30" {
		t.Errorf("the first Job has %s pods, the profile %d references", n[1], references)
	}
}

// The commands of docs/cluster.md are understood: with --dry-run, which
// submits nothing.
func TestClusterDocument(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	lines := shellLines(t, "../../docs/cluster.md")
	if len(lines) == 0 {
		t.Fatal("docs/cluster.md has no commands")
	}
	for _, l := range lines {
		args := strings.Fields(strings.Replace(l, "/shared/out", t.TempDir(), 1))[1:]
		if code, stdout, stderr := call(t, append(args, "--dry-run")...); code != exitOK || !strings.Contains(stdout, "--array=0-63 --dependency=afterany:$oracle") {
			t.Errorf("%s: exit code %d, %s %s", l, code, stdout, stderr)
		}
	}
}
