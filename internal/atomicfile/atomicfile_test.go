package atomicfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

func TestWriteReplacesAndLeavesNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	for _, want := range []string{"first", "second, longer", ""} {
		if err := Write(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("read %q (%v), want %q", got, err, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v (%v), want the one file", entries, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestWriteFailsWhole(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "nowhere", "a.bin")
	err := Write(missing, nil)
	if err == nil || err.Error() != "write "+missing+": no such file or directory" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v does not name %s, or no reason", err, missing)
	}
	// A folder in the way makes the rename fail: the temporary file must go.
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(taken, []byte("b")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("a failed write left %v", entries)
	}
}

// That a folder cannot be synced is no error; that the disk fails is one.
func TestFoldersThatCannotBeSynced(t *testing.T) {
	for err, ignored := range map[error]bool{
		syscall.EINVAL: true, syscall.ENOTSUP: true, syscall.EIO: runtime.GOOS == "windows",
	} {
		if got := unlessUnable(&fs.PathError{Op: "sync", Path: "d", Err: err}); (got == nil) != ignored {
			t.Errorf("%v: %v", err, got)
		}
	}
}

func TestMkdirAllMakesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b", "c")
	for range 2 {
		if err := MkdirAll(deep); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(deep); err != nil || !info.IsDir() {
			t.Error(err)
		}
	}
	t.Chdir(dir)
	if err := MkdirAll("x/y"); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll("file/y"); err == nil {
		t.Error("a folder was made below a file")
	}
}

// A reader beside two writers sees one of the whole contents.
func TestReadersSeeWholeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bin")
	contents := [][]byte{bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<15)}
	if err := Write(path, contents[0]); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, c := range contents {
		writers.Go(func() {
			for range 20 {
				if err := Write(path, c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
			t.Fatalf("read %d bytes (%v): a torn file", len(got), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
