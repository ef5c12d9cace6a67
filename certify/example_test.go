package certify_test

import (
	"context"
	"fmt"
	"log"

	"hambench/certify"
	"hambench/integrators"
)

// The third-order scheme is of order 2 only when mini-batches come in random
// orders.
func Example() {
	problem, err := certify.ParseProblem("mine.json", []byte(`{"kind": "gaussian", "friction": 2, "batches": [
		{"precision": [[2.0, 0.3], [0.3, 1.5]], "shift": [1.0, -0.5]},
		{"precision": [[1.0, 0.0], [0.0, 2.5]], "shift": [0.0, 0.7]}]}`))
	if err != nil {
		log.Fatal(err)
	}
	mt3, err := integrators.Builtin().Lookup("mt3")
	if err != nil {
		log.Fatal(err)
	}
	schemes, err := certify.Schemes("full", "reshuffle")
	if err != nil {
		log.Fatal(err)
	}
	rows, err := certify.Run(context.Background(), certify.Options{
		Problem: problem, Integrators: []integrators.Integrator{mt3}, Schemes: schemes,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range rows {
		for _, o := range r.Observables {
			fmt.Printf("%s under %s: %s is of order %v, %s\n", r.Integrator, r.Scheme, o.Name, o.Order, o.Verdict)
		}
	}
	// Output:
	// mt3 under full: theta.mean is of order NaN, exact
	// mt3 under full: theta.cov is of order 3, confirmed
	// mt3 under full: joint.cov is of order 3, confirmed
	// mt3 under reshuffle: theta.mean is of order 2, confirmed
	// mt3 under reshuffle: theta.cov is of order 2, confirmed
	// mt3 under reshuffle: joint.cov is of order 2, confirmed
}
