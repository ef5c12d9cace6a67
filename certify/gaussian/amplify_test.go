package gaussian

import (
	"math/rand/v2"
	"testing"

	"hambench/integrators"

	"gonum.org/v1/gonum/mat"
)

// Definite batches differ by no faster rate than theirs.
func TestPaceOfDefiniteBatchesIsTheirOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20)) // any problems do
	problems := []Problem{{Batches: four, Friction: 1.3}}
	for range 200 {
		p, d := Problem{Friction: 1e-6}, 1+rng.IntN(4)
		for range 2 + rng.IntN(8) {
			half, square := mat.NewDense(d, 1+rng.IntN(2), nil), mat.NewDense(d, d, nil)
			half.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, half)
			square.Mul(half, half.T())
			for i := range d {
				square.Set(i, i, square.At(i, i)+1e-3)
			}
			p.Batches = append(p.Batches, integrators.NewAffine(square.RawMatrix().Data, make([]float64, d)))
		}
		problems = append(problems, p)
	}
	for i, p := range problems {
		g, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		own := p.Friction
		for _, b := range p.Batches {
			_, high := Frequencies(b, g.frame.root)
			own = max(own, high)
		}
		if fast := g.Pace().Fast; fast != own {
			t.Errorf("problem %d: fastest rate %v, of the batches %v", i, fast, own)
		}
	}
}
