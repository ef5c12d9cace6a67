package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"hambench/models"
	"hambench/models/datasets"
)

// On a linear model the curvature is known, I + ΦᵀΦ/σ², and the spread of two batches is a mean
// over all halves of the rows. It follows from batches of one row each, of which there is one cut.
func TestScalesOfALinearModel(t *testing.T) {
	const rows, inputs, variance = 12, 3, 0.5
	rng := rand.New(rand.NewPCG(5, 5))
	split := &datasets.Split{Features: inputs, NoiseVariance: variance, TestX: make([]float64, inputs), TestY: []float64{0}}
	for range rows {
		for range inputs {
			split.TrainX = append(split.TrainX, rng.NormFloat64())
		}
		split.TrainY = append(split.TrainY, 3*rng.NormFloat64())
	}
	target, err := models.Builtin().New("linear", split, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{0.3, -1, 0.5, 2}
	got, ok := ScalesAt(target, theta)

	phi := mat.NewDense(rows, inputs+1, nil)
	for i := range rows {
		phi.SetRow(i, append([]float64{1}, split.TrainX[i*inputs:(i+1)*inputs]...))
	}
	precision := mat.NewSymDense(inputs+1, nil)
	for i := range inputs + 1 {
		precision.SetSym(i, i, 1)
	}
	precision.SymRankK(precision, 1/variance, phi.T())
	var eigen mat.EigenSym
	eigen.Factorize(precision, false)
	if want := math.Sqrt(eigen.Values(nil)[inputs]); !ok || math.Abs(got.Omega/want-1) > 1e-6 {
		t.Errorf("ω = %g, want %g", got.Omega, want)
	}

	gradient := func(i int) (g [inputs + 1]float64) { // of a row, without the prior's part
		residual := -split.TrainY[i]
		for j, x := range phi.RawRowView(i) {
			residual += theta[j] * x
		}
		for j, x := range phi.RawRowView(i) {
			g[j] = residual * x / variance
		}
		return g
	}
	want, halves := 0.0, combin.Combinations(rows, rows/2)
	for _, half := range halves {
		var difference [inputs + 1]float64 // twice the half's gradient, less that of all
		for i := range rows {
			for j, g := range gradient(i) {
				difference[j] -= g
			}
		}
		for _, i := range half {
			for j, g := range gradient(i) {
				difference[j] += 2 * g
			}
		}
		for _, d := range difference {
			want += d * d / (inputs + 1) / float64(len(halves))
		}
	}
	if math.Abs(got.Spread/want-1) > 1e-9 {
		t.Errorf("spread %g, want %g", got.Spread, want)
	}
}

// A target whose batches do not differ has no scales.
func TestScalesThatCannotBeMeasured(t *testing.T) {
	if s, ok := ScalesAt(normals(0.5, 1, 3), make([]float64, 3)); ok {
		t.Errorf("%+v of a target without rows' differences, want none", s)
	}
}
