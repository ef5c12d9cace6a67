package certify

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"hambench/certify/markov"
)

// plainPace is that of a problem of one frequency.
var plainPace = markov.Pace{Fast: 1, Slow: 1, Largest: 1}

// nodesOf are an error's values at steps that halve, known but for a bound.
func nodesOf(f func(h float64) float64, bound float64) []node {
	var out []node
	for i := range 8 {
		h := math.Ldexp(0.5, -i)
		out = append(out, node{h: h, signed: []float64{f(h)}, bound: bound})
	}
	return out
}

func absolute(x []float64) float64 { return math.Abs(x[0]) }

func TestJudge(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		reason                 string
		error                  func(h float64) float64
		bound                  float64
		claim                  float64
		order, constant, least float64 // NaN: not known
		verdict                Verdict
	}{
		{"a pure power", func(h float64) float64 { return 3 * h * h }, 1e-13, 2, 2, 3, nan, Confirmed},
		{"a series", func(h float64) float64 { return 3 * h * h / (1 - h) }, 1e-13, 2, 2, 3, nan, Confirmed},
		{"below its claim", func(h float64) float64 { return 3 * h * h }, 1e-13, 3, 2, 3, nan, Refuted},
		{"above its claim", func(h float64) float64 { return h * h * h }, 1e-13, 2, 3, 1, nan, Confirmed},
		{"an error that changes its sign", func(h float64) float64 { return h*h - 10*h*h*h }, 1e-13, 2, 2, 1, nan, Confirmed},
		{"a small term below a large one", func(h float64) float64 { return 1e-4*h + h*h }, 1e-13, 2, 1, 1e-4, nan, Refuted},
		{"a term that may be there", func(h float64) float64 { return 1e-6*h + h*h }, 1e-5, 2, nan, nan, 1, Inconclusive},
		{"round-off", func(float64) float64 { return 2e-14 }, 1e-13, 2, nan, nan, nan, Exact},
		{"round-off is not exact if no more is resolved", func(float64) float64 { return 2e-4 }, 1e-3, 2, nan, nan, nan, Inconclusive},
		{"a power that is not whole", func(h float64) float64 { return math.Pow(h, 1.5) }, 1e-13, 1, nan, nan, 1, Confirmed},
		{"a power that is not whole, below its claim", func(h float64) float64 { return math.Pow(h, 1.5) }, 1e-13, 2, nan, nan, 1, Inconclusive},
		{"half a power", math.Sqrt, 1e-13, 1, nan, nan, nan, Inconclusive},
		{"an error that does not vanish", func(float64) float64 { return 0.1 }, 1e-13, 1, 0, 0.1, nan, Refuted},
		{"an error that grows", func(h float64) float64 { return 0.1/h + 1 + h }, 1e-13, 1, -1, 0.1, nan, Refuted},
		{"an error that grows twice as fast", func(h float64) float64 { return 0.1/(h*h) - 3/h }, 1e-13, 1, -2, 0.1, nan, Refuted},
		{"an error of large steps alone", func(h float64) float64 { return 0.1 * math.Round(math.Min(1, 60*h)) }, 1e-13, 1, nan, nan, nan, Inconclusive},
		{"half a power that grows", func(h float64) float64 { return 1 / math.Sqrt(h) }, 1e-13, 1, nan, nan, nan, Inconclusive},
		{"faster than terms are told apart", func(h float64) float64 { return math.Pow(h, 6) }, 1e-9, 2, nan, nan, 3, Confirmed},
	} {
		f := judge(nodesOf(c.error, c.bound), plainPace, absolute)
		if got := f.verdict(c.claim); got != c.verdict {
			t.Errorf("%s: %s, want %s: %+v", c.reason, got, c.verdict, f)
		}
		same := func(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-3*math.Abs(b) }
		if !same(f.order, c.order) || !same(f.constant, c.constant) || !same(f.atLeast, c.least) {
			t.Errorf("%s: %v h^%v, at least %v, want %v h^%v, %v", c.reason, f.constant, f.order, f.atLeast, c.constant, c.order, c.least)
		}
	}
}

// Where rates are far apart, an error of a high order is too small to be seen: none
// is then known to be of the claimed order, if it is there, but not to be absent.
func TestAnErrorMayHide(t *testing.T) {
	nodes := nodesOf(func(h float64) float64 { return 0 }, 1e-10)
	for slow, want := range map[float64]Verdict{0.5: Exact, 1e-3: Confirmed, 1e-6: Inconclusive} {
		if got := judge(nodes, markov.Pace{Fast: 1, Slow: slow, Largest: 1}, absolute).verdict(2); got != want {
			t.Errorf("slowest rate %v: %s, want %s", slow, got, want)
		}
	}
}

// Round-off grows as steps fall, too, and decides nothing.
func TestGrowingRoundOffIsNoError(t *testing.T) {
	nodes := nodesOf(func(h float64) float64 { return h*h + 2e-9/h }, 0)
	for i, n := range nodes {
		nodes[i].bound = 3e-9 / n.h
	}
	if f := judge(nodes, plainPace, absolute); f.verdict(1) != Confirmed || f.order < 0 {
		t.Errorf("%s of order %v, want confirmed", f.verdict(1), f.order)
	}
}

// The first edition confirmed an order by two points, the rest lost.
func TestTwoPointsDecideNothing(t *testing.T) {
	nodes := nodesOf(func(h float64) float64 { return h * h }, 1e-13)
	for i := range nodes[2:] {
		nodes[2+i].bound = 1
	}
	if f := judge(nodes, plainPace, absolute); f.verdict(2) != Inconclusive {
		t.Errorf("%s of order %v, want inconclusive", f.verdict(2), f.order)
	}
}

func TestSlopesAreOfResolvedErrors(t *testing.T) {
	got := localSlopes([]float64{0.05, 0.2, 0.1, 0.025}, []Number{0.0025, 0.04, 0.01, 1e-9}, []Number{1e-6, 1e-6, 1e-6, 1e-6})
	if len(got) != 2 || math.Abs(float64(got[0])-2) > 1e-9 || math.Abs(float64(got[1])-2) > 1e-9 {
		t.Errorf("slopes %v, want 2 and 2", got)
	}
}

// Where a variable remembers steps, an error that falls like h is not of order 0, nor is one that
// is not seen at a step; one that grows or stays is, with its size at the smallest step.
func TestErrorsThatDoNotFall(t *testing.T) {
	at := func(of func(h float64) float64, bound float64) finding {
		var nodes []node
		for i := range 7 {
			h := math.Ldexp(0.004, -i)
			nodes = append(nodes, node{h: h, signed: []float64{of(h)}, bound: bound})
		}
		return judge(nodes, markov.Pace{Fast: 1, Slow: 1, Largest: 0.005, Settled: 1, Memory: 100}, func(x []float64) float64 { return math.Abs(x[0]) })
	}
	limit := func(h float64) float64 { return 0.7 - 2*math.Cbrt(h*h) }
	if f := at(limit, 1e-4); f.order != 0 || !(math.Abs(f.constant-0.7) < 0.01) || f.verdict(1) != Refuted {
		t.Errorf("a limit: %+v", f)
	}
	for name, f := range map[string]finding{"falling": at(func(h float64) float64 { return 3 * h }, 1e-9), "not seen": at(limit, 0.1)} {
		if f.order == 0 || f.verdict(1) == Refuted {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// randomSeries returns functions that are 1 at 0, with a pair of poles and a zero at distances of least to three
// times least, in any direction: their series converge up to the nearer pole.
func randomSeries(rng *rand.Rand, least float64) func(h float64) float64 {
	somewhere := func() complex128 { return cmplx.Rect(least*(1+2*rng.Float64()), 2*math.Pi*rng.Float64()) }
	pole, zero := somewhere(), somewhere()
	return func(h float64) float64 {
		x := complex(h, 0)
		return real((1 + x/zero) / ((1 - x/pole) * (1 - x/cmplx.Conj(pole))))
	}
}

// The uncertainty of a constant holds it, if poles are not far below the largest step, 0.5.
func TestUncertaintiesHoldConstants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	known := 0
	for range 500 {
		series := randomSeries(rng, 0.3)
		f := judge(nodesOf(func(h float64) float64 { return h * h * series(h) }, 1e-10), plainPace, absolute)
		if f.order != 2 {
			continue
		}
		known++
		if off := math.Abs(f.constant - 1); off > f.uncertainty*f.constant {
			t.Errorf("constant %v ± %v, want 1", f.constant, f.uncertainty)
		}
	}
	if known < 450 {
		t.Errorf("%d constants are known of 500", known)
	}
}

// Four points on a line may be there by chance, where all smaller steps are lost: that the error is 0.05 at step 0
// is not known.
func TestFourPointsOnALineDecideNothing(t *testing.T) {
	nodes := nodesOf(func(h float64) float64 { return 0.05 + h }, 1e-13)
	for i := range nodes[4:] {
		nodes[4+i].bound = 1
	}
	if f := judge(nodes, plainPace, absolute); f.verdict(1) != Inconclusive {
		t.Errorf("%s of order %v, want inconclusive", f.verdict(1), f.order)
	}
}
