package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/chain"
	"hambench/datasets"
	"hambench/integrators"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

func sampleCommand() *cobra.Command {
	f := sampleFlags{precision: "float32", format: "csv"}
	c := &cobra.Command{
		Use:   "sample",
		Short: "Runs one chain and writes its draws to standard output.",
		Long: `One line a draw: the sample's number, then the parameters (theta0 …), or with
--predictions the predictive values at the test inputs (f0 …): standardised
targets, or class probabilities (one per row for two classes, one per row and
class for more). The chain starts at a typical position, found from a draw of the
prior by growing steps. Without --h the step is a quarter of the largest at which
chains were seen to stay finite, which takes a second or two to estimate, and at
most 1/(2C). A chain that diverges ends with exit code 1.`,
		Example: "hambench sample --model toy --integrator baoab --scheme replacement --K 2 --h 0.4 --friction 2 --samples 1000",
		RunE:    f.run,
	}
	fs := c.Flags()
	fs.StringVar(&f.model, "model", "", "`NAME` model, or exec:CMD for one in another process (docs/samplers.md); the data set's own if empty")
	fs.StringVar(&f.dataset, "dataset", "", "`NAME` data set; the model's own if empty")
	fs.IntVar(&f.split, "split", 0, "`I` split, from 0")
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
	oneOf(fs, &f.format, "format", "format", "csv", "jsonl")
	fs.BoolVar(&f.predictions, "predictions", false, "write predictive values instead of parameters")
	registerData(fs, &f.data)
	registerTimeout(fs, &f.timeout)
	return c
}

// sampleFlags describe one chain.
type sampleFlags struct {
	chain.Spec                              // Batches is --K; 0 if it is not given
	model, dataset, format, precision, data string
	split, batch, samples, thin, burn       int
	predictions, stepGiven                  bool
	timeout                                 time.Duration
}

func (f *sampleFlags) run(c *cobra.Command, _ []string) error {
	ctx, stdout, stderr := c.Context(), c.OutOrStdout(), c.ErrOrStderr()
	f.stepGiven = c.Flags().Changed("h")
	if err := f.check(); err != nil {
		return err
	}
	resolver, err := datasets.NewResolver(f.data)
	if err != nil {
		return err
	}
	source := models.NewSource(nil, resolver)
	source.Processes.Timeout = f.timeout
	defer source.Close()
	target, err := f.target(ctx, source)
	if err != nil {
		return err
	}
	if err := f.setStep(ctx, target, stderr); err != nil {
		return err
	}
	plan := f.plan()
	if err := f.checkChain(); err != nil {
		return err
	}
	if err := plan.Check(); err != nil {
		return err
	}
	sampler, err := f.sampler(target)
	if err != nil {
		return err
	}
	start, err := oracle.WarmUp(ctx, target, f.Key^warmUpKeys)
	if err != nil {
		return err
	}
	if note := sampler.Note(); note != "" {
		fmt.Fprintln(stderr, "hambench: "+note)
	}
	w := bufio.NewWriter(stdout)
	defer w.Flush()
	write, written := f.writer(w, target), 0
	err = sampler.Run(ctx, sampler.Start(f.Key, start), plan, func(i int, z *integrators.State) error {
		written++
		return write(i, z.Theta)
	})
	var diverged *chain.DivergedError
	switch {
	case errors.As(err, &diverged):
		return fmt.Errorf("%w: after %d of %d draws; a smaller --h may help", err, written, plan.Samples)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted after %d of %d draws: %w", written, plan.Samples, err)
	}
	n := sampler.Counts()
	fmt.Fprintf(stderr, "hambench: %d draws, %d steps, %d gradients, %d Hessian-vector products", written, n.Steps, n.Gradients, n.HessianVectors)
	if n.FullGradients > 0 {
		fmt.Fprintf(stderr, ", %d gradients of all data", n.FullGradients)
	}
	fmt.Fprintln(stderr)
	return err
}

// warmUpKeys sets the warm-up's random streams apart from the chain's.
const warmUpKeys = 1 << 63

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
	}
	return nil
}

// target finds the model and the data; each stands for the other where one
// is missing.
func (f *sampleFlags) target(ctx context.Context, source *models.Source) (models.Target, error) {
	if f.model == "" && f.dataset == "" {
		return nil, usage.Errorf("neither --model nor --dataset: want at least one (see 'hambench list')")
	}
	if f.dataset == "" {
		m, err := models.Builtin().Lookup(f.model)
		if err != nil {
			return nil, err
		}
		f.dataset = m.Dataset
	}
	if f.model == "" {
		d, err := datasets.Builtin().Lookup(f.dataset)
		if err != nil {
			return nil, err
		}
		f.model = d.Model
	}
	t, err := source.Target(ctx, f.dataset, f.split, f.model, models.Options{Precision: f.precision})
	return t, fetchHint(err, f.dataset)
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

// sampler assembles the chain; its streams come from the seed alone.
func (f *sampleFlags) sampler(t models.Target) (*chain.Sampler, error) {
	k, err := f.batches(t)
	if err != nil {
		return nil, err
	}
	return chain.Registry{}.New(t, f.spec(k))
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

// writer returns what writes a draw as a line; the names of the columns stand
// above the first.
func (f *sampleFlags) writer(w *bufio.Writer, t models.Target) func(i int, theta []float64) error {
	name, n := "theta", t.Dim()
	values := func(theta []float64) []float64 { return theta }
	if f.predictions {
		name, n = "f", t.Outputs()
		dst := make([]float64, n)
		values = func(theta []float64) []float64 { t.Predict(dst, theta); return dst }
	}
	if f.format == "jsonl" {
		lines := json.NewEncoder(w)
		return func(i int, theta []float64) error {
			return lines.Encode(struct {
				Sample int       `json:"sample"`
				Values []float64 `json:"values"`
			}{i, values(theta)})
		}
	}
	w.WriteString("sample")
	for i := range n {
		fmt.Fprintf(w, ",%s%d", name, i)
	}
	w.WriteByte('\n')
	return func(i int, theta []float64) error {
		w.WriteString(strconv.Itoa(i))
		for _, v := range values(theta) {
			w.WriteByte(',')
			w.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		return w.WriteByte('\n')
	}
}
