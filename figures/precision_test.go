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
