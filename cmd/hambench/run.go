package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/internal/input"
	"hambench/internal/table"
	"hambench/models/datasets"
	"hambench/oracle"
)

// runCommand returns the command that runs a study in a file. It has reproduce's flags,
// except --only.
func runCommand() *cobra.Command {
	var r reproduction
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Runs a study of your own: a question in a file.",
		Long: `The file says what varies, what is fixed, and how it is shown (docs/studies.md);
a name without .toml is that of a built-in study. Like reproduce, it computes
what is missing in --out, then draws, so a run that was stopped continues where
it stopped. With --dry-run it checks the file and says what it would run and cost.
Exit code 3 says that a reference failed a check of its own, so that nothing that
it judges has a verdict.`,
		Example: "hambench list studies friction > mine.toml\n" +
			"  hambench run mine.toml --profile quick --dry-run",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.takeStudy(c, args[0]); err != nil {
				return err
			}
			// With --dry-run or --check nothing is judged, and a failed reference is no error.
			if err := r.carryOut(c.Context()); err != nil || r.dryRun || r.missingOnly {
				return err
			}
			return r.judgedByAll()
		},
	}
	fs := c.Flags()
	r.register(c, storeFlags+" "+datasetFlags+" "+chainFlags+" "+modeFlags)
	exclusive(c, "dry-run check figures-only")
	// The shared flag says quick, a profile that a file need not have: takeStudy clears it.
	profile := fs.Lookup("profile")
	profile.DefValue, profile.Usage = "", "`NAME` of one of the file's profiles; the file as it "+
		"is if empty"
	return c
}

// judgedByAll returns an error that wraps oracle.ErrUndecided if a reference failed a check
// of its own: nothing that it judges has a verdict.
func (r *reproduction) judgedByAll() error {
	failed := bench.FailedReferences(bench.NewResults(r.Store).Table(r.plans))
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%w: references failed checks of their own, so that what they judge has "+
		"no verdict: %s", oracle.ErrUndecided, strings.Join(failed, ", "))
}

// takeStudy loads the study in path as the selection's only one. Its profiles are
// its own: none is applied unless --profile names it.
// A mistake in the file is a usage error with its line.
func (f *selection) takeStudy(c *cobra.Command, path string) (err error) {
	f.study, err = input.Await(c.Context(), func() (*bench.File, error) {
		return bench.Load(path, bench.Parts{})
	})
	if err != nil {
		return err
	}
	f.only = []string{f.study.ID}
	if !c.Flags().Changed("profile") {
		f.asked.Name = ""
	}
	f.noteCopies(f.study.Data)
	return nil
}

// noteCopies says on stderr which data sets of a study have the same file and target: intervals
// take data sets for replicates of one another.
func (f *selection) noteCopies(sets datasets.Registry) {
	names := make(map[[2]string][]string)
	contents := func(d datasets.Dataset) [2]string { return [2]string{d.Digest, d.Target} }
	for _, d := range sets {
		names[contents(d)] = append(names[contents(d)], d.Name)
	}
	for _, d := range sets {
		of := names[contents(d)] // only the user's own have a digest
		if d.Digest != "" && len(of) > 1 && of[0] == d.Name {
			f.note("data sets %s have the same contents: they are no replicates of one another",
				strings.Join(of, ", "))
		}
	}
}

// noteOther says on stderr if the last run of a study, among the plans that a store has of its
// id, was of other jobs than its file states now: of another file, or of an older version.
// which says which run the figures and claims are of.
func (f *selection) noteOther(s bench.Study, plans []bench.Plan, which string) {
	if s.OfOther(plans) {
		f.note("study %s: the store's last run of this id was of another file or an older "+
			"version of it; figures and claims are of %s run", s.ID, which)
	}
}

// printStudy prints what a study would run in each of its profiles.
// A profile that does not expand, say for too many cells, makes an error.
func printStudy(w io.Writer, f *bench.File) error {
	var rows [][]string
	// "" is the file as it is, without a profile laid over it.
	for _, name := range append([]string{""}, f.Profiles()...) {
		s, err := f.Study(bench.Profile{Name: name})
		if err != nil {
			return err
		}
		rows = append(rows, []string{
			cmp.Or(name, bench.AsItIs), fmt.Sprint(len(s.Cells)),
			fmt.Sprint(len(s.Exact)), fmt.Sprint(len(s.References)),
			strings.Join(used([]bench.Study{s}), ", "),
		})
	}
	fmt.Fprintf(w, "%s: %s\n", f.ID, f.Title)
	return table.Write(w, []string{"profile", "cells", "exact jobs", "references", "data"}, rows)
}
