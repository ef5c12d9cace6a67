package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/internal/table"
)

func runCommand() *cobra.Command {
	var r reproduction
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Runs a study of your own: a question in a file.",
		Long: `The file says what varies, what is fixed, and how it is shown (docs/studies.md);
a name without .toml is that of a built-in study. Like reproduce, it computes
what is missing in --out, then draws, so a run that was stopped continues where
it stopped.`,
		Example: "hambench run examples/study/splittings.toml --profile quick --dry-run",
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.takeStudy(c, args[0]); err != nil {
				return err
			}
			r.gridGiven = true // --within leaves out data sets: which of a file's profiles is finer is not known
			return r.carryOut(c.Context())
		},
	}
	fs := c.Flags()
	r.register(c, storeFlags+" "+datasetFlags+" "+chainFlags+" "+modeFlags)
	profile := fs.Lookup("profile")
	profile.DefValue, profile.Usage = "", "`NAME` of one of the file's profiles; the file as it is if empty"
	return c
}

// takeStudy loads the study in path as the selection's only one. Its profiles are
// its own: none is applied unless --profile names it.
func (f *selection) takeStudy(c *cobra.Command, path string) (err error) {
	if f.study, err = bench.Load(path, bench.Parts{}); err != nil {
		return err
	}
	f.only = []string{f.study.ID}
	if !c.Flags().Changed("profile") {
		f.asked.Name = ""
	}
	return nil
}

func studyCommand() *cobra.Command {
	return group("study", "Lists, shows and checks studies.", "hambench study show methods",
		&cobra.Command{
			Use: "list", Short: "Lists the built-in studies.", Example: "hambench study list",
			RunE: func(c *cobra.Command, _ []string) error { return writeList(c.OutOrStdout(), "studies") },
		},
		&cobra.Command{
			Use: "show NAME", Short: "Prints a study's file, to start from.", Example: "hambench study show methods",
			ValidArgsFunction: completeNames("studies", cobra.ShellCompDirectiveNoFileComp),
			RunE: func(c *cobra.Command, args []string) error {
				f, err := bench.Load(args[0], bench.Parts{})
				if err == nil {
					_, err = c.OutOrStdout().Write(f.Text)
				}
				return err
			},
		},
		&cobra.Command{
			Use: "check FILE", Short: "Checks a study and says what it would run in each profile. Fetches and writes nothing.",
			Example: "hambench study check examples/study/splittings.toml", RunE: checkStudy,
		})
}

func checkStudy(c *cobra.Command, args []string) error {
	f, err := bench.Load(args[0], bench.Parts{})
	if err != nil {
		return err
	}
	var rows [][]string
	for _, name := range append([]string{""}, f.Profiles()...) {
		s, err := f.Study(bench.Profile{Name: name})
		if err != nil {
			return err
		}
		if name == "" {
			name = bench.AsItIs
		}
		rows = append(rows, []string{
			name, fmt.Sprint(len(s.Cells) + len(s.Choices)), fmt.Sprint(len(s.Exact)), fmt.Sprint(len(s.References)), strings.Join(used([]bench.Study{s}), ", "),
		})
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", f.ID, f.Title)
	return table.Write(c.OutOrStdout(), []string{"profile", "cells", "exact jobs", "references", "data"}, rows)
}
