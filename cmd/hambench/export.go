package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"hambench/bench"
	"hambench/datasets"
	"hambench/models"
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
	f.register(fs, selectionFlags)
	format := fs.String("format", "csv", "`FORMAT` csv or json")
	if _, err := c.parse(fs, stdout, args); err != nil {
		return err
	}
	write := map[string]func(io.Writer, []bench.Row) error{"csv": bench.WriteCSV, "json": bench.WriteJSON}[*format]
	if write == nil {
		return usage.Errorf("--format %q: want csv or json", *format)
	}
	store, err := readStore(f.out)
	if err != nil { // a name that no built-in study has is the likelier mistake
		studies, unknown := f.studies(datasets.Builtin(), models.Builtin())
		return cmp.Or(unknown, f.exportable(studies), err)
	}
	plans, err := f.manifests(store)
	if err != nil {
		return err
	}
	for _, p := range plans {
		if err := f.exportable([]bench.Study{p.Study}); err != nil {
			return err
		}
	}
	rows, missing := bench.Rows(plans, bench.Results{Store: store}.Result)
	if missing > 0 {
		fmt.Fprintf(stderr, "hambench: %d of %d cells have no result\n", missing, missing+len(rows))
	}
	return write(stdout, rows)
}

// exportable refuses a study that was asked for and has no cells.
func (f *selection) exportable(studies []bench.Study) error {
	for _, s := range studies {
		if f.only != "" && len(s.Jobs()) == 0 {
			return usage.Errorf("study %q has no cells to export: its numbers come from hambench certify --json", s.ID)
		}
	}
	return nil
}
