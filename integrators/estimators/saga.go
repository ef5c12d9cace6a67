package estimators

import (
	"gonum.org/v1/gonum/floats"

	"hambench/integrators"
	"hambench/usage"
)

// SAGA is G_i(θ) − A_i + mean(A), after which A_i becomes G_i(θ) (Defazio et al.
// 2014; Dubey et al. 2016). The K gradients A, at first those of the start, are
// its variables. If a step takes several gradients, the first one is kept.
//
// It is unbiased if a batch does not depend on the ages of the table's entries.
// In orders that visit each batch once an epoch it does depend: the entry that is replaced is older
// than the table on average, so that the mean force is that of a position ahead of θ by O(h), which
// is friction without noise. The chain is too cold, at order 1.
var SAGA = Estimator{
	Name:  "saga",
	About: "variance reduction by a table of every batch's last gradient",
	Keeps: integrators.Available{HessianVectors: true},
	Caps:  Caps{Independent: 3, Shuffled: 1, Fixed: 1},
	New: func(p Problem) (Instance, error) {
		if p.Batches == 0 {
			return nil, usage.Errorf("estimator \"saga\" keeps a gradient of every batch of "+
				"a fixed partition, which scheme %q does not have", p.Scheme)
		}
		return &saga{problem: p, mean: make([]float64, p.Dim), plus: make([]float64, p.Dim)}, nil
	},
}

// saga is the estimator of one chain, and the force of its current step.
type saga struct {
	problem Problem
	first   int // place of A_0 among the state's variables
	batch   integrators.Force
	mean    []float64 // of A
	plus    []float64 // mean(A) − A_i, once the step's first gradient is known
	entry   []float64 // A_i, which that gradient replaces; then nil
}

// Begin fills the table with the gradients of all batches at the start.
func (e *saga) Begin(z *integrators.State) {
	e.first = len(z.Aux)
	for i := range e.problem.Batches {
		g := make([]float64, e.problem.Dim)
		e.problem.Part(i).Gradient(g, z.Theta)
		z.Aux = append(z.Aux, g)
	}
	e.average(z)
}

// average works out the mean of the table.
func (e *saga) average(z *integrators.State) {
	clear(e.mean)
	for _, a := range z.Aux[e.first : e.first+e.problem.Batches] {
		floats.AddScaled(e.mean, 1/float64(e.problem.Batches), a)
	}
}

// Force returns the estimator itself, for the batch of the step. If any state may come at
// any step, the mean of the table is not that of the step before.
func (e *saga) Force(s Step, z *integrators.State) integrators.Force {
	if e.problem.Probed {
		e.average(z)
	}
	e.batch, e.entry = s.Force, z.Aux[e.first+s.Batch]
	return e
}

// Gradient replaces the batch's entry of the table when it is first called in a step.
func (e *saga) Gradient(g, theta []float64) {
	e.batch.Gradient(g, theta)
	// A later gradient of the step. The entry is already that of the first one: the difference to
	// the table as it was is kept in plus.
	if e.entry == nil {
		floats.Add(g, e.plus)
		return
	}
	weight := 1 / float64(e.problem.Batches)
	for j, x := range g {
		old := e.entry[j]
		// By the mean before the entry changes; the mean follows without a pass over the table.
		e.plus[j] = e.mean[j] - old
		g[j], e.entry[j] = x+e.plus[j], x
		e.mean[j] += weight * (x - old)
	}
	e.entry = nil
}

// HessianVector is the batch's: what is added does not depend on θ.
func (e *saga) HessianVector(hv, theta, v []float64) {
	integrators.NeedHessian(e.batch).HessianVector(hv, theta, v)
}
