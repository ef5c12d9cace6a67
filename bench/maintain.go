package bench

import (
	"fmt"
	"slices"

	"hambench/oracle"
)

// Report is what Verify found in a store.
type Report struct {
	Stats
	Troubles []Trouble // lines and oracle files that cannot be used
	Clashes  []error   // pairs of results that differ
}

// OK reports whether nothing was found.
func (r Report) OK() bool { return len(r.Troubles) == 0 && len(r.Clashes) == 0 }

// Verify reads every record and every oracle of a store, changing nothing.
func Verify(dir string) (Report, error) {
	s, err := scan(dir)
	if err != nil {
		return Report{}, err
	}
	keys, err := s.referenceKeys()
	if err != nil {
		return Report{}, err
	}
	for _, key := range keys {
		if _, err := loadReference(s.ReferencePath(key), key); err != nil {
			s.troubles = append(s.troubles, Trouble{File: s.ReferencePath(key), Reason: err.Error()})
		}
	}
	return Report{s.Stats(), s.troubles, s.clashes}, nil
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

// Merge adds to the store what the stores in the given folders have and it
// has not, records and oracles, and returns how many of each it added. A
// result or oracle that differs from the store's own on the same
// instruction set is an error that names both.
func (s *Store) Merge(dirs ...string) (records, oracles int, err error) {
	for _, dir := range dirs {
		from, err := Read(dir)
		if err != nil {
			return records, oracles, err
		}
		n, err := s.mergeReferences(from)
		oracles += n
		if err != nil {
			return records, oracles, err
		}
		n, err = s.mergeResults(from)
		records += n
		if err != nil {
			return records, oracles, err
		}
	}
	return records, oracles, nil
}

func (s *Store) mergeResults(from *Store) (added int, err error) {
	for _, r := range from.Results() {
		ours := s.stored(r.Key)
		for _, theirs := range from.stored(r.Key) {
			i := slices.IndexFunc(ours, func(o stored) bool { return o.ISA == theirs.ISA })
			if i >= 0 {
				if !Equal(ours[i].Result, theirs.Result) {
					return added, clash(ours[i], theirs)
				}
				continue
			}
			if err := s.Put(theirs.Result); err != nil {
				return added, err
			}
			added++
		}
	}
	return added, nil
}

func (s *Store) mergeReferences(from *Store) (added int, err error) {
	keys, err := from.referenceKeys()
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		theirs, err := loadReference(from.ReferencePath(key), key)
		if err != nil {
			return added, err
		}
		ours, err := s.Reference(key)
		if err != nil {
			return added, err
		}
		if ours == nil {
			if err := s.PutReference(theirs); err != nil {
				return added, err
			}
			added++
		} else if ours.Versions.ISA == theirs.Versions.ISA && !sameDraws(ours, theirs) {
			return added, fmt.Errorf("two oracles of one key differ: %s and %s (both on %s)", s.ReferencePath(key), from.ReferencePath(key), ours.Versions.ISA)
		}
	}
	return added, nil
}

func sameDraws(a, b *oracle.Reference) bool {
	equal := func(x, y [][]float32) bool { return slices.EqualFunc(x, y, slices.Equal[[]float32]) }
	return slices.EqualFunc(a.Draws, b.Draws, equal) && slices.EqualFunc(a.Start, b.Start, slices.Equal[[]float64])
}
