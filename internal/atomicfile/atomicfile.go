// Package atomicfile writes files whole or not at all: after a crash at any
// moment a path holds either its old bytes or its new ones.
package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write replaces path by a file of the given bytes. It writes a temporary
// file in the same folder, which must exist, forces it to the disk, renames
// it over path, and forces the folder. Two writers at once do no harm: one
// of them wins.
func Write(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	// CreateTemp makes files private to the user; a store may be shared.
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir forces a folder's entries to the disk, so that a rename survives a
// power cut. Some file systems cannot sync a folder; their answer is not an
// error of the write.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}
