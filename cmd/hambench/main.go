// Command hambench reproduces the figures and tables of a study of stochastic
// Hamiltonian samplers, runs single chains, and certifies convergence orders.
//
// Run hambench help for the list of commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"hambench/internal/usage"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // a run failed in part, a gate found a regression
	exitUsage       = 2   // bad input: one line on standard error says what
	exitInterrupted = 130 // Ctrl-C or SIGTERM, as shells have it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	err := dispatch(ctx, stdout, stderr, args)
	var bad *usage.Error
	switch {
	case err == nil, errors.Is(err, errHelp):
		return exitOK
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "hambench: %v\n", err)
		return exitInterrupted
	case errors.As(err, &bad):
		fmt.Fprintf(stderr, "hambench: %v\n", err)
		return exitUsage
	default:
		fmt.Fprintf(stderr, "hambench: %v\n", err)
		return exitFailed
	}
}
