// Package atomicfile writes files whole or not at all: after a crash at any
// moment a path holds either its old bytes or its new ones.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Error says that a file could not be written, and why.
type Error struct {
	Path string
	Err  error // of the system
}

func (e *Error) Error() string { return fmt.Sprintf("write %s: %v", e.Path, e.Err) }

// Unwrap returns the system's error.
func (e *Error) Unwrap() error { return e.Err }

// failed names the file that was to be written, where the system's error names the
// temporary one.
func failed(path string, err error) error { return &Error{path, cmp.Or(errors.Unwrap(err), err)} }

// Write replaces path by a file of the given bytes. It writes a temporary
// file in the same folder, which must exist, forces it to the disk, renames
// it over path, and forces the folder. Two writers at once do no harm: one
// of them wins. Errors are of type *Error.
func Write(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return failed(path, err)
	}
	_, err = f.Write(data)
	// CreateTemp makes files private to the user; a store may be shared.
	err = cmp.Or(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	} else {
		err = SyncDir(dir)
	}
	if err != nil {
		return failed(path, err)
	}
	return nil
}

// SyncDir forces a folder's entries to the disk, so that a rename survives a
// power cut. Some file systems cannot sync a folder; their answer is not an
// error of the write.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return unlessUnable(d.Sync())
}

// unlessUnable returns why a folder was not synced, unless it cannot be: on Windows none can.
func unlessUnable(err error) error {
	if runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// MkdirAll makes a folder and those above it that are missing, as os.MkdirAll does, and forces
// those that are new to the disk.
func MkdirAll(dir string) error {
	var above []string // the folders of those that are missing
	for at := filepath.Clean(dir); filepath.Dir(at) != at; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		above = append(above, filepath.Dir(at))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, dir := range above {
		// A folder in which the user may only make others cannot be opened.
		if err := SyncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}
