package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hambench/chain/draws"
	"hambench/compare"
	"hambench/compare/page"
	"hambench/internal/input"
	"hambench/internal/table"
	"hambench/usage"
)

// scorecard judges a folder of posteriors, a folder each: a file or store whose name begins with
// reference, and sets of draws in any others whose ending is that of a format. With posteriordb, a
// posterior without reference has that of its name. It is an error if any draws are refused or, if
// none are, if some are bad input, or decide nothing.
func (f *selection) scorecard(folder string, o judgeOptions) error {
	posteriors, err := os.ReadDir(folder)
	if err != nil {
		return usage.Errorf("scorecard: %w", err)
	}
	var rows []page.Row
	for _, p := range posteriors {
		if !input.IsFolder(filepath.Join(folder, p.Name())) || strings.HasPrefix(p.Name(), ".") {
			continue
		}
		own, err := f.scored(filepath.Join(folder, p.Name()), p.Name(), o)
		if err != nil {
			return err
		}
		rows = append(rows, own...)
	}
	if rows == nil {
		return usage.Errorf("scorecard: no draws in %s: want a folder for each posterior, with a "+
			"reference and draws", folder)
	}
	err = errors.Join(f.printScorecard(rows, o), o.writePage(rows))
	// The gravest verdict decides the exit code: its first row is named.
	for _, bad := range failures {
		for _, r := range rows {
			if r.Verdict == bad.verdict && err == nil {
				err = fmt.Errorf("%s, %s: %w: %s", r.Posterior, r.Of, bad.is, r.Why)
			}
		}
	}
	return err
}

// unreadable stands for the verdict on draws that are bad input: those beside them are judged.
const unreadable = "bad input"

// scoredEndings are those of files of draws in a scorecard, where notes and scripts may stand, too.
var scoredEndings = []string{".csv", ".jsonl", ".json", ".json.zip"}

// scored judges the draws of one posterior, which are in a folder of the posterior's name: each
// file or store in it that is no reference is a row, and chains of one sampler are one file.
func (f *selection) scored(folder, name string, o judgeOptions) (rows []page.Row, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var references, own []string
	for _, file := range files {
		ending := func(e string) bool { return strings.HasSuffix(file.Name(), e) }
		if strings.HasPrefix(file.Name(), ".") ||
			!input.IsFolder(filepath.Join(folder, file.Name())) &&
				!slices.ContainsFunc(scoredEndings, ending) {
			continue
		}
		to := &own
		if strings.HasPrefix(file.Name(), "reference") {
			to = &references
		}
		*to = append(*to, filepath.Join(folder, file.Name()))
	}
	if err := o.refuseRead(slices.Concat(references, own)); err != nil {
		return nil, err
	}
	// A reference that is missing or cannot be read makes a row for each file: other posteriors are
	// judged.
	var ref compare.Side
	references, unread := o.referencesOf(references, name)
	switch {
	case unread == nil && references == nil:
		unread = usage.Errorf("%s has no file whose name begins with reference", folder)
	case unread == nil:
		ref, unread = draws.Read(o.ctx, references, nil)
	}
	for _, file := range own {
		var r compare.Report
		if err = unread; err == nil {
			r, err = judgeFiles(ref, []string{file}, o)
		}
		if bad := new(usage.Error); errors.As(err, &bad) {
			r = compare.Report{Verdict: unreadable, Why: err.Error(),
				Columns: []compare.Column{}, Power: []compare.Power{}}
		} else if err != nil {
			return nil, err
		}
		rows = append(rows, page.Row{Posterior: name, Of: filepath.Base(file), Report: r})
	}
	return rows, nil
}

// judgeFiles compares the draws of files with those of a reference.
func judgeFiles(ref compare.Side, files []string, o judgeOptions) (r compare.Report, err error) {
	own, err := o.read(files, nil)
	if err != nil {
		return r, err
	}
	return compare.Sides(ref, own)
}

// printScorecard prints a line for each set of draws.
func (f *selection) printScorecard(rows []page.Row, o judgeOptions) error {
	if o.asJSON {
		return printJSON(f.stdout, "  ", rows)
	}
	var lines [][]string
	for _, r := range rows {
		cost := ""
		if r.PerGradients > 0 {
			cost = number(r.PerGradients)
		}
		lines = append(lines, []string{r.Posterior, r.Of, r.Words(), fmt.Sprint(r.Draws.Draws),
			effective(r.Draws), cost, r.Why})
	}
	return table.Write(f.stdout, []string{"posterior", "draws", "verdict", "number", "effective",
		"per 1000 gradients", "why"}, lines)
}
