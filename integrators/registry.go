package integrators

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"hambench/usage"
)

// Registry is a list of schemes, each with a name of its own.
type Registry []Integrator

// Builtin returns the schemes of this package that have a name of their own.
// A program with schemes of its own appends them.
func Builtin() Registry {
	return append(Registry{
		eulerIntegrator,
		rk2Integrator,
		leapfrogIntegrator,
		symmetricIntegrator,
		lieTrotterIntegrator,
		mt3Integrator,
		sghmcIntegrator,
		sghmcAdaptiveIntegrator,
		exactIntegrator,
		ubuIntegrator,
		quicsortIntegrator,
		midpointIntegrator,
		sgldIntegrator,
		psgldIntegrator,
		sgnhtIntegrator,
		badodabIntegrator,
	}, splittings...)
}

// Lookup returns the scheme with a name. Besides those of the registry there is
// a splitting split:WORD for every word. An unknown name is a usage error that
// lists the known ones.
func (r Registry) Lookup(name string) (Integrator, error) {
	if strings.HasPrefix(name, splitPrefix) {
		return parseSplit(name)
	}
	m, err := usage.Lookup("integrator", name, r, func(m Integrator) string { return m.Name })
	if err != nil {
		err = usage.Errorf("%w, or split:WORD with a word of A, B and O", err)
	}
	return m, err
}

// Define completes an integrator: its New checks the parameters against what the
// integrator says about itself, fills in the defaults, and hands them to build. For
// a scheme without a refreshment of its own, build returns a nil refresh.
//
// build need not check: dim, p.Step, p.Friction and p.Inner are in range, p.InvMass is
// nil or has dim positive numbers, and p.Values has all of m.Parameters.
func Define(m Integrator, build func(dim int, p Params) (kernel, refresh Stepper)) Integrator {
	m.New = func(dim int, p Params) (*Instance, error) {
		p, err := p.checked(&m, dim)
		if err != nil {
			return nil, err
		}
		kernel, refresh := build(dim, p)
		own := m
		// What the scheme needs with these values: a parameter may add to it.
		own.Needs = m.needs(p.Values)
		return &Instance{
			Integrator: own, Params: p, Dim: dim, Batches: p.Inner,
			Kernel: kernel, Refresh: refresh,
		}, nil
	}
	return m
}

// checked returns the parameters with their defaults filled in and with
// slices and maps of their own. The first that is out of range, or that the scheme does
// not take, is a usage error.
func (p Params) checked(m *Integrator, dim int) (Params, error) {
	p.Inner = cmp.Or(p.Inner, 1)
	switch {
	case dim < 1:
		return p, usage.Errorf("%s: dimension %d: want at least 1", m.Name, dim)
	case !(p.Step > 0) || math.IsInf(p.Step, 0):
		return p, usage.Errorf("%s: step h = %v: want a finite number > 0", m.Name, p.Step)
	case !(p.Friction > 0):
		return p, usage.Errorf("%s: friction C = %v: want a number > 0", m.Name, p.Friction)
	case math.IsInf(p.Friction, 1) && !m.FullRefreshment:
		return p, usage.Errorf("%s: friction C = +Inf: want a finite number > 0 "+
			"(the integrator does not refresh the momentum in full)", m.Name)
	case p.Inner < 1:
		return p, usage.Errorf("%s: N_l = %d inner steps: want at least 1", m.Name, p.Inner)
	case p.Inner > 1 && !m.InnerSteps:
		return p, usage.Errorf("%s: N_l = %d inner steps: want 1 (the scheme has no inner steps)",
			m.Name, p.Inner)
	case p.InvMass != nil && len(p.InvMass) != dim:
		return p, usage.Errorf("%s: inverse mass of length %d: want %d, one number per parameter",
			m.Name, len(p.InvMass), dim)
	}
	for i, w := range p.InvMass {
		if !(w > 0) || math.IsInf(w, 0) {
			return p, usage.Errorf(
				"%s: inverse mass of parameter %d is %v: want a finite number > 0", m.Name, i, w)
		}
	}
	p.InvMass = slices.Clone(p.InvMass)
	var err error
	p.Values, err = m.values(p.Values)
	return p, err
}

// values returns the values of the scheme's own parameters, given or
// default; nil if it has none. A name that the scheme does not have is a usage error,
// since it would be a misspelt one, and so is a value out of its range.
func (m *Integrator) values(given map[string]float64) (map[string]float64, error) {
	values := make(map[string]float64)
	var names []string
	for _, p := range m.Parameters {
		v, ok := given[p.Name]
		if !ok {
			v = p.Default
		}
		if !(p.Low <= v && v <= p.High) {
			return nil, usage.Errorf("%s: %s = %v: want a number from %v to %v",
				m.Name, p.Name, v, p.Low, p.High)
		}
		values[p.Name] = v
		names = append(names, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch _, known := values[name]; {
		case len(names) == 0:
			return nil, usage.Errorf("%s: parameter %q: the scheme has no parameters of its own",
				m.Name, name)
		case !known:
			return nil, usage.Errorf("%s: parameter %q: want one of %s",
				m.Name, name, strings.Join(names, ", "))
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	return values, nil
}

// StableStep guesses the largest stable step of the scheme, to search from, by that of a leapfrog
// without friction, 2/√λ for the largest curvature λ of the potential: the same or, if the scheme
// moves only the position, 2/λ. Friction that is explicit lowers it, exact friction may raise it.
func (m Integrator) StableStep(leapfrog float64) float64 {
	if m.PositionOnly {
		return leapfrog * leapfrog / 2
	}
	return leapfrog
}

// one is the coefficient 1.
var one = Coef{All: 1}

// times is the term c∘x of a linear combination.
func times(c Coef, x []float64) Term { return Term{C: c, X: x} }

// Coef evaluates a coefficient at the inverse mass of every coordinate. With M = I it is
// one number, so that a step has fewer vectors to read.
func (p Params) Coef(at func(m float64) float64) Coef {
	var c Coef
	if p.InvMass != nil {
		c.Each = make([]float64, len(p.InvMass))
	}
	p.set(&c, at)
	return c
}

// set works out a coefficient made by Coef anew, in place: with a mass, c.All is at(1) and is
// not used. Steps whose factors change from step to step call it, since Coef allocates.
func (p Params) set(c *Coef, at func(m float64) float64) {
	c.All = at(1)
	for i := range c.Each {
		c.Each[i] = at(p.InvMass[i])
	}
}

// vectors returns count vectors of length dim, cut from one allocation.
func vectors(count, dim int) [][]float64 {
	return slices.Collect(slices.Chunk(make([]float64, count*dim), dim))
}

// Drift returns the coefficient of θ ← θ + t M⁻¹ r.
func (p Params) Drift(t float64) Coef {
	return p.Coef(func(m float64) float64 { return t * m })
}
