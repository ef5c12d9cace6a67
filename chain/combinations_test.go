package chain

import (
	"math"
	"testing"

	"hambench/integrators"
)

// The normals of the coarse chain are independent, of variance 1, whatever the
// scheme; exact friction over h has the weights e^{−Ch/2} and 1 over their
// length, in each of its parts.
func TestCombinationsOfNoise(t *testing.T) {
	const h, friction = 0.3, 1.7
	params := func(h float64) integrators.Params { return integrators.Params{Step: h, Friction: friction} }
	find := func(name string) [][]float64 {
		w, err := Registries{}.Combinations(Spec{Integrator: name, Params: params(h)})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	for _, name := range []string{"euler", "rk2", "leapfrog", "symmetric", "lietrotter", "mt3", "ubu", "quicsort", "sgld", "baoab", "obabo", "split:OBOABOAO"} {
		w := find(name)
		for i, a := range w {
			for j, b := range w {
				sum, want := 0.0, 0.0
				for k := range a {
					sum += a[k] * b[k]
				}
				if i == j {
					want = 1
				}
				if math.Abs(sum-want) > 1e-12 {
					t.Errorf("%s: normals %d and %d have the covariance %v, want %v", name, i, j, sum, want)
				}
			}
		}
	}
	e := math.Exp(-friction * h / 2)
	for _, name := range []string{"baoab", "aboba", "baoa", "lietrotter"} {
		if w := find(name)[0]; math.Abs(w[0]/w[1]-e) > 10*importance {
			t.Errorf("%s: weights %v, want the ratio e^(−Ch/2) = %v", name, w, e)
		}
	}
	// sgld's noise is a Brownian increment.
	if w := find("sgld")[0]; math.Abs(w[0]-w[1]) > importance || w[0] < 0 {
		t.Errorf("sgld: weights %v, want equal ones", w)
	}
	// Two half steps of ubu without a force are one step.
	m, err := integrators.Builtin().Lookup("ubu")
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := m.New(1, params(h))
	half, _ := m.New(1, params(h/2))
	one, two, w := noiseEffects(whole, 1, 3), noiseEffects(half, 2, 6), find("ubu")
	for i := range 2 { // r and θ
		for k := range 6 {
			sum := 0.0
			for j := range w {
				sum += one[i].AtVec(j) * w[j][k]
			}
			if math.Abs(sum-two[i].AtVec(k)) > importance {
				t.Errorf("ubu: normal %d of two half steps adds %v to variable %d, combined %v", k, two[i].AtVec(k), i, sum)
			}
		}
	}
}
