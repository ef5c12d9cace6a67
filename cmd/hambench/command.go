package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"hambench/usage"
)

// errHelp says that help was asked for and printed.
var errHelp = errors.New("help printed")

// command is one sub-command of the driver.
type command struct {
	name    string
	about   string // one line for the list of commands
	usage   string // arguments after the name
	detail  string // what the command does, in a few lines
	example string // a command line that works
	sub     []*command
	run     func(ctx context.Context, c *command, stdout, stderr io.Writer, args []string) error
}

// dispatch finds the command that args name and runs it.
func dispatch(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	return descend(ctx, root, "hambench", stdout, stderr, args)
}

func descend(ctx context.Context, c *command, path string, stdout, stderr io.Writer, args []string) error {
	if len(c.sub) == 0 {
		named := *c
		named.name = path
		return c.run(ctx, &named, stdout, stderr, args)
	}
	if len(args) == 0 {
		printCommands(stderr, path, c)
		return usage.Errorf("%s: no command given: want one of %s", path, names(c.sub))
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if args[0] == "help" && len(args) > 1 {
			return descend(ctx, c, path, stdout, stderr, append(args[1:], "--help"))
		}
		printCommands(stdout, path, c)
		return errHelp
	}
	for _, s := range c.sub {
		if s.name == args[0] {
			return descend(ctx, s, path+" "+s.name, stdout, stderr, args[1:])
		}
	}
	return usage.Errorf("%s: unknown command %q: want one of %s", path, args[0], names(c.sub))
}

func names(cs []*command) string {
	var s []string
	for _, c := range cs {
		s = append(s, c.name)
	}
	return strings.Join(s, ", ")
}

func printCommands(w io.Writer, path string, c *command) {
	fmt.Fprintf(w, "%s\n\nUsage: %s COMMAND [flags]\n\nCommands:\n", c.about, path)
	for _, s := range c.sub {
		fmt.Fprintf(w, "  %-10s %s\n", s.name, s.about)
	}
	fmt.Fprintf(w, "\nRun '%s COMMAND --help' for a command's flags and an example.\n", path)
	if c.example != "" {
		fmt.Fprintf(w, "\nExample:\n  %s\n", c.example)
	}
}

// parse reads the command's flags from args and returns what is left. Flags
// may stand before, between and behind the arguments; after -- there are only
// arguments. Help goes to stdout; a mistake is one line and a usage error.
// Without a usage text for arguments, none are allowed.
func (c *command) parse(fs *flag.FlagSet, stdout io.Writer, args []string) ([]string, error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	var rest []string
	err := flag.ErrHelp
	if !slices.Contains(args, "-h") { // asks for help even where there is a flag --h
		rest, err = parseAnywhere(fs, args)
	}
	if errors.Is(err, flag.ErrHelp) {
		c.help(fs, stdout)
		return nil, errHelp
	}
	if err != nil {
		return nil, usage.Errorf("%s: %v (see '%s --help')", c.name, err, c.name)
	}
	if c.usage == "" && len(rest) > 0 {
		return nil, usage.Errorf("%s: unexpected argument %q (see '%s --help')", c.name, rest[0], c.name)
	}
	return rest, nil
}

// parseAnywhere parses flags wherever they stand, where package flag stops at
// the first argument.
func parseAnywhere(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		left := fs.Args()
		if len(left) == 0 {
			return rest, nil
		}
		if at := len(args) - len(left); at > 0 && args[at-1] == "--" {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// help prints the command's usage, flags and example.
func (c *command) help(fs *flag.FlagSet, w io.Writer) {
	line := c.name + " [flags]"
	if c.usage != "" {
		line += " " + c.usage
	}
	fmt.Fprintf(w, "%s\n\nUsage: %s\n", c.about, line)
	if c.detail != "" {
		fmt.Fprintf(w, "\n%s\n", c.detail)
	}
	flags := 0
	fs.VisitAll(func(*flag.Flag) { flags++ })
	if flags > 0 {
		fmt.Fprintln(w, "\nFlags:")
		fs.VisitAll(func(f *flag.Flag) { printFlag(w, f) })
	}
	fmt.Fprintf(w, "\nExample:\n  %s\n", c.example)
}

func printFlag(w io.Writer, f *flag.Flag) {
	value, about := flag.UnquoteUsage(f)
	head := "--" + f.Name
	if value != "" {
		head += " " + value
	}
	fmt.Fprintf(w, "  %-24s %s", head, about)
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
		fmt.Fprintf(w, " (default %s)", f.DefValue)
	}
	fmt.Fprintln(w)
}

// flagSet returns an empty set of flags for the command.
func (c *command) flagSet() *flag.FlagSet {
	return flag.NewFlagSet(c.name, flag.ContinueOnError)
}
