package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hambench/bench"
	"hambench/claims"
	"hambench/datasets"
	"hambench/figures"
	"hambench/internal/atomicfile"
	"hambench/internal/table"
	"hambench/usage"
)

func reproduceCommand() *command {
	return &command{
		name:  "reproduce",
		about: "Regenerates the figures and tables: runs what is missing, then draws.",
		detail: `Results are kept under the output folder: a run that was stopped continues
where it stopped, and what is there is not computed again. Data sets that
cannot be had are replaced by built-in ones, and the figures say so.`,
		example: "hambench reproduce --profile quick --only bottleneck,toy",
		run:     runReproduce,
	}
}

// reproduction is one call of the command.
type reproduction struct {
	runFlags
	taskFlags
	dryRun, check, figuresOnly bool
	on                         string // data sets, comma-separated

	stdout, stderr io.Writer
	source         *bench.Data
	store          *bench.Store
	cache          *claims.Cache
	exps           []bench.Experiment
	unavailable    []string
	slice          bench.Shard
}

func runReproduce(ctx context.Context, c *command, stdout, stderr io.Writer, args []string) error {
	r := &reproduction{stdout: stdout, stderr: stderr}
	fs := c.flagSet()
	r.registerRun(fs)
	r.registerDatasets(fs)
	r.registerTask(fs)
	fs.BoolVar(&r.dryRun, "dry-run", false, "print what would be run and how long it would take, then stop")
	fs.BoolVar(&r.check, "check", false, "list the cells that are missing; exit code 1 if there are any")
	fs.BoolVar(&r.figuresOnly, "figures-only", false, "draw from what is there; run nothing")
	if _, err := c.parse(fs, stdout, args); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	defer r.store.Close()
	switch {
	case r.dryRun:
		return r.printEstimates(ctx)
	case r.check:
		return r.checkComplete()
	case r.figuresOnly:
		return r.draw(ctx)
	}
	return r.runAndDraw(ctx)
}

// prepare checks the flags, finds the data and opens the store; bad input
// leaves nothing behind.
func (r *reproduction) prepare(ctx context.Context) error {
	if err := r.runFlags.check(); err != nil {
		return err
	}
	profile, err := r.lookupProfile()
	if err != nil {
		return err
	}
	if r.slice, err = bench.ParseShard(r.shard); err != nil {
		return err
	}
	if r.exps, err = r.choose(profile); err != nil {
		return err
	}
	resolver, err := datasets.NewResolver(r.data)
	if err != nil {
		return err
	}
	r.source = bench.NewData(resolver)
	if r.unavailable, err = r.source.Unavailable(ctx, fromFiles(r.exps)...); err != nil {
		return err
	}
	if len(r.unavailable) > 0 {
		fmt.Fprintln(r.stderr, bench.SkippedNote(r.unavailable))
		if r.exps, err = r.choose(profile, r.unavailable...); err != nil {
			return err
		}
	}
	if err := r.checkTask(); err != nil {
		return err
	}
	return r.open()
}

// open opens the store, for reading where nothing is run, and reports what is
// newly found damaged in it.
func (r *reproduction) open() (err error) {
	open := bench.Open
	if r.dryRun || r.check || r.figuresOnly {
		open = bench.ReadIfThere
	}
	if r.store, err = open(filepath.Join(r.out, "store")); err != nil {
		return err
	}
	r.cache = certifiedRows(r.store)
	for _, t := range r.store.Troubles() {
		if !t.Known {
			fmt.Fprintf(r.stderr, "hambench: store: %v\n", t)
		}
	}
	return nil
}

// choose returns the experiments that --only and --datasets name. Sets that
// are unavailable are named by what stands in for them, too.
func (r *reproduction) choose(p bench.Profile, unavailable ...string) ([]bench.Experiment, error) {
	exps, err := bench.Select(allExperiments(p, unavailable...), splitList(r.only)...)
	if err != nil {
		return nil, err
	}
	return bench.Restrict(exps, bench.StandIns(splitList(r.on), unavailable)...)
}

// fromFiles returns the data sets of the experiments that are not built in.
func fromFiles(exps []bench.Experiment) []string {
	used := make(map[string]bool)
	for _, e := range exps {
		for _, c := range e.Cells {
			used[c.Dataset] = true
		}
		for _, choice := range e.Choices {
			used[choice[0].Dataset] = true
		}
	}
	return slices.DeleteFunc(bench.UCI(), func(name string) bool { return !used[name] })
}

// runAndDraw computes what is missing and draws. Figures are drawn from what
// there is, even if some cells failed.
func (r *reproduction) runAndDraw(ctx context.Context) error {
	if r.oracles == oraclesOnly {
		return r.buildOracles(ctx)
	}
	certifyErr := r.certify(ctx)
	if errors.Is(certifyErr, context.Canceled) {
		return r.interrupted("computing exact errors", certifyErr)
	}
	if unwritable(certifyErr) {
		return certifyErr
	}
	summary, runErr := r.runner().Run(ctx, r.exps)
	r.listFailures(summary)
	if errors.Is(runErr, context.Canceled) || runErr != nil && len(summary.Failures) == 0 { // it was ended
		return runErr
	}
	var drawErr error
	if r.slice.Count <= 1 {
		drawErr = r.draw(ctx)
	}
	fmt.Fprintln(r.stdout, describe(summary, r.cache))
	if note := bench.SkippedNote(r.unavailable); note != "" {
		fmt.Fprintln(r.stdout, note)
	}
	return errors.Join(certifyErr, runErr, drawErr)
}

// unwritable reports whether a file could not be written.
func unwritable(err error) bool {
	var file *atomicfile.Error
	return errors.As(err, &file)
}

// interrupted says how to continue.
func (r *reproduction) interrupted(while string, err error) error {
	return fmt.Errorf("interrupted while %s: the same command continues in %s: %w", while, r.store.Dir(), err)
}

// describe is the last line of a run. Oracles are opened, and counted, only
// where a cell needs them.
func describe(s bench.Summary, exact *claims.Cache) string {
	computed, reused := exact.Computed(), exact.Reused()
	if s.Nothing() && computed == 0 {
		line := fmt.Sprintf("nothing was computed: all %d cells were reused", s.Reused)
		if s.OraclesReused > 0 {
			line += fmt.Sprintf(", %d oracles", s.OraclesReused)
		}
		if reused > 0 {
			line += fmt.Sprintf(", and %d files of exact errors", reused)
		}
		return line
	}
	line := fmt.Sprintf("computed %d cells (%d diverged) and reused %d, in %s", s.Computed, s.Diverged, s.Reused, s.Elapsed.Round(time.Second))
	if s.OraclesBuilt+s.OraclesReused > 0 {
		line += fmt.Sprintf("; oracles: computed %d, reused %d", s.OraclesBuilt, s.OraclesReused)
	}
	if computed+reused > 0 {
		line += fmt.Sprintf("; exact errors: computed %d files, reused %d", computed, reused)
	}
	return line
}

// draw draws every experiment that has results, prints the tables, and says
// where the files are.
func (r *reproduction) draw(ctx context.Context) error {
	var failed []error
	for _, e := range r.exps {
		if err := ctx.Err(); err != nil {
			return r.interrupted("drawing", err)
		}
		o, err := r.drawOne(e)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", e.ID, err))
			if unwritable(err) { // as the others will be
				break
			}
			continue
		}
		r.report(e, o)
	}
	return errors.Join(failed...)
}

func (r *reproduction) drawOne(e bench.Experiment) (*figures.Output, error) {
	switch e.ID {
	case ordersID:
		return r.drawOrders()
	case claimsID:
		return r.drawClaims()
	}
	o, err := figures.Draw(e, r.store.Get, figures.Options{Dir: r.out, Profile: r.profileLabel()})
	if err == nil && e.ID == bottleneckID {
		err = r.addExactBottleneck(e, o)
	}
	return o, err
}

func (r *reproduction) report(e bench.Experiment, o *figures.Output) {
	if o.Text != "" {
		fmt.Fprintf(r.stdout, "%s: %s", e.ID, o.Text)
	} else {
		fmt.Fprintf(r.stdout, "%s: %s\n", e.ID, e.Title)
	}
	for _, n := range o.Notes {
		fmt.Fprintf(r.stdout, "  note: %s\n", n)
	}
	if o.Cells < o.Of {
		fmt.Fprintf(r.stdout, "  %d of %d cells are there\n", o.Cells, o.Of)
	}
	fmt.Fprintf(r.stdout, "  %s\n\n", strings.Join(o.Files, " "))
}

// calibrationTime is how long --dry-run measures this machine.
const calibrationTime = 10 * time.Second

// printEstimates prints what each experiment would cost.
func (r *reproduction) printEstimates(ctx context.Context) error {
	model, err := bench.Calibrate(ctx, r.source, r.exps, r.workers, calibrationTime)
	if err != nil {
		return err
	}
	estimates, err := model.Estimates(r.exps, r.slice, r.store, nil)
	if err != nil {
		return err
	}
	if err := r.addExact(estimates); err != nil {
		return err
	}
	var rows [][]string
	var total bench.Estimate
	for _, e := range estimates {
		rows = append(rows, estimateRow(e.ID, e, r.workers))
		total.Cells, total.Missing = total.Cells+e.Cells, total.Missing+e.Missing
		total.Oracles, total.Seconds = total.Oracles+e.Oracles, total.Seconds+e.Seconds
	}
	rows = append(rows, estimateRow("all", total, r.workers))
	if err := table.Write(r.stdout, []string{"experiment", "cells", "to compute", "oracles", "core time", fmt.Sprintf("time on %d workers", r.workers)}, rows); err != nil {
		return err
	}
	fmt.Fprintln(r.stdout, "What two experiments share is counted in the first. Chains that diverge end early and make it shorter.")
	return nil
}

func estimateRow(name string, e bench.Estimate, workers int) []string {
	core := time.Duration(e.Seconds * float64(time.Second))
	return []string{
		name, fmt.Sprint(e.Cells), fmt.Sprint(e.Missing), fmt.Sprint(e.Oracles),
		core.Round(time.Second).String(), (core / time.Duration(workers)).Round(time.Second).String(),
	}
}

// errIncomplete says that cells are missing.
var errIncomplete = errors.New("incomplete")

// checkComplete lists the cells of the shard that the store lacks.
func (r *reproduction) checkComplete() error {
	missing, have := 0, 0
	seen := make(map[string]bool) // what two experiments share counts once
	for _, e := range r.exps {
		there, cells := r.slice.Slice(e).Results(r.store.Get)
		for _, result := range there {
			if !seen[result.Key] {
				seen[result.Key] = true
				have++
			}
		}
		for _, c := range cells {
			if key := c.Key(); !seen[key] {
				seen[key] = true
				fmt.Fprintf(r.stdout, "missing: %s: %v\n", e.ID, c)
				missing++
			}
		}
	}
	fmt.Fprintf(r.stdout, "%d cells are there, %d are missing\n", have, missing)
	if missing > 0 {
		return fmt.Errorf("%w: %d cells are missing in %s", errIncomplete, missing, r.store.Dir())
	}
	return nil
}

// readStore opens the store of an output folder for reading.
func readStore(out string) (*bench.Store, error) {
	if out == "" {
		return nil, usage.Errorf("--out is empty: want a folder")
	}
	return bench.Read(filepath.Join(out, "store"))
}
