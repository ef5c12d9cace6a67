package main

import (
	"path/filepath"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
)

// What was stopped and continued, and what was run in two halves and merged,
// are the same numbers.
func TestStoppedContinuedAndMergedRunsAgree(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := whole(t.Context(), &out, dir); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "drawn from 18 of 18 cells") {
		t.Errorf("output %s: want all 18 cells drawn", out.String())
	}
	results := make(map[string]float64)
	for _, name := range []string{"store", "merged"} {
		s, err := store.Read(filepath.Join(dir, name), sweep.Here())
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range s.Keys(store.Result) {
			r, ok := bench.Results{Store: s}.Result(key)
			if old, again := results[key]; !ok || again && old != r.KS {
				t.Errorf("distance %v in %s, %v elsewhere", r.KS, name, old)
			}
			results[key] = r.KS
		}
	}
	if len(results) != 18 {
		t.Errorf("%d results: want 18 in each store", len(results))
	}
}
