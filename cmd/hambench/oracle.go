package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/bench"
	"hambench/datasets"
	"hambench/internal/table"
	"hambench/models"
	"hambench/oracle"
	"hambench/store"
	"hambench/sweep"
	"hambench/usage"
)

func oracleCommand() *cobra.Command {
	var f selection
	var on posterior
	c := &cobra.Command{
		Use:   "oracle",
		Short: "Runs the reference chains of a data set, or shows what is known of them.",
		Long: `Five chains of adaptive SGHMC with the full batch, checked by a
Metropolis-corrected sampler. They are kept in the store; one that is there is
shown and not run again.`,
		Example: "hambench oracle --dataset yacht --split 0",
		RunE: func(c *cobra.Command, _ []string) error {
			keys, err := on.keys(f.data)
			if err != nil {
				return err
			}
			ref, machine, err := f.reference(c.Context(), keys, on, c.ErrOrStderr())
			if err != nil {
				return err
			}
			return printReference(c.OutOrStdout(), ref, machine)
		},
	}
	f.register(c, referenceFlags)
	on.registerPosterior(c.Flags())
	return c
}

// posterior is what flags name by a data set's split and a model of it.
type posterior struct {
	dataset, model string
	split          int
	noise          float64
}

func (p *posterior) registerPosterior(fs *pflag.FlagSet) {
	fs.StringVar(&p.dataset, "dataset", "", "`NAME` data set, or FILE.csv, whose last column is the target; the model's own if empty")
	fs.Float64Var(&p.noise, "noise", 0, "`V` variance of the noise of FILE.csv's standardised target; 0: its target is a class")
	fs.StringVar(&p.model, "model", "", "`NAME` model, or exec:CMD for one in another process (docs/samplers.md); the data set's own if empty")
	fs.IntVar(&p.split, "split", 0, "`I` split, from 0")
}

// keys returns those of newKeys, with the data set if it is a file.
func (p *posterior) keys(data string) (*bench.Keys, error) {
	name, file := strings.CutSuffix(filepath.Base(p.dataset), ".csv")
	if !file {
		if p.noise != 0 {
			return nil, usage.Errorf("--noise %g goes with --dataset FILE.csv", p.noise)
		}
		return newKeys(data, nil)
	}
	o := datasets.FileOptions{NoiseVariance: p.noise}
	if p.noise == 0 {
		o.Task = datasets.Classification
	}
	d, err := datasets.FromFile(name, p.dataset, o)
	if err != nil {
		return nil, err
	}
	p.dataset = name
	return newKeys(data, &bench.File{Data: append(datasets.Builtin(), d)})
}

// complete has the data set and the model stand for each other where one is
// missing.
func (p *posterior) complete(source *models.Source) error {
	if p.model == "" && p.dataset == "" {
		return usage.Errorf("neither --model nor --dataset: want at least one (see 'hambench list')")
	}
	if p.dataset == "" {
		m, err := source.Models().Lookup(p.model)
		if err != nil {
			return err
		}
		p.dataset = m.Dataset
	}
	d, err := source.Datasets().Lookup(p.dataset)
	p.model = cmp.Or(p.model, d.Model)
	return err
}

// target completes the names and loads the posterior.
func (p *posterior) target(ctx context.Context, source *models.Source, o models.Options) (models.Target, error) {
	if err := p.complete(source); err != nil {
		return nil, err
	}
	t, err := source.Target(ctx, p.dataset, p.split, p.model, o)
	return t, fetchHint(err, p.dataset)
}

// reference takes the reference of a posterior from the store, or makes it there.
func (f *selection) reference(ctx context.Context, keys *bench.Keys, on posterior, stderr io.Writer) (*oracle.Reference, store.Machine, error) {
	spec, err := f.referenceOf(keys.Source, on)
	if err != nil {
		return nil, store.Machine{}, err
	}
	plan, err := keys.Resolve(ctx, f.label(), []bench.Study{{ID: "reference", References: []bench.ReferenceJob{{Spec: spec}}}})
	if err != nil {
		return nil, store.Machine{}, fetchHint(err, spec.Dataset)
	}
	s, err := openStore(f.out, stderr)
	if err != nil {
		return nil, store.Machine{}, err
	}
	defer s.Close()
	runner := &sweep.Runner{Store: s, Source: keys.Source, Made: sweep.MadeHere(), Workers: f.workers, ReferencesOnly: true, Progress: stderr}
	summary, err := runner.Run(ctx, plan)
	for _, failure := range summary.Failures {
		return nil, store.Machine{}, failure.Err
	}
	if err != nil {
		return nil, store.Machine{}, err
	}
	ref, machine := sweep.LoadReference(s, plan[0].References[0].Key)
	return ref, machine, nil
}

// fetchHint adds to the error of data that cannot be had what gets them.
func fetchHint(err error, dataset string) error {
	if errors.Is(err, datasets.ErrUnavailable) {
		return fmt.Errorf("%w; get it with: %s %s", err, datasets.FetchCommand, dataset)
	}
	return err
}

// referenceOf is the reference that the profile's studies use for a posterior;
// one that is known needs none.
func (f *selection) referenceOf(source *models.Source, on posterior) (oracle.Spec, error) {
	if err := on.complete(source); err != nil {
		return oracle.Spec{}, err
	}
	d, err := source.Datasets().Lookup(on.dataset)
	if err != nil {
		return oracle.Spec{}, err
	}
	m, err := source.Models().For(on.model, d.Name, d.Shape)
	if err != nil {
		return oracle.Spec{}, err
	}
	if m.Exact {
		return oracle.Spec{}, usage.Errorf("data set %q needs no reference: the posterior of model %q is known", d.Name, m.Name)
	}
	p, err := f.lookupProfile()
	if err != nil {
		return oracle.Spec{}, err
	}
	if on.split < 0 {
		return oracle.Spec{}, usage.Errorf("--split %d: want 0 or more", on.split)
	}
	s := oracle.NewSpec(d.Name, on.split, m.Name)
	s.Precision = cmp.Or(p.Precision, s.Precision)
	return s, nil
}

func printReference(w io.Writer, r *oracle.Reference, m store.Machine) error {
	fmt.Fprintf(w, "%s, split %d: %d chains of %d draws, h = %g, C = %g, %d steps per draw, %s gradients, %.0f s of chains together (%v)\n",
		r.Dataset, r.Split, r.Chains, r.Samples, r.Step, r.Friction, r.Thin, r.Precision, r.Seconds, m)
	self := r.SelfDistance()
	fmt.Fprintf(w, "self-distance %.3f (5-95 %%: %.3f-%.3f); Metropolis-corrected chain at %.3f with acceptance %.2f\n",
		self.Mean, self.Low, self.High, r.CrossCheck.Distance, r.CrossCheck.Acceptance)
	var rows [][]string
	for _, d := range []struct {
		name string
		s    oracle.Summary
	}{{"lag-1 autocorrelation", r.Diagnostics.Lag1}, {"effective sample size", r.Diagnostics.ESS}, {"split-Rhat", r.Diagnostics.SplitRHat}} {
		rows = append(rows, []string{d.name, number(d.s.P05), number(d.s.Median), number(d.s.Mean), number(d.s.P95)})
	}
	if err := table.Write(w, []string{"over the predictive values", "5 %", "median", "mean", "95 %"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, k := range r.Checks {
		rows = append(rows, []string{k.Name, number(k.Value), number(k.Low), number(k.High), yes(k.Pass)})
	}
	return table.Write(w, []string{"check", "value", "from", "to", "passed"}, rows)
}

func number(x float64) string { return fmt.Sprintf("%.4g", x) }
