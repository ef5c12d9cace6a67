package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/certify"
	"hambench/usage"
)

func adviseCommand() *cobra.Command {
	var f adviseFlags
	c := &cobra.Command{
		Use:   "advise",
		Short: "Names the integrator, estimator, scheme and step with the smallest error at a budget.",
		Long: `Every built-in combination is tried at its best step, exactly, without Monte
Carlo (see certify --budget). The answer lists the best ones, their costs, and
what was assumed. The posterior of a model on a data set is replaced by its
linearisation at the mode, with the batches of sample --seed 1.`,
		Example: "hambench advise --dataset logistic --batch 50 --budget 10000",
		RunE:    f.run,
	}
	f.register(c, posteriorFlags+" exec-timeout")
	flags := c.Flags()
	flags.StringVar(&f.problem, "problem", "", "`FILE` problem in JSON, JSON itself, or a built-in one by name, as for certify")
	flags.IntVar(&f.batch, "batch", 0, "`B` rows per batch of the data set, as for sample; 0 is all")
	flags.Float64Var(&f.friction, "friction", 5, "`C` friction on the data set")
	flags.Float64Var(&f.budget, "budget", 0, "`N` gradients of a batch that the chain may cost; all data count K")
	flags.BoolVar(&f.products, "products", false, "Hessian-vector products are available, at two gradients each")
	flags.BoolVar(&f.json, "json", false, "print JSON instead of a table")
	return c
}

// adviseFlags are the command's flags.
type adviseFlags struct {
	selection
	problem          string
	batch            int
	friction, budget float64
	products, json   bool
}

func (f *adviseFlags) run(c *cobra.Command, _ []string) error {
	ctx := c.Context()
	if !(f.budget > 0) || math.IsInf(f.budget, 1) {
		return usage.Errorf("advise: --budget %g: want a number of gradients > 0", f.budget)
	}
	p, err := f.find(ctx, c.Flags())
	if err != nil {
		return err
	}
	advice, err := certify.Advise(ctx, p, f.budget, f.products, progress(f.stderr, "advise"))
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(f.stdout, " ", advice)
	}
	return advice.Write(f.stdout)
}

// find returns the problem of the flags; for a posterior, its linearisation.
func (f *adviseFlags) find(ctx context.Context, given *pflag.FlagSet) (*certify.Problem, error) {
	if (f.problem == "") == (f.dataset == "" && f.model == "") {
		return nil, usage.Errorf("advise: want --problem, or --dataset or --model for a posterior")
	}
	if f.problem != "" {
		for _, name := range []string{"batch", "friction", "split", "noise"} {
			if given.Changed(name) {
				return nil, usage.Errorf("advise: --%s goes with --dataset: a problem has its own", name)
			}
		}
		all, err := findProblems(f.problem)
		if err != nil {
			return nil, err
		}
		return all[0], nil
	}
	if f.batch < 0 {
		return nil, usage.Errorf("advise: --batch %d: want 0 or more", f.batch)
	}
	target, err := f.openPosterior(ctx, "float64")
	if err != nil {
		return nil, err
	}
	k, err := batches(target, f.batch, 0)
	if err != nil {
		return nil, err
	}
	return certify.Linearise(fmt.Sprintf("%s on %s", f.model, f.dataset), target, k, f.friction, 1)
}
