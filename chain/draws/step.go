package draws

import (
	"context"
	"math"

	"hambench/models"
	"hambench/oracle"
)

// stableShare is the default step in units of the largest stable one: at a quarter of it
// the error of a second-order scheme is a few percent. tinyStep is a step that all
// integrators take.
const (
	stableShare = 0.25
	tinyStep    = 1e-6
)

// DefaultStep returns the step for chains that state none, and the largest stable one
// that it is a quarter of, with the spec's parts on a target, which it takes over. Where
// there is friction C, the step is at most 1/(2C). The search takes a second or two.
func (c Chains) DefaultStep(ctx context.Context, t models.Target) (step, largest float64,
	err error) {
	// Bad input is refused before the search, which takes seconds. The step is not known yet: the
	// check has tinyStep in its place.
	check := c.Spec
	check.Params.Step = tinyStep
	if err := c.Parts.Check(check); err != nil {
		return 0, 0, err
	}
	in, err := c.Parts.Integrator(c.Spec.Integrator)
	if err != nil {
		return 0, 0, err
	}
	stable, err := oracle.StableSteps(ctx, t, c.Spec.Batches)
	if err != nil {
		return 0, 0, err
	}
	// The search is for leapfrog, whose limit the integrator translates into its own.
	largest = in.StableStep(stable[0])
	step = stableShare * largest
	if friction := c.Spec.Params.Friction; !math.IsInf(friction, 1) && !in.PositionOnly {
		step = min(step, 0.5/friction)
	}
	return step, largest, nil
}
