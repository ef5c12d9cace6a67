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
// Boston network.
func BenchmarkStep(b *testing.B) {
	const dim = 8401
	for _, m := range Methods() {
		if m.Claims.Affine {
			continue
		}
		b.Run("integrator="+m.Name, func(b *testing.B) {
			in, err := m.New(dim, Params{Step: 0.005, Friction: 5})
			if err != nil {
				b.Fatal(err)
			}
			in.Freeze()
			z := NewState(dim)
			var f Force = still{}
			next := func() Force { return f }
			b.ReportAllocs()
			for b.Loop() {
				in.OuterStep(z, next, silent{})
			}
		})
	}
}
