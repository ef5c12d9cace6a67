package certify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"hambench/certify/markov"
	"hambench/integrators"
)

// TestMiniBatchesActAsDocsTheorySays holds the law of orders of docs/theory.md to the engine,
// for all integrators of which it is proven and some words, under both schemes. Batches of one
// dimension, equal shifts and curvatures Pᵢ add −2c η² E(Pᵢ − P)²/P to the relative error of θ's
// variance. The coefficient of η² is fitted, with mini-batches and with the full batch, whose
// own error is the integrator's; to three digits, on random problems. With K in place of K + 1
// it would be off by 8 % or more.
func TestMiniBatchesActAsDocsTheorySays(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 6))
	schemes, err := Schemes("reshuffle", "symmetric")
	if err != nil {
		t.Fatal(err)
	}
	all := integrators.Builtin()
	for _, word := range []string{"ABABOBABA", "BBAOABA", "OABBA"} {
		in, err := all.Lookup("split:" + word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, in)
	}
	proven := 0
	for _, in := range all {
		response, reason, err := ResponseOf(in, nil, 1.3)
		if err != nil {
			t.Fatal(err)
		}
		if reason != "" {
			continue
		}
		proven++
		for k := 2; k <= 4; k++ {
			p := &Problem{Kind: Gaussian, Friction: 1.3}
			var mean, square float64
			for range k {
				x := 0.5 + 1.5*rng.Float64()
				mean, square = mean+x/float64(k), square+x*x/float64(k)
				p.gaussian = append(p.gaussian, newAffineForce([]float64{x}, []float64{0}))
			}
			whole := &Problem{Kind: Gaussian, Friction: p.Friction,
				gaussian: []*affineForce{newAffineForce([]float64{mean}, []float64{0})}}
			unit := (square - mean*mean) / mean
			for _, scheme := range schemes {
				var fitted [2]float64 // with mini-batches and with all of them as one
				for i, of := range []*Problem{p, whole} {
					o := Options{Problem: of}
					given, err := o.engine()
					if err != nil {
						t.Fatal(err)
					}
					solver := newSolver(&o, given, in)
					found := quadratic(t, func(h float64) (markov.Point, error) {
						return solver.at(context.Background(), scheme, h)
					}, 0.2)
					if v := found[1].value; v != nil { // no error at all has none
						fitted[i] = v[0]
					}
				}
				got, want := fitted[0]-fitted[1], -2*response.Coefficient(k)*unit
				if !(math.Abs(got-want) < 1e-3*max(math.Abs(want), 0.1*unit)) {
					t.Errorf("%s, %s, K = %d: mini-batches add %.6g h² to θ's variance, want %.6g",
						in.Name, scheme.Name, k, got, want)
				}
			}
		}
	}
	if proven < 17 {
		t.Errorf("the law is proven of %d integrators: want 17 or more", proven)
	}
}

// TestResponsesAreThoseOfTheWords compares what is measured of splittings with the sums over
// their kicks, and the coefficients with those that docs/theory.md states.
func TestResponsesAreThoseOfTheWords(t *testing.T) {
	type kick struct{ weight, time float64 }
	middle, ends := []kick{{1, 0.5}}, []kick{{0.5, 0}, {0.5, 1}}
	for name, kicks := range map[string][]kick{
		"leapfrog": middle, "aboba": middle, "lietrotter": middle, "symmetric": middle, "ubu": middle,
		"baoab": ends, "obabo": ends, "baoa": {{1, 0}}, "split:OAB": {{1, 1}},
		"split:ABABOBABA": {{0.25, 0.25}, {0.5, 0.5}, {0.25, 0.75}},
		"split:BBAOABA":   {{2. / 3, 0}, {1. / 3, 2. / 3}},
	} {
		in, err := integrators.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		response, reason, err := ResponseOf(in, nil, 2)
		if err != nil || reason != "" {
			t.Fatalf("%s: %s, %v", name, reason, err)
		}
		for _, k := range []int{2, 7, 40} {
			want := float64(k+1) / 12
			for _, a := range kicks {
				for _, b := range kicks {
					want -= a.weight * b.weight * math.Abs(a.time-b.time) / 4
				}
			}
			if got := response.Coefficient(k); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s, K = %d: coefficient %.8g, of the word %.8g", name, k, got, want)
			}
		}
	}
	for name, want := range map[string]float64{ // at K = 10
		"exact": 10. / 12, "mt3": 10. / 12, "quicsort": 10. / 12, "rk2": 11. / 12, "euler": 8. / 12,
		"leapfrog": 11. / 12, "baoab": 19. / 24,
	} {
		in, err := integrators.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		response, _, err := ResponseOf(in, nil, 2)
		if got := response.Coefficient(10); err != nil || math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: coefficient %.8g, want %.8g (%v)", name, got, want, err)
		}
	}
}
