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
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"hambench/bench/gate"
	"hambench/internal/table"
	"hambench/oracle"
	"hambench/usage"
)

// Exit codes.
const (
	exitOK        = 0
	exitFailed    = 1 // a run failed in part, a gate found a regression
	exitUsage     = 2 // bad input: one line on standard error says what
	exitUndecided = 3 // a gate or a judgement cannot decide
	// Ctrl-C and SIGTERM: 128 and the signal's number, as shells have it.
	exitInterrupted = 128 + int(syscall.SIGINT)
	exitTerminated  = 128 + int(syscall.SIGTERM)
)

// errTerminated is the cause of a context that SIGTERM has cancelled.
// Exit codes tell SIGTERM from Ctrl-C by it. signal.NotifyContext has no error for this that a
// program could name.
var errTerminated = fmt.Errorf("%w", context.Canceled)

// main runs the command line until it ends or a signal asks it to: results that are complete
// stay in the store, and exit codes are those of shells.
func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second signal ends the process at once
		if s == syscall.SIGTERM {
			cancel(errTerminated)
		}
		cancel(context.Canceled)
	}()
	os.Exit(run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}

// run carries out one command line and returns the exit code.
// An error is printed as one line on standard error. A write to standard output that failed
// is an error too, such as of a full disk behind a pipe.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	out := &output{Writer: stdout}
	err := dispatch(ctx, out, stderr, args)
	if err == nil && out.err != nil {
		err = fmt.Errorf("standard output cannot be written: %w", out.err)
	}
	if err != nil {
		fmt.Fprintln(stderr, errorLine(err))
	}
	return exitCode(err, context.Cause(ctx))
}

// output is the standard output of a command. It remembers the first failed write, so commands
// need not check their own.
// It also knows whether it is a terminal, for the width and colours of tables.
type output struct {
	io.Writer
	err error
}

// Write passes the bytes on. Commands ignore its error, which run reports.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Width returns how wide tables may be: as COLUMNS says, 100 on a terminal that does not
// say, elsewhere without limit (0), since a file or a pipe has room for all columns.
func (o *output) Width() int {
	f, ok := o.Writer.(*os.File)
	if ok && (os.Getenv("COLUMNS") != "" || table.Terminal(f)) {
		return table.Width()
	}
	return 0
}

// Colours reports whether tables may be in colour.
func (o *output) Colours() bool {
	f, ok := o.Writer.(*os.File)
	return ok && table.Colours(f)
}

// errorLine returns the line for an error. It begins with the program's name, and
// neither repeats that nor says twice that the command was interrupted.
// Errors of commands begin with the command; all others get the program's name here.
func errorLine(err error) string {
	line := oneLine(err)
	if before, ok := strings.CutSuffix(line, context.Canceled.Error()); ok {
		line = before + "interrupted"
		if strings.Contains(before, "interrupted") {
			line = strings.TrimSuffix(before, ": ")
		}
	}
	if strings.HasPrefix(line, "hambench ") || strings.HasPrefix(line, "hambench: ") {
		return line
	}
	return "hambench: " + line
}

// oneLine returns an error's text as one line that does nothing to a terminal. Errors that are
// joined are set apart by semicolons; control characters, as names of files may have them, are
// escaped as in Go.
func oneLine(err error) string {
	var line strings.Builder
	for _, r := range separated(err) {
		if unicode.IsControl(r) {
			line.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			line.WriteRune(r)
		}
	}
	return line.String()
}

// separated is an error's text with semicolons in the place of the line breaks of errors.Join, at
// any depth.
func separated(err error) string {
	text := err.Error()
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		var plain, all []string
		for _, one := range e.Unwrap() {
			plain, all = append(plain, one.Error()), append(all, separated(one))
		}
		// errors.Join alone has its parts one a line. An error of several %w has them within a text
		// of its own, which is left as it is.
		if strings.Join(plain, "\n") == text {
			return strings.Join(all, "; ")
		}
	case interface{ Unwrap() error }:
		// The text of the wrapped error stands within this one, and is rewritten in its place.
		if in := e.Unwrap(); in != nil && in.Error() != "" {
			return strings.Replace(text, in.Error(), separated(in), 1)
		}
	}
	return text
}

// exitCode is that of an error; cause is why the command was cancelled.
// An interrupted command has the code of its signal, whatever error it ended with.
func exitCode(err, cause error) int {
	var bad *usage.Error
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled) && errors.Is(cause, errTerminated):
		return exitTerminated
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &bad):
		return exitUsage
	case errors.Is(err, gate.ErrUndecided), errors.Is(err, oracle.ErrUndecided):
		return exitUndecided
	}
	return exitFailed
}
