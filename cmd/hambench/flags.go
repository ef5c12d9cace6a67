package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hambench/bench"
	"hambench/models/datasets"
	"hambench/usage"
)

// Flags that commands have in common.
const (
	// what is in the store, and where it is
	storeFlags     = "profile precision splits samples repeat seed-from out"
	datasetFlags   = "datasets"
	chainFlags     = "data workers"
	modeFlags      = "dry-run check figures-only exec-timeout" // what is done with studies
	selectionFlags = storeFlags + " only"
	posteriorFlags = "dataset noise model split data"
	referenceFlags = posteriorFlags + " profile precision out workers" // of one reference
)

// register adds the flags of the given names to the command and has their values
// checked before it runs. Shared values without a flag here get their defaults too.
// What the command opens is closed when it ends.
// Values are checked in one place since several commands share them. A command that takes no
// such flag has the default, which passes.
func (f *selection) register(c *cobra.Command, names string) {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		f.stdout, f.stderr = c.OutOrStdout(), c.ErrOrStderr()
		defer f.close()
		if err := f.check(); err != nil {
			return err
		}
		// 0 is the default, which stands for the profile's number. Typed, it is a mistake.
		for _, name := range []string{"splits", "samples", "repeat", "seed-from"} {
			flag := c.Flags().Lookup(name)
			if flag != nil && flag.Changed && flag.Value.String() == "0" {
				return usage.Errorf("--%s 0: want 1 or more", name)
			}
		}
		return run(c, args)
	}
	// All flags are declared, and those of the names taken: what is not taken keeps its default.
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.StringVar(&f.asked.Name, "profile", "quick", "`NAME` profile (see hambench list profiles)")
	oneOf(all, &f.asked.Precision, "precision",
		"precision of network gradients, references included, instead of the profile's",
		bench.Precisions...)
	all.IntVar(&f.asked.Splits, "splits", 0,
		"`N` splits of each data set, instead of the profile's number")
	all.IntVar(&f.asked.Samples, "samples", 0,
		"`N` samples of each chain, instead of the profile's number where it has one")
	all.IntVar(&f.asked.Repeat, "repeat", 0, "`N` seeds for each chain, for error bars")
	all.Uint64Var(&f.asked.SeedFrom, "seed-from", 0, "`SEED` first seed, instead of 1")
	all.StringVar(&f.out, "out", "out", "`DIR` folder for results and figures")
	listOf(all, &f.only, "only",
		"`ID,...` studies to use; all if empty (see hambench list studies)", asItIs)
	listOf(all, &f.on, "datasets", "`NAME,...` data sets to use; all if empty", asItIs)
	all.StringVar(&f.dataset, "dataset", "",
		"`NAME` data set, or FILE.csv, whose last column is the target; the model's own if empty")
	all.Float64Var(&f.noise, "noise", 0,
		"`V` variance of the noise of FILE.csv's standardised target; 0 means its target is "+
			"a class")
	all.StringVar(&f.model, "model", "",
		"`NAME` model, or exec:CMD for one in another process (docs/samplers.md); the data set's "+
			"own if empty")
	all.IntVar(&f.split, "split", 0, "`I` split, from 0")
	all.StringVar(&f.data, "data", "",
		"`DIR` folder with copies of the data (else $"+datasets.EnvData+", the cache, the network)")
	all.DurationVar(&f.timeout, "exec-timeout", time.Minute,
		"`TIME` allowed for each answer of a command in another process")
	all.IntVar(&f.Workers, "workers", runtime.GOMAXPROCS(0), "`N` chains run at once")
	all.BoolVar(&f.dryRun, "dry-run", false,
		"print what would be run and how long it would take, then stop")
	all.BoolVar(&f.missingOnly, "check", false,
		"list the jobs that are missing; exit code 1 if there are any")
	all.BoolVar(&f.figuresOnly, "figures-only", false,
		"draw what earlier runs left in --out; run nothing, load no data")
	for _, name := range strings.Fields(names) {
		c.Flags().AddFlag(all.Lookup(name))
	}
}

// check refuses values out of range.
// What depends on the study, such as whether it has splits, is checked when it is known
// (File.Takes).
func (f *selection) check() error {
	switch {
	case f.Workers < 1:
		return usage.Errorf("--workers %d: want at least 1", f.Workers)
	case f.out == "":
		return usage.Errorf("--out is empty: want a folder")
	case f.asked.Splits < 0 || f.asked.Splits > 1000: // as in files
		return usage.Errorf("--splits %d: want 1 to 1000", f.asked.Splits)
	case f.asked.Samples < 0 || f.asked.Samples > 1e6:
		return usage.Errorf("--samples %d: want 1 to 1000000", f.asked.Samples)
	case f.asked.Repeat < 0 || f.asked.Repeat > 1000:
		return usage.Errorf("--repeat %d: want 1 to 1000", f.asked.Repeat)
	case f.asked.SeedFrom > 1<<61: // cells take seeds up to 2^62
		return usage.Errorf("--seed-from %d: want 1 to 2^61", f.asked.SeedFrom)
	case f.timeout <= 0:
		return usage.Errorf("--exec-timeout %v: want more than 0", f.timeout)
	}
	return nil
}

// parsedValue is a flag's value that is read, and refused, when the flag is set.
// It implements pflag.Value for lists, for words of a fixed list and for settings of a chain.
type parsedValue struct {
	// typed is the value as it was typed, or the default: the help shows it, and the workers of
	// a cluster get it.
	typed string
	words []string // that it may be, for the completion of shells; nil if it may be others
	list  bool     // of values, separated by commas
	read  func(string) error
}

// String returns the value as it was typed, or the default.
func (v *parsedValue) String() string { return v.typed }

// Type is empty: the usage of each flag names its value.
func (v *parsedValue) Type() string { return "" }

// Set reads the value. A second use of the flag replaces the value of the first, or adds to a list.
func (v *parsedValue) Set(text string) error {
	if v.list && v.typed != "" && text != "" {
		text = v.typed + "," + text
	}
	v.typed = text
	return v.read(text)
}

// listOf registers a flag that takes several values, separated by commas; without it, and
// with an empty one, there are no values.
// read is called for each name, and its error names what is there. A name that is missing
// between commas is read as "", which no lookup finds: a list of commas must not stand for
// everything. It is not pflag's list, whose values may hold quoted commas and are not looked up.
func listOf[T any](fs *pflag.FlagSet, values *[]T, name, about string,
	read func(string) (T, error)) {
	fs.Var(&parsedValue{list: true, read: func(list string) error {
		*values = nil
		if list == "" {
			return nil
		}
		for name := range strings.SplitSeq(list, ",") {
			v, err := read(strings.TrimSpace(name))
			if err != nil {
				return err
			}
			*values = append(*values, v)
		}
		return nil
	}}, name, about)
}

// asItIs reads a name that is looked up later, when the data sets or studies are known.
func asItIs(name string) (string, error) { return name, nil }

// oneOf registers a flag that takes one of some words; its help lists them
// after about. What value points to is the default.
func oneOf(fs *pflag.FlagSet, value *string, name, about string, known ...string) {
	fs.Var(&parsedValue{typed: *value, words: known, read: func(word string) error {
		if !slices.Contains(known, word) {
			return fmt.Errorf("want one of %s%s", strings.Join(known, ", "),
				usage.Suggest(word, known))
		}
		*value = word
		return nil
	}}, name, wordUsage(about, known))
}

// wordUsage returns the usage of a flag that takes one of some words.
// The name of the value is WORD, by which shells complete it.
func wordUsage(about string, words []string) string {
	return fmt.Sprintf("`WORD` %s: %s", about, strings.Join(words, ", "))
}
