package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"hambench/usage"
)

// refresh is Refresh for a caller that holds the lock.
func (s *Store) refresh() error {
	// Torn last lines are read again each time: they may have been whole
	// writes of another process that were seen half.
	s.corruptions = slices.DeleteFunc(s.corruptions, func(c *Corruption) bool {
		return c.Line > s.scanned[c.File].line
	})
	segments, _, err := s.list(segmentFolder)
	if err != nil {
		return err
	}
	for _, path := range segments {
		if err := s.readSegment(path); err != nil {
			return fmt.Errorf("store %s: %w", s.dir, err)
		}
	}
	// These are the kinds with a folder: each record is a file.
	for _, kind := range []Kind{Reference, Part, Run} {
		files, _, err := s.list(kind.folder())
		if err != nil {
			return err
		}
		for _, path := range files {
			if err := s.readFile(kind, path); err != nil {
				return fmt.Errorf("store %s: %w", s.dir, err)
			}
		}
	}
	return nil
}

// list returns the paths of the files in a subfolder, sorted, and those of what else it holds,
// hidden files left out; none if there is no such folder.
func (s *Store) list(name string) (files, foreign []string, err error) {
	folder := filepath.Join(s.dir, name)
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, usage.Errorf("store %s cannot be read: %w", s.dir, reason(err))
	}
	for _, e := range entries {
		path, mode := filepath.Join(folder, e.Name()), e.Type()
		if mode&fs.ModeSymlink != 0 { // a link counts as what it leads to
			if info, err := os.Stat(path); err == nil {
				mode = info.Mode()
			}
		}
		switch {
		case e.Name()[0] == '.':
		case mode.IsRegular() && (name != segmentFolder || strings.HasSuffix(path, segmentSuffix)):
			files = append(files, path)
		default:
			foreign = append(foreign, path)
		}
	}
	return files, foreign, nil
}

// readSegment adds the lines of a segment that have not been read.
func (s *Store) readSegment(path string) error {
	f, err := os.Open(path)
	if gone(err) {
		return nil // removed since it was listed
	}
	if err != nil {
		return err
	}
	defer f.Close()
	at := s.scanned[path]
	// Most segments have nothing new. The size is asked of the open file: on a
	// network file system that of the path may be an old one.
	if info, err := f.Stat(); err == nil && info.Size() == at.offset && at.offset > 0 {
		return nil
	}
	if _, err := f.Seek(at.offset, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	// What comes behind the last whole line is read again: it may be complete then.
	s.scanned[path] = scanRecords(text, at,
		func(line int, r Record) { s.add(stored{Record: r, file: path, line: line}) },
		func(c *Corruption) { c.File = path; s.note(c) })
	return nil
}

// gone reports whether a file was removed. On NFS one that another host removes or replaces while
// it is open here is stale; where it was replaced, the next Refresh reads the new one.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE)
}

// readFile takes in a file that holds one record, once; a corrupt one is read
// again each time, since another process may have replaced it.
func (s *Store) readFile(kind Kind, path string) error {
	if s.files[path] {
		return nil
	}
	r, err := loadFile(kind, path)
	var corrupt *Corruption
	switch {
	case gone(err):
		return nil // removed, or quarantined by another process
	case errors.As(err, &corrupt):
		s.note(corrupt)
		return nil
	case err != nil:
		return err
	}
	s.files[path] = true
	s.add(stored{Record: r, file: path})
	return nil
}

// loadFile reads a file that holds one record of a kind. The error is a
// *Corruption if it holds anything else.
func loadFile(kind Kind, path string) (Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Record{}, err
	}
	r, err := decode(text)
	if err == nil && (r.Kind != kind || r.fileName() != filepath.Base(path)) {
		err = fmt.Errorf("record of another name: it holds the %s %.12s", r.Kind, r.Key)
	}
	if err != nil {
		return Record{}, &Corruption{File: path, Reason: err.Error(), sum: checksum(text)}
	}
	return r, nil
}

// add takes a record in: the first of each machine counts, equal ones merge,
// differing ones of one basis are a conflict. The last manifest counts.
func (s *Store) add(n stored) {
	// Bodies of files are large: of these only the digest stays in memory.
	n.sum = checksum(n.Body)
	if n.line == 0 {
		n.Body = nil
	}
	at := address{n.Kind, n.Key}
	if s.records[at] == nil {
		s.records[at] = make(map[Machine]stored)
	}
	first, ok := s.records[at][n.owner()]
	n.duplicates, n.contested = first.duplicates, first.contested
	switch {
	case !ok || first.place() == n.place(): // new, or put again
		first = n
	case first.agrees(n):
		if first.yields(n) {
			first = n
		}
		first.duplicates++
	default:
		s.conflicts = append(s.conflicts, conflict(first, n))
		first.contested = true
	}
	s.records[at][n.owner()] = first
}

// agrees reports whether two records of one kind, key and machine say the same, or may differ.
// The key of an exact error vouches for the digits that engines resolve: programs
// of two commits may differ in the last ones. Parts of earlier commits hold the time that they
// took.
func (r stored) agrees(o stored) bool {
	return r.sum == o.sum ||
		(r.Kind == Exact || r.Kind == Part) && r.Made.Commit != o.Made.Commit ||
		Basis(r.Record) != Basis(o.Record)
}

// yields reports whether another record of one kind, key and machine counts, since its basis is
// the first by name.
func (r stored) yields(to stored) bool {
	return r.sum != to.sum && Basis(to.Record) < Basis(r.Record)
}

// conflict returns the error of two records that differ under one key on one machine.
// It names both places.
func conflict(a, b stored) error {
	return &Conflict{
		Kind: a.Kind, Key: a.Key, Machine: a.Made.Machine, Here: a.place(), Also: b.place(),
	}
}

// lose forgets a record whose file could not be read again, and quarantines
// the file if it is corrupt.
func (s *Store) lose(n stored, err error) {
	s.forget(n)
	var corrupt *Corruption
	if errors.As(err, &corrupt) {
		s.note(corrupt)
		if !s.readOnly {
			_ = s.isolate(corrupt) // or the next Open does it
		}
	}
}

// forget takes a record with a file of its own out of memory.
func (s *Store) forget(n stored) {
	at := address{n.Kind, n.Key}
	delete(s.records[at], n.owner())
	if len(s.records[at]) == 0 {
		delete(s.records, at)
	}
	delete(s.files, n.file)
}
