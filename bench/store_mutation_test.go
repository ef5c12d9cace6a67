package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hambench/internal/mutate"
	"hambench/oracle"
)

// smallSegment is a segment of a run, cut to eight records of every kind of
// cell, and the path and bytes of the run's oracle file.
func smallSegment(t testing.TB) (segment []byte, oraclePath string, oracleFile []byte) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := &Runner{Store: s, Source: wellSource{}, Workers: 1}
	if _, err := r.Run(t.Context(), smallRun()); err != nil {
		t.Fatal(err)
	}
	// Diverged cells, paths and densities are among the last.
	var lines [][]byte
	for _, path := range mustGlob(t, filepath.Join(dir, segmentFolder, "*")) {
		lines = append(lines, bytes.SplitAfter(mustRead(t, path), []byte("\n"))...)
	}
	lines = lines[:len(lines)-1]
	segment = bytes.Join(slices.Concat(lines[:2], lines[len(lines)-6:]), nil)
	oraclePath = s.ReferencePath(smallRun()[0].Oracles[0].Key())
	return segment, oraclePath, mustRead(t, oraclePath)
}

func mustGlob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, error %v", pattern, files, err)
	}
	return files
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// recordLines returns the lines of a segment, newline included, by key.
func recordLines(t testing.TB, segment []byte) map[string][]byte {
	t.Helper()
	lines := map[string][]byte{}
	for _, line := range bytes.SplitAfter(segment, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		r, err := decodeRecord(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		lines[r.Key] = line
	}
	return lines
}

// Of 10 000 damaged segments the reader serves the records whose lines are
// byte for byte what was written, and reports every other line.
func TestMutatedSegments(t *testing.T) {
	whole, _, _ := smallSegment(t)
	written := recordLines(t, whole)
	known := map[string]bool{}
	for _, line := range written {
		known[string(line)] = true
	}
	rng := rand.New(rand.NewPCG(2026, 1))
	var unchanged, detected, shortened, fooled int
	for i := range 10_000 {
		mutant, how := mutate.File(rng, whole)
		lines := bytes.SplitAfter(mutant, []byte("\n"))
		served, surplus := map[string]bool{}, 0 // lines reported, less those that are damaged
		_, _, err := scanRecords(bytes.NewReader(mutant), 0, func(n int, r Result) {
			line, err := encodeRecord(r)
			if err != nil || !known[string(line)] || !bytes.Equal(line, lines[n-1]) {
				t.Fatalf("mutant %d (%s): line %d gave %+v, which was not written; error %v", i, how, n, r, err)
			}
			served[r.Key] = true
		}, func(tr Trouble) {
			if known[string(lines[tr.Line-1])] {
				t.Fatalf("mutant %d (%s): a record as it was written is refused: %v", i, how, tr)
			}
			surplus++
			fooled += blind(lines[tr.Line-1], written)
		})
		if err != nil {
			t.Fatalf("mutant %d (%s): %v", i, how, err)
		}
		for _, line := range lines {
			if len(line) > 0 && !known[string(line)] {
				surplus--
			}
		}
		switch {
		case surplus != 0:
			t.Fatalf("mutant %d (%s): %d lines more or less reported than are damaged", i, how, surplus)
		case !intact(lines, known):
			detected++
		case len(served) == len(written):
			unchanged++
		default:
			shortened++ // whole lines are gone: those cells count as missing
		}
	}
	t.Logf("10000 segments: %d reported as damaged, %d with every record as written, %d with whole records gone and the others as written", detected, unchanged, shortened)
	// A reader that trusts the frame takes changed records for good: the
	// mutants do reach into bodies.
	if fooled < 100 {
		t.Errorf("a reader without checksums accepts %d changed records: want many, or this test sees nothing", fooled)
	}
	t.Logf("a reader without checksums would have accepted %d changed records", fooled)
}

// intact reports whether all lines are known ones.
func intact(lines [][]byte, known map[string]bool) bool {
	return !slices.ContainsFunc(lines, func(l []byte) bool { return len(l) > 0 && !known[string(l)] })
}

// blind returns 1 if a reader that does not look at checksums would take a
// line for a result that was not written.
func blind(line []byte, written map[string][]byte) int {
	const start = len(frameSum) + sumDigits + len(frameBody)
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) < start+len(frameEnd) {
		return 0
	}
	var r Result
	if json.Unmarshal(line[start:len(line)-len(frameEnd)], &r) != nil {
		return 0
	}
	again, err := encodeRecord(r)
	if err != nil || bytes.Equal(again, written[r.Key]) {
		return 0
	}
	return 1
}

// A store opened on damaged segments serves what is left and reports the
// rest; a damaged oracle file is reported by Verify and moved aside.
func TestMutatedStores(t *testing.T) {
	segment, from, whole := smallSegment(t)
	written, key := recordLines(t, segment), filepath.Base(from)
	dir := t.TempDir()
	path := filepath.Join(dir, segmentFolder, "s"+segmentSuffix)
	s := openStore(t, dir)
	rng := rand.New(rand.NewPCG(2026, 2))
	unchanged, reported := 0, 0
	for i := range 200 {
		mutant, how := mutate.File(rng, segment)
		writeFile(t, path, mutant)
		read, err := Read(dir)
		if err != nil {
			t.Fatalf("mutant %d (%s): %v", i, how, err)
		}
		for _, r := range read.Results() {
			if line, err := encodeRecord(r); err != nil || !bytes.Equal(line, written[r.Key]) {
				t.Fatalf("mutant %d (%s): served %+v, which was not written", i, how, r)
			}
		}
		if len(read.Results()) < len(written) && len(read.Troubles()) == 0 && len(mutant) > len(segment) {
			t.Fatalf("mutant %d (%s): records are gone without a word", i, how)
		}
		oracleMutant, how := mutate.File(rng, whole)
		writeFile(t, s.ReferencePath(key), oracleMutant)
		_, err = loadReference(s.ReferencePath(key), key)
		switch {
		case !bytes.Equal(oracleMutant, whole) && errors.Is(err, oracle.ErrCorrupt):
			reported++
		case bytes.Equal(oracleMutant, whole) && err == nil:
			unchanged++
		default:
			t.Fatalf("oracle mutant %d (%s): error %v", i, how, err)
		}
	}
	t.Logf("200 oracle files: %d refused as damaged, %d with the old bytes and accepted", reported, unchanged)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	writeFile(t, s.ReferencePath(key), whole[1:])
	if rep, err := Verify(dir); err != nil || len(rep.Troubles) != 1 {
		t.Errorf("Verify: %+v, error %v; want one trouble", rep, err)
	}
	if r, err := s.Reference(key); r != nil || err != nil || s.HasReference(key) || len(s.Troubles()) != 1 {
		t.Errorf("reference %v, error %v, troubles %v; want it moved aside and reported", r, err, s.Troubles())
	}
}
