package chain_test

import (
	"context"
	"fmt"
	"math"

	"hambench/chain"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
)

// toyTarget is the paper's toy posterior, N(0.133, 0.333).
func toyTarget() (models.Target, error) {
	set, err := (&datasets.Resolver{Offline: true}).Load(context.Background(), "toy")
	if err != nil {
		return nil, err
	}
	split, err := set.Split(0)
	if err != nil {
		return nil, err
	}
	return models.Builtin().New("toy", split, models.Options{})
}

// A chain from names: baoab on the toy, two batches of one row, reshuffled. Standard errors over
// seeds are 0.004 of the mean and 0.6 % of the deviation, whose limits are some eight of these:
// chance exceeds neither in a billion seeds.
func Example() {
	target, err := toyTarget()
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := chain.Spec{
		Integrator: "baoab", Params: integrators.Params{Step: 0.1, Friction: 2},
		Scheme: "reshuffle", Batches: 2, Key: 1,
	}
	s, err := chain.Registries{}.New(target, spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	const samples = 20_000
	var mean, square float64
	plan := chain.PaperPlan(spec.Params.Step, samples)
	err = s.Run(context.Background(), s.Start(spec.Key, nil), plan, func(_ int, z *integrators.State) error {
		mean += z.Theta[0] / samples
		square += z.Theta[0] * z.Theta[0] / samples
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, sd := target.(models.Analytic).PredictiveMarginals()
	fmt.Println("steps:", s.Counts().Steps)
	fmt.Println("mean within 0.03:", math.Abs(mean-m[0]) < 0.03)
	fmt.Println("deviation within 5 %:", math.Abs(math.Sqrt(square-mean*mean)/sd[0]-1) < 0.05)
	// Output:
	// steps: 500100
	// mean within 0.03: true
	// deviation within 5 %: true
}

// A chain step by step, of an integrator that is not built in, from a given start.
func ExampleSampler_Advance() {
	const seed = 1
	target, err := toyTarget()
	if err != nil {
		fmt.Println(err)
		return
	}
	own, err := integrators.Builtin().Lookup("split:OBABO")
	if err != nil {
		fmt.Println(err)
		return
	}
	own.Name = "mine"
	parts := chain.Registries{Integrators: append(integrators.Builtin(), own)}
	s, err := parts.New(target, chain.Spec{
		Integrator: "mine", Params: integrators.Params{Step: 0.1, Friction: 2}, Batches: 2, Key: seed,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	z := s.Start(seed, []float64{0.1})
	if err := s.Advance(context.Background(), z, 1000); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n", s.Counts())
	// Output: {Steps:1000 Gradients:2000 HessianVectors:0 FullGradients:0}
}
