package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"hambench/internal/table"
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

// descend goes down the tree of commands.
func descend(ctx context.Context, c *command, path string, stdout, stderr io.Writer, args []string) error {
	if len(c.sub) == 0 {
		named := *c
		named.name = path
		return c.run(ctx, &named, stdout, stderr, args)
	}
	if len(args) == 0 {
		printCommands(stderr, path, c)
		return usage.Errorf("%s: no command given: want one of %s", path, strings.Join(names(c.sub), ", "))
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if args[0] == "help" && len(args) > 1 {
			return descend(ctx, c, path, stdout, stderr, append(args[1:], "--help"))
		}
		printCommands(stdout, path, c)
		return errHelp
	case "-version", "--version":
		if c == root {
			args[0] = versionCommand.name
		}
	}
	for _, s := range c.sub {
		if s.name == args[0] {
			return descend(ctx, s, path+" "+s.name, stdout, stderr, args[1:])
		}
	}
	return fmt.Errorf("%s: %w", path, usage.Unknown("command", args[0], names(c.sub)))
}

func names(cs []*command) (s []string) {
	for _, c := range cs {
		s = append(s, c.name)
	}
	return s
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
		return nil, usage.Errorf("%s: %v%s (see '%s --help')", c.name, err, suggestFlag(fs, err), c.name)
	}
	if c.usage == "" && len(rest) > 0 {
		return nil, usage.Errorf("%s: unexpected argument %q (see '%s --help')", c.name, rest[0], c.name)
	}
	return rest, nil
}

// suggestFlag names the flag that an unknown one looks like.
func suggestFlag(fs *flag.FlagSet, err error) string {
	_, name, unknown := strings.Cut(err.Error(), "not defined: -")
	if !unknown {
		return ""
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, "--"+f.Name) })
	return usage.Suggest("--"+strings.TrimPrefix(name, "-"), known)
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
	printFlags(w, fs)
	fmt.Fprintf(w, "\nExample:\n  %s\n", c.example)
}

// The layout of the list of flags.
const (
	helpWidth  = 100 // columns in all
	flagColumn = 26  // of the descriptions; a longer flag has a line of its own
)

// printFlags lists the flags. A flag's usage begins with the name of its value,
// which stands behind the flag, and goes on with what it is.
func printFlags(w io.Writer, fs *flag.FlagSet) {
	title := "\nFlags:\n"
	fs.VisitAll(func(f *flag.Flag) {
		value, about := flag.UnquoteUsage(f)
		head := "--" + f.Name
		if value != "" {
			head += " " + value
			about = strings.TrimPrefix(about, value+" ")
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			about += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		lines := strings.Split(table.Wrap(about, helpWidth-flagColumn), "\n")
		if utf8.RuneCountInString(head) > flagColumn-4 {
			fmt.Fprintf(w, "%s  %s\n", title, head)
			title, head = "", ""
		}
		for _, line := range lines {
			fmt.Fprintf(w, "%s  %-*s%s\n", title, flagColumn-2, head, line)
			title, head = "", ""
		}
	})
}

// flagSet returns an empty set of flags for the command.
func (c *command) flagSet() *flag.FlagSet {
	return flag.NewFlagSet(c.name, flag.ContinueOnError)
}
