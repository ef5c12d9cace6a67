package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hambench/internal/atomicfile"
	"hambench/usage"
)

// quarantine keeps a copy of each new corrupt line, so that it is reported
// once, and moves corrupt files away.
func (s *Store) quarantine() error {
	for _, c := range s.corruptions {
		if c.Known {
			continue
		}
		if err := os.MkdirAll(filepath.Join(s.dir, quarantineFolder), 0o755); err != nil {
			return usage.Errorf("store %s cannot be written: %w", s.dir, reason(err))
		}
		if err := s.isolate(c); err != nil {
			return fmt.Errorf("store %s: %w", s.dir, err)
		}
	}
	return nil
}

// isolate writes a copy of a line, or moves a file: another process may have
// been first.
func (s *Store) isolate(c *Corruption) error {
	if c.Line > 0 {
		return atomicfile.Write(s.quarantinePath(c), append(c.text, '\n'))
	}
	delete(s.files, c.File)
	if err := os.Rename(c.File, s.quarantinePath(c)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// quarantinePath names what is corrupt by its file, line and bytes.
func (s *Store) quarantinePath(c *Corruption) string {
	name := fmt.Sprintf("%s.%d.%.16s", filepath.Base(c.File), c.Line, checksum(c.text))
	return filepath.Join(s.dir, quarantineFolder, name)
}

// leftoverAge is how old a temporary file must be to be that of a process that
// was killed while it wrote: writes take seconds.
const leftoverAge = time.Hour

// removeLeftovers removes the temporary files of processes that were killed.
func (s *Store) removeLeftovers() error {
	var failed error
	for _, folder := range append(subfolders(), segmentFolder, quarantineFolder, claimFolder, ".") {
		entries, err := os.ReadDir(filepath.Join(s.dir, folder))
		if err != nil {
			continue // not there yet
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), ".") || time.Since(info.ModTime()) < leftoverAge {
				continue
			}
			if err := os.Remove(filepath.Join(s.dir, folder, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = errors.Join(failed, err)
			}
		}
	}
	return failed
}
