package estimators_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/models"
	"hambench/usage"
)

// anchored is an estimator as a program outside would write it, svrg: G_i(θ) − G_i(θ̂) +
// ∇U(θ̂), with θ̂ = θ at the start of every m steps. θ̂ and ∇U(θ̂) are its
// variables.
func anchored(m int64) estimators.Estimator {
	return estimators.Estimator{
		Name: fmt.Sprintf("anchored:%d", m), About: "stochastic variance-reduced gradient", Keeps: integrators.Available{HessianVectors: true},
		New: func(p estimators.Problem) (estimators.Instance, error) {
			if p.Batches == 0 {
				return nil, usage.Errorf("estimator \"anchored\" needs a fixed partition of the rows")
			}
			return &anchoredForce{full: p.Full, m: m, g: make([]float64, p.Dim)}, nil
		},
	}
}

type anchoredForce struct {
	full            integrators.Force
	m               int64
	own             int // where its variables start
	g, anchor, mean []float64
	batch           integrators.Force
}

func (e *anchoredForce) Begin(z *integrators.State) {
	e.own = len(z.Aux)
	z.Aux = append(z.Aux, make([]float64, len(z.Theta)), make([]float64, len(z.Theta)))
}

func (e *anchoredForce) Force(s estimators.Step, z *integrators.State) integrators.Force {
	e.batch, e.anchor, e.mean = s.Force, z.Aux[e.own], z.Aux[e.own+1]
	if s.Number%e.m == 0 {
		copy(e.anchor, z.Theta)
		e.full.Gradient(e.mean, e.anchor)
	}
	return e
}

func (e *anchoredForce) Gradient(g, theta []float64) {
	e.batch.Gradient(g, theta)
	e.batch.Gradient(e.g, e.anchor)
	for i := range g {
		g[i] += e.mean[i] - e.g[i]
	}
}

func (e *anchoredForce) HessianVector(hv, theta, v []float64) {
	e.batch.(integrators.HessianForce).HessianVector(hv, theta, v)
}

// springs pull θ to the rows' numbers, with stiffness 1 + row.
type springs struct {
	models.Target
	rows  int
	order []int
}

func (s *springs) Dim() int            { return 1 }
func (s *springs) Rows() int           { return s.rows }
func (s *springs) Arrange(order []int) { s.order = append(s.order[:0], order...) }

func (s *springs) Gradient(g, theta []float64, rows models.Rows) {
	g[0] = theta[0]
	for i := rows.Lo; i < rows.Hi; i++ {
		row := float64(s.order[i])
		g[0] += rows.Scale * (1 + row) * (theta[0] - row)
	}
}

var withAnchored = chain.Registries{Estimators: append(estimators.Builtin(), anchored(4))}

func TestAnEstimatorWrittenOutsideRunsInAChain(t *testing.T) {
	c, err := withAnchored.New(&springs{rows: 6}, chain.Spec{
		Integrator: "leapfrog", Params: integrators.Params{Step: 0.01, Friction: 1}, Estimator: "anchored:4", Batches: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	z := c.Start(0, []float64{2})
	var anchors []float64
	for range 5 {
		if err := c.Advance(t.Context(), z, 1); err != nil {
			t.Fatal(err)
		}
		anchors = append(anchors, z.Aux[0][0])
	}
	if anchors[0] != 2 || anchors[3] != 2 || anchors[4] == 2 {
		t.Errorf("anchors %v: want 2 for four steps, then another", anchors)
	}
	if mean := z.Aux[1][0]; math.Abs(mean-(22*anchors[4]-70)) > 1e-12 {
		t.Errorf("gradient at the anchor %v is %v", anchors[4], mean)
	}
	if got, want := c.Counts(), (chain.Counts{Steps: 5, Gradients: 10, FullGradients: 2}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if n := testing.AllocsPerRun(5, func() { err = c.Advance(t.Context(), z, 8) }); n > 1 || err != nil {
		t.Errorf("%g allocations in 8 steps (%v), want none beside the context", n, err)
	}
}

func TestWhatAnEstimatorCannotDoIsAUsageError(t *testing.T) {
	for _, tt := range []struct {
		spec chain.Spec
		want string
	}{
		{chain.Spec{Integrator: "leapfrog", Estimator: "svr"}, `unknown gradient estimator "svr" (did you mean svrg?): want one of plain, cv, svrg, saga, anchored:4`},
		{chain.Spec{Integrator: "exact", Estimator: "anchored:4"}, `integrator "exact" needs a linear-Gaussian force, which estimator "anchored:4" does not have`},
		{chain.Spec{Integrator: "exact", Estimator: "cv"}, `integrator "exact" needs a linear-Gaussian force, which estimator "cv" does not have`},
		{chain.Spec{Integrator: "leapfrog", Estimator: "saga", Scheme: "window", Batches: 2}, `estimator "saga" keeps a gradient of every batch of a fixed partition, which scheme "window" does not have`},
		{chain.Spec{Integrator: "leapfrog", Estimator: "svrg:0"}, `gradient estimator "svrg:0": want svrg:M with a number of steps M from 1`},
		{chain.Spec{Integrator: "leapfrog", Estimator: "svrg:x"}, `gradient estimator "svrg:x": want svrg:M with a number of steps M from 1`},
		{chain.Spec{Integrator: "mt3"}, `integrator "mt3" needs Hessian-vector products, which model "*estimators_test.springs" does not have`},
		{chain.Spec{Integrator: "leapfrog", Estimator: "anchored:4", Scheme: "repartition", Batches: 3}, `estimator "anchored" needs a fixed partition of the rows`},
	} {
		tt.spec.Params = integrators.Params{Step: 0.1, Friction: 1}
		_, err := withAnchored.New(&springs{rows: 6}, tt.spec)
		var mistake *usage.Error
		if !errors.As(err, &mistake) || err.Error() != tt.want {
			t.Errorf("error %v, want usage error %s", err, tt.want)
		}
	}
}

func TestEveryEstimatorStatesItself(t *testing.T) {
	for _, m := range estimators.Builtin() {
		if got, err := estimators.Builtin().Lookup(m.Name); err != nil || got.Name != m.Name || m.About == "" {
			t.Errorf("Lookup(%q) = %q (about %q), %v", m.Name, got.Name, got.About, err)
		}
	}
}

func TestFingerprintsChangeWithAnEstimatorsConstants(t *testing.T) {
	seen := make(map[string]string)
	for _, m := range []estimators.Estimator{estimators.Plain, anchored(1), anchored(64), anchored(65), estimators.ControlVariates, estimators.VarianceReduced(0), estimators.VarianceReduced(5), estimators.SAGA} {
		f, err := estimators.Fingerprint(m)
		if err != nil {
			t.Fatal(err)
		}
		if seen[f] != "" {
			t.Errorf("%s has the fingerprint of %s", m.Name, seen[f])
		}
		seen[f] = m.Name
	}
}

// How a mode is searched for decides the numbers of an estimator that asks for one, and of no other.
func TestFingerprintsChangeWithTheSearchForAMode(t *testing.T) {
	for _, m := range estimators.Builtin() {
		one, err := estimators.Fingerprint(m, 1, 500)
		other, err2 := estimators.Fingerprint(m, 2, 500)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if changed, asks := one != other, m.Name == estimators.ControlVariates.Name; changed != asks {
			t.Errorf("%s: the fingerprint changes with the search for a mode: %t, want %t", m.Name, changed, asks)
		}
	}
}
