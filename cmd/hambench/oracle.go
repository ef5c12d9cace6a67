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
	c := &cobra.Command{
		Use:   "oracle",
		Short: "Runs the reference chains of a data set, or shows what is known of them.",
		Long: `A reference is five chains of adaptive SGHMC with the full batch, checked by a
Metropolis-corrected sampler. It is kept in the store; if it is already there, it
is shown and not run again.`,
		Example: "hambench oracle --dataset yacht --split 0",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.namePosterior(); err != nil {
				return err
			}
			ref, machine, err := f.reference(c.Context())
			if err != nil {
				return err
			}
			return printReference(f.stdout, ref, machine)
		},
	}
	f.register(c, referenceFlags)
	return c
}

// namePosterior calls open, with the flags' data set if that is a file. If only one
// of data set and model is named, it determines the other.
func (f *selection) namePosterior() error {
	var own *bench.File
	if name, isFile := strings.CutSuffix(filepath.Base(f.dataset), ".csv"); isFile {
		o := datasets.FileOptions{NoiseVariance: f.noise}
		if f.noise == 0 {
			o.Task = datasets.Classification
		}
		d, err := datasets.FromFile(name, f.dataset, o)
		if err != nil {
			return err
		}
		f.dataset, own = name, &bench.File{Parts: bench.Parts{Data: append(datasets.Builtin(), d)}}
	} else if f.noise != 0 {
		return usage.Errorf("--noise %g goes with --dataset FILE.csv", f.noise)
	}
	if err := f.open(own); err != nil {
		return err
	}
	source := f.keys.Source
	if f.model == "" && f.dataset == "" {
		return usage.Errorf("neither --model nor --dataset: want at least one (see 'hambench list')")
	}
	if f.dataset == "" {
		m, err := source.Models().Lookup(f.model)
		if err != nil {
			return err
		}
		f.dataset = m.Dataset
	}
	d, err := source.Datasets().Lookup(f.dataset)
	f.model = cmp.Or(f.model, d.Model)
	return err
}

// openPosterior loads the posterior of the flags in a precision of network
// gradients, or in the usual one.
func (f *selection) openPosterior(ctx context.Context, precision string) (models.Target, error) {
	if err := f.namePosterior(); err != nil {
		return nil, err
	}
	return f.target(ctx, precision)
}

// target loads the posterior once it is named: each chain has one of its own.
func (f *selection) target(ctx context.Context, precision string) (models.Target, error) {
	t, err := f.keys.Source.Target(ctx, f.dataset, f.split, f.model, models.Options{Precision: precision})
	return t, f.fetchHint(err)
}

// fetchHint adds to the error of missing data the command that fetches them.
func (f *selection) fetchHint(err error) error {
	if errors.Is(err, datasets.ErrUnavailable) {
		return fmt.Errorf("%w; get it with: %s %s", err, datasets.FetchCommand, f.dataset)
	}
	return err
}

// reference takes the reference of the posterior from the store, or makes it there.
func (f *selection) reference(ctx context.Context) (ref *oracle.Reference, on store.Machine, err error) {
	spec, err := f.referenceSpec()
	if err != nil {
		return nil, on, err
	}
	plan, err := f.keys.Resolve(ctx, f.label(), []bench.Study{{ID: "reference", References: []bench.ReferenceJob{{Spec: spec}}}})
	if err != nil {
		return nil, on, f.fetchHint(err)
	}
	if err := f.openStore(store.Open, sweep.Here()); err != nil {
		return nil, on, err
	}
	f.ReferencesOnly = true
	summary, err := f.Run(ctx, plan)
	if len(summary.Failures) > 0 {
		err = summary.Failures[0].Err
	}
	if err == nil {
		ref, on = sweep.LoadReference(f.Store, plan[0].References[0].Key)
	}
	return ref, on, err
}

// referenceSpec is the reference that the profile's studies use for the posterior;
// one that is known needs none.
func (f *selection) referenceSpec() (oracle.Spec, error) {
	d, err := f.keys.Source.Datasets().Lookup(f.dataset)
	if err != nil {
		return oracle.Spec{}, err
	}
	m, err := f.keys.Source.Models().For(f.model, d.Name, d.Shape)
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
	if f.split < 0 {
		return oracle.Spec{}, usage.Errorf("--split %d: want 0 or more", f.split)
	}
	s := oracle.NewSpec(d.Name, f.split, m.Name)
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
