package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"hambench/certify"
	"hambench/usage"
)

func adviseCommand() *cobra.Command {
	var problem string
	var budget float64
	var products, asJSON bool
	c := &cobra.Command{
		Use:   "advise",
		Short: "Names the integrator, estimator, scheme and step with the smallest error at a budget.",
		Long: `Every built-in combination is tried at its best step, exactly, without Monte
Carlo (see certify --budget). The answer is the best ones, with what they cost and
what was assumed.`,
		Example: "hambench advise --problem gaussian --budget 10000",
		RunE: func(c *cobra.Command, _ []string) error {
			if problem == "" || !(budget > 0) {
				return usage.Errorf("advise: --problem %q, --budget %g: want a problem, and a number of gradients > 0", problem, budget)
			}
			all, err := findProblems(problem)
			if err != nil {
				return err
			}
			advice, err := certify.Advise(c.Context(), all[0], budget, products)
			if err != nil {
				return err
			}
			if !asJSON {
				return advice.Write(c.OutOrStdout())
			}
			e := json.NewEncoder(c.OutOrStdout())
			e.SetIndent("", " ")
			return e.Encode(advice)
		},
	}
	flags := c.Flags()
	flags.StringVar(&problem, "problem", "", "`FILE` problem in JSON, JSON itself, or a built-in one by name, as for certify")
	flags.Float64Var(&budget, "budget", 0, "`N` gradients of a batch that the chain may cost; all data count K")
	flags.BoolVar(&products, "products", false, "Hessian-vector products are to be had, at two gradients each")
	flags.BoolVar(&asJSON, "json", false, "print JSON instead of a table")
	return c
}
