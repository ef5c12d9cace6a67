// Command model puts a model of its own through hambench: linear regression
// with a Laplace prior, which favours small weights. Its posterior is no
// normal law, its prior is not N(0, I), and it has no Hessian: it takes part
// by what it can do. Reference chains judge it, since it has no exact
// posterior; the largest stable step is estimated from its curvature; tables
// have its scores.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/figures"
	"hambench/models"
	"hambench/models/datasets"
)

// width is b, the mean of |θ| under the prior exp(−|θ|/b)/2b of each weight.
const width = 0.2

// lasso is the entry for a registry of models.
var lasso = models.Model{
	Name:  "lasso",
	About: "linear regression, Laplace prior",
	Wants: "regression on features",
	Takes: func(s datasets.Shape) bool { return s.Task == datasets.Regression && s.Features > 0 },
	Dim:   func(s datasets.Shape, _ models.Options) int { return s.Features },
	New: func(s *datasets.Split, _ models.Options) (models.Target, error) {
		t := &regression{split: s}
		t.Arrange(nil)
		return t, nil
	},
}

// regression is the posterior of y = xᵀθ + noise of the split's variance σ²,
//
//	U(θ) = Σ_i (y_i − x_iᵀθ)²/2σ² + Σ_j |θ_j|/b.
type regression struct {
	split *datasets.Split
	order []int // of the rows: row i is row order[i] of the split
}

// Name is how error messages call the model.
func (t *regression) Name() string { return lasso.Name }
func (t *regression) Dim() int     { return t.split.Features }
func (t *regression) Rows() int    { return t.split.TrainRows() }

// Arrange puts the rows into a new order; batches are ranges of it.
func (t *regression) Arrange(order []int) {
	t.order = append(t.order[:0], order...)
	for i := len(t.order); i < t.Rows(); i++ {
		t.order = append(t.order, i)
	}
}

// residual returns x_iᵀθ − y_i and x_i for row i of the arrangement.
func (t *regression) residual(theta []float64, i int) (float64, []float64) {
	row := t.order[i]
	x := t.split.TrainX[row*t.Dim() : (row+1)*t.Dim()]
	return floats.Dot(x, theta) - t.split.TrainY[row], x
}

// Potential is U over all rows; the Metropolis-corrected check of the
// reference chains needs it.
func (t *regression) Potential(theta []float64) float64 {
	u := floats.Norm(theta, 1) / width
	for i := range t.Rows() {
		e, _ := t.residual(theta, i)
		u += e * e / (2 * t.split.NoiseVariance)
	}
	return u
}

// Gradient is that of the prior plus Scale times that of the rows.
func (t *regression) Gradient(g, theta []float64, rows models.Rows) {
	for j, x := range theta {
		g[j] = math.Copysign(1/width, x)
	}
	for i := rows.Lo; i < rows.Hi; i++ {
		e, x := t.residual(theta, i)
		floats.AddScaled(g, rows.Scale*e/t.split.NoiseVariance, x)
	}
}

// Outputs are the predictions at the test rows, which distances are about.
func (t *regression) Outputs() int { return t.split.TestRows() }

func (t *regression) Predict(dst, theta []float64) {
	for i := range dst {
		dst[i] = floats.Dot(t.split.TestX[i*t.Dim():(i+1)*t.Dim()], theta)
	}
}

// DrawPrior makes a draw from the prior of standard normals.
func (t *regression) DrawPrior(dst []float64) {
	prior := distuv.Laplace{Scale: width}
	for j, z := range dst {
		dst[j] = prior.Quantile(distuv.UnitNormal.CDF(z))
	}
}

// Scores makes the model a models.Scorer: tables show its test error and
// negative log-likelihood.
func (t *regression) Scores(draws [][]float64) map[string]float64 {
	return models.Score(t.split, draws)
}

// question is the study, as a file states it. Its reference chains are short, for a
// demonstration: without [reference] they are the paper's, five chains of 200 samples.
const question = `
title = "Linear regression with a Laplace prior"
[vary]
integrator = ["leapfrog", "baoab"]
step = "stable/8 .. stable/2"
[fix]
data = "teacher-reg"
model = "lasso"
batch = 32
samples = 100
[reference]
chains = 3
samples = 100
thin = 100
burn = 2000
error = 0.05
`

// run estimates the stable steps, sweeps up to them, and draws.
func run(ctx context.Context, w io.Writer, dir string) error {
	source := models.NewSource(append(models.Builtin(), lasso), &datasets.Resolver{Offline: true})
	file, err := bench.Parse("lasso", []byte(question), bench.Parts{Models: source.Models()})
	if err != nil {
		return err
	}
	// The study is listed twice: first to learn whose stable steps it wants, then at these.
	keys := &bench.Keys{Source: source}
	var wanted []bench.Cell
	profile := bench.Profile{Missing: func(c bench.Cell) { wanted = append(wanted, c) }}
	if _, err := file.Study(profile); err != nil {
		return err
	}
	profile.Known, err = keys.StableSteps(ctx, wanted, 1, func(c bench.Cell, h float64, _ int) {
		fmt.Fprintf(w, "largest stable step of %s with batches of %d: %.3g\n", c.Integrator, c.BatchSize, h)
	})
	if err != nil {
		return err
	}
	study, err := file.Study(profile)
	if err != nil {
		return err
	}
	plans, err := keys.Resolve(ctx, "", []bench.Study{study})
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
	dir := "out-model"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(context.Background(), os.Stdout, dir); err != nil {
		log.Fatal(err)
	}
	fmt.Println("figure:", filepath.Join(dir, "lasso.png"))
}
