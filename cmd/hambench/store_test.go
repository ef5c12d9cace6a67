package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
)

// toyRun makes an output folder with the toy's three cells.
func toyRun(t *testing.T) string {
	t.Helper()
	t.Setenv("HAMBENCH_OFFLINE", "1")
	out := t.TempDir()
	if code, _, stderr := call(t, "reproduce", "--only", "toy", "--out", out); code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	return out
}

// segment is the one file of records in an output folder.
func segment(t *testing.T, out string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "store", "records", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("segments %v, %v; want one", files, err)
	}
	return files[0]
}

// list names every file and folder below a folder.
func list(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error { all.WriteString(path + "\n"); return err }); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// What only looks at a store leaves no trace in it, and makes none.
func TestLookingAtAStoreWritesNothing(t *testing.T) {
	out := toyRun(t)
	data, err := os.ReadFile(segment(t, out))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/3] ^= 1 // a damaged record would be quarantined
	if err := os.WriteFile(segment(t, out), data, 0o644); err != nil {
		t.Fatal(err)
	}
	before := list(t, out)
	for _, args := range [][]string{{"reproduce", "--check"}, {"reproduce", "--dry-run"}, {"reproduce", "--figures-only"}, {"export"}} {
		_, _, stderr := call(t, append(args, "--only", "toy", "--out", out)...)
		if !strings.Contains(stderr, "hambench: store: "+segment(t, out)+":") {
			t.Errorf("%s does not name the damaged line: %s", args, stderr)
		}
		if after := list(t, out); after != before {
			t.Errorf("%s: files before\n%safter\n%s", args, before, after)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	for flag, want := range map[string]int{"--check": exitFailed, "--dry-run": exitOK} {
		if code, _, stderr := call(t, "reproduce", "--only", "toy", "--out", none, flag); code != want {
			t.Errorf("%s without a store: exit code %d, want %d: %s", flag, code, want, stderr)
		}
		if _, err := os.Stat(none); err == nil {
			t.Errorf("%s made a folder", flag)
		}
	}
}

// Damage is reported until it is quarantined, and is information afterwards.
func TestVerifyExitCodes(t *testing.T) {
	out := toyRun(t)
	if code, stdout, _ := call(t, "store", "verify", "--out", out); code != exitOK || !strings.HasPrefix(stdout, "4 records are good: 3 results, 1 manifests; 0 cannot be used") {
		t.Errorf("a good store: exit code %d, %s", code, stdout)
	}
	path := segment(t, out)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	lines[1] = strings.Replace(lines[1], `"samples":`, `"sample5":`, 1)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := call(t, "store", "verify", "--out", out); code != exitFailed || !strings.Contains(stdout, path+":2: altered record") || strings.Contains(stdout, "; quarantined\n") {
		t.Errorf("a damaged store: exit code %d, %s", code, stdout)
	}
	if code, stdout, stderr := call(t, "reproduce", "--only", "toy", "--out", out); code != exitOK || !strings.Contains(stdout, "cells: computed 1, reused 2") || !strings.Contains(stderr, path+":2: altered record") {
		t.Errorf("the repair: exit code %d, %s%s", code, stdout, stderr)
	}
	code, stdout, _ := call(t, "store", "verify", "--out", out)
	if code != exitOK || !strings.Contains(stdout, path+":2: altered record: its bytes do not have its checksum; quarantined\n4 records") || !strings.Contains(stdout, "files quarantined: 1\n") {
		t.Errorf("after the repair: exit code %d, %s", code, stdout)
	}
}

// Two records that differ are for a person to resolve: verify names both, promises no repair, and
// counts neither as good. A record that is there twice counts twice, also among its kind.
func TestVerifySaysWhatToDoAboutRecordsThatDiffer(t *testing.T) {
	out := toyRun(t)
	path := segment(t, out)
	other := filepath.Join(filepath.Dir(path), "other.jsonl")
	line, rest, _ := strings.Cut(read(t, path), "\n")
	twice, _, _ := strings.Cut(rest, "\n")
	record := strings.TrimSuffix(line[strings.Index(line, `"record":`)+len(`"record":`):], "}")
	record = strings.Replace(record, `"diverged":false`, `"diverged":true`, 1)
	altered := fmt.Sprintf(`{"v":2,"sum":"%x","record":%s}`+"\n", sha256.Sum256([]byte(record)), record)
	if err := os.WriteFile(other, []byte(altered+twice+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "store", "verify", "--out", out)
	if code != exitFailed || !strings.Contains(stdout, path+":1") || !strings.Contains(stdout, other+":1") || !strings.Contains(stdout, "want one of the two lines removed by hand\n") {
		t.Errorf("exit code %d, %s: want both places", code, stdout)
	}
	if want := "4 records are good: 3 results, 1 manifests; 0 cannot be used, 1 pairs differ"; !strings.Contains(stdout, want) {
		t.Errorf("%s: want %s", stdout, want)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "1 pairs differ: want one record of each removed by hand") || strings.Contains(stderr, "quarantine") {
		t.Errorf("%q: want one line with what is to be done", stderr)
	}
}

func TestMergeCarriesEveryKindOfRecord(t *testing.T) {
	from, to := toyRun(t), t.TempDir()
	if code, _, stderr := call(t, "reproduce", "--only", "bottleneck", "--datasets", "linear", "--check", "--out", from); code != exitFailed {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	study := "../../examples/own-claims/variance-reduction.toml" // of exact errors
	if code, _, stderr := call(t, "run", study, "--out", from); code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"3 results, ", "added none to " + filepath.Join(to, "store") + "\n"} {
		if code, stdout, stderr := call(t, "store", "merge", "--out", to, from); code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, %q, %s; want %q", code, stdout, stderr, want)
		}
	}
	a, b := storeSummary(t, from), storeSummary(t, to)
	if a != b || !strings.Contains(a, " exact errors, 2 manifests") {
		t.Errorf("merged %q, want %q", b, a)
	}
}

// Of two manifests of one study and profile the newer counts, which is said. What is merged is read
// before a store is made.
func TestMergeSaysWhichManifestsGaveWay(t *testing.T) {
	study := "id = \"s\"\n[vary]\ndata = [\"toy\"]\n[fix]\nmodel = \"toy\"\nintegrator = \"leapfrog\"\nbatch = \"full\"\nstep = 0.1\nfriction = 5\nsamples = "
	inFolder(t, map[string]string{"a.toml": study + "5\n", "b.toml": study + "6\n", "foreign/store/format": "hambench store 99\n"})
	for _, args := range []string{"run a.toml --out a", "run b.toml --out b"} {
		if code, _, stderr := call(t, strings.Fields(args)...); code != exitOK {
			t.Fatalf("%s: exit code %d, %s", args, code, stderr)
		}
	}
	for _, c := range []struct{ args, stdout, stderr string }{
		{"store merge a --out m", "added 1 results, 1 manifests to m/store\n", ""},
		{"store merge b --out m", "added 1 results to m/store\n", "note: 1 manifests gave way to newer ones of the same study and profile"},
		{"store merge a --out m", "added none to m/store\n", "note: 1 manifests gave way"},
		{"store merge a b --out n", "added 2 results, 1 manifests to n/store\n", "note: 1 manifests gave way"},
	} {
		if code, stdout, stderr := call(t, strings.Fields(c.args)...); code != exitOK || stdout != c.stdout || !strings.HasPrefix(stderr, c.stderr) || (c.stderr == "") != (stderr == "") {
			t.Errorf("%s: exit code %d, %s%s: want %s%s", c.args, code, stdout, stderr, c.stdout, c.stderr)
		}
	}
	for args, want := range map[string]string{
		"store merge a foreign --out new": `store foreign/store has the format "hambench store 99"`,
		"store merge a/store --out new":   "a/store holds no store: want output folders of reproduce, such as a\n",
	} {
		if code, stdout, stderr := call(t, strings.Fields(args)...); code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s%s: want %s", args, code, stdout, stderr, want)
		}
		if _, err := os.Stat("new"); err == nil {
			t.Errorf("%s left a store", args)
		}
	}
}

// Opening the store to merge into quarantines what is corrupt there, and says so.
func TestMergeNamesCorruptRecordsOfItsOwnStore(t *testing.T) {
	out := toyRun(t)
	path := segment(t, out)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/3] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, "store", "merge", "--out", out, out); code != exitOK || !strings.Contains(stderr, "hambench: store: "+path+":") {
		t.Errorf("exit code %d, %s: want a line on %s", code, stderr, path)
	}
}

// What is published has no manifest that another makes superfluous.
func TestMergeOfWhatIsPublished(t *testing.T) {
	from, to := toyRun(t), t.TempDir()
	for _, args := range [][]string{
		{"reproduce", "--only", "toy", "--splits", "2", "--out", from},
		{"store", "merge", "--out", to, from},
	} {
		if code, _, stderr := call(t, args...); code != exitOK {
			t.Fatalf("%s: exit code %d, %s", args, code, stderr)
		}
	}
	// Those that are removed again are not said to be added.
	code, stdout, stderr := call(t, "store", "merge", "--published", "--out", filepath.Join(to, "published"), from)
	if want := "added 3 results, 1 manifests to "; code != exitOK || !strings.HasPrefix(stdout, want) {
		t.Fatalf("exit code %d, %q, %s; want %q", code, stdout, stderr, want)
	}
	for dir, want := range map[string]string{
		to:                             "  toy, quick: 3 of 3 jobs\n  toy, quick, 2 splits: 3 of 3 jobs\n",
		filepath.Join(to, "published"): "  toy, quick, 2 splits: 3 of 3 jobs\n",
	} {
		if _, stdout, _ := call(t, "store", "stats", "--out", dir); !strings.HasSuffix(stdout, "machines: "+sweep.Here().String()+"\n"+want) {
			t.Errorf("%q, want %q at the end", stdout, want)
		}
	}
}

// Results that no manifest of the published store lists are not published: here those of the
// first of two runs of one study, whose manifest gives way to the second's.
func TestMergeOfWhatIsPublishedHasWhatIsListed(t *testing.T) {
	first, second, to := toyRun(t), t.TempDir(), t.TempDir()
	for _, args := range [][]string{
		{"reproduce", "--only", "toy", "--seed-from", "7", "--out", second},
		{"store", "merge", "--out", to, first, second},
	} {
		if code, _, stderr := call(t, args...); code != exitOK {
			t.Fatalf("%s: exit code %d, %s", args, code, stderr)
		}
	}
	// The manifest of the first run goes, as where a newer run of its profile has replaced it.
	s, err := store.Open(filepath.Join(to, "store"), sweep.Here())
	if err != nil {
		t.Fatal(err)
	}
	plans, err := bench.Plans(s, "quick")
	if err != nil || len(plans) != 1 {
		t.Fatalf("%d manifests, %v", len(plans), err)
	}
	for _, key := range s.Keys(store.Run) {
		if r, _ := s.Get(store.Run, key); strings.Contains(string(r.Body), `"profile":"quick",`) {
			if err := s.Remove(store.Run, key); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Close()
	code, stdout, stderr := call(t, "store", "merge", "--published", "--out", filepath.Join(to, "published"), to)
	if want := "added 3 results, 1 manifests to "; code != exitOK || !strings.HasPrefix(stdout, want) {
		t.Errorf("exit code %d, %q, %s; want %q", code, stdout, stderr, want)
	}
}

// What the store to publish in had stays, also where what is added contains it.
func TestMergeOfWhatIsPublishedKeepsWhatWasThere(t *testing.T) {
	from, to := t.TempDir(), toyRun(t)
	for _, args := range [][]string{
		{"reproduce", "--only", "toy", "--splits", "2", "--out", from},
		{"store", "merge", "--published", "--out", to, from},
	} {
		if code, _, stderr := call(t, args...); code != exitOK {
			t.Fatalf("%s: exit code %d, %s", args, code, stderr)
		}
	}
	want := "  toy, quick: 3 of 3 jobs\n  toy, quick, 2 splits: 3 of 3 jobs\n"
	if _, stdout, _ := call(t, "store", "stats", "--out", to); !strings.HasSuffix(stdout, want) {
		t.Errorf("%q, want %q at the end", stdout, want)
	}
}

// Files among the records that are not read may hold some: verify names them.
func TestVerifyNamesForeignFiles(t *testing.T) {
	out := toyRun(t)
	records := filepath.Join(out, "store", "records")
	packed, link := filepath.Join(records, "packed.jsonl.gz"), filepath.Join(records, "link.jsonl")
	if err := os.WriteFile(packed, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "store", "verify", "--out", out)
	if code != exitFailed || !strings.Contains(stdout, packed+": foreign") || !strings.Contains(stdout, link+": foreign") || !strings.Contains(stderr, "store: 2 files are not read") {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
}

// storeSummary is the first sentence of store verify.
func storeSummary(t *testing.T, out string) string {
	t.Helper()
	_, stdout, _ := call(t, "store", "verify", "--out", out)
	first, _, _ := strings.Cut(stdout, ";")
	return first
}
