package main

import (
	"bytes"
	"io"
	"path/filepath"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/figures/page"
	"hambench/internal/atomicfile"
)

// pagePath is where the page is.
// It is the only file that people need to open.
func pagePath(out string) string { return filepath.Join(out, "index.html") }

// writePage writes the page of the plans; running says how far a run is that has
// not ended.
// It is written whole, so that a browser never loads half of it.
func writePage(out string, s *store.Store, plans []bench.Plan, running string) error {
	p := page.New(plans, bench.NewResults(s))
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
