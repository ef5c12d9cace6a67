package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"slices"
)

// The skewness of a difference of two means of exponential draws, by 20 000 such differences.
// A sample's skewness is off by 0.017 from one seed to another, and limits are nearly six times
// that: for normal errors once in 50 million seeds.
func TestSkewnessOfADifferenceIsThatOfManyDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.ExpFloat64()
		}
		return x
	}
	for _, c := range []struct{ ref, own int }{{400, 20}, {20, 400}} {
		values := make([]float64, 20_000)
		for i := range values {
			values[i] = stat.Mean(draw(c.own), nil) - stat.Mean(draw(c.ref), nil)
		}
		want := stat.Skew(values, nil)
		// Sizes are stated: estimates of them are tested elsewhere.
		x := draw(40_000)
		p := pooled{chains: []int{20_000, 20_000}, reference: 1, split: 20_000}.like(x)
		d := p.compare(limits{ref: limit{size: float64(c.ref)}, own: limit{size: float64(c.own)}})
		if math.Abs(d.skew-want) > 0.1 {
			t.Errorf("means of %d less those of %d: skewness %.3f, want %.3f", c.own, c.ref, d.skew, want)
		}
	}
}

// White noise has a short window. One that a slower score asks for makes the size no larger
// than chance does, and the freedom smaller.
func TestAWindowIsAtLeastAsLongAsAsked(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 4000)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	scratch := make([]float64, 2*len(x))
	for _, least := range []int{0, 3, 100} {
		a := averageOf(x, scratch, []int{2000, 2000}, least)
		want := max(least, window/2)
		if a.lag < want || a.lag > want+3 || a.freedom != 4000/float64(2*a.lag+1) {
			t.Errorf("at least %d: lag %d, freedom %g", least, a.lag, a.freedom)
		}
	}
}

// A score of one value has the size of all its values, also where its mean rounds to another number.
func TestAConstantScoreHasAllItsValues(t *testing.T) {
	for _, v := range []float64{0.1, 1. / 3, -0.7, 0, 1e300} {
		for _, n := range []int{40, 600, 999} {
			x := slices.Repeat([]float64{v}, 2*n)
			if a := averageOf(x, make([]float64, 4*n), []int{n, n}, 0); a.mean != v || a.size != float64(2*n) || a.freedom != float64(2*n) {
				t.Errorf("%d times %v: mean %v, size %v, freedom %v", 2*n, v, a.mean, a.size, a.freedom)
			}
		}
	}
}

// A series that rings, with the correlations φᵗ cos(wt), has a slow square: whether it is above a
// value has, of the second Hermite term, the correlations c φ²ᵗ (1 + cos(2wt))/2, with c = 0.031 at
// the sixth sixteenth, whose sum is about c/2/(1 − φ²). Beside the ringing of the first term a short
// window sees nothing of it.
func TestASlowPartBesideRingingIsSeen(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const phi, w, n, chains = 0.998, 2.0, 4000, 4
	var sum float64
	const series = 20
	for range series {
		var x []float64
		for range chains {
			u, v := rng.NormFloat64(), rng.NormFloat64()
			for range n {
				u, v = phi*(u*math.Cos(w)-v*math.Sin(w)), phi*(u*math.Sin(w)+v*math.Cos(w))
				u, v = u+math.Sqrt(1-phi*phi)*rng.NormFloat64(), v+math.Sqrt(1-phi*phi)*rng.NormFloat64()
				above := 0.0
				if u > 0.3186 {
					above = 1
				}
				x = append(x, above)
			}
		}
		sum += 1 / averageOf(x, make([]float64, 2*len(x)), []int{n, n, n, n}, 0).size
	}
	want := (1 + 0.031/(1-phi*phi)) / (n * chains) // twice the sum, over all values
	if got := sum / series; got < 0.6*want || got > 1.6*want {
		t.Errorf("variance of the mean %.4g, want %.4g", got, want)
	}
}

// Of a reference with few independent draws, the distances in its tail tell less of how fast the
// tail falls. With one of them the power is bounded by an exponential law's quantile, log(1/0.95).
func TestATailOfFewIndependentDrawsBoundsLess(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, 1001)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	x[1000] = 6
	p := pooled{x: x, split: 1000}
	all, one := p.farthest(1), p.farthest(0)
	if all.at != 6 || one.at != 6 || all.expected >= one.expected || all.expected > 1e-3 {
		t.Errorf("%+v with 1000 independent draws, %+v with one", all, one)
	}
	// The same, by the definition.
	var far []float64
	for _, v := range x[:1000] {
		far = append(far, math.Abs(v-all.median))
	}
	order := make([]int, len(far))
	floats.Argsort(far, order)
	start, logs := far[899], 0.0
	for _, v := range far[900:] {
		logs += math.Log(v / start)
	}
	falls := -math.Log(0.95) * 100 / logs
	largest := 6 - all.median
	want := max(0.1*math.Pow(largest/start, -falls), math.Pow(largest/far[999], -falls)/1000)
	if math.Abs(one.expected-want) > 1e-9 {
		t.Errorf("with one independent draw %g expected, want %g", one.expected, want)
	}
}
