package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hambench/chain/draws"
	"hambench/compare"
	"hambench/compare/page"
	"hambench/internal/input"
	"hambench/internal/table"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

// judgeOptions are the flags that judge alone has.
type judgeOptions struct {
	ctx context.Context // of reading draws
	// What the draws are compared with, unless it is the posterior of a selection: files of
	// reference draws, those of a posterior in a checkout of posteriordb, or a problem of certify.
	references             []string
	posteriorDB, posterior string
	problem                string
	gradients              float64 // that all draws cost; 0 if the draws say so, or nobody does
	page, folder           string  // the file of the page; the folder of a scorecard
	asJSON                 bool
	checks                 bool // show the reference and judge nothing
	rebuild                bool // take the reference of the store, not the shipped one
}

// judgeCommand returns the command that compares draws with others, or with a posterior, or
// shows the checks of the reference chains that a posterior is known by.
func judgeCommand() *cobra.Command {
	var f selection
	var o judgeOptions
	c := &cobra.Command{
		Use:   "judge DRAWS …",
		Short: "Compares draws of any program with reference draws, or with a posterior.",
		Long: `Draws are CSV files, of Stan too: a row is a draw, and a column named chain tells the
chains of a file apart; a file without it is one chain. Or JSONL with an object a draw, zarr
folders, or the JSON of posteriordb, by the endings of their names. They are compared with the
draws of --reference, columns by name, with the exact law of --problem, or with the posterior of
--dataset, of which columns f0 … hold the predictive values at the test inputs, as
sample --predictions writes them.

Each column is compared in location, scale and shape, all of them in their correlations and
along directions; effective sizes of both sides are those of each test (docs/judge.md). Draws
of the reference's law are refused about once in a hundred times, for one look, where the
chains show their autocorrelation, and the report says what deviation these draws would have
shown. --page writes it as HTML with pictures, and --scorecard judges a folder of posteriors.
Exit code 0 if accepted, 1 if refused, 3 if they decide nothing: too few, a chain of either side
that never moved in a column, not mixed, or a reference whose chains fail a check. One chain
twice on a side is bad input, and so are elements that one side counts from 0 and the other from
1. If the draws lack columns of the reference, or are its own, the verdict says so.

References of split 0 of the UCI sets come with the program; others are taken from the store
of --out, and made there if missing, as all are with --rebuild. With --checks and no files,
judge prints what is known of them and which of their checks they pass. They are five chains
of adaptive SGHMC with the full batch, checked by a Metropolis-corrected sampler.`,
		Example: "hambench sample --dataset linear --predictions > draws.csv\n" +
			"  hambench judge --dataset linear draws.csv",
		Args: func(c *cobra.Command, files []string) error {
			if o.checks || o.folder != "" {
				return noArguments(c, files)
			}
			return cobra.MinimumNArgs(1)(c, files)
		},
		RunE: func(c *cobra.Command, files []string) error {
			// Without the flag 0 stands for a cost that nobody states. Typed, it is refused, and so
			// are infinities and NaN, of which both comparisons are false.
			stated := c.Flags().Changed("gradients")
			if stated && !(o.gradients > 0 && o.gradients <= math.MaxFloat64) {
				return usage.Errorf("--gradients %g: want a number > 0", o.gradients)
			}
			if _, err := os.Stat(filepath.Dir(o.page)); err != nil { // before minutes of work
				return usage.Errorf("--page: %w", err)
			}
			if info, err := os.Stat(o.page); err == nil && info.IsDir() {
				return usage.Errorf("--page %s: is a folder: want a file", o.page)
			}
			o.ctx = c.Context()
			if o.checks {
				return f.showReference(c.Context(), o)
			}
			if o.folder != "" {
				return f.scorecard(o.folder, o)
			}
			return f.judge(c.Context(), files, o)
		},
	}
	f.register(c, referenceFlags)
	c.Flags().StringArrayVar(&o.references, "reference", nil,
		"`FILE` of reference draws, once for each file, instead of a posterior")
	c.Flags().StringVar(&o.posteriorDB, "posteriordb", "",
		"`DIR` checkout of posteriordb, whose reference draws of --posterior are the reference")
	c.Flags().StringVar(&o.problem, "problem", "",
		"`FILE` or name of a problem of certify, whose law columns theta[1] … are compared with")
	c.Flags().StringVar(&o.posterior, "posterior", "", "`ID` posterior of --posteriordb")
	c.Flags().Float64Var(&o.gradients, "gradients", 0,
		"`N` gradients that all draws cost, for the effective size per 1000 of them")
	c.Flags().StringVar(&o.page, "page", "", "`FILE` to write the report to, as HTML with pictures")
	c.Flags().StringVar(&o.folder, "scorecard", "",
		"`DIR` folder with one for each posterior, which has a file reference… and draws")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&o.checks, "checks", false,
		"show the reference chains and their checks; judge no draws")
	c.Flags().BoolVar(&o.rebuild, "rebuild", false,
		"take reference chains from --out, made there if missing, not those of the program")
	// The draws are compared with one thing only, and flags that would have no effect are refused.
	const others = "problem reference posteriordb"
	exclusive(c, "problem posterior", "reference posterior", "scorecard problem",
		"scorecard reference", "scorecard posterior", "checks json", "checks page",
		"checks gradients", "checks posterior")
	const ofPosterior = "dataset model split noise profile precision rebuild checks"
	// What describes a posterior has no effect beside another thing to compare with, nor in a
	// scorecard, whose references are in its folders or in posteriordb.
	for _, flag := range strings.Fields(ofPosterior) {
		exclusive(c, flag+" "+others, "scorecard "+flag)
	}
	return c
}

// showReference prints the reference of the flags, which is made if it is missing.
// Checks that fail are shown as such; they are no error of the command.
func (f *selection) showReference(ctx context.Context, o judgeOptions) error {
	if err := f.namePosterior(ctx); err != nil {
		return err
	}
	ref, from, err := f.reference(ctx, o.rebuild)
	if err != nil {
		return err
	}
	return printReference(f.stdout, ref, from)
}

// judgement is a report and, of a data set's posterior, scores of the draws: what --json prints.
type judgement struct {
	compare.Report
	Scores map[string]float64 `json:"scores,omitempty"`
}

// judge reads the draws of all files as one side of a comparison, finds the other side by the
// flags, and prints what package compare says of the two.
// Draws that are refused, or decide nothing, make an error, after the report has been printed.
func (f *selection) judge(ctx context.Context, files []string, o judgeOptions) error {
	var j judgement
	var err error
	if (o.posteriorDB == "") != (o.posterior == "") {
		return usage.Errorf("one of --posteriordb and --posterior: want both, or neither")
	}
	if o.references, err = o.referencesOf(o.references, o.posterior); err != nil {
		return err
	}
	read := slices.Concat(files, o.references)
	for _, name := range []string{o.problem, f.dataset} { // or a file
		if !input.IsFolder(name) {
			read = append(read, name)
		}
	}
	if err := o.refuseRead(read); err != nil {
		return err
	}
	// exclusive sees to it that at most one of these is asked for.
	switch {
	case o.problem != "":
		j.Report, err = judgeProblem(files, o)
	case o.references != nil:
		var ref compare.Side
		if ref, err = draws.Read(ctx, o.references, nil); err == nil {
			j.Report, err = judgeFiles(ref, files, o)
		}
	case f.dataset == "" && f.model == "":
		err = usage.Errorf("nothing to compare with: want --reference, --posteriordb and " +
			"--posterior, --problem, --dataset or --model")
	default:
		j, err = f.judgePosterior(ctx, files, o)
	}
	if err != nil {
		return err
	}
	if o.asJSON {
		err = printJSON(f.stdout, "  ", j)
	} else {
		err = printJudgement(f.stdout, j)
	}
	name := cmp.Or(o.posterior, f.dataset, o.problem, strings.Join(o.references, ", "))
	err = errors.Join(err, o.writePage([]page.Row{
		{Posterior: name, Of: strings.Join(files, ", "), Report: j.Report}}))
	for _, bad := range failures {
		if err == nil && j.Verdict == bad.verdict {
			err = fmt.Errorf("%w: %s", bad.is, j.Why)
		}
	}
	return err
}

// writePage writes the report to the file of --page, if there is one.
func (o judgeOptions) writePage(rows []page.Row) error {
	if o.page == "" {
		return nil
	}
	return writeTo(o.page, func(w io.Writer) error { return page.Write(w, rows) })
}

// refuseRead refuses a page that would replace a file that is read: one of the given paths, which
// may be names of other things, or one in a folder among them, as a store of zarr is.
func (o judgeOptions) refuseRead(paths []string) error {
	replaced, err := os.Stat(o.page)
	if err != nil { // it is not there, or cannot be written either
		return nil
	}
	for _, path := range paths {
		_ = filepath.WalkDir(path, func(file string, _ fs.DirEntry, _ error) error {
			if info, there := os.Stat(file); there == nil && os.SameFile(info, replaced) {
				err = usage.Errorf("--page %s: the page would replace %s, which is read", o.page,
					file)
			}
			return nil // what cannot be read is refused by its reader
		})
	}
	return err
}

// errRefused is the error of draws that are refused. It is none of usage: the exit code is 1.
var errRefused = errors.New("not draws of this law")

// failures are the verdicts that make an error, the gravest first.
var failures = []struct {
	verdict string
	is      error
}{{compare.Refused, errRefused}, {unreadable, usage.Errorf("bad input")},
	{compare.Undecided, oracle.ErrUndecided}}

// referencesOf returns the files of a posterior's references: those given or, if there are none
// and posteriordb is, its own for the posterior.
func (o judgeOptions) referencesOf(given []string, posterior string) ([]string, error) {
	if given != nil || o.posteriorDB == "" {
		return given, nil
	}
	file, err := draws.PosteriorDB(o.posteriorDB, posterior)
	return []string{file}, err
}

// exactDraws is how many independent draws stand for an exact posterior: more than judged draws
// are worth, so that these limit what is seen.
const exactDraws = 10_000

// read reads the judged draws; columns of the names in want alone, unless it is nil.
func (o judgeOptions) read(files, want []string) (compare.Side, error) {
	own, err := draws.Read(o.ctx, files, want)
	own.Gradients = cmp.Or(o.gradients, own.Gradients)
	return own, err
}

// judgeProblem compares columns theta[1] … with the exact law of a problem of certify.
func judgeProblem(files []string, o judgeOptions) (r compare.Report, err error) {
	problems, err := findProblems(o.ctx, o.problem)
	if err != nil {
		return r, err
	}
	exact, err := problems[0].Draws(exactDraws, rand.New(rand.NewPCG(1, 0))) // pinned: one report
	if err != nil {
		return r, usage.Errorf("judge: problem %q: %w", problems[0].Name, err)
	}
	ref := compare.Side{Chains: [][][]float64{exact}, Pinned: true}
	for d := range exact {
		ref.Names = append(ref.Names, fmt.Sprintf("theta[%d]", d+1))
	}
	return judgeFiles(ref, files, o)
}

// judgePosterior compares predictive values with those of the posterior of the flags.
func (f *selection) judgePosterior(ctx context.Context, files []string, o judgeOptions) (
	j judgement, err error) {
	target, err := f.openPosterior(ctx, "")
	if err != nil {
		return j, err
	}
	exact := models.CapabilitiesOf(target).Analytic != nil
	if exact && o.rebuild {
		return j, usage.Errorf("--rebuild: the posterior of %s is known: there are no reference "+
			"chains to make", f.dataset)
	}
	// One column more is read than there should be: draws of another split, or of more classes,
	// would otherwise be judged by a part of them.
	outputs := target.Outputs()
	names := predictive(outputs + 1)
	own, err := o.read(files, names)
	if err != nil {
		return j, err
	}
	for o, name := range names {
		switch has := slices.Contains(own.Names, name); {
		case o < outputs && !has:
			return j, usage.Errorf("no column %s: want f0 to f%d, a predictive value each, as "+
				"sample --predictions writes them", name, outputs-1)
		case o == outputs && has:
			return j, usage.Errorf("there is a column %s: want f0 to f%d: are they of another "+
				"split?", name, outputs-1)
		}
	}
	own = own.Ordered(names[:outputs])
	if exact {
		j.Report, err = judgeExactly(f.model, target, own)
	} else {
		j.Report, err = f.judgeByChains(ctx, own, o.rebuild)
	}
	if err != nil {
		return j, err
	}
	// Scores are of all draws together, as rows of predictive values.
	if s := models.CapabilitiesOf(target).Scorer; s != nil {
		var rows [][]float64
		for _, chain := range own.Chains {
			rows = append(rows, transposed(chain)...)
		}
		j.Scores = s.Scores(rows)
		// Draws that diverged have scores that JSON cannot hold.
		maps.DeleteFunc(j.Scores, func(_ string, v float64) bool { return math.IsNaN(v - v) })
	}
	return j, nil
}

// judgeExactly compares predictive values with draws of the exact posterior.
func judgeExactly(model string, t models.Target, own compare.Side) (r compare.Report, err error) {
	truth, err := oracle.NewAnalytic(model, t)
	if err != nil {
		return r, err
	}
	exact := truth.Draws(exactDraws, rand.New(rand.NewPCG(1, 0))) // pinned: one report
	ref := compare.Side{Names: own.Names, Chains: [][][]float64{transposed(exact)}, Pinned: true}
	return compare.Sides(ref, own)
}

// judgeByChains compares predictive values with those of reference chains.
func (f *selection) judgeByChains(ctx context.Context, own compare.Side, rebuild bool) (
	r compare.Report, err error) {
	reference, from, err := f.reference(ctx, rebuild)
	if err != nil {
		return r, err
	}
	fmt.Fprintf(f.stderr, "judged by reference chains of %s, split %d (%s)\n", reference.Dataset,
		reference.Split, from)
	return byChains(reference, own)
}

// byChains compares predictive values with those of a reference. Its own error is allowed
// for; if it fails another check, nothing is decided.
func byChains(reference *oracle.Reference, own compare.Side) (r compare.Report, err error) {
	ref := compare.Side{Names: own.Names, OwnError: reference.OwnError.Upper, Pinned: true}
	for c := range reference.Draws {
		ref.Chains = append(ref.Chains, transposed(reference.Chain(c)))
	}
	// Reference draws that travel with the program are rounded; the judged ones are rounded alike.
	// What the draws are is left alone: their scores are of unrounded values.
	judged := make([][][]float64, len(own.Chains))
	for c, chain := range own.Chains {
		for _, column := range chain {
			judged[c] = append(judged[c], slices.Clone(column))
		}
	}
	own.Chains = judged
	oracle.Coarsen(ref.Chains, own.Chains)
	r, err = compare.Sides(ref, own)
	if unfit := reference.Unfit(); err == nil && unfit != nil {
		r.Verdict = compare.Undecided
		r.Why = "the reference chains fail a check: " + strings.Join(unfit, ", ")
	}
	return r, err
}

// predictive returns the names of n predictive values.
func predictive(n int) (names []string) {
	for o := range n {
		names = append(names, fmt.Sprintf("f%d", o))
	}
	return names
}

// transposed returns columns of rows, or rows of columns. There is at least one row.
func transposed(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows[0]))
	for j := range out {
		out[j] = make([]float64, len(rows))
		for i, row := range rows {
			out[j][i] = row[j]
		}
	}
	return out
}

// shownColumns is how many columns a report prints.
const shownColumns = 10

// printJudgement prints a report as text: the verdict, sizes and power, and the worst columns.
func printJudgement(w io.Writer, j judgement) error {
	// The verdict itself stands out; in how many columns it holds follows in small letters.
	verdict, in, _ := strings.Cut(j.Words(), " ")
	rows := [][]string{{"verdict, with 1 % false alarms",
		strings.TrimSpace(strings.ToUpper(verdict) + " " + in)}}
	for _, side := range []struct {
		of string
		compare.Size
	}{{"draws", j.Draws}, {"reference", j.Reference}} {
		own := ""
		if side.OwnError > 0 {
			own = fmt.Sprintf(", with an error of its own of %.4g", side.OwnError)
		}
		if side.WarmUp > 0 {
			own += fmt.Sprintf("; without %d of the warm-up", side.WarmUp)
		}
		rows = append(rows, []string{side.of, fmt.Sprintf("%d in chains: %d; effective: %s%s",
			side.Draws, side.Chains, effective(side.Size), own)})
	}
	if j.PerGradients > 0 {
		rows = append(rows, []string{"effective draws per 1000 gradients", number(j.PerGradients)})
	}
	for _, joint := range j.Joint {
		rows = append(rows, []string{"worst " + joint.Kind, fmt.Sprintf("%s: %v, p = %.2g",
			joint.Of, joint.Test, joint.P)})
	}
	// What these draws could have shown: without it, accepted says as much of ten draws as of many.
	for _, p := range j.Power {
		rows = append(rows, []string{"refuses " + p.Of, fmt.Sprintf("with probability %.2f; %s",
			p.Power, j.With(p))})
	}
	for _, not := range []struct {
		of    string
		names []string
	}{{"only in the reference", j.OnlyReference}, {"only in the draws", j.OnlyDraws},
		{"constant", j.Constant}} {
		if not.names != nil {
			rows = append(rows, []string{not.of, compare.Listed(not.names)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.Scores)) {
		rows = append(rows, []string{name, number(j.Scores[name])})
	}
	if err := table.Write(w, []string{"", "value"}, rows); err != nil {
		return err
	}
	rows = nil // of the second table, whose columns come the worst first
	for _, c := range j.Columns[:min(shownColumns, len(j.Columns))] {
		rows = append(rows, []string{c.Name, fmt.Sprintf("%.0f", c.Effective),
			number(c.ReferenceMean) + " ± " + number(c.ReferenceSD),
			number(c.Mean) + " ± " + number(c.SD), c.Location.String(), c.Scale.String(),
			c.Shape.String(), fmt.Sprintf("%.2g", c.P)})
	}
	if rows == nil {
		return nil
	}
	if more := len(j.Columns) - len(rows); more > 0 {
		fmt.Fprintf(w, "the worst of %d columns:\n", len(j.Columns))
	}
	return table.Write(w, []string{"column", "effective", "reference", "draws", "shift (scores)",
		"width of scores, ratio", "distribution", "p"}, rows)
}

// effective is a side's effective size; – where nothing was tested.
func effective(s compare.Size) string {
	if s.Effective == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", s.Effective)
}

// printReference prints how reference chains were made, what is known of them, and
// which of their checks they pass.
// From says where they are from; the seconds are of all chains together.
func printReference(w io.Writer, r *oracle.Reference, from string) error {
	kept, draws := len(r.Draws[0]), fmt.Sprintf("%d draws", r.Samples)
	if kept < r.Samples { // the checks are of all of them
		draws += fmt.Sprintf(", of which %d are kept", kept)
	}
	fmt.Fprintf(w, "%s, split %d: %d chains of %s, h = %g, C = %g, %d steps per draw after %d of "+
		"burn-in, %s gradients, %.0f s of chains together (%s)\n", r.Dataset, r.Split, r.Chains,
		draws, r.Step, r.Friction, r.Thin<<r.Doublings, r.BurnIn+r.Burned*r.Samples*r.Thin,
		r.Precision, r.Seconds, from)
	self, cross := r.SelfDistance(), r.CrossCheck
	fmt.Fprintf(w, "own error %.4f; with one standard error %.4f; self-distance of %d draws %.3f "+
		"(5-95 %%: %.3f-%.3f); Metropolis-corrected chain at %.3f with acceptance %.2f\n",
		r.OwnError.Distance, r.OwnError.Upper, kept, self.Mean, self.Low, self.High,
		cross.Distance, cross.Acceptance)
	var rows [][]string
	for _, d := range []struct {
		name string
		s    oracle.Summary
	}{{"lag-1 autocorrelation", r.Diagnostics.Lag1}, {"effective sample size",
		r.Diagnostics.ESS}, {"split-Rhat", r.Diagnostics.SplitRHat}} {
		rows = append(rows, []string{d.name, number(d.s.P05), number(d.s.Median), number(d.s.Mean),
			number(d.s.P95)})
	}
	if err := table.Write(w, []string{"over the predictive values", "5 %", "median", "mean",
		"95 %"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, k := range r.Checks {
		rows = append(rows, []string{k.Name, number(k.Value), number(k.Low), number(k.High),
			yes(k.Pass)})
	}
	return table.Write(w, []string{"check", "value", "from", "to", "passed"}, rows)
}

// number writes a number with four digits.
func number(x float64) string { return fmt.Sprintf("%.4g", x) }
