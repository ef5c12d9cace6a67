package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hambench/internal/long"
)

// shellLines returns the command lines of the sh blocks of a document.
func shellLines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	inside := false
	for _, l := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(l, "```sh"):
			inside = true
		case strings.HasPrefix(l, "```"):
			inside = false
		case inside:
			l, _, _ = strings.Cut(l, " #")
			if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// Every command of the documents works: those of the driver are run here, in
// the order in which they stand, the others are what .ci/run runs.
func TestLongDocumentedCommands(t *testing.T) {
	long.Test(t)
	for _, program := range []string{"sh", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s", program)
		}
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	driverIn(t, filepath.Join(dir, "bin"))
	for _, folder := range []string{"examples/own-data", "examples/own-claims", "certify/testdata", "models/testdata"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join("../..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	copyCertified(t, filepath.Join(dir, "out"))
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, doc := range append([]string{"../../README.md", "../../CONTRIBUTING.md"}, docs...) {
		for _, l := range shellLines(t, doc) {
			if filepath.Base(doc) == "python.md" && strings.HasPrefix(l, "hambench ") {
				continue // python/tests/test_models.py runs them, beside the examples that they name
			}
			if !strings.HasPrefix(l, "bin/hambench ") && !strings.HasPrefix(l, "python3 examples/") {
				if !bytes.Contains(ci, []byte("\n"+l)) && !bytes.Contains(ci, []byte("\nsetsid "+l)) {
					t.Errorf("%s: %q is run neither here nor by .ci/run", doc, l)
				}
				continue
			}
			if strings.HasPrefix(l, "bin/hambench slurm ") { // submits nothing here
				l = strings.Replace(l, "/shared/", "shared/", 1) + " --dry-run"
			}
			sh := exec.CommandContext(context.Background(), "sh", "-c", l)
			sh.Dir = dir
			sh.Env = append(os.Environ(), "HAMBENCH_OFFLINE=1")
			if out, err := sh.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", doc, l, err, out)
			}
		}
	}
}

// What .ci/run asks of the driver is there: each of its reproductions is
// understood, and lists what it would compute.
func TestCICommandsAreUnderstood(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"out": t.TempDir()}
	expand := func(s string) string {
		return os.Expand(strings.Trim(s, `"`), func(v string) string { return vars[v] })
	}
	found := 0
	for _, line := range strings.Split(string(ci), "\n") {
		if name, value, ok := strings.Cut(line, "="); ok && vars[name] == "" {
			vars[name] = expand(value)
		}
		if !strings.HasPrefix(line, "./reproduce.sh ") {
			continue
		}
		found++
		if end := strings.IndexAny(line, "|>"); end >= 0 { // where the output goes is the shell's business
			line = line[:end]
		}
		words := strings.Fields(strings.ReplaceAll(expand(line), `"`, ""))
		args := append([]string{"reproduce", "--check"}, words[1:]...)
		study, _, _ := strings.Cut(vars["only"], ",")
		if code, stdout, stderr := call(t, args...); code != exitFailed || !strings.Contains(stdout, "missing: "+study+": ") {
			t.Errorf("%s: exit code %d, %s", line, code, stderr)
		}
	}
	if found == 0 {
		t.Error(".ci/run reproduces nothing")
	}
}

// The examples of every command's help work, one after the other. What needs the
// network may fail where there is none.
func TestHelpExamplesWork(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh")
	}
	dir := t.TempDir()
	driverIn(t, filepath.Join(dir, "bin"))
	long := os.Getenv("HAMBENCH_TEST_LONG") != ""
	if long {
		copyCertified(t, filepath.Join(dir, "out"))
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, line := range strings.Split(c.Example, "\n") {
			line = strings.TrimSpace(line)
			if !strings.Contains(line, c.CommandPath()) && !strings.Contains(c.Example, c.CommandPath()) {
				t.Errorf("%s: the example %q is of another command", c.CommandPath(), line)
			}
			if c.Name() == "claims" && !long {
				continue // certifies everything
			}
			if c.Name() == "slurm" { // submits nothing here
				line = strings.Replace(line, "/shared/", "shared/", 1) + " --dry-run"
			}
			sh := exec.Command("sh", "-c", line)
			sh.Dir = dir
			sh.Env = append(os.Environ(), "HAMBENCH_OFFLINE=1",
				"PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := sh.CombinedOutput()
			fetches := strings.HasPrefix(c.CommandPath(), "hambench data")
			if err != nil && !(fetches && sh.ProcessState.ExitCode() == exitFailed) {
				t.Errorf("%s: %s: %v\n%s", c.CommandPath(), line, err, out)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
}
