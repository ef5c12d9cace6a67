package certify

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"hambench/estimators"
	"hambench/integrators"
	"hambench/internal/child"
	"hambench/minibatch"
	"hambench/usage"
)

// Options say what to certify. A field with its zero value has the default that
// its comment states.
type Options struct {
	Problem     *Problem
	Integrators []integrators.Method // default: All
	Schemes     []minibatch.Method   // default: all with fixed batches
	Steps       []float64            // default: a geometric grid fit for the problem's kind
	Inner       int                  // N_l; default 1
	Values      map[string]float64   // the integrators' own parameters; default theirs
	Estimator   estimators.Method    // of gradients; default plain
	InvMass     []float64            // diagonal of M⁻¹; default the identity; Gaussian problems only
	EveryStep   bool                 // observe at the end of every outer step, not of every period
	OneStep     bool                 // judge the law after one step of the full batch (weak orders) instead of the stationary law; Gaussian problems only
	Progress    func(done float64)   // called with the share done, from 0 to 1; default: not called
	ErrorsOnly  bool                 // decide no orders: take no steps but those asked for
	Budgets     []float64            // gradients of a batch that a chain may cost; none: averages are not judged
	Stability   bool                 // find the largest stable step
	Distances   bool                 // find the distances of the stationary law of θ from the target
	quick       bool                 // take squares for those of normal processes, and fewer random orders for all
	searchOnly  bool                 // nothing at the steps that are asked for
}

// Row is what was found for an integrator under a scheme.
type Row struct {
	Problem     string             `json:"problem"`
	Engine      Kind               `json:"engine"`
	Integrator  string             `json:"integrator"`
	Values      map[string]float64 `json:"values,omitempty"` // the integrator's own parameters, if they were given
	Inner       int                `json:"nl"`
	Estimator   string             `json:"estimator,omitempty"` // "" is plain
	Scheme      string             `json:"scheme"`
	Observe     string             `json:"observe"` // period, every-step or one-step
	Steps       []float64          `json:"steps"`
	Refined     []float64          `json:"refined,omitempty"`     // steps that the engine chose, used for the orders only
	Amplified   []float64          `json:"amplified,omitempty"`   // factors by which the batches' differences of precision and of shift are larger there, if not 1
	Sampled     int                `json:"sampled,omitempty"`     // random orders that stand for all; a resolution is then half a 95 % confidence interval
	Radii       []Number           `json:"radii,omitempty"`       // spectral radius of a period at each step where it is ≥ 1, else null
	ClosedForm  map[string]Number  `json:"closed_form,omitempty"` // by observable, the constant of h² that a closed form predicts; exact flows under random orders only
	Observables []Observable       `json:"observables"`
	Answers
}

// Observable holds one observable's errors at the steps asked for, and the
// asymptotics of the relative errors, Constant · h^Order.
type Observable struct {
	Name               string   `json:"name"`
	Errors             []Number `json:"errors"`              // absolute, in the problem's units, in the order of the steps; NaN where unstable
	Resolution         []Number `json:"resolution"`          // bounds the round-off and truncation in an error; +Inf if no bound is known
	Relative           []Number `json:"relative"`            // errors without units: in coordinates in which the target is N(0, I), or divided by the observable's standard deviation
	RelativeResolution []Number `json:"relative_resolution"` // bounds for these
	Slopes             []Number `json:"slopes"`              // local orders between neighbouring steps, the largest first, where they are resolved
	Order              Number   `json:"order"`               // the lowest power of h whose coefficient certainly differs from 0; NaN if it is not known
	Uncertainty        Number   `json:"uncertainty"`         // of that coefficient, relative to it
	Constant           Number   `json:"constant"`            // that coefficient's size; NaN if the batches' differences were amplified
	AtLeast            Number   `json:"at_least"`            // a lower bound on the order, where it is not known, up to the claim
	Bound              Number   `json:"bound"`               // where AtLeast is known: what terms below it may add to the relative error at the smallest step
	Claim              Number   `json:"claim"`               // +Inf if the law is claimed to be exact
	Verdict            Verdict  `json:"verdict"`
}

// Number is a float64 that is null in JSON where it is not finite.
type Number float64

// MarshalJSON writes null for NaN and ±Inf, which JSON cannot express.
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
func Run(ctx context.Context, o Options) (rows []Row, err error) {
	defer child.Catch(&err)
	e, err := o.complete()
	if err != nil {
		return nil, err
	}
	for i, m := range o.Integrators {
		r, err := o.certify(ctx, e, m, func(done float64) {
			if o.Progress != nil {
				o.Progress((float64(i) + done) / float64(len(o.Integrators)))
			}
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// Check returns the usage error, if any, with which Run would end before any work.
func (o Options) Check() (err error) {
	defer child.Catch(&err)
	_, err = o.complete()
	return err
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
	if err := o.checkAnswers(); err != nil {
		return nil, err
	}
	by, k := estimation{o.Estimator}, o.Problem.Batches()
	if len(o.Schemes) == 0 {
		o.Schemes = slices.DeleteFunc(ExactSchemes(), func(s minibatch.Method) bool { return by.checkScheme(s, k) != nil })
	}
	for _, s := range o.Schemes {
		if err := by.checkScheme(s, k); err != nil {
			return nil, err
		}
	}
	if steps := max(o.Inner, by.period(k)); steps > maxWordSteps {
		return nil, usage.Errorf("a period of %d steps: want at most %d", steps, maxWordSteps)
	}
	if by.name() != "" && (o.OneStep || o.Problem.Kind == Scalar && by.variables(k) > 0) {
		return nil, usage.Errorf("estimator %q, with variables of its own or for one step: want the stationary law of a problem of kind gaussian", by.name())
	}
	e, err := o.engine()
	if err != nil {
		return nil, err
	}
	if p := e.pace(); !(epsilon*p.fast < p.slow) {
		return nil, usage.Errorf("problem %q: rates from %.3g to %.3g, of frequencies and friction: want them less than %.0g apart, as float64 can tell", o.Problem.Name, p.slow, p.fast, 1/epsilon)
	}
	if len(o.Integrators) == 0 {
		o.Integrators = slices.DeleteFunc(All(o.Problem), func(m integrators.Method) bool {
			return o.Inner != 1 && !m.InnerSteps || o.refuse(m) != nil
		})
	}
	for _, m := range o.Integrators {
		if err := o.refuse(m); err != nil {
			return nil, err
		}
		if _, err := o.integrator(m, o.Steps[0]); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// refuse returns what keeps an integrator from what is asked, or nil.
func (o *Options) refuse(m integrators.Method) error {
	if err := o.Problem.Takes(m); err != nil {
		return err
	}
	if m.PositionOnly && o.OneStep {
		return usage.Errorf("integrator %q moves the position alone, and one step is compared with the flow of position and momentum: want another integrator", m.Name)
	}
	return estimation{o.Estimator}.check(m, o.Inner, o.Problem.Batches())
}

// maxMemory is what the laws of a Gaussian problem may take, in bytes.
const maxMemory = 2 << 30

// checkMemory refuses a Gaussian problem whose laws would not fit, before memory
// is asked for: the maps of every batch and of the bounds, the directions of
// solveLinear, the powers of its preconditioner, and what the schemes hold.
func (o *Options) checkMemory() error {
	const (
		mapSize             = 3
		powersAndDirections = mapSize*steinPowers + 2*krylovSize
	)
	d, k := float64(o.Problem.Dim()), o.Problem.Batches()
	vectors := float64(2 + estimation{o.Estimator}.variables(k)) // of d numbers
	for _, s := range o.Schemes {
		matrices := powersAndDirections + 2*mapSize*float64(k+1)
		if _, ok := s.Visits.(minibatch.Permutation); ok && k <= maxReshuffle {
			matrices += float64(layers(k))
		}
		if need := 8 * matrices * (vectors*d + 1) * (vectors*d + 1); need > maxMemory {
			most := (math.Sqrt(maxMemory/(8*matrices)) - 1) / vectors
			return usage.Errorf("problem %q: d = %g positions and K = %d batches under %s need about %.1f GB: want at most %.0f GB, d up to %.0f",
				o.Problem.Name, d, k, s.Name, need/(1<<30), float64(maxMemory)/(1<<30), math.Floor(most))
		}
	}
	return nil
}

func (o *Options) engine() (engine, error) {
	d := o.Problem.Dim()
	if o.InvMass != nil && (len(o.InvMass) != d || slices.ContainsFunc(o.InvMass, func(m float64) bool { return !(m > 0) || math.IsInf(m, 0) })) {
		return nil, usage.Errorf("inverse mass %v: want %d finite numbers > 0, one a position", o.InvMass, d)
	}
	if o.Problem.Kind == Gaussian {
		if err := o.checkMemory(); err != nil {
			return nil, err
		}
		g, err := newGaussianEngine(o.Problem, o.InvMass, estimation{o.Estimator})
		if err != nil || !o.OneStep {
			return g, err
		}
		all, err := g.whole()
		return stepEngine{all.(*gaussianEngine)}, err
	}
	if o.OneStep {
		return nil, usage.Errorf("one step of a scalar problem: want a Gaussian one")
	}
	if o.InvMass != nil {
		return nil, usage.Errorf("inverse mass for a scalar problem: want a Gaussian one")
	}
	return newSpectralEngine(o.Problem, estimation{o.Estimator})
}

func checkSteps(steps []float64) error {
	for i, h := range steps {
		if !(h > 0) || math.IsInf(h, 0) {
			return usage.Errorf("step %v: want a finite number > 0", h)
		}
		if slices.Contains(steps[:i], h) {
			return usage.Errorf("step %v is given twice: want steps that differ", h)
		}
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

const (
	// ownNodes is how many steps an order is decided at before smaller ones
	// are taken, halving, and mostOwnNodes when it is given up.
	ownNodes     = 7
	mostOwnNodes = 12
	// reuseFrom is the smallest step, in units of the fastest rate, whose
	// error, known anyway, serves as a node.
	reuseFrom = 1e-4
)

// certify certifies one integrator under every scheme.
func (o *Options) certify(ctx context.Context, e engine, m integrators.Method, progress func(done float64)) ([]Row, error) {
	if s, ok := e.(*spectralEngine); ok && m.Variables != nil {
		in, err := o.integrator(m, o.Steps[0])
		if err != nil {
			return nil, err
		}
		e = s.with(m.Variables(1, in.Params))
	}
	flaw, err := o.flaw(e, m)
	if err != nil {
		return nil, err
	}
	batches, err := o.certification(e, m)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for i, s := range o.Schemes {
		c, solved := batches, 0.0
		if s.Whole() {
			all, err := e.whole()
			if err != nil {
				return nil, err
			}
			if c, err = o.certification(all, m); err != nil {
				return nil, err
			}
		}
		c.scheme, c.flaw, c.told = s, flaw, func() {
			solved++
			progress((float64(i) + min(1, solved/float64(len(o.Steps)+ownNodes))) / float64(len(o.Schemes)))
		}
		row, err := c.row(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s under %s: %w", m.Name, s.Name, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// solver solves for an integrator on an engine's problem, and keeps what does
// not depend on the scheme.
type solver struct {
	engine
	options *Options
	method  integrators.Method
	known   map[float64]prepared // by the step
}

func newSolver(o *Options, e engine, m integrators.Method) *solver {
	return &solver{e, o, m, make(map[float64]prepared)}
}

// prepared returns the integrator at a step.
func (s *solver) prepared(h float64) (prepared, error) {
	if s.known[h] == nil {
		in, err := s.options.integrator(s.method, h)
		if err != nil {
			return nil, err
		}
		if s.known[h], err = s.prepare(in); err != nil {
			return nil, err
		}
	}
	return s.known[h], nil
}

// integrator makes an integrator for the problem, past its adaptation.
func (o *Options) integrator(m integrators.Method, h float64) (*integrators.Integrator, error) {
	in, err := m.New(o.Problem.Dim(), integrators.Params{Step: h, Friction: o.Problem.Friction, Inner: o.Inner, InvMass: o.InvMass, Values: o.Values})
	if err != nil {
		return nil, err
	}
	in.Freeze()
	return in, nil
}

// at returns what is found at a step under a scheme.
func (s *solver) at(ctx context.Context, m minibatch.Method, h float64) (at point, err error) {
	if err := ctx.Err(); err != nil {
		return at, err
	}
	p, err := s.prepared(h)
	if err != nil {
		return at, err
	}
	at, err = p.solve(ctx, m, s.options.EveryStep)
	at.h = h
	return at, err
}

// certification leaves the scheme open.
func (o *Options) certification(e engine, m integrators.Method) (certification, error) {
	judge, amplified, err := e.judging()
	return certification{options: o, asked: newSolver(o, e, m), judged: newSolver(o, judge, m), amplified: amplified}, err
}

// certification makes the row of one integrator under one scheme.
type certification struct {
	options *Options
	scheme  minibatch.Method
	asked   *solver // finds the errors that were asked for
	// The order is decided on a problem of the same expansion.
	judged    *solver
	amplified []float64
	told      func()  // that a point is done
	flaw      Verdict // Frozen, Silent or Adrift: there is nothing to solve
	lawless   bool    // at no step that was taken is there a stationary law
}

func (c *certification) row(ctx context.Context) (Row, error) {
	o := c.options
	row := Row{
		Problem: o.Problem.Name, Engine: o.Problem.Kind, Integrator: c.asked.method.Name, Values: o.Values, Inner: o.Inner, Estimator: estimation{o.Estimator}.name(),
		Scheme: c.scheme.Name, Observe: "period", Steps: o.Steps, Amplified: c.amplified,
	}
	if o.EveryStep {
		row.Observe = "every-step"
	}
	if o.OneStep {
		row.Observe = "one-step"
	}
	row.ClosedForm = c.closedForm()
	if c.sampled() {
		row.Sampled, row.Amplified = sampledEpochs, nil
	}
	var points []point
	for _, h := range o.shown() {
		p := lostPoint(len(c.asked.observables()))
		if c.flaw == "" {
			var err error
			if p, err = c.asked.at(ctx, c.scheme, h); err != nil {
				return row, err
			}
		}
		points = append(points, p)
		c.told()
	}
	row.Radii = radii(points)
	if err := c.answer(ctx, &row, points); err != nil {
		return row, err
	}
	findings, err := c.decide(ctx, &row, points)
	if err != nil {
		return row, err
	}
	for i, name := range c.asked.observables() {
		if c.judges(i) {
			row.Observables = append(row.Observables, c.observable(i, name, points, findings[i]))
		}
	}
	return row, nil
}

// shown are the steps at which the row says what is found.
func (o *Options) shown() []float64 {
	if o.searchOnly {
		return nil
	}
	return o.Steps
}

// judges reports whether an observable is one of the integrator's state.
func (c *certification) judges(observable int) bool {
	return !c.asked.method.PositionOnly || !ofMomentum(c.asked.observables()[observable])
}

// pace is that of the dynamics that the integrator follows: without a momentum,
// the rate of a frequency ω is ω².
func (c *certification) pace() pace {
	p := c.judged.pace()
	if c.asked.method.PositionOnly {
		p.fast, p.slow = p.fast*p.fast, p.slow*p.slow
	}
	return p
}

// decide finds the orders of all observables. known are the points at the steps
// that were asked for.
func (c *certification) decide(ctx context.Context, row *Row, known []point) (findings []finding, err error) {
	if c.options.ErrorsOnly || c.sampled() || c.flaw != "" {
		for range c.asked.observables() {
			findings = append(findings, unknown())
		}
		return findings, nil
	}
	p := c.pace()
	c.lawless = true
	var points []point
	for _, at := range known {
		c.lawless = c.lawless && at.lawless(p)
		if c.amplified == nil && at.h >= reuseFrom/p.fast && at.h <= p.largest/p.fast {
			points = append(points, at)
		}
	}
	for i := range mostOwnNodes {
		h := math.Ldexp(p.largest/p.fast, -i)
		crowded := func(at point) bool { return h < 1.3*at.h && at.h < 1.3*h }
		if !slices.ContainsFunc(points, crowded) { // one next to another would add little
			at, err := c.judged.at(ctx, c.scheme, h)
			if err != nil {
				return nil, err
			}
			points, row.Refined = append(points, at), append(row.Refined, h)
			c.lawless = c.lawless && at.lawless(p)
			c.told()
		}
		if i+1 < ownNodes {
			continue
		}
		open := false
		findings = c.findings(points, p)
		for observable, f := range findings {
			open = open || c.judges(observable) && f.verdict(c.claim(observable)) == Inconclusive
		}
		if !open { // smaller steps would not tell more
			break
		}
	}
	return findings, nil
}

// findings judges each observable by the points.
func (c *certification) findings(points []point, p pace) []finding {
	var out []finding
	for i := range c.judged.observables() {
		var nodes []node
		for _, at := range points {
			if at.unstable() {
				continue
			}
			if x := at.observed[i]; x.signed != nil && !math.IsInf(x.relativeResolution, 1) {
				nodes = append(nodes, node{h: at.h, signed: x.signed, bound: x.relativeResolution})
			}
		}
		out = append(out, judge(nodes, p, func(x []float64) float64 { return c.judged.size(i, x) }))
	}
	return out
}

// sampled reports whether random orders stand for all.
func (c *certification) sampled() bool {
	return c.options.Problem.Kind == Gaussian && tooMany(c.scheme, c.options.Problem.Batches())
}

// observable returns what the row says of an observable.
func (c *certification) observable(i int, name string, points []point, f finding) Observable {
	nan := Number(math.NaN())
	out := Observable{Name: name, Order: Number(f.order), Uncertainty: Number(f.uncertainty), Constant: Number(f.constant), AtLeast: nan, Bound: nan}
	if c.amplified != nil {
		out.Constant = nan
	}
	stable := false
	for _, p := range points {
		x := lostPoint(1).observed[0]
		if !p.unstable() {
			x, stable = p.observed[i], true
		}
		f.seen = f.seen || x.relative > resolvedAbove*x.relativeResolution
		out.Errors, out.Resolution = append(out.Errors, Number(x.error)), append(out.Resolution, Number(x.resolution))
		out.Relative, out.RelativeResolution = append(out.Relative, Number(x.relative)), append(out.RelativeResolution, Number(x.relativeResolution))
	}
	out.Slopes = localSlopes(c.options.Steps, out.Relative, out.RelativeResolution)
	claimed := c.claim(i)
	out.Claim, out.Verdict = Number(claimed), f.verdict(claimed)
	smallest := slices.Index(c.options.Steps, slices.Min(c.options.Steps))
	switch {
	case out.Verdict == Confirmed && f.hidden(claimed):
		out.AtLeast, out.Bound = out.Claim, out.Relative[smallest]+out.RelativeResolution[smallest]
	case !math.IsNaN(f.atLeast):
		// Small terms above the claim were not looked for with its care.
		out.AtLeast, out.Bound = min(Number(f.atLeast), out.Claim), Number(f.below(c.options.Steps[smallest]))
	}
	switch {
	case c.flaw != "":
		out.Verdict = c.flaw
	case c.lawless:
		out.Verdict = Lawless
	case !stable:
		out.Verdict = Unstable
	}
	return out
}

// radii returns the spectral radius at each step where the chain is
// unstable, NaN elsewhere; nil if it is stable at all of them.
func radii(points []point) []Number {
	if !slices.ContainsFunc(points, point.unstable) {
		return nil
	}
	out := make([]Number, len(points))
	for i, p := range points {
		out[i] = Number(math.NaN())
		if p.unstable() {
			out[i] = Number(p.radius)
		}
	}
	return out
}

// Takes returns what keeps an integrator from being certified on the problem, or nil.
func (p *Problem) Takes(m integrators.Method) error {
	affine, definite := p.affine()
	switch {
	case m.Claims.Affine && !affine:
		return usage.Errorf("integrator %q needs a linear-Gaussian force, which problem %q does not have", m.Name, p.Name)
	case m.Claims.Affine && !definite:
		return usage.Errorf("integrator %q needs batches that are each positive definite, not in the mean alone, which those of problem %q are not", m.Name, p.Name)
	case m.Nonlinear && p.Kind == Gaussian:
		return usage.Errorf("integrator %q is not affine in its state, which problem %q of kind gaussian wants: want a problem of kind scalar", m.Name, p.Name)
	case m.Variables != nil && p.Kind == Scalar && !oneOfKnownLaw(m, p.Friction):
		return usage.Errorf("integrator %q has auxiliary variables, and problem %q of kind scalar takes one number beside position and momentum, of a stated law: want a problem of kind gaussian", m.Name, p.Name)
	}
	return nil
}

// oneOfKnownLaw reports whether an integrator's auxiliary variables in one
// position are one number that states its law.
func oneOfKnownLaw(m integrators.Method, friction float64) bool {
	in, err := m.New(1, integrators.Params{Step: 1, Friction: friction})
	if err != nil || auxiliary(in) != 1 {
		return false
	}
	return m.Variables(1, in.Params)[0].Deviation > 0
}

// All returns the built-in integrators that are certified on a problem if none are
// named: all that it takes except the Nonlinear ones, which need a larger basis
// and minutes.
func All(p *Problem) []integrators.Method {
	return slices.DeleteFunc(integrators.Builtin(), func(m integrators.Method) bool { return m.Nonlinear || p.Takes(m) != nil })
}
