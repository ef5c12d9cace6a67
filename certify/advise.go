package certify

import (
	"cmp"
	"context"
	"errors"
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

// Advice is which chain to run on a problem at a budget of gradients, and what it
// is worth.
type Advice struct {
	Problem  string   `json:"problem"`
	Budget   float64  `json:"budget"` // gradients of a batch; all data count K
	K        int      `json:"k"`
	Friction float64  `json:"friction"`
	Best     []Choice `json:"best"`               // the best first
	Tried    int      `json:"tried"`              // combinations of integrator, estimator and scheme
	LeftOut  []string `json:"left_out,omitempty"` // those that are too large to be tried
	Assumed  []string `json:"assumed"`
}

// Choice is a chain with its best step, and the mean squared error of the worst
// average over it, as AtBudget has them.
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
	StableStep      *Number `json:"stable_step"` // null: none is known
}

// finalists are the combinations that are judged again, without the short cuts of the
// first round, on Gaussian and on scalar problems, and shown is how many are told.
const finalists, scalarFinalists, shown = 16, 4, 8

// mostWork bounds the numbers that are touched to advance a law by a period.
const mostWork = 2e6

// Advise tries every built-in integrator, estimator and scheme on a problem at its
// best step. Integrators that need Hessian-vector products take part if products
// are to be had; an exact flow does not, since no gradient gives it. The first
// round takes squares for those of normal processes, a few random orders for all and,
// on a scalar problem, the linearisation at its mode for the problem.
func Advise(ctx context.Context, p *Problem, budget float64, products bool) (Advice, error) {
	k := p.Batches()
	out := Advice{Problem: p.Name, Budget: budget, K: k, Friction: p.Friction, Assumed: []string{
		"the chain starts in its stationary law: burn-in is not counted",
		"averages are taken over all outer steps, those of svrg at the ends of its periods",
		"the worst average counts, in units of its variance under the target",
	}}
	screen, last := p, finalists
	if p.Kind == Scalar {
		screen, last = p.linearised(), scalarFinalists
		out.Assumed = append(out.Assumed, fmt.Sprintf("all but the best %d were judged on the linearisation at the mode", last))
	}
	var all []Choice
	for _, by := range estimators.Builtin() {
		e := estimation{by}
		if p.Kind == Scalar && e.variables(k) > 0 {
			out.LeftOut = append(out.LeftOut, by.Name+": has variables, and the problem is scalar")
			continue
		}
		for _, s := range ExactSchemes() {
			if !e.plain() && s.Whole() || k == 1 && !s.Whole() || e.checkScheme(s, k) != nil {
				continue
			}
			if work := screen.workOf(e, s); work > mostWork {
				out.LeftOut = append(out.LeftOut, by.Name+" under "+s.Name+": too large")
				continue
			}
			var fit []integrators.Method
			for _, m := range integrators.Builtin() {
				if p.Takes(m) == nil && screen.Takes(m) == nil && !m.Claims.Affine && (products || m.Claims.HessianVectors == 0) && e.check(m, 1, k) == nil {
					fit = append(fit, m)
				}
			}
			found, err := choices(ctx, Options{Problem: screen, Integrators: fit, Estimator: by, Schemes: []minibatch.Method{s}, Budgets: []float64{budget}, quick: true})
			if err != nil {
				return out, err
			}
			all = append(all, found...)
		}
	}
	out.Tried = len(all)
	slices.SortStableFunc(all, byError)
	for _, c := range all[:min(last, len(all))] {
		m, err1 := integrators.Builtin().Lookup(c.Integrator)
		by, err2 := estimators.Builtin().Lookup(c.Estimator)
		s, err3 := Schemes(c.Scheme)
		if err := errors.Join(err1, err2, err3); err != nil {
			return out, err
		}
		found, err := choices(ctx, Options{Problem: p, Integrators: []integrators.Method{m}, Estimator: by, Schemes: s, Budgets: []float64{budget}})
		if err != nil {
			return out, err
		}
		out.Best = append(out.Best, found...)
	}
	slices.SortStableFunc(out.Best, byError)
	out.Best = out.Best[:min(shown, len(out.Best))]
	if len(out.Best) == 0 {
		return out, usage.Errorf("problem %q: no chain of a budget of %g gradients has an error that is known", p.Name, budget)
	}
	return out, nil
}

func byError(a, b Choice) int { return cmp.Compare(a.MSE, b.MSE) }

// choices are the best steps of combinations, of those that have one.
func choices(ctx context.Context, o Options) ([]Choice, error) {
	o.ErrorsOnly, o.Stability = true, !o.quick
	e, err := o.engine()
	if err != nil {
		return nil, err
	}
	o.Steps = []float64{1e-2 / e.pace().fast}
	rows, err := Run(ctx, o)
	var out []Choice
	for _, r := range rows {
		if len(r.Budgets) == 0 || math.IsNaN(float64(r.Budgets[0].Best)) || math.IsInf(float64(r.Budgets[0].Best), 0) {
			continue
		}
		b := r.Budgets[0]
		out = append(out, Choice{
			Integrator: r.Integrator, Estimator: cmp.Or(r.Estimator, estimators.Plain.Name), Scheme: r.Scheme,
			Step: b.Step, MSE: b.Best, Bias: b.Bias, Autocorrelation: b.Autocorrelation, Worst: b.Worst,
			Cost: r.Cost, Steps: b.Outer, StableStep: r.StableStep,
		})
	}
	return out, err
}

// linearised is a scalar problem as it is near its mode.
func (p *Problem) linearised() *Problem {
	out := &Problem{Name: p.Name, Kind: Gaussian, Friction: p.Friction}
	mean := scalarMean(p.scalar)
	target, err := newDensity(mean.Value)
	if err != nil {
		return p
	}
	at := target.mode(mean)[0]
	for _, u := range p.scalar {
		out.gaussian = append(out.gaussian, newAffineForce([]float64{u.Curvature(at)}, []float64{u.Curvature(at)*at - u.Gradient(at)}))
	}
	return out
}

// workOf is how many numbers are touched to advance the law of a Gaussian problem by a
// period.
func (p *Problem) workOf(e estimation, s minibatch.Method) float64 {
	k := p.Batches()
	n := float64((2+e.variables(k))*p.Dim() + 1)
	kernels := 1.0
	switch s.Visits.(type) {
	case minibatch.Single:
	case minibatch.Independent:
		kernels = float64(k)
	case minibatch.Permutation:
		if kernels = float64(k) * math.Exp2(float64(k-1)); k > maxReshuffle {
			kernels = ordersTaken * float64(k)
		}
	case minibatch.Palindrome:
		if kernels = 2 * math.E * math.Gamma(float64(k+1)); k > maxPalindrome {
			kernels = ordersTaken * 2 * float64(k)
		}
	default:
		kernels = float64(k)
	}
	return n * n * n * kernels * float64(e.period(k)) / float64(min(e.period(k), s.Visits.Period(k)))
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
	if err := table.Write(w, header, lines); err != nil {
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
