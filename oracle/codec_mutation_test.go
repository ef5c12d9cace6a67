package oracle

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"hambench/test/mutate"
)

// memory keeps the parts of a build.
type memory map[string][]byte

// Load says that each part took a second.
func (m memory) Load(name string) ([]byte, float64, bool) {
	body, ok := m[name]
	return body, 1, ok
}

func (m memory) Save(name string, body []byte, _ float64) error { m[name] = body; return nil }

// Of 10 000 damaged bodies, references and parts in turn, each is refused in
// one line or taken for a whole one whose arrays have the shape that it says:
// that the bytes are those which were written is the store's business.
func TestMutatedBodies(t *testing.T) {
	spec := quickSpec()
	spec.Chains, spec.Samples, spec.Thin, spec.BurnIn, spec.MaxError = 2, 8, 2, 20, 1
	parts := memory{}
	r, err := Build(t.Context(), newNormals, spec, Options{Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) < spec.Chains+1 {
		t.Fatalf("%d parts; want those of %d chains and the cross-check", len(parts), spec.Chains)
	}
	reference, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	kept := parts["chain-0"]
	rng := rand.New(rand.NewPCG(2026, 3))
	refused := 0
	for i := range 10_000 {
		whole := reference
		if i%2 == 1 {
			whole = kept
		}
		mutant, how := mutate.File(rng, whole)
		m, err := Decode(mutant)
		if err == nil && (len(m.Start) != len(m.Draws) || len(m.Potential) != len(m.Draws)) {
			t.Fatalf("mutant %d (%s): %d chains, %d starts", i, how, len(m.Draws), len(m.Start))
		}
		if err != nil {
			if !errors.Is(err, ErrCorrupt) || strings.Contains(err.Error(), "\n") || bytes.Equal(mutant, whole) {
				t.Fatalf("mutant %d (%s): error %v", i, how, err)
			}
			refused++
		}
	}
	if refused < 2000 {
		t.Errorf("%d of 10000 bodies refused: want many, or this test sees nothing", refused)
	}
}
