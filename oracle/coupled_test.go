package oracle

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Differences of known means and deviations, which remember one another: the bias
// is the root mean square of the means, and chance that of the standard errors.
// Over seeds the bias scatters by 0.28 of chance or less, and chance by 1.3 %: a
// bias off by 1.5 of chance, or a chance off by 8 %, comes once in 500 000 seeds.
func TestCoupledBias(t *testing.T) {
	const samples, values, sd, memory = 4000, 20, 0.5, 0.6
	for _, mean := range []float64{0, 0.3} {
		rng := rand.New(rand.NewPCG(1, 2))
		differences, x := make([][]float64, samples), make([]float64, values)
		for i := range differences {
			for v := range x {
				x[v] = memory*x[v] + math.Sqrt(1-memory*memory)*sd*rng.NormFloat64()
				differences[i] = append(differences[i], x[v]+mean*math.Copysign(1, float64(v%2)-0.5))
			}
		}
		bias, chance := CoupledBias(differences)
		want := sd / math.Sqrt(samples) * math.Sqrt((1+memory)/(1-memory))
		if math.Abs(bias-mean) > 1.5*want || math.Abs(chance/want-1) > 0.08 {
			t.Errorf("bias %v, by chance %v: want %v, and %v", bias, chance, mean, want)
		}
	}
	if bias, chance := CoupledBias([][]float64{{1, 1}, {1, 1}, {1, 1}, {1, 1}}); bias != 1 || chance != 0 {
		t.Errorf("of equal differences: %v, %v, want 1, 0", bias, chance)
	}
}

// Of means that chance alone makes, half have no bias left: without what is taken off for chance
// none had. Of 200 sets of ten independent differences the share has a standard error of 0.035: it
// leaves 0.3 to 0.8 less than once in 100 000 seeds.
func TestCoupledBiasIsLessWhatChanceAdds(t *testing.T) {
	rng, none := rand.New(rand.NewPCG(3, 4)), 0
	const sets = 200
	for range sets {
		differences := make([][]float64, 100)
		for i := range differences {
			for range 10 {
				differences[i] = append(differences[i], rng.NormFloat64())
			}
		}
		if bias, _ := CoupledBias(differences); bias == 0 {
			none++
		}
	}
	if share := float64(none) / sets; share < 0.3 || share > 0.8 {
		t.Errorf("a share of %.2f has no bias, want about a half", share)
	}
}
