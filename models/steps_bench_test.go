package models_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/kernel"
	"hambench/models"
	"hambench/models/datasets"
)

// newChain returns a chain on a built-in data set, and its state, under
// reshuffled batches of a size.
func newChain(t testing.TB, dataset string, o models.Options, m integrators.Integrator, size int, step float64) (*chain.Sampler, *integrators.Instance, *integrators.State) {
	t.Helper()
	set, err := (&datasets.Resolver{Offline: true}).Load(t.Context(), dataset)
	must(t, err)
	split, err := set.Split(0)
	must(t, err)
	target, err := models.Builtin().New(set.Model, split, o)
	must(t, err)
	c, err := chain.Registries{Integrators: integrators.Registry{m}}.New(target, chain.Spec{
		Integrator: m.Name, Params: integrators.Params{Step: step, Friction: 5},
		Scheme: "reshuffle", Batches: target.Rows() / size, Key: 1,
	})
	must(t, err)
	return c, c.Integrator(), integrators.NewState(target.Dim())
}

// A step of any integrator allocates nothing under the chain's loop, while it
// adapts and after. Warming up is one epoch, which meets batches of all sizes.
func TestStepsAllocateNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	check := func(what string, dataset string, o models.Options, m integrators.Integrator, size int) {
		t.Helper()
		c, in, z := newChain(t, dataset, o, m, size, 1e-6)
		advance := func(steps int) {
			if err := c.Advance(ctx, z, steps); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		advance(100)
		for _, phase := range []string{"adapting", "frozen"} {
			if n := testing.AllocsPerRun(2, func() { advance(10) }); n != 0 {
				t.Errorf("%s, %s: %g allocations in 10 steps, want 0", what, phase, n)
			}
			in.Freeze()
		}
	}
	for _, m := range integrators.Builtin() {
		if m.Needs.Affine {
			check(m.Name+" on toy", "toy", models.Options{}, m, 1)
			continue
		}
		check(m.Name+" on linear", "linear", models.Options{}, m, 8)
		for _, p := range []string{"float32", "float64"} {
			check(m.Name+" on a network, "+p, "teacher-reg", models.Options{Precision: p}, m, 32)
		}
	}
}

// A chain whose network leaves the prior's part out, and in float32 hands
// positions and gradients on, must be that of the same network asked for all of
// the gradient, in doubles: to the last bit, but for mt3, which adds the
// prior's part in other places.
func TestFastStepsAreThePlainOnes(t *testing.T) {
	run := func(precision string, m integrators.Integrator, inner, size int, hide bool) *integrators.State {
		set, err := (&datasets.Resolver{Offline: true}).Load(t.Context(), "teacher-reg")
		must(t, err)
		split, err := set.Split(0)
		must(t, err)
		target, err := models.Builtin().New("bnn", split, models.Options{Precision: precision})
		must(t, err)
		if hide {
			target = struct{ models.Hessian }{target.(models.Hessian)}
		}
		c, err := chain.Registries{Integrators: integrators.Registry{m}}.New(target, chain.Spec{
			Integrator: m.Name, Params: integrators.Params{Step: 1e-3, Friction: 5, Inner: inner},
			Batches: target.Rows() / size, Key: 1,
		})
		must(t, err)
		z := integrators.NewState(target.Dim())
		noise.New(2, noise.StreamStart).Normal(z.Theta)
		must(t, c.Run(t.Context(), z, chain.Plan{BurnIn: 20, Samples: 3, Thin: 33}, func(int, *integrators.State) error { return nil }))
		return z
	}
	for _, c := range []struct {
		method      string
		inner, size int
		tol         float64 // of numbers about 1 after 119 steps or more
	}{
		{"leapfrog", 1, 8, 0}, {"symmetric", 1, 8, 0}, {"lietrotter", 1, 32, 0}, {"lietrotter", 5, 8, 0},
		{"sghmc", 1, 32, 0}, {"sghmc-adaptive", 1, 32, 0}, {"leapfrog", 1, 455, 0}, {"mt3", 1, 32, 1e-12},
	} {
		m, err := integrators.Builtin().Lookup(c.method)
		must(t, err)
		for _, precision := range []string{"float32", "float64"} {
			want, got := run(precision, m, c.inner, c.size, true), run(precision, m, c.inner, c.size, false)
			for i := range want.Theta {
				if d := math.Abs(got.Theta[i] - want.Theta[i]); !(d <= c.tol) {
					t.Errorf("%s, %s, N_l = %d, batches of %d: position %d is %v, want %v", precision, c.method, c.inner, c.size, i, got.Theta[i], want.Theta[i])
					break
				}
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkLinearStep is a whole step of every integrator on linear, D = 256,
// with batches of 8 rows, under the chain's loop. An operation is a run of
// steps.
func BenchmarkLinearStep(b *testing.B) {
	if err := kernel.Err(); err != nil {
		b.Skip(err)
	}
	for _, m := range integrators.Builtin() {
		if m.Needs.Affine {
			continue // its flow is an expansion in 512 dimensions
		}
		b.Run(fmt.Sprintf("B=8/isa=%s/integrator=%s", kernel.ISA(), m.Name), func(b *testing.B) {
			c, in, z := newChain(b, "linear", models.Options{}, m, 8, 1e-3)
			in.Freeze()
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			const run = 50 // steps, so that the best run is one that nothing interrupted
			best := math.Inf(1)
			advance := func() {
				start := time.Now()
				if err := c.Advance(ctx, z, run); err != nil {
					b.Fatal(err)
				}
				best = min(best, float64(time.Since(start).Nanoseconds())/run)
			}
			advance()
			b.ReportAllocs()
			for b.Loop() {
				advance()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/run, "ns/step")
			b.ReportMetric(best, "best-ns/step")
		})
	}
}

// BenchmarkEstimatorStep is a step of leapfrog on a network of 8 401 parameters by
// gradient estimator, in turns with one by the plain gradient of the same batches:
// x-plain is the ratio of the medians. An operation is two epochs of each; svrg's full
// gradients are among them.
func BenchmarkEstimatorStep(b *testing.B) {
	if err := kernel.Err(); err != nil {
		b.Skip(err)
	}
	for _, size := range []int{8, 128} {
		for _, name := range []string{"cv", "svrg", "saga"} {
			b.Run(fmt.Sprintf("B=%d/isa=%s/estimator=%s", size, kernel.ISA(), name), func(b *testing.B) {
				var times [2][]float64
				var runs [2]func()
				for i, estimator := range []string{"plain", name} {
					set, err := (&datasets.Resolver{Offline: true}).Load(b.Context(), "teacher-reg")
					must(b, err)
					split, err := set.Split(0)
					must(b, err)
					target, err := models.Builtin().New("bnn", split, models.Options{Precision: "float32"})
					must(b, err)
					k := target.Rows() / size
					c, err := chain.Registries{}.New(target, chain.Spec{
						Integrator: "leapfrog", Estimator: estimator, Scheme: "reshuffle", Batches: k, Params: integrators.Params{Step: 1e-5, Friction: 5}, Key: 1,
					})
					must(b, err)
					z := c.Start(1, make([]float64, target.Dim()))
					runs[i] = func() {
						start := time.Now()
						must(b, c.Advance(b.Context(), z, 2*k))
						times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/float64(2*k))
					}
					runs[i]()
				}
				for b.Loop() {
					runs[0]()
					runs[1]()
				}
				ratio := stat.Quantile(0.5, stat.Empirical, slices.Sorted(slices.Values(times[1])), nil) / stat.Quantile(0.5, stat.Empirical, slices.Sorted(slices.Values(times[0])), nil)
				b.ReportMetric(ratio, "x-plain")
			})
		}
	}
}
