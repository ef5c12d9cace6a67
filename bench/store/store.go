// Package store keeps results, exact errors, reference chains and manifests
// in a folder, so that a run can be stopped, continued, shared by several
// processes and machines, checked, merged, and drawn from.
//
// A program opens a folder (Open, or Read to leave it as it is), asks for
// records by kind and key (Get, Has, Keys), adds records (Put), and looks for
// those of other processes (Refresh). Verify checks a whole store, Merge adds
// one to another, and Lease divides work among processes.
//
// # Layout
//
//	format          "hambench store 2": the name and version of this format
//	records/        results and exact errors: one JSONL file per writing process
//	references/     reference chains, one file per record
//	parts/          finished chains of references under way, one file per record
//	runs/           manifests: what a run wanted, one file per key
//	leases/         which process works on what (see Lease)
//	quarantine/     copies of lines, and files, that could not be used
//
// Records of all kinds have one form (see Record): a line of JSON that carries
// its own checksum. The bodies of records in records/ are held in memory; those
// of the other kinds, which are large, are read when asked for.
//
// # What it promises
//
// A record is addressed by kind and key. The caller makes the key from all
// that the record's numbers depend on, except the machine, which the record
// names: records of different machines lie side by side under one key, and Get
// decides which of them counts.
//
// A record is on the disk when Put returns. Lines are appended to a file that
// only one process writes, and other files are renamed into place, so processes
// need no lock, not even on a network file system. Temporary files and leases of a
// killed process are removed by a later Open.
//
// Two records of one kind, key and machine have equal bodies, and count as
// one, or differ in their Basis, or are a *Conflict, which is for a person to
// resolve. A line or file that is not what was written is a *Corruption: Open moves it, or
// a copy of it, to quarantine/, and the record counts as missing, to be made again.
//
// A folder with a store of another format is a usage error and is left alone.
package store

import (
	"cmp"
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
	leaseFolder      = "leases"
	quarantineFolder = "quarantine"
)

// Store is an open store, as a machine sees it. It is safe for concurrent use.
type Store struct {
	machine Machine
	*common
}

// common is what a store has, for all machines.
type common struct {
	dir      string
	readOnly bool

	mu          sync.Mutex
	records     map[address]map[Machine]stored // by their owners
	scanned     map[string]position            // by segment, that of this process included
	files       map[string]bool                // files of single records that were read
	corruptions []*Corruption
	conflicts   []error
	segment     *os.File // of this process; nil until the first Put
}

// address is what a record is found by.
type address struct {
	kind Kind
	key  string
}

// stored is a record and where it was found: a line, or (line 0) a file of its
// own, whose body is not kept.
type stored struct {
	Record
	file string
	line int
	sum  string // of the body
	// of the one in Store's records: how many others agree with it, and whether any is in conflict
	duplicates int
	contested  bool
}

// owner is the machine whose record it is: a key has one for each. Manifests are of
// no machine.
func (r stored) owner() Machine {
	if r.Kind == Run {
		return Machine{}
	}
	return r.Made.Machine
}

// load returns the record with its body.
func (r stored) load() (Record, error) {
	if r.line > 0 {
		return r.Record, nil
	}
	return loadFile(r.Kind, r.file)
}

// place names where the record is, for messages.
// A reference or a manifest is a file of its own, without lines.
func (r stored) place() string {
	if r.line == 0 {
		return r.file
	}
	return fmt.Sprintf("%s:%d", r.file, r.line)
}

// position is how far a segment has been read or written.
type position struct {
	offset int64 // behind the last whole line
	line   int   // lines up to there
}

// Conflict says that two records of one kind, key and machine differ.
type Conflict struct {
	Kind       Kind
	Key        string
	Machine    Machine
	Here, Also string // the files, with the line in those of many records
}

// Error names both records.
// A person must decide which of the two is right.
func (c *Conflict) Error() string {
	what := "files"
	if c.Kind.folder() == "" { // many records share a file
		what = "lines"
	}
	return fmt.Sprintf("two records of one key differ: %s and %s (%s %.12s, both on %v): "+
		"want one of the two %s removed by hand", c.Here, c.Also, c.Kind, c.Key, c.Machine, what)
}

// Open opens the store in a folder, which it creates if needed, for reading
// and writing on a machine. A folder that cannot be created or written, or that
// holds a store of another format, is a usage error, and is left alone. Records
// of one key and machine that differ are an error that wraps a *Conflict for each
// pair. What is corrupt is quarantined and listed by Corruptions.
func Open(dir string, m Machine) (*Store, error) {
	if err := checkFormat(dir); err != nil {
		return nil, err
	}
	now, err := makeFolders(dir)
	if err != nil {
		return nil, err
	}
	s, err := Read(dir, m)
	if err != nil {
		return nil, err
	}
	s.readOnly = false
	if err := errors.Join(s.quarantine(), s.removeLeftovers(now)); err != nil {
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	return s, nil
}

// makeFolders makes a store's folders and its format file where they are
// missing and checks that it can write there. It returns the file system's
// time.
func makeFolders(dir string) (now time.Time, err error) {
	folders := []string{
		".", segmentFolder, Reference.folder(), Part.folder(), Run.folder(), leaseFolder,
	}
	for _, d := range folders {
		d = filepath.Join(dir, d)
		if err := atomicfile.MkdirAll(d); err != nil {
			return now, usage.Errorf("store %s cannot be created: %w", dir, reason(err))
		}
		if now, err = touch(d); err != nil {
			return now, usage.Errorf("store %s cannot be written: %w", dir, reason(err))
		}
	}
	path := filepath.Join(dir, formatFile)
	if _, err := os.Stat(path); err == nil {
		return now, nil
	}
	return now, atomicfile.Write(path, []byte(formatText))
}

// touch makes and removes a file in a folder and returns the time that the
// file system gave it.
func touch(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, ".touch.tmp-*")
	if err != nil {
		return time.Time{}, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// Read opens the store in an existing folder for reading only: nothing is
// written there, and Put returns an error.
func Read(dir string, m Machine) (*Store, error) {
	s, err := scan(dir, m)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(s.conflicts...)
}

// ReadIfThere is like Read, but returns an empty store if there is no such folder.
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

// newStore returns a store that is read-only and has no records yet.
func newStore(dir string, m Machine) *Store {
	return &Store{m, &common{
		dir: dir, readOnly: true,
		records: make(map[address]map[Machine]stored),
		scanned: make(map[string]position), files: make(map[string]bool),
	}}
}

// As returns the same store as another machine sees it: what one adds, both have.
func (s *Store) As(m Machine) *Store { return &Store{m, s.common} }

// checkFormat refuses a folder with a store of another format.
func checkFormat(dir string) error {
	// A folder without the file is new, or a store of which only parts were copied: both may be
	// read.
	text, err := os.ReadFile(filepath.Join(dir, formatFile))
	switch {
	// An editor, or a copy by way of Windows, may have changed the end of the line.
	case err == nil && strings.TrimSpace(string(text)) == strings.TrimSpace(formatText):
		return nil
	case err == nil:
		return usage.Errorf("store %s has the format %.40q: this program knows %q; choose "+
			"another --out",
			dir, strings.TrimSpace(string(text)), strings.TrimSpace(formatText))
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return usage.Errorf("store %s cannot be read: %w", dir, reason(err))
	}
	for _, old := range []string{"results", "oracles", "certified"} { // of the first edition
		if entries, err := os.ReadDir(filepath.Join(dir, old)); err == nil && len(entries) > 0 {
			return usage.Errorf("store %s is of the first edition of hambench, which this program "+
				"does not read: it is left alone; choose another --out", dir)
		}
	}
	return nil
}

// reason strips the path from a file error: the message has it already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// Refresh reads what other processes have added since.
func (s *Store) Refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return err
	}
	return errors.Join(s.conflicts...)
}

// Get returns a record. Of records of several machines it returns this machine's
// own or else, of those that may stand for it, that of the first machine by name
// and, there, of the newest kernels. A record made with this machine's instruction
// set but other kernels may not, nor may another machine's part of a reference. A
// record whose file turns out to be corrupt is quarantined and counts as missing.
func (s *Store) Get(kind Kind, key string) (Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := address{kind, key}
	for {
		n, ok := s.choose(at)
		if !ok {
			return Record{}, false
		}
		r, err := n.load()
		if err == nil {
			return r, true
		}
		s.lose(n, err)
	}
}

// Has reports whether Get would find a record, without reading its file.
func (s *Store) Has(kind Kind, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.choose(address{kind, key})
	return ok
}

// choose returns the record that counts on the store's machine.
func (s *Store) choose(at address) (best stored, ok bool) {
	if own, ok := s.records[at][s.machine]; ok {
		return own, true
	}
	for _, n := range s.records[at] {
		if s.usable(n) && (!ok || preference(n.Made, best.Made) < 0) {
			best, ok = n, true
		}
	}
	return best, ok
}

// usable reports whether another machine's record may stand for one of the
// store's machine. Chains of one reference come from one machine: otherwise
// its record could not name the machine that it depends on.
func (s *Store) usable(n stored) bool {
	switch n.Kind {
	case Run:
		return true
	case Part:
		return s.machine == Machine{}
	default: // other kernels of the same instruction set give other numbers
		return n.Made.Arch != s.machine.Arch || n.Made.ISA != s.machine.ISA
	}
}

// preference orders records by architecture and instruction set, and those of
// different kernels the newest first.
func preference(a, b Made) int {
	return cmp.Or(cmp.Compare(a.Arch, b.Arch), cmp.Compare(a.ISA, b.ISA), b.Time.Compare(a.Time),
		cmp.Compare(a.Kernels, b.Kernels))
}

// Keys returns the sorted keys of a kind for which Get finds a record.
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

// Close ends writing. The store can still be read, and written again.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endSegment()
}
