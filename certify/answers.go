package certify

import (
	"context"
	"math"

	"hambench/usage"
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
	// and cyclic, otherwise a lower bound of Wasserstein's (Gelbrich 1990).
	Kolmogorov  []Number `json:"kolmogorov,omitempty"`
	Wasserstein []Number `json:"wasserstein,omitempty"`
}

// checkAnswers refuses questions without an answer.
func (o *Options) checkAnswers() error {
	for _, n := range o.Budgets {
		if !(n > 0) || math.IsInf(n, 0) {
			return usage.Errorf("budget %v: want a finite number of gradients > 0", n)
		}
	}
	if o.OneStep && (o.Budgets != nil || o.Stability || o.Distances) {
		return usage.Errorf("one step has no stationary law to take averages of: want budgets, " +
			"stability and distances without it")
	}
	return nil
}

// answer fills in what the options ask for; points are those at the row's steps.
func (c *certification) answer(ctx context.Context, row *Row, points []point) error {
	o := c.options
	if c.degeneracy != "" || o.Budgets == nil && !o.Stability && !o.Distances {
		return nil
	}
	row.K, row.Friction = o.Problem.Batches(), o.Problem.Friction
	if o.Distances {
		for _, p := range points {
			k, w, err := c.distances(ctx, p)
			if err != nil {
				return err
			}
			row.Kolmogorov, row.Wasserstein = append(row.Kolmogorov,
				Number(k)), append(row.Wasserstein, Number(w))
		}
	}
	s := search{certification: *c, ctx: ctx, known: make(map[tried][]accuracy)}
	s.limit = s.unlimited()
	if o.Stability || o.Budgets != nil {
		var err error
		if s.limit, err = s.stableStep(); err != nil {
			return err
		}
		if limit := Number(s.limit); o.Stability && s.far {
			row.StableStep = &limit
		}
	}
	return s.judge(row)
}
