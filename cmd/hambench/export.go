package main

import (
	"context"
	"io"

	"hambench/bench"
	"hambench/usage"
)

func exportCommand() *command {
	return &command{
		name:  "export",
		about: "Writes the stored results, one CSV or JSON row per cell, to standard output.",
		detail: `Only the cells of the profile's experiments are written; a cell that two
experiments share has a row in each. friction is inf for full momentum
refreshment, batch is 0 for the full batch.`,
		example: "hambench export --only methods --format csv",
		run:     runExport,
	}
}

func runExport(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	var f runFlags
	fs := c.flagSet()
	f.register(fs)
	format := fs.String("format", "csv", "`csv|json`")
	if _, err := c.parse(fs, stdout, args); err != nil {
		return err
	}
	write := map[string]func(io.Writer, []bench.Row) error{"csv": bench.WriteCSV, "json": bench.WriteJSON}[*format]
	if write == nil {
		return usage.Errorf("--format %q: want csv or json", *format)
	}
	profile, err := f.lookupProfile()
	if err != nil {
		return err
	}
	exps, err := bench.Select(allExperiments(profile), splitList(f.only)...)
	if err != nil {
		return err
	}
	for _, e := range exps {
		if f.only != "" && len(e.Cells)+len(e.Choices) == 0 {
			return usage.Errorf("experiment %q has no cells to export: its numbers come from hambench certify --json", e.ID)
		}
	}
	store, err := readStore(f.out)
	if err != nil {
		return err
	}
	return write(stdout, bench.Rows(withTeachers(profile, exps, f.only), store.Get))
}

// withTeachers adds the cells that stand in for data sets that cannot be had,
// so that their results are exported too.
func withTeachers(p bench.Profile, exps []bench.Experiment, only string) []bench.Experiment {
	teachers, err := bench.Select(allExperiments(p, bench.UCI()...), splitList(only)...)
	if err != nil {
		return exps // the ids were good a moment ago
	}
	for i := range exps {
		exps[i].Cells = appendNew(exps[i].Cells, teachers[i].Cells)
		exps[i].Choices = append(exps[i].Choices, teachers[i].Choices...)
	}
	return exps
}

// appendNew appends the cells that are not there yet.
func appendNew(cells, more []bench.Cell) []bench.Cell {
	have := make(map[string]bool)
	for _, c := range cells {
		have[c.Key()] = true
	}
	for _, c := range more {
		if !have[c.Key()] {
			cells = append(cells, c)
		}
	}
	return cells
}
