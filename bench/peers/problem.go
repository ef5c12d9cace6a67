//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/models"
	"hambench/models/datasets"
)

// The sampler's settings: the step of the reference chains, and the
// paper's friction.
const (
	step     = 0.005
	friction = 5
)

// size is that of a problem: rows, inputs and hidden layers, and the batch sizes that are
// measured, the last of them the full batch.
type size struct {
	rows, inputs int
	hidden       []int
	batches      []int
}

// sizes are those of the table, and one that others have published times of: four fifths of the
// airfoil set's 1 503 rows, under the network of bde's benchmark
// (github.com/scikit-learn-contrib/bde, paper/scripts/benchmark.py).
var sizes = map[string]size{
	"":          {455, 13, []int{50, 50, 50, 50}, []int{8, 32, 128, 455}},
	"published": {1202, 5, []int{16, 16, 16, 16}, []int{1202}},
}

// problem is what every peer computes: the network, the data, a point at
// which chains start, and the gradients there that decide whether a peer
// computes the same.
type problem struct {
	Widths        []int     `json:"widths"`
	NoiseVariance float64   `json:"noise_variance"`
	Step          float64   `json:"step"`
	Friction      float64   `json:"friction"`
	Theta         []float64 `json:"theta"` // for each layer W as [in][out], then b
	X             []float64 `json:"x"`     // row-major
	Y             []float64 `json:"y"`
	Cases         []batches `json:"cases"`
}

// batches are a partition of the first Size×Count rows into batches of one
// size, so that a compiler that wants fixed shapes is not at a loss.
type batches struct {
	Size     int       `json:"size"`
	Count    int       `json:"count"` // K
	Gradient []float64 `json:"gradient"`
}

// newProblem makes a problem of one of the sizes of the numbers of the built-in set of Boston's
// size: what they mean makes no difference to times.
func newProblem(name string) (*problem, error) {
	of, ok := sizes[name]
	if !ok {
		return nil, fmt.Errorf("problem %q: want none, or published", name)
	}
	r, err := datasets.NewResolver("")
	if err != nil {
		return nil, err
	}
	s, err := models.NewSource(nil, r).Split(context.Background(), "teacher-reg", 0)
	if err != nil {
		return nil, err
	}
	p := &problem{
		Widths: slices.Concat([]int{of.inputs}, of.hidden, []int{1}), NoiseVariance: s.NoiseVariance,
		Step: step, Friction: friction, X: single(s.TrainX), Y: single(s.TrainY),
	}
	for len(p.X) < of.rows*of.inputs || len(p.Y) < of.rows { // more rows than the set has
		p.X, p.Y = append(p.X, p.X...), append(p.Y, p.Y...)
	}
	p.X, p.Y = p.X[:of.rows*of.inputs], p.Y[:of.rows]
	if err := p.warmUp(); err != nil {
		return nil, err
	}
	for _, n := range of.batches {
		c, err := p.reference(n)
		if err != nil {
			return nil, err
		}
		p.Cases = append(p.Cases, c)
	}
	return p, nil
}

// readProblem reads what newProblem made and the program wrote.
func readProblem(path string) (*problem, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := new(problem)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// single rounds to float32, so that every peer starts from the same numbers.
func single(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(float32(v))
	}
	return out
}

// target is the model on the rows of a partition.
func (p *problem) target(rows int, precision string) (models.Target, error) {
	return models.Builtin().New("bnn", &datasets.Split{
		Name: "peers", Task: datasets.Regression, Features: p.Widths[0], NoiseVariance: p.NoiseVariance,
		TrainX: p.X[:rows*p.Widths[0]], TrainY: p.Y[:rows],
	}, models.Options{Precision: precision, Hidden: p.Widths[1 : len(p.Widths)-1]})
}

// warmUp brings a prior draw to the typical set: growing steps, then 20 units
// of time.
func (p *problem) warmUp() error {
	t, err := p.target(len(p.Y), "float32")
	if err != nil {
		return err
	}
	z := chain.StartAtRest(t, noise.New(0, noise.StreamStart))
	for _, stage := range []struct {
		h     float64
		steps int
	}{{step / 100, 500}, {step / 10, 500}, {step, 4000}} {
		s, err := newSampler(t, 1, stage.h)
		if err != nil {
			return err
		}
		if err := s.Advance(context.Background(), z, stage.steps); err != nil {
			return err
		}
	}
	p.Theta = single(z.Theta)
	return nil
}

// reference computes the gradient over the first batch of a size.
func (p *problem) reference(size int) (batches, error) {
	c := batches{Size: size, Count: len(p.Y) / size, Gradient: make([]float64, len(p.Theta))}
	t, err := p.target(c.Size*c.Count, "float64")
	if err != nil {
		return c, err
	}
	t.Gradient(c.Gradient, p.Theta, models.Rows{Lo: 0, Hi: size, Scale: float64(c.Count)})
	return c, nil
}

// newSampler is a leapfrog chain on reshuffled batches, as in a sweep.
func newSampler(t models.Target, count int, h float64) (*chain.Sampler, error) {
	return chain.Registries{}.New(t, chain.Spec{
		Integrator: "leapfrog", Params: integrators.Params{Step: h, Friction: friction}, Scheme: "reshuffle", Batches: count,
	})
}
