package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/bench/sweep"
	"hambench/internal/distinct"
	"hambench/internal/kernel"
	"hambench/usage"
)

// helpWidth is how many columns the help takes.
// It fits a terminal of usual width, and the documents.
const helpWidth = 100

// newRoot returns the tree of commands, with no flag set yet.
// Commands are listed in the order of their use, not sorted.
//
// A command line is checked in this order: names of commands (dispatch); values of flags, as they
// are parsed (flagError); flags that exclude each other, and the number of arguments
// (checkArguments); the machine kernels, once for all commands; ranges of shared flags (register);
// and then what the command itself finds. Mistakes in the line itself are usage errors.
func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false
	root := group("hambench", "hambench: a laboratory for stochastic Hamiltonian samplers.",
		"hambench reproduce --only toy",
		reproduceCommand(), runCommand(), sampleCommand(), certifyCommand(), judgeCommand(),
		claimsCommand(), listCommand(), exportCommand(),
		gateCommand(), storeCommand(), dataCommand(), slurmCommand(), completionCommand())
	root.InitDefaultHelpCmd() // it completes names of commands; dispatch does the rest
	help, _, _ := root.Find([]string{"help"})
	help.Use, help.Short, help.Long, help.Example = "help [COMMAND …]", "Prints the help of a "+
		"command.", "", "hambench help certify"
	root.SetHelpFunc(printHelp)
	root.SetFlagErrorFunc(flagError)
	root.SilenceErrors, root.SilenceUsage = true, true
	showVersion := root.Flags().BoolP("version", "v", false,
		"print the version, the commit and its SWHID, the Go version, and the instruction set "+
			"in use")
	// A flag of the root alone, in place of cobra's own, which prints the version in its words.
	noCommand := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if *showVersion {
			_, err := fmt.Fprintln(c.OutOrStdout(), version())
			return err
		}
		return noCommand(c, args)
	}
	// A HAMBENCH_ISA that is not there stops any command: plain Go, which is then in force, gives
	// other numbers than the set that was asked for.
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return kernel.Err() }
	finish(root)
	return root
}

// dispatch carries out a command line.
// "help X" is rewritten as "X --help". Unknown commands are looked for here, since cobra
// takes them for arguments of the command before them.
func dispatch(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	args = append([]string{}, args...) // the caller's stay as they are
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:], "--help")
	}
	root := newRoot()
	// The hidden command by which shells ask for completions is let through: cobra adds it when it
	// executes, so that Find does not know it.
	named, rest, err := root.Find(args)
	if err == nil && named.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") &&
		!strings.HasPrefix(rest[0], cobra.ShellCompRequestCmd) {
		return fmt.Errorf("%s: %w", named.CommandPath(), usage.Unknown("command", rest[0],
			commandNames(named)))
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// group returns a command that only has commands of its own.
// Without a command it prints its help to standard error and fails as a usage error.
func group(name, about, example string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: name, Short: about, Example: example, Args: cobra.ArbitraryArgs}
	g.AddCommand(commands...)
	g.RunE = func(*cobra.Command, []string) error {
		// A pipe that reads the output of a command gets no help in its place.
		g.SetOut(g.ErrOrStderr())
		printHelp(g, nil)
		return usage.Errorf("%s: no command given: want one of %s", g.CommandPath(),
			strings.Join(commandNames(g), ", "))
	}
	return g
}

// commandNames returns the names of a command's own commands, in the order of the help.
func commandNames(g *cobra.Command) []string {
	return distinct.Of(g.Commands(), (*cobra.Command).Name)
}

// finish gives the commands from c on what all have in common: a check of the
// number of arguments, and names and completions of the flags' values.
// A flag whose usage begins with a name in backquotes shows that name for its value, and is
// completed by it: NAME from a list, DIR by folders, FILE by files.
func finish(c *cobra.Command) {
	for _, sub := range c.Commands() {
		finish(sub)
	}
	if c.Args == nil {
		c.Args = noArguments
	}
	c.Args = checkArguments(c.Args)
	// Its line of use names no argument: shells have no file to offer for one.
	if !c.HasSubCommands() && c.Use == c.Name() {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		// pflag knows such names, too, but leaves them in the text of the usage.
		if named, ok := strings.CutPrefix(f.Usage, "`"); ok {
			name, about, _ := strings.Cut(named, "` ")
			f.Value, f.Usage = namedValue{f.Value, name}, about
		}
		if f.DefValue == "0s" || f.DefValue == "[]" { // which says nothing
			f.DefValue = ""
		}
		completeFlag(c, f)
	})
}

// namedValue is a flag's value with the name that it has in the help. The usage
// of a flag begins with this name, in backquotes.
// Shells complete the value by it, too.
type namedValue struct {
	pflag.Value
	name string
}

// Type returns the name.
func (v namedValue) Type() string { return v.name }

// noArguments is the check of commands that take no arguments. It names the first one,
// where cobra's own takes it for a command.
// Commands without arguments of their own use it.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// exclusive states groups of flags, their names in one string, of which one may be given.
// Shells do not offer the others, and checkArguments refuses them.
func exclusive(c *cobra.Command, groups ...string) {
	for _, g := range groups {
		c.MarkFlagsMutuallyExclusive(strings.Fields(g)...)
	}
}

// exclusiveGroups is the annotation by which cobra knows the groups of a flag.
const exclusiveGroups = "cobra_annotation_mutually_exclusive"

// checkExclusive names flags that were given together of those that exclude each other, in
// place of cobra, whose error is none of usage. It runs before cobra's own check, which then
// finds nothing; groups are taken in a fixed order, so that one command line has one error.
func checkExclusive(c *cobra.Command) error {
	given := make(map[string][]string) // flags of each group, as they are typed
	c.Flags().Visit(func(f *pflag.Flag) {
		for _, g := range f.Annotations[exclusiveGroups] {
			given[g] = append(given[g], "--"+f.Name)
		}
	})
	for _, g := range slices.Sorted(maps.Keys(given)) {
		if len(given[g]) > 1 {
			return usage.Errorf("%s: %s: want one of them", c.CommandPath(),
				strings.Join(given[g], " and "))
		}
	}
	return nil
}

// checkArguments returns the command's check of its flags and arguments, whose error is a
// usage error that says what is wanted.
// What is wanted is the rest of the command's line of use.
func checkArguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := checkExclusive(c); err != nil {
			return err
		}
		err := check(c, args)
		if err == nil {
			return nil
		}
		want := strings.TrimPrefix(c.Use, c.Name())
		if want == "" {
			want = " no arguments"
		}
		return usage.Errorf("%s: %w: want%s (see '%s --help')", c.CommandPath(), err, want,
			c.CommandPath())
	}
}

// flagError is the error of flags that cannot be parsed; it suggests a flag for
// an unknown one.
// A value that names an unknown part has an error of its own, which lists what there is.
func flagError(c *cobra.Command, err error) error {
	hint := ""
	if bad := new(usage.Error); errors.As(err, &bad) { // of what the value names, in its own words
		return bad
	}
	if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		// -name is taken for letters
		name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
		// Dashes are no letters in which two names agree.
		hint = strings.Replace(usage.Suggest(name, known), "mean ", "mean --", 1)
	}
	// Of a value: the flag, what was typed, and what is wanted or, without the name of strconv's
	// function, the cause.
	if wrong := new(pflag.InvalidValueError); errors.As(err, &wrong) {
		cause := errors.Unwrap(wrong)
		if number := new(strconv.NumError); errors.As(err, &number) {
			cause = number.Err
			if number.Err == strconv.ErrSyntax {
				cause = errors.New("want a whole number, in digits alone")
			}
			switch {
			case number.Err != strconv.ErrSyntax:
			case number.Func == "ParseFloat":
				cause = errors.New("want a number")
			case number.Func == "ParseBool":
				cause = errors.New("want true or false")
			}
		}
		err = fmt.Errorf("--%s %q: %w", wrong.GetFlag().Name, wrong.GetValue(), cause)
	}
	return usage.Errorf("%s: %w%s (see '%s --help')", c.CommandPath(), err, hint, c.CommandPath())
}

// printHelp prints what a command does, its usage, commands, flags and an example.
// Lines are at most helpWidth columns wide, except examples.
func printHelp(c *cobra.Command, _ []string) {
	w, line := c.OutOrStdout(), c.UseLine()
	if c.HasSubCommands() {
		line = c.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(w, "%s\n\nUsage: %s\n", c.Short, line)
	if c.Long != "" {
		fmt.Fprintf(w, "\n%s\n", c.Long)
	}
	if c.HasSubCommands() {
		fmt.Fprintln(w, "\nCommands:")
		for _, sub := range c.Commands() {
			fmt.Fprintf(w, "  %-10s %s\n", sub.Name(), sub.Short)
		}
	}
	fmt.Fprintf(w, "\nFlags:\n%s\nExample:\n  %s\n", c.LocalFlags().FlagUsagesWrapped(helpWidth),
		c.Example)
}

// printJSON prints a value as indented JSON.
// NaN and infinities must not occur in the value: JSON has neither.
func printJSON(w io.Writer, indent string, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// version is the version, the commit, the Go version, and the instruction set in use; a second
// line has the identifier by which Software Heritage, if it archived the commit, finds it again.
func version() string {
	return versionOf(sweep.Commit())
}

// versionOf is version of a build from the commit: "" if no commit is known, as in a program
// of go test. Files that differ from a commit have no identifier.
func versionOf(commit string) string {
	text := fmt.Sprintf("hambench %s, commit %s, %s, kernels %s", sweep.Version,
		cmp.Or(commit, "unknown"), runtime.Version(), kernel.ISA())
	if commit == "" || strings.Contains(commit, "+") {
		return text
	}
	return text + "\nswh:1:rev:" + commit
}
