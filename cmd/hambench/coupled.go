package main

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/floats"

	"hambench/chain"
	"hambench/draws"
	"hambench/integrators"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

// checkCoupled refuses what coupled chains do not have.
func (f *sampleFlags) checkCoupled() error {
	if f.coupled && (f.chains > 0 || f.format != "csv" && f.format != "jsonl" || f.samples < 4) {
		return usage.Errorf("--coupled: want --format csv or jsonl, no --chains, and 4 samples or more")
	}
	return nil
}

// runCoupled writes the differences of the draws of two coupled chains, and then
// what they say of the bias.
func (f *sampleFlags) runCoupled(ctx context.Context, stderr io.Writer, coarse models.Target, chains draws.Chains, w *draws.Writer) error {
	fine, err := chains.Target(ctx)
	if err != nil {
		return err
	}
	c, err := chain.Registry{}.Couple(coarse, fine, f.Spec)
	if err != nil {
		return err
	}
	start, err := oracle.WarmUp(ctx, coarse, f.Key)
	if err != nil {
		return err
	}
	var differences [][]float64
	err = c.Run(ctx, start, chains.Plan, func(i int, a, b *integrators.State) error {
		d := draws.Draw{Index: i, Theta: floats.SubTo(make([]float64, coarse.Dim()), a.Theta, b.Theta)}
		difference := d.Theta
		if f.predictions {
			d.Predictions = make([]float64, coarse.Outputs())
			other := make([]float64, coarse.Outputs())
			coarse.Predict(d.Predictions, a.Theta)
			fine.Predict(other, b.Theta)
			floats.Sub(d.Predictions, other)
			difference = d.Predictions
		}
		differences = append(differences, difference)
		return w.Write(d)
	})
	if err = w.Close(err); err != nil {
		return err
	}
	bias, chance := oracle.CoupledBias(differences)
	fmt.Fprintf(stderr, "hambench: means at h = %.3g and at half of it differ by %.3g (root mean square over %d values, after subtraction of %.3g by chance)\n",
		f.Params.Step, bias, len(differences[0]), chance)
	return nil
}
