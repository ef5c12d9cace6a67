package main

import (
	"context"
	"fmt"
	"io"

	"hambench/bench"
	"hambench/usage"
)

var exportCommand = &command{
	name:  "export",
	about: "Writes the stored results, one CSV or JSON row per cell, to standard output.",
	detail: `Only the cells of the profile's runs are written; a cell that two studies share
has a row in each. friction is inf for full momentum refreshment, batch is 0 for
the full batch. How many cells of these runs have no result is said at the end.`,
	example: "hambench export --only methods --format csv",
	run:     runExport,
}

func runExport(_ context.Context, c *command, stdout, stderr io.Writer, args []string) error {
	var f selection
	fs := c.flagSet()
	f.register(fs)
	format := fs.String("format", "csv", "`FORMAT` csv or json")
	if _, err := c.parse(fs, stdout, args); err != nil {
		return err
	}
	write := map[string]func(io.Writer, []bench.Row) error{"csv": bench.WriteCSV, "json": bench.WriteJSON}[*format]
	if write == nil {
		return usage.Errorf("--format %q: want csv or json", *format)
	}
	store, err := readStore(f.out)
	if err != nil {
		return err
	}
	plans, err := f.manifests(store)
	if err != nil {
		return err
	}
	for _, p := range plans {
		if f.only != "" && len(p.Jobs()) == 0 {
			return usage.Errorf("study %q has no cells to export: its numbers come from hambench certify --json", p.ID)
		}
	}
	rows, missing := bench.Rows(plans, bench.Results{Store: store}.Result)
	if missing > 0 {
		fmt.Fprintf(stderr, "hambench: %d of %d cells have no result\n", missing, missing+len(rows))
	}
	return write(stdout, rows)
}
