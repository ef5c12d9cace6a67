package models_test

import (
	"context"
	"fmt"
	"log"

	"hambench/models"
	"hambench/models/datasets"
)

// The normal mean of the paper's toy example: a gradient over all rows, the
// unbiased one over the first, and the exact posterior.
func ExampleRegistry_New() {
	set, err := (&datasets.Resolver{}).Load(context.Background(), "toy")
	if err != nil {
		log.Fatal(err)
	}
	split, err := set.Split(0)
	if err != nil {
		log.Fatal(err)
	}
	target, err := models.Builtin().New("toy", split, models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	theta, g := []float64{1}, make([]float64, 1)
	target.Gradient(g, theta, models.Rows{Lo: 0, Hi: 2, Scale: 1})
	fmt.Printf("gradient at 1: %.2f", g[0])
	target.Gradient(g, theta, models.Rows{Lo: 0, Hi: 1, Scale: 2})
	fmt.Printf(", from the first of two batches: %.2f\n", g[0])
	mean, sd := target.(models.Analytic).PredictiveMarginals()
	fmt.Printf("posterior: N(%.4f, %.4f²)\n", mean[0], sd[0])
	// Output:
	// gradient at 1: 2.60, from the first of two batches: -1.00
	// posterior: N(0.1333, 0.5774²)
}

// Which models take a data set is known before it is loaded; what a target can
// do is asked of the target.
func ExampleModel_Check() {
	ionosphere, err := datasets.Builtin().Lookup("ionosphere")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range models.Builtin() {
		if m.Check(ionosphere.Name, ionosphere.Shape) != nil || m.Dim == nil { // a model in another language says its dimension itself
			continue
		}
		fmt.Printf("%s: %d parameters\n", m.Name, m.Dim(ionosphere.Shape, models.Options{}))
	}
	source := models.NewSource(nil, &datasets.Resolver{})
	target, err := source.Target(context.Background(), "linear", 0, "linear", models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, exact := target.(models.Analytic)
	fmt.Println("linear has an exact posterior:", exact)
	// Output:
	// logistic: 35 parameters
	// bnn: 4402 parameters
	// linear has an exact posterior: true
}
