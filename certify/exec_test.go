package certify

import (
	"context"
	"errors"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/usage"
)

// theirs starts the sampler of testdata/sampler.py.
func theirs(t *testing.T, arguments string) *Sampler {
	t.Helper()
	return started(t, "sampler.py "+arguments)
}

// started starts a sampler in Python, of testdata.
func started(t *testing.T, command string) *Sampler {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
	s, err := StartSampler(t.Context(), "python3 testdata/"+command, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func rowsOf(t *testing.T, p *Problem, m integrators.Integrator, inner int, steps ...float64) []Row {
	t.Helper()
	o := Options{Problem: p, Integrators: []integrators.Integrator{m}, Inner: inner, Steps: steps}
	find := Run
	if p.Kind == Scalar { // an order takes many more steps, and says no more of the step
		find, o.Steps = Errors, steps[1:]
	}
	rows, err := find(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// A step in another process has the errors that the same step has here: to
// round-off on Gaussian problems, within the resolution on scalar ones.
func TestAnExternalSamplerHasTheErrorsOfOurOwn(t *testing.T) {
	type ours struct {
		arguments, ours string
		inner           int
	}
	for _, tt := range sampled([]ours{
		{"leapfrog:2", "leapfrog", 1},
		{"leapfrog:3", "leapfrog", 1}, // with an auxiliary variable that nothing depends on
		{"baoab:2", "baoab", 1},
		{"sgld:1", "sgld", 1},
		{"lietrotter:2", "lietrotter", 2}, // two batches a step
		{"psgld:3", "psgld", 1},           // with a positive variable and no momentum
	}, 1, 3, 4, 5) {
		t.Run(tt.arguments, func(t *testing.T) {
			s := theirs(t, tt.arguments)
			ours, err := integrators.Builtin().Lookup(tt.ours)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []*Problem{gaussianBuiltin(), scalarBuiltin()} {
				if p.Takes(s.Integrator()) != nil {
					continue
				}
				steps := []float64{0.1, 0.05}
				theirs, own := rowsOf(t, p, s.Integrator(), tt.inner, steps...), rowsOf(t, p, ours, tt.inner, steps...)
				if len(theirs) != len(own) || len(own) == 0 {
					t.Fatalf("%s: %d rows, ours are %d", p.Name, len(theirs), len(own))
				}
				for i, r := range theirs {
					if r.Inner != tt.inner || !strings.HasPrefix(r.Integrator, "their-") {
						t.Errorf("%s: row of %q with N_l = %d", p.Name, r.Integrator, r.Inner)
					}
					compareErrors(t, r, own[i])
				}
			}
			_, err = Run(context.Background(), Options{Problem: gaussianBuiltin(), Integrators: []integrators.Integrator{s.Integrator()}, Inner: tt.inner + 1})
			if tt.inner > 1 && (err == nil || !strings.Contains(err.Error(), "takes 2 batches a step, and N_l = 3 is asked for")) {
				t.Errorf("N_l = %d: %v", tt.inner+1, err)
			}
			calls, taken := s.Calls()
			if calls == 0 || taken < 5*calls {
				t.Errorf("%d steps in %d calls: want few, large calls", taken, calls)
			}
		})
	}
}

func compareErrors(t *testing.T, theirs, ours Row) {
	t.Helper()
	if len(theirs.Observables) != len(ours.Observables) || len(ours.Observables) == 0 {
		t.Fatalf("%d observables, ours are %d", len(theirs.Observables), len(ours.Observables))
	}
	for i, o := range theirs.Observables {
		own := ours.Observables[i]
		if o.Verdict != own.Verdict || o.Order != own.Order && !math.IsNaN(float64(own.Order)) {
			t.Errorf("%s %s %s: %s, order %v; ours %s, order %v", theirs.Problem, theirs.Scheme, o.Name, o.Verdict, o.Order, own.Verdict, own.Order)
		}
		for j := range o.Errors {
			allowed := 1e-11
			if theirs.Engine == Scalar {
				allowed = math.Max(allowed, float64(o.Resolution[j]+own.Resolution[j]))
			}
			if d := math.Abs(float64(o.Errors[j] - own.Errors[j])); !(d <= allowed) {
				t.Errorf("%s %s %s at h = %v: error %.15g, ours %.15g", theirs.Problem, theirs.Scheme, o.Name, theirs.Steps[j], float64(o.Errors[j]), float64(own.Errors[j]))
			}
		}
	}
}

// A sampler in another process makes its own use of the forces: an estimator is refused, not handed
// to it.
func TestAnExternalSamplerTakesNoEstimator(t *testing.T) {
	_, err := Run(t.Context(), Options{Problem: gaussianBuiltin(), Inner: 1, Estimator: estimators.Builtin()[1],
		Integrators: []integrators.Integrator{theirs(t, "leapfrog:2").Integrator()}})
	if bad := new(usage.Error); !errors.As(err, &bad) || !strings.Contains(err.Error(), "want plain") {
		t.Errorf("with an estimator: %v", err)
	}
}

// Negative controls: a bug in a step is refuted, or leaves no law to speak of.
func TestABugOfAnExternalSamplerIsFound(t *testing.T) {
	type bug struct {
		arguments string
		want      Verdict
	}
	for _, tt := range sampled([]bug{
		{"leapfrog:2 noise", Refuted},
		{"leapfrog:2 half", Refuted},
		{"leapfrog:2 friction", Lawless},
		{"leapfrog:2 silent", Silent},
		{"leapfrog:2 adrift", Adrift},
		{"baoab:2 noise", Refuted},
		{"baoab:2 half", Refuted},
		{"baoab:2 friction", Lawless},
		{"baoab:2 frozen", Frozen},
		{"sgld:1 noise", Refuted},
		{"sgld:1 half", Refuted},
		{"sgld:1 friction", Adrift},
	}, 0, 2, 3, 4, 6, 8, 10) {
		t.Run(tt.arguments, func(t *testing.T) {
			s := theirs(t, tt.arguments)
			for _, p := range []*Problem{gaussianBuiltin(), Toy()} {
				rows := rowsOf(t, p, s.Integrator(), 1, 0.1, 0.05)
				if r := rows[0]; !slices.ContainsFunc(r.Observables, func(o Observable) bool { return o.Verdict == tt.want }) {
					t.Errorf("%s %s: %+v, want %s", p.Name, r.Scheme, r.Observables, tt.want)
				}
			}
		})
	}
}

// What acts a step later, by an auxiliary vector, is no bug: both samplers are of order 1.
func TestASamplerMayKeepItsForceForAStep(t *testing.T) {
	for _, kind := range []string{"stale", "carried"} {
		sampler := started(t, "lag.py "+kind).Integrator()
		row := rowsOf(t, gaussianBuiltin(), sampler, 1, 0.1, 0.05)[0]
		if o := row.observable(t, "theta.cov"); o.Verdict != Confirmed || o.Order != 1 {
			t.Errorf("%s: %s, order %v: want order 1, confirmed", kind, o.Verdict, o.Order)
		}
	}
}

// What a sampler says of its auxiliary variables is checked, and held to.
func TestWhatAnExternalSamplerSaysOfItsVariables(t *testing.T) {
	for _, tt := range []struct {
		hello greeting
		want  string
	}{
		{greeting{State: 3, Auxiliary: make([]auxiliary, 2)}, "2 auxiliary variables with a state of 3 vectors: want 1, or none"},
		{greeting{State: 3, Auxiliary: []auxiliary{{Name: "v", Positive: true}}}, `auxiliary variable "v": start 0, deviation 0: want`},
		{greeting{State: 3, Auxiliary: []auxiliary{{Name: "z", Deviation: -1}}}, `auxiliary variable "z": start 0, deviation -1: want`},
	} {
		tt.hello.Normals, tt.hello.Batches, tt.hello.Gradients = 1, 1, 1
		checkUsageError(t, tt.hello.check(), tt.want)
	}
	s := theirs(t, "psgld:3 negative")
	_, err := Run(t.Context(), Options{Problem: normalProblem(), Integrators: []integrators.Integrator{s.Integrator()}})
	checkUsageError(t, err, `integrator "their-psgld": variable "v" is -`)
	_, err = Run(t.Context(), Options{Problem: gaussianBuiltin(), Integrators: []integrators.Integrator{s.Integrator()}})
	checkUsageError(t, err, `integrator "their-psgld" is not affine in its state`)
}

// A step counts by the gradients that it says it takes, as our own does: baoab's takes two.
func TestAnExternalSamplerCostsWhatItSays(t *testing.T) {
	ours, err := integrators.Builtin().Lookup("baoab")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []integrators.Integrator{theirs(t, "baoab:2").Integrator(), ours} {
		rows, err := Run(t.Context(), Options{Problem: Toy(), Integrators: []integrators.Integrator{m},
			Steps: []float64{0.2}, Budgets: []float64{100}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			want := 2.0
			if r.Scheme == "full" {
				want = 4 // two batches
			}
			if float64(r.Cost) != want {
				t.Errorf("%s %s: a step costs %v gradients, want %v", r.Integrator, r.Scheme, r.Cost, want)
			}
		}
	}
	g := defaultGreeting
	g.Name, g.Gradients = "x", 0
	checkUsageError(t, g.check(), "gradients 0: want 1 to 64 a step and batch")
}

// Of two claims that are out of range the message names the same one in every run.
func TestTheFirstClaimOutOfRangeIsNamed(t *testing.T) {
	g := defaultGreeting
	g.Name, g.Claims = "x", claims{Position: -1, Joint: -2}
	for range 50 {
		if err := g.check(); err == nil || !strings.Contains(err.Error(), "claim -1 on the order (position)") {
			t.Fatalf("%v, want the claim on the position's law", err)
		}
	}
}
