package models

import (
	"math"
	"testing"

	"hambench/datasets"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Max(1, math.Abs(b)) }

// One test row with y = 10 + 2·1 = 12 in its own units, draws f = 0 and 2: the
// mean is right, so the error is 0; each draw's density of the target is
// N(12; 10 or 14, 2²·0.25).
func TestRegressionScores(t *testing.T) {
	s := scores{&datasets.Split{
		Task: datasets.Regression, TestY: []float64{1}, TargetMean: 10, TargetScale: 2, NoiseVariance: 0.25,
	}}
	got := s.Scores([][]float64{{0}, {2}})
	want := -math.Log(math.Exp(-2*2/(2*1.0)) / math.Sqrt(2*math.Pi*1.0))
	if !near(got["rmse"], 0) || !near(got["mnll"], want) || len(got) != 2 {
		t.Errorf("scores %v: want rmse 0, mnll %g", got, want)
	}
}

// Two rows and unequal draws: the mixture's density is the mean of
// densities, not the density of the mean, nor the mean of logarithms.
func TestRegressionScoresAreOfTheMixture(t *testing.T) {
	s := scores{&datasets.Split{
		Task: datasets.Regression, TestY: []float64{0, 3}, TargetScale: 5, NoiseVariance: 1,
	}}
	draws := [][]float64{{1, 3}, {2, 5}, {-1, 0}}
	density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / 5 }
	mnll := -(math.Log((density(1)+density(2)+density(1))/3) + math.Log((density(0)+density(2)+density(3))/3)) / 2
	rmse := 5 * math.Sqrt((4.0/9+1.0/9)/2) // means 2/3 and 8/3
	got := s.Scores(draws)
	if !near(got["rmse"], rmse) || !near(got["mnll"], mnll) {
		t.Errorf("scores %v: want rmse %g, mnll %g", got, rmse, mnll)
	}
	// Far from every draw the densities underflow; their logarithm must not.
	far := scores{&datasets.Split{Task: datasets.Regression, TestY: []float64{100}, TargetScale: 1, NoiseVariance: 0.01}}
	want := 1e4/0.02 + math.Log(2*math.Pi*0.01)/2
	if got := far.Scores([][]float64{{0}})["mnll"]; !near(got, want) {
		t.Errorf("mnll %g at 1000 deviations: want %g", got, want)
	}
}

func TestTwoClassScores(t *testing.T) {
	s := scores{&datasets.Split{Task: datasets.Classification, Classes: 2, TestLabels: []int{1, 0, 0}}}
	got := s.Scores([][]float64{{0.9, 0.2, 0.7}, {0.5, 0.4, 0.9}})
	want := -(math.Log(0.7) + math.Log(0.7) + math.Log(0.2)) / 3
	if !near(got["accuracy"], 2.0/3) || !near(got["mnll"], want) {
		t.Errorf("scores %v: want accuracy 2/3, mnll %g", got, want)
	}
}

func TestThreeClassScores(t *testing.T) {
	s := scores{&datasets.Split{Task: datasets.Classification, Classes: 3, TestLabels: []int{2, 0}}}
	got := s.Scores([][]float64{
		{0.1, 0.2, 0.7, 0.3, 0.6, 0.1},
		{0.6, 0.2, 0.2, 0.5, 0.2, 0.3},
	})
	want := -(math.Log(0.45) + math.Log(0.4)) / 2
	if !near(got["accuracy"], 1) || !near(got["mnll"], want) { // row 1: 0.4, 0.4, 0.2: a tie, the first wins
		t.Errorf("scores %v: want accuracy 1, mnll %g", got, want)
	}
}

func TestScoresOfNothing(t *testing.T) {
	s := scores{&datasets.Split{Task: datasets.Regression, TestY: []float64{1}, NoiseVariance: 1, TargetScale: 1}}
	if got := s.Scores(nil); len(got) != 0 {
		t.Errorf("scores without draws: %v", got)
	}
	if got := (scores{&datasets.Split{Task: datasets.Regression}}).Scores([][]float64{{}}); len(got) != 0 {
		t.Errorf("scores without test rows: %v", got)
	}
}

// Draws from the exact posterior must predict as well as the noise allows:
// the targets' deviation around the function is √0.1, and 200 test rows
// estimate it to 5 % (one standard error); the extra spread is the
// posterior's, in the gap and beyond the data.
func TestLinearPredictsItsData(t *testing.T) {
	target, err := Builtin().New("linear", builtin(t, "linear"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean, _ := target.(Analytic).PredictiveMarginals()
	got := target.(Scorer).Scores([][]float64{mean})["rmse"]
	if noise := math.Sqrt(0.1); got < 0.85*noise || got > 1.6*noise {
		t.Errorf("rmse of the posterior mean is %.3f: want about %.3f", got, noise)
	}
}
