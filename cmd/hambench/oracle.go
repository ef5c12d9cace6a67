package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"hambench/bench"
	"hambench/datasets"
	"hambench/internal/table"
	"hambench/oracle"
	"hambench/usage"
)

func oracleCommand() *command {
	return &command{
		name:  "oracle",
		about: "Runs the reference chains of a data set, or shows what is known of them.",
		detail: `Five chains of adaptive SGHMC with the full batch, checked by a
Metropolis-corrected sampler. They are kept in the store; one that is there is
shown and not run again.`,
		example: "hambench oracle --dataset yacht --split 0",
		run:     runOracle,
	}
}

func runOracle(ctx context.Context, c *command, stdout, stderr io.Writer, args []string) error {
	var f runFlags
	fs := c.flagSet()
	f.registerStore(fs)
	f.registerChains(fs)
	dataset := fs.String("dataset", "", "`NAME` of the data set")
	split := fs.Int("split", 0, "`I` of the split")
	if _, err := c.parse(fs, stdout, args); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	d, err := datasets.Builtin().Lookup(*dataset)
	if err != nil {
		return err
	}
	if d.Model != "bnn" {
		return usage.Errorf("data set %q needs no oracle: its posterior is known, or not judged", d.Name)
	}
	spec, err := f.oracleSpec(d, *split)
	if err != nil {
		return err
	}
	resolver, err := datasets.NewResolver(f.data)
	if err != nil {
		return err
	}
	source := bench.NewData(resolver)
	// Mistakes end here, before a store is made. Without the data an oracle
	// that is there can still be shown.
	if _, err := source.Split(ctx, *dataset, *split); err != nil && !errors.Is(err, datasets.ErrUnavailable) {
		return err
	}
	store, err := bench.Open(filepath.Join(f.out, "store"))
	if err != nil {
		return err
	}
	defer store.Close()
	runner := &bench.Runner{Store: store, Source: source, Workers: f.workers, OraclesOnly: true, Progress: stderr}
	summary, err := runner.Run(ctx, []bench.Experiment{{ID: "oracle", Oracles: []oracle.Spec{spec}}})
	for _, failure := range summary.Failures {
		if errors.Is(failure.Err, datasets.ErrUnavailable) {
			return fmt.Errorf("%w; get it with: %s %s", failure.Err, datasets.FetchCommand, *dataset)
		}
		return failure.Err
	}
	if err != nil {
		return err
	}
	ref, err := store.Reference(spec.Key())
	if err != nil {
		return err
	}
	return printReference(stdout, ref)
}

// oracleSpec is the reference that a profile's experiments use.
func (f *runFlags) oracleSpec(d datasets.Dataset, split int) (oracle.Spec, error) {
	p, err := f.lookupProfile()
	if err != nil {
		return oracle.Spec{}, err
	}
	if split < 0 {
		return oracle.Spec{}, usage.Errorf("--split %d: want 0 or more", split)
	}
	s := oracle.NewSpec(d.Name, split, d.Model)
	s.Precision = p.Precision
	return s, nil
}

func printReference(w io.Writer, r *oracle.Reference) error {
	fmt.Fprintf(w, "%s, split %d: %d chains of %d draws, h = %g, C = %g, %d steps per draw, %s gradients, %.0f s of chains together (%s, %s)\n",
		r.Dataset, r.Split, r.Chains, r.Samples, r.Step, r.Friction, r.Thin, r.Precision, r.Seconds, r.Versions.ISA, r.Versions.Go)
	self := r.SelfDistance()
	fmt.Fprintf(w, "self-distance %.3f (5-95 %%: %.3f-%.3f); Metropolis-corrected chain at %.3f with acceptance %.2f\n",
		self.Mean, self.Low, self.High, r.Opinion.Distance, r.Opinion.Acceptance)
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
