package integrators

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/usage"
)

func TestLookupFindsEveryIntegrator(t *testing.T) {
	for _, m := range Builtin() {
		got, err := Builtin().Lookup(m.Name)
		if err != nil || got.Name != m.Name {
			t.Errorf("Builtin().Lookup(%q) = %q, %v", m.Name, got.Name, err)
		}
		if m.About == "" || m.Claims.Source == "" || strings.Contains(m.About, "\n") {
			t.Errorf("%s: about %q, source %q: want one line each", m.Name, m.About, m.Claims.Source)
		}
		if m.Claims.PositionOrder < m.Claims.ErgodicOrder || m.Claims.ErgodicOrder < m.Claims.WeakOrder {
			t.Errorf("%s: orders %v (θ), %v (joint), %v (weak) are not decreasing", m.Name, m.Claims.PositionOrder, m.Claims.ErgodicOrder, m.Claims.WeakOrder)
		}
	}
}

func TestSplitWordsAreNormalised(t *testing.T) {
	if m := lookup(t, "split:baOab"); m.Name != "split:BAOAB" {
		t.Errorf("name %q, want split:BAOAB", m.Name)
	}
}

func TestLookupErrors(t *testing.T) {
	tests := []struct{ name, want string }{
		{"leapfrg", `unknown integrator "leapfrg" (did you mean leapfrog?): want one of euler, rk2, leapfrog, symmetric, lietrotter, mt3, sghmc, sghmc-adaptive, exact, ubu, quicsort, midpoint, sgld, psgld, sgnht, badodab, baoab, aboba, obabo, baoa, or split:WORD with a word of A, B and O`},
		{"split:BAB", `splitting word "BAB": O is missing: want letters A (drift), B (kick), O (friction and noise), each at least once`},
		{"split:", `splitting word "": A is missing: want letters A (drift), B (kick), O (friction and noise), each at least once`},
		{"split:BAXOθ", `splitting word "BAXOθ": unknown letter 'X': want letters A (drift), B (kick), O (friction and noise), each at least once`},
		{"split:BAOθ", `splitting word "BAOθ": unknown letter 'θ': want letters A (drift), B (kick), O (friction and noise), each at least once`},
		{"split:" + strings.Repeat("BAO", 22), `splitting word of 66 letters: want at most 64`},
	}
	for _, tt := range tests {
		_, err := Builtin().Lookup(tt.name)
		checkUsage(t, err, tt.want)
	}
}

func checkUsage(t *testing.T, err error, want string) {
	t.Helper()
	var mistake *usage.Error
	if !errors.As(err, &mistake) {
		t.Errorf("error %v is not a usage error; want %q", err, want)
		return
	}
	if err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestBadParameters(t *testing.T) {
	good := Params{Step: 0.1, Friction: 1}
	with := func(change func(p *Params)) Params {
		p := good
		change(&p)
		return p
	}
	tests := []struct {
		method string
		dim    int
		p      Params
		want   string
	}{
		{"leapfrog", 0, good, "leapfrog: dimension 0: want at least 1"},
		{"leapfrog", 2, with(func(p *Params) { p.Step = -0.1 }), "leapfrog: step h = -0.1: want a finite number > 0"},
		{"leapfrog", 2, with(func(p *Params) { p.Step = math.NaN() }), "leapfrog: step h = NaN: want a finite number > 0"},
		{"leapfrog", 2, with(func(p *Params) { p.Step = math.Inf(1) }), "leapfrog: step h = +Inf: want a finite number > 0"},
		{"ubu", 2, with(func(p *Params) { p.Friction = 0 }), "ubu: friction C = 0: want a number > 0"},
		{"ubu", 2, with(func(p *Params) { p.Friction = math.NaN() }), "ubu: friction C = NaN: want a number > 0"},
		{"ubu", 2, with(func(p *Params) { p.Friction = math.Inf(1) }), "ubu: friction C = +Inf: want a finite number > 0 (the integrator does not refresh the momentum in full)"},
		{"mt3", 2, with(func(p *Params) { p.Inner = 3 }), "mt3: N_l = 3 inner steps: want 1 (the scheme has no inner steps)"},
		{"lietrotter", 2, with(func(p *Params) { p.Inner = -1 }), "lietrotter: N_l = -1 inner steps: want at least 1"},
		{"euler", 2, with(func(p *Params) { p.InvMass = []float64{1} }), "euler: inverse mass of length 1: want 2, one number per parameter"},
		{"euler", 2, with(func(p *Params) { p.InvMass = []float64{1, 0} }), "euler: inverse mass of parameter 1 is 0: want a finite number > 0"},
		{"euler", 2, with(func(p *Params) { p.InvMass = []float64{math.Inf(1), 1} }), "euler: inverse mass of parameter 0 is +Inf: want a finite number > 0"},
	}
	for _, tt := range tests {
		_, err := lookup(t, tt.method).New(tt.dim, tt.p)
		checkUsage(t, err, tt.want)
	}
}

func TestParametersAreCopied(t *testing.T) {
	mass := []float64{2}
	in, err := lookup(t, "leapfrog").New(1, Params{Step: 0.1, Friction: 1, InvMass: mass})
	if err != nil {
		t.Fatal(err)
	}
	mass[0] = 7
	if got := in.InvMass(); got[0] != 2 || in.Batches != 1 {
		t.Errorf("inverse mass %v after the caller changed his slice, %d batches", got, in.Batches)
	}
}

// States do not share their auxiliary variables, whatever slices the integrator hands out.
func TestStatesHaveTheirOwnVariables(t *testing.T) {
	shared := []Variable{{Name: "count", Start: []float64{0}, Open: true}}
	m := Integrator{Name: "counting", Variables: func(int, Params) []Variable { return shared }}
	in := &Instance{Integrator: m, Dim: 2}
	in.NewState().Aux[0][0]++
	if got := in.NewState().Aux[0][0]; got != 0 {
		t.Errorf("a new state starts with %v: want 0", got)
	}
}

func TestCostsMatchClaims(t *testing.T) {
	for _, m := range everyIntegrator(t) {
		for _, friction := range []float64{1, 1e-8, 1e8, math.Inf(1)} { // of a problem in other units
			if math.IsInf(friction, 1) && !m.FullRefreshment {
				continue
			}
			for _, step := range []float64{1e-300, 0.1, 1e300} {
				if err := m.CheckNeeds(Params{Step: step, Friction: friction}); err != nil {
					t.Error(err)
				}
			}
		}
		for name, change := range map[string]func(n *Needs){
			"gradients": func(n *Needs) { n.Gradients++ }, "normals": func(n *Needs) { n.Normals-- },
			"products": func(n *Needs) { n.HessianVectors += 2 },
		} {
			wrong := m
			change(&wrong.Needs)
			err := wrong.CheckNeeds(Params{Step: 0.1, Friction: 1})
			if err == nil || !strings.Contains(err.Error(), m.Name) || !strings.Contains(err.Error(), "its Needs say") {
				t.Errorf("%s: error %v for other %s: want one that names the integrator", m.Name, err, name)
			}
		}
	}
}

// What a parameter of its own adds to a scheme's needs counts where it is set.
func TestNeedsDependOnTheOwnParameters(t *testing.T) {
	m := lookup(t, "psgld")
	for gamma, want := range map[float64]Needs{
		0: {Gradients: 1, Normals: 1}, 1: {Gradients: 1, HessianVectors: 1, Normals: 2},
	} {
		p := Params{Step: 0.1, Friction: 1, Values: map[string]float64{psgldGradient: gamma}}
		in, err := m.New(2, p)
		if err != nil || in.Integrator.Needs != want {
			t.Errorf("gamma = %g: needs %+v, %v: want %+v", gamma, in.Integrator.Needs, err, want)
		}
		if err := m.CheckNeeds(p); err != nil {
			t.Errorf("gamma = %g: %v", gamma, err)
		}
		wrong := m
		wrong.Parameters = slices.Clone(m.Parameters)
		wrong.Parameters[len(wrong.Parameters)-1].Needs.Normals++
		if err := wrong.CheckNeeds(p); (err != nil) != (gamma != 0) {
			t.Errorf("gamma = %g: error %v for a parameter that states one normal more", gamma, err)
		}
	}
}

// A product with the Hessian costs as much as two gradients, and a step without any as one.
func TestCostIsInGradients(t *testing.T) {
	for want, n := range map[float64]Needs{
		1: {Affine: true, Normals: 2}, 2: {Gradients: 2}, 5: {Gradients: 3, HessianVectors: 1},
	} {
		if got := n.Cost(); got != want {
			t.Errorf("%+v: cost %g, want %g", n, got, want)
		}
	}
}

// On a well of curvature λ steps are stable up to 2/√λ, or up to 2/λ without a momentum.
func TestStableStepsOfPositionsAlone(t *testing.T) {
	const lambda = 25
	for name, want := range map[string]float64{"leapfrog": 2. / 5, "sgld": 2. / lambda} {
		got := lookup(t, name).StableStep(2 / math.Sqrt(lambda))
		if math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
}

func TestSplitWordsHaveAtMost64Letters(t *testing.T) {
	word := strings.Repeat("BAO", 21) + "B"
	if m := lookup(t, splitPrefix+word); m.Name != splitPrefix+word {
		t.Errorf("a word of 64 letters is called %s", m.Name)
	}
}

// ones is noise without an end.
type ones []float64

func (n ones) Normal(dst []float64) { copy(dst, n) }
func (n ones) Update(u *Update)     { u.Apply(n) }

func TestStepsDoNotAllocate(t *testing.T) {
	for _, m := range everyIntegrator(t) {
		for _, p := range targets()[1:] {
			in, err := m.New(3, Params{Step: 0.01, Friction: p.c, InvMass: p.invMass}) // adapting, where it can
			if err != nil {
				t.Fatal(err)
			}
			z, f := in.NewState(), Force(p.force)
			var n Noise = ones{0.3, -0.2, 0.1}
			next := func() Force { return f }
			if got := testing.AllocsPerRun(100, func() { in.OuterSteps(z, next, n, 1) }); got != 0 {
				t.Errorf("%s, %s: %v allocations a step", m.Name, p.name, got)
			}
		}
	}
}

// Numbers that overflow stay in the state for the time loop to find; nothing
// panics on them.
func TestStepsSurviveOverflow(t *testing.T) {
	for _, m := range everyIntegrator(t) {
		p := targets()[1]
		in := p.newAt(t, m, 0.1, 1)
		z := in.NewState()
		z.Theta[0], z.R[0] = math.Inf(1), math.NaN()
		var n Noise = ones{1, 1, 1}
		in.OuterSteps(z, func() Force { return p.force }, n, 1)
		if !math.IsNaN(z.Theta[0]) && !math.IsInf(z.Theta[0], 0) {
			t.Errorf("%s: θ became %v out of +Inf", m.Name, z.Theta[0])
		}
	}
}
