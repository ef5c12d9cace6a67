package chain

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/internal/child"
	"hambench/models"
	"hambench/usage"
)

// springs is a one-parameter target: row i pulls θ to centers[i] with
// stiffness 1, and the prior to 0. It records what it is asked.
type springs struct {
	centers []float64
	order   []int
	asked   []models.Rows
	record  bool
	onGrad  func(call int)
	calls   int
}

func newSprings(centers ...float64) *springs {
	s := &springs{centers: centers}
	s.Arrange(nil)
	return s
}

func (s *springs) Dim() int  { return 1 }
func (s *springs) Rows() int { return len(s.centers) }
func (s *springs) Arrange(order []int) {
	s.order = s.order[:0]
	for i := range s.centers {
		if order != nil {
			i = order[i]
		}
		s.order = append(s.order, i)
	}
}
func (s *springs) Potential([]float64) float64 { panic("not used by a chain") }
func (s *springs) Gradient(g, theta []float64, rows models.Rows) {
	s.calls++
	if s.onGrad != nil {
		s.onGrad(s.calls)
	}
	if s.record {
		s.asked = append(s.asked, rows)
	}
	g[0] = theta[0]
	for _, i := range s.order[rows.Lo:rows.Hi] {
		g[0] += rows.Scale * (theta[0] - s.centers[i])
	}
}
func (s *springs) Outputs() int                 { return 1 }
func (s *springs) Predict(dst, theta []float64) { copy(dst, theta) }
func (s *springs) DrawPrior([]float64)          {}

// smooth adds Hessian-vector products, and gaussian the affine force.
type smooth struct{ *springs }

func (s smooth) HessianVector(hv, theta, v []float64, rows models.Rows) {
	hv[0] = v[0] * (1 + rows.Scale*float64(rows.Hi-rows.Lo))
}

type gaussian struct{ smooth }

func (s gaussian) Affine(rows models.Rows) (precision, shift []float64) {
	p, b := 1.0, 0.0
	for _, i := range s.order[rows.Lo:rows.Hi] {
		p += rows.Scale
		b += rows.Scale * s.centers[i]
	}
	return []float64{p}, []float64{b}
}
func (gaussian) Name() string { return "springs" }

// script is a stream that repeats given batches.
type script struct {
	batches []minibatch.Batch
	orders  [][]int // taken in turn at each Rearranged
	at      int
	turn    int
}

func (s *script) Next() minibatch.Batch {
	b := s.batches[s.at%len(s.batches)]
	s.at++
	if b.Rearranged {
		s.turn++
	}
	return b
}

func (s *script) Arrangement() []int {
	if len(s.orders) == 0 {
		return nil
	}
	return s.orders[max(0, s.turn-1)%len(s.orders)]
}

func whole(n int) *script {
	return &script{batches: []minibatch.Batch{{Lo: 0, Hi: n, Scale: 1}}}
}

// silence is a noise of zeros.
type silence struct{}

func (silence) Normal(dst []float64)         { clear(dst) }
func (silence) Update(u *integrators.Update) { u.Apply(nil) }

// euler is a kernel that keeps what it saw.
type euler struct {
	h      float64
	g      []float64
	u      integrators.Update // kept: an argument of an interface's method escapes
	frozen bool
	seen   func(f integrators.Force, frozen bool)
}

func (e *euler) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	f.Gradient(e.g, z.Theta)
	if e.seen != nil {
		e.seen(f, e.frozen)
	}
	e.u = integrators.Update{Theta: z.Theta, R: z.R, G: e.g,
		P: integrators.Coef{All: 1}, A: integrators.Coef{All: -e.h}, B: integrators.Coef{All: e.h}, Q: integrators.Coef{All: 1}}
	n.Update(&e.u)
}
func (e *euler) Freeze() { e.frozen = true }

// halve is a refreshment that halves the momentum.
type halve struct{ calls int }

func (r *halve) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	if f != nil {
		panic("a refreshment gets no force")
	}
	r.calls++
	z.R[0] /= 2
}

func eulerOf(h float64) (*integrators.Instance, *euler) {
	k := &euler{h: h, g: make([]float64, 1)}
	return &integrators.Instance{Integrator: integrators.Integrator{Name: "euler"}, Dim: 1, Batches: 1, Kernel: k}, k
}

// assembled joins parts made by hand, with the estimator plain.
func assembled(t models.Target, in *integrators.Instance, s minibatch.Stream, n integrators.Noise) (*Sampler, error) {
	return newSampler(t, in, estimators.Plain, s, estimators.Problem{}, n)
}

func must(t *testing.T, target models.Target, in *integrators.Instance, s minibatch.Stream) *Sampler {
	t.Helper()
	c, err := assembled(target, in, s, silence{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A refreshment follows every third kernel of the chain, however it is cut into calls and
// samples, whose positions lie between refreshments, too.
func TestSamplesLieBetweenRefreshments(t *testing.T) {
	run := func(calls ...int) (refreshed []int64, z *integrators.State) {
		in, _ := eulerOf(0.1)
		in.Batches = 3
		c := must(t, newSprings(1), in, whole(1))
		in.Refresh = hook(func() { refreshed = append(refreshed, c.Counts().Steps) })
		z = integrators.NewState(1)
		z.Theta[0] = 1
		for _, steps := range calls {
			if err := c.Advance(t.Context(), z, steps); err != nil {
				t.Fatal(err)
			}
		}
		return refreshed, z
	}
	at, z := run(200)
	for _, calls := range [][]int{{1, 1, 198}, {4, 100, 96}, {67, 66, 67}} {
		cut, end := run(calls...)
		if !slices.Equal(cut, at) || end.Theta[0] != z.Theta[0] {
			t.Errorf("calls of %v steps refresh after steps %v, θ = %v; one call after %v, %v", calls, cut, end.Theta, at, z.Theta)
		}
	}
	if len(at) != 66 || at[0] != 3 || at[65] != 198 {
		t.Errorf("refreshments after steps %v: want every third of 200", at)
	}
}

// hook is a refreshment that calls a function, and leaves the state alone.
type hook func()

func (h hook) Step(*integrators.State, integrators.Force, integrators.Noise) { h() }

// An outer step of N_l = 3 kernels takes three batches in the stream's order
// and refreshes once; the rows and the scale arrive unchanged.
func TestKernelsTakeBatchesInOrder(t *testing.T) {
	target := newSprings(1, 2, 3, 4)
	target.record = true
	in, _ := eulerOf(0.1)
	refresh := &halve{}
	in.Batches, in.Refresh = 3, refresh
	s := &script{batches: []minibatch.Batch{{Index: 1, Lo: 2, Hi: 4, Scale: 2}, {Index: 0, Lo: 0, Hi: 2, Scale: 2}}}
	c := must(t, target, in, s)
	if err := c.Advance(t.Context(), integrators.NewState(1), 6); err != nil {
		t.Fatal(err)
	}
	a, b := models.Rows{Lo: 2, Hi: 4, Scale: 2}, models.Rows{Lo: 0, Hi: 2, Scale: 2}
	if want := []models.Rows{a, b, a, b, a, b}; !reflect.DeepEqual(target.asked, want) {
		t.Errorf("gradients over %v, want %v", target.asked, want)
	}
	if refresh.calls != 2 {
		t.Errorf("%d refreshments in two outer steps", refresh.calls)
	}
	if got, want := c.Counts(), (Counts{Steps: 6, Gradients: 6}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

// The gradient under a rearranged stream is that of the rows which the new
// order puts into the batch.
func TestRearrangementReachesTheTarget(t *testing.T) {
	target := newSprings(10, 20)
	in, _ := eulerOf(1)
	s := &script{
		batches: []minibatch.Batch{{Lo: 0, Hi: 1, Scale: 2, Rearranged: true}, {Lo: 1, Hi: 2, Scale: 2}},
		orders:  [][]int{{1, 0}, {0, 1}},
	}
	c := must(t, target, in, s)
	// From rest at 0, one step moves to −∇U(0) = 2·center.
	for step, want := range []float64{40, 20, 20, 40} {
		z := integrators.NewState(1)
		if err := c.Advance(t.Context(), z, 1); err != nil {
			t.Fatal(err)
		}
		if z.Theta[0] != want {
			t.Errorf("step %d went to %v, want %v", step, z.Theta[0], want)
		}
	}
}

func TestAffineIsKeptPerBatchOfAnArrangement(t *testing.T) {
	target := gaussian{smooth{newSprings(1, 2)}}
	in, k := eulerOf(0.1)
	in.Integrator.Needs.Affine = true
	var seen []*integrators.Affine
	k.seen = func(f integrators.Force, _ bool) { seen = append(seen, f.(integrators.AffineForce).Affine()) }
	s := &script{
		batches: []minibatch.Batch{
			{Lo: 0, Hi: 1, Scale: 2, Rearranged: true}, {Lo: 1, Hi: 2, Scale: 2}, {Lo: 0, Hi: 1, Scale: 2},
			{Lo: 0, Hi: 1, Scale: 2, Rearranged: true},
		},
		orders: [][]int{{0, 1}, {1, 0}},
	}
	c := must(t, target, in, s)
	if err := c.Advance(t.Context(), integrators.NewState(1), 4); err != nil {
		t.Fatal(err)
	}
	if seen[0] != seen[2] {
		t.Error("the same batch has two Affine values: what an integrator derived from it is lost")
	}
	if seen[0] == seen[1] || seen[0] == seen[3] {
		t.Error("different rows share an Affine value")
	}
	for i, want := range []float64{2, 4, 2, 4} {
		if seen[i].Shift[0] != want || seen[i].Precision[0] != 3 {
			t.Errorf("batch %d: %+v, want precision 3, shift %v", i, seen[i], want)
		}
	}
}

// A scheme whose batches begin at any row asks for ever new forces: those kept are bounded.
func TestAffineForcesAreBounded(t *testing.T) {
	f := newForces(vast{gaussian{smooth{newSprings(make([]float64, 200)...)}}})
	for lo := range 200 {
		force := f.batch(models.Rows{Lo: lo, Hi: lo + 1, Scale: 1000}).(integrators.AffineForce)
		if force.Affine() != force.Affine() || len(f.affine) > fewestAffine {
			t.Fatalf("%d forces of 10⁶ numbers are kept, or the last one is not", len(f.affine))
		}
	}
}

// vast has affine forces of 1000 parameters.
type vast struct{ gaussian }

func (vast) Affine(models.Rows) (precision, shift []float64) {
	return make([]float64, 1e6), make([]float64, 1000)
}

func TestHessianVectorProducts(t *testing.T) {
	in, k := eulerOf(0.1)
	in.Integrator.Needs.HessianVectors = 1
	hv := make([]float64, 1)
	k.seen = func(f integrators.Force, _ bool) {
		f.(integrators.HessianForce).HessianVector(hv, []float64{0}, []float64{2})
	}
	c := must(t, smooth{newSprings(1, 2)}, in, whole(2))
	if err := c.Advance(t.Context(), integrators.NewState(1), 3); err != nil {
		t.Fatal(err)
	}
	if hv[0] != 6 { // (1 + 2 rows)·2
		t.Errorf("Hessian-vector product %v, want 6", hv[0])
	}
	if got, want := c.Counts(), (Counts{Steps: 3, Gradients: 3, HessianVectors: 3}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

// fused carries out parts of a step itself.
type fused struct{ smooth }

func (s fused) Kick(drift integrators.Coef, u *integrators.Update, n interface{ Update(*integrators.Update) }, _ any, rows models.Rows) any {
	u.Theta[0] += drift.At(0) * u.R[0]
	u.G = make([]float64, 1)
	s.Gradient(u.G, u.Theta, rows)
	n.Update(u)
	return nil
}

func (s fused) At(x []float64, xs []integrators.Term, v []float64, vs []integrators.Term, rows models.Rows) (gradient, product integrators.Term) {
	integrators.Combine(x, xs...)
	gradient.X = make([]float64, 1)
	s.Gradient(gradient.X, x, rows)
	if v != nil {
		integrators.Combine(v, vs...)
		product.X = make([]float64, 1)
		s.HessianVector(product.X, v, v, rows)
	}
	return gradient, product
}

// A target that fuses its steps is asked as often and over the same rows as
// one that does not.
func TestFusedTargets(t *testing.T) {
	for name, want := range map[string]Counts{
		"leapfrog": {Steps: 50, Gradients: 50},
		"mt3":      {Steps: 50, Gradients: 150, HessianVectors: 50},
	} {
		m, err := integrators.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		run := func(target models.Target, s *springs) (float64, Counts) {
			in, err := m.New(1, integrators.Params{Step: 0.1, Friction: 1})
			if err != nil {
				t.Fatal(err)
			}
			s.record = true
			c := must(t, target, in, &script{batches: []minibatch.Batch{{Lo: 0, Hi: 1, Scale: 2}, {Lo: 1, Hi: 2, Scale: 2}}})
			z := integrators.NewState(1)
			if err := c.Advance(t.Context(), z, 50); err != nil {
				t.Fatal(err)
			}
			return z.Theta[0], c.Counts()
		}
		a, b := newSprings(1, 5), newSprings(1, 5)
		theta, _ := run(smooth{a}, a)
		got, counts := run(fused{smooth{b}}, b)
		if counts != want || !reflect.DeepEqual(a.asked, b.asked) {
			t.Errorf("%s: counts %+v, rows %v; want %+v, %v", name, counts, b.asked, want, a.asked)
		}
		if math.Abs(got-theta) > 1e-12 {
			t.Errorf("%s: position %v, want %v", name, got, theta)
		}
	}
}

func TestMissingCapabilitiesAreUsageErrors(t *testing.T) {
	needs := func(name string, c integrators.Needs) *integrators.Instance {
		in, _ := eulerOf(0.1)
		in.Integrator = integrators.Integrator{Name: name, Needs: c}
		return in
	}
	for _, tc := range []struct {
		reason string
		target models.Target
		in     *integrators.Instance
		stream minibatch.Stream
		want   string // "" means accepted
	}{
		{"plain target, plain scheme", newSprings(1), needs("euler", integrators.Needs{}), whole(1), ""},
		{"no Hessian", newSprings(1), needs("mt3", integrators.Needs{HessianVectors: 1}), whole(1),
			`integrator "mt3" needs Hessian-vector products, which model "*chain.springs" does not have`},
		{"Hessian, but not linear", smooth{newSprings(1)}, needs("exact", integrators.Needs{Affine: true}), whole(1),
			`integrator "exact" needs a linear-Gaussian force, which model "chain.smooth" does not have`},
		{"both there", gaussian{smooth{newSprings(1)}}, needs("exact", integrators.Needs{Affine: true}), whole(1), ""},
		{"Hessian of a linear target", gaussian{smooth{newSprings(1)}}, needs("mt3", integrators.Needs{HessianVectors: 1}), whole(1), ""},
		{"stream of another data set", gaussian{smooth{newSprings(1)}}, needs("euler", integrators.Needs{}), &script{orders: [][]int{{0, 1}}},
			`mini-batches of 2 rows do not fit model "springs", which has 1`},
	} {
		_, err := assembled(tc.target, tc.in, tc.stream, silence{})
		var mistake *usage.Error
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.reason, err)
		case tc.want != "" && (!errors.As(err, &mistake) || err.Error() != tc.want):
			t.Errorf("%s: error %v, want usage error %s", tc.reason, err, tc.want)
		}
	}
}

// A state that is poisoned in kernel 100 is noticed at the next check, at
// most checkKernels later, and at the end of a call however short.
func TestDivergenceIsNoticed(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		in, k := eulerOf(0.1)
		c := must(t, newSprings(1), in, whole(1))
		in.Integrator.Variables = func(int, integrators.Params) []integrators.Variable {
			return []integrators.Variable{{Name: "a", Start: []float64{0}}, {Name: "b", Start: []float64{0}}}
		}
		z := in.NewState()
		k.seen = func(integrators.Force, bool) {
			if c.Counts().Steps == 100 {
				z.Aux[1][0] = bad
			}
		}
		var diverged *DivergedError
		if err := c.Advance(t.Context(), z, 100_000); !errors.As(err, &diverged) {
			t.Fatalf("%v: error %v, want DivergedError", bad, err)
		}
		if diverged.Step < 100 || diverged.Step > 100+checkKernels {
			t.Errorf("%v: noticed at step %d, put in at 100", bad, diverged.Step)
		}
		if !strings.Contains(diverged.Error(), "diverged") {
			t.Errorf("message %q", diverged)
		}
		if err := c.Advance(t.Context(), z, 1); !errors.As(err, &diverged) {
			t.Errorf("%v: a short call does not notice: %v", bad, err)
		}
	}
}

// The step at which a divergence is noticed stands in the record, and so must
// not depend on how often the context is looked at, nor on N_l: it is 64 steps after the
// last look.
func TestDivergenceIsNoticedAtADefiniteStep(t *testing.T) {
	for batches, want := range map[int]int64{1: 64, 3: 64, 100: 64} {
		in, k := eulerOf(0.1)
		in.Batches = batches
		c := must(t, newSprings(1), in, whole(1))
		z := integrators.NewState(1)
		k.seen = func(integrators.Force, bool) { z.R[0] = math.NaN() }
		var diverged *DivergedError
		if err := c.Advance(t.Context(), z, 1000); !errors.As(err, &diverged) || diverged.Step != want {
			t.Errorf("N_l = %d: %v, want step %d", batches, err, want)
		}
	}
}

func TestFiniteLooksEverywhere(t *testing.T) {
	for n := range 10 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.MaxFloat64 // sums of x itself would overflow
		}
		if !finite(x) {
			t.Errorf("%d finite numbers are called not finite", n)
		}
		for i := range x {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				keep := x[i]
				x[i] = bad
				if finite(x) {
					t.Errorf("%v at %d of %d not seen", bad, i, n)
				}
				x[i] = keep
			}
		}
	}
}

// A cancelled run stops within checkKernels kernels, and going on leads to
// the very state of an uninterrupted run.
func TestCancelAndContinue(t *testing.T) {
	const steps = 200
	path := func(cancelAt int) (float64, int64) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		target := newSprings(1, 5)
		target.onGrad = func(call int) {
			if call == cancelAt {
				cancel()
			}
		}
		in, _ := eulerOf(0.01)
		s := &script{batches: []minibatch.Batch{{Lo: 0, Hi: 1, Scale: 2}, {Lo: 1, Hi: 2, Scale: 2}}}
		c := must(t, target, in, s)
		z := integrators.NewState(1)
		err := c.Advance(ctx, z, steps)
		stopped := c.Counts().Steps
		if cancelAt == 0 {
			if err != nil {
				t.Fatal(err)
			}
			return z.Theta[0], stopped
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want context.Canceled", err)
		}
		if err := c.Advance(t.Context(), z, steps-int(stopped)); err != nil {
			t.Fatal(err)
		}
		return z.Theta[0], stopped
	}
	want, _ := path(0)
	got, stopped := path(50)
	if stopped < 50 || stopped >= 50+checkKernels {
		t.Errorf("cancelled in kernel 50, stopped after %d", stopped)
	}
	if got != want {
		t.Errorf("continued chain at %v, uninterrupted one at %v", got, want)
	}
}

func TestRunFreezesAfterBurnIn(t *testing.T) {
	in, k := eulerOf(0.01)
	c := must(t, newSprings(1), in, whole(1))
	k.seen = func(_ integrators.Force, frozen bool) {
		if want := c.Counts().Steps > 7; frozen != want {
			t.Errorf("step %d: frozen %v", c.Counts().Steps, frozen)
		}
	}
	var at []int64
	err := c.Run(t.Context(), integrators.NewState(1), Plan{BurnIn: 7, Samples: 3, Thin: 5}, func(i int, z *integrators.State) error {
		if i != len(at) {
			t.Errorf("sample %d comes as number %d", i, len(at))
		}
		at = append(at, c.Counts().Steps)
		return nil
	})
	if want := []int64{12, 17, 22}; err != nil || !reflect.DeepEqual(at, want) {
		t.Errorf("samples at %v (%v), want %v", at, err, want)
	}
}

func TestRunStopsAtObserversError(t *testing.T) {
	in, _ := eulerOf(0.01)
	c := must(t, newSprings(1), in, whole(1))
	full := errors.New("disk full")
	err := c.Run(t.Context(), integrators.NewState(1), Plan{Samples: 3, Thin: 5}, func(int, *integrators.State) error { return full })
	if !errors.Is(err, full) || c.Counts().Steps != 5 {
		t.Errorf("error %v after %d steps", err, c.Counts().Steps)
	}
}

func TestAdvanceAllocatesNothing(t *testing.T) {
	target := gaussian{smooth{newSprings(1, 2)}}
	for _, affine := range []bool{false, true} {
		in, k := eulerOf(0.01)
		in.Integrator.Needs.Affine = affine
		if affine {
			k.seen = func(f integrators.Force, _ bool) { f.(integrators.AffineForce).Affine() }
		}
		s := &script{batches: []minibatch.Batch{{Lo: 0, Hi: 1, Scale: 2}, {Lo: 1, Hi: 2, Scale: 2}}}
		c := must(t, target, in, s)
		z := integrators.NewState(1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if n := testing.AllocsPerRun(20, func() { _ = c.Advance(ctx, z, 100) }); n != 0 {
			t.Errorf("affine %v: %v allocations in 100 steps", affine, n)
		}
	}
}

// BenchmarkLoop is the cost of the loop itself, per step.
func BenchmarkLoop(b *testing.B) {
	in, _ := eulerOf(0.01)
	c, err := assembled(newSprings(1), in, whole(1), silence{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	if err := c.Advance(ctx, integrators.NewState(1), b.N); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkFinite8401(b *testing.B) {
	x := make([]float64, 8401)
	for b.Loop() {
		finite(x)
	}
}

// With the full batch sghmc is leapfrog, draw for draw: there is no gradient
// noise to correct for. With two batches it is not.
func TestFullBatchHasNoGradientNoise(t *testing.T) {
	run := func(name, scheme string, k int) float64 {
		target := newSprings(1, -2, 0.5, 3)
		s, err := Registries{}.New(target, Spec{
			Integrator: name, Params: integrators.Params{Step: 0.3, Friction: 1}, Scheme: scheme, Batches: k, Key: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		z := integrators.NewState(1)
		if err := s.Run(context.Background(), z, Plan{BurnIn: 50, Samples: 1, Thin: 50}, func(int, *integrators.State) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return z.Theta[0]
	}
	// The two schemes round their noise coefficient differently.
	if a, b := run("sghmc", "full", 1), run("leapfrog", "full", 1); math.Abs(a-b) > 1e-12 {
		t.Errorf("full batch: sghmc ends at %v, leapfrog at %v", a, b)
	}
	if a, b := run("sghmc", "reshuffle", 2), run("leapfrog", "reshuffle", 2); math.Abs(a-b) < 1e-6 {
		t.Errorf("two batches: sghmc ends where leapfrog does, at %v", a)
	}
}

// A first batch of the last rows is not all data: its gradients have a variance.
func TestTheLastRowsAreNotAllData(t *testing.T) {
	m, err := integrators.Builtin().Lookup("sghmc")
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.New(1, integrators.Params{Step: 0.1, Friction: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &script{batches: []minibatch.Batch{{Lo: 1, Hi: 2, Scale: 2}, {Lo: 0, Hi: 1, Scale: 2}}}
	c := must(t, newSprings(-2, 3), in, s)
	if err := c.Advance(t.Context(), integrators.NewState(1), 10); err != nil {
		t.Fatal(err)
	}
	if v := in.Kernel.(integrators.VarianceCorrected).GradientVariance(); !(v[0] > 1) {
		t.Errorf("variance %v of gradients that differ by 10", v)
	}
}

// What a model in another process fails with while a sample is observed is the run's error.
func TestRunReturnsAFailureOfTheModel(t *testing.T) {
	in, _ := eulerOf(0.01)
	c, failed := must(t, newSprings(1), in, whole(1)), errors.New("no predictions")
	err := c.Run(t.Context(), integrators.NewState(1), Plan{Samples: 1, Thin: 1},
		func(int, *integrators.State) error { panic(&child.Failure{Err: failed}) })
	if !errors.Is(err, failed) {
		t.Errorf("error %v: want %v", err, failed)
	}
}

func TestCountsAddUp(t *testing.T) {
	got := Counts{1, 2, 3, 4}.Plus(Counts{10, 20, 30, 40})
	if want := (Counts{11, 22, 33, 44}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
