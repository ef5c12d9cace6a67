package certify

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/certify/cost"
	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/integrators/noise"
	"hambench/models"
	"hambench/models/datasets"
)

// run is a chain of a Gaussian problem, run step by step as chains are.
type run struct {
	problem    *Problem
	integrator integrators.Integrator
	estimator  estimators.Estimator
	scheme     minibatch.Scheme
	h          float64
	planted    float64 // factor on the friction; 0 is 1
}

// averages returns the averages over outer steps of the coordinates of θ in
// the frame, and then of the squares along the axes, less those of the target, the
// squares over √2.
func (r run) averages(t testing.TB, w whitening, outer, burn int, key uint64) []float64 {
	t.Helper()
	k, d := r.problem.Batches(), r.problem.Dim()
	friction := r.problem.Friction
	if r.planted > 0 {
		friction *= r.planted
	}
	in, err := r.integrator.New(d, integrators.Params{Step: r.h, Friction: friction})
	if err != nil {
		t.Fatal(err)
	}
	full := gaussian.Mean(r.problem.gaussian)
	by, each := probe.Estimation{Method: r.estimator}, 1
	if !by.Plain() {
		each = by.Period(k)
	} else {
		r.estimator = estimators.Plain
	}
	e, err := r.estimator.New(estimators.Problem{
		Dim: d, Epoch: k, Batches: k, Full: full, Part: func(i int) integrators.Force { return r.problem.gaussian[i] },
		Mode: func() ([]float64, error) { return w.centre, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	visit := func() (int, *affineForce) { return 0, full }
	if !r.scheme.Whole() {
		index := r.scheme.Index(k, noise.New(key, noise.StreamBatches).Rand())
		visit = func() (int, *affineForce) { i := index.Next(); return i, r.problem.gaussian[i] }
	}
	n, z := noise.New(key, noise.StreamNoise), in.NewState()
	copy(z.Theta, w.centre)
	e.Begin(z)
	sum := make([]float64, d+len(w.axes))
	var number int64
	for step := range burn + outer {
		for range each * in.Batches {
			i, force := visit()
			in.Kernel.Step(z, e.Force(estimators.Step{Number: number, Batch: i, Force: force}, z), n)
			number++
		}
		if in.Refresh != nil {
			in.Refresh.Step(z, nil, n)
		}
		if step < burn {
			continue
		}
		x := w.white(z.Theta)
		floats.Add(sum[:d], x)
		for j, a := range w.axes {
			v := floats.Dot(a, x)
			sum[d+j] += (v*v - 1) / math.Sqrt2
		}
	}
	floats.Scale(1/float64(outer), sum)
	return sum
}

func methodOf(t testing.TB, name string) integrators.Integrator {
	t.Helper()
	m, err := integrators.Builtin().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// chain is that of the engine.
func (r run) chain(t testing.TB) answering {
	t.Helper()
	o := Options{Problem: r.problem, Estimator: r.estimator, Inner: 1}
	e, err := o.engine()
	if err == nil && r.scheme.Whole() {
		e, err = e.Whole()
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := newSolver(&o, e, r.integrator).prepared(r.h, true)
	if err != nil {
		t.Fatal(err)
	}
	return found.(answering)
}

// expected returns the engine's mean squared errors of what averages returns, and
// whether squares are taken for those of a normal process.
func (r run) expected(t testing.TB, outer int) (want []float64, normal bool) {
	t.Helper()
	all, _, err := r.chain(t).Accuracies(context.Background(), r.scheme, false)
	if err != nil || all == nil {
		t.Fatalf("%s under %s at %g: %v, %v", r.integrator.Name, r.scheme.Name, r.h, all, err)
	}
	for _, w := range all {
		for i := range w.Bias.SymmetricDim() {
			want = append(want, w.Bias.At(i, i)+w.Spread.At(i, i)/float64(outer))
		}
	}
	return want, all[1].Normal
}

// fromExpected is the largest difference of mean squares, over a list of samples, from what is
// expected, in their standard errors.
func fromExpected(want []float64, samples [][]float64) (worst float64) {
	for i, w := range want {
		var squares []float64
		for _, s := range samples {
			squares = append(squares, s[i]*s[i])
		}
		mean, sd := stat.MeanStdDev(squares, nil)
		worst = max(worst, math.Abs(mean-w)/stat.StdErr(sd, float64(len(samples)))) // NaN stays
	}
	return worst
}

// off compares mean squared errors of sampled averages with the engine's and
// returns the largest difference in standard errors of the sampled ones.
func (r run) off(t testing.TB, outer, chains int) float64 {
	t.Helper()
	want, normal := r.expected(t, outer)
	if normal {
		t.Fatalf("%s under %s at %g: want fourth moments", r.integrator.Name, r.scheme.Name, r.h)
	}
	var samples [][]float64
	for c := range chains {
		samples = append(samples, r.averages(t, whiteningOf(t, r.problem), outer, outer/4, uint64(c)))
	}
	return fromExpected(want, samples)
}

// At the best step for a budget, and beside it, the mean squared error of the
// average over the chain that the budget pays for is that of sampled chains, within
// 4.5 of their standard errors, with the full batch, with replacement and in random
// orders. Squares of 200 averages scatter by about 10 %; chains are of 30
// autocorrelation times and more, whose finite length is worth up to 3 %. For normal
// means the probability of a false alarm is 7e-6 each, below 1e-3 for all 80;
// skewness makes it larger, so the seeds are pinned.
func TestBestStepAndItsErrorAreThoseOfSampledChains(t *testing.T) {
	const chains, budget, sigmas = 200, 3000, 4.5
	type tested struct {
		problem                       *Problem
		integrator, estimator, scheme string
	}
	chosen := []tested{
		{BottleneckProblem(), "leapfrog", "plain", "full"},
		{gaussianBuiltin(), "lietrotter", "plain", "reshuffle"},
	}
	if *all {
		chosen = append(chosen,
			tested{BottleneckProblem(), "leapfrog", "plain", "replacement"},
			tested{BottleneckProblem(), "lietrotter", "cv", "replacement"},
			tested{gaussianBuiltin(), "leapfrog", "svrg", "replacement"},
			tested{gaussianBuiltin(), "leapfrog", "saga", "replacement"},
		)
	}
	for _, tt := range chosen {
		r := run{problem: tt.problem, integrator: methodOf(t, tt.integrator), estimator: estimatorOf(t, tt.estimator), scheme: schemeOf(t, tt.scheme)}
		rows, err := Errors(context.Background(), Options{
			Problem: tt.problem, Integrators: []integrators.Integrator{r.integrator}, Estimator: r.estimator, Schemes: []minibatch.Scheme{r.scheme},
			Steps: []float64{0.01}, Budgets: []float64{budget}, Stability: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		best := rows[0].Budgets[0]
		t.Logf("%s %s %s %s: best step %.4g of %.4g, error %.4g", tt.problem.Name, tt.integrator, tt.estimator, tt.scheme, best.Step, *rows[0].StableStep, best.Best)
		for _, part := range []float64{0.5, 1} {
			r.h = float64(best.Step) * part
			if off := r.off(t, int(best.Outer), chains); !(off <= sigmas) {
				t.Errorf("%s %s %s %s at %.3g of the best step: %.1f standard errors off", tt.problem.Name, tt.integrator, tt.estimator, tt.scheme, part, off)
			}
		}
	}
}

// blocks runs one long chain of the model that the problem is the linearisation of, and
// returns averages, as those above, over blocks of it.
func (r run) blocks(t testing.TB, target models.Target, w whitening, outer, blocks int) (out [][]float64) {
	t.Helper()
	k := r.problem.Batches()
	if r.scheme.Whole() {
		k = 1
	}
	s, err := chain.Registries{}.New(target, chain.Spec{
		Integrator: r.integrator.Name, Scheme: r.scheme.Name, Batches: k, Key: 1,
		Params: integrators.Params{Step: r.h, Friction: r.problem.Friction * cmp.Or(r.planted, 1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := len(w.centre)
	err = s.Run(t.Context(), s.Start(1, w.centre), chain.Plan{BurnIn: outer, Samples: blocks * outer, Thin: 1}, func(i int, z *integrators.State) error {
		if i%outer == 0 {
			out = append(out, make([]float64, d+len(w.axes)))
		}
		sum := out[len(out)-1]
		x := w.white(z.Theta)
		floats.AddScaled(sum[:d], 1/float64(outer), x)
		for j, a := range w.axes {
			v := floats.Dot(a, x)
			sum[d+j] += (v*v - 1) / (math.Sqrt2 * float64(outer))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// linearModel is the linear model on the first split of the built-in regression data.
func linearModel(t testing.TB) models.Target {
	t.Helper()
	set, err := (&datasets.Resolver{Offline: true}).Load(t.Context(), "teacher-reg")
	if err != nil {
		t.Fatal(err)
	}
	split, err := set.Split(0)
	if err != nil {
		t.Fatal(err)
	}
	target, err := models.Builtin().New("linear", split, models.Options{Precision: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// posteriorOf is a normal posterior as a problem, in the batches of chains with seed 1.
func posteriorOf(target models.Target, batches int) *Problem {
	visit := func(int, *rand.Rand) minibatch.Index { return nil } // only the arrangement counts
	stream, err := minibatch.Scheme{Index: visit}.New(target.Rows(), batches, noise.New(1, noise.StreamBatches).Rand())
	if err != nil {
		panic(err)
	}
	target.Arrange(stream.Arrangement())
	p, d := &Problem{Name: "linear", Kind: Gaussian}, target.Dim()
	for i := range batches {
		b := minibatch.Cut(target.Rows(), batches, i)
		rows := models.Rows{Lo: b.Lo, Hi: b.Hi, Scale: b.Scale}
		origin, shift, precision := make([]float64, d), make([]float64, d), make([]float64, d*d)
		product := models.Curvature(target, origin, rows)
		for j := range d {
			product(precision[j*d:(j+1)*d], markov.Unit(d, j))
		}
		target.Gradient(shift, origin, rows)
		floats.Scale(-1, shift)
		p.gaussian = append(p.gaussian, newAffineForce(precision, shift))
	}
	return p
}

// The built-in linear model, in 14 dimensions and two batches, with the full batch and
// with replacement: at the best step for a budget, at half of it and at twice, the mean
// squared errors of averages over blocks of one long chain of the model itself are the
// engine's, within 4.5 of their standard errors. Of 100 blocks, whose means are about
// normal, a false alarm in 132 errors has a probability of 1e-3; skewness makes it
// larger, so the seed is pinned. Blocks have 10 autocorrelation times and more. A chain
// with a quarter of the friction is seen.
func TestBestStepOfTheLinearModelIsThatOfLongChains(t *testing.T) {
	const blocks, sigmas = 100, 4.5
	target := linearModel(t)
	r := run{problem: posteriorOf(target, 2), integrator: methodOf(t, "obabo")}
	r.problem.Friction = 30 // about critical
	w := whiteningOf(t, r.problem)
	for scheme, outer := range map[string]int{"full": 500, "replacement": 3000} {
		if r.scheme = schemeOf(t, scheme); !r.scheme.Whole() && !*all {
			continue
		}
		o := Options{Problem: r.problem, Steps: []float64{0.01}, Stability: true}
		o.Budgets = []float64{float64(outer) * cost.Gradients(r.integrator, r.scheme, probe.Estimation{}, 1, 2)}
		row := answersOf(t, o, "obabo", scheme)
		best := row.Budgets[0]
		t.Logf("%s: best step %.4g of %.4g, error %.4g, autocorrelation %.3g of %s", scheme, best.Step, *row.StableStep, best.Best, best.Autocorrelation, best.Worst)
		off := func(part float64) (off, worst float64) {
			r.h = part * float64(best.Step)
			want, _ := r.expected(t, outer)
			return fromExpected(want, r.blocks(t, target, w, outer, blocks)), floats.Max(want)
		}
		for _, part := range sampled([]float64{0.5, 1, 2}, 1) {
			off, worst := off(part)
			t.Logf("at %g of the best step: error %.4g, %.2f standard errors off", part, worst, off)
			if !(off <= sigmas) {
				t.Errorf("%s at %g of the best step: %.1f standard errors off", scheme, part, off)
			}
			if better := worst <= 1.0001*float64(best.Best); better != (part == 1) {
				t.Errorf("%s at %g of the best step: error %.4g, which is said to be %.4g there", scheme, part, worst, best.Best)
			}
		}
		if !r.scheme.Whole() {
			continue
		}
		r.planted = 0.25
		if off, _ := off(1); !(off > 6) {
			t.Errorf("%s: a quarter of the friction is %.1f standard errors off: want more than 6", scheme, off)
		}
		r.planted = 0
	}
}

// The same test sees a chain of another friction, and so another memory, by far.
func TestAnotherMemoryIsSeen(t *testing.T) {
	r := run{problem: gaussianBuiltin(), integrator: methodOf(t, "baoab"), scheme: schemeOf(t, "replacement"), h: 0.3, planted: 2}
	if off := r.off(t, 500, 300); !(off > 6) {
		t.Errorf("twice the friction is %.1f standard errors off: want more than 6", off)
	}
}
