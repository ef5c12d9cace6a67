package main

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/usage"
)

// exportCommand returns the command that writes results as rows. It reads the store's
// manifests, so that it needs neither data nor models.
func exportCommand() *cobra.Command {
	var f selection
	format := "csv"
	c := &cobra.Command{
		Use:   "export",
		Short: "Writes the stored results, one CSV or JSON row per cell, to standard output.",
		Long: `The cells of the profile's runs are written, and of studies that are run by name
(hambench run) those of the profile in which they were, which a note names; a cell
that two studies share has a row in each. friction is inf for full momentum
refreshment, batch is 0 for the full batch and empty where only the model knows
the number of rows, and ks is 0 where observe is coupled, density, learning or
path. Test scores and diagnostics follow, empty where a cell has none. In JSON,
infinite and empty are null, and scores are in an object of their own. The number
of cells without a result goes to standard error.`,
		Example: "hambench export --only toy --format csv",
		RunE: func(*cobra.Command, []string) error {
			return f.export(map[string]func(io.Writer, *table.Table) error{"csv": bench.WriteCSV,
				"json": bench.WriteJSON}[format])
		},
	}
	f.register(c, selectionFlags)
	oneOf(c.Flags(), &format, "format", "format", "csv", "json")
	return c
}

// export writes the rows of the stored results of the flags' studies by one of bench's
// writers. How many cells have no result goes to standard error.
func (f *selection) export(write func(io.Writer, *table.Table) error) error {
	plans, err := f.stored()
	if f.Store == nil { // a name that no built-in study has is the likelier mistake
		studies, unknown := f.studies()
		return cmp.Or(unknown, f.exportable(studies), err)
	}
	if err != nil {
		return err
	}
	for _, p := range plans { // exportable refuses only what --only names
		if err := f.exportable([]bench.Study{p.Study}); err != nil {
			return err
		}
	}
	elsewhere := make(map[string][]string)
	for _, p := range plans {
		if p.Profile != f.label() && len(p.Cells) > 0 {
			elsewhere[p.Profile] = append(elsewhere[p.Profile], p.ID)
		}
	}
	for _, profile := range slices.Sorted(maps.Keys(elsewhere)) {
		f.note("of profile %s, in which they were run by name: the rows of %s", profile,
			strings.Join(elsewhere[profile], ", "))
	}
	// The table has rows of exact errors and checks, too, which no export has, and one for each
	// cell without a result.
	cells := bench.NewResults(f.Store).Table(plans).Where("record", bench.CellRecord)
	rows := cells.Where("missing", false)
	if missing := cells.Len() - rows.Len(); missing > 0 {
		f.note("%d of %d cells have no result", missing, cells.Len())
	}
	return write(f.stdout, rows)
}

// exportable refuses a study that was asked for and has no cells.
// A study that is left out of --only is passed over silently: all have no cells in common.
func (f *selection) exportable(studies []bench.Study) error {
	for _, s := range studies {
		if f.only != nil && len(s.Cells) == 0 {
			return usage.Errorf("study %q has no cells to export: its numbers come from hambench "+
				"certify --json", s.ID)
		}
	}
	return nil
}
