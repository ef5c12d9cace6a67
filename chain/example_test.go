package chain_test

import (
	"context"
	"fmt"
	"math"

	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/noise"
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

// A chain from names: baoab on the toy, two batches of one row, reshuffled.
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
	plan := chain.PaperPlan(spec.Params.Step, 1, samples)
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

// The same parts made by hand: a model, a scheme, an integrator, and noise,
// each of which may be a program's own.
func ExampleNew() {
	const seed = 1
	target, err := toyTarget()
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, err := minibatch.Builtin().New("reshuffle", target.Rows(), 2, noise.New(seed, noise.StreamBatches).Rand())
	if err != nil {
		fmt.Println(err)
		return
	}
	method, err := integrators.Builtin().Lookup("split:OBABO")
	if err != nil {
		fmt.Println(err)
		return
	}
	integrator, err := method.New(target.Dim(), integrators.Params{Step: 0.1, Friction: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := chain.New(target, integrator, stream, noise.New(seed, noise.StreamNoise))
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
