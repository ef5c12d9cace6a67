package main

import (
	"os"
	"path/filepath"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// A reference in a store becomes the file of its data set; a set without one has none.
func TestTheReferencesOfAStoreAreShipped(t *testing.T) {
	var sets datasets.Registry
	for _, name := range []string{"teacher-reg", "teacher-cls"} {
		d, err := datasets.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, d)
	}
	resolver, err := datasets.NewResolver("")
	if err != nil {
		t.Fatal(err)
	}
	r := &oracle.Reference{Spec: oracle.NewSpec("teacher-reg", 0, sets[0].Model)}
	for c := range r.Chains {
		r.Draws = append(r.Draws, [][]float32{{1, float32(c)}, {2, 0}, {3, 5}, {4, 7}})
		r.Start, r.Potential = append(r.Start, []float64{1, 2, 3}), append(r.Potential, make([]float64, 4))
		r.ChainStep = append(r.ChainStep, r.Step)
	}
	keys := &bench.Keys{Source: models.NewSource(nil, resolver)}
	key, err := keys.Reference(t.Context(), r.Spec)
	if err != nil {
		t.Fatal(err)
	}
	body, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out, to := t.TempDir(), t.TempDir()
	s, err := store.Open(filepath.Join(out, "store"), sweep.Here())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(store.Record{Kind: store.Reference, Key: key, Made: sweep.MadeHere(), Body: body}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := ship(out, to, sets); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(to, "teacher-reg.json.gz"))
	want, failed := r.Ship(key)
	if err != nil || failed != nil || string(got) != string(want) {
		t.Errorf("%d bytes, %v; want the %d of the reference, %v", len(got), err, len(want), failed)
	}
	if files, _ := os.ReadDir(to); len(files) != 1 {
		t.Errorf("%d files of one reference", len(files))
	}
}
