package bench

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hambench/internal/atomicfile"
	"hambench/usage"
)

// The layout of a store.
const (
	segmentFolder = "results"   // one JSONL file per writing process
	segmentSuffix = ".jsonl"    // of segments
	oracleFolder  = "oracles"   // references by key
	asideFolder   = "set-aside" // copies of lines and files that could not be used
)

// Store is a folder of results, append-only and content-addressed: several
// processes may write it at the same time, each to a segment of its own. A
// Store is safe for concurrent use.
type Store struct {
	dir      string
	readOnly bool

	mu       sync.Mutex
	results  map[string][]stored // by key, one per instruction set, sorted by it
	scanned  map[string]position // by segment
	troubles []Trouble
	clashes  []error
	segment  *os.File // of this process; nil until the first Put
	written  int64    // whole records in it, in bytes
	lines    int
	counts   counts
}

// stored is a result and where it was found.
type stored struct {
	Result
	file string
	line int
}

// position is how far a segment has been read.
type position struct {
	offset int64
	line   int
}

// counts are what Stats tells beyond the results themselves.
type counts struct{ records, duplicates int }

// Open opens the store in a folder, which it creates if needed, for reading
// and writing. A folder that cannot be created or written is a usage error.
// Two records of one cell that differ on the same instruction set are an
// error that names both. Lines that are no valid records and damaged oracles
// are set aside: see Troubles.
func Open(dir string) (*Store, error) {
	for _, d := range []string{dir, filepath.Join(dir, segmentFolder), filepath.Join(dir, oracleFolder)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, usage.Errorf("store %s cannot be created: %w", dir, reason(err))
		}
		if err := writable(d); err != nil {
			return nil, usage.Errorf("store %s cannot be written: %w", dir, reason(err))
		}
	}
	s, err := Read(dir)
	if err != nil {
		return nil, err
	}
	s.readOnly = false
	return s, errors.Join(s.setAside(), s.checkReferences())
}

// Read opens the store in a folder that must exist, for reading only:
// nothing is written there, and Put is an error.
func Read(dir string) (*Store, error) {
	s, err := scan(dir)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(s.clashes...)
}

// ReadIfThere is Read, or an empty store if there is no such folder.
func ReadIfThere(dir string) (*Store, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return newStore(dir), nil
	}
	return Read(dir)
}

// scan reads a store and leaves it to the caller what to do about clashes.
func scan(dir string) (*Store, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, usage.Errorf("store %s cannot be read: %w", dir, reason(err))
	} else if !info.IsDir() {
		return nil, usage.Errorf("store %s is not a folder", dir)
	}
	s := newStore(dir)
	return s, s.refresh()
}

func newStore(dir string) *Store {
	return &Store{dir: dir, readOnly: true, results: make(map[string][]stored), scanned: make(map[string]position)}
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

// Refresh reads what other processes have added since.
func (s *Store) Refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return err
	}
	return errors.Join(s.clashes...)
}

func (s *Store) refresh() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, segmentFolder)) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return usage.Errorf("store %s cannot be read: %w", s.dir, reason(err))
	}
	// Torn last lines are read again each time: they may have been whole
	// writes of another process that were seen half.
	s.troubles = slices.DeleteFunc(s.troubles, func(t Trouble) bool { return t.Line > s.scanned[t.File].line })
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), segmentSuffix) {
			continue
		}
		if err := s.read(filepath.Join(s.dir, segmentFolder, e.Name())); err != nil {
			return fmt.Errorf("store %s: %w", s.dir, err)
		}
	}
	return nil
}

// read adds the lines of a segment that have not been read.
func (s *Store) read(path string) error {
	if s.segment != nil && path == s.segment.Name() {
		return nil // our own
	}
	at := s.scanned[path]
	offset, line, err := scanSegment(path, at.offset, at.line,
		func(line int, r Result) { s.add(stored{r, path, line}) },
		func(t Trouble) { t.Known = s.isAside(t); s.troubles = append(s.troubles, t) })
	s.scanned[path] = position{offset, line}
	return err
}

// add takes a record in: the first of each cell and instruction set counts,
// equal ones merge, differing ones are a clash.
func (s *Store) add(n stored) {
	s.counts.records++
	list := s.results[n.Key]
	for _, o := range list {
		if o.ISA != n.ISA {
			continue
		}
		if Equal(o.Result, n.Result) {
			s.counts.duplicates++
		} else {
			s.clashes = append(s.clashes, clash(o, n))
		}
		return
	}
	list = append(list, n)
	slices.SortFunc(list, func(a, b stored) int { return cmp.Compare(a.ISA, b.ISA) })
	s.results[n.Key] = list
}

func clash(a, b stored) error {
	return fmt.Errorf("two results of one cell differ: %s:%d and %s:%d (cell %.12s, %v, both on %s)",
		a.file, a.line, b.file, b.line, a.Key, a.Cell, a.ISA)
}

// Equal reports whether two results of one cell say the same: all but the
// time they took and the program that made them.
func Equal(a, b Result) bool {
	a.Seconds, b.Seconds = 0, 0
	a.Go, b.Go = "", ""
	a.Commit, b.Commit = "", ""
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// Get returns the result of a cell's key. Of results of several instruction
// sets it is that of the first by name, on whatever machine.
func (s *Store) Get(key string) (Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.results[key]; len(list) > 0 {
		return list[0].Result, true
	}
	return Result{}, false
}

// stored returns the results of a key, one per instruction set.
func (s *Store) stored(key string) []stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.results[key])
}

// Results returns one result per cell, sorted by key.
func (s *Store) Results() []Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Result, 0, len(s.results))
	for _, list := range s.results {
		out = append(out, list[0].Result)
	}
	slices.SortFunc(out, func(a, b Result) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// Troubles returns the lines that could not be used.
func (s *Store) Troubles() []Trouble {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.troubles)
}

// Put appends a result and returns once it is on the disk. A failed Put
// leaves the store as it was.
func (s *Store) Put(r Result) error {
	if key := r.Cell.Key(); r.Key != key {
		return fmt.Errorf("store %s: result with key %.12s of cell %.12s", s.dir, r.Key, key)
	}
	line, err := encodeRecord(r)
	if err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOnly {
		return fmt.Errorf("store %s is open for reading only", s.dir)
	}
	if err := s.append(line); err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	s.lines++
	clashes := len(s.clashes)
	s.add(stored{r, s.segment.Name(), s.lines})
	return errors.Join(s.clashes[clashes:]...)
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
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a new file's name durable where the system can.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync() // some file systems cannot
	return nil
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

// setAside keeps a copy of each new trouble, so that it is reported once.
func (s *Store) setAside() error {
	for _, t := range s.troubles {
		if t.Known {
			continue
		}
		if err := s.makeAside(); err != nil {
			return err
		}
		if err := atomicfile.Write(s.asidePath(t), append(t.text, '\n')); err != nil {
			return fmt.Errorf("store %s: %w", s.dir, err)
		}
	}
	return nil
}

func (s *Store) makeAside() error {
	if err := os.MkdirAll(filepath.Join(s.dir, asideFolder), 0o755); err != nil {
		return usage.Errorf("store %s cannot be written: %w", s.dir, reason(err))
	}
	return nil
}

func (s *Store) isAside(t Trouble) bool {
	_, err := os.Stat(s.asidePath(t))
	return err == nil
}

// asidePath names a trouble's copy by its segment, line and bytes.
func (s *Store) asidePath(t Trouble) string {
	name := fmt.Sprintf("%s.%d.%.16s", filepath.Base(t.File), t.Line, checksum(t.text))
	return filepath.Join(s.dir, asideFolder, name)
}
