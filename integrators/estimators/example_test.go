package estimators_test

import (
	"fmt"

	"hambench/integrators"
	"hambench/integrators/estimators"
)

// well is the force k(θ − c).
type well struct{ k, c float64 }

func (w well) Gradient(g, theta []float64) { g[0] = w.k * (theta[0] - w.c) }

// An estimator needs no chain: here svrg with a period of two steps has the
// gradients of two batches, and of their mean, at two positions. It gives
// the mean's gradient at its anchor, and something between afterwards.
func Example() {
	batches := []integrators.Force{well{1, 3}, well{3, -1}}
	e, err := estimators.VarianceReduced(2).New(estimators.Problem{Dim: 1, Batches: 2, Full: well{2, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	z, g := integrators.NewState(1), make([]float64, 1)
	z.Theta[0] = 5
	e.Begin(z)
	for step, theta := range []float64{5, 5.5} {
		z.Theta[0] = theta
		i := step % 2
		e.Force(estimators.Step{Number: int64(step), Batch: i, Force: batches[i]}, z).Gradient(g, z.Theta)
		fmt.Printf("θ = %.1f, anchor %.1f: gradient %.2f, full %.2f\n", theta, z.Aux[0][0], g[0], 2*theta)
	}
	// Output:
	// θ = 5.0, anchor 5.0: gradient 10.00, full 10.00
	// θ = 5.5, anchor 5.0: gradient 11.50, full 11.00
}
