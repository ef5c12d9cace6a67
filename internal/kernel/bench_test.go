package kernel

import (
	"fmt"
	"testing"
)

// dim is the number of parameters of the Boston network.
const dim = 8401

// BenchmarkNormals fills a vector; BenchmarkUpdate makes the same normals
// within the update of a leapfrog step, BenchmarkUpdateEach within one whose
// mass differs by coordinate, and BenchmarkWholeStep within all of a step but
// its gradient; BenchmarkCombine adds two vectors.
func BenchmarkNormals(b *testing.B) {
	x := filled(dim)
	eachSet(b, dim, func(s Set) func() {
		n := newNoise(s, 1, 1)
		return func() { n.Normal(x) }
	})
}

func BenchmarkUpdate(b *testing.B) { benchmarkUpdate(b, Coef{All: 0.99}) }

func BenchmarkUpdateEach(b *testing.B) { benchmarkUpdate(b, Coef{Each: make([]float64, dim)}) }

func benchmarkUpdate(b *testing.B, friction Coef) {
	one := Coef{All: 1}
	benchmark(b, &Update{
		Theta: filled(dim), R: filled(dim), G: filled(dim),
		P: friction, A: Coef{All: -1e-3}, Q: one, S: Coef{All: 1e-2}, D: Coef{All: 1e-3},
	})
}

func benchmark(b *testing.B, u *Update) {
	eachSet(b, dim, func(s Set) func() {
		n := newNoise(s, 1, 1)
		return func() { n.Update(u) }
	})
}

// ahead is a gradient in float32 at a drifted position.
func ahead(drift Coef) Likelihood {
	return Likelihood{Float32: Aligned[float32](dim), Next: Aligned[float32](dim), Drift: drift}
}

func BenchmarkWholeStep(b *testing.B) {
	small := Coef{All: 1e-3}
	benchmark(b, &Update{
		Theta: filled(dim), R: filled(dim), likelihood: ahead(small),
		P: Coef{All: 0.99}, A: small, Q: Coef{All: 1}, S: small, D: small,
	})
}

// BenchmarkStillStep is the same without noise.
func BenchmarkStillStep(b *testing.B) {
	small := Coef{All: 1e-3}
	u := &Update{
		Theta: filled(dim), R: filled(dim), likelihood: ahead(small),
		P: Coef{All: 0.99}, A: small, B: small, Q: Coef{All: 1},
	}
	eachSet(b, dim, func(s Set) func() { return func() { s.apply(u, nil) } })
}

func BenchmarkCombine(b *testing.B) {
	x, y := filled(dim), filled(dim)
	terms := []Summand{{C: Coef{All: 1}, X: x}, {C: Coef{All: 1e-3}, X: y}}
	eachSet(b, dim, func(s Set) func() { return func() { s.Combine(x, nil, terms...) } })
}

// eachSet benchmarks what kernel returns on each set of kernels, and reports
// nanoseconds per element.
func eachSet(b *testing.B, n int, kernel func(Set) func()) {
	for _, s := range Sets() {
		b.Run(fmt.Sprintf("n=%d/isa=%s", n, s.Name()), func(b *testing.B) {
			b.ReportAllocs()
			f := kernel(s)
			f()
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		})
	}
}

// filled returns numbers to work on: memory that was never written to is one
// page of zeros, which stays in the first-level cache.
func filled(n int) []float64 {
	x := Aligned[float64](n)
	for i := range x {
		x[i] = 1 + float64(i%7)
	}
	return x
}

// BenchmarkNarrow rounds a vector to float32, as a float32 gradient does.
func BenchmarkNarrow(b *testing.B) {
	x, f := filled(dim), Aligned[float32](dim)
	eachSet(b, dim, func(s Set) func() { return func() { s.Narrow(f, x) } })
}
