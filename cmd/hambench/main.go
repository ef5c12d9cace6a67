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
	"strings"
	"syscall"

	"hambench/gate"
	"hambench/usage"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // a run failed in part, a gate found a regression
	exitUsage       = 2   // bad input: one line on standard error says what
	exitUndecided   = 3   // a gate cannot decide
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
	out := &output{Writer: stdout}
	err := dispatch(ctx, out, stderr, args)
	if errors.Is(err, errHelp) {
		err = nil
	}
	if err == nil && out.err != nil {
		err = fmt.Errorf("standard output cannot be written: %w", out.err)
	}
	if err != nil {
		fmt.Fprintln(stderr, errorLine(err))
	}
	return exitCode(err)
}

// output remembers the first failure to write: commands print without asking.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// errorLine begins with the program's name, and says it once.
func errorLine(err error) string {
	line := err.Error()
	if strings.HasPrefix(line, "hambench ") || strings.HasPrefix(line, "hambench: ") {
		return line
	}
	return "hambench: " + line
}

func exitCode(err error) int {
	var bad *usage.Error
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &bad):
		return exitUsage
	case errors.Is(err, gate.ErrUndecided):
		return exitUndecided
	}
	return exitFailed
}
