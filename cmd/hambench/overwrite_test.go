package main

import (
	"os"
	"strings"
	"testing"
)

// A file that a command reads is not replaced by what it writes, whatever the names: bad input, and
// nothing is written.
func TestFilesThatAreReadAreNotReplaced(t *testing.T) {
	rows := strings.Repeat("1,3\n2,5\n3,8\n4,1\n", 3)
	const data = "[data.waves]\nfile = \"waves.csv\"\nnoise = 0.1\n[vary]\ndata = [\"waves\"]\n[fix]\nmodel = \"linear\"\nintegrator = \"leapfrog\"\nbatch = \"full\"\nstep = 0.1\nfriction = 5\nsamples = 5\n"
	inFolder(t, map[string]string{
		"waves.csv": rows, "waves.toml": data, "other.toml": data, "w.toml": "base = \"waves.toml\"\nid = \"waves\"\n",
		"own-table.csv": rows, "own.toml": strings.ReplaceAll(data, "waves.csv", "own-table.csv"),
		"p.json": `{"p": {"kind": "gaussian", "friction": 1, "batches": [{"precision": [[1]], "shift": [0]}]}}`, "p.toml": "[[exact]]\nscheme = \"full\"\nproblem = \"p.json\"\nintegrator = \"leapfrog\"\nstep = [0.1, 0.05]\n",
		"q.toml": "base = \"p.toml\"\nid = \"p\"\n",
		"s.txt":  "0.1, 0.2", "s.toml": "[vary]\ndata = [\"toy\"]\n[fix]\nmodel = \"toy\"\nstart = \"./s.txt\"\nintegrator = \"leapfrog\"\nbatch = \"full\"\nstep = 0.1\nfriction = 5\nsamples = 5\n",
		"train.csv": rows, "sub/train.csv": "mine", "problem/none": "",
	})
	before := folder(t)
	for _, c := range []struct{ args, want string }{
		{"run waves.toml --out .", "waves.csv would be replaced by what is written to ., and is read"},
		{"run waves.toml --out . --dry-run", "waves.csv would be replaced"},
		{"run w.toml --out ./sub/..", "waves.csv would be replaced"},
		{"slurm waves.toml --out .", "waves.csv would be replaced"},
		{"run own.toml --out .", "own-table.csv would be replaced"},
		{"run p.toml --out .", "p.json would be replaced"},
		{"run q.toml --out .", "p.json would be replaced"},
		{"run s.toml --out .", "s.txt would be replaced"},
		{"data export --dataset train.csv --noise 1 --to .", "train.csv would be replaced"},
		{"data export --dataset linear --to sub", "sub holds a train.csv of another program: want another folder"},
	} {
		if code, stdout, stderr := call(t, strings.Fields(c.args)...); code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %s%s: want one line with %q", c.args, code, stdout, stderr, c.want)
		}
	}
	if folder(t) != before {
		t.Error("a refused command has changed a file")
	}
	// Another name does no harm, and a problem may replace one that the program wrote, but not the
	// one that it reads.
	for _, args := range []string{"run other.toml --out . --dry-run", "data export --dataset linear --to problem", "data export --dataset train.csv --noise 1 --to problem"} {
		if code, _, stderr := call(t, strings.Fields(args)...); code != exitOK {
			t.Errorf("%s: exit code %d, %s", args, code, stderr)
		}
	}
	const again = "data export --dataset problem/train.csv --noise 1 --to problem"
	if code, _, stderr := call(t, strings.Fields(again)...); code != exitUsage || !strings.Contains(stderr, "problem/train.csv would be replaced") {
		t.Errorf("%s: exit code %d, %s", again, code, stderr)
	}
}

// folder lists the files of the current folder with what is in them.
func folder(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	entries, err := os.ReadDir(".")
	for _, e := range entries {
		text, _ := os.ReadFile(e.Name())
		all.WriteString(e.Name() + ": " + string(text) + "\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
