package main

import (
	"path/filepath"
	"strings"
	"testing"

	"hambench/bench/table"
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

// made is made up: the error of each splitting under each scheme.
func made(baoabFull, obaboFull, baoab, obabo float64) *table.Table {
	rows := empty()
	add := func(integrator, scheme string, x float64) {
		rows.Add(nil, map[string]any{
			"purpose": ofSplittings, "integrator": integrator, "scheme": scheme,
			"observable": "theta.cov", "h": 0.1, "error": x,
		})
	}
	add("baoab", "full", baoabFull)
	add("obabo", "full", obaboFull)
	add("baoab", "reshuffle", baoab)
	add("obabo", "reshuffle", obabo)
	return rows
}

// empty has the columns that the claim reads.
func empty() *table.Table {
	var columns []table.Column
	for _, name := range []string{"purpose", "integrator", "scheme", "observable"} {
		columns = append(columns, table.Column{Name: name, Kind: table.Text})
	}
	return table.New(append(columns,
		table.Column{Name: "h", Kind: table.Number}, table.Column{Name: "error", Kind: table.Number})...)
}

func TestTheVerdictFollowsTheEvidence(t *testing.T) {
	for _, c := range []struct {
		what string
		rows *table.Table
		want paper.Verdict
	}{
		{"equal with mini-batches", made(0, 1, 2, 2), paper.Confirmed},
		{"different with mini-batches", made(0, 1, 1, 2), paper.Refuted},
		{"alike with the full batch, too", made(1, 1, 2, 2), paper.Refuted},
		{"nothing was run", empty(), paper.NotDecided},
	} {
		if got := decide(c.rows).Verdict; got != c.want {
			t.Errorf("%s: %s: want %s", c.what, got, c.want)
		}
	}
}
