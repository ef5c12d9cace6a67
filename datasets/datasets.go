// Package datasets finds, verifies, parses and splits the data that the
// models are conditioned on: six sets of the UCI repository, which the
// project does not hold and fetches for its user, and built-in sets that are
// made on the spot.
package datasets

import (
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

// Set is a whole data set as it stands in its source.
type Set struct {
	Name          string
	Task          Task
	Classes       int       // of a classification
	Features      int       // columns of X
	X             []float64 // row-major, rows × Features
	Y             []float64 // targets of a regression
	Labels        []int     // classes of a classification, 0 … Classes−1
	NoiseVariance float64   // σ² of the Gaussian likelihood on the standardised target
	Builtin       bool      // made by the project, from no file

	split  func(index int) (train, test []int)
	splits int  // how many there are
	plain  bool // used as it is: not standardised
}

// Rows is the number of rows.
func (s *Set) Rows() int { return max(len(s.Y), len(s.Labels)) }

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
	Builtin         bool
	TrainAt, TestAt []int // row numbers in the set
}

// TrainRows and TestRows are the numbers of rows.
func (s *Split) TrainRows() int { return max(len(s.TrainY), len(s.TrainLabels)) }
func (s *Split) TestRows() int  { return max(len(s.TestY), len(s.TestLabels)) }

// maxSplits bounds the index of a random split: it costs a permutation, as do
// all those before it.
const maxSplits = 1000

// Split returns the split of an index; one out of range is a usage error.
func (s *Set) Split(index int) (*Split, error) {
	if index < 0 || index >= s.splits {
		return nil, usage.Errorf("data set %q has no split %d: want 0 to %d", s.Name, index, s.splits-1)
	}
	train, test := s.split(index)
	p := &Split{
		Name: s.Name, Index: index, Task: s.Task, Classes: s.Classes, Features: s.Features,
		TargetScale: 1, NoiseVariance: s.NoiseVariance, Builtin: s.Builtin, TrainAt: train, TestAt: test,
		TrainX: take(s.X, s.Features, train), TestX: take(s.X, s.Features, test),
	}
	if s.Task == Classification {
		p.TrainLabels, p.TestLabels = pick(s.Labels, train), pick(s.Labels, test)
	} else {
		p.TrainY, p.TestY = take(s.Y, 1, train), take(s.Y, 1, test)
	}
	if !s.plain {
		p.standardise()
	}
	return p, nil
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
func take(x []float64, columns int, rows []int) []float64 {
	out := make([]float64, 0, len(rows)*columns)
	for _, r := range rows {
		out = append(out, x[r*columns:(r+1)*columns]...)
	}
	return out
}

func pick(x []int, rows []int) []int {
	out := make([]int, len(rows))
	for i, r := range rows {
		out[i] = x[r]
	}
	return out
}
