package main

import (
	"context"
	"fmt"
	"io"

	"hambench/internal/kernel"
	"hambench/sweep"
)

var versionCommand = &command{
	name:    "version",
	about:   "Prints the commit, the Go version, and the instruction set in use.",
	example: "hambench version",
	run: func(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
		if _, err := c.parse(c.flagSet(), stdout, args); err != nil {
			return err
		}
		if err := kernel.Err(); err != nil {
			return err
		}
		v := sweep.Version()
		commit := v.String()
		if v.Commit == "" {
			commit = "of an unknown commit"
		}
		fmt.Fprintf(stdout, "hambench %s, %s, kernels %s\n", commit, v.Go, kernel.ISA())
		return nil
	},
}
