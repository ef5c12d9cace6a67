package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/certify"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/internal/table"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// lists are the names of the lists of what there is.
// They are in the order in which list prints them.
var lists = []string{"models", "datasets", "integrators", "estimators", "schemes", "studies",
	"profiles", "settings"}

// listCommand returns the command that prints what there is, each list as a table.
func listCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [" + strings.Join(lists, "|") + "] [STUDY]",
		Short: "Lists models, data sets, integrators, gradient estimators, mini-batch schemes, " +
			"and studies.",
		Long: `Without a name it prints all lists. list studies STUDY prints the file of a built-in
study, to start your own from. list settings --json prints the declarations of all
settings of a chain: the names they have in files, flags and columns, range and default.`,
		Example: "hambench list integrators\n" +
			"  hambench list studies friction > mine.toml",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: completeList,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case asJSON && !slices.Equal(args, []string{"settings"}):
				return usage.Errorf("%s --json: want list settings --json",
					strings.Join(append([]string{"list"}, args...), " "))
			case asJSON:
				return printJSON(c.OutOrStdout(), "  ", bench.Settings())
			// The file's text as it is, with no table around it, so that it can be redirected into
			// a file.
			case len(args) == 2 && args[0] == "studies":
				f, err := bench.Load(args[1], bench.Parts{})
				if err == nil {
					_, err = c.OutOrStdout().Write(f.Text)
				}
				return err
			case len(args) == 2:
				return usage.Errorf("list %s %s: want one list, or list studies STUDY", args[0],
					args[1])
			case len(args) == 0:
				args = lists
			}
			for _, name := range args {
				if !slices.Contains(lists, name) {
					return usage.Unknown("list", name, lists)
				}
				if err := writeList(c.OutOrStdout(), name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, of settings")
	return c
}

// completeList completes the name of a list, and after studies that of a study.
// Other lists take no further name.
func completeList(c *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	if len(args) == 1 && args[0] == "studies" {
		return completeNames("studies", cobra.ShellCompDirectiveNoFileComp)(c, args, typed)
	}
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lists, cobra.ShellCompDirectiveNoFileComp
}

// writeList prints a list. On a narrow terminal, the columns that say least are dropped
// first.
func writeList(w io.Writer, name string) error {
	header, rows := listing(name)
	var minor []int
	if name == "integrators" { // what a step costs and its structure, not what it is
		// A number for each column: normals are left out first, then Hessian-vector products; 0
		// stays.
		minor = []int{0, 0, 0, 3, 4, 5, 1, 2, 0}
	}
	return table.Write(w, header, rows, minor...)
}

// listing returns one of the lists as a table: each row begins with a name and ends
// with its description. Integrators have their claims and the structure that probing
// the step finds. Three listings are not in lists: "fixed schemes" and "problems" are
// those of certify, "reproduced studies" those of reproduce.
// The rows are those of the registries of the packages, in their order. Completion of flags offers
// the same names (listingOf), so that a name that is listed is one that is understood.
func listing(name string) (header []string, rows [][]string) {
	switch name {
	case "models":
		return []string{"model", "about"}, rowsOf(models.Builtin(), func(m models.Model) []string {
			return []string{m.Name, m.About}
		})
	case "datasets":
		return []string{"data set", "source", "about"}, rowsOf(datasets.Builtin(),
			func(d datasets.Dataset) []string {
				source := "file"
				if d.Builtin() {
					source = "built in"
				}
				return []string{d.Name, source, d.About}
			})
	case "integrators":
		header = []string{"integrator", "claimed weak order", "claimed ergodic order",
			"gradients", "Hessian-vector", "normals", "quasi-symplectic", "tested", "about"}
		rows = rowsOf(integrators.Builtin(), func(m integrators.Integrator) []string {
			// quasi-symplectic is what the integrator claims, tested what probes of its step find.
			determinant, limit := integrators.Structure(m)
			q := m.Claims
			return []string{
				m.Name, order(q.WeakOrder), order(q.ErgodicOrder), strconv.Itoa(m.Needs.Gradients),
				strconv.Itoa(m.Needs.HessianVectors), strconv.Itoa(m.Needs.Normals),
				yes(q.QuasiSymplectic), yes(determinant && limit), m.About,
			}
		})
		// Splittings are made from their words when they are named: no registry lists them.
		return header, append(rows, []string{"split:WORD", "", "", "", "", "", "", "",
			"any splitting: letters A (drift), B (kick), O (friction and noise), as split:BAOAB"})
	case "estimators":
		return []string{"estimator", "about"}, rowsOf(estimators.Builtin(),
			func(m estimators.Estimator) []string { return []string{m.Name, m.About} })
	case "schemes", "fixed schemes":
		schemes := minibatch.Builtin()
		if name == "fixed schemes" {
			schemes = schemes.Fixed()
		}
		return []string{"scheme", "about"}, rowsOf(schemes, func(m minibatch.Scheme) []string {
			return []string{m.Name, m.About}
		})
	case "problems":
		return []string{"problem"}, rowsOf(certify.Named(), func(p *certify.Problem) []string {
			return []string{p.Name}
		})
	case "settings":
		return []string{"setting", "flag of sample", "column", "default", "about"},
			rowsOf(bench.Settings(), func(s bench.Setting) []string {
				flag, value := "", ""
				if s.Flag != "" {
					flag = "--" + s.Flag
				}
				if s.Default != nil {
					value = fmt.Sprint(s.Default)
				}
				return []string{s.Name, flag, s.Column, value, strings.ReplaceAll(s.About, "`", "")}
			})
	case "profiles":
		return []string{"profile", "about"}, rowsOf(bench.Profiles(),
			func(p bench.Profile) []string { return []string{p.Name, p.About} })
	}
	// Studies, the reproduced ones first. The number of their cells is that of the quick profile,
	// or of the file as it is if that has none.
	quick := selection{asked: bench.Profile{Name: "quick"}}
	studies, err := quick.studies()
	if err == nil && name != "reproduced studies" {
		var later []bench.Study
		later, err = bench.LaterStudies(quick.asked)
		studies = append(studies, later...)
	}
	if err != nil {
		panic(err) // they are built in, and tests read them
	}
	return []string{"study", "cells in quick", "about"}, rowsOf(studies,
		func(s bench.Study) []string {
			return []string{s.ID, fmt.Sprint(len(s.Cells)), s.Title}
		})
}

// rowsOf returns the row of each entry.
// It serves the tables of all commands.
func rowsOf[T any](entries []T, row func(T) []string) [][]string {
	rows := make([][]string, len(entries))
	for i, e := range entries {
		rows[i] = row(e)
	}
	return rows
}

// order writes an order of convergence, "exact" for +Inf.
func order(p float64) string {
	if math.IsInf(p, 1) {
		return "exact"
	}
	return strconv.FormatFloat(p, 'g', -1, 64)
}

// yes writes a truth for people.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
