package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// oldIntegrators are those that existed when testdata/jobs.txt was made: orders
// and claims list whatever there is.
var oldIntegrators = []string{
	"euler", "rk2", "leapfrog", "symmetric", "lietrotter", "mt3", "sghmc", "sghmc-adaptive", "exact", "baoab", "aboba", "obabo", "baoa", "ubu",
}

// lines are the JSON of all that a study needs, but for jobs of a purpose that came
// later; or of these alone.
func lines(t *testing.T, s Study, later bool) (list []string, counts [4]int) {
	t.Helper()
	add := func(kind int, prefix string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		counts[kind]++
		list = append(list, prefix+string(b))
	}
	for _, j := range s.Exact {
		if slices.Contains(oldIntegrators, j.Exact.Integrator) && later == (j.Purpose == "efficiency") {
			j.Problem = "" // came later
			add(2, "exact ", j)
		}
	}
	if later {
		slices.Sort(list)
		return list, counts
	}
	for _, j := range s.Cells {
		add(0, "", j)
	}
	for _, j := range s.References {
		add(3, "ref ", j)
	}
	slices.Sort(list)
	return list, counts
}

// A change that should leave the jobs of studies alone does: testdata/jobs.txt holds
// counts and digests of them (cells, 0, exact jobs, references, each as JSON, sorted;
// "+efficiency" are jobs that were added to these), in all profiles, also with built-in sets
// in place of those from files, and with other splits and another precision.
func TestTheFilesListTheJobsThatTheyListed(t *testing.T) {
	text, err := os.ReadFile("testdata/jobs.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		label       string
		change      func(*Profile)
		unavailable []string
	}{
		{"-", func(*Profile) {}, nil},
		{"without-files", func(*Profile) {}, uci},
		{"without-concrete,yacht;3-splits", func(p *Profile) { p.Splits = 3 }, []string{"concrete", "yacht"}},
		{"float64", func(p *Profile) { p.Precision = "float64" }, nil},
	} {
		for _, p := range Profiles() {
			c.change(&p)
			for _, s := range studies(t, p, c.unavailable...) {
				for _, later := range []bool{false, true} {
					list, n := lines(t, s, later)
					if len(list) == 0 {
						continue
					}
					sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
					line := fmt.Sprintf("%s %s %s%s %d %d %d %d %s\n", p.Name, c.label, s.ID, map[bool]string{true: "+efficiency"}[later], n[0], n[1], n[2], n[3], hex.EncodeToString(sum[:8]))
					if !strings.Contains(string(text), line) {
						t.Errorf("testdata/jobs.txt does not have the line %s", line)
					}
				}
			}
		}
	}
}
