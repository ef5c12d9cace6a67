//go:build linux || darwin

package store

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// A segment or a reference may lie elsewhere, on a larger disk, say, with a link in its place.
func TestLinksToFilesAreRead(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Result, 1), record(Reference, 2))
	s.Close()
	for _, path := range append(segments(t, dir), filesOf(t, dir, Reference)...) {
		moved := filepath.Join(elsewhere, filepath.Base(path))
		if err := errors.Join(os.Rename(path, moved), os.Symlink(moved, path)); err != nil {
			t.Fatal(err)
		}
	}
	s = openStore(t, dir)
	if !s.Has(Result, record(Result, 1).Key) || !s.Has(Reference, record(Reference, 2).Key) {
		t.Errorf("%+v; want a result and a reference", s.Stats())
	}
}

// A line that does not fit the disk is half written. It is cut off: what is written later is
// in a segment of its own, and nothing is corrupt.
func TestALineThatDoesNotFitIsCutOff(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put(t, s, record(Result, 1))
	info, err := s.segment.Stat()
	if err != nil {
		t.Fatal(err)
	}
	// The limit on files' sizes stands for a full disk.
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	full := before
	full.Cur = uint64(info.Size()) * 3 / 2
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	failed := s.Put(record(Result, 2))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if failed == nil {
		t.Fatal("Put to a full disk: no error")
	}
	put(t, s, record(Result, 3))
	if rep, err := Verify(dir); err != nil || !rep.OK() || rep.Keys[Result] != 2 || rep.Segments != 2 {
		t.Errorf("%+v, %v; want 2 results in 2 segments, and nothing torn", rep, err)
	}
}
