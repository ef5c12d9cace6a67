package certify

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
)

var cornerCount = flag.Int("corners", 0, "random problems in TestNoTrueClaimIsRefuted")

// refutedOnce are corners in which a true claim was refuted once: at low friction errors level off
// far above the steps at which they vanish.
var refutedOnce = []uint64{9, 39, 57, 80, 112}

// TestNoTrueClaimIsRefuted certifies estimators, and integrators that are told the variance of the
// gradient, on problems of low friction. Their claims are right: none is refuted.
func TestNoTrueClaimIsRefuted(t *testing.T) {
	seeds := slices.Clone(sampled(refutedOnce, 1, 4))
	seeds = append(seeds, numbered(*cornerCount)...)
	decided := 0
	for _, seed := range seeds {
		c, rng := randomStabilityTrial(seed), rand.New(rand.NewPCG(4242, seed))
		names := []string{"saga", "saga", "plain", "svrg", "cv"}
		estimator, _ := estimators.Builtin().Lookup(names[rng.IntN(len(names))])
		names = []string{"leapfrog", "lietrotter", "baoab", "obabo", "symmetric"}
		m := methodOf(t, names[rng.IntN(len(names))])
		if estimator.Name == "plain" {
			estimator, m = estimators.Estimator{}, methodOf(t, "sghmc")
		}
		names = []string{"cyclic", "reshuffle", "replacement", "symmetric"}
		s, _ := Schemes(names[rng.IntN(len(names))])
		o := Options{Problem: c.problem, Integrators: []integrators.Integrator{m}, Schemes: s,
			InvMass: c.invMass, Estimator: estimator, Steps: []float64{0.01 / c.fast}}
		if o.Check() != nil { // the estimator's period and the scheme's do not fit
			continue
		}
		rows, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range rows[0].Observables {
			if x.Verdict == Refuted {
				t.Errorf("corner %d: %s, %s: %s refuted, order %v: %v", seed, m.Name,
					estimator.Name, x.Name, x.Order, c)
			}
			if x.Verdict == Confirmed || x.Verdict == Exact {
				decided++
			}
		}
	}
	t.Logf("%d corners, %d observables are decided", len(seeds), decided)
	if decided == 0 {
		t.Error("nothing is decided")
	}
}

// The rounding of the mean of equal batches is no pull: at a mean far from the origin it was
// taken for an error of order 0.
func TestEqualBatchesHaveNoErrorFarFromTheOrigin(t *testing.T) {
	cv, _ := estimators.Builtin().Lookup("cv")
	p := &Problem{Kind: Gaussian, Friction: 20}
	for range 3 {
		p.gaussian = append(p.gaussian, newAffineForce([]float64{955.7859, 31.7, 31.7, 128.123},
			[]float64{7.3e5, -4.1e5}))
	}
	for _, scheme := range []string{"replacement", "cyclic"} {
		o := certifyOne(t, Options{Problem: p, Estimator: cv, Steps: []float64{0.002}}, "lietrotter",
			scheme).observable(t, "theta.mean")
		if o.Verdict != Exact || !(o.Errors[0] <= o.Resolution[0]) {
			t.Errorf("%s: %s, error %v ± %v: want exact", scheme, o.Verdict, o.Errors[0],
				o.Resolution[0])
		}
	}
}

// A part that does not do what it states is refused before any work, by name.
func TestPartsAreHeldToWhatTheyState(t *testing.T) {
	costly := integrators.Define(integrators.Integrator{Name: "twice",
		Claims: integrators.Claims{ErgodicOrder: 1, PositionOrder: 1},
		Needs:  integrators.Needs{Gradients: 1, Normals: 1},
	}, func(d int, p integrators.Params) (kernel, refresh integrators.Stepper) {
		one, err := methodOf(t, "euler").New(d, p)
		if err != nil {
			t.Fatal(err)
		}
		return twice{one.Kernel}, nil
	})
	cyclic, _ := minibatch.Builtin().Lookup("cyclic")
	cyclic.Name, cyclic.Visits = "cycle", minibatch.Permutation{}
	for want, o := range map[string]Options{
		`integrator "twice" takes 2 gradients`: {Integrators: []integrators.Integrator{costly}},
		`scheme "cycle" states visits by`:      {Schemes: []minibatch.Scheme{cyclic}},
	} {
		o.Problem = gaussianBuiltin()
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// twice takes two steps where it says one.
type twice struct{ integrators.Stepper }

func (s twice) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	s.Stepper.Step(z, f, n)
	s.Stepper.Step(z, f, n)
}
