package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/certify"
	"hambench/integrators"
)

// The full batch and reshuffled ones keep order 2, batches drawn with
// replacement order 1 at most: none of the claims is refuted.
func TestMemoryKeepsItsClaims(t *testing.T) {
	var out strings.Builder
	rows, err := decide(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	if len(rows) != 3 {
		t.Fatalf("%d rows: want one for each of three schemes", len(rows))
	}
	for _, r := range rows {
		for _, o := range r.Observables {
			if o.Verdict != certify.Confirmed && o.Verdict != certify.Exact {
				t.Errorf("%s, %s: %s: want confirmed or exact", r.Scheme, o.Name, o.Verdict)
			}
		}
	}
}

// A scheme with a wrong coefficient is refuted: here the friction's noise is
// of half a step's variance, and the decay of a whole one's.
func TestAWrongCoefficientIsRefuted(t *testing.T) {
	wrong := memory()
	right := wrong.New
	wrong.New = func(dim int, p integrators.Params) (*integrators.Instance, error) {
		in, err := right(dim, p)
		if err == nil {
			for i := range in.Kernel.(*step).decay {
				in.Kernel.(*step).decay[i] *= in.Kernel.(*step).decay[i]
			}
		}
		return in, err
	}
	full, err := certify.Schemes("full")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := certify.Run(t.Context(), certify.Options{Problem: certify.Builtin()[0], Integrators: []integrators.Integrator{wrong}, Schemes: full})
	if err != nil {
		t.Fatal(err)
	}
	refuted := false
	for _, o := range rows[0].Observables {
		refuted = refuted || o.Verdict == certify.Refuted
	}
	if !refuted {
		t.Error("no observable is refuted")
	}
}

func TestMemoryRunsInASweep(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := compare(t.Context(), &out, dir); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	for _, line := range []string{"leapfrog", "memory", "memory, coupling = 20"} {
		if n := strings.Count(out.String(), "| "+line+" "); n != 6 {
			t.Errorf("%d rows of %s: want 6, three steps and two batch sizes", n, line)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "memory.png")); err != nil {
		t.Error(err)
	}
}
