package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"hambench/bench"
	"hambench/internal/table"
	"hambench/usage"
)

var runCommand = &command{
	name:  "run",
	about: "Runs a study of one's own: a question in a file.",
	usage: "FILE",
	detail: `The file says what varies, what is fixed, and how it is shown (docs/studies.md);
a name without .toml is that of a built-in study. As reproduce does, it computes
what is missing in --out, then draws: a run that was stopped continues where it
stopped.`,
	example: "hambench run examples/study/splittings.toml --profile quick --dry-run",
	run:     runRun,
}

func runRun(ctx context.Context, c *command, stdout, stderr io.Writer, args []string) error {
	r := &reproduction{stdout: stdout, stderr: stderr}
	fs := c.flagSet()
	r.register(fs, storeFlags+" "+datasetFlags+" "+chainFlags+" "+modeFlags)
	profile := fs.Lookup("profile")
	profile.DefValue, profile.Usage = "", "`NAME` of one of the file's profiles; the file as it is if empty"
	rest, err := c.parse(fs, stdout, args)
	if err != nil {
		return err
	}
	if err := r.takeStudy(c, fs, rest); err != nil {
		return err
	}
	r.gridGiven = true // --within leaves out data sets: which of a file's profiles is finer is not known
	return r.carryOut(ctx)
}

// takeStudy makes the study that the arguments name the selection's. Its
// profiles are its own: none is taken unless it was asked for.
func (f *selection) takeStudy(c *command, fs *flag.FlagSet, args []string) (err error) {
	if f.study, err = oneStudy(c, args); err != nil {
		return err
	}
	f.only = f.study.ID
	if !given(fs, "profile") {
		f.profile = ""
	}
	return nil
}

// oneStudy reads the study that the arguments name.
func oneStudy(c *command, args []string) (*bench.File, error) {
	if len(args) != 1 {
		return nil, usage.Errorf("%s: %d files named: want one", c.name, len(args))
	}
	return bench.Load(args[0], bench.Parts{})
}

var studyCommand = &command{
	name:    "study",
	about:   "Lists, shows and checks studies.",
	example: "hambench study show methods",
	sub: []*command{
		{name: "list", about: "Lists the built-in studies.", example: "hambench study list", run: runStudyList},
		{name: "show", about: "Prints a study's file, to start from.", usage: "NAME", example: "hambench study show methods", run: runStudyShow},
		{
			name: "check", about: "Checks a study and says what it would run in each profile. No data are fetched, nothing is written.", usage: "FILE",
			example: "hambench study check examples/study/splittings.toml", run: runStudyCheck,
		},
	},
}

func runStudyList(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	if _, err := c.parse(c.flagSet(), stdout, args); err != nil {
		return err
	}
	lists, err := listings()
	if err != nil {
		return err
	}
	for _, l := range lists {
		if l.name == "studies" {
			err = table.Write(stdout, l.header, l.rows)
		}
	}
	return err
}

func runStudyShow(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	rest, err := c.parse(c.flagSet(), stdout, args)
	if err != nil {
		return err
	}
	f, err := oneStudy(c, rest)
	if err == nil {
		_, err = stdout.Write(f.Text)
	}
	return err
}

func runStudyCheck(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	rest, err := c.parse(c.flagSet(), stdout, args)
	if err != nil {
		return err
	}
	f, err := oneStudy(c, rest)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, name := range append([]string{""}, f.Profiles()...) {
		s, err := f.Study(bench.Profile{Name: name})
		if err != nil {
			return err
		}
		if name == "" {
			name = asItIs
		}
		rows = append(rows, []string{
			name, fmt.Sprint(len(s.Cells) + len(s.Choices)), fmt.Sprint(len(s.Exact)), fmt.Sprint(len(s.References)), strings.Join(used([]bench.Study{s}), ", "),
		})
	}
	fmt.Fprintf(stdout, "%s: %s\n", f.ID, f.Title)
	return table.Write(stdout, []string{"profile", "cells", "exact jobs", "references", "data"}, rows)
}
