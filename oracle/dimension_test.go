package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"hambench/integrators/noise"
	"hambench/internal/long"
	"hambench/models"
	"hambench/models/datasets"
)

// The table of dimensions on the page of the theory: linear models of d features on N = 4d rows
// of independent normals, σ² = 1, in batches of a fixed number and of a fixed size. Of the law of
// heat at C = ω it states the rise of the temperature, ηV/(2C), at ηω = 0.1; numbers may be off
// by the rounding of machines.
func TestLongTableOfDimensions(t *testing.T) {
	long.Test(t)
	page, err := os.ReadFile("../docs/theory.md")
	if err != nil {
		t.Fatal(err)
	}
	for d := 16; d <= 1024; d *= 2 {
		rows, rng := 4*d, rand.New(rand.NewPCG(7, uint64(d)))
		split := &datasets.Split{Features: d - 1, NoiseVariance: 1, TestX: make([]float64, d-1), TestY: []float64{0}}
		for range rows {
			y := rng.NormFloat64()
			for range d - 1 {
				x := rng.NormFloat64()
				split.TrainX, y = append(split.TrainX, x), y+x
			}
			split.TrainY = append(split.TrainY, y)
		}
		target, err := models.Builtin().New("linear", split, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		theta := make([]float64, d)
		law, err := NewAnalytic("linear", target)
		if err != nil {
			t.Fatal(err)
		}
		law.DrawStart(theta, noise.New(1, noise.StreamStart).Rand())
		s, ok := ScalesAt(target, theta)
		if !ok {
			t.Fatalf("d = %d: no scales", d)
		}
		heat := func(k int) float64 { return 0.1 * s.Spread * float64(k-1) / (2 * s.Omega * s.Omega) }
		want := fmt.Sprintf("| %d | %d | %.0f | %.3f | %d | %.2g |", d, rows, s.Omega, heat(8), rows/8, heat(rows/8))
		if !strings.Contains(string(page), "\n"+want+"\n") {
			t.Errorf("docs/theory.md lacks the line %s", want)
		}
	}
}
