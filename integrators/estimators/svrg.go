package estimators

import (
	"fmt"
	"slices"

	"hambench/integrators"
)

// VarianceReduced is G_i(θ) + ∇U(θ̂) − G_i(θ̂), with θ̂ set to θ every period
// steps (Dubey et al. 2016); period 0 means the K steps of an epoch. θ̂ is its
// variable. A step costs a gradient of its batch at θ̂ besides the integrator's
// own, and a period one of all data. Its own error is of order 3 if each batch
// comes equally often at each distance from the anchor. Otherwise it is of
// order 1: the mean force is that of a position behind θ or ahead of it by O(h), as
// stiff batches come early or late.
func VarianceReduced(period int) Estimator {
	name, about := "svrg", "an epoch"
	if period > 0 {
		name, about = fmt.Sprintf("%s%d", periodPrefix, period), fmt.Sprintf("%d steps", period)
	}
	steps := func(epoch int) int {
		if period > 0 {
			return period
		}
		return max(1, epoch)
	}
	return Estimator{
		Name:   name,
		About:  "variance reduction: as cv, about the position at the start of " + about,
		Keeps:  integrators.Available{HessianVectors: true},
		Extra:  func(epoch int) float64 { return 1 + float64(epoch)/float64(steps(epoch)) },
		Period: steps,
		Caps:   Caps{Independent: 3, Shuffled: 3, Fixed: 1},
		New: func(p Problem) (Instance, error) {
			return &varianceReduced{
				corrected: newCorrected(p.Dim), problem: p, period: int64(steps(p.Epoch)),
			}, nil
		},
	}
}

// periodPrefix stands before the period in a name.
const periodPrefix = "svrg:"

// varianceReduced is the estimator of one chain.
type varianceReduced struct {
	corrected
	problem Problem
	period  int64
	first   int  // place of θ̂ among the state's variables
	known   bool // full is that of the state's θ̂
}

// Begin makes the start the first anchor.
func (e *varianceReduced) Begin(z *integrators.State) {
	e.first, e.known = len(z.Aux), false
	z.Aux = append(z.Aux, slices.Clone(z.Theta))
}

// Force moves the anchor to θ at the start of a period. It computes ∇U(θ̂) when θ̂ has
// changed or, if any state may come at any step, always.
func (e *varianceReduced) Force(s Step, z *integrators.State) integrators.Force {
	anchor := z.Aux[e.first]
	if s.Number%e.period == 0 {
		copy(anchor, z.Theta)
		e.known = false
	}
	if !e.known {
		e.problem.Full.Gradient(e.full, anchor)
		e.known = !e.problem.Probed
	}
	return e.at(s.Force, anchor)
}
