package integrators

import "testing"

// still is a force that costs nothing, so that what is measured is the step.
type still struct{}

func (still) Gradient(g, _ []float64)          {}
func (still) HessianVector(hv, _, _ []float64) {}

// silent is noise that costs nothing but the update itself.
type silent struct{}

func (silent) Normal([]float64) {}
func (silent) Update(u *Update) { u.Apply(nil) }

// BenchmarkStep measures the updates of a step alone, in the dimension of the
// Boston network, under a force that fuses nothing. An operation is a run of
// steps.
func BenchmarkStep(b *testing.B) {
	const dim, run = 8401, 32
	for _, m := range Builtin() {
		if m.Needs.Affine {
			continue
		}
		b.Run("integrator="+m.Name, func(b *testing.B) {
			in, err := m.New(dim, Params{Step: 0.005, Friction: 5})
			if err != nil {
				b.Fatal(err)
			}
			in.Freeze()
			z := NewState(dim)
			next := func() Force { return still{} }
			b.ReportAllocs()
			for b.Loop() {
				in.OuterSteps(z, next, silent{}, run)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/run, "ns/step")
		})
	}
}
