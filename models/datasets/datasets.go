// Package datasets holds the data that the models are conditioned on: twenty public
// sets, most of the UCI repository, which the project does not distribute but fetches for
// its user, built-in sets that are generated when needed, and a user's own files.
//
// A [Registry] lists data sets; each [Dataset] in it says what is known of a set
// before it is loaded: its task, its sizes, where its files are. [Builtin]
// returns the project's own registry, and [FromFile] makes an entry for a file
// with columns of numbers, to be appended to it. A [Resolver] finds the files of
// the sets in its registry, verifies them and loads a [Set]. [Set.Split] divides a
// Set into standardised training and test rows, the [Split] that models take.
//
// Matrices are row-major slices of float64. What a user can cause (a wrong name, a
// damaged file) is a usage error; what neither a folder nor the network has wraps
// [ErrUnavailable].
package datasets

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"hambench/internal/fingerprint"
	"hambench/usage"
)

// Task names the predicted quantity: a number or a class.
type Task int

// The tasks.
const (
	Regression Task = iota
	Classification
)

func (t Task) String() string {
	return [...]string{Regression: "regression", Classification: "classification"}[t]
}

// Set is a whole data set, in the units and the order of its source.
type Set struct {
	Dataset
	X      []float64 // row-major, Rows × Features
	Y      []float64 // Rows targets of a regression; else nil
	Labels []int     // Rows classes of a classification, 0 … Classes − 1; else nil
}

// check returns an error if the numbers of a set are not what its entry declares:
// another number of rows, features or classes, targets of the other task, a noise
// variance that is not positive, or a number that is not finite.
func (s *Set) check() error {
	rows, other := len(s.Y), len(s.Labels) // of the targets of the task, and of the other one
	if s.Task == Classification {
		rows, other = other, rows
	}
	switch {
	case rows != s.Rows:
		return fmt.Errorf("%d rows: want %d", rows, s.Rows)
	case other != 0:
		return fmt.Errorf("both targets and classes: want those of a %v", s.Task)
	case len(s.X) != s.Rows*s.Features:
		return fmt.Errorf("%d numbers in %d rows: want %d features", len(s.X), s.Rows, s.Features)
	case s.Task == Regression && !(s.NoiseVariance > 0):
		return fmt.Errorf("noise variance %g: want a positive number", s.NoiseVariance)
	}
	for _, v := range [][]float64{s.X, s.Y} {
		for i, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("number %d is %g: want finite ones", i+1, x)
			}
		}
	}
	return s.checkLabels()
}

// checkLabels returns an error for a class beyond the declared number, and for a
// declared class without rows.
func (s *Set) checkLabels() error {
	seen := make([]bool, s.Classes)
	for i, c := range s.Labels {
		if c < 0 || c >= s.Classes {
			return fmt.Errorf("row %d is of class %d: want 0 to %d", i+1, c, s.Classes-1)
		}
		seen[c] = true
	}
	for c, ok := range seen {
		if !ok {
			return fmt.Errorf("no row is of class %d: want %d classes", c, s.Classes)
		}
	}
	return nil
}

// Split is a training and a test set, standardised by the mean and the
// deviation of the training rows, unless the Dataset is Plain.
type Split struct {
	Name  string // of the data set
	Index int    // of the split
	Task  Task
	// Classes is the number of classes, 0 for a regression; Features that of
	// the numbers of a row.
	Classes, Features int
	// FeatureNames and ClassNames are nil where nobody gave names.
	FeatureNames, ClassNames []string
	// TrainX and TestX are row-major, rows × Features.
	TrainX, TestX []float64
	// TrainY and TestY are the standardised targets of a regression.
	TrainY, TestY []float64
	// TrainLabels and TestLabels are the classes of a classification.
	TrainLabels, TestLabels []int
	// TargetMean and TargetScale give a target in its own units, TargetMean +
	// TargetScale·y for a standardised y.
	TargetMean, TargetScale float64
	// NoiseVariance is σ² of the likelihood of the standardised target.
	NoiseVariance float64
	// TrainAt and TestAt are the numbers of the rows in the set, from 0.
	TrainAt, TestAt []int
	// Digest is a SHA-256 of the set's numbers, to the bit, and of TrainAt
	// and TestAt; "" for a split that was not made from a Set.
	Digest string
}

// TrainRows is the number of training rows.
func (s *Split) TrainRows() int { return max(len(s.TrainY), len(s.TrainLabels)) }

// TestRows is the number of test rows.
func (s *Split) TestRows() int { return max(len(s.TestY), len(s.TestLabels)) }

// InSample returns the split with its training rows in place of its test rows: a model on
// it predicts the rows that it is conditioned on.
func (s *Split) InSample() *Split {
	in := *s
	in.TestX, in.TestY, in.TestLabels, in.TestAt = s.TrainX, s.TrainY, s.TrainLabels, s.TrainAt
	return &in
}

// Shape returns the task and the sizes of the split.
func (s *Split) Shape() Shape {
	return Shape{Task: s.Task, TrainRows: s.TrainRows(), Features: s.Features, Classes: s.Classes}
}

// maxSplits is the number of splits of a set that declares none. It bounds the cost of
// a random split, which needs the permutations of all splits before it.
const maxSplits = 1000

// Split returns the split with an index. An index out of range, and a split of
// other sizes than the set declares, are usage errors.
func (s *Set) Split(index int) (*Split, error) {
	splits := s.Splits
	if splits == 0 {
		splits = maxSplits
	}
	if index < 0 || index >= splits {
		return nil, usage.Errorf("data set %q has no split %d: want 0 to %d",
			s.Name, index, splits-1)
	}
	train, test, err := s.divide(index)
	if err != nil {
		return nil, usage.Errorf("data set %q, split %d: %w", s.Name, index, err)
	}
	// take copies the rows, which standardise changes: the set keeps its own. The target's scale is
	// 1 and its mean 0 unless standardise finds others.
	p := &Split{
		Name: s.Name, Index: index, Task: s.Task, Classes: s.Classes, Features: s.Features,
		TargetScale: 1, NoiseVariance: s.NoiseVariance, TrainAt: train, TestAt: test,
		FeatureNames: s.FeatureNames, ClassNames: s.ClassNames,
		TrainX: take(s.X, s.Features, train), TestX: take(s.X, s.Features, test),
		Digest: s.digest(train, test),
	}
	if s.Task == Classification {
		p.TrainLabels, p.TestLabels = take(s.Labels, 1, train), take(s.Labels, 1, test)
	} else {
		p.TrainY, p.TestY = take(s.Y, 1, train), take(s.Y, 1, test)
	}
	if !s.Plain {
		p.standardise()
	}
	return p, nil
}

// divide returns the numbers of a split's rows. It checks that there are as many as the
// set declares, within range, and no row twice: Divide may be a user's.
func (s *Set) divide(index int) (train, test []int, err error) {
	divide := s.Divide
	if divide == nil {
		divide = permuted(ownSeed, s.Rows, s.TrainRows, s.TrainRows, s.TestRows)
	}
	train, test = divide(index)
	if len(train) != s.TrainRows || len(test) != s.TestRows {
		return nil, nil, fmt.Errorf("%d training and %d test rows: want %d and %d",
			len(train), len(test), s.TrainRows, s.TestRows)
	}
	// Training and test rows share the list: a row in both would leak its target.
	seen := make([]bool, s.Rows)
	for _, rows := range [][]int{train, test} {
		for _, r := range rows {
			if r < 0 || r >= s.Rows || seen[r] {
				return nil, nil, fmt.Errorf(
					"row %d is out of range or stands twice: want rows 0 to %d, each once",
					r, s.Rows-1)
			}
			seen[r] = true
		}
	}
	return train, test, nil
}

// digest returns the Digest of a split: of each vector its length and its elements, in
// 64-bit little-endian words.
func (s *Set) digest(train, test []int) string {
	// Lengths keep apart what vectors that follow one another would otherwise run together.
	var b []byte
	for _, v := range [][]float64{s.X, s.Y} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
		b, _ = binary.Append(b, binary.LittleEndian, v) // cannot fail for a []float64
	}
	for _, v := range [][]int{s.Labels, train, test} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	return fingerprint.Bytes(b)
}

// standardise replaces every feature, and the target of a regression, by (x − m)/s with
// the mean m and the deviation s of the training rows.
func (p *Split) standardise() {
	for j := range p.Features {
		mean, scale := moments(p.TrainX, p.Features, j)
		rescale(p.TrainX, p.Features, j, mean, scale)
		rescale(p.TestX, p.Features, j, mean, scale)
	}
	if p.Task == Regression {
		p.TargetMean, p.TargetScale = moments(p.TrainY, 1, 0)
		rescale(p.TrainY, 1, 0, p.TargetMean, p.TargetScale)
		rescale(p.TestY, 1, 0, p.TargetMean, p.TargetScale)
	}
}

// moments returns the mean and the deviation of column j of a row-major matrix. A constant
// column has deviation 1, so that it stays constant, or what counts as rounding, if that is more:
// the mean of numbers like 1e23 is off by millions.
func moments(x []float64, columns, j int) (mean, deviation float64) {
	mean, deviation = spread(x, columns, j)
	return mean, cmp.Or(deviation, max(1, roundingOf(mean)))
}

// roundingOf is the deviation up to which a column of such a mean counts as constant.
func roundingOf(mean float64) float64 { return 1e-12 * math.Abs(mean) }

// spread returns the mean and the deviation (divisor n, as numpy's std) of column j of a
// row-major matrix. The deviation is 0 if it is below 1e-12 of the mean, which is rounding of a
// constant, or if its square is too small for a number.
func spread(x []float64, columns, j int) (mean, deviation float64) {
	n := float64(len(x) / columns)
	for i := j; i < len(x); i += columns {
		mean += x[i]
	}
	mean /= n
	var v float64
	for i := j; i < len(x); i += columns {
		v += (x[i] - mean) * (x[i] - mean)
	}
	deviation = math.Sqrt(v / n)
	if deviation <= roundingOf(mean) {
		deviation = 0
	}
	return mean, deviation
}

// rescale replaces column j of a row-major matrix by (x − mean)/scale.
func rescale(x []float64, columns, j int, mean, scale float64) {
	for i := j; i < len(x); i += columns {
		x[i] = (x[i] - mean) / scale
	}
}

// take returns a copy of the rows with the given numbers, in their order.
func take[T any](x []T, columns int, rows []int) []T {
	out := make([]T, 0, len(rows)*columns)
	for _, r := range rows {
		out = append(out, x[r*columns:(r+1)*columns]...)
	}
	return out
}
