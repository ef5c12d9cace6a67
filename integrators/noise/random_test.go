package noise

import (
	"math"
	"math/rand/v2"
	"testing"

	"hambench/internal/kernel"
)

func TestVectorsDependOnKeyStreamAndNumberOnly(t *testing.T) {
	long, short := New(7, StreamNoise), New(7, StreamNoise)
	a, b := make([]float64, 1000), make([]float64, 37)
	for n := range 5 {
		long.Normal(a)
		short.Normal(b)
		for i := range b {
			if a[i] != b[i] {
				t.Fatalf("vector %d element %d depends on the vector's length", n, i)
			}
		}
	}
	for _, other := range []*Stream{New(8, StreamNoise), New(7, StreamStart), New(7|1<<40, StreamNoise)} {
		other.Normal(a)
		short = New(7, StreamNoise)
		short.Normal(b)
		if a[0] == b[0] && a[1] == b[1] {
			t.Error("two streams start alike")
		}
	}
}

// An update must use the vector that Normal would have given, whatever the
// form of its coefficients.
func TestUpdateUsesTheNextVector(t *testing.T) {
	for _, each := range []bool{false, true} {
		for _, n := range []int{1, 31, 64, 65, 200, 8401} {
			u, theta, r := update(n, each)
			fused, plain := New(3, StreamNoise), New(3, StreamNoise)
			xi := make([]float64, n)
			for range 2 { // the second vector must follow the first
				u.Theta, u.R = theta[0], r[0]
				fused.Update(u)
				u.Theta, u.R = theta[1], r[1]
				plain.Normal(xi)
				u.Apply(xi)
			}
			for i := range n {
				// Fused multiply-adds round once where Apply rounds
				// twice: a few units in the last place of numbers near 1.
				if d := math.Abs(r[0][i]-r[1][i]) + math.Abs(theta[0][i]-theta[1][i]); !(d <= 1e-14) {
					t.Fatalf("each %v, n %d, element %d: fused and plain updates differ by %g", each, n, i, d)
				}
			}
		}
	}
}

// update returns an update of length n without its state, and two copies of
// a state.
func update(n int, each bool) (u *kernel.Update, theta, r [2][]float64) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	vector := func() []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	coef := func() kernel.Coef {
		if each {
			return kernel.Coef{Each: vector()}
		}
		return kernel.Coef{All: rng.Float64()}
	}
	theta[0], r[0] = vector(), vector()
	theta[1], r[1] = append([]float64(nil), theta[0]...), append([]float64(nil), r[0]...)
	return &kernel.Update{G: vector(), P: coef(), A: coef(), B: coef(), Q: coef(), S: coef(), D: coef()}, theta, r
}

func TestStreamAllocatesNothing(t *testing.T) {
	for _, each := range []bool{false, true} {
		u, theta, r := update(300, each)
		u.Theta, u.R = theta[0], r[0]
		s := New(1, StreamNoise)
		xi := make([]float64, 300)
		if n := testing.AllocsPerRun(100, func() { s.Update(u); s.Normal(xi) }); n != 0 {
			t.Errorf("each %v: %g allocations a step, want 0", each, n)
		}
	}
}

func TestRandIsPhilox(t *testing.T) {
	r := New(0x0000000200000001, 5).Rand()
	for b := range uint32(3) {
		w := kernel.Philox([4]uint32{b, 0, 0, 5 | 1<<31}, [2]uint32{1, 2})
		for i := 0; i < 4; i += 2 {
			if got, want := r.Uint64(), uint64(w[i])|uint64(w[i+1])<<32; got != want {
				t.Fatalf("block %d word %d: %x, want %x", b, i, got, want)
			}
		}
	}
}

// Two values are a block, whose number has 64 bits: here the 2³³rd and the one after it.
func TestRandCountsItsBlocksWith64Bits(t *testing.T) {
	s := source{key: [2]uint32{1, 2}, stream: 5, next: 1<<34 + 6}
	w := kernel.Philox([4]uint32{3, 2, 0, 5}, [2]uint32{1, 2})
	for i := 0; i < 4; i += 2 {
		if got, want := s.Uint64(), uint64(w[i])|uint64(w[i+1])<<32; got != want {
			t.Errorf("word %d: %x, want %x", i, got, want)
		}
	}
}

func TestNormalsAreTheGenerators(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, x := range Normals(rand.New(rand.NewPCG(1, 2)), 5) {
		if want := rng.NormFloat64(); x != want {
			t.Errorf("number %d is %v, want %v", i, x, want)
		}
	}
}

// A uniform choice among 10: chi-squared with 9 degrees of freedom exceeds
// 27.9 once in 1000 seeds; the seed is fixed.
func TestRandIsUniform(t *testing.T) {
	r := New(11, StreamBatches).Rand()
	const n = 100000
	var count [10]float64
	for range n {
		count[r.IntN(10)]++
	}
	chi := 0.0
	for _, c := range count {
		chi += (c - n/10) * (c - n/10) / (n / 10)
	}
	if chi > 27.9 {
		t.Errorf("chi-squared %.1f of 9 degrees of freedom", chi)
	}
}

func TestKeyOf(t *testing.T) {
	if got := KeyOf("0123456789abcdefffff"); got != 0x0123456789abcdef {
		t.Errorf("KeyOf = %x", got)
	}
	for _, bad := range []string{"", "0123", "g123456789abcdef"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("KeyOf(%q) did not panic", bad)
				}
			}()
			KeyOf(bad)
		}()
	}
}
