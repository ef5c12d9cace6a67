package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/bench"
	"hambench/bench/sweep"
	"hambench/chain"
	"hambench/chain/draws"
	"hambench/integrators/noise"
	"hambench/internal/fingerprint"
	"hambench/internal/input"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

// sampleCommand returns the command that runs chains and writes their draws. It keeps nothing
// in a store. Its flags are those of the settings' declarations, and of what is done with the
// draws.
func sampleCommand() *cobra.Command {
	f := sampleFlags{format: "csv"}
	c := &cobra.Command{
		Use:   "sample",
		Short: "Runs chains and writes their draws.",
		Long: `csv and jsonl have one line per draw: its number, or with --chains those of the chain
and the draw, then the parameters (theta0 …), or with --predictions the predictive
values at the test inputs (f0 …): means of standardised targets, or class probabilities
(one per row for two classes, one per row and class for more). zarr is a folder for
ArviZ and xarray (docs/draws.md), which gets its name when it is complete. A chain starts
at a typical position, found from a draw of the prior by growing steps; the chains of
studies start at the truth, as with --start truth: an exact draw or, of a posterior
that is not known, the end of one of its reference chains. Without --h
the step is a quarter of the largest at which trial chains, of lietrotter, too, stay
finite, which takes a second or two to estimate, but at most 1/(2C) of a friction that
is finite. A chain that diverges ends the run with exit code 1.`,
		Example: "hambench sample --model toy --integrator baoab --scheme replacement --K 2 --h " +
			"0.4 --friction 2 --samples 1000",
		RunE: f.run,
	}
	// --out is where --start truth finds or makes reference chains that do not come with the
	// program. Draws never go there.
	f.register(c, posteriorFlags+" exec-timeout out")
	fs := c.Flags()
	// After the shared flags: a setting whose flag is one of these is not declared again.
	f.registerSettings(fs)
	oneOf(fs, &f.format, "format",
		"format: zarr goes to the folder --to, the others to standard output", draws.Names()...)
	fs.IntVar(&f.chains, "chains", 0, "`N` chains at once, with seeds --seed, --seed + 1 …, "+
		"numbered in the output; 0 means one, not numbered")
	fs.BoolVar(&f.coupled, "coupled", false, "write the differences between the draws of two "+
		"chains that share their noise, at --h and at half of it; the means estimate the bias")
	fs.StringVar(&f.to, "to", "", "`DIR` new folder, for --format zarr")
	fs.BoolVar(&f.predictions, "predictions", false,
		"write predictive values instead of parameters")
	exclusive(c, "K batch", "coupled chains")
	return c
}

// sampleFlags holds the command's flags and the chains that they describe.
type sampleFlags struct {
	selection
	// cell holds the settings that flags state. What is 0 or "" in it depends on the target, and is
	// filled in by describe. Settings and defaults are those of a study's cell, but for the default
	// of start.
	cell bench.Cell
	// Chains is described by cell and the target.
	draws.Chains
	format, to  string // to: the new folder of a format that is one
	chains      int    // 0: one chain, whose lines have no number
	predictions bool   // in place of parameters
	coupled     bool
}

// registerSettings adds a flag for each setting that has one and is no shared flag.
// So a setting that is declared in package bench is a flag here without a line in this file.
// Defaults are those of the declarations.
func (f *sampleFlags) registerSettings(fs *pflag.FlagSet) {
	for _, s := range bench.Settings() {
		if s.Flag == "" || fs.Lookup(s.Flag) != nil {
			continue
		}
		v := &parsedValue{words: s.Words, read: func(text string) error {
			return s.Set(&f.cell, text) // its error says which values the declaration allows
		}}
		// s.Default itself must not change: Set leaves a value that equals it out of the cell.
		usual := s.Default
		if usual == oracle.AtTruth { // which a posterior may have to be sampled for first
			usual = oracle.AtTypical
		}
		if usual != nil {
			if err := v.Set(fmt.Sprint(usual)); err != nil {
				panic(fmt.Sprintf("hambench: default of --%s: %v", s.Flag, err)) // tests read all
			}
		}
		about := s.About
		if s.Words != nil {
			about = wordUsage(about, s.Words)
		}
		fs.Var(v, s.Flag, about)
	}
}

// run runs the chains and writes their draws. Flags become a cell, the cell and the target the
// description of chains, and these write to a format's writer, whose header has to be known before
// the first draw.
// Draws that were written before a failure stay, as far as the format allows; the line on
// standard error counts them.
func (f *sampleFlags) run(c *cobra.Command, _ []string) error {
	ctx := c.Context()
	format, err := draws.Lookup(f.format)
	if err = cmp.Or(err, f.checkFlags(format)); err != nil {
		return err
	}
	target, err := f.openPosterior(ctx, f.cell.Precision)
	if err != nil {
		return err
	}
	if err := f.describe(ctx, target); err != nil {
		return err
	}
	header, err := f.header(ctx, format, target)
	if err != nil {
		return err
	}
	w, err := draws.New(format, f.stdout, f.to, header)
	if err != nil {
		return err
	}
	// From here on w must be closed, which also removes the draft of a folder.
	if f.coupled {
		return f.runCoupled(ctx, target, w)
	}
	written, n, err := f.Run(ctx, w)
	err = w.Close(err)
	var diverged *chain.DivergedError
	switch all := f.Plan.Samples * header.Chains; {
	case errors.As(err, &diverged):
		return fmt.Errorf("%w: after %d of %d draws; a smaller --h may help", err, written, all)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted after %d of %d draws: %w", written, all, err)
	case err != nil:
		return err
	}
	fmt.Fprintf(f.stderr, "hambench: %d draws, %d steps, %d gradients, %d Hessian-vector products",
		written, n.Steps, n.Gradients, n.HessianVectors)
	if n.FullGradients > 0 {
		fmt.Fprintf(f.stderr, ", %d gradients of all data", n.FullGradients)
	}
	fmt.Fprintln(f.stderr)
	return nil
}

// describe completes the cell by what follows from the target, as in the paper, and
// describes the chains by it.
func (f *sampleFlags) describe(ctx context.Context, t models.Target) (err error) {
	// The order matters: the number of batches decides the scheme, both decide the largest stable
	// step, and the step decides the thinning and the burn-in.
	cell := &f.cell
	cell.Dataset, cell.Split, cell.Model = f.dataset, f.split, f.model
	if models.CapabilitiesOf(t).Analytic != nil { // whatever was asked for
		cell.Precision = "float64"
	}
	if cell.Batches, err = batches(t, cell.BatchSize, cell.Batches); err != nil {
		return err
	}
	if cell.BatchSize > 0 && cell.BatchSize < t.Rows() && cell.Batches == 1 {
		f.note("--batch %d of %d rows is rounded to one batch of all", cell.BatchSize, t.Rows())
	}
	if cell.BatchSize == 0 && cell.Batches > 1 { // K was given
		cell.BatchSize = t.Rows() / cell.Batches
	}
	cell.Scheme = cmp.Or(cell.Scheme, chain.DefaultScheme(cell.Batches))
	f.Spec = cell.Chain()
	f.Spec.Key = cell.Seed
	// A start that cannot be read is refused before the search for the step, and read once: it may
	// be a pipe.
	fixed, err := input.Await(ctx, func() ([]float64, error) {
		return chain.FixedStart(cell.Start(), t)
	})
	if err != nil {
		return err
	}
	f.Spec.Centre = fixed // of a localisation
	if t, err = f.Spec.Tempered(t); err != nil {
		return err
	}
	if cell.Step == 0 {
		step, largest, err := f.DefaultStep(ctx, t)
		if err != nil {
			return err
		}
		cell.Step, f.Spec.Params.Step = step, step
		// DefaultStep takes the smaller of the two.
		of := "a quarter of the largest stable step"
		if 4*step < largest {
			of = "1/(2C), less than " + of
		}
		f.note("--h %.3g, %s, about %.3g", step, of, largest)
	}
	f.Plan = chain.PaperPlan(cell.Step, cell.Samples)
	f.Plan.Thin = cmp.Or(cell.Thin, f.Plan.Thin)
	f.Plan.BurnIn = max(0, cmp.Or(cell.BurnIn, f.Plan.BurnIn)) // NoBurnIn is below 0
	cell.Thin, cell.BurnIn = f.Plan.Thin, f.Plan.BurnIn
	// Chains make their targets themselves, after t, which served to describe them.
	f.Target = func(ctx context.Context) (models.Target, error) {
		t, err := f.target(ctx, cell.Precision)
		if err != nil {
			return nil, err
		}
		return f.Spec.Tempered(t)
	}
	if err := f.setStart(ctx, fixed); err != nil {
		return err
	}
	f.Note = func(note string) { f.note("%s", note) }
	if f.chains > 1 {
		told := progress(f.stderr, "sample")
		f.Progress = func(done, total int) { told(float64(done) / float64(total)) }
	}
	return cmp.Or(chain.Registries{}.Check(f.Spec), f.Plan.Check())
}

// setStart says where the chains start: at a fixed position, if there is one. A truth that they
// start at is the exact posterior, or the reference that judge would use.
func (f *sampleFlags) setStart(ctx context.Context, fixed []float64) error {
	var truth oracle.Truth // stays nil for other starts, which need none
	if f.cell.Start() == oracle.AtTruth {
		t, err := f.Target(ctx)
		if err != nil {
			return err
		}
		switch {
		case models.CapabilitiesOf(t).Analytic != nil:
			truth, err = oracle.NewAnalytic(f.model, t)
		case models.Tempered(t):
			err = usage.Errorf("--start %s: the tempered posterior of model %q is not known: "+
				"want another start", oracle.AtTruth, f.model)
		default:
			f.asked.Name = bench.Profiles()[0].Name // of which a reference takes nothing
			truth, _, err = f.reference(ctx, false)
		}
		if err != nil {
			return err
		}
	}
	f.Start = func(ctx context.Context, t models.Target, key uint64) ([]float64, error) {
		if fixed != nil {
			return slices.Clone(fixed), nil
		}
		if f.cell.Start() == oracle.AtTypical {
			key = warmUpKey(key)
		}
		return oracle.StartAt(ctx, f.cell.Start(), t, truth, key)
	}
	return nil
}

// warmUpKey is the key of a seed's warm-up, whose rungs count on from it as seeds do: those of
// neighbouring seeds would share random numbers.
func warmUpKey(seed uint64) uint64 {
	return noise.KeyOf(fingerprint.Bytes(strconv.AppendUint(nil, seed, 10)))
}

// runCoupled writes the differences of the draws of two coupled chains, and then
// what they say of the bias.
// Both chains have a target of their own, since a target serves one chain.
func (f *sampleFlags) runCoupled(ctx context.Context, coarse models.Target, w *draws.Writer) error {
	fine, err := f.Target(ctx)
	if err != nil {
		return err
	}
	values := 0 // in a difference
	spec := f.Spec
	spec.Key = warmUpKey(spec.Key)
	bias, chance, _, err := oracle.RunCoupled(ctx, chain.Registries{}, coarse, fine, spec, f.Plan,
		f.predictions, func(i int, difference []float64) error {
			values = len(difference)
			// a line has one of them
			return w.Write(draws.Draw{Index: i, Theta: difference, Predictions: difference})
		})
	if err = w.Close(err); err != nil {
		return err
	}
	f.note("means at h = %.3g and at half of it differ by %.3g (root mean square over %d "+
		"values, after subtraction of %.3g by chance)",
		f.Spec.Params.Step, bias, values, chance)
	return nil
}

// mostChains bounds the chains that run side by side, each of which has a target and its work
// space.
const mostChains = 10_000

// checkFlags refuses flags that do not go with each other or with the format.
func (f *sampleFlags) checkFlags(format draws.Format) error {
	switch {
	case f.chains < 0 || f.chains > mostChains:
		return usage.Errorf("--chains %d: want 1 to %d, or 0 for one", f.chains, mostChains)
	case format.Folder && f.to == "":
		return usage.Errorf("--format %s needs --to: want the name of a new folder", f.format)
	case !format.Folder && f.to != "":
		return usage.Errorf("--to %s: %s goes to standard output", f.to, f.format)
	case format.Folder && f.predictions:
		return usage.Errorf("--predictions: --format %s holds them with the parameters", f.format)
	case f.coupled && f.cell.Start() != oracle.AtTypical:
		return usage.Errorf("--start %s: coupled chains start at a typical position",
			f.cell.Start())
	case f.coupled && (format.Folder || f.cell.Samples < 4):
		return usage.Errorf("--coupled: want --format csv or jsonl, and 4 samples or more")
	}
	return nil
}

// mostInSample bounds the predictions of training rows in a folder, of which there are three
// arrays of float64: 1.2 GB.
const mostInSample = 50_000_000

// batches is the number of batches, K: the one given or, if that is 0, the one
// that follows from the size.
// A size above ⅔ of the rows gives one batch of all.
func batches(t models.Target, size, given int) (int, error) {
	if size > t.Rows() {
		return 0, usage.Errorf("--batch %d exceeds the %d training rows: want at most as many, "+
			"or 0 for all", size, t.Rows())
	}
	if given > t.Rows() {
		return 0, usage.Errorf("--K %d exceeds the %d training rows: want at most as many", given,
			t.Rows())
	}
	return cmp.Or(given, chain.Batches(t.Rows(), size)), nil
}

// header returns what is known before the first draw.
// Only folders have attributes: each setting with a flag, under the name of its column, and
// what Chains.Attributes finds.
func (f *sampleFlags) header(ctx context.Context, format draws.Format,
	t models.Target) (draws.Header, error) {
	h := draws.Header{Chains: max(1, f.chains), Draws: f.Plan.Samples, Numbered: f.chains > 0,
		Dim: t.Dim(), Outputs: t.Outputs(), Predictive: f.predictions}
	split, err := f.Source.Split(ctx, f.dataset, f.split)
	if err != nil {
		return h, err
	}
	if !format.Folder {
		return h, nil
	}
	h.Split = split
	// The likelihood of an external model is its own affair.
	h.Likelihood = !models.External(f.model) && draws.WholeRows(split, h.Outputs)
	h.InSample = h.Likelihood
	if n := split.TrainRows() * h.Draws * h.Chains; n > mostInSample {
		h.InSample = false
		f.note("no log_likelihood and posterior_predictive: %d draws of %d training rows would be "+
			"%d numbers, more than %d", h.Draws*h.Chains, split.TrainRows(), n, mostInSample)
	}
	// The same model on the training rows as test rows: it predicts them.
	f.Chains.InSample = func(ctx context.Context) (models.Target, error) {
		m, err := f.Models.For(f.model, f.dataset, split.Shape())
		if err != nil {
			return nil, err
		}
		return m.On(split.InSample(), models.Options{Precision: f.cell.Precision})
	}
	if named := models.CapabilitiesOf(t).Named; named != nil {
		h.Parameters = named.Parameters()
	}
	h.Attributes = f.Attributes(ctx)
	maps.Copy(h.Attributes, map[string]any{
		"data_digest": split.Digest, "inference_library_version": sweep.Version,
		"commit": cmp.Or(sweep.Commit(), "unknown"),
	})
	for _, s := range bench.Settings() {
		if s.Flag != "" {
			h.Attributes[s.Column] = s.FieldOf(f.cell)
		}
	}
	return h, nil
}
