package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"hambench/bench"
	"hambench/internal/atomicfile"
	"hambench/report"
	"hambench/store"
)

var reportCommand = &command{
	name:  "report",
	about: "Writes the page: claims, ranking, orders, figures, tables and provenance in one file.",
	detail: `The page is OUT/index.html. It needs no network and no other file. reproduce writes
it, too; this command makes it again from the store, running nothing.`,
	example: "hambench report --profile quick",
	run:     runReport,
}

func runReport(_ context.Context, c *command, stdout, stderr io.Writer, args []string) error {
	var f selection
	fs := c.flagSet()
	f.register(fs, selectionFlags)
	if _, err := c.parse(fs, stdout, args); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	s, err := readStore(f.out)
	if err != nil {
		return err
	}
	reportCorruptions(s, stderr)
	plans, err := f.manifests(s)
	if err != nil {
		return err
	}
	if err := writePage(f.out, s, plans, ""); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, pagePath(f.out))
	return err
}

// pagePath is where the page is.
func pagePath(out string) string { return filepath.Join(out, "index.html") }

// writePage writes the page of the plans; running says how far a run is that has
// not ended.
func writePage(out string, s *store.Store, plans []bench.Plan, running string) error {
	p, err := report.New(plans, bench.Results{Store: s})
	if err != nil {
		return err
	}
	p.Running = running
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	return atomicfile.Write(pagePath(out), b.Bytes())
}
