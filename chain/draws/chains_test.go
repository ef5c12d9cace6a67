package draws

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hambench/chain"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

// linear are chains of the linear model.
func linear(step float64) Chains {
	return Chains{
		Target: func(ctx context.Context) (models.Target, error) {
			return models.NewSource(nil, &datasets.Resolver{}).Target(ctx, "linear", 0, "linear", models.Options{})
		},
		Start: func(ctx context.Context, target models.Target, key uint64) ([]float64, error) {
			return oracle.StartAt(ctx, oracle.AtTypical, target, nil, key)
		},
		Spec: chain.Spec{Integrator: "leapfrog", Batches: 4, Key: 7, Params: integrators.Params{Step: step, Friction: 5}},
		Plan: chain.Plan{BurnIn: 20, Samples: 6, Thin: 3},
	}
}

// run returns the lines of a run in a format.
func run(t *testing.T, c Chains, format string, h Header) (string, error) {
	t.Helper()
	f, err := Lookup(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	h.Draws, h.Dim, h.Outputs = c.Plan.Samples, 256, 200
	w, err := New(f, &b, filepath.Join(t.TempDir(), "out"), h)
	if err != nil {
		t.Fatal(err)
	}
	written, _, err := c.Run(t.Context(), w)
	if err == nil && written != h.Chains*h.Draws {
		t.Errorf("%d draws are written", written)
	}
	err = w.Close(err)
	return b.String(), err
}

// A chain beside others has the numbers that it has alone, whichever order they
// finish in, and what is computed for a format does not change them.
func TestAChainIsTheSameBesideOthersAndInEveryFormat(t *testing.T) {
	many, err := run(t, linear(0.02), "csv", Header{Chains: 3, Numbered: true})
	if err != nil {
		t.Fatal(err)
	}
	for c := range 3 {
		alone := linear(0.02)
		alone.Spec.Key += uint64(c)
		text, err := run(t, alone, "csv", Header{Chains: 1})
		if err != nil {
			t.Fatal(err)
		}
		var own []string
		for line := range strings.Lines(many) {
			if rest, ok := strings.CutPrefix(line, string(rune('0'+c))+","); ok {
				own = append(own, rest)
			}
		}
		if want := slices.Collect(strings.Lines(text))[1:]; !slices.Equal(own, want) {
			t.Errorf("chain %d has other numbers than alone", c)
		}
	}
	folder := filepath.Join(t.TempDir(), "draws.zarr")
	zarr, err := Lookup("zarr")
	if err != nil {
		t.Fatal(err)
	}
	h := Header{Chains: 3, Draws: 6, Dim: 256, Outputs: 200}
	w, err := New(zarr, nil, folder, h)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = linear(0.02).Run(t.Context(), w)
	if err := w.Close(err); err != nil {
		t.Fatal(err)
	}
	theta, err := readZarr(folder, "posterior/theta")
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range slices.Collect(strings.Lines(many))[1:] {
		fields := strings.Split(strings.TrimSpace(line), ",")
		draw, c := n/h.Chains, n%h.Chains
		if at := (c*h.Draws + draw) * h.Dim; !slices.Equal(numbers(t, fields[2:]), theta[at:at+h.Dim]) {
			t.Errorf("draw %d of chain %d has other numbers in zarr than in csv", draw, c)
		}
	}
}

// Draws state their cost in gradients of all data: 38 steps of a chain have as many gradients
// of a quarter of it, and svrg twice as many and one of all data in each epoch of four.
func TestDrawsStateWhatTheyCost(t *testing.T) {
	for estimator, want := range map[string]float64{"": 38. / 4, "svrg": 2*38./4 + 10} {
		c := linear(0.002)
		c.Spec.Estimator = estimator
		text, err := run(t, c, "jsonl", Header{Chains: 3, Numbered: true})
		file := filepath.Join(t.TempDir(), "draws.jsonl")
		if err = errors.Join(err, os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if side, err := Read(t.Context(), []string{file}, nil); err != nil || side.Gradients != 3*want {
			t.Errorf("%s: %v, %g: want %g", estimator, err, side.Gradients, 3*want)
		}
	}
	if got := fullGradients(chain.Counts{Gradients: 6, HessianVectors: 2}, 0); got != 10 {
		t.Errorf("two products cost %g gradients: want 4", got-6)
	}
}

// Chains are made of the caller's parts, and certified with them.
func TestChainsAreMadeOfTheCallersParts(t *testing.T) {
	own, err := integrators.Builtin().Lookup("euler")
	if err != nil {
		t.Fatal(err)
	}
	own.Name = "own"
	c := linear(0.02)
	c.Spec.Integrator, c.Spec.Batches = "own", 1
	if _, err := run(t, c, "csv", Header{Chains: 1}); err == nil || !strings.Contains(err.Error(), `"own"`) {
		t.Errorf("a chain of an integrator that nobody gave: %v", err)
	}
	if a := c.Attributes(t.Context()); a["not_certified"] == nil {
		t.Errorf("an integrator that nobody gave is certified: %v", a)
	}
	c.Parts.Integrators = integrators.Registry{own}
	theirs := c
	theirs.Parts, theirs.Spec.Integrator = chain.Registries{}, "euler"
	got, err := run(t, c, "csv", Header{Chains: 1})
	want, err2 := run(t, theirs, "csv", Header{Chains: 1})
	if err != nil || err2 != nil || got != want {
		t.Errorf("own integrator: %v, %v, equal to the same code under its built-in name: %v", err, err2, got == want)
	}
	if a := c.Attributes(t.Context()); a["certified_order_theta"] != 1.0 {
		t.Errorf("an integrator of order 1 is certified as %v", a)
	}
}

// The log density is −U, and the energy has the kinetic part besides, which under
// the full batch is ½ a number on average: of 256 numbers in 200 draws half a
// unit of time apart, whose mean has a standard deviation of 0.8 or less (0.7 over
// seeds); the step takes 0.2 away. A limit of 4 is exceeded at 2 seeds in a million.
func TestStatisticsAreThoseOfTheState(t *testing.T) {
	c := linear(0.02)
	c.Spec.Integrator, c.Spec.Batches, c.Plan = "baoab", 1, chain.Plan{BurnIn: 200, Samples: 200, Thin: 25}
	f, err := Lookup("zarr")
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(f, nil, filepath.Join(t.TempDir(), "out"), Header{Chains: 1, Draws: 200, Dim: 256, Outputs: 200})
	if err != nil {
		t.Fatal(err)
	}
	target, err := c.Target(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kinetic := 0.0
	inner := w.form
	w.form = form(func(d Draw) error {
		if want := -target.Potential(d.Theta); d.LogDensity != want {
			t.Errorf("draw %d has a log density of %v, want %v", d.Index, d.LogDensity, want)
		}
		kinetic += (d.Energy + d.LogDensity) / 200
		return inner(d)
	})
	_, _, err = c.Run(t.Context(), w)
	if err := w.Close(err); err != nil {
		t.Fatal(err)
	}
	if math.Abs(kinetic-128) > 4 {
		t.Errorf("the kinetic energy is %.1f on average, want 128", kinetic)
	}
}

// A run that fails says which chain did; its lines are those up to there, and
// there is no folder.
func TestARunThatFailsLeavesNoFolder(t *testing.T) {
	wild := linear(3)
	wild.Plan.Samples = 1000
	text, err := run(t, wild, "csv", Header{Chains: 2, Numbered: true})
	var diverged *chain.DivergedError
	if !errors.As(err, &diverged) || !strings.HasPrefix(err.Error(), "chain 0: ") || !strings.HasPrefix(text, "chain,draw,theta0,") {
		t.Errorf("%v, %.40q", err, text)
	}
	dir := t.TempDir()
	for _, name := range []string{"zarr"} {
		f, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(f, nil, filepath.Join(dir, name), Header{Chains: 2, Draws: 6, Dim: 256, Outputs: 200})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		c := linear(0.02)
		c.Progress = func(done, _ int) {
			if done == 4 {
				cancel()
			}
		}
		c.Plan.Samples = 1e6
		_, _, err = c.Run(ctx, w)
		if err = w.Close(err); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind: %v", left, err)
	}
}

// More chains than compute at a time all come to their draws. When a run is ended, those that have
// not begun do not begin.
func TestManyChainsTakeTurns(t *testing.T) {
	c := linear(0.02)
	c.Start = func(context.Context, models.Target, uint64) ([]float64, error) { return nil, nil }
	if text, err := run(t, c, "csv", Header{Chains: 2 * mostAtOnce, Numbered: true}); err != nil || strings.Count(text, "\n") != 1+2*mostAtOnce*c.Plan.Samples {
		t.Errorf("%v, %d lines", err, strings.Count(text, "\n"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var begun atomic.Int32
	c.Start = func(ctx context.Context, _ models.Target, _ uint64) ([]float64, error) {
		begun.Add(1)
		cancel()
		return nil, ctx.Err()
	}
	f, err := Lookup("csv")
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(f, io.Discard, "", Header{Chains: 1000, Numbered: true, Draws: c.Plan.Samples, Dim: 256, Outputs: 200})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Run(ctx, w); !errors.Is(err, context.Canceled) || begun.Load() > mostAtOnce {
		t.Errorf("%v: %d chains began", err, begun.Load())
	}
}

func TestAFolderThatIsThereIsRefused(t *testing.T) {
	f, err := Lookup("zarr")
	if err != nil {
		t.Fatal(err)
	}
	var bad *usage.Error
	for path, want := range map[string]string{t.TempDir(): "is there already", filepath.Join(t.TempDir(), "none", "out"): "no such file"} {
		if _, err := New(f, nil, path, Header{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// The orders in the attributes are those that certify finds of the integrator under
// the scheme, not its claims: leapfrog is exact in the covariance of θ with the
// full batch, and of order 2 under random orders.
func TestAttributesStateWhatIsCertified(t *testing.T) {
	for _, c := range []struct {
		reason, integrator, scheme string
		theta, joint               any
	}{
		{"the full batch", "leapfrog", "full", "exact", 1.0},
		{"random orders", "leapfrog", "reshuffle", 2.0, 1.0},
		{"batches drawn at every step", "mt3", "replacement", 1.0, 1.0},
	} {
		chains := linear(0.02)
		chains.Spec.Integrator, chains.Spec.Scheme = c.integrator, c.scheme
		a := chains.Attributes(t.Context())
		if a["certified_order_theta"] != c.theta || a["certified_order_joint"] != c.joint {
			t.Errorf("%s: %v", c.reason, a)
		}
	}
	chains := linear(0.001)
	chains.Spec.Integrator = "sgld"
	if a := chains.Attributes(t.Context()); a["certified_order_theta"] != 1.0 || a["certified_order_joint"] != nil {
		t.Errorf("a step without momenta: %v", a)
	}
	chains = linear(0.02)
	chains.Spec.Scheme = "importance"
	if a := chains.Attributes(t.Context()); a["not_certified"] == nil || a["certified_order_theta"] != nil {
		t.Errorf("a scheme that is not there is certified: %v", a)
	}
}

// Progress counts the draws of all chains, and the first one alone passes on its estimator's note.
func TestARunTellsItsProgressAndOneNote(t *testing.T) {
	c := linear(0.002)
	c.Start = func(context.Context, models.Target, uint64) ([]float64, error) { return nil, nil }
	c.Spec.Estimator = "cv"
	notes, last := atomic.Int32{}, [2]int{}
	c.Note = func(string) { notes.Add(1) }
	c.Progress = func(done, total int) { last = [2]int{done, total} }
	if _, err := run(t, c, "csv", Header{Chains: 3, Numbered: true}); err != nil {
		t.Fatal(err)
	}
	if last != [2]int{18, 18} || notes.Load() != 1 {
		t.Errorf("progress ends at %v, after %d notes: want 18 of 18, one", last, notes.Load())
	}
}

// The kinetic energy is that of the mass in use, rᵀM⁻¹r/2, and none without a momentum.
func TestTheKineticEnergyIsOfTheMassInUse(t *testing.T) {
	for integrator, want := range map[string]float64{"leapfrog": 7 + 0.25*9/2 + 4*1./2, "sgld": 7} {
		m, err := integrators.Builtin().Lookup(integrator)
		if err != nil {
			t.Fatal(err)
		}
		in, err := m.New(2, integrators.Params{Step: 0.1, Friction: 1, InvMass: []float64{0.25, 4}})
		if err != nil {
			t.Fatal(err)
		}
		z := in.NewState()
		copy(z.R, []float64{3, -1})
		if got := withKinetic(7, in, z); math.Abs(got-want) > 1e-14 {
			t.Errorf("%s: energy %v, want %v", integrator, got, want)
		}
	}
}

// No default step is beyond lietrotter's largest, though a flow that is exact be stable at any; and
// where there is no momentum, the friction bounds nothing.
func TestDefaultStepsOfOtherSchemes(t *testing.T) {
	of := func(integrator string, friction float64) (step, largest float64) {
		c := linear(0)
		c.Spec.Integrator, c.Spec.Params.Friction, c.Spec.Batches = integrator, friction, 1
		target, err := c.Target(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if step, largest, err = c.DefaultStep(t.Context(), target); err != nil {
			t.Fatal(err)
		}
		return step, largest
	}
	_, exact := of("exact", 5)
	if _, plain := of("lietrotter", 5); exact > plain {
		t.Errorf("exact flows up to %g, lietrotter to %g", exact, plain)
	}
	if step, largest := of("sgld", 1e6); step != largest/4 {
		t.Errorf("sgld: step %g, largest %g", step, largest)
	}
}

// The default step is a quarter of the largest stable one, and at most 1/(2C).
func TestDefaultStepIsBoundedByTheFriction(t *testing.T) {
	for friction, want := range map[float64]float64{5: 0, 100: 0.005} {
		c := linear(0)
		c.Spec.Integrator, c.Spec.Params.Friction = "lietrotter", friction // stable at any friction
		target, err := c.Target(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		step, largest, err := c.DefaultStep(t.Context(), target)
		if want == 0 {
			want = largest / 4
		}
		if err != nil || step != want || step > largest/4 {
			t.Errorf("C = %g: step %g, largest %g (%v), want %g", friction, step, largest, err, want)
		}
	}
}
