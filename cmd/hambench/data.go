package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hambench/chain/draws"
	"hambench/internal/table"
	"hambench/models/datasets"
	"hambench/usage"
)

// dataCommand returns the commands for the files behind the data sets. They know files only;
// posteriors are the business of data export.
func dataCommand() *cobra.Command {
	c := group("data", "Lists, fetches and verifies the files of the data sets.",
		"hambench data fetch boston yacht",
		filesCommand("list", "Lists the files of the data sets and where they are.",
			"hambench data list", listFiles),
		filesCommand("fetch", "Fetches missing files into the user's cache folder.",
			"hambench data fetch boston", fetchFiles),
		filesCommand("verify", "Verifies the files; exit code 1 if one is missing or damaged.",
			"hambench data verify boston yacht", verifyFiles),
		dataExportCommand())
	c.Long = `Files are taken from the folder of --data, or else of ` + datasets.EnvData + `,
from the user's cache, or from the network, unless ` + datasets.EnvOffline + ` is set
(0 is as unset).`
	return c
}

// filesCommand is a command on the files of the named data sets, or of all that
// have files if none is named.
// Each of them has --data, the folder that is searched first. It opens no store.
func filesCommand(name, about, example string, run func(c *cobra.Command, r *datasets.Resolver,
	names []string) error) *cobra.Command {
	var f selection
	c := &cobra.Command{
		Use: name + " [DATASET …]", Short: about, Example: example, Args: cobra.ArbitraryArgs,
		ValidArgsFunction: completeNames("datasets", cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, names []string) error {
			r, err := datasets.NewResolver(f.data)
			if err != nil {
				return err
			}
			// Named, a set without files is looked at, too: it is built in.
			if len(names) == 0 {
				for _, d := range r.Datasets() {
					if !d.Builtin() {
						names = append(names, d.Name)
					}
				}
			}
			return run(c, r, names)
		},
	}
	f.register(c, "data")
	return c
}

// statuses looks at all files of the sets; builtin are the sets that have none.
// An unknown name is a usage error that lists the data sets.
// Nothing is fetched.
func statuses(r *datasets.Resolver, names []string) (builtin []string, files []datasets.Status,
	err error) {
	for _, name := range names {
		s, err := r.Status(name)
		if err != nil {
			return nil, nil, err
		}
		if s == nil {
			builtin = append(builtin, name)
		}
		files = append(files, s...)
	}
	return builtin, files, nil
}

// state returns the state of a file in words: "missing", "damaged: …" or "verified".
func state(s datasets.Status) string {
	switch {
	case s.Missing():
		return "missing"
	case s.Err != nil:
		return "damaged: " + s.Err.Error()
	}
	return "verified"
}

// listFiles prints a table of the files: a row for each, with where it was found and the
// first address that it can be had from.
func listFiles(c *cobra.Command, r *datasets.Resolver, names []string) error {
	builtin, files, err := statuses(r, names)
	if err != nil {
		return err
	}
	rows := rowsOf(builtin, func(name string) []string {
		return []string{name, "", "built in", "", ""}
	})
	for _, s := range files {
		rows = append(rows, []string{s.Dataset, s.File.Path, state(s), s.Path, s.File.URLs[0]})
	}
	return table.Write(c.OutOrStdout(), []string{"data set", "file", "state", "found at",
		"address"}, rows, 0, 0, 0, 1, 2)
}

// verifyFiles prints a line for each file and fails if any is missing or its checksum
// differs. It fetches nothing.
func verifyFiles(c *cobra.Command, r *datasets.Resolver, names []string) error {
	stdout := c.OutOrStdout()
	builtin, files, err := statuses(r, names)
	if err != nil {
		return err
	}
	for _, name := range builtin {
		fmt.Fprintf(stdout, "%s: built in\n", name)
	}
	bad := 0
	for _, s := range files {
		fmt.Fprintf(stdout, "%s: %s\n", s.File.Path, state(s))
		if state(s) != "verified" {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d files are missing or damaged", bad, len(files))
	}
	return nil
}

// fetchFiles loads each data set, which fetches and verifies what is missing. One that cannot
// be had is reported, and the others are still fetched; a name that is unknown ends the
// command.
func fetchFiles(c *cobra.Command, r *datasets.Resolver, names []string) error {
	ctx, stdout := c.Context(), c.OutOrStdout()
	failed := 0
	for _, name := range names {
		_, err := r.Load(ctx, name)
		if _, bad := errors.AsType[*usage.Error](err); bad || ctx.Err() != nil {
			// A set that was there already has no error of its own.
			return cmp.Or(err, ctx.Err())
		}
		if err != nil {
			failed++
			fmt.Fprintf(stdout, "%s: %v\n", name, err)
			continue
		}
		fmt.Fprintf(stdout, "%s: verified\n", name)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d data sets cannot be had: if you have copies, name their "+
			"folder by %s", failed, len(names), datasets.EnvData)
	}
	return nil
}

// dataExportCommand returns the command that writes a posterior as files
// (draws.WriteProblem).
func dataExportCommand() *cobra.Command {
	var f selection
	var to string
	c := &cobra.Command{
		Use: "export", Short: "Writes what another program needs to sample the same posterior.",
		Long: `train.csv and test.csv hold the standardised rows of a split: inputs x0 …, and the
target, y, or the number of the class. problem.json holds the log density as a
formula, the numbers in it, and its value at one point as a check. They replace
those of an earlier export, and no other files. hambench judge then judges draws
of the predictive values.`,
		Example: "hambench data export --dataset linear --to problem", RunE: func(c *cobra.Command,
			_ []string) error {
			return f.exportPosterior(c, to)
		},
	}
	f.register(c, posteriorFlags)
	c.Flags().StringVar(&to, "to", "", "`DIR` folder to write the files to")
	return c
}

// exportPosterior writes the posterior of the flags into a folder.
// The model is evaluated in float64, so that its value at the check point has all digits.
func (f *selection) exportPosterior(c *cobra.Command, to string) error {
	ctx := c.Context()
	if to == "" {
		return usage.Errorf("%s: --to is empty: want a folder", c.CommandPath())
	}
	target, err := f.openPosterior(ctx, "float64")
	if err != nil {
		return err
	}
	split, err := f.Source.Split(ctx, f.dataset, f.split)
	if err != nil {
		return err
	}
	// A user's own file, d.Path, must outlive an export into its folder, where it may have the name
	// of a file that is written. d.Path is "" for all other sets.
	d, err := f.Data.Lookup(f.dataset)
	if err != nil {
		return err
	}
	written := func(name string) bool { return slices.Contains(draws.ProblemFiles, name) }
	if err := refuseReplaced(to, []string{d.Path}, written); err != nil {
		return err
	}
	files, err := draws.WriteProblem(to, f.model, target, split)
	if err != nil {
		return err
	}
	fmt.Fprintf(f.stdout, "%s: %s\n", to, strings.Join(files, ", "))
	return nil
}
