package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/gate"
	"hambench/bench/store"
	"hambench/bench/table"
	"hambench/models"
	"hambench/models/datasets"
)

// exported are the rows of a profile's export, with distances from 0.05 to 0.55.
func exported(t *testing.T, p bench.Profile) *table.Table {
	t.Helper()
	studies, err := bench.Studies(p, datasets.Builtin(), models.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	results := make(stored)
	var plans []bench.Plan
	for _, s := range studies {
		for i := range s.Cells {
			key := fmt.Sprint(len(results))
			s.Cells[i].Key = key
			results[key] = bench.Result{Cell: s.Cells[i].Cell, Key: key, KS: 0.05 + 0.5*rng.Float64(), KSSelf: 0.085, Gradients: 1000, Seconds: 1}
		}
		plans = append(plans, bench.Plan{Study: s})
	}
	return bench.Results{Store: results}.Table(plans).Where("record", bench.CellRecord)
}

// stored holds results, by key.
type stored map[string]bench.Result

func (s stored) Get(_ store.Kind, key string) (store.Record, bool) {
	r, ok := s[key]
	if !ok {
		return store.Record{}, false
	}
	record, err := store.NewRecord(store.Result, r.Key, r.Seconds, r.Made, r)
	return record, err == nil
}

// threshold is the change of one distance, alone, that the gate finds in nine of
// ten runs (docs/gate.md): what counts, or 1.64 + 1.28 standard errors.
func threshold(ks, self float64) float64 {
	noise := 0.1 * max(ks, self)
	if ks > 2*self {
		noise = ks
	}
	return max(0.03*max(1, ks/0.1), (1.64+1.28)*math.Sqrt2*noise)
}

// everyCell takes a quarter of a minute a thousand cells.
var everyCell = flag.Bool("every-cell", false, "raise every cell of quick and standard, not a sample")

// TestExportGatesAgainstItself, for every profile; and with one distance raised
// by twice the threshold, that cell has moved, whichever it is, and no other.
func TestExportGatesAgainstItself(t *testing.T) {
	for _, p := range bench.Profiles() {
		if p.Name != "quick" && !*everyCell {
			continue // the same code on more rows, in make verdicts
		}
		rows := exported(t, p)
		export := func() gate.Run {
			var b bytes.Buffer
			if err := bench.WriteCSV(&b, rows); err != nil {
				t.Fatal(err)
			}
			return gate.Run{Name: p.Name, Data: b.Bytes()}
		}
		old := export()
		compare := func() *gate.Report {
			r, err := gate.Compare(old, export(), gate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := compare(); r.Err() != nil || r.Equal != r.Compared {
			t.Errorf("%s against itself: %v, %d of %d equal", p.Name, r.Err(), r.Equal, r.Compared)
		}
		// The last columns of scores were added after exports had been kept.
		var earlier strings.Builder
		for line := range strings.Lines(string(old.Data)) {
			fields := strings.Split(line, ",")
			earlier.WriteString(strings.Join(fields[:len(fields)-6], ",") + "\n")
		}
		if r, err := gate.Compare(gate.Run{Name: "earlier", Data: []byte(earlier.String())}, export(), gate.Options{}); err != nil || r.Err() != nil || r.Equal != r.Compared {
			t.Errorf("%s against an earlier version's export: %v, %v", p.Name, r, err)
		}
		rng := rand.New(rand.NewPCG(8, 8))
		chosen := rng.Perm(rows.Len())
		if !*everyCell || rows.Len() > 5000 {
			chosen = chosen[:5]
		}
		for _, i := range chosen {
			row := &rows.Rows()[i]
			was := row.Source.(bench.Result)
			raised := was
			raised.KS += 2 * threshold(was.KS, was.KSSelf)
			row.Source = raised
			r := compare()
			if len(r.Moved) != 1 || !isNameOf(r.Moved[0].Where, *row) {
				t.Errorf("%s: row %d raised from %g to %g: moved %+v, undecided %+v", p.Name, i, was.KS, raised.KS, r.Moved, r.Undecided)
			}
			row.Source = was
		}
	}
}

// isNameOf reports whether the gate's name of a cell is a row's.
func isNameOf(where string, r table.Row) bool {
	fields, c := strings.Fields(where), r.Source.(bench.Result).Cell
	friction := float64(c.Friction)
	for _, f := range []string{
		"experiment=" + r.Text("study"), "dataset=" + c.Dataset, "model=" + c.Model, "precision=" + c.Precision, "integrator=" + c.Integrator,
		fmt.Sprint("nl=", c.Inner), "scheme=" + c.Scheme, fmt.Sprint("K=", c.Batches), fmt.Sprint("batch=", c.BatchSize), fmt.Sprint("h=", c.Step),
	} {
		if !strings.HasSuffix(f, "=") && !slices.Contains(fields, f) { // what is empty is not named
			return false
		}
	}
	return friction == 0 || math.IsInf(friction, 1) || slices.Contains(fields, fmt.Sprint("friction=", friction))
}

// TestGateExitCodes: they are those of the help.
func TestGateExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	export := func(ks string) string {
		return "experiment,dataset,split,h,ks,diverged\nmine,own,0,0.1," + ks + ",false\n"
	}
	old := write("old.csv", export("0.1"))
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"same.csv", export("0.1"), exitOK},
		{"worse.csv", export("0.2"), exitFailed},
		{"prose.txt", "all is well\n", exitUsage},
		{"benchmarks.txt", "BenchmarkX 1 5 ns/op\n", exitUsage},
		{"noise.csv", export("0.12"), exitUndecided},
	} {
		var out, errs bytes.Buffer
		if got := run(t.Context(), &out, &errs, []string{"gate", old, write(c.name, c.text)}); got != c.want {
			t.Errorf("%s: exit code %d, want %d\n%s%s", c.name, got, c.want, &out, &errs)
		}
		if c.want == exitUsage && !strings.Contains(errs.String(), "benchmarks: benchstat") {
			t.Errorf("%s: %s; want what can be compared, and with what benchmarks can be", c.name, &errs)
		}
	}
}
