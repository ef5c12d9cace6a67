//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// copyOf copies the undisturbed output folder.
func (l *lab) copyOf(name string) (out string, err error) {
	out = l.folder(name)
	return out, os.CopyFS(out, os.DirFS(l.wholeOut))
}

// onlySegment returns the one file of records and its lines.
func onlySegment(out string) (path string, lines [][]byte, err error) {
	files := newGauge(out).files(".jsonl", "store", "records")
	if len(files) != 1 {
		return "", nil, fmt.Errorf("%s has %d segments: want 1", out, len(files))
	}
	data, err := os.ReadFile(files[0])
	for line := range bytes.Lines(data) {
		lines = append(lines, bytes.Clone(line))
	}
	return files[0], lines, err
}

// planted is what a test put in a segment.
type planted struct {
	what string
	line int // from 1
	text []byte
}

// planted damages a finished store between two runs. The next run must report
// each damaged line by file and number, keep a copy, leave the file as it is,
// and compute again what is gone, the reference included; a record that differs
// from another one must stop it.
func (l *lab) planted() (verdict, error) {
	v := verdict{done: "planted flipped bits in a result, in exact errors and in a reference, a repeated line, a record of version 3, a line of text and a torn tail"}
	out, err := l.copyOf("planted")
	if err != nil {
		return v, err
	}
	path, plants, err := plant(out)
	if err != nil {
		return v, err
	}
	damaged, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	reference, err := flipReference(out)
	if err != nil {
		return v, err
	}
	before, err := read(out)
	if err != nil {
		return v, err
	}
	v.before = len(before.records)
	if e := l.call(l.program, "store", "verify", "--out", out); e.code != 1 {
		return v, fmt.Errorf("store verify: exit code %d, want 1", e.code)
	}
	p, err := l.sweepInto(nil, out)
	if err != nil {
		return v, err
	}
	e := p.wait()
	if err := e.good(); err != nil {
		return v, err
	}
	for _, s := range plants {
		if !strings.Contains(e.stderr, fmt.Sprintf("%s:%d: ", path, s.line)) {
			err = errors.Join(err, fmt.Errorf("%s at %s:%d is not reported", s.what, path, s.line))
		}
		if !aside(out, s.text) {
			err = errors.Join(err, fmt.Errorf("%s is not quarantined", s.what))
		}
	}
	if !aside(out, reference) {
		err = errors.Join(err, errors.New("the damaged reference is not quarantined"))
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, damaged) {
		err = errors.Join(err, errors.New("the damaged segment was changed"))
	}
	if !strings.Contains(e.stdout, "computed 2 cells, 1 exact errors and 1 references") {
		err = errors.Join(err, fmt.Errorf("want 2 cells, the exact errors and the reference computed: %s", e.stdout[max(0, len(e.stdout)-300):]))
	}
	if err != nil {
		return v, err
	}
	c, d, err := l.compare(out)
	v.after, v.damage = len(c.records), d
	if err != nil {
		return v, err
	}
	v.done += ": found, named, quarantined, computed again; a differing record stops the run"
	return v, l.differing(out)
}

// plant damages a segment, and returns what must be reported.
func plant(out string) (path string, plants []planted, err error) {
	path, lines, err := onlySegment(out)
	if err != nil {
		return "", nil, err
	}
	last := len(lines) - 1
	if at := lastWith(lines, `"kind":"result"`); at >= 0 { // the torn line is one
		lines[at], lines[last] = lines[last], lines[at]
	}
	result := lastWith(lines[:last], `"observe":"distance","dataset":"teacher-cls"`) // it needs the reference
	exact := lastWith(lines[:last], `"kind":"exact"`)
	if result < 0 || exact < 0 {
		return "", nil, fmt.Errorf("%s has no result that needs the reference, or no exact errors", path)
	}
	for _, at := range []int{result, exact} {
		lines[at] = bytes.Clone(lines[at])
		lines[at][len(lines[at])/2] ^= 1
	}
	foreign := bytes.Replace(lines[9], []byte(`{"v":2,`), []byte(`{"v":3,`), 1)
	text := []byte("no record at all\n")
	torn := lines[last][:len(lines[last])/2]
	repeated := lines[7]
	lines = append(lines[:last], repeated, foreign, text, torn)
	plants = []planted{
		{"the flipped bit of a result", result + 1, lines[result]},
		{"the flipped bit of exact errors", exact + 1, lines[exact]},
		{"the record of version 3", last + 2, foreign},
		{"the line of text", last + 3, text},
		{"the torn tail", last + 4, torn},
	}
	return path, plants, os.WriteFile(path, bytes.Join(lines, nil), 0o644)
}

// lastWith returns the index of the last line that contains a text; -1 if none
// does.
func lastWith(lines [][]byte, text string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if bytes.Contains(lines[i], []byte(text)) {
			return i
		}
	}
	return -1
}

// flipReference flips a bit of the reference's draws and returns the bytes.
func flipReference(out string) ([]byte, error) {
	files := newGauge(out).files("", "store", "references")
	if len(files) != 1 {
		return nil, fmt.Errorf("%d references: want 1", len(files))
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	data[len(data)/2] ^= 1
	return data, os.WriteFile(files[0], data, 0o644)
}

// aside reports whether the quarantine has a file of the text.
func aside(out string, text []byte) bool {
	for _, f := range newGauge(out).files("", "store", "quarantine") {
		data, err := os.ReadFile(f)
		if err == nil && bytes.Equal(bytes.TrimSuffix(data, []byte("\n")), bytes.TrimSuffix(text, []byte("\n"))) {
			return true
		}
	}
	return false
}

// differing plants a record that is whole but has another number, and takes it
// away again.
func (l *lab) differing(out string) error {
	forged, err := forge(out)
	if err != nil {
		return err
	}
	other := filepath.Join(out, "store", "records", "zzz.jsonl")
	if err := os.WriteFile(other, forged, 0o644); err != nil {
		return err
	}
	p, err := l.sweepInto(nil, out)
	if err != nil {
		return err
	}
	if err := p.wait().failedWith(1, other+":1", "differ"); err != nil {
		return fmt.Errorf("a differing record: %w", err)
	}
	return os.Remove(other)
}

// forge returns a whole record with a valid checksum whose number differs from
// that of the store.
func forge(out string) ([]byte, error) {
	for _, f := range newGauge(out).files(".jsonl", "store", "records") {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			if _, _, err := record(line); err == nil && bytes.Contains(line, []byte(`"ks":0.`)) {
				return alter(line), nil
			}
		}
	}
	return nil, errors.New("no record to forge")
}

// alter changes a digit of a record's distance and mends its checksum.
func alter(line []byte) []byte {
	start := bytes.Index(line, []byte(`"record":`)) + len(`"record":`)
	record := bytes.Clone(line[start : len(line)-len("}\n")])
	record[bytes.Index(record, []byte(`"ks":0.`))+7] ^= 1
	return fmt.Appendf(nil, `{"v":2,"sum":"%s","record":%s}`+"\n", digest(record), record)
}

// controls plants damage in finished stores and lets the comparison count it:
// what it cannot see, the faults cannot show.
func (l *lab) controls() (verdict, error) {
	v := verdict{done: "control: one record altered (checksum mended) and one deleted; one figure and the reference altered"}
	out, err := l.copyOf("controls")
	if err != nil {
		return v, err
	}
	same, err := read(out)
	if err != nil {
		return v, err
	}
	if d := compare(l.whole, same); d.lost+d.wrong > 0 {
		return v, fmt.Errorf("a copy differs: %+v", d)
	}
	path, lines, err := onlySegment(out)
	if err != nil {
		return v, err
	}
	altered := lastWith(lines, `"ks":0.`)
	lines[altered] = alter(lines[altered])
	if err := os.WriteFile(path, bytes.Join(lines[1:], nil), 0o644); err != nil {
		return v, err
	}
	if err := l.counts(out, 1, 1); err != nil {
		return v, err
	}
	figure := filepath.Join(out, "methods.svg")
	data, err := os.ReadFile(figure)
	if err != nil {
		return v, err
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(figure, data, 0o644); err != nil {
		return v, err
	}
	if err := l.counts(out, 1, 2); err != nil {
		return v, err
	}
	if _, err := flipReference(out); err != nil { // its checksum betrays it: it counts as lost
		return v, err
	}
	if err := l.counts(out, 2, 2); err != nil {
		return v, err
	}
	v.done += ": counted as lost 1+1, wrong 1+1 as they must be; an untouched copy as"
	v.before, v.after = len(same.records), len(same.records)
	return v, nil
}

// counts checks what the comparison finds in a folder.
func (l *lab) counts(out string, lost, wrong int) error {
	c, err := read(out)
	if err != nil {
		return err
	}
	if d := compare(l.whole, c); d.lost != lost || d.wrong != wrong {
		return fmt.Errorf("the comparison counts lost %d, wrong %d: want %d, %d", d.lost, d.wrong, lost, wrong)
	}
	return nil
}
