package draws

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"hambench/internal/atomicfile"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// problem is the content of problem.json: what another program needs, besides the rows, to
// sample a posterior and to predict at the test inputs.
type problem struct {
	Format   string `json:"format"` // with the version
	Data     string `json:"data"`
	Split    int    `json:"split"`
	Task     string `json:"task"` // regression or classification
	Model    string `json:"model"`
	Dim      int    `json:"parameters"`
	Train    int    `json:"train_rows"`
	Test     int    `json:"test_rows"`
	Features int    `json:"features"`
	Classes  int    `json:"classes,omitempty"`
	// A target in its own units is Mean + Scale · y.
	Mean  float64 `json:"target_mean"`
	Scale float64 `json:"target_scale"`
	models.Formula
	Example example `json:"example"`
}

// example is the log density at one point, by which a program checks its own.
type example struct {
	Theta      string  `json:"theta"`
	LogDensity float64 `json:"log_density"`
}

// problemFormat is the format of problem.json.
const problemFormat = "hambench problem 1"

// ProblemFiles are the names of the files that WriteProblem writes.
var ProblemFiles = []string{"problem.json", "train.csv", "test.csv"}

// WriteProblem writes the posterior of a model on a split into a folder, which it makes if
// need be: problem.json with the log density as a formula, its numbers, and its value at
// one point; train.csv and test.csv with the standardised rows. It returns the names of
// the files. They replace those of another problem. A model that states no formula is a usage
// error, and so are files of these names in a folder without such a problem.
func WriteProblem(to, model string, t models.Target, s *datasets.Split) (names []string,
	err error) {
	described := models.CapabilitiesOf(t).Described
	if described == nil {
		return nil, usage.Errorf("model %q does not say its formula: it cannot be exported", model)
	}
	// A point that another program makes in one line, with no coordinate equal to another.
	theta := make([]float64, t.Dim())
	for i := range theta {
		theta[i] = math.Sin(float64(i + 1))
	}
	text, err := json.MarshalIndent(problem{
		Format: problemFormat, Data: s.Name, Split: s.Index, Task: s.Task.String(),
		Model: model, Dim: t.Dim(), Train: s.TrainRows(), Test: s.TestRows(),
		Features: s.Features, Classes: s.Classes, Mean: s.TargetMean, Scale: s.TargetScale,
		Formula: described.Formula(),
		Example: example{"theta[i] = sin(i + 1), i from 0", -t.Potential(theta)},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := checkFolder(to); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, usage.Errorf("folder %s cannot be created: %w", to, err)
	}
	// Each file is written whole or not at all.
	// problem.json is the first: by it checkFolder lets a later run replace the files, even if this
	// one ends before it has written the others.
	for i, text := range [][]byte{append(text, '\n'),
		rowsCSV(s, s.TrainX, s.TrainY, s.TrainLabels), rowsCSV(s, s.TestX, s.TestY, s.TestLabels)} {
		if err := atomicfile.Write(filepath.Join(to, ProblemFiles[i]), text); err != nil {
			return nil, err
		}
	}
	return ProblemFiles, nil
}

// checkFolder returns a usage error if a file that WriteProblem would replace is none that it
// wrote, as far as problem.json beside it tells.
func checkFolder(to string) error {
	var p problem
	text, err := os.ReadFile(filepath.Join(to, ProblemFiles[0]))
	if err == nil && json.Unmarshal(text, &p) == nil && p.Format == problemFormat {
		return nil
	}
	for _, name := range ProblemFiles {
		if _, err := os.Lstat(filepath.Join(to, name)); err == nil {
			return usage.Errorf("%s holds a %s of another program: want another folder", to, name)
		}
	}
	return nil
}

// rowsCSV returns rows as CSV, with all digits of their numbers: x0 … and y, which is a
// target, the number of a class, or, of test rows that have none, empty.
func rowsCSV(s *datasets.Split, x, y []float64, labels []int) []byte {
	var b bytes.Buffer
	for i := range s.Features {
		fmt.Fprintf(&b, "x%d,", i)
	}
	b.WriteString("y\n")
	// Test rows may have inputs and no targets; a set without features has only targets.
	rows := max(len(y), len(labels))
	if s.Features > 0 {
		rows = len(x) / s.Features
	}
	for r := range rows {
		for _, v := range x[r*s.Features : (r+1)*s.Features] {
			fmt.Fprint(&b, v, ",")
		}
		if r < len(y) {
			fmt.Fprint(&b, y[r])
		} else if r < len(labels) {
			fmt.Fprint(&b, labels[r])
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
