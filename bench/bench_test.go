package bench

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

	"hambench/datasets"
	"hambench/models"
	"hambench/oracle"
)

// The sweep of BenchmarkMethods; a list has commas, and narrows it:
//
//	go test -run xxx -bench . ./bench -dataset boston,linear -K 57,1 -integrator leapfrog,mt3
var (
	benchDatasets    = flag.String("dataset", strings.Join(append(UCI(), "linear"), ","), "data sets of BenchmarkMethods")
	benchSplits      = flag.String("split", "0", "splits of BenchmarkMethods")
	benchIntegrators = flag.String("integrator", "sghmc,leapfrog,symmetric,lietrotter,mt3", "integrators of BenchmarkMethods")
	benchBatches     = flag.String("K", "", "numbers of batches of BenchmarkMethods (default those of batch sizes 8, 32, and full)")
	benchSteps       = flag.String("step", "", "steps h of BenchmarkMethods (default the two largest of the quick profile's)")
	benchSamples     = flag.Int("samples", 25, "samples per chain of BenchmarkMethods")
	benchStore       = flag.String("store", "", "store with oracles to judge by (default: short ones are made)")
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
	s := newSweep(b)
	for _, p := range s.problems(b, strings.Split(*benchDatasets, ",")) {
		for _, split := range numbers(b, *benchSplits) {
			for _, k := range s.batches(b, p) {
				for _, h := range s.steps(b, p, k) {
					for _, integrator := range strings.Split(*benchIntegrators, ",") {
						c := s.cell(p, split, k, h, integrator)
						b.Run(benchName(c), func(b *testing.B) { s.run(b, c) })
					}
				}
			}
		}
	}
}

// benchName has numbers as decimals, never exponents, and a word last: a
// benchmark name that ends in -3 is read as run on three processors.
func benchName(c Cell) string {
	return fmt.Sprintf("dataset=%s/split=%d/K=%d/h=%s/integrator=%s", c.Dataset, c.Split, c.Batches, decimal(c.Step), c.Integrator)
}

// benchSpec is a reference that takes seconds: two chains of the default
// number of samples, h = 0.005, burn-in of 10 units of time.
func benchSpec(dataset string, split int, model string) oracle.Spec {
	s := oracle.NewSpec(dataset, split, model)
	s.Chains, s.Samples, s.Thin, s.BurnIn = 2, 25, 100, 2000
	return s
}

// sweep holds what the sub-benchmarks share.
type sweep struct {
	data   *Data
	store  *Store // nil: short oracles
	truths map[string]oracle.Truth
}

func newSweep(b *testing.B) *sweep {
	if dir := dataFolder(); dir != "" {
		b.Setenv(datasets.EnvData, dir)
	}
	r, err := datasets.NewResolver("")
	if err != nil {
		b.Fatal(err)
	}
	s := &sweep{data: NewData(r), truths: make(map[string]oracle.Truth)}
	if *benchStore != "" {
		if s.store, err = Read(*benchStore); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// problems returns the problems of data sets. The built-in ones take the
// place of those whose data cannot be had.
func (s *sweep) problems(b *testing.B, names []string) []Problem {
	var out []Problem
	for _, name := range names {
		p, ok := LookupProblem(name)
		if !ok {
			b.Fatalf("unknown data set %q: want one of %s", name, strings.Join(datasets.Builtin().Names(), ", "))
		}
		missing, err := s.data.Unavailable(b.Context(), name)
		if err != nil {
			b.Fatal(err)
		}
		if len(missing) > 0 {
			b.Logf("no data for %s: %s takes its place", name, teacher(p.Task).Dataset)
			p = teacher(p.Task)
		}
		if !slices.ContainsFunc(out, func(q Problem) bool { return q.Dataset == p.Dataset }) {
			out = append(out, p)
		}
	}
	return out
}

func (s *sweep) batches(b *testing.B, p Problem) []int {
	if *benchBatches != "" {
		return numbers(b, *benchBatches)
	}
	return []int{Batches(p.Rows, 8), Batches(p.Rows, 32), 1}
}

// steps are those of -step, or the two largest that the quick profile has
// for the data set and the batch size, or else for the smallest one.
func (s *sweep) steps(b *testing.B, p Problem, k int) []float64 {
	if *benchSteps != "" {
		var out []float64
		for _, w := range strings.Split(*benchSteps, ",") {
			h, err := strconv.ParseFloat(w, 64)
			if err != nil {
				b.Fatalf("-step %q: want numbers, with commas between", *benchSteps)
			}
			out = append(out, h)
		}
		return out
	}
	size := Cell{Dataset: p.Dataset, Batches: k}.BatchSize()
	var found []float64
	for _, block := range Profiles()[0].Sweeps {
		if block.covers(p) && (found == nil || slices.Contains(block.BatchSizes, size)) {
			found = block.Steps
		}
	}
	return found[max(0, len(found)-2):]
}

func (s *sweep) cell(p Problem, split, k int, h float64, integrator string) Cell {
	g := grid{Profile: Profile{Precision: "float32"}}
	c := g.cell(p, split, settings{integrator: integrator, friction: paperFriction, step: h, samples: *benchSamples})
	c.Batches, c.BurnIn = k, c.Thin
	if k > 1 {
		c.Scheme = "reshuffle"
	}
	return c
}

// truth returns the oracle of a cell, made or read at its first use.
func (s *sweep) truth(b *testing.B, c *Cell) oracle.Truth {
	if c.Oracle != Analytic && s.store == nil {
		c.Oracle = benchSpec(c.Dataset, c.Split, c.Model).Key()
	}
	key := c.Oracle + c.Dataset
	if t, ok := s.truths[key]; ok {
		return t
	}
	t, err := s.makeTruth(b.Context(), *c)
	if err != nil {
		b.Fatal(err)
	}
	s.truths[key] = t
	return t
}

func (s *sweep) makeTruth(ctx context.Context, c Cell) (oracle.Truth, error) {
	newTarget := func() (models.Target, error) {
		t, _, err := s.data.Target(ctx, c.Dataset, c.Split, c.Model, c.Precision)
		return t, err
	}
	switch {
	case c.Oracle == Analytic:
		t, err := newTarget()
		if err != nil {
			return nil, err
		}
		return oracle.NewAnalytic(c.Model, t, c.Samples)
	case s.store != nil:
		r, err := s.store.Reference(c.Oracle)
		if err == nil && r == nil {
			err = fmt.Errorf("store %s has no oracle of %s, split %d: hambench oracle makes it", s.store.Dir(), c.Dataset, c.Split)
		}
		return r, err
	}
	return oracle.Build(ctx, newTarget, benchSpec(c.Dataset, c.Split, c.Model), oracle.Options{Workers: 2})
}

// run is one benchmark: b.N chains with seeds of their own.
func (s *sweep) run(b *testing.B, c Cell) {
	in := Inputs{Truth: s.truth(b, &c)}
	b.ResetTimer()
	var sum Result
	var diverged, samples float64
	for i := range b.N {
		c.Seed = uint64(1 + i)
		var err error
		if in.Target, _, err = s.data.Target(b.Context(), c.Dataset, c.Split, c.Model, c.Precision); err != nil {
			b.Fatal(err)
		}
		r, err := Compute(b.Context(), c, in)
		if err != nil {
			b.Fatal(err)
		}
		sum.KS += r.KS
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
