package integrators

import (
	"math"
	"slices"
	"strings"

	"hambench/usage"
)

// Methods returns every scheme that has a name of its own. The splitting
// words beyond them are made by Lookup.
func Methods() []Method {
	return append([]Method{
		eulerMethod(),
		rk2Method(),
		leapfrogMethod(),
		symmetricMethod(),
		lieTrotterMethod(),
		mt3Method(),
		sghmcMethod(),
		sghmcAdaptiveMethod(),
		exactMethod(),
		ubuMethod(),
	}, splittings()...)
}

// Lookup returns the scheme of a name, which may be split:WORD. An unknown
// name is a usage error that lists what there is.
func Lookup(name string) (Method, error) {
	if strings.HasPrefix(name, splitPrefix) {
		return parseSplit(name)
	}
	var names []string
	for _, m := range Methods() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, usage.Errorf("unknown integrator %q: want one of %s, or split:WORD with a word of A, B and O", name, strings.Join(names, ", "))
}

// limits say which parameters a scheme takes beyond those that all take.
type limits struct {
	inner        bool // Inner > 1
	infiniteDamp bool // Friction = +Inf
}

// define completes a method: its New checks the parameters and hands them,
// in range, to build. A scheme without a refreshment of its own returns nil
// for it.
func define(m Method, l limits, build func(dim int, p Params) (kernel, refresh Stepper)) Method {
	m.New = func(dim int, p Params) (*Integrator, error) {
		p, err := p.checked(m.Name, dim, l)
		if err != nil {
			return nil, err
		}
		kernel, refresh := build(dim, p)
		return &Integrator{Method: m, Params: p, Batches: p.Inner, Kernel: kernel, Refresh: refresh}, nil
	}
	return m
}

// checked returns the parameters with their defaults filled in and slices of
// their own.
func (p Params) checked(name string, dim int, l limits) (Params, error) {
	if dim < 1 {
		return p, usage.Errorf("%s: dimension %d: want at least 1", name, dim)
	}
	if !(p.Step > 0) || math.IsInf(p.Step, 0) {
		return p, usage.Errorf("%s: step h = %v: want a finite number > 0", name, p.Step)
	}
	if err := checkFriction(name, p.Friction, l); err != nil {
		return p, err
	}
	if p.Inner == 0 {
		p.Inner = 1
	}
	if p.Inner < 1 {
		return p, usage.Errorf("%s: N_l = %d inner steps: want at least 1", name, p.Inner)
	}
	if p.Inner > 1 && !l.inner {
		return p, usage.Errorf("%s: N_l = %d inner steps: want 1 (only lietrotter takes more)", name, p.Inner)
	}
	if err := checkInvMass(name, dim, p.InvMass); err != nil {
		return p, err
	}
	p.InvMass = slices.Clone(p.InvMass)
	return p, nil
}

func checkFriction(name string, c float64, l limits) error {
	switch {
	case !(c > 0):
		return usage.Errorf("%s: friction C = %v: want a number > 0", name, c)
	case math.IsInf(c, 1) && !l.infiniteDamp:
		return usage.Errorf("%s: friction C = +Inf: want a finite number > 0 (only lietrotter and splitting words refresh the momentum in full)", name)
	}
	return nil
}

func checkInvMass(name string, dim int, invMass []float64) error {
	if invMass == nil {
		return nil
	}
	if len(invMass) != dim {
		return usage.Errorf("%s: inverse mass of length %d: want %d, one number per parameter", name, len(invMass), dim)
	}
	for i, m := range invMass {
		if !(m > 0) || math.IsInf(m, 0) {
			return usage.Errorf("%s: inverse mass of parameter %d is %v: want a finite number > 0", name, i, m)
		}
	}
	return nil
}

// one is the coefficient 1.
var one = Coef{All: 1}

// times is the term c∘x of a linear combination.
func times(c Coef, x []float64) Term { return Term{C: c, X: x} }

// coef evaluates a coefficient at the inverse mass of every coordinate.
func (p Params) coef(at func(m float64) float64) Coef {
	if p.InvMass == nil {
		return Coef{All: at(1)}
	}
	c := Coef{Each: make([]float64, len(p.InvMass))}
	for i, m := range p.InvMass {
		c.Each[i] = at(m)
	}
	return c
}

// vectors cuts count vectors of length dim from one allocation.
func vectors(count, dim int) [][]float64 {
	all, v := make([]float64, count*dim), make([][]float64, count)
	for i := range v {
		v[i] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return v
}

// drift is the coefficient of θ ← θ + t M⁻¹ r.
func (p Params) drift(t float64) Coef {
	return p.coef(func(m float64) float64 { return t * m })
}

// friction returns the coefficients of exact friction and noise over a time
// t, the Ornstein–Uhlenbeck flow r ← e^{−C M⁻¹ t} r + √(M(1 − e^{−2C M⁻¹ t})) ξ.
func (p Params) friction(t float64) (decay, noise Coef) {
	decay = p.coef(func(m float64) float64 { return math.Exp(-p.Friction * m * t) })
	noise = p.coef(func(m float64) float64 { return math.Sqrt(-math.Expm1(-2*p.Friction*m*t) / m) })
	return decay, noise
}
