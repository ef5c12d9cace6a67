package main

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"hambench/internal/kernel"
	"hambench/sweep"
)

// version is the commit, the Go version, and the instruction set in use.
func version() string {
	return fmt.Sprintf("hambench %s, %s, kernels %s", cmp.Or(sweep.Commit(), "of an unknown commit"), runtime.Version(), kernel.ISA())
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Prints the commit, the Go version, and the instruction set in use.",
		Example: "hambench version",
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), version())
			return err
		},
	}
}
