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
	records map[string]string // canonical text by key; of oracles, a digest
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
			if e.Name() == "set-aside" || e.Name() == "parts" {
				return filepath.SkipDir
			}
			return nil
		case e.Name()[0] == '.':
			c.leftover++
			return nil
		}
		switch filepath.Base(filepath.Dir(path)) {
		case "results":
			return c.readSegment(path)
		case "oracles":
			return c.readOracle(path)
		case filepath.Base(out):
			return c.readFigure(path)
		}
		return nil
	})
	return c, err
}

// readFigure takes a figure or table in. PDF files carry the time they were
// made at.
func (c *contents) readFigure(path string) error {
	if filepath.Ext(path) == ".pdf" {
		return nil
	}
	data, err := os.ReadFile(path)
	c.figures[filepath.Base(path)] = digest(data)
	return err
}

func (c *contents) readSegment(path string) error {
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

// record returns a line's key and its canonical text: all that it says but how
// long it took and which build made it, with every digit as written.
func record(line []byte) (key, text string, err error) {
	var frame struct {
		V    int
		Sum  string
		Body json.RawMessage
	}
	if !bytes.HasSuffix(line, []byte("\n")) {
		return "", "", errors.New("no end")
	}
	if err := json.Unmarshal(line, &frame); err != nil {
		return "", "", err
	}
	if frame.V != 1 || frame.Sum != digest(frame.Body) {
		return "", "", errors.New("version or checksum")
	}
	body := make(map[string]json.RawMessage)
	if err := json.Unmarshal(frame.Body, &body); err != nil {
		return "", "", err
	}
	// Of the reference cells, the time is also that of the oracle.
	for _, name := range []string{"seconds", "go", "commit"} {
		delete(body, name)
	}
	var isa string
	if err := errors.Join(json.Unmarshal(body["key"], &key), json.Unmarshal(body["isa"], &isa)); err != nil {
		return "", "", err
	}
	canonical, err := json.Marshal(body) // sorted by name
	return "cell " + key + " on " + isa, string(canonical), err
}

// readOracle takes a reference in: its header without times and versions, and
// its arrays.
func (c *contents) readOracle(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parts := bytes.SplitN(data, []byte("\n"), 3)
	if len(parts) != 3 || len(parts[2]) < sha256.Size {
		c.torn = append(c.torn, path)
		return nil
	}
	arrays, sum := parts[2][:len(parts[2])-sha256.Size], parts[2][len(parts[2])-sha256.Size:]
	if whole := sha256.Sum256(data[:len(data)-sha256.Size]); !bytes.Equal(whole[:], sum) {
		c.torn = append(c.torn, path)
		return nil
	}
	var head map[string]json.RawMessage
	if err := json.Unmarshal(parts[1], &head); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	delete(head, "seconds")
	delete(head, "versions")
	canonical, err := json.Marshal(head)
	c.take("oracle "+filepath.Base(path), digest(append(canonical, arrays...)))
	return err
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
	for _, f := range g.files(".jsonl", "store", "results") {
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

// partsOfOracle is what an oracle counts: its five chains, the cross-check
// and itself.
const partsOfOracle = 7

// progress is the number of things written: records, chains of oracles.
func (g *gauge) progress() int {
	if n := len(g.files("", "store", "oracles")); n > 0 {
		return g.records() + n*partsOfOracle
	}
	return g.records() + len(g.files(".part", "store", "oracles", "parts"))
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
