package peak

import (
	"testing"

	"hambench/internal/kernel"
)

// BenchmarkPeak is the yardstick: multiply-adds in registers.
func BenchmarkPeak(b *testing.B) {
	for _, s := range kernel.Sets() {
		if s.Name() == "generic" {
			continue
		}
		b.Run("precision=float32/isa="+s.Name(), func(b *testing.B) { benchmarkPeak[float32](b, s) })
		b.Run("precision=float64/isa="+s.Name(), func(b *testing.B) { benchmarkPeak[float64](b, s) })
	}
}

func benchmarkPeak[T kernel.Float](b *testing.B, s kernel.Set) {
	n := 0
	for b.Loop() {
		n += multiplyAdds[T](s.Name(), 1000)
	}
	b.ReportMetric(2*float64(n)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}

// A core does between a tenth and a thousand multiply-adds in a nanosecond.
func TestPeakIsPlausible(t *testing.T) {
	for _, s := range kernel.Sets() {
		if p := Of[float32](s); s.Name() != "generic" && !(p > 0.1 && p < 1000) || s.Name() == "generic" && p != 0 {
			t.Errorf("%s: %g multiply-adds per nanosecond", s.Name(), p)
		}
	}
}
