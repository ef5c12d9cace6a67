// Package store keeps results, exact errors, reference chains and manifests
// in a folder, so that a run can be stopped, continued, shared by several
// processes and machines, checked, merged, and drawn from.
//
// # Layout
//
//	format          "hambench store 2", which tells this format from others
//	records/        results and exact errors: one JSONL file per writing process
//	references/     reference chains, one file a record
//	parts/          finished chains of references under way
//	runs/           manifests: what a run wanted, by key
//	claims/         which process works at what, for a while (see Claim)
//	quarantine/     copies of lines, and files, that could not be used
//
// Every record, of whatever kind, has one form (see Record): a line of JSON
// that carries its own checksum.
//
// # What it promises
//
// Records are addressed by kind and key. The key is made by the caller from
// all that the record's numbers depend on, but for the machine, which stands in
// the record: records of different machines lie side by side under one key. A
// record is on the disk when Put returns. Writes are appended to a file of the
// process's own or renamed into place, so processes need no lock, also on a
// network file system. Two records of one key and machine are the same or a
// Conflict; a line or file that is not what was written is a Corruption, which
// is quarantined and counts as missing.
package store

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"hambench/internal/atomicfile"
	"hambench/usage"
)

// The layout of a store.
const (
	formatFile       = "format"
	formatText       = "hambench store 2\n"
	segmentFolder    = "records"
	segmentSuffix    = ".jsonl"
	claimFolder      = "claims"
	quarantineFolder = "quarantine"
)

// folders hold the kinds of records that are files of their own.
var folders = map[Kind]string{Reference: "references", Part: "parts", Run: "runs"}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	dir      string
	machine  Machine
	readOnly bool

	mu          sync.Mutex
	records     map[address][]stored // one per machine, the oldest first
	scanned     map[string]position  // by segment
	files       map[string]bool      // files of single records that were read
	corruptions []*Corruption
	conflicts   []error
	segment     *os.File // of this process; nil until the first Put
	written     int64    // whole records in it, in bytes
	lines       int
	counts      counts
}

// address is what a record is found by.
type address struct {
	kind Kind
	key  string
}

// stored is a record and where it was found. The body of a file of its own is
// read when it is asked for.
type stored struct {
	Record
	file string
	line int
	sum  string // of the body
}

// position is how far a segment has been read.
type position struct {
	offset int64
	line   int
}

// counts are what Stats tells beyond the records themselves.
type counts struct{ records, duplicates int }

// Conflict says that two records of one kind, key and machine differ.
type Conflict struct {
	Kind       Kind
	Key        string
	Machine    Machine
	Here, Also string // the files, with the line in those of many records
}

func (c *Conflict) Error() string {
	return fmt.Sprintf("two records of one key differ: %s and %s (%s %.12s, both on %v)", c.Here, c.Also, c.Kind, c.Key, c.Machine)
}

// Open opens the store in a folder, which it creates if needed, for reading
// and writing on a machine. A folder that cannot be created or written, or that
// holds a store of another format, is a usage error, and is left alone.
// Records of one key and machine that differ are an error that wraps a
// *Conflict for each pair. What is corrupt is quarantined: see Corruptions.
func Open(dir string, m Machine) (*Store, error) {
	if err := checkFormat(dir); err != nil {
		return nil, err
	}
	for _, d := range append(subfolders(), segmentFolder, "") {
		d = filepath.Join(dir, d)
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, usage.Errorf("store %s cannot be created: %w", dir, reason(err))
		}
		if err := writable(d); err != nil {
			return nil, usage.Errorf("store %s cannot be written: %w", dir, reason(err))
		}
	}
	if err := writeFormat(dir); err != nil {
		return nil, err
	}
	s, err := Read(dir, m)
	if err != nil {
		return nil, err
	}
	s.readOnly = false
	return s, errors.Join(s.quarantine(), s.removeLeftovers())
}

// Read opens the store in a folder that must exist, for reading only: nothing
// is written there, and Put is an error.
func Read(dir string, m Machine) (*Store, error) {
	s, err := scan(dir, m)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(s.conflicts...)
}

// ReadIfThere is Read, or an empty store if there is no such folder.
func ReadIfThere(dir string, m Machine) (*Store, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return newStore(dir, m), nil
	}
	return Read(dir, m)
}

// scan reads a store and leaves it to the caller what to do about conflicts.
func scan(dir string, m Machine) (*Store, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, usage.Errorf("store %s cannot be read: %w", dir, reason(err))
	} else if !info.IsDir() {
		return nil, usage.Errorf("store %s is not a folder", dir)
	}
	if err := checkFormat(dir); err != nil {
		return nil, err
	}
	s := newStore(dir, m)
	return s, s.refresh()
}

func newStore(dir string, m Machine) *Store {
	return &Store{
		dir: dir, machine: m, readOnly: true,
		records: make(map[address][]stored), scanned: make(map[string]position), files: make(map[string]bool),
	}
}

// checkFormat refuses a folder with a store of another format.
func checkFormat(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, formatFile))
	switch {
	case err == nil && string(text) == formatText:
		return nil
	case err == nil:
		return usage.Errorf("store %s has the format %.40q: this program knows %q; choose another --out", dir, strings.TrimSpace(string(text)), strings.TrimSpace(formatText))
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return usage.Errorf("store %s cannot be read: %w", dir, reason(err))
	}
	for _, old := range []string{"results", "oracles", "certified"} { // of the first edition
		if entries, err := os.ReadDir(filepath.Join(dir, old)); err == nil && len(entries) > 0 {
			return usage.Errorf("store %s is of the first edition of hambench, which this program does not read: it is left alone; choose another --out", dir)
		}
	}
	return nil
}

func writeFormat(dir string) error {
	path := filepath.Join(dir, formatFile)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := atomicfile.Write(path, []byte(formatText)); err != nil {
		return fmt.Errorf("store %s: %w", dir, err)
	}
	return nil
}

func subfolders() []string {
	var all []string
	for _, f := range folders {
		all = append(all, f)
	}
	slices.Sort(all)
	return all
}

// reason strips the path from a file error: the message has it already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// Machine returns the machine that the store was opened on.
func (s *Store) Machine() Machine { return s.machine }

// Refresh reads what other processes have added since.
func (s *Store) Refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return err
	}
	return errors.Join(s.conflicts...)
}

func (s *Store) refresh() error {
	// Torn last lines are read again each time: they may have been whole
	// writes of another process that were seen half.
	s.corruptions = slices.DeleteFunc(s.corruptions, func(c *Corruption) bool { return c.Line > s.scanned[c.File].line })
	for _, name := range s.list(segmentFolder) {
		if strings.HasSuffix(name, segmentSuffix) {
			if err := s.readSegment(filepath.Join(s.dir, segmentFolder, name)); err != nil {
				return fmt.Errorf("store %s: %w", s.dir, err)
			}
		}
	}
	for kind, folder := range folders {
		for _, name := range s.list(folder) {
			if err := s.readFile(kind, filepath.Join(s.dir, folder, name)); err != nil {
				return fmt.Errorf("store %s: %w", s.dir, err)
			}
		}
	}
	return nil
}

// list returns the names of the files in a subfolder, sorted; none if there is
// no such folder.
func (s *Store) list(folder string) []string {
	entries, err := os.ReadDir(filepath.Join(s.dir, folder))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name()[0] != '.' {
			names = append(names, e.Name())
		}
	}
	return names
}

// readSegment adds the lines of a segment that have not been read.
func (s *Store) readSegment(path string) error {
	if s.segment != nil && path == s.segment.Name() {
		return nil // our own
	}
	at := s.scanned[path]
	offset, line, err := scanSegment(path, at.offset, at.line,
		func(line int, r Record) { s.add(stored{Record: r, file: path, line: line}) },
		func(c *Corruption) { s.note(c) })
	s.scanned[path] = position{offset, line}
	return err
}

// readFile takes in a file that holds one record, once; manifests, which are
// replaced, each time.
func (s *Store) readFile(kind Kind, path string) error {
	if s.files[path] && kind != Run {
		return nil
	}
	r, text, err := loadFile(kind, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // removed, or quarantined by another process
	case text == nil && err != nil:
		return err
	case err != nil:
		if !s.files[path] {
			s.note(&Corruption{File: path, Reason: err.Error(), text: text})
		}
		s.files[path] = true
		return nil
	}
	s.files[path] = true
	s.add(stored{Record: r, file: path})
	return nil
}

// loadFile reads a file that holds one record. With its bytes but an error the
// file is corrupt.
func loadFile(kind Kind, path string) (r Record, text []byte, err error) {
	text, err = os.ReadFile(path)
	if err != nil {
		return r, nil, err
	}
	line, ok := bytes.CutSuffix(text, []byte("\n"))
	if !ok {
		return r, text, errors.New("torn record: the line has no end")
	}
	r, err = decode(line)
	if err == nil && (r.Kind != kind || filepath.Base(path) != r.fileName()) {
		err = fmt.Errorf("record of another name: it holds the %s %.12s", r.Kind, r.Key)
	}
	return r, text, err
}

// fileName is the name of the file of a record that has one of its own. A
// manifest has one per key, the others one per key and machine.
func (r Record) fileName() string {
	if r.Kind == Run {
		return r.Key
	}
	return fmt.Sprintf("%s-%.8s", r.Key, checksum([]byte(r.Made.Machine.Arch+"\n"+r.Made.Machine.ISA+"\n"+r.Made.Machine.Kernels)))
}

// note takes a corruption in, unless it is known already.
func (s *Store) note(c *Corruption) {
	_, err := os.Stat(s.quarantinePath(c))
	c.Known = err == nil
	s.corruptions = append(s.corruptions, c)
}

// add takes a record in: the first of each machine counts, equal ones merge,
// differing ones are a conflict. The last manifest counts.
func (s *Store) add(n stored) {
	s.counts.records++
	n.sum = checksum(n.Body)
	if n.line == 0 {
		n.Body = nil
	}
	at := address{n.Kind, n.Key}
	list := s.records[at]
	i := slices.IndexFunc(list, func(o stored) bool { return o.Made.Machine == n.Made.Machine || n.Kind == Run })
	switch {
	case i < 0:
		s.records[at] = append(list, n)
	case n.Kind == Run || list[i].file == n.file && list[i].line == n.line:
		s.counts.records--
		list[i] = n
	case list[i].sum == n.sum:
		s.counts.duplicates++
	default:
		s.conflicts = append(s.conflicts, conflict(list[i], n))
	}
}

func conflict(a, b stored) error {
	return &Conflict{Kind: a.Kind, Key: a.Key, Machine: a.Made.Machine, Here: a.place(), Also: b.place()}
}

func (r stored) place() string {
	if r.line == 0 {
		return r.file
	}
	return fmt.Sprintf("%s:%d", r.file, r.line)
}

// Get returns a record. Of records of several machines it is this machine's
// own, or else the first by name, on whatever machine; one of this instruction
// set whose kernels gave other numbers is none, unless the store was opened
// on no machine in particular: then the last that was written counts.
func (s *Store) Get(kind Kind, key string) (Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.choose(address{kind, key})
	if !ok {
		return Record{}, false
	}
	if n.line > 0 {
		return n.Record, true
	}
	r, _, err := loadFile(kind, n.file)
	if err != nil || checksum(r.Body) != n.sum {
		return Record{}, false // damaged since it was read: the next Open says so
	}
	return r, true
}

// Has reports whether Get finds a record.
func (s *Store) Has(kind Kind, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.choose(address{kind, key})
	return ok
}

// choose returns the record that counts on the store's machine.
func (s *Store) choose(at address) (stored, bool) {
	var best *stored
	list := s.records[at]
	for i := range list {
		n := &list[i]
		m := n.Made.Machine
		switch {
		case m == s.machine:
			return *n, true
		case s.machine != Machine{} && s.machine.replaces(m) && n.Kind != Run:
		case best == nil || byName(*n, *best) < 0:
			best = n
		case s.machine == Machine{} && best.Made.Machine.replaces(m):
			best = n // written later
		}
	}
	if best == nil {
		return stored{}, false
	}
	return *best, true
}

// byName orders records by architecture and instruction set.
func byName(a, b stored) int {
	return cmp.Or(cmp.Compare(a.Made.Arch, b.Made.Arch), cmp.Compare(a.Made.ISA, b.Made.ISA))
}

// Keys returns the keys of a kind that Get finds, sorted.
func (s *Store) Keys(kind Kind) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for at := range s.records {
		if _, ok := s.choose(at); ok && at.kind == kind {
			keys = append(keys, at.key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Corruptions returns what could not be used.
func (s *Store) Corruptions() []*Corruption {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.corruptions)
}

// Put adds a record, made on the store's machine unless it says otherwise, and
// returns once it is on the disk. A failed Put leaves the store as it was.
func (s *Store) Put(r Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOnly {
		return fmt.Errorf("store %s is open for reading only", s.dir)
	}
	if (r.Made.Machine == Machine{}) {
		r.Made.Machine = s.machine
	}
	line, err := r.encode()
	if err == nil { // bodies are compared as they are read
		r, err = decode(bytes.TrimSuffix(line, []byte("\n")))
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	n := stored{Record: r}
	if folder, ok := folders[r.Kind]; ok {
		n.file, err = filepath.Join(s.dir, folder, r.fileName()), nil
		if err = s.writeFile(n, line); err == nil {
			s.files[n.file] = true
		}
	} else if err = s.append(line); err == nil {
		s.lines++
		n.file, n.line = s.segment.Name(), s.lines
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	conflicts := len(s.conflicts)
	s.add(n)
	return errors.Join(s.conflicts[conflicts:]...)
}

// writeFile writes a record's own file. One that is there already must say the
// same: it is left.
func (s *Store) writeFile(n stored, line []byte) error {
	if n.Kind != Run {
		old, _, err := loadFile(n.Kind, n.file)
		if err == nil && !bytes.Equal(old.Body, n.Body) {
			also := n
			also.file += " (to be written)"
			return conflict(stored{Record: old, file: n.file}, also)
		}
		if err == nil {
			return nil
		}
	}
	return atomicfile.Write(n.file, line)
}

// append writes one line with one call and flushes it. After a failure the
// part that was written is cut off again; where that fails too, the next
// line goes to a new segment, so that it does not continue a torn one.
func (s *Store) append(line []byte) error {
	if s.segment == nil {
		if err := s.newSegment(); err != nil {
			return err
		}
	}
	_, err := s.segment.Write(line)
	if err == nil {
		err = s.segment.Sync()
	}
	if err == nil {
		s.written += int64(len(line))
		return nil
	}
	if cut := s.segment.Truncate(s.written); cut != nil {
		s.segment.Close()
		s.segment = nil
	}
	return err
}

// newSegment makes a segment whose name no other process has: names sort by
// time, and O_EXCL decides where clocks and process ids agree.
func (s *Store) newSegment() error {
	var salt [4]byte
	rand.Read(salt[:]) // never fails
	name := fmt.Sprintf("%s-%d-%s%s", time.Now().UTC().Format("20060102T150405.000000"), os.Getpid(), hex.EncodeToString(salt[:]), segmentSuffix)
	path := filepath.Join(s.dir, segmentFolder, name)
	// O_APPEND: after a cut the next line must follow the last whole one.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	s.segment, s.written, s.lines = f, 0, 0
	return atomicfile.SyncDir(filepath.Dir(path))
}

// Remove deletes a part of a reference that is there; other kinds are kept for
// ever.
func (s *Store) Remove(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := address{Part, key}
	var err error
	for _, n := range s.records[at] {
		if n.Made.Machine == s.machine {
			err = errors.Join(err, os.Remove(n.file))
			delete(s.files, n.file)
		}
	}
	delete(s.records, at)
	return err
}

// Close ends the writing. The store can still be read, and written again.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.segment == nil {
		return nil
	}
	f := s.segment
	s.segment = nil
	s.scanned[f.Name()] = position{s.written, s.lines}
	return f.Close()
}
