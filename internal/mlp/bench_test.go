package mlp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/kernel"
	"hambench/test/peak"
)

// The benchmarks run on Boston's network, 13-50-50-50-50-1 with 8 401
// parameters. %peak is the share of the multiply-adds that a register loop
// does in the same run: of weights only (no biases), and only of products
// that are needed.

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
	eachCase(b, func(n *Net, theta []float64, rows int) (func(), float64) {
		return func() { n.derive(gradientOnly, theta, nil, Rows{Lo: 0, Hi: rows, Scale: 455 / float64(rows)}) }, float64(rows) * multiplyAdds(false)
	})
}

func BenchmarkHessianVector(b *testing.B) {
	eachCase(b, func(n *Net, theta []float64, rows int) (func(), float64) {
		return func() { n.derive(productOnly, theta, theta, Rows{Lo: 0, Hi: rows, Scale: 455 / float64(rows)}) }, float64(rows) * multiplyAdds(true)
	})
}

// eachCase benchmarks what work returns, with its multiply-adds. Chains hand
// positions over in a net's precision, so that they are rounded before.
func eachCase(b *testing.B, work func(n *Net, theta []float64, rows int) (func(), float64)) {
	for _, rows := range []int{8, 32, 128, 455} {
		for _, p := range []Precision{Float32, Float64} {
			for _, s := range kernel.Sets() {
				b.Run(fmt.Sprintf("B=%d/precision=%s/isa=%s", rows, p, s.Name()), func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 2))
					n := mustNet(b, s, Problem{Widths: boston, Inputs: normals(r, 455*boston[0]), Targets: normals(r, 455), NoiseVariance: 0.2, Float64: p == Float64})
					theta := append(kernel.Aligned[float64](n.Dim())[:0], normals(r, n.Dim())...)
					if n.single != nil {
						s.Narrow(n.single.theta, theta)
						s.Narrow(n.single.v, theta)
					}
					f, flops := work(n, theta, rows)
					f() // compiles its programs
					b.ReportAllocs()
					for b.Loop() {
						f()
					}
					reportPeak(b, s, p, "op", 1, f, flops)
				})
			}
		}
	}
}

// reportPeak measures f against the register loop of its set and precision,
// and reports its fastest run, per unit of which it does so many.
func reportPeak(b *testing.B, s kernel.Set, p Precision, unit string, units int, f func(), multiplyAdds float64) {
	measure := peak.Of[float64]
	if p == Float32 {
		measure = peak.Of[float32]
	}
	n := repetitions(f)
	var shares []float64
	least, before := math.Inf(1), measure(s)
	for range trials {
		t := clock(n, f)
		after := measure(s)
		shares = append(shares, 100*multiplyAdds/t/((before+after)/2))
		least, before = min(least, t), after
	}
	if before > 0 {
		b.ReportMetric(median(shares), "%peak")
	}
	b.ReportMetric(least/float64(units), "best-ns/"+unit)
}

// Two speeds are compared by runs in turn, each of some 0.3 ms: the clock
// hardly changes between neighbours, and the median forgets the runs that
// something else on the machine interrupted.
const (
	trials  = 41
	runTime = 3e5 // nanoseconds
)

// timesAs is the median of f's time over g's.
func timesAs(f, g func()) float64 {
	n, m := repetitions(f), repetitions(g)
	var ratios []float64
	before := clock(m, g)
	for range trials {
		t := clock(n, f)
		after := clock(m, g)
		ratios = append(ratios, t/((before+after)/2))
		before = after
	}
	return median(ratios)
}

// clock returns the nanoseconds of a call of f, of n in a row.
func clock(n int, f func()) float64 {
	start := time.Now()
	for range n {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(n)
}

func repetitions(f func()) int {
	n := 1
	for clock(n, f)*float64(n) < runTime {
		n *= 2
	}
	return n
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// batch is the force of the first rows of a network's data.
type batch struct {
	n     *Net
	rows  int
	scale float64
}

func (f batch) Gradient(g, theta []float64) {
	f.n.Gradient(g, theta, Rows{Lo: 0, Hi: f.rows, Scale: f.scale})
}

func (f batch) HessianVector(hv, theta, v []float64) {
	f.n.HessianVector(hv, theta, v, Rows{Lo: 0, Hi: f.rows, Scale: f.scale})
}

func (f batch) Kick(drift integrators.Coef, u *integrators.Update, n integrators.Noise, ahead any) any {
	return f.n.Kick(drift, u, n, ahead, Rows{Lo: 0, Hi: f.rows, Scale: f.scale})
}

func (f batch) At(x []float64, xs []integrators.Term, v []float64, vs []integrators.Term) (gradient, product integrators.Term) {
	return f.n.At(x, xs, v, vs, Rows{Lo: 0, Hi: f.rows, Scale: f.scale})
}

// BenchmarkStep is a whole step of every integrator, gradients and noise
// included, on the kernels in force, which HAMBENCH_ISA chooses. The
// multiply-adds of %peak are those of its gradients and Hessian-vector
// products alone. An operation is a run of steps, as in a chain's time loop,
// which hands positions from step to step.
func BenchmarkStep(b *testing.B) {
	eachStep(b, func(b *testing.B, m integrators.Integrator, rows int, p Precision) {
		steps := newSteps(b, m, rows, p)
		n := fewSteps(steps)
		b.ReportAllocs()
		for b.Loop() {
			steps(n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
		c := m.Needs
		work := float64(rows) * (float64(c.Gradients)*multiplyAdds(false) + float64(c.HessianVectors)*multiplyAdds(true))
		reportPeak(b, kernel.Default(), p, "step", n, func() { steps(n) }, float64(n)*work)
	})
}

// mostLeapfrogs is how many leapfrog steps a step may cost. A Hessian-vector
// product is some 2.6 gradients, so that mt3 does the work of 5.6.
var mostLeapfrogs = map[string]float64{"symmetric": 1.1, "lietrotter": 1.1, "mt3": 6}

// BenchmarkRatio compares a step of every integrator with one of leapfrog.
func BenchmarkRatio(b *testing.B) {
	leapfrog, err := integrators.Builtin().Lookup("leapfrog")
	if err != nil {
		b.Fatal(err)
	}
	eachStep(b, func(b *testing.B, m integrators.Integrator, rows int, p Precision) {
		steps, units := newSteps(b, m, rows, p), newSteps(b, leapfrog, rows, p)
		n := fewSteps(steps)
		units(n)
		for b.Loop() {
			steps(n)
		}
		ratio := timesAs(func() { steps(n) }, func() { units(n) })
		b.ReportMetric(ratio, "leapfrogs")
		if most := mostLeapfrogs[m.Name]; most > 0 && ratio > most {
			b.Errorf("a step costs %.2f of leapfrog: want at most %g", ratio, most)
		}
	})
}

// eachStep runs a benchmark for every integrator that a network can drive.
func eachStep(b *testing.B, f func(b *testing.B, m integrators.Integrator, rows int, p Precision)) {
	if err := kernel.Err(); err != nil {
		b.Skip(err)
	}
	for _, rows := range []int{8, 32, 128, 455} {
		for _, p := range []Precision{Float32, Float64} {
			for _, m := range integrators.Builtin() {
				if m.Needs.Affine {
					continue // its force is not a network's
				}
				name := fmt.Sprintf("B=%d/precision=%s/isa=%s/integrator=%s", rows, p, kernel.ISA(), m.Name)
				b.Run(name, func(b *testing.B) { f(b, m, rows, p) })
			}
		}
	}
}

// fewSteps returns a number of steps that take half a millisecond or are as
// many as a chain runs at once. It compiles their programs, too.
func fewSteps(steps func(n int)) int {
	const atOnce, enough = 32, 5e5
	n := 1
	for steps(n); n < atOnce && clock(1, func() { steps(n) }) < enough; {
		n *= 2
	}
	return n
}

// newSteps returns what runs whole steps of a chain on the first rows of the
// data.
func newSteps(b *testing.B, m integrators.Integrator, rows int, p Precision) func(n int) {
	r := rand.New(rand.NewPCG(1, 2))
	n := mustNet(b, kernel.Default(), Problem{Widths: boston, Inputs: normals(r, 455*boston[0]), Targets: normals(r, 455), NoiseVariance: 0.2, Float64: p == Float64})
	// So small a step holds from any start, and costs what every step costs.
	in, err := m.New(n.Dim(), integrators.Params{Step: 1e-6, Friction: 5})
	if err != nil {
		b.Fatal(err)
	}
	in.Freeze()
	z := in.NewState()
	copy(z.Theta, normals(r, n.Dim()))
	var f integrators.Force = batch{n, rows, 455 / float64(rows)}
	next := func() integrators.Force { return f }
	noise := noise.New(1, noise.StreamNoise)
	return func(count int) { in.OuterSteps(z, next, noise, count) }
}
