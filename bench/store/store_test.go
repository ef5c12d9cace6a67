package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hambench/usage"
)

var (
	avx2   = Machine{"amd64", "avx2", "k1"}
	avx512 = Machine{"amd64", "avx512", "k1"}
	newer  = Machine{"amd64", "avx512", "k2"} // other kernels of the same instruction set
	neon   = Machine{"arm64", "neon", "k1"}
)

var allKinds = []Kind{Result, Exact, Reference, Part, Run}

// record is a small record of avx512, with a key as long as a real one.
func record(kind Kind, number int) Record {
	body := fmt.Sprintf(`{"number":%d,"distance":0.25,"scores":{"rmse":%d.5},"text":"a \u003c b"}`, number, number)
	made := Made{Machine: avx512, Go: "go1", Commit: "c0ffee", Time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	return Record{Kind: kind, Key: checksum(fmt.Append(nil, number)), Made: made, Seconds: 1.5, Body: json.RawMessage(body)}
}

// with returns a record with another machine and body, made the given minutes
// later.
func with(r Record, m Machine, body string, minutes int) Record {
	r.Made.Machine, r.Made.Time = m, r.Made.Time.Add(time.Duration(minutes)*time.Minute)
	r.Body = json.RawMessage(body)
	return r
}

func same(a, b Record) bool {
	x, errA := a.encode()
	y, errB := b.encode()
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

func openOn(t testing.TB, dir string, m Machine) *Store {
	t.Helper()
	s, err := Open(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openStore(t testing.TB, dir string) *Store { return openOn(t, dir, avx512) }

// readStore reads the store in a folder to merge it.
func readStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Read(dir, Machine{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *Store, rs ...Record) {
	t.Helper()
	for _, r := range rs {
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
}

// filesOf returns the files that hold records of a kind.
func filesOf(t testing.TB, dir string, kind Kind) []string {
	t.Helper()
	folder := kind.folder()
	if folder == "" {
		folder = segmentFolder
	}
	files, err := filepath.Glob(filepath.Join(dir, folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func segments(t testing.TB, dir string) []string { return filesOf(t, dir, Result) }

func readBytes(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeBytes(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// flip alters one byte in the middle of a file.
func flip(t testing.TB, path string) {
	t.Helper()
	data := readBytes(t, path)
	data[len(data)/2] ^= 1
	writeBytes(t, path, data)
}

// contents lists a folder's files with their bytes' checksums and times.
func contents(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			info, _ := d.Info()
			list = append(list, fmt.Sprint(path, " ", checksum(readBytes(t, path)), info.ModTime()))
		} else {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestStoreKeepsWhatWasPut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a store", "with spaces")
	s := openStore(t, dir)
	for _, kind := range allKinds {
		put(t, s, record(kind, 1), record(kind, 2))
	}
	check := func(s *Store) {
		t.Helper()
		for _, kind := range allKinds {
			for number := 1; number <= 2; number++ {
				want := record(kind, number)
				if got, ok := s.Get(kind, want.Key); !ok || !same(got, want) {
					t.Errorf("%s %d: got %+v, %v; want %+v", kind, number, got, ok, want)
				}
			}
			if keys := s.Keys(kind); len(keys) != 2 || !slices.IsSorted(keys) || !s.Has(kind, keys[0]) {
				t.Errorf("%s: keys %v, want 2, sorted", kind, keys)
			}
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(s)
	if n := s.Stats().Segments; n != 1 {
		t.Errorf("%d segments of a closed store, want 1", n)
	}
	again := openStore(t, dir)
	check(again)
	if again.Has(Exact, record(Result, 3).Key) || again.Has("other", record(Result, 1).Key) {
		t.Error("a record that was never put is there")
	}
	put(t, s, record(Result, 3)) // a closed store can be written again
	if err := again.Refresh(); err != nil || !again.Has(Result, record(Result, 3).Key) {
		t.Errorf("after a Put behind Close: %v, want the record", err)
	}
}

func TestOpenWithoutPutWritesNoSegment(t *testing.T) {
	dir := t.TempDir()
	openStore(t, dir).Close()
	if files := segments(t, dir); len(files) != 0 {
		t.Errorf("segments %v of a store that nothing was put in", files)
	}
}

// References are some 700 kB each: their bodies stay on the disk.
func TestBodiesOfFilesAreNotKeptInMemory(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Reference, 1), record(Part, 1), record(Run, 1))
	damaged := record(Reference, 2)
	put(t, s, damaged)
	flip(t, filepath.Join(dir, Reference.folder(), damaged.fileName()))
	for _, s := range []*Store{s, openStore(t, dir)} {
		for at, list := range s.records {
			for _, n := range list {
				if n.Body != nil {
					t.Errorf("the body of the %s is kept", at.kind)
				}
			}
		}
		for _, c := range s.corruptions {
			if c.text != nil {
				t.Errorf("the bytes of %s are kept", c.File)
			}
		}
	}
}

func TestPutFillsInMachineAndTime(t *testing.T) {
	s := openStore(t, t.TempDir())
	r := record(Exact, 1)
	r.Made = Made{}
	put(t, s, r)
	got, _ := s.Get(Exact, r.Key)
	if age := time.Since(got.Made.Time); got.Made.Machine != avx512 || age < 0 || age > time.Hour {
		t.Errorf("made %+v; want now, on %v", got.Made, avx512)
	}
}

func TestPutRefusesWhatItCouldNotReadAgain(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for what, change := range map[string]func(*Record){
		"a NaN in the body":    func(r *Record) { r.Body = json.RawMessage(`{"distance":NaN}`) },
		"half a body":          func(r *Record) { r.Body = r.Body[:9] },
		"no body":              func(r *Record) { r.Body = nil },
		"infinite seconds":     func(r *Record) { r.Seconds = 1 / (r.Seconds - r.Seconds) },
		"no kind":              func(r *Record) { r.Kind = "" },
		"no key":               func(r *Record) { r.Key = "" },
		"a key out of folder":  func(r *Record) { r.Key = "../outside" },
		"a hidden key":         func(r *Record) { r.Key = ".hidden" },
		"a key of two lines":   func(r *Record) { r.Key = "a\nb" },
		"a key that is no UTF": func(r *Record) { r.Key = "a\xff" },
		"an endless key":       func(r *Record) { r.Key = strings.Repeat("a", 201) },
	} {
		for _, kind := range allKinds {
			r := record(kind, 1)
			if change(&r); s.Put(r) == nil {
				t.Errorf("Put of a %s with %s: no error", kind, what)
			}
		}
	}
	for _, kind := range allKinds {
		if files := filesOf(t, dir, kind); len(files) != 0 {
			t.Errorf("refused records left %v", files)
		}
	}
}

func TestCorruptionsNameFileAndLineOnce(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Result, 1))
	s.Close()
	path := segments(t, dir)[0]
	good := readBytes(t, path)
	nameless := frame([]byte(`{"kind":"result","key":"","body":1}`))
	newer := `{"v":3,"written":"2031-01-01","body":{}}` + "\n"
	writeBytes(t, path, []byte(string(good)+"hello\n"+newer+string(nameless)+strings.Replace(string(good), "0.25", "0.20", 1)+string(good[:40])))

	s = openStore(t, dir)
	wants := []string{":2: foreign line: not a record", ":3: foreign record: it has version 3", ":4: record with a valid checksum that is none", ":5: altered record", ":6: torn record"}
	corruptions := s.Corruptions()
	if len(corruptions) != len(wants) {
		t.Fatalf("corruptions %v, want %d", corruptions, len(wants))
	}
	for i, w := range wants {
		if got := corruptions[i].Error(); !strings.HasPrefix(got, path+w) || corruptions[i].Known {
			t.Errorf("corruption %q (known %v), want %q…, new", got, corruptions[i].Known, path+w)
		}
	}
	if !bytes.HasPrefix(readBytes(t, path), good) {
		t.Error("the segment was changed")
	}
	for _, c := range openStore(t, dir).Corruptions() {
		if !c.Known {
			t.Errorf("reported again as new: %v", c)
		}
	}
	if err := s.Refresh(); err != nil || len(s.Corruptions()) != len(wants) {
		t.Errorf("after Refresh: %v, %v; want the same", s.Corruptions(), err)
	}
}

// A damaged record of any kind is found by Verify, which changes nothing,
// quarantined by Open, counted missing, and can be put again.
func TestDamageOfEveryKindIsFoundQuarantinedAndMissing(t *testing.T) {
	for _, kind := range allKinds {
		t.Run(string(kind), func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir)
			put(t, s, record(kind, 1))
			s.Close()
			path := filesOf(t, dir, kind)[0]
			flip(t, path)
			broken, listed := readBytes(t, path), contents(t, dir)
			isFile := kind.folder() != ""

			before, err := Verify(dir)
			if err != nil || before.OK() || before.New() != 1 || len(before.Quarantined) != 0 || before.Keys[kind] != 0 {
				t.Errorf("before: %+v, %v; want 1 corruption, not quarantined", before, err)
			}
			if after := contents(t, dir); !slices.Equal(after, listed) {
				t.Errorf("Verify changed the store:\n%v\n%v", listed, after)
			}
			again := openStore(t, dir)
			if c := again.Corruptions(); len(c) != 1 || c[0].File != path || c[0].Known || again.Has(kind, record(kind, 1).Key) {
				t.Errorf("Open found %v; want the %s", c, kind)
			}
			after, err := Verify(dir)
			if err != nil || !after.OK() || len(after.Quarantined) != 1 || isFile != (len(after.Corruptions) == 0) {
				t.Errorf("after: %+v, %v; want nothing new, 1 file quarantined", after, err)
			}
			if kept := readBytes(t, after.Quarantined[0]); !bytes.Equal(kept, broken) {
				t.Errorf("quarantined %q, want the %s's bytes %q", kept, kind, broken)
			}
			put(t, again, record(kind, 1))
			if rep, err := Verify(dir); err != nil || !rep.OK() || rep.Keys[kind] != 1 {
				t.Errorf("made again: %+v, %v; want it there", rep, err)
			}
			if !isFile {
				return
			}
			flip(t, path) // the same damage as before is new damage
			if rep, err := Verify(dir); err != nil || rep.New() != 1 {
				t.Errorf("damaged again: %+v, %v; want 1 corruption", rep, err)
			}
			if openStore(t, dir); len(filesOf(t, dir, kind)) != 0 {
				t.Error("damaged again, but not quarantined")
			}
		})
	}
}

func TestFilesOfOtherNamesAreCorrupt(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Reference, 1), record(Run, 1))
	reference, run := filesOf(t, dir, Reference)[0], filesOf(t, dir, Run)[0]
	writeBytes(t, filepath.Join(dir, "references", "copy"), readBytes(t, reference))
	writeBytes(t, filepath.Join(dir, "runs", filepath.Base(reference)), readBytes(t, reference))
	writeBytes(t, filepath.Join(dir, "parts", filepath.Base(run)), readBytes(t, run))
	rep, err := Verify(dir)
	if err != nil || rep.New() != 3 || rep.Records != 2 || !strings.Contains(rep.Corruptions[0].Error(), "record of another name") {
		t.Errorf("%+v, %v; want 3 corruptions and 2 records", rep, err)
	}
}

// A file that is damaged while the store is open is quarantined when it is
// read, and counts as missing from then on; a store open for reading leaves it
// in its place.
func TestDamageBehindAnOpenStoreIsFoundByGet(t *testing.T) {
	for _, kind := range []Kind{Reference, Part, Run} {
		dir := t.TempDir()
		r := record(kind, 1)
		writer := openStore(t, dir)
		put(t, writer, r)
		reader, err := Read(dir, avx512)
		if err != nil {
			t.Fatal(err)
		}
		path := filesOf(t, dir, kind)[0]
		flip(t, path)
		for _, s := range []*Store{reader, writer} {
			if _, ok := s.Get(kind, r.Key); ok || s.Has(kind, r.Key) || len(s.Corruptions()) != 1 {
				t.Errorf("%s: Get finds %v, Has %v, corruptions %v; want it missing and reported", kind, ok, s.Has(kind, r.Key), s.Corruptions())
			}
			if err := s.Refresh(); err != nil || len(s.Corruptions()) != 1 {
				t.Errorf("%s after Refresh: %v, %v; want it reported once", kind, s.Corruptions(), err)
			}
			if _, err := os.Stat(path); (err == nil) != (s == reader) {
				t.Errorf("%s, read-only %v: stat %v", kind, s == reader, err)
			}
		}
		put(t, writer, r)
		if err := reader.Refresh(); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Store{reader, writer} {
			if got, ok := s.Get(kind, r.Key); !ok || !same(got, r) {
				t.Errorf("%s: made again, but not found (read-only %v)", kind, s == reader)
			}
		}
		if st := writer.Stats(); st.Records != 1 || st.Duplicates != 0 {
			t.Errorf("%s: %+v, want 1 record", kind, st)
		}
	}
}

// Open may look at a damaged file just before another process replaces it.
func TestQuarantineLeavesAFileThatWasReplaced(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Reference, 1))
	path := filesOf(t, dir, Reference)[0]
	good := readBytes(t, path)
	flip(t, path)
	read, err := Read(dir, avx512)
	if err != nil {
		t.Fatal(err)
	}
	writeBytes(t, path, good)
	if err := read.quarantine(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readBytes(t, path), good) {
		t.Error("the good file is gone")
	}
}

// A store that is open for reading stays as it is, to the byte.
func TestReadingWritesNothing(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	for _, kind := range allKinds {
		put(t, s, record(kind, 1), record(kind, 2))
	}
	s.Close()
	for _, kind := range []Kind{Result, Reference, Part, Run} {
		flip(t, filesOf(t, dir, kind)[0])
	}
	before := contents(t, dir)
	s, err := ReadIfThere(dir, avx512)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Corruptions()); n != 4 {
		t.Errorf("%d corruptions, want 4", n)
	}
	for _, kind := range allKinds {
		for _, key := range s.Keys(kind) {
			s.Get(kind, key)
		}
		if err := s.Put(record(kind, 3)); err == nil {
			t.Errorf("Put of a %s to a store open for reading: no error", kind)
		}
	}
	if _, ok := s.Lease("key"); ok {
		t.Error("Lease of a store open for reading was granted")
	}
	if err := errors.Join(s.Remove(Part, s.Keys(Part)[0]), s.Refresh(), s.Close()); err != nil {
		t.Error(err)
	}
	if after := contents(t, dir); !slices.Equal(after, before) {
		t.Errorf("files before:\n%v\nafter:\n%v", before, after)
	}

	none := filepath.Join(dir, "none")
	if s, err = ReadIfThere(none, avx512); err != nil || len(s.Keys(Result)) != 0 {
		t.Errorf("no store: %v; want an empty one", err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("ReadIfThere made a folder")
	}
}

func TestEqualDuplicatesMergeDifferingOnesConflict(t *testing.T) {
	for _, kind := range []Kind{Result, Exact, Reference, Part} {
		t.Run(string(kind), func(t *testing.T) {
			dir := t.TempDir()
			a, b := openStore(t, dir), openStore(t, dir)
			again := record(kind, 1)
			again.Seconds, again.Made.Go = 99, "go2"
			put(t, a, record(kind, 1))
			put(t, b, again)
			if s, err := Read(dir, avx512); err != nil || s.Stats().Keys[kind] != 1 {
				t.Fatalf("after an equal duplicate: %v; want one key", err)
			}
			put(t, b, with(again, neon, `"other"`, 1)) // another instruction set may differ
			if err := b.Refresh(); err != nil {
				t.Fatal(err)
			}
			var conflict *Conflict
			if err := b.Put(with(again, avx512, `"other"`, 1)); !errors.As(err, &conflict) || conflict.Kind != kind || conflict.Machine != avx512 {
				t.Errorf("Put of a differing record: %v; want a conflict", err)
			}
			_, err := Read(dir, avx512)
			if !errors.As(err, &conflict) || conflict.Here == conflict.Also ||
				!strings.Contains(err.Error(), conflict.Here) || !strings.Contains(err.Error(), conflict.Also) || !strings.HasSuffix(err.Error(), " removed by hand") {
				t.Errorf("differing duplicates: %v; want an error that names both places, and what to do", err)
			}
			for _, place := range []string{conflict.Here, conflict.Also} {
				if file, line, ok := strings.Cut(place, segmentSuffix+":"); ok {
					place = file + segmentSuffix
					if text := readBytes(t, place); line == "0" || bytes.Count(text, []byte("\n")) < int(line[0]-'0') {
						t.Errorf("conflict at line %s of %s", line, place)
					}
				} else if _, err := os.Stat(place); err != nil {
					t.Errorf("conflict at %s: %v", place, err)
				}
			}
			if _, err := Open(dir, avx512); !errors.As(err, &conflict) {
				t.Errorf("Open: %v; want the conflict", err)
			}
			if err := a.Refresh(); !errors.As(err, &conflict) {
				t.Errorf("Refresh: %v; want the conflict", err)
			}
			// The other instruction set's alone is good: of the rest nobody knows which is right.
			if rep, err := Verify(dir); err != nil || rep.OK() || len(rep.Conflicts) != 1 || rep.Records != 1 || rep.Kinds[kind] != 1 || rep.Keys[kind] != 1 {
				t.Errorf("Verify: %+v, %v; want one conflict, and one good record", rep, err)
			}
		})
	}
}

// The key of an exact error vouches for eight digits, not for the last: programs
// of two commits may differ in it, and the first record stays.
func TestExactErrorsOfTwoCommitsAgree(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a, b := openStore(t, one), openStore(t, two)
	later := with(record(Exact, 1), avx512, `"later"`, 1)
	later.Made.Commit = "abc"
	put(t, a, record(Exact, 1))
	put(t, b, later)
	if m, err := a.Merge(t.Context(), Shared, readStore(t, two)); err != nil || len(m.Added) != 0 {
		t.Errorf("merge: %+v, %v; want nothing added", m, err)
	}
	put(t, a, later)
	if r, ok := openStore(t, one).Get(Exact, later.Key); !ok || string(r.Body) != string(record(Exact, 1).Body) {
		t.Errorf("after both were written: %s, want the first", r.Body)
	}
	if rep, err := Verify(one); err != nil || !rep.OK() {
		t.Errorf("Verify: %+v, %v", rep, err)
	}
}

// Two processes that finish one reference at the same moment see nothing of
// each other before they write; if they differ, the store says so.
func TestDifferingFilesWrittenAtOnceConflict(t *testing.T) {
	dir := t.TempDir()
	a, b := openStore(t, dir), openStore(t, dir)
	put(t, a, record(Reference, 1))
	put(t, b, with(record(Reference, 1), avx512, `"other"`, 0))
	var conflict *Conflict
	if err := a.Refresh(); !errors.As(err, &conflict) {
		t.Errorf("Refresh: %v; want a conflict", err)
	}
	if got, ok := a.Get(Reference, record(Reference, 1).Key); !ok || !same(got, record(Reference, 1)) {
		t.Errorf("a's own reference was replaced by %+v", got)
	}
}

func TestTheLastManifestCounts(t *testing.T) {
	dir := t.TempDir()
	a, b := openStore(t, dir), openOn(t, dir, newer)
	put(t, a, record(Run, 1))
	put(t, b, with(record(Run, 1), newer, `"second"`, 1))
	for _, s := range []*Store{a, b, openStore(t, dir), openOn(t, dir, neon), openOn(t, dir, Machine{})} {
		if r, ok := s.Get(Run, record(Run, 1).Key); !ok || string(r.Body) != `"second"` || s.Stats().Keys[Run] != 1 {
			t.Errorf("on %v: %s, %v; want the second", s.machine, r.Body, ok)
		}
	}
	if files := filesOf(t, dir, Run); len(files) != 1 {
		t.Errorf("files %v, want one", files)
	}
}

func TestGetChoosesByMachine(t *testing.T) {
	// The newer kernels' record is written first and lies in the first segment:
	// what counts is when it was made.
	records := func(kind Kind) []Record {
		r := record(kind, 1)
		return []Record{with(r, newer, `"newer"`, 2), with(r, avx512, `"older"`, 1), with(r, neon, `"neon"`, 3), with(r, avx2, `"avx2"`, 0)}
	}
	cases := []struct {
		what string
		on   Machine
		has  []int // of records
		want string
	}{
		{"its own", avx512, []int{0, 1, 2, 3}, `"older"`},
		{"its own", neon, []int{0, 1, 2, 3}, `"neon"`},
		{"the first by name of other instruction sets", newer, []int{1, 2, 3}, `"avx2"`},
		{"none of other kernels of its instruction set", newer, []int{1}, ``},
		{"none of other kernels, were they newer", avx512, []int{0}, ``},
		{"another architecture's", newer, []int{1, 2}, `"neon"`},
		{"the newer of two other kernels", avx2, []int{0, 1, 2}, `"newer"`},
		{"the newer on no machine", Machine{}, []int{0, 1, 2}, `"newer"`},
		{"the first by name on no machine", Machine{}, []int{0, 1, 2, 3}, `"avx2"`},
	}
	for _, kind := range []Kind{Result, Exact, Reference} {
		for _, c := range cases {
			dir := t.TempDir()
			for _, i := range c.has {
				s := openOn(t, dir, records(kind)[i].Made.Machine)
				put(t, s, records(kind)[i]) // each to a segment of its own
				s.Close()
			}
			for range 2 {
				s := openOn(t, dir, c.on)
				r, ok := s.Get(kind, record(kind, 1).Key)
				if ok != (c.want != "") || string(r.Body) != c.want || s.Has(kind, record(kind, 1).Key) != ok || len(s.Keys(kind)) > 0 != ok {
					t.Errorf("%s on %v with %v: %s, %v; want %s: %s", kind, c.on, c.has, r.Body, ok, c.what, c.want)
				}
				if n := s.Stats().Records; n != len(c.has) {
					t.Errorf("%s: %d records side by side, want %d", kind, n, len(c.has))
				}
			}
		}
	}
}

// What other kernels made is recomputed and stored beside it.
func TestOtherKernelsAreStoredBeside(t *testing.T) {
	for _, kind := range []Kind{Result, Exact, Reference, Part} {
		dir := t.TempDir()
		old := openStore(t, dir)
		put(t, old, record(kind, 1))
		s := openOn(t, dir, newer)
		if s.Has(kind, record(kind, 1).Key) {
			t.Errorf("%s: a record of other kernels is reused", kind)
		}
		put(t, s, with(record(kind, 1), newer, `"newer"`, 1))
		for m, want := range map[Machine]string{avx512: string(record(kind, 1).Body), newer: `"newer"`, {}: `"newer"`} {
			if r, ok := openOn(t, dir, m).Get(kind, record(kind, 1).Key); !ok || string(r.Body) != want {
				t.Errorf("%s on %v: %s, %v; want %s", kind, m, r.Body, ok, want)
			}
		}
		if rep, err := Verify(dir); err != nil || !rep.OK() || rep.Records != 2 || rep.Keys[kind] != 1 || kind == Result && len(rep.Machines) != 2 {
			t.Errorf("%s: %+v, %v; want two records of one key", kind, rep, err)
		}
	}
}

// A reference's chains come from one machine, whatever other machines share
// the store, and each machine removes its own.
func TestPartsStayWithTheirMachine(t *testing.T) {
	dir := t.TempDir()
	a, b := openStore(t, dir), openOn(t, dir, neon)
	key := record(Part, 1).Key
	put(t, a, record(Part, 1))
	if err := b.Refresh(); err != nil || b.Has(Part, key) {
		t.Errorf("%v; a part of another machine is served", err)
	}
	put(t, b, with(record(Part, 1), neon, `"neon"`, 0))
	if err := errors.Join(b.Remove(Part, key), b.Remove(Part, key), b.Refresh()); err != nil || b.Has(Part, key) {
		t.Errorf("Remove: %v, present %v", err, b.Has(Part, key))
	}
	if err := b.Remove(Result, key); err == nil {
		t.Error("a result was removed: its file holds others")
	}
	if err := a.Refresh(); err != nil || !a.Has(Part, key) || len(filesOf(t, dir, Part)) != 1 {
		t.Errorf("%v; another machine's part was removed", err)
	}
	// A part that another process of this machine has removed is missing.
	c := openStore(t, dir)
	if err := a.Remove(Part, key); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(Part, key); ok || c.Has(Part, key) || len(c.Corruptions()) != 0 {
		t.Error("a part that was removed is there, or corrupt")
	}
}

func TestConcurrentWritersLoseNothing(t *testing.T) {
	const writers, each = 4, 24
	dir := t.TempDir()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			s, err := Open(dir, avx512)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := range each {
				// Neighbours share half of their records.
				if err := s.Put(record(allKinds[i%len(allKinds)], w*each/2+i)); err != nil {
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
	if err != nil || !rep.OK() || len(rep.Corruptions) != 0 || rep.Segments != writers {
		t.Fatalf("%+v, %v; want %d segments and no corruption", rep, err, writers)
	}
	s := openStore(t, dir)
	for w := range writers {
		for i := range each {
			want := record(allKinds[i%len(allKinds)], w*each/2+i)
			if got, ok := s.Get(want.Kind, want.Key); !ok || !same(got, want) {
				t.Errorf("writer %d: %s %d is %+v, %v", w, want.Kind, i, got, ok)
			}
		}
	}
}

// One store is used by many goroutines, as workers do.
func TestOneStoreServesManyGoroutines(t *testing.T) {
	s := openStore(t, t.TempDir())
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := range 10 {
				r := record(allKinds[i%len(allKinds)], w*10+i)
				release, ok := s.Lease(r.Key)
				if err := s.Put(r); err != nil || !ok {
					t.Error(err, ok)
				}
				release()
				if _, ok := s.Get(r.Kind, r.Key); !ok {
					t.Errorf("%s %d is missing", r.Kind, i)
				}
				s.Keys(r.Kind)
				s.Stats()
				if err := s.Refresh(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := s.Stats().Records; n != 40 {
		t.Errorf("%d records, want 40", n)
	}
}

func TestRefreshSeesOthers(t *testing.T) {
	for _, kind := range allKinds {
		dir := t.TempDir()
		a, b := openStore(t, dir), openStore(t, dir)
		put(t, a, record(kind, 1))
		if b.Has(kind, record(kind, 1).Key) {
			t.Fatal("seen before Refresh")
		}
		for range 2 {
			if err := b.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
		if !b.Has(kind, record(kind, 1).Key) || b.Stats().Records != 1 {
			t.Errorf("%s after Refresh: %d records; want 1", kind, b.Stats().Records)
		}
		put(t, a, record(kind, 2))
		a.Close()
		put(t, a, record(kind, 3)) // a second segment of the same process
		if err := b.Refresh(); err != nil || len(b.Keys(kind)) != 3 {
			t.Errorf("%s: %d keys, %v; want 3", kind, len(b.Keys(kind)), err)
		}
		if err := a.Refresh(); err != nil || a.Stats().Records != 3 || a.Stats().Duplicates != 0 {
			t.Errorf("a's own records: %+v, %v; want 3", a.Stats(), err)
		}
	}
}

// A file that another host removed while it was open here is gone, as one that was removed before.
func TestAStaleFileIsGone(t *testing.T) {
	for err, want := range map[error]bool{syscall.ESTALE: true, syscall.ENOENT: true, syscall.EIO: false} {
		if got := gone(fmt.Errorf("store: %w", &fs.PathError{Op: "read", Path: "f", Err: err})); got != want {
			t.Errorf("%v: gone is %v", err, got)
		}
	}
}

// A write of another process may be seen half: it counts once it is whole.
func TestRefreshReadsATornLineAgain(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	line, err := record(Result, 1).encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, segmentFolder, "other"+segmentSuffix)
	for cut := 1; cut < len(line); cut += 50 {
		writeBytes(t, path, line[:cut])
		if err := s.Refresh(); err != nil || len(s.Corruptions()) != 1 || len(s.Keys(Result)) != 0 {
			t.Fatalf("cut at %d: %v, %v; want one torn line", cut, s.Corruptions(), err)
		}
	}
	writeBytes(t, path, line)
	if err := s.Refresh(); err != nil || len(s.Corruptions()) != 0 || len(s.Keys(Result)) != 1 {
		t.Errorf("whole: %v, %v; want the record and no corruption", s.Corruptions(), err)
	}
}

func TestFailedWriteLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Result, 1))
	s.segment.Close() // every write fails now, even the cut
	if err := s.Put(record(Result, 2)); err == nil {
		t.Fatal("Put to a closed file: no error")
	}
	put(t, s, record(Result, 3))
	if err := s.Refresh(); err != nil || s.Stats().Records != 2 || s.Stats().Segments != 2 {
		t.Errorf("%+v, %v; want 2 records in 2 segments", s.Stats(), err)
	}
	if rep, err := Verify(dir); err != nil || !rep.OK() || rep.Keys[Result] != 2 || rep.Segments != 2 {
		t.Errorf("%+v, %v; want 2 results in 2 segments", rep, err)
	}
}

func TestFailedFirstWriteLeavesNoSegment(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	if err := s.newSegment(); err != nil {
		t.Fatal(err)
	}
	s.segment.Close()
	if err := s.Put(record(Result, 1)); err == nil || len(segments(t, dir)) != 0 {
		t.Errorf("Put to a closed file: %v, segments %v; want an error and none", err, segments(t, dir))
	}
}

func TestFailedWriteOfAFileLeavesNoTrace(t *testing.T) {
	for _, kind := range []Kind{Reference, Part, Run} {
		dir := t.TempDir()
		s := openStore(t, dir)
		folder := filepath.Join(dir, kind.folder())
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(record(kind, 1)); err == nil || s.Has(kind, record(kind, 1).Key) {
			t.Errorf("Put of a %s without its folder: %v; want an error and no record", kind, err)
		}
	}
}

func TestUnusableFoldersAreUsageErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeBytes(t, file, nil)
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/store"} {
		_, err := Open(dir, avx512)
		var bad *usage.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open(%s): %v; want a usage error of one line that names it", dir, err)
		}
	}
	for _, dir := range []string{filepath.Join(t.TempDir(), "none"), file} {
		_, err := Read(dir, avx512)
		_, verify := Verify(dir)
		var bad *usage.Error
		if !errors.As(err, &bad) || !errors.As(verify, &bad) {
			t.Errorf("Read and Verify of %s: %v, %v; want usage errors", dir, err, verify)
		}
	}
}

// A records folder that cannot be listed is not an empty one.
func TestUnreadableFoldersAreNotEmpty(t *testing.T) {
	dir := t.TempDir()
	writeBytes(t, filepath.Join(dir, segmentFolder), []byte("a file in the place of the folder"))
	if _, err := Read(dir, avx512); err == nil {
		t.Error("Read: no error")
	}
}

// A store of the first edition, or of a later format, is refused and stays as
// it is, byte for byte.
func TestStoresOfOtherFormatsAreLeftAlone(t *testing.T) {
	stores := map[string]string{
		"results/20250101T000000.000000-1-00000000.jsonl": "first edition",
		"oracles/d6d3d75db715d076":                        "first edition",
		"certified/rows.json":                             "first edition",
		"format":                                          "hambench store 3",
	}
	for name, says := range stores {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeBytes(t, path, []byte("hambench store 3\n"))
		before := contents(t, dir)
		_, open := Open(dir, avx512)
		_, read := Read(dir, avx512)
		_, there := ReadIfThere(dir, avx512)
		_, verify := Verify(dir)
		for _, err := range []error{open, read, there, verify} {
			var bad *usage.Error // the driver's exit code 2
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v; want a usage error of one line that says %q", name, err, says)
			}
		}
		if after := contents(t, dir); !slices.Equal(after, before) {
			t.Errorf("%s: the store was changed:\n%v\n%v", name, before, after)
		}
	}
}

// An editor may leave out the last line's end, and a copy by way of Windows change it.
func TestTheEndOfTheFormatsLineDoesNotMatter(t *testing.T) {
	for _, text := range []string{"hambench store 2", "hambench store 2\r\n", "hambench store 2\n\n"} {
		dir := t.TempDir()
		put(t, openStore(t, dir), record(Result, 1))
		writeBytes(t, filepath.Join(dir, formatFile), []byte(text))
		if s, err := Open(dir, avx512); err != nil || s.Stats().Keys[Result] != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLeftoversOfKilledWritersAreRemovedOnlyWhenOld(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Result, 1), record(Reference, 1))
	if err := os.Mkdir(filepath.Join(dir, quarantineFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	var old, young, foreign []string
	for _, folder := range []string{".", "records", "references", "parts", "runs", "quarantine"} {
		for i, name := range []string{".touch.tmp-123", ".key-0123.tmp-123", ".touch.tmp-456", ".key-0123.tmp-456", ".gitignore", "notes.tmp-1"} {
			path := filepath.Join(dir, folder, name)
			writeBytes(t, path, []byte("half"))
			age := leftoverAge + time.Minute
			switch {
			case i < 2:
				old = append(old, path)
			case i < 4:
				young, age = append(young, path), leftoverAge-time.Minute
			case i < 5 || folder == ".": // other visible files of the store's folders are corrupt records
				foreign = append(foreign, path)
			default:
				os.Remove(path)
				continue
			}
			backdate(t, path, age)
		}
	}
	backdate(t, segments(t, dir)[0], 100*leftoverAge)
	openStore(t, dir)
	for _, path := range old {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range slices.Concat(young, foreign, segments(t, dir), filesOf(t, dir, Reference)) {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s was removed", path)
		}
	}
}

// backdate makes a file older by the given time.
func backdate(t testing.TB, path string, by time.Duration) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if at := info.ModTime().Add(-by); os.Chtimes(path, at, at) != nil {
		t.Fatal("cannot set the time of", path)
	}
}

func TestMergeTakesWhatIsMissing(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a, b := openStore(t, one), openOn(t, two, neon)
	kinds := []Kind{Result, Exact, Reference, Run}
	for _, kind := range kinds {
		put(t, a, record(kind, 1), record(kind, 2))
		put(t, b, record(kind, 2), record(kind, 3), with(record(kind, 4), neon, `"neon"`, 0))
		put(t, b, with(record(kind, 4), newer, `"newer"`, 0)) // a manifest replaces the one before
	}
	put(t, b, record(Part, 1))
	want := map[Kind]int{Result: 3, Exact: 3, Reference: 3, Run: 2}
	for _, added := range []map[Kind]int{want, {}} {
		if m, err := a.Merge(t.Context(), Shared, readStore(t, two)); !maps.Equal(m.Added, added) || len(m.Corruptions) != 0 || err != nil {
			t.Errorf("merged %+v, %v; want %v", m, err, added)
		}
	}
	published := openStore(t, t.TempDir())
	without := map[Kind]int{Result: 4, Exact: 4, Run: 3} // the one of two machines twice, and the latest manifests
	if m, err := published.Merge(t.Context(), Published, readStore(t, two)); err != nil || !maps.Equal(m.Added, without) {
		t.Errorf("published %+v, %v; want %v", m, err, without)
	}
	for _, kind := range kinds {
		if r, ok := a.Get(kind, record(kind, 3).Key); !ok || !same(r, record(kind, 3)) {
			t.Errorf("%s after Merge: %+v, %v", kind, r, ok)
		}
	}
	writeBytes(t, filepath.Join(two, segmentFolder, "foreign"+segmentSuffix), []byte("{}\n"))
	flip(t, filepath.Join(two, "references", record(Reference, 3).fileName()))
	if m, err := a.Merge(t.Context(), Shared, readStore(t, two)); err != nil || len(m.Corruptions) != 2 || len(m.Added) != 0 {
		t.Errorf("merged %+v, %v; want the foreign line and the reference reported", m, err)
	}
	if rep, err := Verify(two); err != nil || len(rep.Quarantined) != 0 {
		t.Errorf("the other store: %+v, %v; want it left alone", rep, err)
	}
}

func TestMergeOfADifferingRecordNamesBothStores(t *testing.T) {
	for _, kind := range []Kind{Result, Exact, Reference} {
		one, two := t.TempDir(), t.TempDir()
		a, b := openStore(t, one), openStore(t, two)
		put(t, a, record(kind, 1))
		put(t, b, with(record(kind, 1), avx512, `"other"`, 0))
		var conflict *Conflict
		if _, err := a.Merge(t.Context(), Shared, readStore(t, two)); !errors.As(err, &conflict) || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), two) {
			t.Errorf("merge of a differing %s: %v; want a conflict that names both stores", kind, err)
		}
		if rep, err := Verify(one); err != nil || !rep.OK() {
			t.Errorf("%s: %+v, %v; want the store as it was", kind, rep, err)
		}
	}
}

func TestMergeTakesTheNewerManifest(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a, b := openStore(t, one), openStore(t, two)
	put(t, a, record(Run, 1), with(record(Run, 2), avx512, `"newer"`, 5))
	put(t, b, with(record(Run, 1), neon, `"newer"`, 5), record(Run, 2))
	if m, err := a.Merge(t.Context(), Shared, readStore(t, two)); err != nil || m.Older != 2 || len(m.Added) != 0 {
		t.Errorf("merged %+v, %v; want two that are older, of which one is replaced", m, err)
	}
	for number := 1; number <= 2; number++ {
		if r, _ := a.Get(Run, record(Run, number).Key); string(r.Body) != `"newer"` {
			t.Errorf("manifest %d is %s, want the newer", number, r.Body)
		}
	}
}

func TestStatsCountTimeAndMachines(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Result, 1), record(Exact, 1), record(Reference, 1), with(record(Result, 1), neon, `2`, 0), with(record(Result, 2), avx2, `2`, 0), with(record(Result, 3), newer, `2`, 0))
	want := Stats{Segments: 1, Records: 6, Kinds: map[Kind]int{Result: 4, Exact: 1, Reference: 1}, Keys: map[Kind]int{Result: 3, Exact: 1, Reference: 1}, Seconds: 7.5, Machines: []Machine{avx2, avx512, newer, neon}}
	for range 10 {
		if got := s.Stats(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func TestMergeOrdersRecordsByTheirBodies(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a, b := openStore(t, one), openStore(t, two)
	put(t, a, record(Result, 3), record(Result, 1))
	put(t, openStore(t, one), record(Result, 2)) // a segment of its own
	if _, err := b.Merge(t.Context(), Shared, readStore(t, one)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(two, "records", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v; want one segment", files, err)
	}
	var got []string
	for line := range bytes.Lines(readBytes(t, files[0])) {
		r, err := decode(line)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Key)
	}
	if want := []string{record(Result, 1).Key, record(Result, 2).Key, record(Result, 3).Key}; !slices.Equal(got, want) {
		t.Errorf("merged in the order %.6s, want %.6s", got, want)
	}
}

// Two records of one machine that other things were the basis of are both right: the first basis
// by name counts, whichever was merged or written first.
func TestRecordsOfTwoBasesAreNoConflict(t *testing.T) {
	none := Basis
	t.Cleanup(func() { Basis = none })
	Basis = func(r Record) string {
		_, basis, _ := strings.Cut(strings.Trim(string(r.Body), `"`), " on ")
		return basis
	}
	own, other := with(record(Result, 1), avx512, `"own"`, 0), with(record(Result, 1), avx512, `"same on neon"`, 1)
	third := with(record(Result, 1), avx512, `"same on avx2"`, 2)
	for _, order := range [][]Record{{own, other, third}, {third, other, own}, {other, own, third}} {
		merged, shared := t.TempDir(), t.TempDir()
		for _, r := range order {
			from := t.TempDir()
			put(t, openStore(t, from), r)
			if _, err := openStore(t, merged).Merge(t.Context(), Shared, readStore(t, from)); err != nil {
				t.Error(err)
			}
			if err := openStore(t, shared).Put(r); err != nil {
				t.Error(err)
			}
		}
		for _, dir := range []string{merged, shared} {
			if rep, err := Verify(dir); err != nil || !rep.OK() || rep.Records != rep.Duplicates+1 {
				t.Errorf("%+v, %v; want duplicates of one record", rep, err)
			}
			if r, ok := openStore(t, dir).Get(Result, own.Key); !ok || string(r.Body) != `"own"` {
				t.Errorf("order %v: %s counts, want the machine's own", order[0].Made.Time, r.Body)
			}
		}
	}
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, other)
	var conflict *Conflict
	if err := s.Put(with(other, avx512, `"differs on neon"`, 3)); !errors.As(err, &conflict) {
		t.Errorf("two of one basis: %v, want a conflict", err)
	}
}

// Parts of references that earlier programs made hold the time that they took.
func TestPartsOfAnEarlierCommitMerge(t *testing.T) {
	now, before := with(record(Part, 1), avx512, `"a chain"`, 3), with(record(Part, 1), avx512, `"with its seconds"`, 3)
	for commit, want := range map[string]bool{"earlier": false, "this": true} {
		now.Made.Commit, before.Made.Commit = "this", commit
		s := openStore(t, t.TempDir())
		put(t, s, before)
		if err := s.Put(now); errors.As(err, new(*Conflict)) != want {
			t.Errorf("beside one of the %s commit: %v; want a conflict: %v", commit, err, want)
		}
	}
}

// A merge that is interrupted says so, keeps what it has, and goes on when it is repeated.
func TestMergeStopsAndContinues(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a, b := openStore(t, one), openStore(t, two)
	put(t, b, record(Result, 1), record(Result, 2), record(Run, 1))
	ctx, cancel := context.WithCancel(t.Context())
	left := func(kind Kind, key string) bool {
		if kind == Exact { // between results and manifests
			cancel()
		}
		return Shared(kind, key)
	}
	put(t, b, record(Exact, 3))
	if m, err := a.Merge(ctx, left, readStore(t, two)); !errors.Is(err, context.Canceled) || m.Added[Result] != 2 || m.Added[Run] != 0 {
		t.Errorf("%+v, %v; want two results and an interruption", m, err)
	}
	if m, err := a.Merge(t.Context(), Shared, readStore(t, two)); err != nil || m.Added[Result] != 0 || m.Added[Exact] != 1 || m.Added[Run] != 1 {
		t.Errorf("repeated: %+v, %v; want what was missing", m, err)
	}
}

// A merge that meets records that differ takes all others, and names every pair.
func TestMergeNamesEveryConflictAndTakesTheRest(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a, b := openStore(t, one), openStore(t, two)
	for number := 1; number <= 2; number++ {
		put(t, a, record(Result, number))
		put(t, b, with(record(Result, number), avx512, `"other"`, 0))
	}
	put(t, b, record(Result, 3), record(Run, 1))
	m, err := a.Merge(t.Context(), Shared, readStore(t, two))
	if err == nil || strings.Count(err.Error(), "two records of one key differ") != 2 || m.Added[Result] != 1 || m.Added[Run] != 1 {
		t.Errorf("%+v, %v; want two conflicts, and a result and a manifest added", m, err)
	}
}
