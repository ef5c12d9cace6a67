package certify

import (
	"context"
	"math"
	"slices"

	"hambench/chain/minibatch"
	"hambench/integrators"

	"hambench/certify/markov"
)

// solver solves for an integrator on an engine's problem, and keeps what does
// not depend on the scheme.
type solver struct {
	markov.Engine
	options *Options
	method  integrators.Integrator
	// known holds the chains made so far, by their step. What they find out about a step
	// serves all schemes.
	known map[float64]markov.Chain
	bytes int // of those that say how large they are
	// solved holds the points with all of the data, which serve a row and predictions.
	solved map[float64]markov.Point
}

// newSolver returns a solver that has found nothing yet.
func newSolver(o *Options, e markov.Engine, m integrators.Integrator) *solver {
	return &solver{Engine: e, options: o, method: m, known: make(map[float64]markov.Chain),
		solved: make(map[float64]markov.Point)}
}

// mostKept bounds the bytes of the chains that a solver keeps. Of many batches in many dimensions
// one may take that much, and taking it apart anew is little beside solving for its law.
const mostKept = 256 << 20

// prepared returns the integrator at a step, taken apart by the engine, and keeps it if the step
// may be asked for again and there is room. An error says that the integrator does not fit the
// problem or that another process failed.
func (s *solver) prepared(h float64, keep bool) (markov.Chain, error) {
	if c := s.known[h]; c != nil {
		return c, nil
	}
	in, err := s.options.integrator(s.method, h)
	if err != nil {
		return nil, err
	}
	c, err := s.Prepare(in)
	if err != nil || !keep {
		return c, err
	}
	size := 0
	if sized, ok := c.(interface{ Bytes() int }); ok {
		size = sized.Bytes()
	}
	if s.bytes+size <= mostKept {
		s.known[h], s.bytes = c, s.bytes+size
	}
	return c, nil
}

// integrator makes an integrator for the problem at step h. What it adapts in the course of a
// chain is frozen: its law would not be stationary before.
func (o *Options) integrator(m integrators.Integrator, h float64) (*integrators.Instance, error) {
	in, err := m.New(o.Problem.Dim(), integrators.Params{Step: h, Friction: o.Problem.Friction,
		Inner: o.Inner, InvMass: o.InvMass, Values: o.Values})
	if err != nil {
		return nil, err
	}
	in.Freeze()
	return in, nil
}

// at returns the errors at step h under a scheme, or the spectral radius of a chain without a
// stationary law. Once the context is done, its error is returned.
func (s *solver) at(ctx context.Context, m minibatch.Scheme,
	h float64) (at markov.Point, err error) {
	at, known := s.solved[h]
	if err := ctx.Err(); err != nil || known && m.Whole() {
		return at, err
	}
	p, err := s.prepared(h, true)
	if err != nil {
		return at, err
	}
	at, err = p.Solve(ctx, m, s.options.EveryStep)
	at.H = h
	if m.Whole() && err == nil {
		s.solved[h] = at
	}
	return at, err
}

// certification returns what all schemes share of an integrator on an engine's problem; the
// scheme, the degeneracy and the progress are left open.
func (o *Options) certification(e markov.Engine, m integrators.Integrator) (certification, error) {
	judge, amplified, err := e.Judging()
	return certification{options: o, asked: newSolver(o, e, m), judged: newSolver(o, judge, m),
		amplified: amplified}, err
}

// certification makes the row of one integrator under one scheme.
type certification struct {
	options *Options
	scheme  minibatch.Scheme
	// asked finds the errors that were asked for. judged finds those that decide the order,
	// on a problem of the same expansion whose batches may differ more: amplified has the
	// factors for precisions and shifts, nil if they do not.
	asked, judged *solver
	amplified     []float64
	decides       bool        // find orders, not errors alone
	onPoint       func()      // called when a point is done
	law           *prediction // nil if it is not asked for
	beyond        bool        // there are no exact errors, as of too many orders of the batches
	degeneracy    Verdict     // Frozen, Silent or Adrift: there is nothing to solve
	lawless       bool        // at no step that was taken is there a stationary law
}

// row finds the errors, what else is asked for, and the orders.
func (c *certification) row(ctx context.Context) (Row, error) {
	o := c.options
	row := Row{
		Problem: o.Problem.Name, Engine: o.Problem.Kind, Integrator: c.asked.method.Name,
		Values: o.Values, Inner: o.Inner, Estimator: o.estimation().Name(),
		Scheme: c.scheme.Name, Observe: "period", Steps: o.Steps, Amplified: c.amplified,
	}
	if o.EveryStep {
		row.Observe = "every-step"
	}
	if o.OneStep {
		row.Observe = "one-step"
	}
	if !c.asked.method.PositionOnly {
		row.Setting = o.setting(c.asked.method, c.scheme, c.batches())
	}
	// A degenerate chain has no errors at any step.
	var points []markov.Point
	for _, h := range o.Steps {
		p := markov.LostPoint(len(c.asked.Observables()))
		if c.degeneracy == "" && !c.beyond {
			var err error
			if p, err = c.asked.at(ctx, c.scheme, h); err != nil {
				return row, err
			}
		}
		points = append(points, p)
		c.onPoint()
	}
	// Answers come before orders: they need the chains at the row's own steps alone.
	row.Radii = radii(points)
	if err := c.answer(ctx, &row, points); err != nil {
		return row, err
	}
	findings, err := c.decide(ctx, &row, points)
	if err != nil {
		return row, err
	}
	// Both solvers have the same observables, in the same order.
	for i, name := range c.asked.Observables() {
		if c.judges(i) {
			row.Observables = append(row.Observables, c.observable(i, name, points, findings[i]))
		}
	}
	return row, nil
}

// batches is the number of the scheme's batches.
func (c *certification) batches() int {
	if c.scheme.Whole() {
		return 1
	}
	return c.options.Problem.Batches()
}

// judges reports whether an observable is one of the integrator's state: all are, but those of
// the momentum of an integrator without one.
func (c *certification) judges(observable int) bool {
	return !c.asked.method.PositionOnly || !ofMomentum(c.asked.Observables()[observable])
}

// pace is that of the dynamics that the integrator follows: without a momentum,
// the rate of a frequency ω is ω².
func (c *certification) pace() markov.Pace {
	p := c.judged.Pace()
	if c.asked.method.PositionOnly {
		p.Fast, p.Slow, p.Damping = p.High*p.High, p.Low*p.Low, math.Inf(1)
		p.Settled = p.Fast
	}
	// If an auxiliary variable remembers m steps, m steps together, and not one, must be short
	// beside the time of the fastest rate.
	p.Largest /= max(1, p.Memory)
	return p
}

// decide finds the orders of all observables. known are the points at the steps
// that were asked for; those that lie where an expansion holds serve as nodes, and others are
// added from the largest such step down, halving, until every claim is decided or there are
// mostOwnNodes. The row is told the steps that were added.
func (c *certification) decide(ctx context.Context, row *Row,
	known []markov.Point) (findings []finding, err error) {
	if !c.decides || c.degeneracy != "" || c.beyond {
		// Nothing is found, and the verdict is another one.
		for range c.asked.Observables() {
			findings = append(findings, unknown())
		}
		return findings, nil
	}
	// Steps are measured in the time of the fastest rate: an expansion in h·fast holds up to
	// about 1.
	p := c.pace()
	c.lawless = true // until a point has a law
	var points []markov.Point
	for _, at := range known {
		c.lawless = c.lawless && at.Lawless(p)
		// Of a chain with amplified differences the errors asked for say nothing.
		if c.amplified == nil && at.H >= reuseFrom/p.Fast && at.H <= p.Largest/p.Fast {
			points = append(points, at)
		}
	}
	add := func(h float64) error {
		// One step next to another would add little.
		crowded := func(at markov.Point) bool { return h < 1.3*at.H && at.H < 1.3*h }
		if slices.ContainsFunc(points, crowded) {
			return nil
		}
		at, err := c.judged.at(ctx, c.scheme, h)
		if err != nil {
			return err
		}
		points, row.Refined = append(points, at), append(row.Refined, h)
		c.lawless = c.lawless && at.Lawless(p)
		c.onPoint()
		return nil
	}
	open := func(verdicts ...Verdict) bool { // an order that is asked for
		for observable, f := range findings {
			v := f.verdict(c.claim(observable))
			if c.judges(observable) && slices.Contains(verdicts, v) {
				return true
			}
		}
		return false
	}
	// From the largest step at which an expansion is expected to hold, halving.
	for i := range mostOwnNodes {
		if err := add(math.Ldexp(p.Largest/p.Fast, -i)); err != nil {
			return nil, err
		}
		// Too few to be judged.
		if i+1 < ownNodes {
			continue
		}
		// Smaller steps would not tell more, and laws with a memory of steps are less known there.
		if findings = c.findings(points, p); !open(Inconclusive) || p.Memory > 0 {
			break
		}
	}
	settled := p.Largest / p.Settled
	if settled == p.Largest/p.Fast || !open(Inconclusive, Refuted) {
		return findings, nil
	}
	// A claim is refuted only where the powers of the step are in their order: an error that
	// levels off above may vanish below.
	for i := range ownNodes {
		if err := add(math.Ldexp(settled, -i)); err != nil {
			return nil, err
		}
	}
	// What the steps below settled say alone: with larger ones, powers that are out of their order
	// there would be fitted, too.
	near := c.findings(slices.DeleteFunc(points, func(at markov.Point) bool {
		return at.H > settled
	}), p)
	for i, f := range findings {
		v := f.verdict(c.claim(i))
		// Where the steps below settled refute with the same order, the finding by all steps is
		// kept: its coefficient is the better known one.
		agrees := v == Refuted && near[i].order == f.order
		if (v == Refuted || v == Inconclusive) && !agrees {
			findings[i] = near[i]
		}
	}
	return findings, nil
}

// findings judges each observable by the points at which its signed error is known. Unstable
// steps say nothing of small ones.
func (c *certification) findings(points []markov.Point, p markov.Pace) []finding {
	var out []finding
	for i := range c.judged.Observables() {
		var nodes []node
		for _, at := range points {
			if at.Unstable() {
				continue
			}
			// An error of which nothing is known is no node.
			if x := at.Observed[i]; x.Signed != nil && !math.IsInf(x.RelativeResolution, 1) {
				nodes = append(nodes, node{h: at.H, signed: x.Signed, bound: x.RelativeResolution})
			}
		}
		out = append(out, judge(nodes, p, func(x []float64) float64 { return c.judged.Size(i, x) }))
	}
	// The joint covariance has that of θ in it.
	names := c.judged.Observables()
	if joint := slices.Index(names, "joint.cov"); joint >= 0 {
		out[joint] = out[joint].around(out[slices.Index(names, "theta.cov")])
	}
	return out
}

// observable returns what the row says of the i-th observable: its errors at the points asked
// for, and the order that was found. A verdict on the chain as a whole, that it is degenerate
// or has no law, takes the place of that on the claim.
func (c *certification) observable(i int, name string, points []markov.Point,
	f finding) Observable {
	nan := Number(math.NaN())
	if c.law != nil && c.law.own != nil && randomOrders(c.scheme) == "" {
		f = f.beside(c.law.own[i])
	}
	out := Observable{Name: name, Order: Number(f.order), Uncertainty: Number(f.uncertainty),
		Constant: Number(f.constant), AtLeast: nan, Bound: nan}
	if c.amplified != nil {
		out.Constant = nan // it is that of other batches
	}
	stable := false // at some step
	for _, p := range points {
		x := markov.LostPoint(1).Observed[0] // what is said of a step without a law
		if !p.Unstable() {
			x, stable = p.Observed[i], true
		}
		// The law is not exact if an error shows at a step that was asked for, even at one that is
		// too large to be a node.
		f.seen = f.seen || x.Relative > resolvedAbove*x.RelativeResolution
		out.Errors = append(out.Errors, Number(x.Error))
		out.Resolution = append(out.Resolution, Number(x.Resolution))
		out.Relative = append(out.Relative, Number(x.Relative))
		out.RelativeResolution = append(out.RelativeResolution, Number(x.RelativeResolution))
	}
	out.Slopes = localSlopes(c.options.Steps, out.Relative, out.RelativeResolution)
	// What the errors decide, and below it what kept them from deciding.
	claimed := c.claim(i)
	out.Claim, out.Verdict = Number(claimed), f.verdict(claimed)
	c.foresee(i, f, &out)
	// A bound below the claim says what lower terms may be in the error at the smallest step.
	smallest := slices.Index(c.options.Steps, slices.Min(c.options.Steps))
	switch {
	case out.Verdict == Confirmed && f.hidden(claimed):
		out.AtLeast, out.Bound = out.Claim, out.Relative[smallest]+out.RelativeResolution[smallest]
	case !math.IsNaN(f.atLeast):
		// Small terms above the claim were not looked for with its care.
		out.AtLeast = min(Number(f.atLeast), out.Claim)
		out.Bound = Number(f.below(c.options.Steps[smallest]))
	case f.order > 0:
		out.Bound = Number(f.below(c.options.Steps[smallest]))
	}
	switch {
	case c.degeneracy != "":
		out.Verdict = c.degeneracy
	case c.beyond && out.PredictedOrder > 0:
		out.Verdict = Alone
	case c.beyond:
		out.Verdict = Inconclusive
	case c.lawless:
		out.Verdict = Lawless
	case !stable:
		out.Verdict = Unstable
	}
	return out
}

// radii returns the spectral radius at each step where the chain is
// unstable, NaN elsewhere; nil if it is stable at all of them.
func radii(points []markov.Point) []Number {
	if !slices.ContainsFunc(points, markov.Point.Unstable) {
		return nil
	}
	out := make([]Number, len(points))
	// In the order of the steps.
	for i, p := range points {
		out[i] = Number(math.NaN())
		if p.Unstable() {
			out[i] = Number(p.Radius)
		}
	}
	return out
}
