package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/bench/sweep"
	"hambench/chain"
	"hambench/chain/draws"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

func sampleCommand() *cobra.Command {
	f := sampleFlags{format: "csv"}
	c := &cobra.Command{
		Use:   "sample",
		Short: "Runs chains and writes their draws.",
		Long: `csv and jsonl have one line per draw: its number, or with --chains those of the chain
and the draw, then the parameters (theta0 …), or with --predictions the predictive
values at the test inputs (f0 …): standardised targets, or class probabilities (one
per row for two classes, one per row and class for more). zarr is a folder for ArviZ
and xarray (docs/draws.md), which gets its name when it is complete. A chain starts at a typical position, found from a draw of the prior by
growing steps. Without --h the step is a quarter of the largest at which trial chains
stay finite, which takes a second or two to estimate, but at most 1/(2C). A chain
that diverges ends the run with exit code 1.`,
		Example: "hambench sample --model toy --integrator baoab --scheme replacement --K 2 --h " +
			"0.4 --friction 2 --samples 1000",
		RunE: f.run,
	}
	f.register(c, posteriorFlags+" exec-timeout")
	f.asked.Precision = "float32"
	fs := c.Flags()
	fs.StringVar(&f.Spec.Integrator, "integrator", "leapfrog", "`NAME` integrator, or split:WORD")
	fs.StringVar(&f.Spec.Estimator, "estimator", "plain",
		"`NAME` of the gradient estimator: plain, cv, svrg, svrg:M, saga")
	fs.StringVar(&f.Spec.Scheme, "scheme", "",
		"`NAME` mini-batch scheme; reshuffle if empty, full for one batch")
	fs.IntVar(&f.batch, "batch", 0,
		"`B` rows per batch (rounded so that batches differ by at most one row); 0 means all")
	fs.IntVar(&f.Spec.Batches, "K", 0, "`K` number of batches, instead of --batch")
	fs.Float64Var(&f.Spec.Params.Step, "h", 0,
		"`H` step in units of simulation time; by default it follows the largest stable one")
	fs.Float64Var(&f.Spec.Params.Friction, "friction", 5,
		"`C` friction; +Inf refreshes the momentum in full")
	fs.IntVar(&f.Spec.Params.Inner, "nl", 1, "`N` inner steps of lietrotter")
	fs.IntVar(&f.Plan.Samples, "samples", 200, "`N` draws")
	fs.IntVar(&f.Plan.Thin, "thin", 0, "`N` steps per draw; 0 means 2.5 units of time")
	fs.IntVar(&f.Plan.BurnIn, "burn", -1,
		"`N` steps before the first draw; -1 means 10 units of time")
	fs.Uint64Var(&f.Spec.Key, "seed", 1, "`N` seed of the random streams")
	oneOf(fs, &f.asked.Precision, "precision", "precision of network gradients",
		bench.Precisions...)
	oneOf(fs, &f.format, "format",
		"format: zarr goes to the folder --to, the others to standard output", draws.Names()...)
	fs.IntVar(&f.chains, "chains", 0,
		"`N` chains at once, with seeds --seed, --seed + 1 …, numbered in the output; 0 means "+
			"one, not numbered")
	fs.BoolVar(&f.coupled, "coupled", false,
		"write the differences between the draws of two chains that share their noise, at --h "+
			"and at half of it; the means estimate the bias")
	fs.StringVar(&f.to, "to", "", "`DIR` new folder, for --format zarr")
	fs.BoolVar(&f.predictions, "predictions", false,
		"write predictive values instead of parameters")
	return c
}

// sampleFlags describe chains.
type sampleFlags struct {
	selection
	draws.Chains         // Spec.Batches is --K; 0 if it is not given
	format, to           string
	batch, chains        int
	predictions, coupled bool
}

func (f *sampleFlags) run(c *cobra.Command, _ []string) error {
	ctx := c.Context()
	format, err := draws.Lookup(f.format)
	if err = cmp.Or(err, f.checkFlags(format)); err != nil {
		return err
	}
	target, err := f.openPosterior(ctx, f.asked.Precision)
	if err != nil {
		return err
	}
	if !c.Flags().Changed("h") {
		if err := f.setStep(ctx, target); err != nil {
			return err
		}
	}
	paper := chain.PaperPlan(f.Spec.Params.Step, f.Spec.Params.Inner, f.Plan.Samples)
	f.Plan.Thin = cmp.Or(f.Plan.Thin, paper.Thin)
	if f.Plan.BurnIn < 0 {
		f.Plan.BurnIn = paper.BurnIn
	}
	if err := cmp.Or(f.checkChain(), f.Plan.Check()); err != nil {
		return err
	}
	if f.Spec.Batches, err = batches(target, f.batch, f.Spec.Batches); err != nil {
		return err
	}
	if f.batch > 0 && f.batch < target.Rows() && f.Spec.Batches == 1 {
		fmt.Fprintf(f.stderr, "hambench: --batch %d of %d rows is rounded to one batch of all\n",
			f.batch, target.Rows())
	}
	f.Target = func(ctx context.Context) (models.Target, error) {
		return f.target(ctx, f.asked.Precision)
	}
	f.Note = func(note string) { fmt.Fprintln(f.stderr, "hambench: "+note) }
	if f.chains > 1 {
		told := progress(f.stderr, "sample")
		f.Progress = func(done, total int) { told(float64(done) / float64(total)) }
	}
	header, err := f.header(ctx, format, target)
	if err != nil {
		return err
	}
	w, err := draws.New(format, f.stdout, f.to, header)
	if err != nil {
		return err
	}
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

// runCoupled writes the differences of the draws of two coupled chains, and then
// what they say of the bias.
func (f *sampleFlags) runCoupled(ctx context.Context, coarse models.Target, w *draws.Writer) error {
	fine, err := f.Target(ctx)
	if err != nil {
		return err
	}
	values := 0
	bias, chance, _, err := oracle.RunCoupled(ctx, chain.Registries{}, coarse, fine, f.Spec, f.Plan,
		f.predictions, func(i int, difference []float64) error {
			values = len(difference)
			// a line has one of them
			return w.Write(draws.Draw{Index: i, Theta: difference, Predictions: difference})
		})
	if err = w.Close(err); err != nil {
		return err
	}
	fmt.Fprintf(f.stderr,
		"hambench: means at h = %.3g and at half of it differ by %.3g (root mean square over %d "+
			"values, after subtraction of %.3g by chance)\n",
		f.Spec.Params.Step, bias, values, chance)
	return nil
}

// mostChains bounds the chains that run side by side.
const mostChains = 10_000

// stableShare is the default step in units of the largest stable one: at a
// quarter a second-order scheme's error is a few percent.
const stableShare = 0.25

// tinyStep is one that all integrators take.
const tinyStep = 1e-6

// checkChain refuses a chain whose names or numbers are wrong.
func (f *sampleFlags) checkChain() error {
	s := f.Spec
	s.Batches = cmp.Or(s.Batches, 1)
	return chain.Registries{}.Check(s)
}

// setStep sets the step from the largest stable one.
func (f *sampleFlags) setStep(ctx context.Context, t models.Target) error {
	f.Spec.Params.Step = tinyStep
	if err := f.checkChain(); err != nil {
		return err
	}
	k, err := batches(t, f.batch, f.Spec.Batches)
	if err != nil {
		return err
	}
	stable, err := oracle.StableSteps(ctx, t, k)
	if err != nil {
		return err
	}
	in, err := chain.Registries{}.Integrator(f.Spec.Integrator)
	if err != nil {
		return err
	}
	largest := in.StableStep(stable[0])
	f.Spec.Params.Step = stableShare * largest
	if !math.IsInf(f.Spec.Params.Friction, 1) && !in.PositionOnly {
		f.Spec.Params.Step = min(f.Spec.Params.Step, 0.5/f.Spec.Params.Friction)
	}
	fmt.Fprintf(f.stderr, "hambench: --h %.3g, from the largest stable step, about %.3g\n",
		f.Spec.Params.Step, largest)
	return nil
}

// checkFlags refuses values out of range that no constructor sees, and flags that do
// not go with the format of the output.
func (f *sampleFlags) checkFlags(format draws.Format) error {
	switch {
	case f.Plan.Samples < 1:
		return usage.Errorf("--samples %d: want at least 1", f.Plan.Samples)
	case f.Plan.Thin < 0:
		return usage.Errorf("--thin %d: want 0 or more", f.Plan.Thin)
	case f.Plan.BurnIn < -1:
		return usage.Errorf("--burn %d: want -1 or more", f.Plan.BurnIn)
	case f.batch < 0 || f.Spec.Batches < 0:
		return usage.Errorf("--batch %d, --K %d: want 0 or more", f.batch, f.Spec.Batches)
	case f.Spec.Params.Inner < 1:
		return usage.Errorf("--nl %d: want at least 1", f.Spec.Params.Inner)
	case f.batch > 0 && f.Spec.Batches > 0:
		return usage.Errorf("--batch and --K: want one of them")
	case f.chains < 0 || f.chains > mostChains:
		return usage.Errorf("--chains %d: want 1 to %d, or 0 for one", f.chains, mostChains)
	case format.Folder && f.to == "":
		return usage.Errorf("--format %s needs --to: want the name of a new folder", f.format)
	case !format.Folder && f.to != "":
		return usage.Errorf("--to %s: %s goes to standard output", f.to, f.format)
	case format.Folder && f.predictions:
		return usage.Errorf("--predictions: --format %s holds them with the parameters", f.format)
	case f.coupled && (f.chains > 0 || format.Folder || f.Plan.Samples < 4):
		return usage.Errorf("--coupled: want --format csv or jsonl, no --chains, and 4 samples " +
			"or more")
	}
	return nil
}

// batches is the number of batches, K: the one given or, if that is 0, the one
// that follows from the size.
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
func (f *sampleFlags) header(ctx context.Context, format draws.Format,
	t models.Target) (draws.Header, error) {
	h := draws.Header{Chains: max(1, f.chains), Draws: f.Plan.Samples, Numbered: f.chains > 0,
		Dim: t.Dim(), Outputs: t.Outputs(), Predictive: f.predictions}
	split, err := f.keys.Source.Split(ctx, f.dataset, f.split)
	if err != nil {
		return h, err
	}
	h.TestX, h.TestY = split.TestX, split.TestY
	for _, label := range split.TestLabels {
		h.TestY = append(h.TestY, float64(label))
	}
	if !format.Folder {
		return h, nil
	}
	precision := f.asked.Precision
	if models.CapabilitiesOf(t).Analytic != nil { // whatever was asked for
		precision = "float64"
	}
	h.Attributes = f.Attributes(ctx)
	maps.Copy(h.Attributes, map[string]any{
		"model": f.model, "dataset": f.dataset, "split": f.split, "data_digest": split.Digest, "precision": precision,
		"inference_library_version": sweep.Commit(),
	})
	return h, nil
}
