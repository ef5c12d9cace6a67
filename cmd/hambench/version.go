package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hambench/internal/kernel"
	"hambench/sweep"
)

// version is the commit, the Go version, and the instruction set in use.
func version() string {
	v := sweep.Version()
	commit := v.String()
	if v.Commit == "" {
		commit = "of an unknown commit"
	}
	return fmt.Sprintf("hambench %s, %s, kernels %s", commit, v.Go, kernel.ISA())
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
