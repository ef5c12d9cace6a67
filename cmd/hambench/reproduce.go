package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/figures"
	"hambench/figures/page"
	"hambench/internal/atomicfile"
	"hambench/internal/distinct"
	"hambench/internal/kernel"
	"hambench/internal/table"
	"hambench/models"
	"hambench/paper"
	"hambench/usage"
)

// reproduceCommand returns the command that runs and draws the built-in studies. Command run
// does the same for a file, and slurm submits either.
func reproduceCommand() *cobra.Command {
	var r reproduction
	c := &cobra.Command{
		Use:   "reproduce",
		Short: "Regenerates the figures and tables: runs what is missing, then draws.",
		Long: `Results are kept under the output folder: a run that was stopped continues
where it stopped, and nothing is computed twice. Data sets that cannot be
obtained are replaced by built-in ones, and the figures say so.`,
		Example: "hambench reproduce --profile quick --only toy,paths",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.carryOut(c.Context())
		},
	}
	r.register(c, selectionFlags+" "+datasetFlags+" "+chainFlags+" "+modeFlags)
	exclusive(c, "dry-run check figures-only")
	return c
}

// reproduction is one call of reproduce, run or slurm.
// It holds what the flags select, and the plans: studies whose jobs have keys.
type reproduction struct {
	selection
	// plans are in the order in which figures and pages show their studies.
	plans []bench.Plan
}

// carryOut does what the flags say.
// Of --dry-run, --check and --figures-only at most one is given.
func (r *reproduction) carryOut(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	switch {
	case r.dryRun:
		return r.printEstimates()
	case r.missingOnly:
		return r.checkComplete()
	case r.figuresOnly:
		return r.draw(ctx)
	}
	return r.runAndDraw(ctx)
}

// prepare opens the store and makes the plans; bad input leaves nothing behind.
// With --figures-only the plans are those that a run left in the store, so that neither data
// nor models are needed. Otherwise each job gets its key from the studies; the store is
// opened for writing, and made if need be, only if something is to be run.
func (r *reproduction) prepare(ctx context.Context) (err error) {
	if err := r.open(r.study); err != nil {
		return err
	}
	if r.study != nil {
		if err := r.keepsInput(); err != nil {
			return err
		}
	}
	if r.figuresOnly {
		// Expanded for their names' sake, and to compare them with what the store has.
		studies, err := r.studies()
		if err != nil {
			return err
		}
		if r.plans, err = r.stored(); err != nil {
			return err
		}
		for _, s := range studies {
			r.noteOther(s, r.plans, "that")
		}
		r.plans = r.shown(r.plans)
		return nil
	}
	if r.plans, err = r.resolve(ctx); err != nil {
		return err
	}
	if r.dryRun || r.missingOnly { // a store that is not there is empty, and is not made
		return r.openStore(store.ReadIfThere, sweep.Here())
	}
	if err := r.openStore(store.Open, sweep.Here()); err != nil {
		return err
	}
	// Read before Save, which replaces manifests of the same studies, label and data sets: they are
	// what this run is compared with.
	earlier, err := bench.Plans(r.Store, r.label())
	if err != nil {
		return err
	}
	for _, p := range r.plans {
		r.noteOther(p.Study, earlier, "this")
	}
	// Manifests are written before any job runs, so that an interrupted run can be drawn and
	// exported from its store alone.
	return bench.Save(r.Store, sweep.MadeHere(), r.plans)
}

// keepsInput refuses a study of which the figures would replace files that it reads.
func (r *reproduction) keepsInput() error {
	studies, err := r.studies()
	if err != nil {
		return err
	}
	return refuseReplaced(r.out, r.study.Reads(studies[0]), r.study.Drawn)
}

// refuseReplaced refuses a folder if a file that is read lies in it, under a name that a file
// which is written there has.
func refuseReplaced(folder string, read []string, written func(name string) bool) error {
	there, err := os.Stat(folder)
	for _, path := range read {
		of, bad := os.Stat(filepath.Dir(path))
		if written(filepath.Base(path)) && err == nil && bad == nil && os.SameFile(of, there) {
			return usage.Errorf("%s would be replaced by what is written to %s, and is read: want "+
				"another folder or name", path, folder)
		}
	}
	return nil
}

// shown has the plans of a store shown as their studies' files say now: those of built-in
// studies, whatever was selected, and the user's.
func (r *reproduction) shown(plans []bench.Plan) []bench.Plan {
	// How a study is shown is no part of its key: captions and panels may change after the run. A
	// file that can no longer be expanded leaves its plan as the run stored it.
	show := func(f *bench.File, p bench.Profile) {
		if s, err := f.Study(p); err == nil {
			plans = s.Shown(plans, r.Data)
		}
	}
	idOf := func(p bench.Plan) string { return p.ID }
	for _, id := range distinct.Of(bench.OnlyBuiltIn(plans), idOf) {
		if f, err := bench.Load(id, bench.Parts{}); err == nil {
			show(f, bench.Profile{})
		}
	}
	if r.study != nil && !r.study.BuiltIn() {
		show(r.study, r.asked)
	}
	return plans
}

// runAndDraw computes what is missing and draws. Figures are drawn from what
// there is, even if some jobs failed.
// While it runs, the page is written once a minute from what is there. An interrupted run is
// not drawn, so that Ctrl-C ends at once; only its page no longer says that it is under way.
func (r *reproduction) runAndDraw(ctx context.Context) error {
	r.nameKernels()
	r.Live = func(line string) {
		// A run that was killed leaves the page: the time tells.
		line += time.Now().UTC().Format(", at 15:04 UTC on 2006-01-02")
		if err := r.writePage(line); err != nil {
			fmt.Fprintf(r.stderr, "hambench: the page could not be written: %s\n", oneLine(err))
		}
	}
	summary, runErr := r.Run(ctx, r.plans)
	for _, f := range summary.Failures {
		fmt.Fprintf(r.stderr, "hambench: failed: %s: %s\n", f.Name, oneLine(f.Err))
	}
	// It was interrupted, or failed as a whole and not in single jobs.
	if errors.Is(runErr, context.Canceled) || runErr != nil && len(summary.Failures) == 0 {
		if _, err := os.Stat(pagePath(r.out)); err == nil {
			_ = r.writePage("") // the disk may be what ended the run
		}
		return runErr
	}
	drawErr := r.draw(ctx)
	fmt.Fprintln(r.stdout, describe(summary))
	r.noteMissing()
	return errors.Join(runErr, drawErr)
}

// nameKernels says which machine kernels run and, if they are plain Go, how long the
// run takes with them.
// On a machine without vector units a run may take many times as long as the documents state,
// which is said before it starts.
func (r *reproduction) nameKernels() {
	line := "kernels: " + kernel.ISA()
	took := seconds(total(r.Estimates(r.plans)).On(r.Workers))
	if kernel.ISA() == kernel.Plain().Name() && took > time.Minute {
		line += fmt.Sprintf(", plain Go: about %.0f times as slow as AVX-512, so that this run "+
			"takes about %s on %d workers; --dry-run lists what each study takes, --only and "+
			"--datasets choose", sweep.Slowness(), took.Round(time.Minute), r.Workers)
	}
	fmt.Fprintln(r.stderr, line)
}

// noteMissing names the data that could not be had.
func (r *reproduction) noteMissing() {
	if len(r.plans) > 0 && len(r.plans[0].Unavailable) > 0 {
		fmt.Fprintln(r.stdout, r.Data.MissingNote(r.plans[0].Unavailable))
	}
}

// describe is the last line of a run.
// It begins with "nothing was computed" if all results were there: scripts look for these
// words.
func describe(s sweep.Summary) string {
	// Kinds of jobs that nobody wanted are left out.
	kinds := []struct {
		name string
		sweep.Tally
	}{{"cells", s.Cells}, {"references", s.References}, {"exact jobs", s.Exact}}
	var computed, reused []string
	for _, k := range kinds {
		if k.Wanted == 0 {
			continue
		}
		reused = append(reused, fmt.Sprintf("%d %s", k.Reused, k.name))
		computed = append(computed, fmt.Sprintf("%s: computed %d, reused %d", k.name, k.Computed,
			k.Reused))
	}
	if s.Nothing() {
		return "nothing was computed: reused " + cmp.Or(strings.Join(reused, ", "), "nothing")
	}
	line := strings.Join(computed, "; ")
	if s.Diverged > 0 {
		line += fmt.Sprintf("; %d of those computed diverged", s.Diverged)
	}
	return line + "; in " + s.Elapsed.Round(time.Second).String()
}

// draw draws every study that has results, prints the tables, and says where
// the files are.
// A study that cannot be drawn does not keep the others from being drawn, unless files cannot
// be written at all. All failures are returned together.
func (r *reproduction) draw(ctx context.Context) error {
	all, err := bench.Plans(r.Store, r.label())
	if err != nil {
		return err
	}
	// Claims are decided by all plans of the profile in the store, whatever was selected.
	drawer := figures.Drawer{Results: bench.NewResults(r.Store), Dir: r.out, All: r.shown(all),
		Width: table.WidthOf(r.stdout)}
	var failed []error
	for _, p := range r.plans {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted while drawing: the same command continues in %s: %w",
				r.Store.Dir(), err)
		}
		o, err := drawer.Draw(p)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.ID, err))
			// as the others will be
			if unwritable := new(*atomicfile.Error); errors.As(err, unwritable) {
				break
			}
		}
		if err == nil || o != nil && len(o.Files) > 0 { // all but a file that cannot be made
			r.report(p.Study, o)
		}
	}
	// Claims that studies of users state; the paper's are the business of hambench claims.
	for _, d := range paper.Own(r.plans, bench.NewResults(r.Store)) {
		fmt.Fprintf(r.stdout, "claim %s: %s: %s\n  %s\n", d.ID, d.Verdict, d.Summary, d.Statement)
	}
	if err := r.writePage(""); err != nil {
		failed = append(failed, err)
	} else {
		fmt.Fprintf(r.stdout, "the page with all of it: %s\n", pagePath(r.out))
	}
	return errors.Join(failed...)
}

// pagePath is where the page is.
// It is the only file that people need to open.
func pagePath(out string) string { return filepath.Join(out, "index.html") }

// writePage writes the page of all studies of the profile that the store has.
// running is the progress of a run that goes on, "" after it.
func (r *reproduction) writePage(running string) error {
	all, err := bench.Plans(r.Store, r.label())
	if err != nil {
		return err
	}
	p := page.New(bench.Widest(r.shown(all)), bench.NewResults(r.Store))
	p.Running = running
	return writeTo(pagePath(r.out), p.Write)
}

// writeTo makes a file of what is written, whole or not at all: a browser never loads half
// of a page.
func writeTo(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	// A link keeps its place, and a device or a pipe, such as /dev/stdout, is no file to replace.
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Type()&^os.ModeDir != 0 {
		return os.WriteFile(path, b.Bytes(), 0o600) // which exists
	}
	return atomicfile.Write(path, b.Bytes())
}

// report prints what was drawn of a study: its table or title, notes, how many cells were
// there, and the files.
func (r *reproduction) report(e bench.Study, o *figures.Output) {
	fmt.Fprintf(r.stdout, "%s: %s", e.ID, cmp.Or(o.Text, e.Title+"\n"))
	for _, n := range o.Notes {
		fmt.Fprintf(r.stdout, "  note: %s\n", n)
	}
	if o.Cells < o.Of {
		fmt.Fprintf(r.stdout, "  %d of %d cells are there\n", o.Cells, o.Of)
	}
	fmt.Fprintf(r.stdout, "  %s\n\n", strings.Join(o.Files, " "))
}

// printEstimates prints what each study would cost.
// Times are of one core and of the workers of --workers; the last row, named all, has the
// sums.
func (r *reproduction) printEstimates() error {
	if r.study != nil {
		if err := printStudy(r.stdout, r.study); err != nil {
			return err
		}
	}
	// What a study shares with one before it is not in its estimate, so that estimates add up.
	estimates := r.Estimates(r.plans)
	all := total(estimates)
	rows := rowsOf(append(estimates, all), func(e sweep.Estimate) []string {
		return []string{
			e.ID, fmt.Sprint(e.Cells), fmt.Sprint(e.Missing[store.Result]),
			fmt.Sprint(e.Missing[store.Exact]), fmt.Sprint(e.Missing[store.Reference]),
			seconds(e.Seconds).String(), seconds(e.On(r.Workers)).String(),
		}
	})
	header := []string{"study", "cells", "to compute", "exact jobs", "references", "core time",
		fmt.Sprintf("time on %d workers", r.Workers)}
	if err := table.Write(r.stdout, header, rows); err != nil {
		return err
	}
	note := fmt.Sprintf("The longest chain takes %s. ", seconds(all.Longest))
	note += "What two studies share is counted in the first. Chains that diverge end early and " +
		"make it shorter."
	external := func(j bench.Job) bool { return models.External(j.Cell.Model) }
	if slices.ContainsFunc(r.plans, func(p bench.Plan) bool {
		return slices.ContainsFunc(p.Cells, external)
	}) {
		note += " The time that models in other processes take is not counted."
	}
	return table.Note(r.stdout, note)
}

// total is the sum of estimates.
// Its longest chain is the longest of all.
func total(estimates []sweep.Estimate) sweep.Estimate {
	all := sweep.Estimate{ID: "all", Missing: make(map[store.Kind]int)}
	for _, e := range estimates {
		all.Cells, all.Seconds = all.Cells+e.Cells, all.Seconds+e.Seconds
		all.Longest = max(all.Longest, e.Longest)
		for kind, n := range e.Missing {
			all.Missing[kind] += n
		}
	}
	return all
}

// seconds is a duration in whole seconds.
func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

// missing returns the jobs that the store lacks, and how many are wanted. References are not
// counted: one is missing only if cells that it judges are.
func (r *reproduction) missing() (missing []sweep.Job, wanted int) {
	for _, j := range sweep.Jobs(r.plans, r.Store) {
		if j.Kind == store.Reference {
			continue
		}
		wanted++
		if !j.Have {
			missing = append(missing, j)
		}
	}
	return missing, wanted
}

// checkComplete lists the jobs that the store lacks.
// They make an error, so that scripts can ask by the exit code.
func (r *reproduction) checkComplete() error {
	missing, wanted := r.missing()
	for _, j := range missing {
		fmt.Fprintf(r.stdout, "missing: %s: %v\n", j.Study, j)
	}
	fmt.Fprintf(r.stdout, "%d jobs are missing, of %d\n", len(missing), wanted)
	if len(missing) > 0 {
		return fmt.Errorf("incomplete: %d jobs are missing in %s", len(missing), r.Store.Dir())
	}
	return nil
}
