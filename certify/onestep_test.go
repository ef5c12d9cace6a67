package certify

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"hambench/integrators"
	"hambench/usage"
)

// TestOneStepFindsWeakOrders holds what schemes state of one step; lietrotter,
// of ergodic order 2, is of weak order 1.
func TestOneStepFindsWeakOrders(t *testing.T) {
	for _, m := range All(gaussianBuiltin()) {
		if m.PositionOnly {
			_, err := Run(t.Context(), Options{Problem: gaussianBuiltin(), OneStep: true, Integrators: []integrators.Integrator{m}})
			if bad := new(usage.Error); !errors.As(err, &bad) || !strings.Contains(err.Error(), `integrator "sgld" moves the position alone`) {
				t.Errorf("error %v: want a usage error that names sgld", err)
			}
			continue
		}
		r := certifyOne(t, Options{Problem: gaussianBuiltin(), OneStep: true, InvMass: []float64{0.7, 1.9}}, m.Name, "full")
		worst := math.Inf(1)
		for _, o := range r.Observables {
			switch {
			case o.Verdict != Confirmed && o.Verdict != Exact:
				t.Errorf("%s, %s: %s", r.Integrator, o.Name, o.Verdict)
			case o.Verdict == Confirmed:
				worst = min(worst, float64(o.Order))
			}
		}
		if worst != m.Claims.WeakOrder {
			t.Errorf("%s: weak order %v, want %v", r.Integrator, worst, m.Claims.WeakOrder)
		}
	}
}

// With N_l inner steps and one refreshment an outer step is compared with a flow
// as long.
func TestOneStepOfInnerSteps(t *testing.T) {
	for _, name := range []string{"step.mean", "step.cov"} {
		o := certifyOne(t, Options{Problem: gaussianBuiltin(), OneStep: true, Inner: 4}, "lietrotter", "full").observable(t, name)
		if o.Verdict != Confirmed || o.Order != 1 {
			t.Errorf("%s: %s, order %v, want confirmed, 1", o.Name, o.Verdict, o.Order)
		}
	}
}

func TestOneStepRefusesScalarProblems(t *testing.T) {
	if _, err := Run(context.Background(), Options{Problem: scalarBuiltin(), OneStep: true}); err == nil {
		t.Error("one step of a scalar problem: no error")
	}
}
