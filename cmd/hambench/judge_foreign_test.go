package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/compare"
)

// normalCSV is a file of independent draws of two columns.
func normalCSV(rng *rand.Rand, n int, shift float64) string {
	var b strings.Builder
	b.WriteString("a,b\n")
	for range n {
		fmt.Fprintf(&b, "%g,%g\n", shift+rng.NormFloat64(), rng.NormFloat64())
	}
	return b.String()
}

// A posterior without a reference is a row of the scorecard, as others are; notes and hidden files
// are none. Right draws would be refused at one seed in 100, judge's level; the seed is pinned.
func TestAScorecardPassesOverWhatIsNoDraws(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(21, 21))
	for file, text := range map[string]string{
		"card/one/reference.csv": normalCSV(rng, 1000, 0), "card/one/right.csv": normalCSV(rng, 1000, 0), "card/one/README.md": "# Notes\n", "card/one/.DS_Store": "\x00\x01",
		"card/.git/config": "x", "card/two/reference.csv": normalCSV(rng, 1000, 0), "card/two/wrong.csv": normalCSV(rng, 1000, 1), "card/gone/draws.csv": normalCSV(rng, 100, 0),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	// A posterior may be a link to where it is.
	if err := errors.Join(os.Rename("card/two", "elsewhere"), os.Symlink("../elsewhere", "card/two")); err != nil {
		t.Fatal(err)
	}
	if _, stdout, _ := call(t, "judge", "--scorecard", "card", "--json"); strings.Contains(stdout, ": null") {
		t.Errorf("lists are null where nothing was tested: %s", stdout)
	}
	code, stdout, stderr := call(t, "judge", "--scorecard", "card")
	for _, row := range []string{"| right.csv | accepted", "| wrong.csv | refused", "| draws.csv | bad input", "has no file whose name begins with reference"} {
		if !strings.Contains(stdout, row) {
			t.Errorf("no %q in %s", row, stdout)
		}
	}
	if code != exitFailed || strings.Contains(stdout, "README") || strings.Contains(stdout, "DS_Store") || strings.Contains(stdout, "config") {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
}

// Predictive values whose scores are beyond all numbers are refused in a report.
func TestDivergedPredictionsAreRefusedInJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	_, draws, _ := call(t, "sample", "--dataset", "linear", "--predictions", "--integrator", "baoab", "--samples", "60")
	if err := os.WriteFile("far.csv", []byte(widened(t, draws, 1e300)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "judge", "--dataset", "linear", "far.csv", "--json")
	var j judgement
	if err := json.Unmarshal([]byte(stdout), &j); code != exitFailed || err != nil || j.Verdict != compare.Refused {
		t.Errorf("exit code %d, %v, %s%s", code, err, stdout, stderr)
	}
	for name, score := range j.Scores {
		t.Logf("%s %g", name, score)
	}
}
