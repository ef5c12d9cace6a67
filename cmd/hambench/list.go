package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"hambench/bench"
	"hambench/datasets"
	"hambench/integrators"
	"hambench/internal/table"
	"hambench/minibatch"
	"hambench/models"

	"hambench/usage"
)

func listCommand() *command {
	return &command{
		name:    "list",
		about:   "Lists models, data sets, integrators, mini-batch schemes, and studies.",
		usage:   "[models|datasets|integrators|schemes|studies|profiles]",
		example: "hambench list integrators",
		run:     runList,
	}
}

// listing is one of the lists.
type listing struct {
	name   string
	header []string
	rows   func() ([][]string, error)
}

func listings() []listing {
	return []listing{
		{"models", []string{"model", "about"}, modelRows},
		{"datasets", []string{"data set", "source", "about"}, datasetRows},
		{"integrators", []string{"integrator", "weak order", "ergodic order", "gradients", "Hessian-vector", "normals", "quasi-symplectic", "tested", "about"}, integratorRows},
		{"schemes", []string{"scheme", "about"}, schemeRows},
		{"studies", []string{"study", "cells in quick", "about"}, studyRows},
		{"profiles", []string{"profile", "about"}, profileRows},
	}
}

func runList(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	rest, err := c.parse(c.flagSet(), stdout, args)
	if err != nil {
		return err
	}
	if len(rest) > 1 {
		return usage.Errorf("%s: %d lists named: want one, or none for all", c.name, len(rest))
	}
	found := false
	var known string
	for _, l := range listings() {
		known += " " + l.name
		if len(rest) == 1 && rest[0] != l.name {
			continue
		}
		found = true
		rows, err := l.rows()
		if err != nil {
			return err
		}
		if err := table.Write(stdout, l.header, rows); err != nil {
			return err
		}
	}
	if !found {
		return usage.Errorf("%s: unknown list %q: want one of%s", c.name, rest[0], known)
	}
	return nil
}

func modelRows() (rows [][]string, err error) {
	for _, m := range models.Builtin() {
		rows = append(rows, []string{m.Name, m.About})
	}
	return rows, nil
}

func datasetRows() (rows [][]string, err error) {
	for _, d := range datasets.Builtin() {
		source := "file"
		if d.Builtin() {
			source = "built in"
		}
		rows = append(rows, []string{d.Name, source, d.About})
	}
	return rows, nil
}

// integratorRows lists the claims beside what probing the step finds of its
// structure.
func integratorRows() (rows [][]string, err error) {
	for _, m := range integrators.Builtin() {
		determinant, limit := integrators.Structure(m)
		q := m.Claims
		rows = append(rows, []string{
			m.Name, order(q.WeakOrder), order(q.ErgodicOrder), strconv.Itoa(q.Gradients), strconv.Itoa(q.HessianVectors), strconv.Itoa(q.Normals),
			yes(q.QuasiSymplectic), yes(determinant && limit), m.About,
		})
	}
	return append(rows, []string{"split:WORD", "", "", "", "", "", "", "", "any splitting: letters A (drift), B (kick), O (friction and noise), as split:BAOAB"}), nil
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

func schemeRows() (rows [][]string, err error) {
	for _, m := range minibatch.Builtin() {
		rows = append(rows, []string{m.Name, m.About})
	}
	return rows, nil
}

func studyRows() (rows [][]string, err error) {
	quick := selection{profile: "quick"}
	studies, err := quick.studies(datasets.Builtin(), models.Builtin())
	if err != nil {
		return nil, err
	}
	for _, e := range studies {
		rows = append(rows, []string{e.ID, fmt.Sprint(len(e.Cells) + len(e.Choices)), e.Title})
	}
	return rows, nil
}

func profileRows() (rows [][]string, err error) {
	for _, p := range bench.Profiles() {
		rows = append(rows, []string{p.Name, p.About})
	}
	return rows, nil
}
