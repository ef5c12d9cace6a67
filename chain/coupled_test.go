package chain_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"hambench/certify"
	"hambench/chain"
	"hambench/integrators"
	"hambench/internal/child"
	"hambench/models"
	"hambench/usage"
)

func toy(t *testing.T) models.Target {
	t.Helper()
	target, err := toyTarget()
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// differences are θ² of the coarse chain less that of the fine one, and the mean
// square of what the chains are apart, on the toy.
func differences(t *testing.T, s chain.Spec, plan chain.Plan) (squares []float64, apart float64) {
	t.Helper()
	c, err := chain.Registries{}.Couple(toy(t), toy(t), s)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Run(t.Context(), []float64{0}, plan, func(_ int, coarse, fine *integrators.State) error {
		a, b := coarse.Theta[0], fine.Theta[0]
		squares = append(squares, a*a-b*b)
		apart += (a - b) * (a - b) / float64(plan.Samples)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return squares, apart
}

// Coupled chains stay together: with half the step they are a half, or less, as
// far apart, for every scheme; and far nearer than independent ones, which are √2
// deviations apart.
func TestCoupledChainsStayTogether(t *testing.T) {
	for _, name := range []string{"euler", "rk2", "leapfrog", "symmetric", "lietrotter", "mt3", "ubu", "quicsort", "sgld", "baoab", "aboba", "obabo", "baoa", "split:OBABOAO"} {
		var apart []float64
		for _, h := range []float64{0.1, 0.05} {
			spec := chain.Spec{Integrator: name, Params: integrators.Params{Step: h, Friction: 2}, Key: 5}
			_, d := differences(t, spec, chain.Plan{BurnIn: 200, Samples: 2000, Thin: int(0.5 / h)})
			apart = append(apart, math.Sqrt(d))
		}
		deviation := math.Sqrt(1. / 3)
		t.Logf("%s: %.4f and %.4f deviations apart", name, apart[0]/deviation, apart[1]/deviation)
		// The ratio is at most 0.52, with a standard error of 0.012 over seeds: 0.6 is more than
		// five of these above it, and exceeded at fewer than one seed in a million.
		if !(apart[0] < 0.2*deviation) || !(apart[1] < 0.6*apart[0]) {
			t.Errorf("%s: %v and %v apart: want at most a fifth of %v, and half of that with half the step", name, apart[0], apart[1], deviation)
		}
	}
}

// Coupled chains share the noise of whole outer steps: of 3 kernels each, so that 4 steps are
// rounded up to 6 of the coarse chain, and 12 of the fine one.
func TestCoupledChainsRunWholeOuterSteps(t *testing.T) {
	c, err := chain.Registries{}.Couple(toy(t), toy(t), chain.Spec{Integrator: "lietrotter", Params: integrators.Params{Step: 0.1, Friction: 2, Inner: 3}, Key: 5})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Run(t.Context(), []float64{0}, chain.Plan{BurnIn: 4, Samples: 2, Thin: 4}, func(int, *integrators.State, *integrators.State) error { return nil })
	if a, b := c.Coarse.Counts().Steps, c.Fine.Counts().Steps; err != nil || a != 18 || b != 36 {
		t.Errorf("%d and %d steps, %v: want 18 and 36", a, b, err)
	}
	if n := c.Counts(); n.Steps != 54 || n.Gradients != 54 {
		t.Errorf("%+v: want the work of both, 54 steps of a gradient", n)
	}
}

// Coupled chains start with one momentum, so that they are near each other from the first step on:
// with a momentum of its own each would be about √2 apart.
func TestCoupledChainsStartWithOneMomentum(t *testing.T) {
	c, err := chain.Registries{}.Couple(toy(t), toy(t), chain.Spec{
		Integrator: "baoab", Params: integrators.Params{Step: 1e-4, Friction: 2}, Key: 5,
	})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Run(t.Context(), []float64{0}, chain.Plan{Samples: 1, Thin: 1},
		func(_ int, a, b *integrators.State) error {
			if d := a.R[0] - b.R[0]; math.Abs(d) > 1e-3 || a.R[0] == 0 {
				t.Errorf("momenta %v and %v after a step of 0.0001", a.R[0], b.R[0])
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

// The mean of the differences is that of the exact errors at h and at h/2, within 4 standard errors
// (Student's, of 100 blocks: one of the four tests goes wrong at one seed in 2 000), also with
// batches drawn at every step.
func TestCoupledChainsEstimateTheBias(t *testing.T) {
	for _, c := range []struct {
		integrator, scheme string
		batches            int
		sign               float64 // of the error of the variance
	}{{"obabo", "full", 1, 1}, {"ubu", "full", 1, -1}, {"baoab", "replacement", 2, 1}, {"quicsort", "replacement", 2, 1}} {
		const h = 0.4
		method, err := integrators.Builtin().Lookup(c.integrator)
		if err != nil {
			t.Fatal(err)
		}
		schemes, err := certify.Schemes(c.scheme)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := certify.Errors(t.Context(), certify.Options{
			Problem: certify.Toy(), Integrators: []integrators.Integrator{method}, Schemes: schemes, Steps: []float64{h, h / 2}, EveryStep: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		bias := c.sign * variances(rows[0])
		spec := chain.Spec{Integrator: c.integrator, Params: integrators.Params{Step: h, Friction: 2}, Scheme: c.scheme, Batches: c.batches, Key: 11}
		squares, _ := differences(t, spec, chain.Plan{BurnIn: 100, Samples: 20_000, Thin: 4})
		// Means of 100 blocks, each of hundreds of relaxation times.
		var blocks []float64
		for ; len(squares) > 0; squares = squares[200:] {
			blocks = append(blocks, stat.Mean(squares[:200], nil))
		}
		mean, sd := stat.MeanStdDev(blocks, nil)
		se := sd / math.Sqrt(float64(len(blocks)))
		t.Logf("%s under %s: %.5f ± %.5f, exactly %.5f", c.integrator, c.scheme, mean, se, bias)
		if !(math.Abs(mean-bias) < 4*se) || !(se < 0.1*math.Abs(bias)) {
			t.Errorf("%s under %s: the variances differ by %v ± %v, exactly by %v", c.integrator, c.scheme, mean, se, bias)
		}
	}
}

// variances is by how much the error of the variance is larger in size at the first
// step than at the second.
func variances(r certify.Row) float64 {
	for _, o := range r.Observables {
		if o.Name == "theta.cov" {
			return float64(o.Errors[0] - o.Errors[1])
		}
	}
	return math.NaN()
}

func TestChainsThatCannotBeCoupledAreNamed(t *testing.T) {
	for _, name := range []string{"sghmc", "sghmc-adaptive", "exact", "sgnht", "badodab"} {
		_, err := chain.Registries{}.Couple(toy(t), toy(t), chain.Spec{Integrator: name, Params: integrators.Params{Step: 0.1, Friction: 2}})
		if bad := new(usage.Error); !errors.As(err, &bad) || !strings.Contains(err.Error(), `integrator "`+name+`"`) {
			t.Errorf("%s: error %v: want a usage error that names it", name, err)
		}
	}
}

// What a model in another process fails with while draws are observed is the
// run's error.
func TestCoupledChainsReturnAFailureOfTheModel(t *testing.T) {
	spec := chain.Spec{Integrator: "ubu", Batches: 1}
	spec.Params.Step, spec.Params.Friction = 0.1, 1
	c, err := chain.Registries{}.Couple(toy(t), toy(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no predictions")
	err = c.Run(t.Context(), []float64{0}, chain.Plan{Thin: 1, Samples: 1}, func(int, *integrators.State, *integrators.State) error {
		panic(&child.Failure{Err: failed})
	})
	if !errors.Is(err, failed) {
		t.Errorf("error %v: want %v", err, failed)
	}
}
