package certify

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"hambench/estimators"
	"hambench/integrators"
	"hambench/internal/table"
	"hambench/minibatch"
	"hambench/usage"
)

// Advice says which chains to run on a problem at a budget of gradients, and how
// accurate they are.
type Advice struct {
	Problem  string   `json:"problem"`
	Budget   float64  `json:"budget"` // gradients of a batch; all data count K
	K        int      `json:"k"`
	Friction float64  `json:"friction"`
	Best     []Choice `json:"best"`               // the best first
	Tried    int      `json:"tried"`              // combinations of integrator, estimator and scheme
	LeftOut  []string `json:"left_out,omitempty"` // combinations that are too large to try
	Assumed  []string `json:"assumed"`
}

// Choice is a chain at its best step, with the mean squared error of its worst
// average, as in AtBudget.
type Choice struct {
	Integrator      string  `json:"integrator"`
	Estimator       string  `json:"estimator"`
	Scheme          string  `json:"scheme"`
	Step            Number  `json:"step"`
	MSE             Number  `json:"mse"`
	Bias            Number  `json:"bias"`
	Autocorrelation Number  `json:"autocorrelation"`
	Worst           string  `json:"worst"`
	Cost            float64 `json:"cost"`        // gradients of a batch an outer step
	Steps           Number  `json:"steps"`       // outer steps
	StableStep      *Number `json:"stable_step"` // null: not known

	asked Options // for it alone
}

// finalists are the combinations that are judged again, without the short cuts of the
// first round, on Gaussian and on scalar problems, and shown is how many are reported.
const finalists, scalarFinalists, shown = 16, 4, 8

// Bounds on the numbers that are touched to advance a law by a period: beyond the first
// a combination is not tried in the first round, and later a few random orders stand for
// all; beyond the last, in the whole problem's dimensions, it is not tried at all.
const mostWork, mostWhole = 2e6, 3e7

// Advise tries every built-in combination of integrator, estimator and scheme on a
// problem, each at its best step. Integrators that need Hessian-vector products take
// part if products is true; exact flows never do, since gradients do not give them.
// The first round approximates: squares are taken for those of normal processes, a
// few random orders for all, a scalar problem's linearisation at the mode for the
// problem, and four directions for more than four dimensions. If progress is not
// nil, it is called with the share done, from 0 to 1.
func Advise(ctx context.Context, p *Problem, budget float64, products bool, progress func(done float64)) (Advice, error) {
	if progress == nil {
		progress = func(float64) {}
	}
	out := Advice{Problem: p.Name, Budget: budget, K: p.Batches(), Friction: p.Friction, Assumed: []string{
		"the chain starts in its stationary law: burn-in is not counted",
		"averages are taken over all outer steps, those of svrg at the ends of its periods",
		"the worst average counts, in units of its variance under the target",
	}}
	if p.assumed != "" {
		out.Assumed = append(out.Assumed, p.assumed)
	}
	screen, again, err := out.screening(p)
	if err != nil {
		return out, err
	}
	all, err := out.screen(ctx, p, screen, products, progress)
	if err != nil {
		return out, err
	}
	slices.SortStableFunc(all, byError)
	last := again(all)
	for i, c := range last {
		o := c.asked
		o.Problem, o.quick = p, false
		o.quick = p.Kind == Gaussian && o.work() > mostWork
		found, err := choices(ctx, o)
		if err != nil {
			return out, err
		}
		out.Best = append(out.Best, found...)
		progress(0.5 + 0.5*float64(i+1)/float64(len(last)))
	}
	slices.SortStableFunc(out.Best, byError)
	out.Best = out.Best[:min(shown, len(out.Best))]
	if len(all) == 0 && len(out.LeftOut) > 0 {
		return out, usage.Errorf("problem %q: %d positions and K = %d batches are too many: every combination is too large", p.Name, p.Dim(), out.K)
	}
	if len(out.Best) == 0 {
		return out, usage.Errorf("problem %q: no chain of a budget of %g gradients has an error that is known", p.Name, budget)
	}
	return out, nil
}

// screening returns the problem that stands for p in the first round, and which of its
// choices, the best first, are judged again, on p; it notes what that assumes.
func (a *Advice) screening(p *Problem) (screen *Problem, again func([]Choice) []Choice, err error) {
	best := func(most int) func([]Choice) []Choice {
		return func(all []Choice) []Choice { return all[:min(most, len(all))] }
	}
	switch {
	case p.Kind == Scalar:
		a.Assumed = append(a.Assumed, fmt.Sprintf("all but the best %d were judged on the linearisation at the mode", scalarFinalists))
		screen, err = p.linearised()
		return screen, best(scalarFinalists), err
	case p.Dim() > directions:
		a.Assumed = append(a.Assumed, fmt.Sprintf("all but the best under each estimator and scheme were judged in %d of the %d principal directions, from the softest to the stiffest, without what batches pull across these", directions, p.Dim()))
		screen, err = p.projected()
		return screen, bestOfEach, err
	}
	return p, best(finalists), nil
}

// bestOfEach are the best choices under each estimator and scheme: what batches pull
// matters under some more than under others.
func bestOfEach(all []Choice) (few []Choice) {
	for _, c := range all {
		if !slices.ContainsFunc(few, func(b Choice) bool { return b.Scheme == c.Scheme && b.Estimator == c.Estimator }) {
			few = append(few, c)
		}
	}
	return few
}

// screen is the first round: the best steps on a problem that stands for p.
func (a *Advice) screen(ctx context.Context, p, screen *Problem, products bool, progress func(done float64)) (all []Choice, err error) {
	builtin, schemes, k := estimators.Builtin(), ExactSchemes(), p.Batches()
	methods := slices.DeleteFunc(integrators.Builtin(), func(m integrators.Method) bool {
		return p.Takes(m) != nil || screen.Takes(m) != nil || m.Claims.Affine || !products && m.Claims.HessianVectors > 0
	})
	for i, by := range builtin {
		e := estimation{by}
		if p.Kind == Scalar && e.variables(k) > 0 {
			a.LeftOut = append(a.LeftOut, by.Name+": has variables, and the problem is scalar")
			continue
		}
		for j, s := range schemes {
			progress(0.5 * float64(i*len(schemes)+j) / float64(len(builtin)*len(schemes)))
			if !e.plain() && s.Whole() || k == 1 && !s.Whole() || e.checkScheme(s, k) != nil {
				continue
			}
			o := Options{Problem: screen, Estimator: by, Schemes: []minibatch.Method{s}, Budgets: []float64{a.Budget}, quick: true}
			whole := o
			whole.Problem = p
			if o.work() > mostWork || whole.work() > mostWhole {
				a.LeftOut = append(a.LeftOut, by.Name+" under "+s.Name+": too large")
				continue
			}
			for _, m := range methods {
				if e.check(m, 1, k) == nil {
					o.Integrators = append(o.Integrators, m)
				}
			}
			found, err := choices(ctx, o)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	a.Tried = len(all)
	return all, nil
}

func byError(a, b Choice) int { return cmp.Compare(a.MSE, b.MSE) }

// choices are the best steps of integrators under one scheme, of those that have one.
func choices(ctx context.Context, o Options) ([]Choice, error) {
	o.ErrorsOnly, o.searchOnly, o.Stability = true, true, !o.quick
	o.Steps = []float64{1} // any: nothing is found there
	rows, err := Run(ctx, o)
	var out []Choice
	for i, r := range rows {
		if len(r.Budgets) == 0 || math.IsNaN(float64(r.Budgets[0].Best)) || math.IsInf(float64(r.Budgets[0].Best), 0) {
			continue
		}
		b, asked := r.Budgets[0], o
		asked.Integrators = o.Integrators[i : i+1]
		out = append(out, Choice{
			Integrator: r.Integrator, Estimator: cmp.Or(r.Estimator, estimators.Plain.Name), Scheme: r.Scheme,
			Step: b.Step, MSE: b.Best, Bias: b.Bias, Autocorrelation: b.Autocorrelation, Worst: b.Worst,
			Cost: r.Cost, Steps: b.Outer, StableStep: r.StableStep, asked: asked,
		})
	}
	return out, err
}

// linearised is a scalar problem as it is near its mode.
func (p *Problem) linearised() (*Problem, error) {
	out := &Problem{Name: p.Name, Kind: Gaussian, Friction: p.Friction}
	target, err := p.scalar.density()
	if err != nil {
		return nil, err
	}
	at := target.mode(p.scalar)[0]
	for _, u := range p.scalar {
		out.gaussian = append(out.gaussian, newAffineForce([]float64{u.Curvature(at)}, []float64{u.Curvature(at)*at - u.Gradient(at)}))
	}
	return out, nil
}

// work is how many numbers are touched to advance the law of a Gaussian problem by a
// period, of the estimator and under the one scheme that are asked for; +Inf if there
// is no period.
func (o Options) work() float64 {
	k, e := o.Problem.Batches(), estimation{o.Estimator}
	n := float64((2+e.variables(k))*o.Problem.Dim() + 1)
	scheme, _ := o.standIn(o.Schemes[0])
	if scheme.Whole() {
		k = 1
	}
	cycle, err := newPeriod(context.Background(), evolution{kernels: make([]operator, k), each: 1, inner: e.period(k)}, scheme)
	if err != nil {
		return math.Inf(1)
	}
	return n * n * n * cycle.work()
}

// Write prints the advice.
func (a Advice) Write(w io.Writer) error {
	b := a.Best[0]
	fmt.Fprintf(w, "%s, estimator %s, scheme %s, step %.4g: %.0f steps at %g gradients, error %.3g (as of %.0f independent draws)\n\n",
		b.Integrator, b.Estimator, b.Scheme, b.Step, b.Steps, b.Cost, b.MSE, 1/b.MSE)
	var lines [][]string
	for _, c := range a.Best {
		limit := "-"
		if c.StableStep != nil {
			limit = format("%.3g", *c.StableStep)
		}
		lines = append(lines, []string{c.Integrator, c.Estimator, c.Scheme, format("%.4g", c.Step), limit,
			fmt.Sprintf("%g", c.Cost), format("%.3g", c.MSE), format("%.2g", c.Bias), format("%.3g", c.Autocorrelation), c.Worst})
	}
	header := []string{"integrator", "estimator", "scheme", "step", "largest stable", "gradients a step", "MSE", "bias", "IACT", "worst average"}
	if err := table.Write(w, header, lines, 0, 0, 0, 0, 3, 1, 0, 5, 2, 4); err != nil {
		return err
	}
	fmt.Fprintf(w, "problem %s, K = %d, C = %g, %g gradients of a batch; of %d combinations, each at its best step\n", a.Problem, a.K, a.Friction, a.Budget, a.Tried)
	for _, s := range a.Assumed {
		fmt.Fprintln(w, "assumed: "+s)
	}
	for _, s := range a.LeftOut {
		fmt.Fprintln(w, "left out: "+s)
	}
	return nil
}
