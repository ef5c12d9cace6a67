package mlp

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"hambench/integrators"
	"hambench/internal/kernel"
	"hambench/internal/random"
)

// The benchmarks run on Boston's network, 13-50-50-50-50-1 with 8 401
// parameters. %peak is the share of the multiply-adds that a register loop
// does in the same run: of weights only (no biases), and only of products
// that are needed. Both sides are the best of several runs of about a
// millisecond, so that a busy machine disturbs the ratio little.

var boston = []int{13, 50, 50, 50, 50, 1}

// multiplyAdds counts those per data row of a gradient: forward, by weights,
// and by inputs but for the first layer; and of a Hessian-vector product,
// where the first and the last of these have tangents of two terms each.
func multiplyAdds(hessian bool) float64 {
	all := 0
	for l, in := range boston[:len(boston)-1] {
		all += in * boston[l+1]
	}
	first := boston[0] * boston[1]
	if hessian {
		return float64(8*all - 5*first)
	}
	return float64(3*all - first)
}

func BenchmarkGradient(b *testing.B) {
	eachCase(b, func(n *Net, g, theta []float64, rows int) (func(), float64) {
		return func() { n.Gradient(g, theta, 0, rows, 455/float64(rows)) }, float64(rows) * multiplyAdds(false)
	})
}

func BenchmarkHessianVector(b *testing.B) {
	eachCase(b, func(n *Net, g, theta []float64, rows int) (func(), float64) {
		v := append([]float64(nil), theta...)
		return func() { n.HessianVector(g, theta, v, 0, rows, 455/float64(rows)) }, float64(rows) * multiplyAdds(true)
	})
}

// eachCase benchmarks what kernel returns, with its multiply-adds.
func eachCase(b *testing.B, work func(n *Net, g, theta []float64, rows int) (func(), float64)) {
	for _, rows := range []int{8, 32, 128, 455} {
		for _, p := range []Precision{Float32, Float64} {
			for _, s := range kernel.Sets() {
				b.Run(fmt.Sprintf("B=%d/precision=%s/isa=%s", rows, p, s.Name()), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 2))
					n := mustNet(b, s, Problem{Widths: boston, Inputs: normals(r, 455*boston[0]), Targets: normals(r, 455), NoiseVariance: 0.2, Precision: p})
					f, flops := work(n, kernel.Aligned[float64](n.Dim()), append(kernel.Aligned[float64](n.Dim())[:0], normals(r, n.Dim())...), rows)
					b.ReportAllocs()
					for b.Loop() {
						f()
					}
					reportPeak(b, s, p, f, flops)
				})
			}
		}
	}
}

// reportPeak measures f against the register loop of its set and precision.
func reportPeak(b *testing.B, s *kernel.Set, p Precision, f func(), flops float64) {
	peak := kernel.Peak[float64]
	if p == Float32 {
		peak = kernel.Peak[float32]
	}
	most, least := peak(s), fastest(f)
	most = max(most, peak(s))
	if most > 0 && flops > 0 {
		b.ReportMetric(100*flops/least/most, "%peak")
	}
	b.ReportMetric(least, "best-ns/op")
}

// fastest returns the nanoseconds of a call of f in the best of 40 runs.
func fastest(f func()) float64 {
	n, best := 1, 0.0
	for run := 0; run < 40; run++ {
		start := time.Now()
		for range n {
			f()
		}
		d := time.Since(start)
		if d < time.Millisecond/2 {
			n, run = 2*n, -1
			continue
		}
		if t := float64(d.Nanoseconds()) / float64(n); best == 0 || t < best {
			best = t
		}
	}
	return best
}

// batch is the force of the first rows of a network's data.
type batch struct {
	n     *Net
	rows  int
	scale float64
}

func (f batch) Gradient(g, theta []float64) { f.n.Gradient(g, theta, 0, f.rows, f.scale) }

func (f batch) HessianVector(hv, theta, v []float64) {
	f.n.HessianVector(hv, theta, v, 0, f.rows, f.scale)
}

// BenchmarkStep is a whole step of every integrator, gradients and noise
// included, on the kernels in force.
func BenchmarkStep(b *testing.B) {
	for _, rows := range []int{8, 32, 128, 455} {
		for _, p := range []Precision{Float32, Float64} {
			for _, m := range integrators.Methods() {
				if m.Claims.Affine {
					continue // its force is not a network's
				}
				b.Run(fmt.Sprintf("B=%d/precision=%s/integrator=%s", rows, p, m.Name), func(b *testing.B) { benchmarkStep(b, m, rows, p) })
			}
		}
	}
}

func benchmarkStep(b *testing.B, m integrators.Method, rows int, p Precision) {
	r := rand.New(rand.NewPCG(1, 2))
	n := mustNet(b, kernel.Default(), Problem{Widths: boston, Inputs: normals(r, 455*boston[0]), Targets: normals(r, 455), NoiseVariance: 0.2, Precision: p})
	// So small a step holds from any start, and costs what every step costs.
	in, err := m.New(n.Dim(), integrators.Params{Step: 1e-6, Friction: 5})
	if err != nil {
		b.Fatal(err)
	}
	in.Freeze()
	z := integrators.NewState(n.Dim())
	copy(z.Theta, normals(r, n.Dim()))
	var f integrators.Force = batch{n, rows, 455 / float64(rows)}
	next := func() integrators.Force { return f }
	noise := random.New(1, random.StreamNoise)
	step := func() { in.OuterStep(z, next, noise) }
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(fastest(step), "best-ns/op")
}
