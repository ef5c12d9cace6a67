package figures

import (
	"strings"
	"testing"

	"hambench/bench"
)

// Two chains a third of the band apart are alike, two bands apart or with one
// diverged they are not, and have no difference; a chain without its pair is neither, and so are
// two chains whose autocorrelation is too large for a verdict on either, whatever their distances.
func TestPrecisionTable(t *testing.T) {
	c := bench.Cell{Observe: bench.Distance, Dataset: "boston", Model: "bnn", Integrator: "leapfrog", Inner: 1, Friction: 5, Scheme: "full", Batches: 1, Step: 0.02, Samples: 100, Thin: 1, Seed: 1}
	study := bench.Study{Table: &bench.TableSpec{Rows: []string{"data", "split", "batch", "step", "samples"}, Columns: []string{"precision"}, Values: []string{"distance"}}, ID: "precision", Title: "Invented results"}
	m := memory{results: make(map[string]bench.Result)}
	add := func(split int, precision string, ks float64) {
		c := c
		c.Split, c.Precision = split, precision
		j := jobs(c)[0]
		study.Cells = append(study.Cells, j)
		m.results[j.Key] = bench.Result{Cell: c, Key: j.Key, KS: min(ks, 1), Diverged: ks > 1, KSSelf: 0.1, KSSelfLow: 0.07, KSSelfHigh: 0.13, KSSelfSD: 0.01}
	}
	for split, ks := range [][2]float64{{0.10, 0.12}, {0.10, 0.22}, {0.10, 2}, {2, 2}} {
		add(split, "float32", ks[0])
		add(split, "float64", ks[1])
	}
	add(4, "float32", 0.1)
	for _, precision := range []string{"float32", "float64"} {
		add(5, precision, 0.10)
	}
	for key, r := range m.results {
		if r.Cell.Split == 5 {
			r.Scores = map[string]float64{"lag1": 0.9}
			m.results[key] = r
		}
	}
	out, err := m.drawer(t.TempDir()).Draw(planOf(t, study))
	if err != nil {
		t.Fatal(err)
	}
	var verdicts, differences []string
	for _, line := range strings.Split(out.Text, "\n") {
		if strings.Contains(line, "boston") {
			fields := strings.Split(line, "|")
			verdicts = append(verdicts, strings.TrimSpace(fields[len(fields)-2]))
			differences = append(differences, strings.TrimSpace(fields[len(fields)-3]))
		}
	}
	if got := strings.Join(verdicts, " "); got != "yes NO NO – – –" {
		t.Errorf("verdicts %q, want yes NO NO – – –\n%s", got, out.Text)
	}
	if got := strings.Join(differences, " "); got != "+0.020 +0.120 – – – +0.000" {
		t.Errorf("differences %q, want none where a chain diverged\n%s", got, out.Text)
	}
	if strings.Count(out.Text, "| diverged") != 3 {
		t.Errorf("want three diverged chains shown:\n%s", out.Text)
	}
}

// Distances to different truths are not compared: of levels that differ in what judges or what is
// sampled, a table has neither difference nor verdict, nor a self-distance of both.
func TestDistancesToDifferentTruthsAreNotCompared(t *testing.T) {
	more := func(name string, v any) func(*bench.Cell) {
		return func(c *bench.Cell) { c.More = map[string]any{name: v} }
	}
	for column, c := range map[string]struct {
		change func(*bench.Cell)
		same   bool
	}{
		"integrator":   {func(c *bench.Cell) { c.Integrator = "mt3" }, true},
		"samples":      {func(c *bench.Cell) { c.Samples = 400 }, true},
		"data":         {func(c *bench.Cell) { c.Dataset, c.Oracle = "yacht", bench.Analytic }, false},
		"split":        {func(c *bench.Cell) { c.Split = 9 }, false},
		"model":        {func(c *bench.Cell) { c.Model = "bnn:5" }, false},
		"precision":    {func(c *bench.Cell) { c.Precision, c.Oracle = "float64", "another" }, false},
		"temperature":  {more("temperature", 4.0), false},
		"localisation": {more("localisation", 3.0), false},
		// A level without chains on one of the splits has a mean over others.
		"friction": {func(c *bench.Cell) { c.Friction, c.Split = 50, 0 }, false},
	} {
		var cells []bench.Cell
		for split := range 2 {
			one := cell("leapfrog", split, 8, 0.1)
			one.Oracle = "reference"
			other := one
			c.change(&other)
			cells = append(cells, one, other)
		}
		switch column {
		case "split":
			cells = cells[:2]
		case "friction":
			cells = cells[:3]
		}
		p := planOf(t, bench.Study{ID: "own", Cells: jobs(cells...)})
		p.Table = &bench.TableSpec{Rows: []string{"batch"}, Columns: []string{column}, Values: []string{distance}}
		table := made(t, p, stored(p.Cells, tenth)).Tables[0]
		var labels []string
		for _, c := range table.Columns {
			labels = append(labels, c.Label)
		}
		notes, shown := strings.Join(table.Notes, " "), strings.Join(labels[3:], "|")
		want := map[bool]string{true: "Δ|self-distance (5–95 %)|alike"}[c.same]
		if shown != want || strings.Contains(notes, "Kolmogorov distances are to the same truth.") != c.same ||
			strings.Contains(notes, "Distances are each to its own truth.") == c.same || strings.Contains(notes, "Alike: ") != c.same {
			t.Errorf("by %s: columns %q, notes %q", column, shown, notes)
		}
		columns := strings.Join(table.Data.Columns[3:], ",")
		if !strings.HasPrefix(columns, "difference,self_distance,self_distance_p05,self_distance_p95,diverged_") || !strings.HasSuffix(columns, ",alike") {
			t.Errorf("by %s: columns for programs %s", column, columns)
		}
		for i, v := range table.Data.Rows[0][3:7] {
			if (v != nil) != c.same {
				t.Errorf("by %s: %s is %v", column, table.Data.Columns[3+i], v)
			}
		}
	}
}
