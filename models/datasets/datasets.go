// Package datasets holds the data that the models are conditioned on: six sets
// of the UCI repository, which the project does not distribute but fetches for
// its user, built-in sets that are generated when needed, and a user's own files.
//
// A Registry lists data sets; each Dataset in it says what is known of a set
// before it is loaded: its task, its sizes, where its files are. Builtin
// returns the project's own registry, and FromFile makes an entry for a file
// with columns of numbers, to be appended to it. A Resolver finds the files of
// the sets in its registry, verifies them and loads a Set. Set.Split divides a
// Set into standardised training and test rows, which is what models take.
package datasets

import (
	"encoding/binary"
	"fmt"
	"math"

	"hambench/usage"
)

// Task is what is predicted.
type Task int

// The tasks.
const (
	Regression Task = iota
	Classification
)

func (t Task) String() string {
	return [...]string{Regression: "regression", Classification: "classification"}[t]
}

// Set is a whole data set as its source has it.
type Set struct {
	Dataset
	X      []float64 // row-major, rows × Features
	Y      []float64 // targets of a regression
	Labels []int     // classes of a classification, 0 … Classes−1
}

// check compares the numbers of a set with what its entry declares.
func (s *Set) check() error {
	rows, other := len(s.Y), len(s.Labels)
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

// checkLabels finds a class beyond the declared number, or one without rows.
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
// deviation of the training rows.
type Split struct {
	Name            string
	Index           int
	Task            Task
	Classes         int
	Features        int
	TrainX, TestX   []float64 // row-major, rows × Features
	TrainY, TestY   []float64 // regression, standardised
	TrainLabels     []int     // classification
	TestLabels      []int
	TargetMean      float64 // a target in its own units is TargetMean + TargetScale·y
	TargetScale     float64
	NoiseVariance   float64 // of the standardised target
	TrainAt, TestAt []int   // row numbers in the set
	// Digest is a SHA-256 of the set's numbers, to the bit, and of TrainAt
	// and TestAt; "" for a split that was not made from a Set.
	Digest string
}

// TrainRows is the number of training rows.
func (s *Split) TrainRows() int { return max(len(s.TrainY), len(s.TrainLabels)) }

// TestRows is the number of test rows.
func (s *Split) TestRows() int { return max(len(s.TestY), len(s.TestLabels)) }

// Shape returns what models must know of the split.
func (s *Split) Shape() Shape {
	return Shape{Task: s.Task, TrainRows: s.TrainRows(), Features: s.Features, Classes: s.Classes}
}

// maxSplits bounds the index of a random split: it costs a permutation, as do
// all those before it.
const maxSplits = 1000

// Split returns the split with an index. An index out of range, and a split of
// other sizes than the set declares, are usage errors.
func (s *Set) Split(index int) (*Split, error) {
	splits := s.Splits
	if splits == 0 {
		splits = maxSplits
	}
	if index < 0 || index >= splits {
		return nil, usage.Errorf("data set %q has no split %d: want 0 to %d", s.Name, index, splits-1)
	}
	train, test, err := s.divide(index)
	if err != nil {
		return nil, usage.Errorf("data set %q, split %d: %w", s.Name, index, err)
	}
	p := &Split{
		Name: s.Name, Index: index, Task: s.Task, Classes: s.Classes, Features: s.Features,
		TargetScale: 1, NoiseVariance: s.NoiseVariance, TrainAt: train, TestAt: test,
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

// divide returns the rows of a split, of which none may stand twice.
func (s *Set) divide(index int) (train, test []int, err error) {
	divide := s.Divide
	if divide == nil {
		divide = permuted(ownSeed, s.Rows, s.TrainRows, s.TestRows)
	}
	train, test = divide(index)
	if len(train) != s.TrainRows || len(test) != s.TestRows {
		return nil, nil, fmt.Errorf("%d training and %d test rows: want %d and %d",
			len(train), len(test), s.TrainRows, s.TestRows)
	}
	seen := make([]bool, s.Rows)
	for _, rows := range [][]int{train, test} {
		for _, r := range rows {
			if r < 0 || r >= s.Rows || seen[r] {
				return nil, nil, fmt.Errorf(
					"row %d is out of range or stands twice: want rows 0 to %d, each once", r, s.Rows-1)
			}
			seen[r] = true
		}
	}
	return train, test, nil
}

// digest is the Digest of a split.
func (s *Set) digest(train, test []int) string {
	var b []byte
	for _, v := range [][]float64{s.X, s.Y} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
		b, _ = binary.Append(b, binary.LittleEndian, v) // fails for other types only
	}
	for _, v := range [][]int{s.Labels, train, test} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	return digest(b)
}

// standardise shifts and scales features and targets by the training rows'
// mean and deviation.
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

// moments returns the mean and the deviation (divisor n, as numpy's std) of
// column j; a constant column keeps deviation 1. A deviation below 1e-12 of
// the mean is round-off of a constant.
func moments(x []float64, columns, j int) (mean, deviation float64) {
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
	if deviation <= 1e-12*math.Abs(mean) {
		deviation = 1
	}
	return mean, deviation
}

func rescale(x []float64, columns, j int, mean, scale float64) {
	for i := j; i < len(x); i += columns {
		x[i] = (x[i] - mean) / scale
	}
}

// take copies the rows at the given numbers.
func take[T any](x []T, columns int, rows []int) []T {
	out := make([]T, 0, len(rows)*columns)
	for _, r := range rows {
		out = append(out, x[r*columns:(r+1)*columns]...)
	}
	return out
}
