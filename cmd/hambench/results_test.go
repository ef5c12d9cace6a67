package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hambench/internal/long"
)

// The committed figures, tables and claims are those that the committed store
// gives: their numbers are equal byte for byte.
func TestLongCommittedResultsAreThoseOfTheirStore(t *testing.T) {
	long.Test(t)
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

// docs/paper.md and README say that on the regression networks the distance of leapfrog with
// B = 8 follows η/C: of all pairs of committed cells with different steps and one η/C, in
// which no chain diverged, both off the floor. A pair's ratio is of the larger step's distance.
func TestNetworksFollowTheStepOverTheFriction(t *testing.T) {
	f, err := os.Open("../../docs/results/friction.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type cell struct{ h, friction, ks float64 }
	cells := make(map[string][]cell)
	for _, line := range lines[1:] {
		of := make(map[string]string)
		for i, name := range lines[0] {
			of[name] = line[i]
		}
		number := func(name string) float64 {
			x, err := strconv.ParseFloat(of[name], 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		if of["batch"] == "8" && number("cells_diverged") == 0 && number("ks_mean") > 0.12 {
			set := of["dataset"]
			cells[set] = append(cells[set], cell{number("h"), number("friction"), number("ks_mean")})
		}
	}
	pairs, low, high := 0, math.Inf(1), 0.0
	for _, set := range []string{"boston", "concrete", "energy", "yacht"} {
		for _, a := range cells[set] {
			for _, b := range cells[set] {
				if a.h < b.h && math.Abs(a.h*b.friction/(b.h*a.friction)-1) < 1e-9 {
					pairs, low, high = pairs+1, min(low, b.ks/a.ks), max(high, b.ks/a.ks)
				}
			}
		}
	}
	found := fmt.Sprintf("%d pairs %.2f %.2f", pairs, low, high)
	if want := "16 pairs 0.98 1.17"; found != want {
		t.Errorf("%s, the documents say %s", found, want)
	}
	for _, doc := range []string{"../../README.md", "../../docs/paper.md"} {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, number := range []string{"16 pairs", "0.98", "1.17"} {
			if !strings.Contains(string(text), number) {
				t.Errorf("%s does not say %s", doc, number)
			}
		}
	}
}

// What README says of its picture is in the committed run: both floors in the numbers of the
// figure, where lines leave them in its caption, which is computed as it is drawn.
func TestREADMESaysWhatFigureOneShows(t *testing.T) {
	text := strings.Join(strings.Fields(read(t, "../../README.md")), " ")
	rows, err := csv.NewReader(strings.NewReader(read(t, "../../docs/results/bottleneck.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := rows[len(rows)-1]
	for column, says := range map[string]string{"floor": "floor of correlated chains (%.3f;", "self_mean": "independent draws have %.3f)"} {
		v, err := strconv.ParseFloat(last[slices.Index(rows[0], column)], 64)
		if want := fmt.Sprintf(says, v); err != nil || !strings.Contains(text, want) {
			t.Errorf("README does not say %q, %v", want, err)
		}
	}
	page := html.UnescapeString(read(t, "../../docs/results/index.html"))
	for caption, says := range map[string]string{
		"full batch: leapfrog, mt3 on the floor wherever finite; all chains above all of the floor's: euler from η = 0.005, lietrotter from η = 0.07 on.": "lietrotter leaves it from η = 0.07 on, euler from 0.005.",
		"euler from η = 0.005, leapfrog from η = 0.01, lietrotter from η = 0.01, mt3 from η = 0.005 on.":                                                  "With batches of 8 all leave it by η = 0.01.",
	} {
		if !strings.Contains(page, caption) || !strings.Contains(text, says) {
			t.Errorf("the page says %q: %t; README says %q: %t", caption, strings.Contains(page, caption), says, strings.Contains(text, says))
		}
	}
}
