package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hambench/usage"
)

// result is a small result whose cell is numbered by its seed.
func result(seed int) Result {
	c := Cell{
		Observe: Distance, Dataset: "linear", Model: "linear", Integrator: "leapfrog", Inner: 1, Friction: 5, Scheme: "full",
		Batches: 1, Step: 0.1, Samples: 2, Thin: 25, BurnIn: 100, Seed: uint64(seed), Precision: "float64", Oracle: Analytic,
	}
	return Result{Cell: c, Key: c.Key(), KS: 0.25, KSSelf: 0.5, Steps: 150, Seconds: 1, Scores: map[string]float64{"rmse": float64(seed)}, ISA: "generic", Go: "go1"}
}

func openStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s *Store, rs ...Result) {
	t.Helper()
	for _, r := range rs {
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
}

// segments returns the segment files of a store.
func segments(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, segmentFolder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestStoreKeepsWhatWasPut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a store", "with spaces")
	s := openStore(t, dir)
	put(t, s, result(1), result(2))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, dir)
	for seed := 1; seed <= 2; seed++ {
		want := result(seed)
		if got, ok := again.Get(want.Key); !ok || !Equal(got, want) || got.Seconds != want.Seconds {
			t.Errorf("seed %d: got %+v, %v; want %+v", seed, got, ok, want)
		}
	}
	if n := len(again.Results()); n != 2 {
		t.Errorf("%d results, want 2", n)
	}
}

func TestOpenWithoutPutWritesNoSegment(t *testing.T) {
	dir := t.TempDir()
	openStore(t, dir)
	if files := segments(t, dir); len(files) != 0 {
		t.Errorf("segments %v of a store that nothing was put in", files)
	}
}

// Every byte of a segment is flipped in turn, in four ways, and the file
// cut at every length: what is still served must be what was put.
func TestCorruptionIsNeverAccepted(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	want := map[string]Result{}
	for seed := range 2 {
		r := result(seed)
		put(t, s, r)
		want[r.Key] = r
	}
	s.Close()
	whole := readFile(t, segments(t, dir)[0])
	check := func(what string, data []byte, lost int) {
		t.Helper()
		served, troubles := 0, 0
		_, _, err := scanRecords(bytes.NewReader(data), 0, func(_ int, r Result) {
			served++
			if !Equal(r, want[r.Key]) || r.Seconds != want[r.Key].Seconds {
				t.Fatalf("%s: served %+v, which was never put", what, r)
			}
		}, func(Trouble) { troubles++ })
		if err != nil || served > len(want)-lost || (lost > 0 && troubles == 0) {
			t.Fatalf("%s: %d records served, %d troubles, %v; want at most %d records, reported", what, served, troubles, err, len(want)-lost)
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

func TestTroublesNameFileAndLineOnce(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, result(1))
	s.Close()
	path := segments(t, dir)[0]
	good, _ := os.ReadFile(path)
	foreignKey := result(2)
	foreignKey.Key = result(3).Key
	stray, err := encodeRecord(foreignKey)
	if err != nil {
		t.Fatal(err)
	}
	newer := `{"v":2,"written":"2031-01-01","body":{}}` + "\n"
	os.WriteFile(path, []byte(string(good)+"hello\n"+newer+string(stray)+strings.Replace(string(good), "0.25", "0.20", 1)+string(good[:40])), 0o644)

	s = openStore(t, dir)
	wants := []string{":2: foreign line: not a record", ":3: foreign record: it has schema version 2", ":4: record whose key", ":5: altered record", ":6: torn record"}
	troubles := s.Troubles()
	if len(troubles) != len(wants) {
		t.Fatalf("troubles %v, want %d", troubles, len(wants))
	}
	for i, w := range wants {
		if got := troubles[i].String(); !strings.HasPrefix(got, path+w) || troubles[i].Known {
			t.Errorf("trouble %q (known %v), want %q…, new", got, troubles[i].Known, path+w)
		}
	}
	if after, _ := os.ReadFile(path); len(after) < len(good) || !bytes.HasPrefix(after, good) {
		t.Error("the segment was changed")
	}
	for _, tr := range openStore(t, dir).Troubles() {
		if !tr.Known {
			t.Errorf("reported again as new: %v", tr)
		}
	}
}

// Verify asks for something to be done until damage is set aside, and only
// tells of it afterwards.
func TestVerifyIsContentOnceDamageIsSetAside(t *testing.T) {
	dir := t.TempDir()
	whole, _ := runSmall(t, dir, nil)
	whole.Close()
	damage(t, segments(t, dir)[0], 0.5)
	reference := whole.ReferencePath(smallRun()[0].Oracles[0].Key())
	damage(t, reference, 0.5)
	broken := readFile(t, reference)

	before, err := Verify(dir)
	if err != nil || before.OK() || before.New() != 2 || len(before.SetAside) != 0 {
		t.Errorf("before: %+v, %v; want 2 troubles, none set aside", before, err)
	}
	if _, err := os.Stat(reference); err != nil {
		t.Errorf("Verify moved the oracle: %v", err)
	}
	if s := openStore(t, dir); len(s.Troubles()) != 2 {
		t.Errorf("Open found %v; want the line and the oracle", s.Troubles())
	}
	after, err := Verify(dir)
	if err != nil || !after.OK() || len(after.Troubles) != 1 || len(after.SetAside) != 2 || after.Oracles != 0 {
		t.Errorf("after: %+v, %v; want 1 known trouble, 2 files set aside, no oracle", after, err)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, asideFolder, filepath.Base(reference)+".*")); len(kept) != 1 || !bytes.Equal(readFile(t, kept[0]), broken) {
		t.Errorf("set aside for the oracle: %v; want one file of its bytes", kept)
	}
	differing := whole.Results()[0]
	differing.KS += 0.5
	line, err := encodeRecord(differing)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, segmentFolder, "z"+segmentSuffix), line)
	if rep, err := Verify(dir); err != nil || rep.OK() {
		t.Errorf("with a differing record: %+v, %v; want it to object", rep, err)
	}
}

// A store that is open for reading stays as it is, to the byte.
func TestReadingWritesNothing(t *testing.T) {
	dir := t.TempDir()
	whole, _ := runSmall(t, dir, nil)
	whole.Close()
	spec := smallRun()[0].Oracles[0]
	damage(t, segments(t, dir)[0], 0.5)
	damage(t, whole.ReferencePath(spec.Key()), 0.5)
	before := files(t, dir)
	s, err := ReadIfThere(dir)
	if err != nil {
		t.Fatal(err)
	}
	if ref, err := s.Reference(spec.Key()); ref != nil || err != nil {
		t.Errorf("damaged oracle: %v, %v; want none", ref, err)
	}
	if err := s.Put(result(1)); err == nil {
		t.Error("Put to a store open for reading: no error")
	}
	if after := files(t, dir); !slices.Equal(after, before) {
		t.Errorf("files before:\n%v\nafter:\n%v", before, after)
	}

	none := filepath.Join(dir, "none")
	if s, err = ReadIfThere(none); err != nil || len(s.Results()) != 0 {
		t.Errorf("no store: %v; want an empty one", err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("ReadIfThere made a folder")
	}
}

// files lists a folder's files with checksums.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			list = append(list, path+" "+checksum(readFile(t, path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEqualDuplicatesMergeDifferingOnesClash(t *testing.T) {
	dir := t.TempDir()
	a, b := openStore(t, dir), openStore(t, dir)
	same, other := result(1), result(1)
	same.Seconds, same.Go, same.Commit = 99, "go2", "abc"
	other.KS = 0.75
	put(t, a, result(1))
	put(t, b, same)
	if s, err := Read(dir); err != nil || s.Stats().Duplicates != 1 || s.Stats().Cells != 1 {
		t.Fatalf("after an equal duplicate: %+v, %v", s.Stats(), err)
	}
	foreign := other
	foreign.ISA = "avx512"
	put(t, b, foreign) // another instruction set may differ
	if s, err := Read(dir); err != nil {
		t.Fatal(err)
	} else if r, _ := s.Get(foreign.Key); r.ISA != "avx512" {
		t.Errorf("served the result of %s, want of avx512, the first by name", r.ISA)
	}
	if err := b.Put(other); err == nil {
		t.Error("Put of a differing result: no error")
	}
	_, err := Read(dir)
	files := segments(t, dir)
	if err == nil || !strings.Contains(err.Error(), files[0]+":1") || !strings.Contains(err.Error(), files[1]+":3") {
		t.Errorf("differing duplicates: %v; want an error that names line 1 of %s and line 3 of %s", err, files[0], files[1])
	}
	if rep, err := Verify(dir); err != nil || rep.OK() || len(rep.Clashes) != 1 {
		t.Errorf("Verify: %+v, %v; want one clash", rep, err)
	}
}

func TestConcurrentWritersLoseNothing(t *testing.T) {
	const writers, each = 4, 25
	dir := t.TempDir()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			s, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := range each {
				// Neighbours share half of their cells.
				if err := s.Put(result(w*each/2 + i)); err != nil {
					t.Error(err)
				}
				if err := s.Refresh(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	rep, err := Verify(dir)
	if err != nil || !rep.OK() {
		t.Fatalf("%+v, %v", rep, err)
	}
	if want := (writers-1)*(each/2) + each; rep.Cells < want || rep.Records != writers*each || rep.Segments != writers {
		t.Errorf("%d cells, %d records, %d segments; want at least %d, %d, %d", rep.Cells, rep.Records, rep.Segments, want, writers*each, writers)
	}
}

func TestRefreshSeesOthers(t *testing.T) {
	dir := t.TempDir()
	a, b := openStore(t, dir), openStore(t, dir)
	put(t, a, result(1))
	if _, ok := b.Get(result(1).Key); ok {
		t.Fatal("seen before Refresh")
	}
	for range 2 {
		if err := b.Refresh(); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := b.Get(result(1).Key); !ok || b.Stats().Records != 1 {
		t.Errorf("after Refresh: present %v, %d records; want true, 1", ok, b.Stats().Records)
	}
	put(t, a, result(2))
	a.Close()
	put(t, a, result(3)) // a second segment of the same process
	if err := b.Refresh(); err != nil || len(b.Results()) != 3 {
		t.Errorf("%d results, %v; want 3", len(b.Results()), err)
	}
	if err := a.Refresh(); err != nil || a.Stats().Records != 3 {
		t.Errorf("a's own records: %d, %v; want 3", a.Stats().Records, err)
	}
}

func TestFailedWriteLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, result(1))
	s.segment.Close() // every write fails now, even the cut
	if err := s.Put(result(2)); err == nil {
		t.Fatal("Put to a closed file: no error")
	}
	put(t, s, result(3))
	if rep, err := Verify(dir); err != nil || !rep.OK() || rep.Cells != 2 || rep.Segments != 2 {
		t.Errorf("%+v, %v; want 2 cells in 2 segments", rep, err)
	}
}

func TestUnusableFoldersAreUsageErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/store"} {
		_, err := Open(dir)
		var bad *usage.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), dir) {
			t.Errorf("Open(%s): %v; want a usage error that names it", dir, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("Read of a missing folder: no error")
	}
}

func TestMergeTakesWhatIsMissing(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a, b := openStore(t, one), openStore(t, two)
	put(t, a, result(1), result(2))
	put(t, b, result(2), result(3))
	for _, added := range []int{1, 0} {
		if m, err := a.Merge(two); m.Records != added || len(m.Troubles) != 0 || err != nil {
			t.Errorf("merged %+v, %v; want %d", m, err, added)
		}
	}
	writeFile(t, filepath.Join(two, segmentFolder, "foreign"+segmentSuffix), []byte("{}\n"))
	if m, err := a.Merge(two); err != nil || len(m.Troubles) != 1 {
		t.Errorf("merged %+v, %v; want the foreign line reported", m, err)
	}
	differing := result(1)
	differing.KS = 0.75
	put(t, b, differing)
	if _, err := a.Merge(two); err == nil || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), two) {
		t.Errorf("merge of a differing result: %v; want an error that names both stores", err)
	}
}

func TestPutRefusesWhatJSONCannotHold(t *testing.T) {
	s := openStore(t, t.TempDir())
	nan := result(1)
	nan.KS = nan.KS / (nan.KS - nan.KS)
	wrong := result(1)
	wrong.Key = result(2).Key
	for _, r := range []Result{nan, wrong} {
		if err := s.Put(r); err == nil {
			t.Errorf("Put(%+v): no error", r)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
