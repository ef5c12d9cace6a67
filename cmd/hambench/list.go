package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"hambench/bench"
	"hambench/datasets"
	"hambench/estimators"
	"hambench/integrators"
	"hambench/internal/table"
	"hambench/minibatch"
	"hambench/models"

	"hambench/usage"
)

var listCommand = &command{
	name:    "list",
	about:   "Lists models, data sets, integrators, gradient estimators, mini-batch schemes, and studies.",
	usage:   "[models|datasets|integrators|estimators|schemes|studies|profiles]",
	example: "hambench list integrators",
	run:     runList,
}

// listing is one of the lists.
type listing struct {
	name   string
	header []string
	rows   [][]string
}

// listings are the lists. That of the integrators has their claims beside what
// probing the step finds of its structure.
func listings() ([]listing, error) {
	quick := selection{profile: "quick"}
	studies, err := quick.studies(datasets.Builtin(), models.Builtin())
	integratorRows := rowsOf(integrators.Builtin(), func(m integrators.Method) []string {
		determinant, limit := integrators.Structure(m)
		q := m.Claims
		return []string{
			m.Name, order(q.WeakOrder), order(q.ErgodicOrder), strconv.Itoa(q.Gradients), strconv.Itoa(q.HessianVectors), strconv.Itoa(q.Normals),
			yes(q.QuasiSymplectic), yes(determinant && limit), m.About,
		}
	})
	anySplitting := []string{"split:WORD", "", "", "", "", "", "", "", "any splitting: letters A (drift), B (kick), O (friction and noise), as split:BAOAB"}
	return []listing{
		{"models", []string{"model", "about"}, rowsOf(models.Builtin(), func(m models.Model) []string { return []string{m.Name, m.About} })},
		{"datasets", []string{"data set", "source", "about"}, rowsOf(datasets.Builtin(), func(d datasets.Dataset) []string {
			source := "file"
			if d.Builtin() {
				source = "built in"
			}
			return []string{d.Name, source, d.About}
		})},
		{
			"integrators",
			[]string{"integrator", "weak order", "ergodic order", "gradients", "Hessian-vector", "normals", "quasi-symplectic", "tested", "about"},
			append(integratorRows, anySplitting),
		},
		{"estimators", []string{"estimator", "about"}, rowsOf(estimators.Builtin(), func(m estimators.Method) []string { return []string{m.Name, m.About} })},
		{"schemes", []string{"scheme", "about"}, rowsOf(minibatch.Builtin(), func(m minibatch.Method) []string { return []string{m.Name, m.About} })},
		{"studies", []string{"study", "cells in quick", "about"}, rowsOf(studies, func(e bench.Study) []string {
			return []string{e.ID, fmt.Sprint(len(e.Cells) + len(e.Choices)), e.Title}
		})},
		{"profiles", []string{"profile", "about"}, rowsOf(bench.Profiles(), func(p bench.Profile) []string { return []string{p.Name, p.About} })},
	}, err
}

// rowsOf returns the row of each entry.
func rowsOf[T any](entries []T, row func(T) []string) [][]string {
	rows := make([][]string, len(entries))
	for i, e := range entries {
		rows[i] = row(e)
	}
	return rows
}

func runList(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	rest, err := c.parse(c.flagSet(), stdout, args)
	if err != nil {
		return err
	}
	lists, err := listings()
	if err != nil {
		return err
	}
	switch len(rest) {
	case 0:
	case 1:
		at := slices.IndexFunc(lists, func(l listing) bool { return l.name == rest[0] })
		if at < 0 {
			known := rowsOf(lists, func(l listing) []string { return []string{l.name} })
			return fmt.Errorf("%s: %w", c.name, usage.Unknown("list", rest[0], slices.Concat(known...)))
		}
		lists = lists[at : at+1]
	default:
		return usage.Errorf("%s: %d lists named: want one, or none for all", c.name, len(rest))
	}
	for _, l := range lists {
		if err := table.Write(stdout, l.header, l.rows); err != nil {
			return err
		}
	}
	return nil
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
