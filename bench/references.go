package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hambench/oracle"
)

const partFolder = "parts" // of oracles under way, inside oracleFolder

// ReferencePath is the file of the reference with the given key.
func (s *Store) ReferencePath(key string) string {
	return filepath.Join(s.dir, oracleFolder, key)
}

// PartsFolder holds the finished chains of references under way.
func (s *Store) PartsFolder() string {
	return filepath.Join(s.dir, oracleFolder, partFolder)
}

// HasReference reports whether there is a file for the key; it may turn out
// to be damaged.
func (s *Store) HasReference(key string) bool {
	info, err := os.Stat(s.ReferencePath(key))
	return err == nil && info.Mode().IsRegular()
}

// Reference returns the reference with the given key; nil if there is none,
// or none that can be used. A damaged file becomes one of the store's
// troubles and is moved to the set-aside folder, unless the store is open for
// reading only.
func (s *Store) Reference(key string) (*oracle.Reference, error) {
	path := s.ReferencePath(key)
	r, err := loadReference(path, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil && !errors.Is(err, oracle.ErrCorrupt):
		return nil, fmt.Errorf("store %s: %w", s.dir, err)
	case err == nil:
		return r, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.troubles = append(s.troubles, Trouble{File: path, Reason: err.Error()})
	if s.readOnly {
		return nil, nil
	}
	return nil, s.moveAside(path)
}

// checkReferences sets damaged references aside.
func (s *Store) checkReferences() error {
	keys, err := s.referenceKeys()
	for _, key := range keys {
		_, e := s.Reference(key)
		err = errors.Join(err, e)
	}
	return err
}

// loadReference loads the reference of a key; one of another key is corrupt.
func loadReference(path, key string) (*oracle.Reference, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := oracle.Decode(data)
	if err == nil && r.Key() != key {
		return nil, fmt.Errorf("%w: it holds the reference %.12s", oracle.ErrCorrupt, r.Key())
	}
	return r, err
}

// moveAside moves a file to the set-aside folder, under a name that has its
// bytes' checksum: beside what is there. Another process may have been first.
func (s *Store) moveAside(path string) error {
	if err := s.makeAside(); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.Rename(path, filepath.Join(s.dir, asideFolder, fmt.Sprintf("%s.%.16s", filepath.Base(path), checksum(data))))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	return nil
}

// PutReference stores a reference and removes the parts it was made of.
func (s *Store) PutReference(r *oracle.Reference) error {
	if err := r.Save(s.ReferencePath(r.Key())); err != nil {
		return fmt.Errorf("store %s: %w", s.dir, err)
	}
	return oracle.RemoveParts(s.PartsFolder(), r.Spec)
}

// referenceKeys lists the reference files.
func (s *Store) referenceKeys() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, oracleFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var keys []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name()[0] != '.' {
			keys = append(keys, e.Name())
		}
	}
	return keys, err
}
