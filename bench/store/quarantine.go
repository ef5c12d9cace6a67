package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hambench/internal/atomicfile"
)

// note takes a corruption in, unless it was there before. A file is never Known:
// once quarantined, it is no longer in its place.
func (s *Store) note(c *Corruption) {
	same := func(o *Corruption) bool {
		return o.File == c.File && o.Line == c.Line && o.sum == c.sum
	}
	if slices.ContainsFunc(s.corruptions, same) {
		return
	}
	// The copy's name has the line's digest: it is that of these very bytes.
	_, err := os.Stat(s.quarantinePath(c))
	c.Known = c.Line > 0 && err == nil
	s.corruptions = append(s.corruptions, c)
}

// quarantine keeps a copy of each new corrupt line, so that it is reported
// once, and moves corrupt files away.
func (s *Store) quarantine() error {
	for _, c := range unknown(s.corruptions) {
		if err := s.isolate(c); err != nil {
			return err
		}
	}
	return nil
}

// isolate writes a copy of a line, or moves a file, unless another process was
// first.
func (s *Store) isolate(c *Corruption) error {
	to := s.quarantinePath(c)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if c.Line > 0 {
		// The copy ends as a line does; the text is not needed any more.
		text := append(c.text, '\n')
		c.text = nil
		return atomicfile.Write(to, text)
	}
	if err := os.Rename(c.File, to); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if text, err := os.ReadFile(to); err == nil && checksum(text) != c.sum {
		return os.Rename(to, c.File) // another process had just replaced it
	}
	return nil
}

// Reject quarantines the file of a record whose body its reader cannot use, such as a reference
// of another format. The record counts as missing.
func (s *Store) Reject(r Record, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.records[address{r.Kind, r.Key}][stored{Record: r}.owner()]
	if ok && n.line == 0 {
		text, _ := os.ReadFile(n.file)
		s.lose(n, &Corruption{File: n.file, Reason: reason, sum: checksum(text)})
	}
}

// quarantinePath names what is corrupt by its file, line and bytes.
func (s *Store) quarantinePath(c *Corruption) string {
	name := fmt.Sprintf("%s.%d.%.16s", filepath.Base(c.File), c.Line, c.sum)
	return filepath.Join(s.dir, quarantineFolder, name)
}

// leftoverAge is how old a temporary file must be to be that of a process that
// was killed while it wrote: writes take seconds.
const leftoverAge = time.Hour

// removeLeftovers removes temporary files and leases of processes that were
// killed. Ages are by the file system's clock, which all processes share.
func (s *Store) removeLeftovers(now time.Time) (failed error) {
	files := os.DirFS(s.dir)
	// As touch and atomicfile.Write name them: users may keep other hidden files here.
	for _, pattern := range []string{".*.tmp-*", "*/.*.tmp-*"} {
		names, _ := fs.Glob(files, pattern) // fails for bad patterns alone
		for _, name := range names {
			info, err := fs.Stat(files, name)
			if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < leftoverAge {
				continue
			}
			if err := os.Remove(filepath.Join(s.dir, name)); err != nil &&
				!errors.Is(err, fs.ErrNotExist) {
				failed = errors.Join(failed, err)
			}
		}
	}
	s.removeDeadLeases(now)
	return failed
}
