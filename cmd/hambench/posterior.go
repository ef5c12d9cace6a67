package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/internal/input"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

// namePosterior calls open, with the flags' data set if that is a file. If only one
// of data set and model is named, it determines the other.
// A data set of a file has the file's name without its ending, with - for what a name must
// not have. Its noise decides the task: the target of a regression has some, a class has none.
func (f *selection) namePosterior(ctx context.Context) error {
	// open takes data sets in files from a study: this one has the data set and nothing else.
	var own *bench.File
	ending := filepath.Ext(f.dataset)
	switch {
	case strings.EqualFold(ending, ".csv"):
		o := datasets.FileOptions{NoiseVariance: f.noise}
		if f.noise == 0 {
			o.Task = datasets.Classification
		}
		name := strings.TrimSuffix(filepath.Base(f.dataset), ending)
		name = cmp.Or(strings.Trim(notInNames.ReplaceAllString(name, "-"), "-_"), "data")
		d, err := input.Await(ctx, func() (datasets.Dataset, error) {
			return datasets.FromFile(name, f.dataset, o)
		})
		if err != nil {
			return err
		}
		f.dataset, own = name, &bench.File{Parts: bench.Parts{Data: append(datasets.Builtin(), d)}}
	case notInNames.MatchString(f.dataset):
		return usage.Errorf("--dataset %q is no name of a data set, and files end in .csv",
			f.dataset)
	case f.noise != 0:
		return usage.Errorf("--noise %g goes with --dataset FILE.csv", f.noise)
	}
	if err := f.open(own); err != nil {
		return err
	}
	if f.model == "" && f.dataset == "" {
		return usage.Errorf("neither --model nor --dataset: want at least one " +
			"(see 'hambench list')")
	}
	if f.dataset == "" {
		m, err := f.Models.Lookup(f.model)
		if err != nil {
			return err
		}
		f.dataset = m.Dataset
	}
	d, err := f.Data.Lookup(f.dataset)
	f.model = cmp.Or(f.model, d.Model)
	return err
}

// notInNames matches what a data set's name must not have. It may have -, but not at its ends.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// openPosterior loads the posterior of the flags in a precision of network
// gradients, or in the usual one.
// "" is the precision that the model has by default.
func (f *selection) openPosterior(ctx context.Context, precision string) (models.Target, error) {
	if err := f.namePosterior(ctx); err != nil {
		return nil, err
	}
	return f.target(ctx, precision)
}

// target loads the posterior once it is named: each chain has one of its own.
// A target serves one chain, since it holds the work space of its gradients.
func (f *selection) target(ctx context.Context, precision string) (models.Target, error) {
	t, err := f.Source.Target(ctx, f.dataset, f.split, f.model,
		models.Options{Precision: precision})
	return t, f.fetchHint(err)
}

// fetchHint adds to the error of missing data the command that fetches them.
// Other errors, and nil, are returned as they are.
func (f *selection) fetchHint(err error) error {
	if errors.Is(err, datasets.ErrUnavailable) {
		return fmt.Errorf("%w; get it with: %s %s, or name a folder with copies by %s", err,
			datasets.FetchCommand, f.dataset, datasets.EnvData)
	}
	return err
}

// reference returns the reference chains of the posterior of the flags, which namePosterior has
// named: the reference that travels with the program, if it is of this
// posterior; otherwise it takes the posterior's from the store, or makes it there. With
// rebuild it is that of the store in any case. From says where it is from. The run that
// makes one is an ordinary one: it can be interrupted, shares the work by leases, and
// keeps finished chains.
func (f *selection) reference(
	ctx context.Context, rebuild bool,
) (ref *oracle.Reference, from string, err error) {
	spec, err := f.referenceSpec()
	if err != nil {
		return nil, "", err
	}
	// A study of this one reference, as far as keys, the store and the runner are concerned.
	plan, err := f.keys.Resolve(ctx, f.label(),
		[]bench.Study{{ID: "reference", References: []bench.ReferenceJob{{Spec: spec}}}})
	if err != nil {
		return nil, "", f.fetchHint(err)
	}
	if ref, ok := oracle.Shipped(spec.Dataset, plan[0].References[0].Key); ok && !rebuild {
		return ref, "shipped with the program", nil
	}
	if err := f.openStore(store.Open, sweep.Here()); err != nil {
		return nil, "", err
	}
	// Without it, a reference that judges no cell would not be made.
	f.ReferencesOnly = true
	summary, err := f.Run(ctx, plan)
	if len(summary.Failures) > 0 {
		err = summary.Failures[0].Err
	}
	if err == nil {
		var on store.Machine
		ref, on = sweep.LoadReference(f.Store, plan[0].References[0].Key)
		from = on.String()
	}
	return ref, from, err
}

// referenceSpec is the reference that the profile's studies use for the posterior;
// one that is known needs none.
// So a reference that reproduce has made is found, whatever else its profile changes.
func (f *selection) referenceSpec() (oracle.Spec, error) {
	d, err := f.Data.Lookup(f.dataset)
	if err != nil {
		return oracle.Spec{}, err
	}
	m, err := f.Models.For(f.model, d.Name, d.Shape)
	if err != nil {
		return oracle.Spec{}, err
	}
	if m.Exact {
		return oracle.Spec{}, usage.Errorf("data set %q needs no reference: the posterior of "+
			"model %q is known", d.Name, m.Name)
	}
	// Of the profile only the precision matters to a reference.
	p, err := f.lookupProfile()
	if err != nil {
		return oracle.Spec{}, err
	}
	if f.split < 0 {
		return oracle.Spec{}, usage.Errorf("--split %d: want 0 or more", f.split)
	}
	return bench.ReferenceSpec(d, f.split, m.Name, p.Precision), nil
}
