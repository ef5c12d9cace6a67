package gate

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// outcome is a report's verdict, as hambench's exit code.
func outcome(r *Report) int {
	switch err := r.Err(); {
	case errors.Is(err, ErrMoved):
		return 1
	case errors.Is(err, ErrUndecided):
		return 3
	}
	return 0
}

// compared is the report on two texts.
func compared(t *testing.T, old, new string, o Options) *Report {
	t.Helper()
	r, err := Compare(Run{"old", []byte(old)}, Run{"new", []byte(new)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// benchText is benchmark output: of some benchmarks, n runs each around a mean,
// with relative noise.
func benchText(rng *rand.Rand, benchmarks, n int, mean, noise float64) string {
	var b bytes.Buffer
	for i := range benchmarks {
		for range n {
			v := mean * (1 + noise*rng.NormFloat64())
			fmt.Fprintf(&b, "BenchmarkStep/integrator=i%d-2 100 %.2f ns/op %.2f samples/s\n", i, v, 1e9/v)
		}
	}
	return b.String()
}

func TestBenchmarksMovePassOrCannotBeDecided(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	old := benchText(rng, 1, 10, 1000, 0.01)
	for _, c := range []struct {
		reason, old, new string
		want             int
	}{
		{"the same file", old, old, 0},
		{"one run, the same file", "BenchmarkX 1 5 ns/op\n", "BenchmarkX 1 5 ns/op\n", 0},
		{"a constant, in more runs", "BenchmarkX 1 5 B/op\n", "BenchmarkX 1 5 B/op\nBenchmarkX 1 5 B/op\n", 0},
		{"another run", old, benchText(rng, 1, 10, 1000, 0.01), 0},
		{"significant and less than what counts", old, benchText(rng, 1, 10, 1020, 0.01), 0},
		{"slower", old, benchText(rng, 1, 10, 1200, 0.01), 1},
		{"faster", old, benchText(rng, 1, 10, 800, 0.01), 0},
		{"24 benchmarks ten times slower, -count 6", benchText(rng, 24, 6, 1000, 0.01), benchText(rng, 24, 6, 10000, 0.01), 1},
		{"24 benchmarks ten times slower, -count 2", benchText(rng, 24, 2, 1000, 0.01), benchText(rng, 24, 2, 10000, 0.01), 1},
		{"one run says nothing about the noise", benchText(rng, 1, 1, 1000, 0.01), benchText(rng, 1, 1, 1010, 0.01), 3},
		{"one run, ten times slower", benchText(rng, 1, 1, 1000, 0.01), benchText(rng, 1, 1, 10000, 0.01), 3},
		{"noise that hides what counts", benchText(rng, 24, 3, 1000, 0.1), benchText(rng, 24, 3, 1000, 0.1), 3},
		{"missing", old, "BenchmarkOther 1 1 ns/op\n", 1},
		{"one allocation more, always", "BenchmarkX 1 3 allocs/op\n" + "BenchmarkX 1 3 allocs/op\n", "BenchmarkX 1 4 allocs/op\n" + "BenchmarkX 1 4 allocs/op\n", 1},
		{"from no allocation to some", "BenchmarkX 1 0 allocs/op\n" + "BenchmarkX 1 0 allocs/op\n", "BenchmarkX 1 4 allocs/op\n" + "BenchmarkX 1 5 allocs/op\n", 1},
		{"a share of the peak that fell", "BenchmarkX 1 80 %peak\n" + "BenchmarkX 1 81 %peak\n", "BenchmarkX 1 40 %peak\n" + "BenchmarkX 1 41 %peak\n", 1},
		{"a share of the peak that rose", "BenchmarkX 1 40 %peak\n" + "BenchmarkX 1 41 %peak\n", "BenchmarkX 1 80 %peak\n" + "BenchmarkX 1 81 %peak\n", 0},
	} {
		r := compared(t, c.old, c.new, Options{})
		if got := outcome(r); got != c.want {
			t.Errorf("%s: exit code %d, want %d: %+v %+v", c.reason, got, c.want, r.Moved, r.Undecided)
		}
	}
}

func TestHigherIsBetterPerSecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	r := compared(t, benchText(rng, 1, 10, 1000, 0.01), benchText(rng, 1, 10, 1500, 0.01), Options{})
	units := map[string]bool{}
	for _, c := range r.Moved {
		units[c.What] = true
	}
	if len(r.Moved) != 2 || !units["samples/s"] {
		t.Errorf("moved %+v, want time and rate", r.Moved)
	}
}

// TestAsManyRunsAsAskedForDecide: with the noise that it saw, the number of
// runs that the gate asks for is enough. In 20 repetitions 2 may fail by
// chance: the noise was estimated from few runs.
func TestAsManyRunsAsAskedForDecide(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	failed := 0
	for range 20 {
		r := compared(t, benchText(rng, 24, 4, 1000, 0.05), benchText(rng, 24, 4, 1000, 0.05), Options{})
		more := 0
		for _, u := range r.Undecided {
			more = max(more, u.More)
		}
		if more == 0 {
			t.Fatalf("decided with 4 runs and noise of 5 %%: %+v", r)
		}
		n := 4 + more
		if outcome(compared(t, benchText(rng, 24, n, 1000, 0.05), benchText(rng, 24, n, 1000, 0.05), Options{})) != 0 {
			failed++
		}
	}
	if failed > 2 {
		t.Errorf("%d of 20 comparisons with as many runs as asked for did not pass", failed)
	}
}

func TestDifferentEnvironmentsAreSaid(t *testing.T) {
	r := compared(t, "goarch: amd64\ncpu: A\ncommit: 1\nBenchmarkX 1 5 ns/op\n", "goarch: amd64\ncpu: B\ncommit: 2\nBenchmarkX 1 5 ns/op\n", Options{})
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{"cpu differs: A in the old run, B in the new one", "commit differs: 1"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q lack %q", notes, want)
		}
	}
	if strings.Contains(notes, "goarch") {
		t.Errorf("notes %q name what is the same", notes)
	}
}

// TestHolm: Holm's own procedure on a worked example.
func TestHolm(t *testing.T) {
	p := []float64{0.01, 0.04, 0.03, 0.005}
	got, _ := holm(p, 0.05)
	// Sorted 0.005 ≤ 0.0125, 0.01 ≤ 0.0167, 0.03 > 0.025: stop.
	for i, want := range []bool{true, false, false, true} {
		if got[i] != want {
			t.Errorf("p = %v: rejected %v, want %v", p[i], got[i], want)
		}
	}
}
