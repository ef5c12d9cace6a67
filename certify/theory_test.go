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
// for words of kicks and drifts. Batches of one dimension, equal shifts and curvatures Pᵢ add
// −2c η² E(Pᵢ − P)²/P to the relative error of θ's variance, with
//
//	c = (K + 1)/12 − ¼ Σ_a Σ_b w_a w_b |t_a − t_b|
//
// for kicks of weight w_a at times t_a. The coefficient of η² is fitted, with mini-batches and
// with the full batch, whose own error is the integrator's; to three digits, on random
// problems. With K in place of K + 1 it would be off by 8 % or more.
func TestMiniBatchesActAsDocsTheorySays(t *testing.T) {
	type kick struct{ weight, time float64 }
	middle := []kick{{1, 0.5}}
	ends := []kick{{0.5, 0}, {0.5, 1}}
	rng := rand.New(rand.NewPCG(31, 6))
	schemes, err := Schemes("reshuffle")
	if err != nil {
		t.Fatal(err)
	}
	for word, kicks := range map[string][]kick{
		"leapfrog": middle, "aboba": middle, "baoab": ends, "obabo": ends,
		"split:ABABOBABA": {{0.25, 0.25}, {0.25, 0.5}, {0.25, 0.5}, {0.25, 0.75}},
	} {
		in, err := integrators.Builtin().Lookup(word)
		if err != nil {
			t.Fatal(err)
		}
		for k := 2; k <= 5; k++ {
			p := &Problem{Kind: Gaussian, Friction: 1.3}
			var mean, square float64
			for range k {
				x := 0.5 + 1.5*rng.Float64()
				mean, square = mean+x/float64(k), square+x*x/float64(k)
				p.gaussian = append(p.gaussian, newAffineForce([]float64{x}, []float64{0}))
			}
			all := &Problem{Kind: Gaussian, Friction: p.Friction,
				gaussian: []*affineForce{newAffineForce([]float64{mean}, []float64{0})}}
			var fitted [2]float64 // with mini-batches and with all of them as one
			for i, of := range []*Problem{p, all} {
				o := Options{Problem: of}
				given, err := o.engine()
				if err != nil {
					t.Fatal(err)
				}
				solver := newSolver(&o, given, in)
				found := quadratic(t, func(h float64) (markov.Point, error) {
					return solver.at(context.Background(), schemes[0], h)
				}, 0.2)
				fitted[i] = found[1].value[0]
			}
			c := float64(k+1) / 12
			for _, a := range kicks {
				for _, b := range kicks {
					c -= a.weight * b.weight * math.Abs(a.time-b.time) / 4
				}
			}
			want := -2 * c * (square - mean*mean) / mean
			if got := fitted[0] - fitted[1]; math.Abs(got/want-1) > 1e-3 {
				t.Errorf("%s, K = %d: mini-batches add %.6g h² to θ's variance, want %.6g", word, k,
					got, want)
			}
		}
	}
}
