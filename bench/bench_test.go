package bench_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/chain"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// The sweep of BenchmarkMethods; a list has commas, and narrows it:
//
//	go test -run xxx -bench . ./bench -dataset boston,linear -K 57,1 -integrator leapfrog,mt3
var (
	benchDatasets    = flag.String("dataset", "boston,concrete,energy,yacht,ionosphere,vehicle,linear", "data sets of BenchmarkMethods")
	benchSplits      = flag.String("split", "0", "splits of BenchmarkMethods")
	benchIntegrators = flag.String("integrator", "sghmc,leapfrog,symmetric,lietrotter,mt3", "integrators of BenchmarkMethods")
	benchBatches     = flag.String("K", "", "numbers of batches of BenchmarkMethods (default those of batch sizes 8, 32, and full)")
	benchSteps       = flag.String("step", "", "steps h of BenchmarkMethods (default the two largest of the quick profile's)")
	benchSamples     = flag.Int("samples", 25, "samples per chain of BenchmarkMethods")
	benchStore       = flag.String("store", "", "store with references to judge by (default: short ones are made)")
)

// BenchmarkMethods runs short chains of every method at several numbers of
// batches across the data sets. One iteration is one whole chain with a seed
// of its own: 2.5 units of time burn-in from an oracle draw, then -samples
// predictive draws, 2.5 units of time apart. Beside the time it reports
//
//	ks           mean Kolmogorov distance to the oracle, 1 for a diverged chain
//	ks_floor     the distance that as many exact draws would have, on average
//	diverged     fraction of the chains that diverged
//	gradients/s  gradients over a mini-batch
//	samples/s
//
// Without -store the oracle is a short one (see benchSpec): good for
// comparing methods with each other, not for absolute distances.
func BenchmarkMethods(b *testing.B) {
	m := newMethods(b)
	for _, d := range m.datasets(b, strings.Split(*benchDatasets, ",")) {
		for _, split := range numbers(b, *benchSplits) {
			for _, k := range batches(b, d) {
				for _, h := range m.steps(b, d, k) {
					for _, integrator := range strings.Split(*benchIntegrators, ",") {
						c := cell(d, split, k, h, integrator)
						b.Run(benchName(c), func(b *testing.B) { m.run(b, c) })
					}
				}
			}
		}
	}
}

// benchName has numbers as decimals, never exponents, and a word last: a
// benchmark name that ends in -3 is read as run on three processors.
func benchName(c bench.Cell) string {
	return fmt.Sprintf("dataset=%s/split=%d/K=%d/h=%s/integrator=%s", c.Dataset, c.Split, c.Batches, strconv.FormatFloat(c.Step, 'f', -1, 64), c.Integrator)
}

// benchSpec is a reference that takes seconds: two chains of the default
// number of samples, h = 0.005, burn-in of 10 units of time.
func benchSpec(dataset string, split int, model string) oracle.Spec {
	s := oracle.NewSpec(dataset, split, model)
	s.Chains, s.Samples, s.Thin, s.BurnIn, s.MaxError = 2, 25, 100, 2000, 1
	return s
}

// methods holds what the sub-benchmarks share.
type methods struct {
	source *models.Source
	store  *store.Store // nil: short references
	keys   bench.Keys
	truths map[string]oracle.Truth
}

func newMethods(b *testing.B) *methods {
	r, err := datasets.NewResolver("")
	if err != nil {
		b.Fatal(err)
	}
	m := &methods{source: models.NewSource(nil, r), truths: make(map[string]oracle.Truth)}
	m.keys.Source = m.source
	if *benchStore != "" {
		if m.store, err = store.Read(*benchStore, sweep.Here()); err != nil {
			b.Fatal(err)
		}
	}
	return m
}

// datasets looks up data sets. Built-in ones stand in for those that cannot be
// had.
func (m *methods) datasets(b *testing.B, names []string) []datasets.Dataset {
	missing, err := m.source.Unavailable(b.Context(), names...)
	if err != nil {
		b.Fatal(err)
	}
	if len(missing) > 0 {
		b.Log(m.source.Datasets().MissingNote(missing))
	}
	var out []datasets.Dataset
	for _, name := range m.source.Datasets().StandIns(names, missing) {
		d, err := m.source.Datasets().Lookup(name)
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

func batches(b *testing.B, d datasets.Dataset) []int {
	if *benchBatches != "" {
		return numbers(b, *benchBatches)
	}
	return []int{chain.Batches(d.TrainRows, 8), chain.Batches(d.TrainRows, 32), 1}
}

// steps are those of -step, or the two largest that quick's methods have for
// the data set and the number of batches, or else for any number.
func (m *methods) steps(b *testing.B, d datasets.Dataset, k int) []float64 {
	var steps []float64
	if *benchSteps != "" {
		for _, w := range strings.Split(*benchSteps, ",") {
			h, err := strconv.ParseFloat(w, 64)
			if err != nil {
				b.Fatalf("-step %q: want numbers, with commas between", *benchSteps)
			}
			steps = append(steps, h)
		}
		return steps
	}
	quick, err := bench.LookupProfile("quick")
	if err != nil {
		b.Fatal(err)
	}
	quick.Only = []string{"methods"}
	studies, err := bench.Studies(quick, m.source.Datasets(), m.source.Models())
	if err != nil {
		b.Fatal(err)
	}
	for _, j := range studies[0].Cells {
		if c := j.Cell; c.Dataset == d.Name && (c.Batches == k || steps == nil) && !slices.Contains(steps, c.Step) {
			steps = append(steps, c.Step)
		}
	}
	slices.Sort(steps)
	return steps[max(0, len(steps)-2):]
}

func cell(d datasets.Dataset, split, k int, h float64, integrator string) bench.Cell {
	plan := chain.PaperPlan(h, *benchSamples)
	c := bench.Cell{
		Observe: bench.Distance, Dataset: d.Name, Split: split, Model: d.Model, Integrator: integrator, Inner: 1, Friction: 5,
		Scheme: chain.DefaultScheme(k), Batches: k, Step: h, Samples: plan.Samples, Thin: plan.Thin, BurnIn: plan.Thin, Precision: "float32",
	}
	return c
}

// truth returns the oracle of a cell, made or read at its first use.
func (m *methods) truth(b *testing.B, c bench.Cell) oracle.Truth {
	key := fmt.Sprint(c.Dataset, c.Split)
	if t, ok := m.truths[key]; ok {
		return t
	}
	t, err := m.makeTruth(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	m.truths[key] = t
	return t
}

func (m *methods) makeTruth(ctx context.Context, c bench.Cell) (oracle.Truth, error) {
	newTarget := func() (models.Target, error) {
		return m.source.Target(ctx, c.Dataset, c.Split, c.Model, models.Options{Precision: c.Precision})
	}
	t, err := newTarget()
	if err != nil {
		return nil, err
	}
	if _, exact := t.(models.Analytic); exact {
		return oracle.NewAnalytic(c.Model, t)
	}
	if m.store == nil {
		return oracle.Build(ctx, newTarget, benchSpec(c.Dataset, c.Split, c.Model), oracle.Options{Workers: 2})
	}
	key, err := m.keys.Reference(ctx, oracle.NewSpec(c.Dataset, c.Split, c.Model))
	if err != nil {
		return nil, err
	}
	r, _ := sweep.LoadReference(m.store, key)
	if r == nil {
		return nil, fmt.Errorf("store %s has no reference of %s, split %d: hambench judge --checks makes it", m.store.Dir(), c.Dataset, c.Split)
	}
	return r, nil
}

// run is one benchmark: b.N chains with seeds of their own.
func (m *methods) run(b *testing.B, c bench.Cell) {
	in := sweep.Inputs{Truth: m.truth(b, c)}
	b.ResetTimer()
	var sum bench.Result
	var diverged, samples float64
	for i := range b.N {
		c.Seed = uint64(1 + i)
		var err error
		if in.Target, err = m.source.Target(b.Context(), c.Dataset, c.Split, c.Model, models.Options{Precision: c.Precision}); err != nil {
			b.Fatal(err)
		}
		r, err := sweep.Compute(b.Context(), c, in)
		if err != nil {
			b.Fatal(err)
		}
		sum.KS += r.KS
		sum.KSSelf += r.KSSelf
		sum.Gradients += r.Gradients
		if r.Diverged {
			diverged++
		} else {
			samples += float64(c.Samples)
		}
	}
	b.ReportMetric(sum.KS/float64(b.N), "ks")
	b.ReportMetric(in.Truth.SelfDistanceOf(c.Samples).Mean, "ks_floor")
	b.ReportMetric(diverged/float64(b.N), "diverged")
	b.ReportMetric(float64(sum.Gradients)/b.Elapsed().Seconds(), "gradients/s")
	b.ReportMetric(samples/b.Elapsed().Seconds(), "samples/s")
}

func numbers(b *testing.B, list string) []int {
	var out []int
	for _, w := range strings.Split(list, ",") {
		n, err := strconv.Atoi(w)
		if err != nil {
			b.Fatalf("%q: want whole numbers, with commas between", list)
		}
		out = append(out, n)
	}
	return out
}

// The output of BenchmarkMethods itself, run by this test binary, is read
// whole by the standard reader.
func TestBenchmarkOutputParses(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=Methods", "-test.benchtime=1x", "-dataset=linear", "-K=32,1", "-step=0.1,0.05", "-samples=10")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	reader := benchfmt.NewReader(bytes.NewReader(out), "output")
	var names []string
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("not in the benchmark format: %v", rec)
		case *benchfmt.Result:
			base, parts := rec.Name.Parts()
			names = append(names, rec.Name.String())
			if string(base) != "Methods" || len(parts) < 5 {
				t.Errorf("name %q: base %q, %d parts", rec.Name, base, len(parts))
			}
			if ks, ok := rec.Value("ks"); !ok || !(ks > 0 && ks <= 1) {
				t.Errorf("%s: ks = %v, %v", rec.Name, ks, ok)
			}
			if rate, ok := rec.Value("gradients/s"); !ok || !(rate > 0) {
				t.Errorf("%s: gradients/s = %v, %v", rec.Name, rate, ok)
			}
		}
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	if len(names) != 2*2*5 {
		t.Errorf("%d results, want 20: %v", len(names), names)
	}
	if i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, "/h=0.05/integrator=mt3") }); i < 0 {
		t.Errorf("no result of mt3 at h=0.05: %v", names)
	}
}
