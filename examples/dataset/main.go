// Command dataset puts a CSV file of its own through hambench, under a small
// neural network and under the linear model of this program: reference chains,
// distances, scores, a figure and a table. It writes the file first: 500 rows
// of three features and a target that is no linear function of them.
package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/figures"
	"hambench/models"
	"hambench/models/datasets"
)

// writeData writes the file; its numbers are the same every time.
func writeData(path string) error {
	rng := rand.New(rand.NewPCG(2022, 1))
	rows := [][]string{{"load", "angle", "wear", "lifetime"}}
	for range 500 {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		y := a + math.Sin(2*b) - 0.5*a*c + 0.3*rng.NormFloat64()
		var row []string
		for _, v := range []float64{a, b, c, y} {
			row = append(row, strconv.FormatFloat(v, 'f', 4, 64))
		}
		rows = append(rows, row)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// network is the built-in network with one hidden layer of eight units, under
// a name of its own.
func network() (models.Model, error) {
	m, err := models.Builtin().Lookup("bnn")
	if err != nil {
		return m, err
	}
	big, dim := m.New, m.Dim
	m.Name = "network"
	small := func(o models.Options) models.Options { o.Hidden = []int{8}; return o }
	m.Dim = func(s datasets.Shape, o models.Options) int { return dim(s, small(o)) }
	m.New = func(s *datasets.Split, o models.Options) (models.Target, error) { return big(s, small(o)) }
	return m, nil
}

// line is linear regression with an intercept and the prior N(0, I); see the
// program model for what each method is for.
type line struct {
	split *datasets.Split
	order []int
}

var lineModel = models.Model{
	Name: "line", About: "linear regression with an intercept",
	Wants: "regression", Takes: func(s datasets.Shape) bool { return s.Task == datasets.Regression },
	New: func(s *datasets.Split, _ models.Options) (models.Target, error) {
		t := &line{split: s}
		t.Arrange(nil)
		return t, nil
	},
}

func (t *line) Name() string { return lineModel.Name }
func (t *line) Dim() int     { return t.split.Features + 1 }
func (t *line) Rows() int    { return t.split.TrainRows() }
func (t *line) Outputs() int { return t.split.TestRows() }

func (t *line) Arrange(order []int) {
	t.order = append(t.order[:0], order...)
	for i := len(t.order); i < t.Rows(); i++ {
		t.order = append(t.order, i)
	}
}

func (t *line) at(x []float64, row int, theta []float64) (float64, []float64) {
	features := x[row*t.split.Features : (row+1)*t.split.Features]
	return theta[0] + floats.Dot(features, theta[1:]), features
}

func (t *line) Potential(theta []float64) float64 {
	u := floats.Dot(theta, theta) / 2
	for i, y := range t.split.TrainY {
		f, _ := t.at(t.split.TrainX, i, theta)
		u += (f - y) * (f - y) / (2 * t.split.NoiseVariance)
	}
	return u
}

func (t *line) Gradient(g, theta []float64, rows models.Rows) {
	copy(g, theta)
	for _, row := range t.order[rows.Lo:rows.Hi] {
		f, x := t.at(t.split.TrainX, row, theta)
		e := rows.Scale * (f - t.split.TrainY[row]) / t.split.NoiseVariance
		g[0] += e
		floats.AddScaled(g[1:], e, x)
	}
}

func (t *line) Predict(dst, theta []float64) {
	for i := range dst {
		dst[i], _ = t.at(t.split.TestX, i, theta)
	}
}

func (t *line) DrawPrior([]float64) {} // standard normals are draws from N(0, I)

func (t *line) Scores(draws [][]float64) map[string]float64 { return models.Score(t.split, draws) }

// question is the study, as a file states it. Its reference chains are short, for a
// demonstration: without [reference] they are the paper's.
const question = `
title = "A network and a linear model on a file of one's own"
[vary]
model = ["network", "line"]
batch = [32, "full"]
step = [0.002, 0.005, 0.01]
[fix]
data = "bearings"
integrator = "leapfrog"
samples = 80
[reference]
chains = 3
samples = 80
step = 0.01
thin = 250
burn = 2000
error = 0.05
`

// run writes the data into dir, sweeps both models on them, and draws.
func run(ctx context.Context, w io.Writer, dir string) error {
	path := filepath.Join(dir, "bearings.csv")
	if err := writeData(path); err != nil {
		return err
	}
	bearings, err := datasets.FromFile("bearings", path, datasets.FileOptions{Target: "lifetime", NoiseVariance: 0.1})
	if err != nil {
		return err
	}
	small, err := network()
	if err != nil {
		return err
	}
	source := models.NewSource(models.Registry{small, lineModel}, &datasets.Resolver{Registry: datasets.Registry{bearings}})

	file, err := bench.Parse("two-models", []byte(question), bench.Parts{Data: source.Datasets(), Models: source.Models()})
	if err != nil {
		return err
	}
	study, err := file.Study(bench.Profile{})
	if err != nil {
		return err
	}
	plans, err := (&bench.Keys{Source: source}).Resolve(ctx, "", []bench.Study{study})
	if err != nil {
		return err
	}
	s, err := store.Open(filepath.Join(dir, "store"), sweep.Here())
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := (&sweep.Runner{Store: s, Source: source, Made: sweep.MadeHere()}).Run(ctx, plans); err != nil {
		return err
	}
	out, err := figures.Drawer{Results: bench.Results{Store: s}, Dir: dir}.Draw(plans[0])
	if err != nil {
		return err
	}
	fmt.Fprint(w, out.Text)
	return nil
}

func main() {
	dir := "out-dataset"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		log.Fatal(err)
	}
	if err := run(context.Background(), os.Stdout, dir); err != nil {
		log.Fatal(err)
	}
	fmt.Println("figure:", filepath.Join(dir, "two-models.png"))
}
