package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hambench/test/mutate"
)

// Every byte of a segment is flipped in turn, in four ways, and the file
// cut at every length: what is still served must be what was put.
func TestCorruptionIsNeverAccepted(t *testing.T) {
	var whole []byte
	want := map[string]Record{}
	for i, kind := range []Kind{Result, Exact} {
		r := record(kind, i)
		line, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, line...)
		want[r.Key] = r
	}
	check := func(what string, data []byte, lost int) {
		t.Helper()
		served, corruptions := 0, 0
		scanRecords(data, position{}, func(_ int, r Record) {
			served++
			if !same(r, want[r.Key]) {
				t.Fatalf("%s: served %+v, which was never put", what, r)
			}
		}, func(*Corruption) { corruptions++ })
		if served > len(want)-lost || (lost > 0 && corruptions == 0) {
			t.Fatalf("%s: %d records served, %d corruptions; want at most %d records, reported", what, served, corruptions, len(want)-lost)
		}
	}
	for i := range whole {
		for _, flip := range []byte{0x01, 0x04, 0x20, 0x80} {
			altered := bytes.Clone(whole)
			altered[i] ^= flip
			check(fmt.Sprintf("byte %d ^ %#x", i, flip), altered, 1)
		}
		lost := 1
		if i == 0 || i == bytes.IndexByte(whole, '\n')+1 {
			lost = 0 // cut at a line's end: whole records vanish without a trace
		}
		check(fmt.Sprintf("cut at %d", i), whole[:i], lost)
	}
}

// The same for files of one record: there every cut shows.
func TestCorruptionOfAFileIsNeverAccepted(t *testing.T) {
	for _, kind := range []Kind{Reference, Part, Run} {
		r := record(kind, 1)
		whole, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, data []byte) {
			t.Helper()
			if got, err := decode(data); err == nil {
				t.Fatalf("%s, %s: accepted %+v", kind, what, got)
			}
		}
		for i := range whole {
			for _, flip := range []byte{0x01, 0x04, 0x20, 0x80} {
				altered := bytes.Clone(whole)
				altered[i] ^= flip
				check(fmt.Sprintf("byte %d ^ %#x", i, flip), altered)
			}
			check(fmt.Sprintf("cut at %d", i), whole[:i])
		}
		check("a second newline", append(bytes.Clone(whole), '\n'))
		check("a second record", slices.Concat(whole, whole))
		if got, err := decode(whole); err != nil || !same(got, r) {
			t.Fatalf("%s as written: %+v, error %v", kind, got, err)
		}
	}
}

// smallSegment is a segment of eight records, of bodies that are alike and
// bodies that are not.
func smallSegment(t testing.TB) []byte {
	t.Helper()
	var segment []byte
	for i := range 8 {
		r := record([]Kind{Result, Exact}[i%2], i)
		switch i {
		case 5:
			r = with(r, neon, `{"diverged":true,"distance":1e-9}`, i)
		case 6:
			r = with(r, newer, `{"path":[[0.1,-0.25],[1.5e3,2]]}`, i)
		case 7:
			r = with(r, avx2, `[{"name":"θ.cov","h":0.5,"error":1.25e-3}]`, i)
		}
		line, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		segment = append(segment, line...)
	}
	return segment
}

// recordLines returns the lines of a segment, newline included, by key.
func recordLines(t testing.TB, segment []byte) map[string][]byte {
	t.Helper()
	lines := map[string][]byte{}
	for _, line := range bytes.SplitAfter(segment, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		r, err := decode(line)
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
	whole := smallSegment(t)
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
		scanRecords(mutant, position{}, func(n int, r Record) {
			line, err := r.encode()
			if err != nil || !known[string(line)] || !bytes.Equal(line, lines[n-1]) {
				t.Fatalf("mutant %d (%s): line %d gave %+v, which was not written; error %v", i, how, n, r, err)
			}
			served[r.Key] = true
		}, func(c *Corruption) {
			if known[string(lines[c.Line-1])] {
				t.Fatalf("mutant %d (%s): a record as it was written is refused: %v", i, how, c)
			}
			surplus++
			fooled += blind(lines[c.Line-1], written)
		})
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
			shortened++ // whole lines are missing: those records count as missing
		}
	}
	t.Logf("10000 segments: %d reported as damaged, %d with every record as written, %d with whole records missing and the others as written", detected, unchanged, shortened)
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
// line for a record that was not written.
func blind(line []byte, written map[string][]byte) int {
	const start = len(frameSum) + sumDigits + len(frameRecord)
	if len(line) < start+len(frameEnd) {
		return 0
	}
	var r Record
	if json.Unmarshal(line[start:len(line)-len(frameEnd)], &r) != nil {
		return 0
	}
	again, err := r.encode()
	if err != nil || bytes.Equal(again, written[r.Key]) {
		return 0
	}
	return 1
}

// A store opened on damaged segments and files serves what is left and
// reports the rest.
func TestMutatedStores(t *testing.T) {
	segment := smallSegment(t)
	written := recordLines(t, segment)
	dir := t.TempDir()
	openStore(t, dir).Close()
	path := filepath.Join(dir, segmentFolder, "s"+segmentSuffix)
	files := []Kind{Reference, Part, Run}
	rng := rand.New(rand.NewPCG(2026, 2))
	unchanged, reported := 0, 0
	for i := range 200 {
		mutant, how := mutate.File(rng, segment)
		writeBytes(t, path, mutant)
		single := record(files[i%len(files)], 1)
		whole, err := single.encode()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, single.Kind.folder(), single.fileName())
		damaged, fileHow := mutate.File(rng, whole)
		writeBytes(t, file, damaged)
		read, err := Read(dir, Machine{})
		if err != nil {
			t.Fatalf("mutant %d (%s): %v", i, how, err)
		}
		served := 0
		for _, kind := range []Kind{Result, Exact} {
			for _, key := range read.Keys(kind) {
				served++
				r, _ := read.Get(kind, key)
				if line, err := r.encode(); err != nil || !bytes.Equal(line, written[r.Key]) {
					t.Fatalf("mutant %d (%s): served %+v, which was not written", i, how, r)
				}
			}
		}
		if served < len(written) && len(read.Corruptions()) == 0 && len(mutant) > len(segment) {
			t.Fatalf("mutant %d (%s): records are missing without a word", i, how)
		}
		named := slices.ContainsFunc(read.Corruptions(), func(c *Corruption) bool { return c.File == file })
		switch got, ok := read.Get(single.Kind, single.Key); {
		case !bytes.Equal(damaged, whole) && named && !ok:
			reported++
		case bytes.Equal(damaged, whole) && !named && same(got, single):
			unchanged++
		default:
			t.Fatalf("mutant %d of a %s (%s): served %v, reported %v", i, single.Kind, fileHow, ok, named)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("200 files: %d refused as damaged, %d with the old bytes and accepted", reported, unchanged)
}
