package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hambench/datasets"
	"hambench/internal/atomicfile"
	"hambench/models"
	"hambench/usage"
)

func dataExportCommand() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use: "export", Short: "Writes what another program needs to sample the same posterior.",
		Long: `train.csv and test.csv hold the standardised rows of a split: inputs x0 …, and the
target, y, or the number of the class. problem.json holds the log density as a
formula, the numbers in it, and its value at one point, to compare with. Draws of
the predictive values are then judged by hambench judge.`,
		Example: "hambench data export --dataset linear --to problem", RunE: f.run,
	}
	fs := c.Flags()
	registerData(fs, &f.data)
	f.registerPosterior(fs)
	fs.StringVar(&f.to, "to", "", "`DIR` folder that the files are written to")
	return c
}

// exportFlags are the command's flags.
type exportFlags struct {
	posterior
	data, to string
}

// exportedProblem is problem.json.
type exportedProblem struct {
	Format   string `json:"format"`
	Data     string `json:"data"`
	Split    int    `json:"split"`
	Task     string `json:"task"`
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

// example is the log density at one point.
type example struct {
	Theta      string  `json:"theta"`
	LogDensity float64 `json:"log_density"`
}

func (f *exportFlags) run(c *cobra.Command, _ []string) error {
	ctx := c.Context()
	if f.to == "" {
		return usage.Errorf("%s: --to is empty: want a folder", c.CommandPath())
	}
	keys, err := f.keys(f.data)
	if err != nil {
		return err
	}
	defer keys.Source.Close()
	target, err := f.target(ctx, keys.Source, models.Options{Precision: "float64"})
	if err != nil {
		return err
	}
	s, err := keys.Source.Split(ctx, f.dataset, f.split)
	if err != nil {
		return err
	}
	described, ok := target.(models.Described)
	if !ok {
		return usage.Errorf("model %q does not say its formula: it cannot be exported", f.model)
	}
	theta := make([]float64, target.Dim())
	for i := range theta {
		theta[i] = math.Sin(float64(i + 1))
	}
	problem, err := json.MarshalIndent(exportedProblem{
		Format: "hambench problem 1", Data: s.Name, Split: s.Index, Task: s.Task.String(), Model: f.model, Dim: target.Dim(),
		Train: s.TrainRows(), Test: s.TestRows(), Features: s.Features, Classes: s.Classes, Mean: s.TargetMean, Scale: s.TargetScale,
		Formula: described.Formula(), Example: example{"theta[i] = sin(i + 1), i from 0", -target.Potential(theta)},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.to, 0o755); err != nil {
		return usage.Errorf("folder %s cannot be created: %w", f.to, err)
	}
	for name, text := range map[string][]byte{
		"problem.json": append(problem, '\n'), "train.csv": rowsCSV(s, s.TrainX, s.TrainY, s.TrainLabels), "test.csv": rowsCSV(s, s.TestX, s.TestY, s.TestLabels),
	} {
		if err := atomicfile.Write(filepath.Join(f.to, name), text); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: problem.json, train.csv, test.csv\n", f.to)
	return nil
}

// rowsCSV writes rows with all their digits; test rows may have no target.
func rowsCSV(s *datasets.Split, x, y []float64, labels []int) []byte {
	var b bytes.Buffer
	for i := range s.Features {
		fmt.Fprintf(&b, "x%d,", i)
	}
	b.WriteString("y\n")
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
