package estimators

import (
	"gonum.org/v1/gonum/floats"

	"hambench/integrators"
	"hambench/usage"
)

// SAGA is G_i(θ) − A_i + mean(A), after which A_i becomes G_i(θ) (Defazio et al.
// 2014; Dubey et al. 2016). The K gradients A, of the start at first, are its
// variables. Of a step with several gradients the first one is kept.
//
// It is unbiased where a batch does not depend on the ages of the table's
// entries. In orders that visit each batch once an epoch it does: the oldest entry
// comes next, the mean force lags behind θ, and the error is of order 1.
var SAGA = Method{
	Name:           "saga",
	About:          "variance reduction by a table of every batch's last gradient",
	HessianVectors: true,
	Caps:           Caps{Independent: 3, Shuffled: 1, Fixed: 1},
	New: func(p Problem) (Estimator, error) {
		if p.Batches == 0 {
			return nil, usage.Errorf("estimator \"saga\" keeps a gradient of every batch of a fixed partition, which scheme %q does not have", p.Scheme)
		}
		return &saga{corrected: corrected{plus: make([]float64, p.Dim)}, problem: p, mean: make([]float64, p.Dim)}, nil
	},
}

type saga struct {
	corrected
	problem Problem
	at      int       // of A_0 among the state's variables
	mean    []float64 // of A
	entry   []float64 // A_i, to be replaced by the step's first gradient; then nil
}

func (e *saga) Begin(z *integrators.State) {
	e.at = len(z.Aux)
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
	for _, a := range z.Aux[e.at : e.at+e.problem.Batches] {
		floats.AddScaled(e.mean, 1/float64(e.problem.Batches), a)
	}
}

func (e *saga) Force(s Step, z *integrators.State) integrators.Force {
	if e.problem.Probed {
		e.average(z)
	}
	e.batch, e.entry = s.Force, z.Aux[e.at+s.Batch]
	floats.SubTo(e.plus, e.mean, e.entry)
	return e
}

func (e *saga) Gradient(g, theta []float64) {
	e.batch.Gradient(g, theta)
	if e.entry != nil {
		weight := 1 / float64(e.problem.Batches)
		for j, x := range g {
			e.mean[j] += weight * (x - e.entry[j])
			e.entry[j] = x
		}
		e.entry = nil
	}
	floats.Add(g, e.plus)
}
