package main

import (
	"github.com/spf13/cobra"

	"hambench/bench/gate"
	"hambench/internal/input"
)

// gateCommand returns the command that compares two runs. Package gate decides; thresholds of
// 0 stand for its defaults, which the help states.
func gateCommand() *cobra.Command {
	var o gate.Options // whose defaults are package gate's, so that the flags state 0
	c := &cobra.Command{
		Use: "gate OLD NEW",
		Short: "Compares two runs; exit code 1 when an order, a constant or a cell moved, " +
			"3 when the noise hides it.",
		Long: `OLD and NEW are outputs of certify --json or of export; one may come through a pipe,
as /dev/stdin. Orders and constants are exact and compared without a test.
Distances of cells that are equal pass. Any other passes if a change that counts
(--distance) would look like it in at most one of ten runs, and otherwise has
moved if it is significantly worse (--alpha, over all cells together) or if more
chains diverge, which is no test; a cell's repetitions are its splits. Where
others diverge than before, and no more of them, it is undecided.
Exit code 0: nothing moved by as much as counts. 1: something moved, and a table
says what. 2: the input cannot be compared. 3: undecided, and a table says how
many more splits would decide.`,
		Args: cobra.ExactArgs(2),
		Example: "hambench certify --problem toy --json > new.json\n" +
			"  hambench gate new.json new.json",
		RunE: func(c *cobra.Command, files []string) error {
			// Either file may be a pipe that nobody writes to: Ctrl-C has to end the command all
			// the same.
			result, err := input.Await(c.Context(), func() (*gate.Report, error) {
				return gate.Files(files[0], files[1], o)
			})
			if err != nil {
				return err
			}
			if err := result.Write(c.OutOrStdout()); err != nil {
				return err
			}
			return result.Err()
		},
	}
	fs := c.Flags()
	fs.Float64Var(&o.Order, "order", 0, "`X` largest change of a convergence order; 0 means 0.05")
	fs.Float64Var(&o.Constant, "constant", 0,
		"`X` largest relative change of a leading constant or error; 0 means 0.005")
	fs.Float64Var(&o.Alpha, "alpha", 0, "`X` error rate over all tests together; 0 means 0.05")
	fs.Float64Var(&o.Distance, "distance", 0, "`X` least change of a cell's distance that counts, "+
		"in proportion for distances above 0.1; 0 means 0.03")
	return c
}
