package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The committed figures, tables and claims are those that the committed store
// gives: their numbers are equal byte for byte.
func TestLongCommittedResultsAreThoseOfTheirStore(t *testing.T) {
	long(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make")
	}
	out := t.TempDir()
	redraw := exec.Command("make", "-C", "../..", "redraw", "OUT="+out)
	if text, err := redraw.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, pattern := range []string{"*.csv", "*.txt", "claims.md"} {
		committed, err := filepath.Glob(filepath.Join("../../docs/results", pattern))
		if err != nil || len(committed) == 0 {
			t.Fatalf("no %s among the committed results: %v", pattern, err)
		}
		for _, path := range committed {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(out, filepath.Base(path))); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what its store gives: %v", path, err)
			}
		}
	}
	drawn, _ := filepath.Glob(filepath.Join(out, "*.csv"))
	for _, path := range drawn {
		name := filepath.Base(path)
		if _, err := os.Stat(filepath.Join("../../docs/results", name)); err != nil && name != "paths.csv" { // 600 kB
			t.Errorf("%s is not committed: %v", name, err)
		}
	}
}
