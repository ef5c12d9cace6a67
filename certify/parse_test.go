package certify

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/certify/spectral"
	"hambench/usage"
)

const (
	goodGaussian = `{"kind": "gaussian", "friction": 2.0, "batches": [{"precision": [[2.0, 0.3], [0.3, 1.5]], "shift": [1.0, -0.5]}, {"precision": [[1.0, 0.0], [0.0, 2.5]], "shift": [0.0, 0.7]}]}`
	goodScalar   = `{"kind": "scalar", "friction": 1.5, "batches": [{"stiffness": 0.6, "center": 0.8, "amplitude": 0.7, "frequency": 1.5, "phase": 0.3}, {"stiffness": 1.4, "center": -0.5, "amplitude": 0.1, "frequency": 1.5, "phase": -0.9}]}`
)

func TestParseProblem(t *testing.T) {
	p, err := ParseProblem("dir/two.json", []byte(goodGaussian))
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "two" || p.Kind != Gaussian || p.Batches() != 2 || p.Dim() != 2 || p.Friction != 2 {
		t.Errorf("got %+v", p)
	}
	if f := p.gaussian[1]; f.Precision[3] != 2.5 || f.Shift[1] != 0.7 {
		t.Errorf("second batch %+v", f)
	}
	p, err = ParseProblem("s.json", []byte(goodScalar))
	if err != nil {
		t.Fatal(err)
	}
	if o := p.scalar[0]; o != (spectral.Oscillator{Stiffness: 0.6, Center: 0.8, Amplitude: 0.7, Frequency: 1.5, Phase: 0.3}) || p.Dim() != 1 {
		t.Errorf("first batch %+v", o)
	}
}

// TestParseProblemRefuses: one line that names the file, the batch, what was
// wrong and what is allowed.
func TestParseProblemRefuses(t *testing.T) {
	replace := func(s, old, new string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("%q is not in the problem", old)
		}
		return strings.Replace(s, old, new, 1)
	}
	for _, c := range []struct {
		reason, data string
		says         []string
	}{
		{"empty", "", []string{"end of JSON"}},
		{"cut off", goodGaussian[:40], []string{"end of JSON"}},
		{"an array", "[]", []string{"JSON"}},
		{"something after", goodGaussian + "1", []string{"after"}},
		{"unknown kind", replace(goodGaussian, "gaussian", "gausian"), []string{"gausian", "gaussian, scalar"}},
		{"unknown field", replace(goodGaussian, "friction", "fricton"), []string{"fricton"}},
		{"unknown field of a batch", replace(goodScalar, "phase", "fase"), []string{"batch 1", "fase"}},
		{"batch of the other kind", replace(goodScalar, `"scalar"`, `"gaussian"`), []string{"batch 1", "stiffness"}},
		{"no friction", replace(goodGaussian, `"friction": 2.0,`, ""), []string{"friction", "> 0"}},
		{"friction 0", replace(goodGaussian, "2.0,", "0,"), []string{"friction", "> 0"}},
		{"friction below 0", replace(goodGaussian, "2.0,", "-1,"), []string{"friction", "> 0"}},
		{"friction that overflows", replace(goodGaussian, "2.0,", "1e999,"), []string{"1e999"}},
		{"NaN", replace(goodGaussian, "2.0,", "NaN,"), []string{"JSON"}},
		{"no batches", `{"kind": "scalar", "friction": 1, "batches": []}`, []string{"batches", "at least 1"}},
		{"batches missing", `{"kind": "scalar", "friction": 1}`, []string{"batches", "at least 1"}},
		{"a batch that is null", `{"kind": "scalar", "friction": 1, "batches": [null, {"stiffness": 1}]}`, []string{"null"}},
		{"a null among numbers", replace(goodGaussian, "[2.0, 0.3], [0.3, 1.5]", "[2.0, null], [null, 1.5]"), []string{"null"}},
		{"not symmetric", replace(goodGaussian, "[0.3, 1.5]", "[0.2, 1.5]"), []string{"batch 1", "not symmetric", "(1,2) = 0.3"}},
		{"not positive definite", replace(goodGaussian, "[1.0, 0.0]", "[-3.0, 0.0]"), []string{"mean precision of the batches", "positive definite"}},
		{"a short row", replace(goodGaussian, "[0.3, 1.5]", "[0.3]"), []string{"batch 1", "row 2", "want 2"}},
		{"a short shift", replace(goodGaussian, "[1.0, -0.5]", "[1.0]"), []string{"batch 1", "shift", "want 2"}},
		{"batches of two sizes", replace(goodGaussian, `[[1.0, 0.0], [0.0, 2.5]]`, "[[1.0]]"), []string{"batch 2", "want 2"}},
		{"mean stiffness below 0", replace(goodScalar, "0.6", "-1.5"), []string{"mean stiffness", "> 0"}},
		{"derivatives that overflow", replace(goodScalar, `"frequency": 1.5`, `"frequency": 1e200`), []string{"batch 1", "overflows"}},
	} {
		_, err := ParseProblem("bad.json", []byte(c.data))
		var bad *usage.Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v is not a usage error", c.reason, err)
			continue
		}
		for _, want := range append(c.says, "bad.json") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.reason, err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q has more than one line", c.reason, err)
		}
	}
}

func TestLoadProblem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(path, []byte(goodScalar), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadProblem(path); err != nil {
		t.Error(err)
	}
	var bad *usage.Error
	if _, err := LoadProblem(path + "x"); !errors.As(err, &bad) {
		t.Errorf("%v is not a usage error", err)
	}
}
