//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// store writes an output folder with records of the given distances and
// returns it.
func store(t *testing.T, distances ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	results := filepath.Join(out, "store", "records")
	if err := os.MkdirAll(results, 0o755); err != nil {
		t.Fatal(err)
	}
	var data []byte
	for i, ks := range distances {
		record := fmt.Sprintf(`{"kind":"result","key":"k%d","made":{"isa":"avx2"},"seconds":%d,"body":{"ks":%s}}`, i, os.Getpid()+i, ks)
		data = fmt.Appendf(data, `{"v":2,"sum":"%s","record":%s}`+"\n", digest([]byte(record)), record)
	}
	if err := os.WriteFile(filepath.Join(results, "a.jsonl"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

func mustRead(t *testing.T, out string) contents {
	t.Helper()
	c, err := read(out)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What the comparison must see, and what it must not.
func TestComparison(t *testing.T) {
	whole := mustRead(t, store(t, "0.25", "0.5", "0.125"))
	for _, c := range []struct {
		reason      string
		out         string
		lost, wrong int
	}{
		{"the same", store(t, "0.25", "0.5", "0.125"), 0, 0},
		{"a record is gone", store(t, "0.25", "0.5"), 1, 0},
		{"a last digit differs", store(t, "0.25", "0.5", "0.126"), 0, 1},
		{"another way to write the number is another record", store(t, "0.25", "0.50", "0.125"), 0, 1},
		{"a record too many", store(t, "0.25", "0.5", "0.125", "0.75"), 0, 1},
		{"all are gone", store(t), 3, 0},
	} {
		if d := compare(whole, mustRead(t, c.out)); d.lost != c.lost || d.wrong != c.wrong {
			t.Errorf("%s: lost %d, wrong %d; want %d, %d", c.reason, d.lost, d.wrong, c.lost, c.wrong)
		}
	}
}

func TestReaderRefusesWhatIsNotWhole(t *testing.T) {
	out := store(t, "0.25", "0.5")
	path := filepath.Join(out, "store", "records", "a.jsonl")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(good) - 1 {
		altered := append([]byte(nil), good...)
		altered[i] ^= 1
		if err := os.WriteFile(path, altered, 0o644); err != nil {
			t.Fatal(err)
		}
		if c := mustRead(t, out); c.lines > 1 || len(c.torn) == 0 {
			t.Fatalf("byte %d altered: %d good lines, torn %v", i, c.lines, c.torn)
		}
	}
}

func TestDifferingRepetitionsAreWrong(t *testing.T) {
	out, other := store(t, "0.25"), store(t, "0.5")
	data, err := os.ReadFile(filepath.Join(other, "store", "records", "a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	whole := mustRead(t, out)
	if err := os.WriteFile(filepath.Join(out, "store", "records", "0.jsonl"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if d := within(whole, mustRead(t, out)); d.wrong == 0 {
		t.Error("two records of one key that differ are not noticed")
	}
}

func TestGrowthSeesALeakThroughNoise(t *testing.T) {
	for _, c := range []struct {
		reason string
		leak   float64 // MiB per sample
		grows  bool
	}{
		{"flat, ± 5 MiB", 0, false},
		{"20 KiB per cell, ten cells per sample", 0.2, true},
	} {
		var mib []int
		for i := range 300 {
			mib = append(mib, 60+int(c.leak*float64(i))+(i*7919)%11-5)
		}
		if g := growth(mib); (g > limit(3000)) != c.grows {
			t.Errorf("%s: growth %d MiB, limit %d", c.reason, g, limit(3000))
		}
	}
}
