package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Report is what Verify found in a store.
type Report struct {
	Stats
	Corruptions []*Corruption
	Conflicts   []error
	Quarantined []string // files of the quarantine folder
	Foreign     []string // what lies among the records and is none of a store's files
}

// OK reports whether nothing is left to do: no records conflict, none may be in files that are
// not read, and what is corrupt is quarantined, to be computed again when it is needed.
func (r Report) OK() bool { return r.New() == 0 && len(r.Conflicts)+len(r.Foreign) == 0 }

// New returns the number of corruptions that are not quarantined.
func (r Report) New() int { return len(unknown(r.Corruptions)) }

// unknown returns the corruptions that are not quarantined.
func unknown(all []*Corruption) []*Corruption {
	return slices.DeleteFunc(slices.Clone(all), func(c *Corruption) bool { return c.Known })
}

// Verify reads every record of a store, of all kinds, changing nothing.
func Verify(dir string) (Report, error) {
	// Conflicts are part of the report, where Read would return them as its error.
	s, err := scan(dir, Machine{})
	if err != nil {
		return Report{}, err
	}
	r := Report{Stats: s.Stats(), Corruptions: s.corruptions, Conflicts: s.conflicts}
	// What other runs quarantined is listed as well: nobody deletes it.
	if r.Quarantined, _, err = s.list(quarantineFolder); err != nil {
		return r, err
	}
	for _, kind := range []Kind{Result, Reference, Part, Run} {
		_, other, err := s.list(cmp.Or(kind.folder(), segmentFolder))
		if r.Foreign = append(r.Foreign, other...); err != nil {
			return r, err
		}
	}
	return r, nil
}

// Stats describes a store.
type Stats struct {
	Segments   int
	Records    int          // that can be used: none that is in conflict with another
	Kinds      map[Kind]int // of these, by kind
	Keys       map[Kind]int // records of several machines under one key count once
	Duplicates int          // equal records beyond the first
	Seconds    float64      // that results and exact errors took, each by the clock, together
	Machines   []Machine    // of results
}

// Stats returns counts of what the store holds.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{Segments: len(s.scanned), Kinds: make(map[Kind]int), Keys: make(map[Kind]int)}
	for at, list := range s.records {
		st.Keys[at.kind]++
		for _, r := range list {
			st.Duplicates += r.duplicates
			if !r.contested { // nobody knows which of them is right
				st.Records += 1 + r.duplicates
				st.Kinds[at.kind] += 1 + r.duplicates
			}
			if at.kind == Result || at.kind == Exact {
				st.Seconds += r.Seconds
			}
			if at.kind == Result && !slices.Contains(st.Machines, r.Made.Machine) {
				st.Machines = append(st.Machines, r.Made.Machine)
			}
		}
	}
	slices.SortFunc(st.Machines, func(a, b Machine) int {
		return preference(Made{Machine: a}, Made{Machine: b})
	})
	return st
}

// Merged counts what Merge added.
type Merged struct {
	Added       map[Kind]int
	Older       int           // manifests of which a newer one with the same key counts
	Corruptions []*Corruption // of the other stores, not quarantined there; left where they are
}

// Published reports whether figures, tables and claims are made from records of a kind.
func Published(kind Kind, _ string) bool { return kind == Result || kind == Exact || kind == Run }

// Shared reports whether records of a kind save other stores work: those that are Published, and
// references, which hold draws and are a hundred times as large.
func Shared(kind Kind, key string) bool { return kind == Reference || Published(kind, key) }

// Merge adds those records, such as the Shared, that other stores (Read) have and this one
// lacks. A record that differs from the store's own from the same machine is a *Conflict,
// which is left out, and returned when all others are there; of two manifests with one key the
// newer counts. The end of ctx ends it between two records: a merge that is repeated goes on.
func (s *Store) Merge(ctx context.Context, those func(kind Kind, key string) bool,
	stores ...*Store) (m Merged, err error) {
	m.Added = make(map[Kind]int)
	var conflicts []error
	for _, from := range stores {
		// Manifests come after what they list.
		for _, kind := range []Kind{Reference, Result, Exact, Run} {
			found, err := s.mergeKind(ctx, from, kind, those, &m)
			conflicts = append(conflicts, found...)
			if err != nil {
				return m, errors.Join(append(conflicts, err)...)
			}
		}
		m.Corruptions = append(m.Corruptions, unknown(from.corruptions)...)
	}
	return m, errors.Join(conflicts...)
}

// mergeKind adds records in the order of their bodies: neighbours are of one data set and
// integrator, and compress better than in the order of keys, or of writing.
func (s *Store) mergeKind(ctx context.Context, from *Store, kind Kind,
	those func(Kind, string) bool, m *Merged) (conflicts []error, err error) {
	var all []stored
	for at, list := range from.records {
		if at.kind == kind && those(kind, at.key) {
			all = slices.AppendSeq(all, maps.Values(list))
		}
	}
	slices.SortFunc(all, func(a, b stored) int {
		return cmp.Or(bytes.Compare(a.Body, b.Body), cmp.Compare(a.Key, b.Key),
			preference(a.Made, b.Made))
	})
	for _, theirs := range all {
		if err := context.Cause(ctx); err != nil {
			return conflicts, fmt.Errorf("interrupted: the same command continues: %w", err)
		}
		// What the store has already is passed over, and so is what would not count beside it; of
		// manifests the newer one replaces the other.
		ours, ok := s.rival(theirs)
		switch {
		case !ok || ours.yields(theirs):
		case ours.agrees(theirs):
			continue
		case kind != Run:
			conflicts = append(conflicts, conflict(ours, theirs))
			continue
		default:
			if m.Older++; !theirs.Made.Time.After(ours.Made.Time) {
				continue
			}
		}
		r, err := theirs.load()
		if err == nil {
			err = s.Put(r)
		}
		if err != nil {
			return conflicts, err
		}
		if kind != Run || !ok { // it replaces none
			m.Added[kind]++
		}
	}
	return conflicts, nil
}

// rival returns the store's own record of the same kind, key and machine.
func (s *Store) rival(r stored) (stored, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.records[address{r.Kind, r.Key}][r.owner()]
	return n, ok
}
