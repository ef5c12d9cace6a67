package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hambench/chain/draws"
	"hambench/internal/table"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

// judgeOptions are the flags that judge alone has.
type judgeOptions struct {
	asJSON, checks, rebuild bool
}

// judgeCommand returns the command that judges draws made elsewhere, or shows the checks of
// the reference chains that they would be judged by.
func judgeCommand() *cobra.Command {
	var f selection
	var o judgeOptions
	c := &cobra.Command{
		Use:   "judge DRAWS.csv …",
		Short: "Judges draws of any program against a data set's posterior.",
		Long: `Each row is a draw: columns f0 … hold the predictive values at the test inputs, as
sample --predictions writes them. A column named chain tells the chains of a file
apart; a file without it is one chain. Other columns are ignored. The truth is the
exact posterior, or reference chains: those of split 0 of the UCI sets come with the
program; others are taken from the store of --out, and made there if missing, as all
are with --rebuild. Exit code 1 if the draws are farther from it than independent ones, as
many as their effective sample size, would be once in a hundred times; 3 if they
decide nothing: too few, never moved, not mixed, or judged by chains that fail a check.

With --checks and no files, judge prints what is known of the reference chains and
which of their checks they pass. They are five chains of adaptive SGHMC with the full
batch, checked by a Metropolis-corrected sampler.`,
		Example: "hambench sample --dataset linear --predictions > draws.csv\n" +
			"  hambench judge --dataset linear draws.csv",
		Args: func(c *cobra.Command, files []string) error {
			if o.checks {
				return noArguments(c, files)
			}
			return cobra.MinimumNArgs(1)(c, files)
		},
		RunE: func(c *cobra.Command, files []string) error {
			if o.checks {
				return f.showReference(c.Context(), o)
			}
			return f.judge(c.Context(), files, o)
		},
	}
	f.register(c, referenceFlags)
	c.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&o.checks, "checks", false,
		"show the reference chains and their checks; judge no draws")
	c.Flags().BoolVar(&o.rebuild, "rebuild", false,
		"take reference chains from --out, made there if missing, not those of the program")
	c.MarkFlagsMutuallyExclusive("json", "checks")
	return c
}

// showReference prints the reference of the flags, which is made if it is missing.
// Checks that fail are shown as such; they are no error of the command.
func (f *selection) showReference(ctx context.Context, o judgeOptions) error {
	if err := f.namePosterior(); err != nil {
		return err
	}
	ref, from, err := f.reference(ctx, o.rebuild)
	if err != nil {
		return err
	}
	return printReference(f.stdout, ref, from)
}

// judge reads the draws of all files, chains in the order of the files, and prints how far
// they are from the truth. Draws that are not of the posterior make an error, after the
// numbers have been printed.
func (f *selection) judge(ctx context.Context, files []string, o judgeOptions) error {
	target, err := f.openPosterior(ctx, "")
	if err != nil {
		return err
	}
	var chains [][][]float64
	for i, file := range files {
		if slices.ContainsFunc(files[:i], func(other string) bool { return sameFile(file, other) }) {
			return usage.Errorf("draws %s: the file is given twice: want each once", file)
		}
		of, err := draws.Read(file, target.Outputs())
		if err != nil {
			return err
		}
		chains = append(chains, of...)
	}
	var truth oracle.Truth
	if models.CapabilitiesOf(target).Analytic != nil {
		truth, err = oracle.NewAnalytic(f.model, target)
	} else {
		var r *oracle.Reference
		var from string
		if r, from, err = f.reference(ctx, o.rebuild); err == nil {
			fmt.Fprintf(f.stderr, "judged by reference chains of %s, split %d (%s), whose own error is %.3f%s\n",
				r.Dataset, r.Split, from, r.OwnError.Upper, failures(r))
			truth = r
		}
	}
	if err != nil {
		return err
	}
	j, err := oracle.Judge(target, truth, chains)
	if err != nil {
		return err
	}
	if o.asJSON {
		err = printJSON(f.stdout, "  ", j)
	} else {
		err = printJudgement(f.stdout, j)
	}
	if err == nil {
		err = j.Err()
	}
	return err
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// printJudgement prints a judgement as a table of two columns, the scores last, by name.
func printJudgement(w io.Writer, j oracle.Judgement) error {
	verdict := "NO"
	switch {
	case j.Undecided != "":
		verdict = "cannot be decided"
	case j.Accepted:
		verdict = "yes"
	}
	rows := [][]string{
		{"chains × draws", fmt.Sprintf("%d × %d", j.Chains, j.Draws)},
		{"effective sample size, mean over the outputs", number(j.Diagnostics.ESS.Mean)},
		{"split-R̂, 95 % quantile over the outputs", number(j.Diagnostics.SplitRHat.P95)},
		{"lag-1 autocorrelation, mean", number(j.Diagnostics.Lag1.Mean)},
		{"distance", number(j.Distance)},
		{fmt.Sprintf("self-distance of %.0f independent draws (5–95 %%)", j.Effective),
			fmt.Sprintf("%s (%s–%s)", number(j.Self.Mean), number(j.Self.Low),
				number(j.Self.High))},
		{"limit, with 1 % false alarms", number(j.Limit)},
		{"draws of the posterior", verdict},
	}
	for _, name := range slices.Sorted(maps.Keys(j.Scores)) {
		rows = append(rows, []string{name, number(j.Scores[name])})
	}
	return table.Write(w, []string{"", "value"}, rows)
}

// printReference prints how reference chains were made, what is known of them, and
// which of their checks they pass.
// From says where they are from; the seconds are of all chains together.
func printReference(w io.Writer, r *oracle.Reference, from string) error {
	fmt.Fprintf(w, "%s, split %d: %d chains of %d draws, h = %g, C = %g, %d steps per draw, "+
		"%s gradients, %.0f s of chains together (%s)\n", r.Dataset, r.Split, r.Chains, len(r.Draws[0]),
		r.Step, r.Friction, r.Thin<<r.Doublings, r.Precision, r.Seconds, from)
	self, cross := r.SelfDistance(), r.CrossCheck
	fmt.Fprintf(w, "own error at most %.4f; self-distance %.3f (5-95 %%: %.3f-%.3f); "+
		"Metropolis-corrected chain at %.3f with acceptance %.2f\n", r.OwnError.Upper,
		self.Mean, self.Low, self.High, cross.Distance, cross.Acceptance)
	var rows [][]string
	for _, d := range []struct {
		name string
		s    oracle.Summary
	}{{"lag-1 autocorrelation", r.Diagnostics.Lag1}, {"effective sample size",
		r.Diagnostics.ESS}, {"split-Rhat", r.Diagnostics.SplitRHat}} {
		rows = append(rows, []string{d.name, number(d.s.P05), number(d.s.Median), number(d.s.Mean),
			number(d.s.P95)})
	}
	if err := table.Write(w, []string{"over the predictive values", "5 %", "median", "mean",
		"95 %"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, k := range r.Checks {
		rows = append(rows, []string{k.Name, number(k.Value), number(k.Low), number(k.High),
			yes(k.Pass)})
	}
	return table.Write(w, []string{"check", "value", "from", "to", "passed"}, rows)
}

// failures names the checks that a reference fails, as the end of a sentence.
func failures(r *oracle.Reference) string {
	var names []string
	for _, k := range r.Failed() {
		names = append(names, k.Name)
	}
	if names == nil {
		return ""
	}
	return "; THEY FAIL A CHECK: " + strings.Join(names, ", ")
}

// number writes a number with four digits.
func number(x float64) string { return fmt.Sprintf("%.4g", x) }
