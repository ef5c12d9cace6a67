package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/internal/atomicfile"
	"hambench/report"
	"hambench/store"
)

func reportCommand() *cobra.Command {
	var f selection
	c := &cobra.Command{
		Use:   "report",
		Short: "Writes the page: claims, ranking, orders, figures, tables and provenance in one file.",
		Long: `The page is OUT/index.html. It needs no network and no other file. reproduce also
writes it; this command makes it again from the store without running anything.`,
		Example: "hambench report --profile quick",
		RunE:    f.report,
	}
	f.register(c, selectionFlags)
	return c
}

func (f *selection) report(*cobra.Command, []string) error {
	plans, err := f.stored()
	if err != nil {
		return err
	}
	if err := writePage(f.out, f.Store, plans, ""); err != nil {
		return err
	}
	_, err = fmt.Fprintln(f.stdout, pagePath(f.out))
	return err
}

// pagePath is where the page is.
func pagePath(out string) string { return filepath.Join(out, "index.html") }

// writePage writes the page of the plans; running says how far a run is that has
// not ended.
func writePage(out string, s *store.Store, plans []bench.Plan, running string) error {
	p := report.New(plans, bench.Results{Store: s})
	p.Running = running
	return writeTo(pagePath(out), p.Write)
}

// writeTo makes a file of what is written, whole or not at all.
func writeTo(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return atomicfile.Write(path, b.Bytes())
}
