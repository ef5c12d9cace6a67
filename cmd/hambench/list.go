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
	"hambench/datasets"
	"hambench/estimators"
	"hambench/integrators"
	"hambench/internal/table"
	"hambench/minibatch"
	"hambench/models"
	"hambench/usage"
)

// lists are the names of the lists of what there is.
var lists = []string{"models", "datasets", "integrators", "estimators", "schemes", "studies", "profiles"}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "list [" + strings.Join(lists, "|") + "]",
		Short:     "Lists models, data sets, integrators, gradient estimators, mini-batch schemes, and studies.",
		Example:   "hambench list integrators",
		ValidArgs: lists,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
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
}

func writeList(w io.Writer, name string) error {
	header, rows := listing(name)
	var minor []int
	if name == "integrators" { // what a step costs and its structure, not what it is
		minor = []int{0, 0, 0, 3, 4, 5, 1, 2, 0}
	}
	return table.Write(w, header, rows, minor...)
}

// listing returns one of the lists as a table: each row begins with a name and ends
// with its description. Integrators have their claims and the structure that probing
// the step finds. Three listings are not in lists: "fixed schemes" and "problems" are
// those of certify, "reproduced studies" those of reproduce.
func listing(name string) (header []string, rows [][]string) {
	switch name {
	case "models":
		return []string{"model", "about"}, rowsOf(models.Builtin(), func(m models.Model) []string { return []string{m.Name, m.About} })
	case "datasets":
		return []string{"data set", "source", "about"}, rowsOf(datasets.Builtin(), func(d datasets.Dataset) []string {
			source := "file"
			if d.Builtin() {
				source = "built in"
			}
			return []string{d.Name, source, d.About}
		})
	case "integrators":
		header = []string{"integrator", "weak order", "ergodic order", "gradients", "Hessian-vector", "normals", "quasi-symplectic", "tested", "about"}
		rows = rowsOf(integrators.Builtin(), func(m integrators.Method) []string {
			determinant, limit := integrators.Structure(m)
			q := m.Claims
			return []string{
				m.Name, order(q.WeakOrder), order(q.ErgodicOrder), strconv.Itoa(q.Gradients), strconv.Itoa(q.HessianVectors), strconv.Itoa(q.Normals),
				yes(q.QuasiSymplectic), yes(determinant && limit), m.About,
			}
		})
		return header, append(rows, []string{"split:WORD", "", "", "", "", "", "", "", "any splitting: letters A (drift), B (kick), O (friction and noise), as split:BAOAB"})
	case "estimators":
		return []string{"estimator", "about"}, rowsOf(estimators.Builtin(), func(m estimators.Method) []string { return []string{m.Name, m.About} })
	case "schemes", "fixed schemes":
		schemes := minibatch.Builtin()
		if name == "fixed schemes" {
			schemes = schemes.Fixed()
		}
		return []string{"scheme", "about"}, rowsOf(schemes, func(m minibatch.Method) []string { return []string{m.Name, m.About} })
	case "problems":
		return []string{"problem"}, rowsOf(certify.Builtin(), func(p *certify.Problem) []string { return []string{p.Name} })
	case "profiles":
		return []string{"profile", "about"}, rowsOf(bench.Profiles(), func(p bench.Profile) []string { return []string{p.Name, p.About} })
	}
	quick := selection{asked: bench.Profile{Name: "quick"}}
	studies, err := quick.studies(datasets.Builtin(), models.Builtin())
	if err != nil {
		panic(err) // they are built in, and tests read them
	}
	later := bench.Later()
	if name == "reproduced studies" {
		later = nil
	}
	for _, id := range later {
		f, err := bench.Load(id, bench.Parts{})
		if err != nil {
			panic(err)
		}
		studies = append(studies, bench.Study{ID: id, Title: f.Title})
	}
	return []string{"study", "cells in quick", "about"}, rowsOf(studies, func(s bench.Study) []string {
		return []string{s.ID, fmt.Sprint(len(s.Cells) + len(s.Choices)), s.Title}
	})
}

// rowsOf returns the row of each entry.
func rowsOf[T any](entries []T, row func(T) []string) [][]string {
	rows := make([][]string, len(entries))
	for i, e := range entries {
		rows[i] = row(e)
	}
	return rows
}

func order(p float64) string {
	if math.IsInf(p, 1) {
		return "exact"
	}
	return strconv.FormatFloat(p, 'g', -1, 64)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
