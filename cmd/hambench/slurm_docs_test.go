package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	manifestArgs    = regexp.MustCompile(`(?m)^ +args: (\[.*\])$`)
	manifestWorkers = regexp.MustCompile(`(?m)^  (?:completions|parallelism): (\d+)$`)
)

// The Kubernetes manifest is one Job of identical workers, all of which run at once, and
// whose command is understood.
func TestKubernetesManifest(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	text, err := os.ReadFile("../../docs/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "\t") || strings.Count(string(text), "kind: Job") != 1 {
		t.Errorf("want one Job without tabs:\n%s", text)
	}
	n := manifestWorkers.FindAllSubmatch(text, -1)
	if len(n) != 2 || string(n[0][1]) != string(n[1][1]) {
		t.Errorf("completions and parallelism %q: want one number", n)
	}
	var args []string
	if m := manifestArgs.FindSubmatch(text); m == nil || json.Unmarshal(m[1], &args) != nil {
		t.Fatalf("the Job has no list of arguments:\n%s", text)
	}
	for i, a := range args {
		if a == "--out" {
			args[i+1] = t.TempDir()
		}
	}
	// --check reads the same flags and computes nothing.
	code, stdout, stderr := call(t, append(args, "--check", "--only", "toy")...)
	if code == exitUsage || !strings.Contains(stdout, " are missing") {
		t.Errorf("%v: exit code %d, %s", args, code, stderr)
	}
}

// The commands of docs/cluster.md are understood: with --dry-run, which submits nothing.
func TestClusterDocument(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	lines := shellLines(t, "../../docs/cluster.md")
	if len(lines) == 0 {
		t.Fatal("docs/cluster.md has no commands")
	}
	for _, l := range lines {
		args := strings.Fields(strings.Replace(l, "/shared/out", t.TempDir(), 1))[1:]
		code, stdout, stderr := call(t, append(args, "--dry-run")...)
		if code != exitOK || !strings.HasPrefix(stdout, "sbatch ") {
			t.Errorf("%s: exit code %d, %s %s", l, code, stdout, stderr)
		}
	}
}
