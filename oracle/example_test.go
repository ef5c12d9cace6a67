package oracle_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"hambench/chain"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// target returns a built-in model on the first split of its data set.
func target(dataset, model string) models.Target {
	t, err := models.NewSource(nil, &datasets.Resolver{Offline: true}).Target(context.Background(), dataset, 0, model, models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return t
}

// Exact draws are as far from an exact posterior as its self-distance says.
func ExampleNewAnalytic() {
	truth, err := oracle.NewAnalytic("linear", target("linear", "linear"))
	if err != nil {
		log.Fatal(err)
	}
	rng, t := rand.New(rand.NewPCG(1, 0)), target("linear", "linear")
	draws, theta := make([][]float64, 200), make([]float64, t.Dim())
	for s := range draws {
		truth.DrawStart(theta, rng) // a draw from the posterior
		draws[s] = make([]float64, t.Outputs())
		t.Predict(draws[s], theta)
	}
	d, self := truth.Distance(draws), truth.SelfDistanceOf(len(draws))
	fmt.Printf("self-distance of 200 draws: %.3f; these lie in its band: %v\n", self.Mean, self.Contains(d))
	// Output:
	// self-distance of 200 draws: 0.060; these lie in its band: true
}

// Reference chains stand for a posterior that is not known in closed form.
func ExampleBuild() {
	spec := oracle.NewSpec("logistic", 0, "logistic")
	spec.Chains, spec.Samples, spec.Thin, spec.BurnIn, spec.Step = 4, 100, 40, 400, 0.1
	ref, err := oracle.Build(context.Background(), func() (models.Target, error) { return target("logistic", "logistic"), nil }, spec, oracle.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d chains of %d draws; failed checks: %d\n", len(ref.Draws), len(ref.Draws[0]), len(ref.Failed()))
	// Output:
	// 4 chains of 100 draws; failed checks: 0
}

// The largest stable step on a well of curvature 3 is 2/√3 = 1.15 if friction is exact;
// the estimate is a power of 2^¼ below it.
func ExampleStability() {
	s, err := oracle.NewStability(context.Background(), target("toy", "toy"))
	if err != nil {
		log.Fatal(err)
	}
	spec := chain.Spec{Integrator: "lietrotter", Params: integrators.Params{Friction: 5}}
	h, err := s.Largest(context.Background(), chain.Registries{}, spec)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", h)
	// Output:
	// 1.00
}
