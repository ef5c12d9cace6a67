package main

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/usage"
)

// completionCommand returns the command that prints completion scripts. It replaces cobra's
// own one, whose script for bash does not complete lists with commas.
func completionCommand() *cobra.Command {
	// Each writes the script for a tree of commands.
	write := map[string]func(*cobra.Command, io.Writer) error{
		"bash": bashCompletion,
		"zsh":  (*cobra.Command).GenZshCompletion,
		"fish": func(root *cobra.Command, w io.Writer) error {
			return root.GenFishCompletion(w, true)
		},
	}
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Prints a script that lets a shell complete commands, flags and names.",
		Long: `To load it, put source <(hambench completion bash) into ~/.bashrc (this needs the
package bash-completion), the same with zsh into ~/.zshrc after compinit, or
hambench completion fish | source into config.fish.`,
		Example:   "hambench completion bash > hambench.bash",
		Args:      cobra.ExactArgs(1),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			if write[args[0]] == nil {
				return usage.Unknown("shell", args[0], shells)
			}
			return write[args[0]](c.Root(), c.OutOrStdout())
		},
	}
}

// bashCompletion writes the script without its quoting. No name needs it, and with
// it bash would compare the quoted commas of a list to those that were typed, and
// offer nothing.
// Its error is that of the writer or of cobra.
func bashCompletion(root *cobra.Command, w io.Writer) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.ReplaceAll(script.String(), `"%q"`, `"%s"`))
	return err
}

// listingOf is the listing that the values of a flag are taken from.
// Keys are the name of a flag, or command and flag where they differ. Values are names of
// listings (see listing).
var listingOf = map[string]string{
	"profile": "profiles", "only": "reproduced studies", "export only": "studies",
	"dataset": "datasets", "datasets": "datasets", "model": "models", "problem": "problems",
	"integrator": "integrators", "estimator": "estimators",
	"scheme": "schemes", "certify scheme": "fixed schemes",
}

// completeFlag has the shell complete a flag's value: names of what it names,
// files and folders where it is one, and nothing else.
// Words of a fixed list are offered as such.
func completeFlag(c *cobra.Command, f *pflag.Flag) {
	value, _ := f.Value.(namedValue)
	others := cobra.ShellCompDirectiveNoFileComp
	switch value.name {
	case "DIR":
		others = cobra.ShellCompDirectiveFilterDirs
	case "FILE":
		others = cobra.ShellCompDirectiveDefault
	}
	// Names from a listing go before the words of the value, and a flag without either has nothing
	// to offer but files or folders.
	complete := cobra.FixedCompletions(nil, others)
	if list := cmp.Or(listingOf[c.Name()+" "+f.Name], listingOf[f.Name]); list != "" {
		complete = completeNames(list, others)
	} else if v, ok := value.Value.(*parsedValue); ok && v.words != nil {
		complete = cobra.FixedCompletions(v.words, others)
	}
	if err := c.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
		panic(err) // it is the command's own flag
	}
}

// completeNames completes a name from a listing or, after a comma, the next one.
// What stands before the last comma is kept in front of each name that is offered.
func completeNames(list string, others cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) (found []cobra.Completion,
		_ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		_, rows := listing(list)
		for _, row := range rows {
			if name := before + row[0]; strings.HasPrefix(name, typed) {
				found = append(found, cobra.CompletionWithDesc(name, row[len(row)-1]))
			}
		}
		return found, others
	}
}
