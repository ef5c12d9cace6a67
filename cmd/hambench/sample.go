package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"time"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/chain"
	"hambench/draws"
	"hambench/models"
	"hambench/oracle"
	"hambench/sweep"
	"hambench/usage"
)

func sampleCommand() *cobra.Command {
	f := sampleFlags{precision: "float32", format: "csv"}
	c := &cobra.Command{
		Use:   "sample",
		Short: "Runs chains and writes their draws.",
		Long: `csv and jsonl have a line a draw: the sample's number, or with --chains the chain's
and the draw's, then the parameters (theta0 …), or with --predictions the predictive
values at the test inputs (f0 …): standardised targets, or class probabilities (one
per row for two classes, one per row and class for more). json, stan and zarr are for
ArviZ, xarray and Stan's tools (docs/draws.md); a folder gets its name when it is
complete. A chain starts at a typical position, found from a draw of the prior by
growing steps. Without --h the step is a quarter of the largest at which chains were
seen to stay finite, which takes a second or two to estimate, and at most 1/(2C). A
chain that diverges ends the run with exit code 1.`,
		Example: "hambench sample --model toy --integrator baoab --scheme replacement --K 2 --h 0.4 --friction 2 --samples 1000",
		RunE:    f.run,
	}
	fs := c.Flags()
	f.registerPosterior(fs)
	fs.StringVar(&f.Integrator, "integrator", "leapfrog", "`NAME` integrator, or split:WORD")
	fs.StringVar(&f.Estimator, "estimator", "plain", "`NAME` of the gradient estimator: plain, cv, svrg, svrg:M, saga")
	fs.StringVar(&f.Scheme, "scheme", "", "`NAME` mini-batch scheme; reshuffle if empty, full for one batch")
	fs.IntVar(&f.batch, "batch", 0, "`B` rows per batch (rounded so that batches differ by one row at most); 0 is all")
	fs.IntVar(&f.Batches, "K", 0, "`K` number of batches, instead of --batch")
	fs.Float64Var(&f.Params.Step, "h", 0, "`H` step in units of simulation time; by default it follows the largest stable one")
	fs.Float64Var(&f.Params.Friction, "friction", 5, "`C` friction; +Inf refreshes the momentum in full")
	fs.IntVar(&f.Params.Inner, "nl", 1, "`N` inner steps of lietrotter")
	fs.IntVar(&f.samples, "samples", 200, "`N` draws")
	fs.IntVar(&f.thin, "thin", 0, "`N` steps per draw; 0 is 2.5 units of time")
	fs.IntVar(&f.burn, "burn", -1, "`N` steps before the first draw; -1 is 10 units of time")
	fs.Uint64Var(&f.Key, "seed", 1, "`N` seed of the random streams")
	oneOf(fs, &f.precision, "precision", "precision of network gradients", bench.Precisions...)
	oneOf(fs, &f.format, "format", "format: stan and zarr go to the folder --to, the others to standard output", draws.Names()...)
	fs.IntVar(&f.chains, "chains", 0, "`N` chains at once, with seeds --seed, --seed + 1 …; their lines say which; 0 is one whose lines do not")
	fs.BoolVar(&f.coupled, "coupled", false, "write the differences of the draws of two chains, at --h and at half of it, that share their noise; their means estimate the bias")
	fs.StringVar(&f.to, "to", "", "`DIR` new folder, for --format stan and zarr")
	fs.BoolVar(&f.predictions, "predictions", false, "write predictive values instead of parameters")
	registerData(fs, &f.data)
	registerTimeout(fs, &f.timeout)
	return c
}

// sampleFlags describe one chain.
type sampleFlags struct {
	chain.Spec // Batches is --K; 0 if it is not given
	posterior
	format, precision, data, to string
	batch, samples, thin, burn  int
	chains                      int
	predictions, stepGiven      bool
	coupled                     bool
	source                      *models.Source
	timeout                     time.Duration
}

func (f *sampleFlags) run(c *cobra.Command, _ []string) error {
	ctx, stdout, stderr := c.Context(), c.OutOrStdout(), c.ErrOrStderr()
	f.stepGiven = c.Flags().Changed("h")
	if err := cmp.Or(f.check(), f.checkCoupled()); err != nil {
		return err
	}
	keys, err := f.keys(f.data)
	if err != nil {
		return err
	}
	f.source = keys.Source
	f.source.Processes.Timeout = f.timeout
	defer f.source.Close()
	load := func(ctx context.Context) (models.Target, error) {
		return f.target(ctx, f.source, models.Options{Precision: f.precision})
	}
	target, err := load(ctx)
	if err != nil {
		return err
	}
	if err := f.setStep(ctx, target, stderr); err != nil {
		return err
	}
	plan := f.plan()
	if err := cmp.Or(f.checkChain(), plan.Check()); err != nil {
		return err
	}
	if f.Batches, err = f.batches(target); err != nil {
		return err
	}
	chains := draws.Chains{Target: load, Spec: f.Spec, Plan: plan}
	chains.Note = func(note string) { fmt.Fprintln(stderr, "hambench: "+note) }
	if f.chains > 1 {
		told := progress(stderr, "sample")
		chains.Progress = func(done, total int) { told(float64(done) / float64(total)) }
	}
	w, err := f.writer(ctx, stdout, target, chains)
	if err != nil {
		return err
	}
	if f.coupled {
		return f.runCoupled(ctx, stderr, target, chains, w)
	}
	written, n, err := chains.Run(ctx, w)
	err = w.Close(err)
	var diverged *chain.DivergedError
	switch all := plan.Samples * max(1, f.chains); {
	case errors.As(err, &diverged):
		return fmt.Errorf("%w: after %d of %d draws; a smaller --h may help", err, written, all)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted after %d of %d draws: %w", written, all, err)
	case err != nil:
		return err
	}
	fmt.Fprintf(stderr, "hambench: %d draws, %d steps, %d gradients, %d Hessian-vector products", written, n.Steps, n.Gradients, n.HessianVectors)
	if n.FullGradients > 0 {
		fmt.Fprintf(stderr, ", %d gradients of all data", n.FullGradients)
	}
	fmt.Fprintln(stderr)
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
	return chain.Registry{}.Check(f.spec(cmp.Or(f.Batches, 1)))
}

// setStep sets the step, where none was given, from the largest stable one.
func (f *sampleFlags) setStep(ctx context.Context, t models.Target, stderr io.Writer) error {
	if f.stepGiven {
		return nil
	}
	f.Params.Step = tinyStep
	if err := f.checkChain(); err != nil {
		return err
	}
	k, err := f.batches(t)
	if err != nil {
		return err
	}
	stable, err := oracle.StableSteps(ctx, t, k)
	if err != nil {
		return err
	}
	in, err := chain.Registry{}.Integrator(f.Integrator)
	if err != nil {
		return err
	}
	largest := in.StableStep(stable[0])
	f.Params.Step = stableShare * largest
	if !math.IsInf(f.Params.Friction, 1) && !in.PositionOnly {
		f.Params.Step = min(f.Params.Step, 0.5/f.Params.Friction)
	}
	fmt.Fprintf(stderr, "hambench: --h %.3g, from the largest stable step, about %.3g\n", f.Params.Step, largest)
	return nil
}

// check refuses values out of range that no constructor sees.
func (f *sampleFlags) check() error {
	switch {
	case f.samples < 1:
		return usage.Errorf("--samples %d: want at least 1", f.samples)
	case f.thin < 0:
		return usage.Errorf("--thin %d: want 0 or more", f.thin)
	case f.burn < -1:
		return usage.Errorf("--burn %d: want -1 or more", f.burn)
	case f.batch < 0 || f.Batches < 0:
		return usage.Errorf("--batch %d, --K %d: want 0 or more", f.batch, f.Batches)
	case f.timeout <= 0:
		return usage.Errorf("--exec-timeout %v: want more than 0", f.timeout)
	case f.Params.Inner < 1:
		return usage.Errorf("--nl %d: want at least 1", f.Params.Inner)
	case f.batch > 0 && f.Batches > 0:
		return usage.Errorf("--batch and --K: want one of them")
	case f.chains < 0 || f.chains > mostChains:
		return usage.Errorf("--chains %d: want 1 to %d, or 0 for one", f.chains, mostChains)
	}
	format, err := draws.Lookup(f.format)
	switch {
	case err != nil:
		return fmt.Errorf("--format: %w", err)
	case format.Folder && f.to == "":
		return usage.Errorf("--format %s needs --to: want the name of a new folder", f.format)
	case !format.Folder && f.to != "":
		return usage.Errorf("--to %s: %s goes to standard output", f.to, f.format)
	case format.Groups && f.predictions:
		return usage.Errorf("--predictions: --format %s holds them beside the parameters", f.format)
	}
	return nil
}

// batches is the number of batches, K.
func (f *sampleFlags) batches(t models.Target) (int, error) {
	if f.batch > t.Rows() {
		return 0, usage.Errorf("--batch %d exceeds the %d training rows: want at most as many, or 0 for all", f.batch, t.Rows())
	}
	if f.Batches > t.Rows() {
		return 0, usage.Errorf("--K %d exceeds the %d training rows: want at most as many", f.Batches, t.Rows())
	}
	if f.Batches > 0 {
		return f.Batches, nil
	}
	return chain.Batches(t.Rows(), f.batch), nil
}

// spec is the chain with a number of batches.
func (f *sampleFlags) spec(batches int) chain.Spec {
	s := f.Spec
	s.Batches = batches
	return s
}

// plan fills in the paper's times.
func (f *sampleFlags) plan() chain.Plan {
	p := chain.PaperPlan(f.Params.Step, f.Params.Inner, f.samples)
	if f.thin > 0 {
		p.Thin = f.thin
	}
	if f.burn >= 0 {
		p.BurnIn = f.burn
	}
	return p
}

// writer is where the draws go, with what is known before the first.
func (f *sampleFlags) writer(ctx context.Context, stdout io.Writer, t models.Target, chains draws.Chains) (*draws.Writer, error) {
	format, err := draws.Lookup(f.format)
	if err != nil {
		return nil, err
	}
	split, err := f.source.Split(ctx, f.dataset, f.split)
	if err != nil {
		return nil, err
	}
	h := draws.Header{Chains: max(1, f.chains), Draws: f.samples, Numbered: f.chains > 0, Dim: t.Dim(), Outputs: t.Outputs(), Predictive: f.predictions}
	h.Test = draws.Test{X: split.TestX, Y: split.TestY}
	for _, label := range split.TestLabels {
		h.Test.Y = append(h.Test.Y, float64(label))
	}
	precision := f.precision
	if _, known := t.(models.Analytic); known { // whatever was asked for
		precision = "float64"
	}
	if format.Stats {
		h.Attributes = chains.Attributes(ctx)
		maps.Copy(h.Attributes, map[string]any{
			"model": f.model, "dataset": f.dataset, "split": f.split, "data_digest": split.Digest, "precision": precision,
			"inference_library_version": sweep.Commit(),
		})
	}
	return draws.New(format, stdout, f.to, h)
}
