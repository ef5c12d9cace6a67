package mlp

import (
	"fmt"
	"testing"

	"hambench/internal/kernel"
)

func BenchmarkGradient(b *testing.B) { benchmarkDerivative(b, false) }

func BenchmarkHessianVector(b *testing.B) { benchmarkDerivative(b, true) }

func benchmarkDerivative(b *testing.B, hessian bool) {
	for _, rows := range []int{8, 32, 128, 455} {
		for _, p := range []Precision{Float32, Float64} {
			for _, s := range kernel.Sets() {
				b.Run(fmt.Sprintf("B=%d/precision=%s/isa=%s", rows, p, s.Name()), func(b *testing.B) {
					problem := problem(5, p)
					for len(problem.Targets) < 455 {
						problem.Inputs = append(problem.Inputs, problem.Inputs...)
						problem.Targets = append(problem.Targets, problem.Targets...)
					}
					n := mustNet(b, s, problem)
					theta, g := make([]float64, n.Dim()), make([]float64, n.Dim())
					for i := range theta {
						theta[i] = float64(i%17-8) / 8
					}
					b.ResetTimer()
					for b.Loop() {
						if hessian {
							n.HessianVector(g, theta, theta, 0, rows, 2)
						} else {
							n.Gradient(g, theta, 0, rows, 2)
						}
					}
					mult := 6.0
					if hessian {
						mult = 16
					}
					b.ReportMetric(mult*8200*float64(rows)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
				})
			}
		}
	}
}
