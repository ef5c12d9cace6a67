package oracle

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/internal/mutate"
)

// builtFiles are a reference's file and its parts' files, of a real build
// with few samples.
func builtFiles(t testing.TB) (reference []byte, parts [][]byte) {
	t.Helper()
	spec := quickSpec()
	spec.Chains, spec.Samples, spec.Thin, spec.BurnIn = 2, 8, 2, 20
	folder := t.TempDir()
	r, err := Build(t.Context(), newNormals, spec, Options{Parts: folder})
	if err != nil {
		t.Fatal(err)
	}
	if reference, err = r.Encode(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != spec.Chains+1 {
		t.Fatalf("%d parts, error %v; want those of %d chains and the second opinion", len(entries), err, spec.Chains)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, data)
	}
	return reference, parts
}

// Of 10 000 damaged files, references and parts in turn, those are taken
// whose bytes are the old ones; all others are refused in one line.
func TestMutatedFiles(t *testing.T) {
	reference, parts := builtFiles(t)
	decodeReference := func(data []byte) error { _, err := Decode(data); return err }
	decodeSomePart := func(data []byte) error { _, err := decodePart(data); return err }
	rng := rand.New(rand.NewPCG(2026, 3))
	unchanged, refused, fooled := 0, 0, 0
	for i := range 10_000 {
		whole, decode, magic := reference, decodeReference, referenceMagic
		if i%2 == 1 {
			whole, decode, magic = parts[i/2%len(parts)], decodeSomePart, partMagic
		}
		mutant, how := mutate.File(rng, whole)
		err := decode(mutant)
		switch {
		case bytes.Equal(mutant, whole) && err == nil:
			unchanged++
		case !bytes.Equal(mutant, whole) && errors.Is(err, ErrCorrupt) && !strings.Contains(err.Error(), "\n"):
			refused++
			if bytes.HasPrefix(mutant, []byte(magic)) && decode(resum(mutant)) == nil {
				fooled++
			}
		default:
			t.Fatalf("mutant %d (%s) of %d bytes: error %v", i, how, len(mutant), err)
		}
	}
	t.Logf("10000 files: %d refused as damaged, %d with the old bytes and accepted", refused, unchanged)
	// With a checksum that fits, many of the mutants are taken: it is the
	// checksum that notices them.
	if fooled < 100 {
		t.Errorf("a reader without checksums accepts %d changed files: want many, or this test sees nothing", fooled)
	}
	t.Logf("a reader without checksums would have accepted %d changed files", fooled)
}

// resum gives a file the checksum of its contents.
func resum(data []byte) []byte {
	w := writer{bytes.Clone(data[:max(0, len(data)-32)])}
	return w.sum()
}
