package oracle

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a reference with every field set.
func small() *Reference {
	r := normalReference(rand.New(rand.NewPCG(6, 0)), 2, 4, 3)
	r.Spec = NewSpec("boston", 3, "bnn")
	r.Start = [][]float64{{1, 2}, {3, 4}}
	r.ChainStep = []float64{0.005, 0.0025}
	r.Potential = [][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}}
	r.Diagnostics = diagnose(r.Draws)
	r.Opinion = Opinion{Distance: 0.1, Acceptance: 0.8, Step: 0.01, Leapfrogs: 100, ESS: Summary{Median: 3}}
	r.Checks = []Check{newCheck("ok", 1, 0, 2), newCheck("bad", 3, 0, 2)}
	r.Versions = Versions{Go: "go1.26", ISA: "avx2", Commit: "abc"}
	r.Seconds = 12.5
	return r
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "boston.oracle")
	r := small()
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "saved and loaded", r, got)
	if got.Seconds != r.Seconds || got.SelfDistance() != r.SelfDistance() {
		t.Errorf("seconds %v, self-distance %+v", got.Seconds, got.SelfDistance())
	}
	if bad := got.Failed(); len(bad) != 1 || bad[0].Name != "bad" {
		t.Errorf("failed checks %+v", bad)
	}
	// The settings can be read without this program.
	data, _ := os.ReadFile(path)
	lines := strings.SplitN(string(data), "\n", 3)
	if lines[0] != "hambench oracle 1" || !strings.Contains(lines[1], `"dataset":"boston","split":3`) {
		t.Errorf("the file begins with %q", lines[:2])
	}
}

// Every flipped byte, every cut, and every added byte is noticed.
func TestDecodeNoticesDamage(t *testing.T) {
	data, err := small().Encode()
	if err != nil {
		t.Fatal(err)
	}
	refused := func(reason string, at int, data []byte) {
		_, err := Decode(data)
		if !errors.Is(err, ErrCorrupt) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%s at byte %d of %d: error %v, want one line about damage", reason, at, len(data), err)
		}
	}
	for i := range data {
		for _, mask := range []byte{1, 0x80, 0xff} {
			data[i] ^= mask
			refused("flip", i, data)
			data[i] ^= mask
		}
		refused("cut", i, data[:i])
	}
	refused("addition", len(data), append(data, 0))
}

// A file with a right checksum and wrong contents is refused as well.
func TestDecodeRefusesForgeries(t *testing.T) {
	forge := func(change func(*referenceHead)) []byte {
		r := small()
		h := referenceHead{Key: r.Key(), Spec: r.Spec, Shape: shape{2, 4, 3, 2}}
		change(&h)
		w, err := newWriter(referenceMagic, h)
		if err != nil {
			t.Fatal(err)
		}
		for c := range r.Draws {
			w.chain(r.Draws[c], r.Start[c], r.Potential[c])
		}
		return w.sum()
	}
	if _, err := Decode(forge(func(*referenceHead) {})); err != nil {
		t.Fatalf("an unchanged head is refused: %v", err)
	}
	for reason, change := range map[string]func(*referenceHead){
		"another spec":     func(h *referenceHead) { h.Spec.Seed++ },
		"too many samples": func(h *referenceHead) { h.Shape.Samples++ },
		"too few outputs":  func(h *referenceHead) { h.Shape.Outputs-- },
		"no chains":        func(h *referenceHead) { h.Shape.Chains = 0 },
		"negative size":    func(h *referenceHead) { h.Shape.Dim = -1 },
		"absurd size":      func(h *referenceHead) { h.Shape.Samples = 1 << 60 },
	} {
		if _, err := Decode(forge(change)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: error %v", reason, err)
		}
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.oracle")
	if err := os.WriteFile(path, []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if _, err := Load(path + "-missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestKeyDependsOnEveryField(t *testing.T) {
	base := NewSpec("boston", 0, "bnn")
	seen := map[string]string{base.Key(): "the base"}
	for name, change := range map[string]func(*Spec){
		"dataset": func(s *Spec) { s.Dataset = "yacht" }, "split": func(s *Spec) { s.Split = 1 },
		"model": func(s *Spec) { s.Model = "linear" }, "precision": func(s *Spec) { s.Precision = "float64" },
		"seed": func(s *Spec) { s.Seed = 2 }, "integrator": func(s *Spec) { s.Integrator = "leapfrog" },
		"h": func(s *Spec) { s.Step = 0.01 }, "friction": func(s *Spec) { s.Friction = 1 },
		"chains": func(s *Spec) { s.Chains = 6 }, "samples": func(s *Spec) { s.Samples = 100 },
		"thin": func(s *Spec) { s.Thin = 1 }, "burn-in": func(s *Spec) { s.BurnIn = 1 },
	} {
		s := base
		change(&s)
		if other, taken := seen[s.Key()]; taken {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[s.Key()] = name
	}
}
