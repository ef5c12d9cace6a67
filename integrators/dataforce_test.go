package integrators

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// waves is the force of U = Σ θ²/2 + sin(θ_i + shift)/2, whose second part is
// worked out in float32.
type waves struct{ shift float32 }

func (w waves) GradientSingle(g, theta []float32) {
	for i, x := range theta {
		g[i] = float32(math.Cos(float64(x+w.shift))) / 2
	}
}

func (w waves) DerivativesSingle(g, hv, theta, v []float32) {
	w.GradientSingle(g, theta)
	for i, x := range theta {
		hv[i] = -float32(math.Sin(float64(x+w.shift))) / 2 * v[i]
	}
}

// plainWaves is the same force of doubles only.
type plainWaves struct{ w waves }

func (p plainWaves) Gradient(g, theta []float64) {
	data := make([]float32, len(g))
	p.w.GradientSingle(data, floats(theta))
	for i, d := range data {
		g[i] = float64(d) + theta[i]
	}
}

func (p plainWaves) HessianVector(hv, theta, v []float64) {
	g, data := make([]float32, len(hv)), make([]float32, len(hv))
	p.w.DerivativesSingle(g, data, floats(theta), floats(v))
	for i, d := range data {
		hv[i] = float64(d) + v[i]
	}
}

func floats(x []float64) []float32 {
	f := make([]float32, len(x))
	for i, v := range x {
		f[i] = float32(v)
	}
	return f
}

// dataWaves is plainWaves that can leave θ out.
type dataWaves struct{ plainWaves }

func (d dataWaves) GradientData(g, theta []float64) {
	data := make([]float32, len(g))
	d.w.GradientSingle(data, floats(theta))
	for i, x := range data {
		g[i] = float64(x)
	}
}

func (d dataWaves) DerivativesData(g, hv, theta, v []float64) {
	single, product := make([]float32, len(g)), make([]float32, len(g))
	d.w.DerivativesSingle(single, product, floats(theta), floats(v))
	for i := range g {
		g[i], hv[i] = float64(single[i]), float64(product[i])
	}
}

// bothWaves must be asked in float32 by the schemes that can.
type bothWaves struct {
	waves
	plainWaves
	asked *int // in doubles
}

func (b bothWaves) Gradient(g, theta []float64) {
	*b.asked++
	b.plainWaves.Gradient(g, theta)
}

// Under a SingleForce the steps of a run must be those that the same force
// makes in doubles: to the last bit where a step rounds in the same places,
// and to rounding for mt3, which adds the prior's part elsewhere; however a
// run is cut into pieces.
func TestSingleForcesTakeTheSameSteps(t *testing.T) {
	const dim, steps = 77, 7
	r := rand.New(rand.NewPCG(11, 12))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	invMass := draw(dim)
	for i := range invMass {
		invMass[i] = math.Exp(invMass[i] / 2)
	}
	start := State{Theta: draw(dim), R: draw(dim)}
	xi := draw(steps * 5 * 4 * dim)
	for _, c := range []struct {
		method string
		inner  int
		tol    float64
		led    bool
	}{
		{"leapfrog", 1, 0, true}, {"symmetric", 1, 0, true}, {"lietrotter", 1, 0, true}, {"lietrotter", 5, 0, true},
		{"sghmc", 1, 0, true}, {"sghmc-adaptive", 1, 0, true}, {"mt3", 1, 1e-12, true},
		{"baoab", 1, 0, false}, {"ubu", 1, 0, false}, {"rk2", 1, 0, false}, {"euler", 1, 0, false},
	} {
		for _, m := range [][]float64{nil, invMass} {
			t.Run(fmt.Sprintf("%s N_l=%d mass=%v", c.method, c.inner, m != nil), func(t *testing.T) {
				asked := 0
				run := func(force func(i int) Force, pieces ...int) *State {
					method, err := Builtin().Lookup(c.method)
					if err != nil {
						t.Fatal(err)
					}
					in, err := method.New(dim, Params{Step: 0.1, Friction: 2, Inner: c.inner, InvMass: m})
					if err != nil {
						t.Fatal(err)
					}
					in.Freeze()
					z := &State{Theta: append([]float64(nil), start.Theta...), R: append([]float64(nil), start.R...)}
					noise, i := &replay{xi: xi}, 0
					next := func() Force { i++; return force(i) }
					for _, n := range pieces {
						in.OuterSteps(z, next, noise, n)
					}
					return z
				}
				want := run(func(i int) Force { return plainWaves{waves{float32(i)}} }, steps)
				data := run(func(i int) Force { return dataWaves{plainWaves{waves{float32(i)}}} }, steps)
				for i := range dim {
					if !(math.Abs(data.Theta[i]-want.Theta[i]) <= c.tol && math.Abs(data.R[i]-want.R[i]) <= c.tol) {
						t.Fatalf("without the prior's part coordinate %d is (%v, %v), want (%v, %v)", i, data.Theta[i], data.R[i], want.Theta[i], want.R[i])
					}
				}
				for _, pieces := range [][]int{{steps}, {3, steps - 3}} {
					got := run(func(i int) Force { return bothWaves{waves{float32(i)}, plainWaves{waves{float32(i)}}, &asked} }, pieces...)
					for i := range dim {
						if !(math.Abs(got.Theta[i]-want.Theta[i]) <= c.tol && math.Abs(got.R[i]-want.R[i]) <= c.tol) {
							t.Fatalf("coordinate %d is (%v, %v), want (%v, %v)", i, got.Theta[i], got.R[i], want.Theta[i], want.R[i])
						}
					}
				}
				if led := asked == 0; led != c.led {
					t.Errorf("%d gradients in doubles", asked)
				}
			})
		}
	}
}

// A chain may leave the float32 path and come back: forces of either kind in
// turn, single steps after a run, a state that the caller moves between two
// runs.
func TestSingleForcesGiveWayToOthers(t *testing.T) {
	const dim = 40
	run := func(name string, force func(step int) Force) *State {
		method, err := Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := method.New(dim, Params{Step: 0.1, Friction: 2})
		if err != nil {
			t.Fatal(err)
		}
		in.Freeze()
		z, step := NewState(dim), 0
		n := ones(make([]float64, dim))
		for i := range n {
			n[i] = math.Sin(float64(i))
		}
		next := func() Force { step++; return force(step) }
		in.OuterSteps(z, next, n, 6)
		for i := range z.Theta {
			z.Theta[i] += float64(i)
		}
		in.OuterSteps(z, next, n, 3)
		in.OuterStep(z, next, n)
		in.OuterSteps(z, next, n, 2)
		return z
	}
	for _, name := range []string{"leapfrog", "lietrotter", "symmetric", "sghmc"} {
		plain := func(step int) Force { return plainWaves{waves{float32(step)}} }
		data := func(step int) Force { return dataWaves{plainWaves{waves{float32(step)}}} }
		single := func(step int) Force {
			return bothWaves{waves{float32(step)}, plainWaves{waves{float32(step)}}, new(int)}
		}
		want := run(name, plain)
		for what, force := range map[string]func(int) Force{
			"always": single,
			"in turn": func(step int) Force {
				return []func(int) Force{plain, single, single, data}[step%4](step)
			},
		} {
			got := run(name, force)
			for i := range dim {
				if got.Theta[i] != want.Theta[i] || got.R[i] != want.R[i] {
					t.Errorf("%s, %s: coordinate %d is (%v, %v), want (%v, %v)", name, what, i, got.Theta[i], got.R[i], want.Theta[i], want.R[i])
					break
				}
			}
		}
	}
}

// An adapting scheme looks at the gradients, and so is led by none.
func TestAdaptationIsNotLed(t *testing.T) {
	for _, name := range []string{"sghmc", "sghmc-adaptive"} {
		method, err := Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := method.New(1, Params{Step: 0.1, Friction: 2})
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		next := func() Force { return bothWaves{asked: &asked} }
		in.OuterSteps(NewState(1), next, &replay{xi: make([]float64, 10)}, 3)
		in.Freeze()
		in.OuterSteps(NewState(1), next, &replay{xi: make([]float64, 10)}, 3)
		if asked != 3 {
			t.Errorf("%s: %d gradients in doubles, want those of the 3 adapting steps", name, asked)
		}
	}
}
