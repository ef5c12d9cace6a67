package markov

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestSolveLinearSolvesAndGivesUp(t *testing.T) {
	// A matrix far from normal, with its diagonal as preconditioner.
	const n = 80
	apply := func(x []float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = float64(i+1) * x[i]
			if i+1 < n {
				y[i] += 3 * x[i+1]
			}
		}
		return y
	}
	solve := func(y []float64) []float64 {
		x := append([]float64(nil), y...)
		for i := range x {
			x[i] /= float64(i + 1)
		}
		return x
	}
	want := make([]float64, n)
	for i := range want {
		want[i] = math.Sin(float64(i))
	}
	b := apply(want)
	got, left := SolveLinear(context.Background(), apply, solve, b, ResidualGoal)
	if off := floats.Distance(got, want, math.Inf(1)); left > 1e-12*floats.Norm(b, 2) || !(off <= 1e-10) { // condition about 1e3
		t.Errorf("off by %v, residual %v", off, left)
	}
	if _, left := SolveLinear(context.Background(), apply, solve, []float64{0: 1, 1: math.NaN(), n - 1: 0}, ResidualGoal); left == left {
		t.Errorf("a right-hand side that is not a number is solved, with residual %v", left)
	}
	same := func(x []float64) []float64 { return append([]float64(nil), x...) }
	zero := func(x []float64) []float64 { return make([]float64, len(x)) }
	if _, left := SolveLinear(context.Background(), zero, same, want, ResidualGoal); left < floats.Norm(want, 2)/2 {
		t.Error("a singular system was solved")
	}
}
