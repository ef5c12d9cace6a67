package certify

import (
	"context"
	"math"

	"hambench/certify/cost"
	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/chain/minibatch"
	"hambench/usage"

	"gonum.org/v1/gonum/floats"
)

// Answers holds what a row says besides errors and orders; what was not asked for is
// left out.
type Answers struct {
	// Cost is how many gradients of a batch an outer step takes, and K the number
	// of batches.
	Cost     float64    `json:"cost,omitempty"`
	K        int        `json:"k,omitempty"`
	Friction float64    `json:"friction,omitempty"`
	Averages []Average  `json:"averages,omitempty"`
	Budgets  []AtBudget `json:"budgets,omitempty"`
	// StableStep is where the spectral radius of a period's second moments first
	// reaches 1 as the step grows, to 4 digits; +Inf if it does not, nil where that
	// is not known.
	StableStep *Number `json:"stable_step,omitempty"`
	// Kolmogorov and Wasserstein are distances at each step between the stationary
	// law of θ and the target: Kolmogorov's is the largest of the marginals along the
	// principal axes, Wasserstein's is of order 2 in coordinates in which the target is
	// N(0, I) (on scalar problems, in units of its standard deviation). On Gaussian
	// problems both are those of normal laws with the exact moments: exact under full
	// and cyclic, but for kernels that mix steps, otherwise a lower bound of Wasserstein's
	// (Gelbrich 1990).
	Kolmogorov  []Number `json:"kolmogorov,omitempty"`
	Wasserstein []Number `json:"wasserstein,omitempty"`
	// CovarianceBias is √(Σ x²/d) at each step, x the d × d elements of the relative error of
	// θ's covariance in coordinates in which the target is N(0, I). EnergyError is the variance,
	// per position, of the change of the energy over a step without friction and noise, and
	// BatchEnergyError that of the energy which the step's batch alone has: see
	// gaussian.Chain.EnergyErrors. Gaussian problems only.
	CovarianceBias   []Number `json:"covariance_bias,omitempty"`
	EnergyError      []Number `json:"energy_error,omitempty"`
	BatchEnergyError []Number `json:"batch_energy_error,omitempty"`
}

// checkAnswers refuses questions without an answer.
func (o *Options) checkAnswers() error {
	for _, n := range o.Budgets {
		if !(n > 0) || math.IsInf(n, 0) {
			return usage.Errorf("budget %v: want a finite number of gradients > 0", n)
		}
	}
	if o.OneStep && o.answers() {
		return usage.Errorf("one step has no stationary law to take averages of: want budgets, " +
			"stability, distances and energies without it")
	}
	if o.Problem.Kind == Crossing && o.answers() {
		return usage.Errorf("problem %q of kind crossing has predictions alone: want budgets, "+
			"stability, distances and energies of problems of other kinds", o.Problem.Name)
	}
	if o.Energy && o.Problem.Kind != Gaussian {
		return usage.Errorf("problem %q: energy errors are known of problems of kind gaussian",
			o.Problem.Name)
	}
	return nil
}

// answers reports whether more is asked for than errors and orders.
func (o *Options) answers() bool {
	return o.Budgets != nil || o.Stability || o.Distances || o.Energy
}

// answer fills in what the options ask for; points are those at the row's steps.
func (c *certification) answer(ctx context.Context, row *Row, points []markov.Point) error {
	o := c.options
	if c.degeneracy != "" || !o.answers() {
		return nil
	}
	row.K, row.Friction = o.Problem.Batches(), o.Problem.Friction
	if o.Distances {
		for _, p := range points {
			k, w, err := c.distances(ctx, p)
			if err != nil {
				return err
			}
			row.Kolmogorov = append(row.Kolmogorov, Number(k))
			row.Wasserstein = append(row.Wasserstein, Number(w))
		}
	}
	if o.Energy {
		for _, p := range points {
			if err := c.energies(ctx, row, p); err != nil {
				return err
			}
		}
	}
	// Budgets need the largest stable step, too: the search for the best one begins there.
	if !o.Stability && o.Budgets == nil {
		return nil
	}
	// The chains are those of asked, not of judged: answers are of the batches as they were given,
	// never of amplified differences.
	s := cost.NewSearch(ctx, c.scheme, o.Inner, c.pace(), func(h float64,
		keep bool) (cost.Chain, error) {
		found, err := c.asked.prepared(h, keep)
		if err != nil {
			return nil, err
		}
		// Chains of both engines are; those of other kinds were refused by checkAnswers.
		return found.(answering), nil
	})
	limit, known, err := s.StableStep()
	if err != nil {
		return err
	}
	if o.Stability && known {
		row.StableStep = new(Number(limit))
	}
	return c.averages(s, row)
}

// answering is a chain of which all is asked that Answers holds.
type answering interface {
	cost.Chain
	// Distances are those between the stationary law of θ, whose errors stand at a point,
	// and the target.
	Distances(ctx context.Context, m minibatch.Scheme, at markov.Point,
		everyStep bool) (kolmogorov, wasserstein float64, err error)
}

// distances returns the distances between the stationary law of θ at a point and the
// target; NaN where there is no law, or none that is known.
func (c *certification) distances(ctx context.Context,
	at markov.Point) (kolmogorov, wasserstein float64, err error) {
	if at.Unstable() || math.IsInf(at.Observed[0].RelativeResolution, 1) {
		return math.NaN(), math.NaN(), nil
	}
	prep, err := c.asked.prepared(at.H, true)
	if err != nil {
		return 0, 0, err
	}
	return prep.(answering).Distances(ctx, c.scheme, at, c.options.EveryStep)
}

// energies appends the bias of θ's covariance and the energy errors at a point to the row. A
// chain without a momentum has no energy.
func (c *certification) energies(ctx context.Context, row *Row, at markov.Point) error {
	bias, whole, own := math.NaN(), math.NaN(), math.NaN()
	known := !at.Unstable() && !math.IsInf(at.Observed[1].RelativeResolution, 1)
	if known {
		bias = floats.Norm(at.Observed[1].Signed, 2) / math.Sqrt(float64(c.options.Problem.Dim()))
	}
	if known && !c.asked.method.PositionOnly {
		chain, err := c.asked.prepared(at.H, true)
		if err != nil {
			return err
		}
		// The same step without friction or noise: the energy that friction exchanges is no error
		// of the integrator.
		still := *c.options
		still.Problem = new(*still.Problem)
		still.Problem.Friction = noFriction
		in, err := still.integrator(c.asked.method, at.H)
		if err != nil {
			return err
		}
		without, err := c.asked.Prepare(in)
		if err != nil {
			return err
		}
		whole, own, err = chain.(*gaussian.Chain).EnergyErrors(ctx, c.scheme, without)
		if err != nil {
			return err
		}
	}
	row.CovarianceBias = append(row.CovarianceBias, Number(bias))
	row.EnergyError = append(row.EnergyError, Number(whole))
	row.BatchEnergyError = append(row.BatchEnergyError, Number(own))
	return nil
}

// EnergyBound is the CovarianceBias of half steps of friction around a velocity Verlet step on a
// normal target of one frequency ω, as a function of its EnergyError E. With x = h²ω² the
// variance of θ is 1/(1 − x/4) of the target's, and E = x³/(16 − 4x). Of targets of several
// frequencies the bias is below it while hω is at most 1.25 for the highest: so far its square is
// concave in E.
func EnergyBound(e float64) float64 {
	root := math.Sqrt(64*e*e + 64*e*e*e/27) // Cardano's, of x³ + 4Ex − 16E = 0
	x := math.Cbrt(8*e+root) + math.Cbrt(8*e-root)
	return x / (4 - x)
}

// noFriction is a friction that takes nothing from a step, where integrators want one above 0.
const noFriction = 1e-60

// Average holds the accuracy of the average of an observable over all outer steps of a
// stationary chain, at each of the row's steps. The unit is the observable's
// standard deviation under the target, in which the average of n independent draws
// of the target has the variance 1/n.
type Average struct {
	// Name is theta, for the worst direction of θ, or theta^2, for the worst of
	// the squares along the principal axes of the target (the eight outermost
	// if there are more); on scalar problems it is that of an observable of θ.
	Name string   `json:"name"`
	Bias []Number `json:"bias"` // of the stationary law, averaged over a period
	// Variance is the limit, as n grows, of n times the variance of the average of
	// n outer steps. Autocorrelation is that divided by the observable's variance
	// along the chain: the integrated autocorrelation time in outer steps.
	Variance        []Number `json:"variance"`
	Autocorrelation []Number `json:"autocorrelation"`
	// Normal says that the variance is that of a normal process with the same moments, and
	// that the chain is none, as of batches in random orders: an approximation, and no bound.
	Normal bool `json:"normal,omitempty"`
}

// AtBudget is the mean squared error of averages over a chain that costs a
// number of gradients: bias² + variance of the worst Average, in its units, for
// a chain that starts in its stationary law; NaN if the gradients do not pay for
// one outer step.
type AtBudget struct {
	// Gradients are of a batch: all data count K, a Hessian-vector product 2.
	Gradients float64  `json:"gradients"`
	MSE       []Number `json:"mse"` // at the row's steps
	// Step is the best step of a geometric grid whose steps differ by 9 %; the
	// fields below are for that step.
	Step            Number `json:"step"`
	Best            Number `json:"best"` // the mean squared error
	Bias            Number `json:"bias"` // of the worst Average
	Autocorrelation Number `json:"autocorrelation"`
	Worst           string `json:"worst"` // the name of the worst Average
	// Normal says that at the best step a variance is that of a normal process, as of Average.
	Normal    bool   `json:"normal,omitempty"`
	Outer     Number `json:"outer"`     // outer steps that the budget pays for
	Evaluated int    `json:"evaluated"` // steps tried
}

// averages judges the averages at the row's steps, and looks for the best step of each
// budget.
func (c *certification) averages(s *cost.Search, row *Row) error {
	o := c.options
	if o.Budgets == nil {
		return nil
	}
	row.Cost = cost.Gradients(c.asked.method, c.scheme, o.estimation(), o.Inner,
		o.Problem.Batches())
	found := make([][]cost.Accuracy, len(o.Steps)) // nil where there is no law
	// No quick answers here: a normal process stands in for the chain only where fourth moments are
	// out of reach.
	for i, h := range o.Steps {
		var err error
		if found[i], err = s.Accuracies(h, false); err != nil {
			return err
		}
		if row.Averages == nil {
			for _, w := range found[i] {
				row.Averages = append(row.Averages, Average{Name: w.Name, Normal: w.Normal})
			}
		}
	}
	for i := range row.Averages {
		a := &row.Averages[i]
		for _, all := range found {
			var w cost.Accuracy // not known
			if all != nil {
				w = all[i]
			}
			bias, variance, autocorrelation := w.Summary()
			a.Bias = append(a.Bias, Number(bias))
			a.Variance = append(a.Variance, Number(variance))
			a.Autocorrelation = append(a.Autocorrelation, Number(autocorrelation))
		}
	}
	for _, n := range o.Budgets {
		outer := n / row.Cost
		best, err := s.Best(outer)
		if err != nil {
			return err
		}
		b := AtBudget{Gradients: n, Step: Number(best.Step), Best: Number(best.MSE),
			Bias: Number(best.Bias), Autocorrelation: Number(best.Autocorrelation),
			Worst: best.Worst, Normal: best.Normal, Outer: Number(outer), Evaluated: best.Evaluated}
		for _, all := range found {
			size, _ := cost.MSE(all, outer)
			b.MSE = append(b.MSE, Number(size))
		}
		row.Budgets = append(row.Budgets, b)
	}
	return nil
}
