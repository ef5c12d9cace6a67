package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hambench/internal/atomicfile"
)

// Put adds a record, made now and on the store's machine unless it says
// otherwise, and returns once it is on the disk. A Put that fails leaves the
// store as it was. A record that differs from the store's own with the same key
// and machine is added all the same, and Put returns a *Conflict. A manifest
// replaces the one with the same key.
func (s *Store) Put(r Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOnly {
		return fmt.Errorf("store %s is open for reading only", s.dir)
	}
	if (r.Made.Machine == Machine{}) {
		r.Made.Machine = s.machine
	}
	if r.Made.Time.IsZero() {
		r.Made.Time = time.Now().UTC().Truncate(time.Millisecond)
	}
	line, err := r.encode()
	if err == nil { // bodies are compared as they are read
		r, err = decode(line)
	}
	// What is read later has gone through JSON: the record in memory is the same.
	n := stored{Record: r}
	if err == nil {
		n.file, n.line, err = s.write(r, line)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	// Conflicts from here on are of this record.
	conflicts := len(s.conflicts)
	s.add(n)
	return errors.Join(s.conflicts[conflicts:]...)
}

// write puts a record's line on the disk and returns where.
func (s *Store) write(r Record, text []byte) (file string, line int, err error) {
	if folder := r.Kind.folder(); folder != "" {
		file = filepath.Join(s.dir, folder, r.fileName())
		if err = atomicfile.Write(file, text); err == nil {
			s.files[file] = true
		}
		return file, 0, err
	}
	return s.append(text)
}

// append writes one line with one call, flushes it, and returns where it stands.
// After a failure the part that was written is cut off again, and the next line
// goes to a new segment: where the cut fails too, it must not continue a torn
// line, and where it does not, other processes may have read beyond the cut.
func (s *Store) append(text []byte) (file string, line int, err error) {
	if s.segment == nil {
		if err := s.newSegment(); err != nil {
			return "", 0, err
		}
	}
	file = s.segment.Name()
	at := s.scanned[file]
	if _, err = s.segment.Write(text); err == nil {
		err = s.segment.Sync()
	}
	if err != nil {
		_ = s.segment.Truncate(at.offset)
		_ = s.endSegment()
		return "", 0, err
	}
	s.scanned[file] = position{at.offset + int64(len(text)), at.line + 1}
	return file, at.line + 1, nil
}

// newSegment makes a segment whose name no other process has: names sort by
// time, and O_EXCL decides where clocks and process ids agree.
func (s *Store) newSegment() error {
	name := fmt.Sprintf("%s-%s%s", time.Now().UTC().Format("20060102T150405.000000"), processID(),
		segmentSuffix)
	path := filepath.Join(s.dir, segmentFolder, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	s.segment, s.scanned[path] = f, position{}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// processID returns a new name of this process, unlike all others.
func processID() string {
	var salt [8]byte
	rand.Read(salt[:]) // never fails
	return fmt.Sprintf("%d-%s", os.Getpid(), hex.EncodeToString(salt[:]))
}

// endSegment closes the segment. One without any record is removed.
func (s *Store) endSegment() error {
	if s.segment == nil {
		return nil
	}
	f := s.segment
	s.segment = nil
	if s.scanned[f.Name()].line > 0 {
		return f.Close()
	}
	delete(s.scanned, f.Name())
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Remove deletes the record that Get would find, which may be another machine's, of a kind whose
// records have a file each: a part of a reference that is complete, or a manifest that another
// contains. Results and exact errors are kept forever: to remove one is an error, since its file
// holds others.
func (s *Store) Remove(kind Kind, key string) error {
	if kind.folder() == "" {
		return fmt.Errorf("store %s: a %s cannot be removed", s.dir, kind)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.choose(address{kind, key})
	if s.readOnly || !ok {
		return nil
	}
	s.forget(n)
	if err := os.Remove(n.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	return nil
}
