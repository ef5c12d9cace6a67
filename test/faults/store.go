//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// contents are an output folder as this program reads it, which shares no code
// with the one that wrote it.
type contents struct {
	records map[string]string // digest of the body by kind, key and machine
	figures map[string]string // digest by name
	// repeated are keys with two records that differ.
	repeated []string
	torn     []string // lines that are no records
	lines    int      // good ones
	leftover int      // temporary files
}

// damage is what one folder has less, and other, than another.
type damage struct {
	lost, wrong int
	details     []string
}

func (d *damage) add(other damage) {
	d.lost += other.lost
	d.wrong += other.wrong
	d.details = append(d.details, other.details...)
}

// compare counts what should be there and is not, and what is there and
// differs or should not be there.
func compare(want, got contents) damage {
	d := within(want, got)
	for key := range want.records {
		if _, ok := got.records[key]; !ok {
			d.lost++
			d.details = append(d.details, "lost: "+key)
		}
	}
	for name, digest := range want.figures {
		switch other, ok := got.figures[name]; {
		case !ok:
			d.lost++
			d.details = append(d.details, "lost: "+name)
		case other != digest:
			d.wrong++
			d.details = append(d.details, "wrong: "+name)
		}
	}
	return d
}

// within counts what a folder on its way has wrong: records that differ from
// those of the finished one.
func within(want, got contents) (d damage) {
	for key, text := range got.records {
		if want.records[key] != text {
			d.wrong++
			d.details = append(d.details, "wrong: "+key)
		}
	}
	for _, key := range got.repeated {
		d.wrong++
		d.details = append(d.details, "two records that differ: "+key)
	}
	return d
}

// missing counts the records that were there earlier and are gone.
func missing(earlier, now contents) (d damage) {
	for key, text := range earlier.records {
		switch other, ok := now.records[key]; {
		case !ok:
			d.lost++
			d.details = append(d.details, "vanished: "+key)
		case other != text:
			d.wrong++
			d.details = append(d.details, "changed: "+key)
		}
	}
	return d
}

// read reads an output folder.
func read(out string) (contents, error) {
	c := contents{records: make(map[string]string), figures: make(map[string]string)}
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // a temporary file that was renamed
			return nil
		case err != nil:
			return err
		case e.IsDir():
			switch e.Name() {
			case "quarantine", "parts", "runs", "leases":
				return filepath.SkipDir
			}
			return nil
		case e.Name()[0] == '.':
			c.leftover++
			return nil
		}
		switch filepath.Base(filepath.Dir(path)) {
		case "records", "references":
			return c.readLines(path)
		case filepath.Base(out):
			return c.readFigure(path)
		}
		return nil
	})
	return c, err
}

// readFigure takes a figure or table in. PDF files and the page carry the time
// they were made at, or in which the results were.
func (c *contents) readFigure(path string) error {
	if ext := filepath.Ext(path); ext == ".pdf" || ext == ".html" {
		return nil
	}
	data, err := os.ReadFile(path)
	c.figures[filepath.Base(path)] = digest(data)
	return err
}

func (c *contents) readLines(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		key, text, err := record(line)
		if err != nil {
			c.torn = append(c.torn, fmt.Sprintf("%s:%d: %v", path, number, err))
			continue
		}
		c.lines++
		c.take(key, text)
	}
	return nil
}

func (c *contents) take(key, text string) {
	if old, ok := c.records[key]; ok && old != text {
		c.repeated = append(c.repeated, key)
	}
	c.records[key] = text
}

// record returns what a line is found by and a digest of its body: all that it
// says but how long it took, when it was made, and by which build.
func record(line []byte) (key, body string, err error) {
	var frame struct {
		V      int
		Sum    string
		Record json.RawMessage
	}
	if !bytes.HasSuffix(line, []byte("\n")) {
		return "", "", errors.New("no end")
	}
	if err := json.Unmarshal(line, &frame); err != nil {
		return "", "", err
	}
	if frame.V != 2 || frame.Sum != digest(frame.Record) {
		return "", "", errors.New("version or checksum")
	}
	var r struct {
		Kind, Key string
		Made      struct{ Arch, ISA, Kernels string }
		Body      json.RawMessage
	}
	err = json.Unmarshal(frame.Record, &r)
	return fmt.Sprintf("%s %s on %v", r.Kind, r.Key, r.Made), digest(r.Body), err
}

func digest(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// gauge tells how far a run is, cheaply enough to ask every few milliseconds.
type gauge struct {
	out  string
	seen map[string]segment
}

type segment struct {
	size  int64
	lines int
}

func newGauge(out string) *gauge { return &gauge{out, make(map[string]segment)} }

// records is the number of lines written.
func (g *gauge) records() int {
	n := 0
	for _, f := range g.files(".jsonl", "store", "records") {
		info, err := os.Stat(f)
		if err != nil {
			continue
		}
		s := g.seen[f]
		if s.size != info.Size() {
			data, _ := os.ReadFile(f)
			s = segment{info.Size(), bytes.Count(data, []byte("\n"))}
			g.seen[f] = s
		}
		n += s.lines
	}
	return n
}

// partsOfReference is what a reference counts: its five chains, the
// cross-check and itself.
const partsOfReference = 7

// progress is the number of things written: records, chains of references.
func (g *gauge) progress() int {
	if n := len(g.files("", "store", "references")); n > 0 {
		return g.records() + n*partsOfReference
	}
	return g.records() + len(g.files("", "store", "parts"))
}

// figures is the number of finished figures and tables.
func (g *gauge) figures() int { return len(g.files("")) }

// files lists the finished files in a folder.
func (g *gauge) files(suffix string, folder ...string) []string {
	dir := filepath.Join(append([]string{g.out}, folder...)...)
	entries, _ := os.ReadDir(dir)
	var list []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name()[0] != '.' && strings.HasSuffix(e.Name(), suffix) {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list
}
