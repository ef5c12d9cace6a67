package certify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/integrators"
)

// quadratic returns the coefficients of h² of an engine's signed errors.
func quadratic(t *testing.T, at func(h float64) (markov.Point, error), largest float64) []coefficient {
	t.Helper()
	var out []coefficient
	var nodes [][]node
	for i := range 8 {
		h := math.Ldexp(largest, -i)
		p, err := at(h)
		if err != nil {
			t.Fatal(err)
		}
		for o, x := range p.Observed {
			if i == 0 {
				nodes = append(nodes, nil)
			}
			nodes[o] = append(nodes[o], node{h, x.Signed, x.RelativeResolution})
		}
	}
	for _, n := range nodes {
		out = append(out, expand(n, 1, func(x []float64) float64 { return floats.Norm(x, 2) })[2])
	}
	return out
}

// known reports whether a coefficient has the digits that are compared.
func (c coefficient) known() bool { return c.bound < 3e-4*c.size }

// TestClosedFormIsTheEnginesOnGaussianProblems compares with the exact flow of
// each batch, to three digits, on random problems of the property test, every
// other one with a random mass.
func TestClosedFormIsTheEnginesOnGaussianProblems(t *testing.T) {
	compared, masses, rng := 0, 0, rand.New(rand.NewPCG(5, 5))
	for seed := uint64(0); compared < 12; seed++ {
		p := randomTrial(t, seed).problem
		var invMass []float64
		for range p.Dim() * int(seed%2) {
			invMass = append(invMass, logUniform(rng, -0.3, 0.3))
		}
		o := Options{Problem: p, InvMass: invMass}
		given, err := o.engine()
		if err != nil {
			t.Fatal(err)
		}
		judge, _, err := given.Judging() // of terms that are seen
		if err != nil {
			t.Fatal(err)
		}
		e := judge.(*gaussian.Engine)
		if c := e.Pace(); p.Batches() < 2 || c.Fast > 30*c.Slow {
			continue
		}
		mean, cov := e.ClosedForm()
		if mat.Norm(cov, 2) == 0 {
			continue // batches of equal curvature
		}
		m, err := integrators.Builtin().Lookup("exact")
		if err != nil {
			t.Fatal(err)
		}
		s, err := Schemes("reshuffle")
		if err != nil {
			t.Fatal(err)
		}
		solver := newSolver(&o, e, m)
		found := quadratic(t, func(h float64) (markov.Point, error) { return solver.at(context.Background(), s[0], h) }, 0.5/e.Pace().Fast)
		if !found[0].known() || !found[1].known() {
			continue
		}
		compared++
		masses += int(seed % 2)
		for _, c := range []struct {
			name      string
			got, want []float64
		}{{"mean", found[0].value, mean.RawVector().Data}, {"covariance", found[1].value, cov.RawMatrix().Data}} {
			if off := floats.Distance(c.got, c.want, 2); off > 1e-3*floats.Norm(c.want, 2) {
				t.Errorf("trial %d, M⁻¹ = %v, %s: %v h², closed form %v", seed, invMass, c.name, c.got, c.want)
			}
		}
	}
	if masses < 4 {
		t.Errorf("%d of %d problems have a mass: want at least 4", masses, compared)
	}
}

// The term grows like K: batches of the same spread, twice and four times as
// many of them.
func TestBottleneckGrowsLikeTheNumberOfBatches(t *testing.T) {
	for _, k := range []int{2, 4, 8} {
		p := &Problem{Kind: Gaussian, Friction: 1.5}
		for i := range k {
			p.gaussian = append(p.gaussian, newAffineForce([]float64{1 + 0.6*float64(1-2*(i%2))}, []float64{0}))
		}
		whole := certifyOne(t, Options{Problem: p}, "exact", "reshuffle")
		row := whole.observable(t, "theta.cov")
		// Constants keep their uncertainty, from an epoch of up to 6 times 1/ω, too.
		large := certifyOne(t, Options{Problem: p, Steps: []float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.025, 0.0125}}, "exact", "reshuffle").observable(t, "theta.cov")
		for _, o := range []Observable{row, large} {
			if off := math.Abs(float64(o.Constant)/(0.06*float64(k)) - 1); !(off <= float64(o.Uncertainty)) {
				t.Errorf("K = %d: constant %v is off by %.2g (relative), stated uncertainty %.2g", k, o.Constant, off, o.Uncertainty)
			}
		}
		if want, got := 0.06*float64(k), float64(whole.ClosedForm["theta.cov"]); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("K = %d: the row's closed form is %v, want %v", k, got, want)
		}
		if want := 0.06 * float64(k); math.Abs(float64(row.Constant)/want-1) > 1e-3 || row.Order != 2 {
			t.Errorf("K = %d: %v h^%v, want %v h²", k, row.Constant, row.Order, want)
		}
	}
}

// A row states the closed form where it is the expansion of the row's own chain.
func TestClosedFormStandsBesideItsChainAlone(t *testing.T) {
	toy := certifyOne(t, Options{Problem: Toy()}, "exact", "reshuffle")
	if c := toy.ClosedForm; len(c) != 2 || c["theta.mean"] != 0 || c["theta.cov"] != 0 {
		t.Errorf("toy: closed form %v, want two zeros: its batches differ by constant forces", c)
	}
	for _, c := range []struct{ integrator, scheme string }{{"exact", "replacement"}, {"exact", "full"}, {"mt3", "reshuffle"}} {
		if r := certifyOne(t, Options{Problem: gaussianBuiltin()}, c.integrator, c.scheme); r.ClosedForm != nil {
			t.Errorf("%s, %s: closed form %v, want none", c.integrator, c.scheme, r.ClosedForm)
		}
	}
}
