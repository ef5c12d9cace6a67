package datasets

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"hambench/internal/fingerprint"
	"hambench/internal/input"
	"hambench/usage"
)

// FileOptions holds the choices of FromFile.
type FileOptions struct {
	// Target is the target's column: its name in the header, or its number,
	// from 1. "" is the last one.
	Target string
	// Task says whether the target is a number or a class. Classes may be
	// words; they are numbered from 0, numbers by value before words by name.
	Task Task
	// NoiseVariance is σ² of the Gaussian likelihood on the standardised
	// target. A regression must state it.
	NoiseVariance float64
	// TestShare is the share of the rows that each split holds out, from 0 to
	// 1; 0 means 0.1.
	TestShare float64
	// Label is the Dataset's, for figures and tables; "" means the name.
	Label string
	// Model is the model of the Dataset; "" means bnn.
	Model string
}

// FromFile returns the data set in a file, to be appended to a Registry. The file
// has rows of columns separated by commas, semicolons, tabs or white space; blank lines and
// those that begin with # are skipped. A first row without a number is the header. All
// columns but the target are features: numbers, or words of at most 20 categories, each of
// which becomes a feature with the values 0 and 1. A first column without a name whose
// words or whole numbers all differ names the rows, and is left out. A constant column,
// or one constant but for rounding, keeps deviation 1. Splits are drawn with the
// project's own seed.
//
// Missing values, words among numbers, rows of another length than the first, a class
// with a single row, and a constant target are usage errors, which name the row and
// column.
func FromFile(name, path string, o FileOptions) (Dataset, error) {
	d := Dataset{
		Name: name, Path: path, NoiseVariance: o.NoiseVariance, Shape: Shape{Task: o.Task},
		Label: cmp.Or(o.Label, name), About: path, Model: cmp.Or(o.Model, "bnn"),
	}
	if err := o.check(name); err != nil {
		return d, err
	}
	data, err := input.Read(path)
	if err != nil {
		return d, usage.Errorf("data set %q: %w", name, err)
	}
	t := &table{task: o.Task, wanted: o.Target, words: true}
	if err = t.read(data); err == nil {
		d.Notes, err = t.settle()
	}
	if err == nil {
		err = t.judge()
	}
	if err != nil {
		return d, usage.Errorf("data set %q: %s: %w", name, path, err)
	}
	x, names := t.inputs()
	d.Digest, d.Target = fingerprint.Bytes(data), t.columns[t.target].name
	d.FeatureNames, d.ClassNames = names, t.classes
	d.Features, d.Classes, d.Rows = len(names), len(t.classes), len(t.lines)
	d.TestRows = int(math.Round(cmp.Or(o.TestShare, defaultTestShare) * float64(d.Rows)))
	d.TrainRows = d.Rows - d.TestRows
	if d.TrainRows < 2 || d.TestRows < 1 {
		return d, usage.Errorf(
			"data set %q: %s: %d rows are %d to train and %d to test: want at least 2 and 1",
			name, path, d.Rows, d.TrainRows, d.TestRows)
	}
	d.Make = func(s *Set) { s.X, s.Y, s.Labels = x, t.y, t.labels() }
	return d, nil
}

// tooSmall says of values that they differ by too little to be standardised.
const tooSmall = ", but for differences that are too small to compute with"

// defaultTestShare is the share in the splits of Gal and Ghahramani (2016).
const defaultTestShare = 0.1

// leastNoise is far below the noise of any data, and far above what makes the gradients of a
// network overflow in float32.
const leastNoise = 1e-30

// nameForm matches the names that a data set may have: they become parts of file names.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// check returns a usage error for a name or an option that is out of range.
func (o FileOptions) check(name string) error {
	switch {
	case !nameForm.MatchString(name):
		return usage.Errorf("data set %q: want a name of ASCII letters, digits, - and _", name)
	case o.Task != Regression && o.Task != Classification:
		return usage.Errorf("data set %q: task %d: want Regression or Classification",
			name, int(o.Task))
	case o.Task == Regression && !(o.NoiseVariance > 0 && o.NoiseVariance < math.Inf(1)):
		return usage.Errorf("data set %q: noise variance %g: "+
			"want a positive number, the share of the target's variance that is noise",
			name, o.NoiseVariance)
	case o.Task == Regression && o.NoiseVariance < leastNoise:
		return usage.Errorf("data set %q: noise variance %g: want at least %g, as a share of the "+
			"target's variance", name, o.NoiseVariance, leastNoise)
	case o.Task == Classification && o.NoiseVariance != 0:
		return usage.Errorf("data set %q: noise variance %g: a classification has none",
			name, o.NoiseVariance)
	case !(o.TestShare >= 0 && o.TestShare < 1):
		return usage.Errorf("data set %q: test share %g: want 0 to 1, 1 excluded",
			name, o.TestShare)
	}
	return nil
}

// judge lists the classes of a classification. It returns an error for a target that
// nothing can be learnt of: a constant one, and a class with a single row, which no
// split could have in both parts.
func (t *table) judge() error {
	target := t.column(t.target)
	if t.task == Regression {
		if _, deviation := spread(t.y, 1, 0); deviation == 0 {
			but := ""
			if slices.Min(t.y) < slices.Max(t.y) {
				but = tooSmall
			}
			return fmt.Errorf("%s: the target is %g in every row%s: want values that differ",
				target, t.y[0], but)
		}
		return nil
	}
	t.classes = slices.SortedFunc(slices.Values(t.labelled), compareClasses)
	t.classes = slices.Compact(t.classes)
	if len(t.classes) < 2 {
		return fmt.Errorf("%s: every row is of class %q: want at least two classes",
			target, t.classes[0])
	}
	// Classes that are all numbers, one of which stands in a single row, are rather the targets of
	// a regression: the error says so. Sorted, numbers come first, so that the ends tell.
	rows := make([][]int, len(t.classes))
	for row, c := range t.labels() {
		rows[c] = append(rows[c], row)
	}
	for c, at := range rows {
		if len(at) == 1 && isNumber(t.classes[0]) && isNumber(t.classes[len(t.classes)-1]) {
			return fmt.Errorf("line %d: %s: the only row of class %.40q: a regression needs "+
				"--noise V (in a study noise = V), the variance of its standardised target's noise",
				t.lines[at[0]], target, t.classes[c])
		}
		if len(at) == 1 {
			return fmt.Errorf("line %d: %s: the only row of class %.40q: want at least two",
				t.lines[at[0]], target, t.classes[c])
		}
	}
	return nil
}
