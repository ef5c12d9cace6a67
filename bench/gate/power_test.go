package gate

import (
	"flag"
	"fmt"
	"hambench/internal/long"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of power in docs")

// trials are the comparisons behind each number of the table: its standard
// error is at most 2.2 %.
const trials = 500

// exits are the shares of exit codes.
type exits struct{ pass, moved, undecided float64 }

// simulate compares two runs many times. make returns the comparisons of one
// trial.
func simulate(make func() []comparison) exits {
	var e exits
	for range trials {
		r := &Report{}
		r.decide(make(), 0.05)
		switch outcome(r) {
		case 0:
			e.pass += 1. / trials
		case 1:
			e.moved += 1. / trials
		default:
			e.undecided += 1. / trials
		}
	}
	return e
}

// cellTrials are cells drawn from the replicates, of which the first is worse
// by a multiple of what counts.
func cellTrials(rng *rand.Rand, from []replicate, items, splits int, change float64) exits {
	return simulate(func() []comparison {
		all := make([]comparison, items)
		for i := range all {
			cell := from[rng.IntN(len(from))]
			var old, new []float64
			for range splits {
				old = append(old, cell.ks[rng.IntN(len(cell.ks))])
				new = append(new, cell.ks[rng.IntN(len(cell.ks))])
				if size := old[len(old)-1]; i == 0 {
					new[len(new)-1] += change * max(1, size/proportional)
				}
			}
			all[i] = compareDistances(old, new, cell.self, 0.03)
		}
		return all
	})
}

// calm are the replicates of which no chain diverged.
func calm(t *testing.T) []replicate {
	return slices.DeleteFunc(replicates(t), func(r replicate) bool { return slices.Max(r.ks) >= 1 })
}

func powerTable(t *testing.T) string {
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	row := func(items, runs int, of func(change float64) exits, changes ...float64) {
		fmt.Fprintf(&b, "| %d | %d |", items, runs)
		for _, change := range changes {
			e := of(change)
			fmt.Fprintf(&b, " %.0f · %.0f · %.0f |", 100*e.pass, 100*e.moved, 100*e.undecided)
		}
		b.WriteString("\n")
	}
	calm := calm(t)
	b.WriteString("Cells in which no chain diverges and all differ, one of them worse by these numbers (by ten times that share of old distances above 0.1)\n\n| cells | splits | 0 | 0.01 | 0.03 (counts) | 0.1 |\n|---|---|---|---|---|---|\n")
	for _, items := range []int{1, 10, 100} {
		for _, splits := range []int{1, 3, 5} {
			row(items, splits, func(change float64) exits { return cellTrials(rng, calm, items, splits, change) }, 0, 0.01, 0.03, 0.1)
		}
	}
	return b.String()
}

const (
	powerMade  = "HAMBENCH_TEST_LONG=1 go test ./bench/gate -run TestLongPower -update"
	powerBegin = "<!-- power: " + powerMade + " -->\n"
	powerEnd   = "<!-- end of power -->\n"
)

// TestLongPowerIsAsDocumented: the table in docs/gate.md is what the simulation
// gives.
func TestLongPowerIsAsDocumented(t *testing.T) {
	long.Test(t)
	const path = "../../docs/gate.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), powerBegin)
	table, after, ok2 := strings.Cut(rest, powerEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks the marks of the table", path)
	}
	now := powerTable(t)
	if *update {
		if err := os.WriteFile(path, []byte(before+powerBegin+now+powerEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if table != now && runtime.GOARCH == "amd64" { // others fuse multiply and add
		t.Errorf("the table in %s is not that of %s:\n%s", path, powerMade, now)
	}
}

// TestNothingPassesUnseen: a change that counts, in one of many cells, passes in at most
// one of ten runs, and a run without a change is called moved in at most one of twenty; each with 4
// standard errors of chance. A share that is at its limit exceeds them at one seed in 8 000, as its
// law is binomial, one of all twenty at 2 in 1000 at most; the seed is pinned.
func TestNothingPassesUnseen(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	from := calm(t)
	within := func(share, limit float64) bool {
		return share <= limit+4*math.Sqrt(limit*(1-limit)/trials)
	}
	for _, items := range []int{1, 10} {
		for _, splits := range []int{1, 2, 3, 5, 10} {
			if e := cellTrials(rng, from, items, splits, 0.03); !within(e.pass, 0.1) {
				t.Errorf("%d cells, %d splits: a change that counts passes in %.3f of runs", items, splits, e.pass)
			}
			if e := cellTrials(rng, from, items, splits, 0); !within(e.moved, 0.05) {
				t.Errorf("%d cells, %d splits: nothing changed and %.3f of runs move", items, splits, e.moved)
			}
		}
	}
}
