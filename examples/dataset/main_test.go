package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileIsSweptUnderBothModels(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := run(t.Context(), &out, dir); err != nil {
		t.Fatal(err)
	}
	for _, panel := range []string{"| bearings | network ", "| bearings | line "} {
		if n := strings.Count(out.String(), panel); n != 6 {
			t.Errorf("%d rows with %q: want 6, three steps and two batch sizes:\n%s", n, panel, out.String())
		}
	}
	if strings.Contains(out.String(), "diverged)") {
		t.Errorf("a chain diverged:\n%s", out.String())
	}
	for _, file := range []string{"bearings.csv", "two-models.png", "two-models-table.csv"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}
