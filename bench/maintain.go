package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"hambench/oracle"
)

// Report is what Verify found in a store.
type Report struct {
	Stats
	Troubles []Trouble // lines and oracle files that cannot be used
	Clashes  []error   // pairs of results that differ
	SetAside []string  // files of the set-aside folder: copies of lines, and oracles moved there
}

// OK reports whether nothing is left to do: no results differ, and what
// cannot be used is set aside, to be computed again where it is needed.
func (r Report) OK() bool { return r.New() == 0 && len(r.Clashes) == 0 }

// New counts the troubles that are not set aside.
func (r Report) New() int {
	n := 0
	for _, t := range r.Troubles {
		if !t.Known {
			n++
		}
	}
	return n
}

// Verify reads every record and every oracle of a store, changing nothing.
func Verify(dir string) (Report, error) {
	s, err := scan(dir)
	if err != nil {
		return Report{}, err
	}
	if err := s.checkReferences(); err != nil { // only notes them: the store is open for reading
		return Report{}, err
	}
	aside, err := s.asideFiles()
	return Report{s.Stats(), s.troubles, s.clashes, aside}, err
}

// asideFiles lists the set-aside folder.
func (s *Store) asideFiles() ([]string, error) {
	dir := filepath.Join(s.dir, asideFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name()[0] != '.' {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// Stats describes a store.
type Stats struct {
	Segments   int
	Records    int // valid ones
	Cells      int
	Duplicates int // equal records beyond the first
	Diverged   int
	Oracles    int
	Seconds    float64 // processor time of the cells
	ISAs       []string
	ByData     map[string]int // cells by data set
}

// Stats counts what the store holds.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{Segments: len(s.scanned), Records: s.counts.records, Cells: len(s.results), Duplicates: s.counts.duplicates, ByData: make(map[string]int)}
	if s.segment != nil {
		st.Segments++
	}
	if keys, err := s.referenceKeys(); err == nil {
		st.Oracles = len(keys)
	}
	for _, list := range s.results {
		r := list[0]
		st.ByData[r.Cell.Dataset]++
		st.Seconds += r.Seconds
		if r.Diverged {
			st.Diverged++
		}
		for _, r := range list {
			if !slices.Contains(st.ISAs, r.ISA) {
				st.ISAs = append(st.ISAs, r.ISA)
			}
		}
	}
	slices.Sort(st.ISAs)
	return st
}

// Merged counts what Merge added.
type Merged struct {
	Records, Oracles int
	Troubles         []Trouble // of the other stores, not set aside there; left where they are
}

// Merge adds to the store what the stores in the given folders have and it
// has not, records and oracles. A result or oracle that differs from the
// store's own on the same instruction set is an error that names both.
func (s *Store) Merge(dirs ...string) (m Merged, err error) {
	for _, dir := range dirs {
		from, err := Read(dir)
		if err != nil {
			return m, err
		}
		if err := s.mergeReferences(from, &m); err != nil {
			return m, err
		}
		if err := s.mergeResults(from, &m); err != nil {
			return m, err
		}
		m.Troubles = append(m.Troubles, slices.DeleteFunc(from.Troubles(), func(t Trouble) bool { return t.Known })...)
	}
	return m, nil
}

func (s *Store) mergeResults(from *Store, m *Merged) error {
	for _, r := range from.Results() {
		ours := s.stored(r.Key)
		for _, theirs := range from.stored(r.Key) {
			i := slices.IndexFunc(ours, func(o stored) bool { return o.ISA == theirs.ISA })
			if i >= 0 {
				if !Equal(ours[i].Result, theirs.Result) {
					return clash(ours[i], theirs)
				}
				continue
			}
			if err := s.Put(theirs.Result); err != nil {
				return err
			}
			m.Records++
		}
	}
	return nil
}

func (s *Store) mergeReferences(from *Store, m *Merged) error {
	keys, err := from.referenceKeys()
	if err != nil {
		return err
	}
	for _, key := range keys {
		theirs, err := from.Reference(key)
		if err != nil {
			return err
		}
		ours, err := s.Reference(key)
		if err != nil {
			return err
		}
		switch {
		case theirs == nil: // one of its troubles
		case ours == nil:
			if err := s.PutReference(theirs); err != nil {
				return err
			}
			m.Oracles++
		case ours.Versions.ISA == theirs.Versions.ISA && !sameDraws(ours, theirs):
			return fmt.Errorf("two oracles of one key differ: %s and %s (both on %s)", s.ReferencePath(key), from.ReferencePath(key), ours.Versions.ISA)
		}
	}
	return nil
}

func sameDraws(a, b *oracle.Reference) bool {
	equal := func(x, y [][]float32) bool { return slices.EqualFunc(x, y, slices.Equal[[]float32]) }
	return slices.EqualFunc(a.Draws, b.Draws, equal) && slices.EqualFunc(a.Start, b.Start, slices.Equal[[]float64])
}
