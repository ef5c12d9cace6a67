package integrators

import (
	"fmt"
	"math"
	"testing"

	"hambench/internal/fingerprint"
)

// waves is the force of U = Σ θ_i²/2 + sin(θ_i + shift)/2.
type waves struct{ shift float64 }

func (w waves) Gradient(g, theta []float64) {
	for i, x := range theta {
		g[i] = x + math.Cos(x+w.shift)/2
	}
}

func (w waves) HessianVector(hv, theta, v []float64) {
	for i, x := range theta {
		hv[i] = v[i] * (1 - math.Sin(x+w.shift)/2)
	}
}

// fusedWaves is the same force, carrying steps out itself. It checks that what
// it is handed as ahead is true.
type fusedWaves struct {
	waves
	t       *testing.T
	next    []float64 // the position that its last Kick has left
	trusted int       // Kicks with ahead
}

func (f *fusedWaves) Kick(drift Coef, u *Update, n Noise, ahead any) any {
	x, g := make([]float64, len(u.R)), make([]float64, len(u.R))
	Combine(x, times(one, u.Theta), times(drift, u.R))
	if ahead == any(f) {
		f.trusted++
		if fmt.Sprint(f.next) != fmt.Sprint(x) {
			f.t.Fatalf("Kick was promised %v, the state leads to %v", f.next, x)
		}
	}
	copy(u.Theta, x)
	f.Gradient(g, x)
	u.G = g
	if n == nil {
		u.Apply(nil)
	} else {
		n.Update(u)
	}
	Combine(x, times(one, u.Theta), times(drift, u.R))
	f.next = x
	return f
}

func (f *fusedWaves) At(x []float64, xs []Term, v []float64, vs []Term) (gradient, product Term) {
	g, hv := make([]float64, len(x)), make([]float64, len(x))
	Combine(x, xs...)
	f.Gradient(g, x)
	Combine(g, times(one, g), times(Coef{All: -1}, x))
	if v != nil {
		Combine(v, vs...)
		f.HessianVector(hv, x, v)
		Combine(hv, times(one, hv), times(Coef{All: -1}, v))
	}
	return Term{X: g, Prior: x}, Term{X: hv, Prior: v}
}

const wavesDim = 5

// wavesChain runs an integrator in pieces, with another hand on the state
// between two of them, and returns where it ends.
func wavesChain(t *testing.T, name string, inner int, mass bool, frozen bool, next func(step int) Force, pieces ...int) *State {
	t.Helper()
	p := Params{Step: 0.1, Friction: 2, Inner: inner}
	if mass {
		p.InvMass = []float64{0.5, 1, 2, 0.7, 1.3}
	}
	in, err := lookup(t, name).New(wavesDim, p)
	if err != nil {
		t.Fatal(err)
	}
	if frozen {
		in.Freeze()
	}
	z, step, n := NewState(wavesDim), 0, &fingerprint.Noise{}
	for _, steps := range pieces {
		in.OuterSteps(z, func() Force { step++; return next(step) }, n, steps)
		z.Theta[0] += 0.5
	}
	return z
}

func sameState(t *testing.T, what string, got, want *State) {
	t.Helper()
	for i := range want.Theta {
		// Only rounding differs, of numbers about 1 in some 50 steps.
		if !(math.Abs(got.Theta[i]-want.Theta[i]) <= 1e-13 && math.Abs(got.R[i]-want.R[i]) <= 1e-13) {
			t.Fatalf("%s: coordinate %d is (%v, %v), want (%v, %v)", what, i, got.Theta[i], got.R[i], want.Theta[i], want.R[i])
		}
	}
}

// A force that fuses makes the steps of one that does not, and may trust that
// the state is as it left it wherever a step is one Kick: after the first step
// of each piece, unless a refreshment came between.
func TestFusedForcesTakeTheSameSteps(t *testing.T) {
	pieces := []int{7, 1, 3} // 8 of the 11 steps follow another
	for _, c := range []struct {
		method         string
		inner, trusted int
	}{
		{"leapfrog", 1, 8}, {"symmetric", 1, 8}, {"lietrotter", 1, 8}, {"lietrotter", 5, 4 * 11},
		{"sghmc", 1, 8}, {"sghmc-adaptive", 1, 8}, {"mt3", 1, 0},
		{"baoab", 1, 0}, {"obabo", 1, 0}, {"ubu", 1, 0}, {"quicsort", 1, 0}, {"sgld", 1, 0}, {"rk2", 1, 0}, {"euler", 1, 0},
	} {
		for _, mass := range []bool{false, true} {
			what := fmt.Sprintf("%s, N_l = %d, mass %v", c.method, c.inner, mass)
			want := wavesChain(t, c.method, c.inner, mass, true, func(int) Force { return waves{1} }, pieces...)
			f := &fusedWaves{waves: waves{1}, t: t}
			sameState(t, what, wavesChain(t, c.method, c.inner, mass, true, func(int) Force { return f }, pieces...), want)
			if f.trusted != c.trusted {
				t.Errorf("%s: %d kicks may trust the last one, want %d", what, f.trusted, c.trusted)
			}
		}
	}
}

// Forces of either kind, and two that fuse, take turns within a run.
func TestFusedForcesGiveWayToOthers(t *testing.T) {
	for _, name := range []string{"leapfrog", "lietrotter", "symmetric", "sghmc", "mt3", "ubu", "quicsort"} {
		shift := func(step int) waves { return waves{float64(step % 4)} }
		want := wavesChain(t, name, 1, false, true, func(step int) Force { return shift(step) }, 9, 4)
		a, b := &fusedWaves{waves: waves{1}, t: t}, &fusedWaves{waves: waves{2}, t: t}
		got := wavesChain(t, name, 1, false, true, func(step int) Force {
			return []Force{waves{0}, a, b, &fusedWaves{waves: waves{3}, t: t}}[step%4]
		}, 9, 4)
		sameState(t, name, got, want)
		if a.trusted+b.trusted != 0 {
			t.Errorf("%s: a force trusts what another one left", name)
		}
	}
}

// An adapting scheme looks at gradients, and so asks for them.
func TestAdaptationIsNotFused(t *testing.T) {
	for _, name := range []string{"sghmc", "sghmc-adaptive"} {
		want := wavesChain(t, name, 1, false, false, func(int) Force { return waves{1} }, 5)
		f := &fusedWaves{waves: waves{1}, t: t}
		sameState(t, name, wavesChain(t, name, 1, false, false, func(int) Force { return f }, 5), want)
		if f.next != nil {
			t.Errorf("%s: an adapting step was fused", name)
		}
	}
}
