package bench

import (
	"math"
	"slices"
)

// Task is what a data set asks for.
type Task string

// The tasks.
const (
	Regression     Task = "regression"
	Classification Task = "classification"
)

// Problem is a data set as the sweeps need to know it before it is loaded.
type Problem struct {
	Dataset  string
	Label    string // for figures and tables
	Task     Task
	Rows     int // training rows
	Features int
	Classes  int
	Model    string
	Builtin  bool   // needs neither file nor network
	Like     string // the data set whose place it takes
	// Stable are steps at which a leapfrog chain with C = 5 was seen to stay
	// finite, while at 2 to 2.5 times the step it left the finite numbers
	// within moments: with the full batch, and with batch size 8. 0 means
	// not reached at 0.1. For estimates of cost only.
	Stable, StableSmall float64
	// Safe is Stable where 0; else the largest step at which every chain
	// with the full batch was seen to stay finite: some starts lie where the
	// curvature is too large for Stable.
	Safe float64
}

// problems are the data sets in the order of the paper's figures, then the
// built-in ones that take their place where UCI data cannot be had.
var problems = []Problem{
	{Dataset: "boston", Label: "Boston", Task: Regression, Rows: 455, Features: 13, Model: "bnn", Stable: 0.02, StableSmall: 0.02},
	{Dataset: "concrete", Label: "Concrete", Task: Regression, Rows: 927, Features: 8, Model: "bnn", Stable: 0.005, StableSmall: 0.002, Safe: 0.002},
	{Dataset: "energy", Label: "Energy", Task: Regression, Rows: 691, Features: 8, Model: "bnn", Stable: 0.002, StableSmall: 0.001},
	{Dataset: "yacht", Label: "Yacht", Task: Regression, Rows: 277, Features: 6, Model: "bnn", Stable: 0.005, StableSmall: 0.001, Safe: 0.002},
	{Dataset: "ionosphere", Label: "Ionosphere", Task: Classification, Rows: 301, Features: 34, Classes: 2, Model: "bnn"},
	{Dataset: "vehicle", Label: "Vehicle", Task: Classification, Rows: 646, Features: 18, Classes: 4, Model: "bnn"},
	{Dataset: "linear", Label: "Synthetic (linear)", Task: Regression, Rows: 128, Features: 1, Model: "linear", Builtin: true, Stable: 0.1, StableSmall: 0.05},
	{Dataset: "teacher-reg", Label: "Teacher network, regression (built in)", Task: Regression, Rows: 455, Features: 13, Model: "bnn", Builtin: true, Like: "boston", Stable: 0.02, StableSmall: 0.02},
	{Dataset: "teacher-cls", Label: "Teacher network, 2 classes (built in)", Task: Classification, Rows: 301, Features: 34, Classes: 2, Model: "bnn", Builtin: true, Like: "ionosphere"},
	{Dataset: "logistic", Label: "Logistic regression", Task: Classification, Rows: 100, Features: 1, Classes: 2, Model: "logistic", Builtin: true},
	{Dataset: "toy", Label: "Toy", Task: Regression, Rows: 2, Model: "toy", Builtin: true},
}

// LookupProblem returns the problem of a data set.
func LookupProblem(dataset string) (p Problem, ok bool) {
	i := slices.IndexFunc(problems, func(p Problem) bool { return p.Dataset == dataset })
	if i < 0 {
		return Problem{}, false
	}
	return problems[i], true
}

// UCI returns the names of the data sets that need a file or the network.
func UCI() []string {
	var names []string
	for _, p := range problems {
		if !p.Builtin {
			names = append(names, p.Dataset)
		}
	}
	return names
}

// sweepProblems are the problems of the sweep figures. Data sets that are
// unavailable are left out; the teacher set of their task takes the place of
// the first.
func sweepProblems(unavailable []string) []Problem {
	var out []Problem
	for _, p := range problems[:7] {
		if !slices.Contains(unavailable, p.Dataset) {
			out = append(out, p)
			continue
		}
		t := teacher(p.Task)
		if !slices.ContainsFunc(out, func(q Problem) bool { return q.Dataset == t.Dataset }) {
			out = append(out, t)
		}
	}
	return out
}

func teacher(t Task) Problem {
	name := "teacher-reg"
	if t == Classification {
		name = "teacher-cls"
	}
	p, _ := LookupProblem(name)
	return p
}

// network reports whether the problem's posterior is known by an oracle's
// chains only.
func (p Problem) network() bool { return p.Model == "bnn" }

// Full is the batch size that stands for all rows.
const Full = 0

// batchSizes are all batch sizes of the profiles.
var batchSizes = []int{8, 16, 32, 64, 128}

// Batches returns K for a batch size: round(rows/size), so that batches
// differ by at most one row and hold about size rows; 1 for Full and for
// sizes above ⅔ of the rows.
func Batches(rows, size int) int {
	if size == Full {
		return 1
	}
	return max(1, int(math.Round(float64(rows)/float64(size))))
}

// BatchSize returns the batch size that the cell's K stands for, Full for
// K = 1. It is the profiles' own size where one gives this K, the rounded
// mean size otherwise, and -1 for an unknown data set.
func (c Cell) BatchSize() int {
	if c.Batches <= 1 {
		return Full
	}
	p, ok := LookupProblem(c.Dataset)
	if !ok {
		return -1
	}
	for _, b := range batchSizes {
		if Batches(p.Rows, b) == c.Batches {
			return b
		}
	}
	return int(math.Round(float64(p.Rows) / float64(c.Batches)))
}

// parameters is the number of parameters of the problem's model, for
// estimates of cost: hidden layers of 50, four for regression and two for
// classification.
func (p Problem) parameters() int {
	switch p.Model {
	case "linear":
		return 256
	case "logistic":
		return 2
	case "toy":
		return 1
	}
	widths := []int{p.Features, 50, 50, 50, 50, 1}
	if p.Task == Classification {
		widths = []int{p.Features, 50, 50, p.Classes}
	}
	n := 0
	for l := 1; l < len(widths); l++ {
		n += (widths[l-1] + 1) * widths[l]
	}
	return n
}
