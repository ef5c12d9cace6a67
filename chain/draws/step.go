package draws

import (
	"context"
	"errors"
	"math"

	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
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
// there is friction C, the step is at most 1/(2C). The search takes a few seconds.
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
	s, err := oracle.NewStability(ctx, t)
	if err != nil {
		return 0, 0, err
	}
	largest, err = s.Largest(ctx, c.Parts, c.Spec)
	if errors.Is(err, oracle.ErrUnstable) { // is it for the friction that was asked for?
		calm := c.Spec
		calm.Params.Friction = min(calm.Params.Friction, 1)
		if _, other := s.Largest(ctx, c.Parts, calm); other == nil {
			return 0, 0, usage.Errorf("friction %g: %w: want less friction, or a step",
				c.Spec.Params.Friction, err)
		}
	}
	if err != nil {
		return 0, 0, err
	}
	// Some chains stay finite at any step, as exact flows do: no step is beyond lietrotter's.
	plain := c.Spec
	plain.Integrator, plain.Params.Values = "lietrotter", nil
	others, err := s.Largest(ctx, c.Parts, plain)
	if err != nil {
		return 0, 0, err
	}
	largest = min(largest, in.StableStep(others))
	step = stableShare * largest
	if friction := c.Spec.Params.Friction; !math.IsInf(friction, 1) && !in.PositionOnly {
		step = min(step, 0.5/friction)
	}
	return step, largest, nil
}
