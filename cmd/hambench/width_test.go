package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"hambench/internal/long"
)

// onTerminal returns what is written to a file, which has the width that COLUMNS
// says, as a terminal has.
func onTerminal(t *testing.T, write func(w *os.File)) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write(f)
	return read(t, f.Name())
}

// shown is how many columns of a terminal a line takes: marks above a letter take
// none.
func shown(line string) (n int) {
	for _, r := range line {
		if !unicode.Is(unicode.Mn, r) {
			n++
		}
	}
	return n
}

// wide is a study with a table of many columns, which needs no reference chains.
const wide = `
[vary]
integrator = ["leapfrog", "baoab"]
batch = [32, "full"]
step = [0.01, 0.02]
[fix]
data = "linear"
samples = 20
[table]
rows = ["data", "batch", "integrator", "step"]
values = ["distance", "rmse", "mnll", "coverage", "ece", "ess", "lag1", "gradients", "seconds"]
`

// Every table fits the terminal, on the narrowest one and on others. Those of claims and of
// the paper's studies are tested where they are made, with their widths.
func TestTablesFitTheTerminal(t *testing.T) { checkTablesFit(t, 80) }

func TestLongTablesFitEveryTerminal(t *testing.T) {
	long.Test(t)
	checkTablesFit(t, 100, 200)
}

func checkTablesFit(t *testing.T, widths ...int) {
	t.Helper()
	t.Setenv("HAMBENCH_OFFLINE", "1")
	inFolder(t, map[string]string{"mine.toml": wide})
	_, draws, _ := call(t, "sample", "--dataset", "linear", "--integrator", "baoab", "--h", "0.05", "--samples", "20", "--predictions")
	_, old, _ := call(t, "certify", "--problem", "gaussian", "--integrator", "leapfrog", "--scheme", "reshuffle", "--json")
	for name, text := range map[string]string{"draws.csv": draws, "old.json": old, "new.json": strings.ReplaceAll(old, `"order": 2`, `"order": 1`)} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commands := [][]string{
		{"list"}, {"data", "list"}, {"list", "studies"}, {"run", "mine.toml"}, {"run", "mine.toml", "--dry-run"},
		{"certify", "--problem", "gaussian", "--integrator", "leapfrog,split:OBABO", "--scheme", "reshuffle"}, {"gate", "old.json", "new.json"},
		{"judge", "--dataset", "linear", "draws.csv"},
		{"certify", "--problem", "gaussian", "--integrator", "leapfrog", "--scheme", "full,replacement", "--stability", "--distance", "--budget", "1000"},
	}
	for _, width := range widths {
		columns := strconv.Itoa(width)
		t.Setenv("COLUMNS", columns)
		screens := make(map[string]string)
		for _, args := range commands {
			screens[strings.Join(args, " ")] = onTerminal(t, func(w *os.File) { run(context.Background(), w, io.Discard, args) })
		}
		for name, screen := range screens {
			tables := 0
			if strings.Contains(name, "--budget") && !strings.Contains(screen, "| leapfrog   | replacement |") {
				t.Errorf("%s on %s columns: words are cut:\n%s", name, columns, screen)
			}
			for _, line := range strings.Split(screen, "\n") {
				if !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "+") {
					continue
				}
				tables++
				if n := shown(line); n > width {
					t.Errorf("%s on %s columns: a line of %d:\n%s", name, columns, n, screen)
					break
				}
			}
			if tables == 0 {
				t.Errorf("%s on %s columns: no table in:\n%s", name, columns, screen)
			}
			if testing.Verbose() {
				t.Logf("%s on %s columns:\n%s", name, columns, screen)
			}
		}
	}
}

// A run whose output goes to a file, of which nobody said how wide it is, leaves no column out.
func TestARunInAFileHasAllColumns(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	inFolder(t, map[string]string{"mine.toml": wide})
	args := []string{"run", "mine.toml"}
	for columns, want := range map[string]bool{"": true, "100": false} {
		t.Setenv("COLUMNS", columns)
		text := onTerminal(t, func(w *os.File) { run(context.Background(), w, io.Discard, args) })
		if all := strings.Contains(text, "seconds") && !strings.Contains(text, "Left out"); all != want {
			t.Errorf("COLUMNS = %q: all columns are there: %v, want %v:\n%s", columns, all, want, text)
		}
	}
}
