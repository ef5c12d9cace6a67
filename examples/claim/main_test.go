package main

import (
	"path/filepath"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/certify"
	"hambench/paper"
)

func TestTheClaimIsDecidedByWhatTheStoreHolds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := collect(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	decisions, err := judge(&out, dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := decisions[0]; d.Verdict != paper.Confirmed || len(d.Numbers) != 2 {
		t.Errorf("verdict %s, %d numbers: want confirmed, 2\n%s", d.Verdict, len(d.Numbers), out.String())
	}
}

// evidence is made up: the error of each splitting under each scheme.
func evidence(baoabFull, obaboFull, baoab, obabo float64) *paper.Evidence {
	e := &paper.Evidence{}
	add := func(integrator, scheme string, x float64) {
		e.Exact = append(e.Exact, bench.Evidence{Purpose: ofSplittings, Row: certify.Row{
			Integrator: integrator, Scheme: scheme,
			Observables: []certify.Observable{{Name: "theta.cov", Errors: []certify.Number{certify.Number(x)}}},
		}})
	}
	add("baoab", "full", baoabFull)
	add("obabo", "full", obaboFull)
	add("baoab", "reshuffle", baoab)
	add("obabo", "reshuffle", obabo)
	return e
}

func TestTheVerdictFollowsTheEvidence(t *testing.T) {
	for _, c := range []struct {
		what string
		e    *paper.Evidence
		want paper.Verdict
	}{
		{"equal with mini-batches", evidence(0, 1, 2, 2), paper.Confirmed},
		{"different with mini-batches", evidence(0, 1, 1, 2), paper.Refuted},
		{"alike with the full batch, too", evidence(1, 1, 2, 2), paper.Refuted},
		{"nothing was run", &paper.Evidence{}, paper.NotDecided},
	} {
		if got := decide(c.e).Verdict; got != c.want {
			t.Errorf("%s: %s: want %s", c.what, got, c.want)
		}
	}
}
