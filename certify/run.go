package certify

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"hambench/integrators"
	"hambench/minibatch"
	"hambench/usage"
)

// Options say what to certify. What is left at its zero value has the
// default that its comment states.
type Options struct {
	Problem     *Problem
	Integrators []integrators.Method // default: all that the problem has a force for
	Schemes     []minibatch.Method   // default: all with fixed batches
	Steps       []float64            // default: a geometric grid fit for the problem's kind
	Inner       int                  // N_l; default 1
	Values      map[string]float64   // of the integrators' own parameters; default theirs
	InvMass     []float64            // diagonal of M⁻¹; default the identity; Gaussian problems only
	EveryStep   bool                 // observe at the end of every outer step, not of every period
}

// Row is what was found for an integrator under a scheme.
type Row struct {
	Problem     string             `json:"problem"`
	Engine      Kind               `json:"engine"`
	Integrator  string             `json:"integrator"`
	Values      map[string]float64 `json:"values,omitempty"` // of the integrator's own parameters, where they were given
	Inner       int                `json:"nl"`
	Scheme      string             `json:"scheme"`
	Observe     string             `json:"observe"` // period or every-step
	Steps       []float64          `json:"steps"`
	Refined     []float64          `json:"refined,omitempty"` // smaller steps, taken for the orders alone
	Radii       []Number           `json:"radii,omitempty"`   // spectral radius of a period at each step where it is ≥ 1, else null
	Observables []Observable       `json:"observables"`
}

// Observable is one observable's errors and their asymptotics,
// error ≈ Constant · h^Order.
type Observable struct {
	Name        string   `json:"name"`
	Errors      []Number `json:"errors"`      // absolute, in the order of the steps; NaN where unstable
	Resolution  []Number `json:"resolution"`  // what an error must exceed to be known to differ from 0
	Slopes      []Number `json:"slopes"`      // local orders between neighbouring steps, the largest first
	Order       Number   `json:"order"`       // slopes extrapolated to step 0
	Uncertainty Number   `json:"uncertainty"` // of the order
	Constant    Number   `json:"constant"`
	Claim       Number   `json:"claim"` // +Inf if the law is claimed to be exact
	Verdict     Verdict  `json:"verdict"`
}

// Number is a float64 that is null in JSON where it is not finite.
type Number float64

// MarshalJSON writes null for NaN and ±Inf, which JSON cannot say.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

func numbers(x []float64) []Number {
	out := make([]Number, len(x))
	for i, v := range x {
		out[i] = Number(v)
	}
	return out
}

// defaultSteps are geometric grids on which the built-in problems are
// asymptotic and still resolved.
func defaultSteps(k Kind) []float64 {
	if k == Scalar {
		return []float64{0.04, 0.02, 0.01, 0.005}
	}
	return []float64{0.04, 0.02, 0.01, 0.005, 0.0025}
}

// Run certifies every integrator under every scheme. The rows come in the
// order of the integrators, then of the schemes.
func Run(ctx context.Context, o Options) ([]Row, error) {
	e, err := o.complete()
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, m := range o.Integrators {
		r, err := o.certify(ctx, e, m)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// complete checks the options, fills in the defaults, and makes the engine.
func (o *Options) complete() (engine, error) {
	if o.Problem == nil {
		return nil, usage.Errorf("certify: no problem given")
	}
	if o.Inner == 0 {
		o.Inner = 1
	}
	if len(o.Steps) == 0 {
		o.Steps = defaultSteps(o.Problem.Kind)
	}
	if err := checkSteps(o.Steps); err != nil {
		return nil, err
	}
	e, err := o.engine()
	if err != nil {
		return nil, err
	}
	if len(o.Schemes) == 0 {
		o.Schemes = ExactSchemes()
	}
	if len(o.Integrators) > 0 {
		for _, m := range o.Integrators {
			if m.Claims.Affine && !o.Problem.affine() {
				return nil, usage.Errorf("integrator %q needs a linear-Gaussian force, which problem %q does not have", m.Name, o.Problem.Name)
			}
		}
		return e, nil
	}
	for _, m := range Compatible(o.Problem, integrators.Builtin()) {
		// A scheme that takes no inner steps of its own refuses N_l > 1.
		if _, err := m.New(1, integrators.Params{Step: 1, Friction: 1, Inner: o.Inner}); err == nil {
			o.Integrators = append(o.Integrators, m)
		}
	}
	return e, nil
}

func (o *Options) engine() (engine, error) {
	if o.Problem.Kind == Gaussian {
		return newGaussianEngine(o.Problem, o.InvMass)
	}
	if o.InvMass != nil {
		return nil, usage.Errorf("certify: inverse mass for a scalar problem: want a Gaussian one")
	}
	return newSpectralEngine(o.Problem)
}

func checkSteps(steps []float64) error {
	seen := make(map[float64]bool)
	for _, h := range steps {
		if !(h > 0) || math.IsInf(h, 0) {
			return usage.Errorf("step %v: want a finite number > 0", h)
		}
		if seen[h] {
			return usage.Errorf("step %v is given twice: want steps that differ", h)
		}
		seen[h] = true
	}
	return nil
}

// ExactSchemes are the built-in mini-batch schemes that certify takes: those
// with a fixed partition into batches.
func ExactSchemes() []minibatch.Method { return minibatch.Builtin().Fixed() }

// Schemes looks up schemes by name and refuses those without fixed batches.
func Schemes(names ...string) ([]minibatch.Method, error) {
	var out []minibatch.Method
	for _, name := range names {
		m, err := minibatch.Builtin().Lookup(name)
		if err != nil {
			_, err = minibatch.Builtin().Fixed().Lookup(name) // names what certify takes
			return nil, err
		}
		if err := checkScheme(m); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// checkScheme refuses a scheme without fixed batches, with a law of visits that
// the engines do not know, or without a claim.
func checkScheme(m minibatch.Method) error {
	switch m.Visits.(type) {
	case nil:
		var want []string
		for _, e := range ExactSchemes() {
			want = append(want, e.Name)
		}
		return usage.Errorf("scheme %q has no fixed batches: want one of %s", m.Name, strings.Join(want, ", "))
	case minibatch.Single, minibatch.Independent, minibatch.Permutation, minibatch.Cycle, minibatch.Palindrome, minibatch.Words:
	default:
		return usage.Errorf("scheme %q visits its batches by %T, which certify does not know: want minibatch.Words or another law of package minibatch", m.Name, m.Visits)
	}
	if !(m.Cap.Marginal > 0 && m.Cap.Joint > 0) {
		return usage.Errorf("scheme %q states the cap %+v on the order: want numbers > 0, +Inf for none", m.Name, m.Cap)
	}
	return nil
}

// maxRefinements bounds how often the smallest step is halved.
const maxRefinements = 4

// certify certifies one integrator under every scheme.
func (o *Options) certify(ctx context.Context, e engine, m integrators.Method) ([]Row, error) {
	known := make(map[float64]prepared)
	solve := func(s minibatch.Method, h float64) (point, error) {
		if err := ctx.Err(); err != nil {
			return point{}, err
		}
		if known[h] == nil {
			p, err := o.prepare(e, m, h)
			if err != nil {
				return point{}, err
			}
			known[h] = p
		}
		return known[h].solve(s, o.EveryStep)
	}
	var rows []Row
	for _, s := range o.Schemes {
		row, err := o.certifyScheme(e, m, s, func(h float64) (point, error) { return solve(s, h) })
		if err != nil {
			return nil, fmt.Errorf("%s under %s: %w", m.Name, s.Name, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// certifyScheme certifies an integrator under one scheme. Where three or more
// steps were given but the orders have not settled on them, it halves the
// smallest step for the fit, a few times over.
func (o *Options) certifyScheme(e engine, m integrators.Method, s minibatch.Method, solve func(h float64) (point, error)) (Row, error) {
	steps := slices.Clone(o.Steps)
	var points []point
	for _, h := range steps {
		p, err := solve(h)
		if err != nil {
			return Row{}, err
		}
		points = append(points, p)
	}
	row := o.row(e, m, s, steps, points)
	for range maxRefinements {
		finest := slices.Min(steps)
		if len(o.Steps) < fewestPoints || row.settled(points[slices.Index(steps, finest)]) {
			break
		}
		h := finest / 2
		p, err := solve(h)
		if err != nil {
			return Row{}, err
		}
		steps, points = append(steps, h), append(points, p)
		row = o.row(e, m, s, steps, points)
	}
	return row, nil
}

// settled reports whether smaller steps would not tell more: each observable
// is exact, or has a certain order, or is lost in its resolution at the
// smallest step. Chains that are unstable are left alone.
func (r Row) settled(finest point) bool {
	if r.Radii != nil || finest.unstable() {
		return true
	}
	for i, o := range r.Observables {
		if finest.errors[i] <= trusted*finest.resolution[i] {
			continue
		}
		certain := float64(o.Uncertainty) <= settledBelow || o.Verdict == Confirmed && math.IsInf(float64(o.Uncertainty), 1)
		if o.Verdict != Exact && !certain {
			return false
		}
	}
	return true
}

func (o *Options) prepare(e engine, m integrators.Method, h float64) (prepared, error) {
	in, err := m.New(o.Problem.Dim(), integrators.Params{Step: h, Friction: o.Problem.Friction, Inner: o.Inner, InvMass: o.InvMass, Values: o.Values})
	if err != nil {
		return nil, err
	}
	in.Freeze()
	return e.prepare(in)
}

// row turns the points at steps, of which the first are those that were
// asked for, into a row.
func (o *Options) row(e engine, m integrators.Method, s minibatch.Method, steps []float64, points []point) Row {
	asked := len(o.Steps)
	row := Row{
		Problem: o.Problem.Name, Engine: o.Problem.Kind, Integrator: m.Name, Values: o.Values, Inner: o.Inner,
		Scheme: s.Name, Observe: "period", Steps: o.Steps, Refined: steps[asked:], Radii: radii(points[:asked]),
	}
	if o.EveryStep {
		row.Observe = "every-step"
	}
	for i, name := range e.observables() {
		errors, resolution := fill(len(points), math.NaN()), fill(len(points), math.NaN())
		for j, p := range points {
			if !p.unstable() {
				errors[j], resolution[j] = p.errors[i], p.resolution[i]
			}
		}
		f := fitOrder(steps, errors, resolution)
		claimed := claim(m, s, o.Problem.Batches(), name)
		row.Observables = append(row.Observables, Observable{
			Name: name, Errors: numbers(errors[:asked]), Resolution: numbers(resolution[:asked]), Slopes: numbers(f.slopes),
			Order: Number(f.order), Uncertainty: Number(f.uncertainty), Constant: Number(f.constant),
			Claim: Number(claimed), Verdict: f.verdict(claimed, row.Radii != nil),
		})
	}
	return row
}

// radii returns the spectral radius at each step where the chain is
// unstable, NaN elsewhere; nil if it is stable at all of them.
func radii(points []point) []Number {
	out, unstable := make([]Number, len(points)), false
	for i, p := range points {
		out[i] = Number(math.NaN())
		if p.unstable() {
			unstable, out[i] = true, Number(p.radius)
		}
	}
	if !unstable {
		return nil
	}
	return out
}

// Compatible returns those of the methods that the problem has a force for.
func Compatible(p *Problem, methods []integrators.Method) []integrators.Method {
	var out []integrators.Method
	for _, m := range methods {
		if !m.Claims.Affine || p.affine() {
			out = append(out, m)
		}
	}
	return out
}
