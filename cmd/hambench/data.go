package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"hambench/datasets"
	"hambench/internal/table"
	"hambench/usage"
)

var dataCommand = &command{
	name:    "data",
	about:   "Lists, fetches and verifies the files of the data sets.",
	example: "hambench data fetch boston yacht",
	sub: []*command{
		{name: "list", about: "Lists the files of the data sets and where they are.", usage: "[DATASET …]", example: "hambench data list", run: runDataList},
		{name: "fetch", about: "Fetches the files that are missing into the user's cache folder.", usage: "[DATASET …]", example: "hambench data fetch boston", run: runDataFetch},
		{name: "verify", about: "Verifies the files that are there; exit code 1 if one is missing or damaged.", usage: "[DATASET …]", example: "hambench data verify --data ../data", run: runDataVerify},
		dataExportCommand,
	},
}

// dataArgs parses the flags and names of a data command; no names means all
// sets from files.
func dataArgs(c *command, stdout io.Writer, args []string) (*datasets.Resolver, []string, error) {
	fs := c.flagSet()
	var dir string
	registerData(fs, &dir)
	names, err := c.parse(fs, stdout, args)
	if err != nil {
		return nil, nil, err
	}
	r, err := datasets.NewResolver(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(names) > 0 {
		return r, names, nil
	}
	for _, d := range r.Datasets() {
		if !d.Builtin() {
			names = append(names, d.Name)
		}
	}
	return r, names, nil
}

// statuses parses the arguments and looks at all files of the sets; builtin
// are the sets that have none.
func statuses(c *command, stdout io.Writer, args []string) (builtin []string, files []datasets.Status, err error) {
	r, names, err := dataArgs(c, stdout, args)
	if err != nil {
		return nil, nil, err
	}
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

func state(s datasets.Status) string {
	switch {
	case s.Missing():
		return "missing"
	case s.Err != nil:
		return "damaged: " + s.Err.Error()
	}
	return "verified"
}

func runDataList(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	builtin, files, err := statuses(c, stdout, args)
	if err != nil {
		return err
	}
	rows := rowsOf(builtin, func(name string) []string { return []string{name, "", "built in", "", ""} })
	for _, s := range files {
		rows = append(rows, []string{s.Dataset, s.File.Path, state(s), s.Path, s.File.URLs[0]})
	}
	return table.Write(stdout, []string{"data set", "file", "state", "found at", "address"}, rows)
}

func runDataVerify(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	builtin, files, err := statuses(c, stdout, args)
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

func runDataFetch(ctx context.Context, c *command, stdout, _ io.Writer, args []string) error {
	r, names, err := dataArgs(c, stdout, args)
	if err != nil {
		return err
	}
	failed := 0
	for _, name := range names {
		_, err := r.Load(ctx, name)
		var bad *usage.Error
		if errors.As(err, &bad) || ctx.Err() != nil {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintf(stdout, "%s: %v\n", name, err)
			continue
		}
		fmt.Fprintf(stdout, "%s: verified\n", name)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d data sets cannot be had", failed, len(names))
	}
	return nil
}
