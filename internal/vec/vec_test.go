package vec

import (
	"math"
	"testing"
)

// Results are sums of few numbers below 10, so they are within some units of
// 1e-15 of the definition.
const tol = 1e-14

func ramp(n int, slope float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = slope * float64(i%23-11)
	}
	return x
}

func TestAddScaled(t *testing.T) {
	for _, n := range []int{1, 31, 100} {
		each := ramp(n, 0.03)
		for _, a := range []Coef{{All: 0.7}, {Each: each}} {
			x, y, was := ramp(n, 0.1), ramp(n, -0.2), ramp(n, -0.2)
			AddScaled(y, a, x)
			for i := range y {
				if want := was[i] + a.At(i)*x[i]; !(math.Abs(y[i]-want) <= tol) {
					t.Errorf("length %d element %d is %g, want %g", n, i, y[i], want)
				}
			}
		}
	}
}

func TestCombineInPlace(t *testing.T) {
	const n = 77
	x, y, was := ramp(n, 0.1), ramp(n, -0.2), ramp(n, 0.1)
	Combine(x, Term{C: Coef{All: 2}, X: x}, Term{C: Coef{All: -1}, X: y}, Term{C: Coef{All: 0.5}, X: x})
	for i := range x {
		if want := 2.5*was[i] - y[i]; !(math.Abs(x[i]-want) <= tol) {
			t.Errorf("element %d is %g, want %g", i, x[i], want)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	x, y := ramp(100, 1), ramp(100, 2)
	u := &Update{Theta: x, R: y, P: Coef{Each: ramp(100, 1e-3)}, Q: Coef{All: 1}}
	if n := testing.AllocsPerRun(20, func() {
		AddScaled(x, Coef{All: 1e-3}, y)
		Combine(x, Term{C: Coef{All: 1}, X: x}, Term{C: u.P, X: y})
		u.Apply(y)
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}
