package bench

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"hambench/certify"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// FullBatch is a cell's target with all its data in every step, where that is exact: a
// linear-Gaussian model on a built-in data set.
type FullBatch struct{ modes *certify.Modes }

// NewFullBatch returns the target of a cell. One that is not exact is a usage error.
func NewFullBatch(c Cell) (*FullBatch, error) {
	// Figures are drawn without data: only built-in sets are there.
	set, err := (&datasets.Resolver{Offline: true}).Load(context.Background(), c.Dataset)
	if err != nil {
		return nil, err
	}
	split, err := set.Split(c.Split)
	if err != nil {
		return nil, err
	}
	target, err := models.Builtin().New(c.Model, split, models.Options{})
	if err != nil {
		return nil, err
	}
	if target, err = c.Chain().Tempered(target); err != nil {
		return nil, err
	}
	linear := models.CapabilitiesOf(target).LinearGaussian
	if linear == nil {
		return nil, usage.Errorf("model %q has no linear-Gaussian force: want one that has",
			c.Model)
	}
	// The gradient of all rows is precision·θ − b; only its matrix decides how far a law is off.
	precision, _ := linear.Affine(models.Rows{Lo: 0, Hi: target.Rows(), Scale: 1})
	// Predictions are affine in θ: less those at the origin they are linear, and a constant does
	// not change a distance between laws that have it both.
	outputs := func(theta []float64) []float64 {
		at, origin := make([]float64, target.Outputs()), make([]float64, target.Outputs())
		target.Predict(at, theta)
		target.Predict(origin, make([]float64, target.Dim()))
		floats.Sub(at, origin)
		return at
	}
	modes, err := certify.NewModes(precision, outputs)
	return &FullBatch{modes}, err
}

// Distance is what the distance of a cell's chain would be with infinitely many draws and the
// full batch at a step: the mean Kolmogorov distance of its predictions' stationary law to the
// posterior's. It is 0 where round-off is as large, and NaN without a stationary law. An
// integrator that is not built in is a usage error, and so is one that modes cannot follow.
func (f *FullBatch) Distance(c Cell, step float64) (float64, error) {
	m, err := integrators.Builtin().Lookup(c.Integrator)
	if err != nil {
		return 0, err
	}
	return f.modes.Distance(m, integrators.Params{
		Step: step, Friction: float64(c.Friction), Inner: c.Inner, Values: c.Values})
}
