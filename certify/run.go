package certify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/certify/spectral"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/internal/child"
	"hambench/usage"
)

// Options say what to certify. A field with its zero value has the default that
// its comment states.
type Options struct {
	Problem     *Problem
	Integrators []integrators.Integrator // default: All
	Schemes     []minibatch.Scheme       // default: all with fixed batches
	Steps       []float64                // default: a geometric grid fit for the problem's kind
	Inner       int                      // N_l; default 1
	Values      map[string]float64       // the integrators' own parameters; default theirs
	Estimator   estimators.Estimator     // of gradients; default plain
	// InvMass is the diagonal of M⁻¹, one number a position, on Gaussian problems; default
	// the identity.
	InvMass []float64
	// EveryStep observes the law at the ends of all outer steps, averaged, instead of at the
	// ends of periods.
	EveryStep bool
	// OneStep judges the law after one step of the full batch (weak orders) instead of the
	// stationary law, on Gaussian problems.
	OneStep  bool
	Progress func(done float64) // called with the share done, from 0 to 1; default: not called
	// Budgets are gradients of a batch that a chain may cost; none: averages are not judged.
	Budgets   []float64
	Stability bool // find the largest stable step
	Distances bool // find those of the stationary law of θ from the target
	Energy    bool // find energy errors, and the bias that they are to bound
}

// estimation makes the forces of steps of those of batches.
func (o *Options) estimation() probe.Estimation { return probe.Estimation{Method: o.Estimator} }

// defaultSteps are geometric grids on which the built-in problems are
// asymptotic and still resolved.
func defaultSteps(k Kind) []float64 {
	if k == Scalar {
		return []float64{0.04, 0.02, 0.01, 0.005}
	}
	return []float64{0.04, 0.02, 0.01, 0.005, 0.0025}
}

// Run certifies every integrator under every scheme. The rows come in the
// order of the integrators, then of the schemes. Options that cannot be met are a usage error
// before any work; once the context is done, its error is returned soon.
func Run(ctx context.Context, o Options) ([]Row, error) { return o.run(ctx, true) }

// Errors does what Run does, except that it decides no orders and takes no steps
// besides those asked for.
func Errors(ctx context.Context, o Options) ([]Row, error) { return o.run(ctx, false) }

// run finds the rows, with orders or with errors alone. A sampler in another process that fails
// in the middle of a step ends it by a panic, which becomes the error.
func (o Options) run(ctx context.Context, decides bool) (rows []Row, err error) {
	defer child.Catch(&err)
	e, err := o.complete()
	if err != nil {
		return nil, err
	}
	for i, m := range o.Integrators { // each is an equal share of the work
		r, err := o.certify(ctx, e, m, decides, func(done float64) {
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

// longest is the longest step, in units of the shortest time. Beyond it a flow's noise has no
// covariance that float64 can factor, and other steps have numbers that are not finite.
const longest = 1e12

// complete checks the options, fills in the defaults, and makes the engine. It changes the
// options in place, and does no work that takes longer than an engine's own preparation.
func (o *Options) complete() (markov.Engine, error) {
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
	// Schemes and integrators that were not named are all that fit; one that was named and
	// does not fit is an error.
	by, k := o.estimation(), o.Problem.Batches()
	if len(o.Schemes) == 0 {
		o.Schemes = slices.DeleteFunc(ExactSchemes(), func(s minibatch.Scheme) bool {
			return cmp.Or(o.TakesScheme(s), by.CheckScheme(s, k)) != nil
		})
	}
	for _, s := range o.Schemes {
		if err := cmp.Or(o.TakesScheme(s), by.CheckScheme(s, k)); err != nil {
			return nil, err
		}
		if err := s.CheckVisits(k); err != nil {
			return nil, err
		}
	}
	// A period has at least the kernels of an outer step: N_l or, under an estimator that begins
	// anew, its own period. Every law is advanced through all of them.
	if steps := max(o.Inner, by.Period(k)); steps > markov.MaxWordSteps {
		return nil, usage.Errorf("a period of %d steps: want at most %d", steps,
			markov.MaxWordSteps)
	}
	// One step is judged with all of the data, which estimators leave as it is; and the bases of
	// scalar problems have no room for an estimator's variables.
	if by.Name() != "" && (o.OneStep || o.Problem.Kind == Scalar && by.Variables(k) > 0) {
		return nil, usage.Errorf("estimator %q, with variables of its own or for one step: want "+
			"the stationary law of a problem of kind gaussian", by.Name())
	}
	e, err := o.engine()
	if err != nil {
		return nil, err
	}
	// Rates further apart cannot be added: steps would seem not to depend on their noise.
	if p := e.Pace(); !(markov.Epsilon*p.Fast < p.Slow) {
		return nil, usage.Errorf("problem %q: rates from %.3g to %.3g, of frequencies and "+
			"friction: want them less than %.0g apart, as float64 can tell",
			o.Problem.Name, p.Slow, p.Fast, 1/markov.Epsilon)
	} else if h := slices.Max(o.Steps); !(h*p.Fast < longest) {
		return nil, usage.Errorf("step %v: want less than %.3g, which is %.0g times the shortest "+
			"time of problem %q", h, longest/p.Fast, longest, o.Problem.Name)
	}
	// Whether an integrator takes N_l > 1 inner steps is what its New checks, and not refuse: so
	// of integrators that were not named it is asked here.
	if len(o.Integrators) == 0 {
		o.Integrators = slices.DeleteFunc(All(o.Problem), func(m integrators.Integrator) bool {
			return o.Inner != 1 && !m.InnerSteps || o.refuse(m) != nil
		})
	}
	for _, m := range o.Integrators {
		if err := o.refuse(m); err != nil {
			return nil, err
		}
		// Parameters are checked by making an integrator. What another process needs, it says.
		in, err := o.integrator(m, o.Steps[0])
		if err == nil && !probe.Remote(in.Kernel) {
			err = m.CheckNeeds(in.Params)
		}
		if err != nil {
			return nil, err
		}
		if probe.Remote(in.Kernel) && !by.Plain() {
			return nil, usage.Errorf("integrator %q, in another process, with estimator %q: want "+
				"plain, since the sampler makes its own use of the forces", m.Name, by.Name())
		}
		// Costs and claims go by Options.Inner: it must be the number that the kernel takes.
		if n := probe.BatchesTaken(in.Kernel); n > 1 && n != o.Inner {
			return nil, usage.Errorf("integrator %q takes %d batches a step, and N_l = %d is "+
				"asked for: want N_l = %d", m.Name, n, o.Inner, n)
		}
	}
	return e, nil
}

// TakesScheme returns what keeps a scheme from rows of what is asked, as a usage error, or nil.
// Beyond exact sums rows under random orders have predictions alone.
func (o *Options) TakesScheme(s minibatch.Scheme) error {
	if randomOrders(s) == "" && !o.answers() && !o.OneStep && markov.CheckScheme(s) == nil {
		return nil
	}
	return o.Problem.TakesScheme(s)
}

// refuse returns what keeps an integrator from what is asked, as a usage error that names
// both, or nil.
func (o *Options) refuse(m integrators.Integrator) error {
	if err := o.Problem.Takes(m); err != nil {
		return err
	}
	if m.PositionOnly && o.OneStep {
		return usage.Errorf("integrator %q moves the position alone, and one step is compared "+
			"with the flow of position and momentum: want another integrator", m.Name)
	}
	return o.estimation().Check(m, o.Inner, o.Problem.Batches())
}

// engine makes the engine of the problem's kind. A mass, or one step, is of Gaussian problems
// alone; laws that would not fit into memory are refused here.
func (o *Options) engine() (markov.Engine, error) {
	d := o.Problem.Dim() // positions
	bad := func(m float64) bool { return !(m > 0) || math.IsInf(m, 0) }
	if o.InvMass != nil && (len(o.InvMass) != d || slices.ContainsFunc(o.InvMass, bad)) {
		return nil, usage.Errorf("inverse mass %v: want %d finite numbers > 0, one a "+
			"position", o.InvMass, d)
	}
	if o.Problem.Kind == Gaussian {
		p := gaussian.Problem{Batches: o.Problem.gaussian, Friction: o.Problem.Friction,
			InvMass: o.InvMass, By: o.estimation()}
		// Schemes with predictions alone hold no laws.
		exact := slices.DeleteFunc(slices.Clone(o.Schemes), func(s minibatch.Scheme) bool {
			return o.Problem.TakesScheme(s) != nil
		})
		if err := p.CheckMemory(exact, o.maps()); err != nil {
			return nil, usage.Errorf("problem %q: %w", o.Problem.Name, err)
		}
		g, err := gaussian.New(p)
		if err != nil || !o.OneStep {
			return g, err
		}
		return g.OneStep()
	}
	if o.OneStep {
		return nil, usage.Errorf("one step of a %s problem: want a Gaussian one", o.Problem.Kind)
	}
	if o.InvMass != nil {
		return nil, usage.Errorf("inverse mass for a %s problem: want a Gaussian one",
			o.Problem.Kind)
	}
	if o.Problem.Kind == Crossing {
		return spectral.NewCrossing(o.Problem.valleys, o.Problem.Friction)
	}
	return spectral.New(o.Problem.scalar, o.Problem.Friction, o.estimation())
}

// maps is the largest number of maps that a chain of the integrators is made of. What keeps one
// from being made is found later.
func (o *Options) maps() float64 {
	k := float64(o.Problem.Batches())
	most := k
	for _, m := range o.Integrators {
		if in, err := o.integrator(m, o.Steps[0]); err == nil {
			// A map for each list of batches that a kernel takes, and for each step that it mixes.
			mixed, _ := probe.Mixture(in.Kernel)
			lists := math.Pow(k, float64(probe.BatchesTaken(in.Kernel)))
			most = max(most, float64(len(mixed))*lists)
		}
	}
	return most
}

// checkSteps refuses steps of which no error can be found, and equal ones.
func checkSteps(steps []float64) error {
	for i, h := range steps {
		if !(h > 0) || math.IsInf(h, 0) {
			return usage.Errorf("step %v: want a finite number > 0", h)
		}
		if slices.Contains(steps[:i], h) { // a slope between equal steps has no meaning
			return usage.Errorf("step %v is given twice: want steps that differ", h)
		}
	}
	return nil
}

// The steps at which orders are decided, see certification.decide.
const (
	// ownNodes is how many steps an order is decided at before smaller ones
	// are taken, halving, and mostOwnNodes when it is given up.
	ownNodes     = 7
	mostOwnNodes = 12
	// reuseFrom is the smallest step, in units of the fastest rate, whose
	// error, known anyway, serves as a node.
	reuseFrom = 1e-4
)

// certify certifies one integrator under every scheme. decides says whether orders are found,
// and progress is called with the share of the schemes that is done.
func (o *Options) certify(ctx context.Context, e markov.Engine, m integrators.Integrator,
	decides bool, progress func(done float64)) ([]Row, error) {
	// On scalar problems auxiliary variables are part of what is expanded.
	if s, ok := e.(*spectral.Engine); ok && m.Variables != nil {
		in, err := o.integrator(m, markov.Still/e.Pace().Fast)
		if err != nil {
			return nil, err
		}
		e = s.With(in) // their laws are observed, too
	}
	// What does not depend on the scheme is found once.
	degeneracy, err := o.degeneracy(e, m)
	if err != nil {
		return nil, err
	}
	batches, err := o.certification(e, m)
	if err != nil {
		return nil, err
	}
	all, err := e.Whole()
	if err != nil {
		return nil, err
	}
	whole, err := o.certification(all, m)
	if err != nil {
		return nil, err
	}
	var rows []Row
	var law *prediction
	for i, s := range o.Schemes {
		// All schemes of random orders share the prediction, which needs the errors of the steps
		// with all of the data.
		if decides && degeneracy == "" && law == nil && randomOrders(s) == "" {
			if law, err = whole.predict(ctx); err != nil {
				return nil, err
			}
		}
		// A scheme without mini-batches has the problem of all data for its own.
		c, solved := batches, 0.0 // points
		if s.Whole() {
			c = whole
		}
		c.scheme, c.degeneracy, c.law = s, degeneracy, law
		c.beyond = o.Problem.TakesScheme(s) != nil
		c.decides, c.onPoint = decides, func() {
			solved++
			// Most rows need the steps asked for and ownNodes more; a row that needs still more
			// stays at its full share.
			share := min(1, solved/float64(len(o.Steps)+ownNodes))
			progress((float64(i) + share) / float64(len(o.Schemes)))
		}
		row, err := c.row(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s under %s: %w", m.Name, s.Name, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Takes returns what keeps an integrator from being certified on the problem, as a usage
// error that names both, or nil.
func (p *Problem) Takes(m integrators.Integrator) error {
	affine, definite := p.affine()
	switch {
	// An exact flow is that of a normal law, batch by batch.
	case m.Needs.Affine && !affine:
		return usage.Errorf("integrator %q needs a linear-Gaussian force, which problem %q does "+
			"not have", m.Name, p.Name)
	case m.Needs.Affine && !definite:
		return usage.Errorf("integrator %q needs batches that are each positive definite, not "+
			"in the mean alone, which those of problem %q are not", m.Name, p.Name)
	case m.Nonlinear && p.Kind == Gaussian:
		return usage.Errorf("integrator %q is not affine in its state, which problem %q of kind "+
			"gaussian wants: want a problem of kind scalar", m.Name, p.Name)
	case m.Variables != nil && p.Kind == Scalar && !fewOfStatedLaw(m, p.Friction):
		return usage.Errorf("integrator %q has auxiliary variables, and problem %q of kind "+
			"scalar takes one or two numbers beside position and momentum, each of a law that is "+
			"stated to be normal, positive or open: want a problem of kind gaussian", m.Name,
			p.Name)
	}
	return nil
}

// fewOfStatedLaw reports whether an integrator's auxiliary variables in one position are one or
// two numbers of which it says what their law is like: a basis grows with every number.
func fewOfStatedLaw(m integrators.Integrator, friction float64) bool {
	// Neither the variables nor what is stated of them depend on the step or on the values of the
	// integrator's own parameters, which are the defaults here.
	in, err := m.New(1, integrators.Params{Step: 1, Friction: friction})
	if err != nil || probe.Auxiliary(in) > 2 {
		return false
	}
	return !slices.ContainsFunc(m.Variables(1, in.Params), func(v integrators.Variable) bool {
		return !(v.Deviation > 0 || v.Open || v.Positive)
	})
}

// TakesScheme returns what keeps a scheme from exact orders on the problem, or nil.
func (p *Problem) TakesScheme(m minibatch.Scheme) error {
	k := p.Batches()
	if err := markov.Check(m, k); err != nil {
		return err
	}
	// Kernels are probed under every batch.
	if k > probe.MaxLists && !m.Whole() {
		return usage.Errorf("scheme %q with K = %d batches: exact orders need K at most %d",
			m.Name, k, probe.MaxLists)
	}
	if p.Kind != Crossing {
		return nil
	}
	return usage.Errorf("scheme %q on problem %q: two positions in a potential that is not "+
		"quadratic have no exact errors", m.Name, p.Name)
}

// All returns the built-in integrators that are certified on a problem if none are
// named: all that it takes except the Nonlinear ones, which need a larger basis, and those that
// mix steps, which need several matrices: these take as long as all others together.
func All(p *Problem) []integrators.Integrator {
	return slices.DeleteFunc(integrators.Builtin(), func(m integrators.Integrator) bool {
		return m.Nonlinear || m.Mixes() || p.Takes(m) != nil
	})
}

// ExactSchemes are the built-in mini-batch schemes that certify takes: those
// with a fixed partition into batches.
func ExactSchemes() []minibatch.Scheme { return minibatch.Builtin().Fixed() }

// Schemes looks up schemes by name. A name that is not known, or of a scheme without fixed
// batches, is a usage error that says which there are.
func Schemes(names ...string) ([]minibatch.Scheme, error) {
	var out []minibatch.Scheme
	for _, name := range names {
		m, err := minibatch.Builtin().Lookup(name)
		if err != nil {
			_, err = minibatch.Builtin().Fixed().Lookup(name) // names what certify takes
			return nil, err
		}
		if err := markov.CheckScheme(m); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
