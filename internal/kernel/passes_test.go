package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func randoms(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// guarded returns a copy of x with guards of NaN behind it, and a function
// that says whether they are whole.
func guarded(x []float64) (y []float64, whole func() bool) {
	m := append([]float64(nil), x...)
	for range guard {
		m = append(m, math.NaN())
	}
	return m[:len(x):len(x)], func() bool {
		for _, v := range m[len(x):] {
			if v == v {
				return false
			}
		}
		return true
	}
}

// variants are updates with parts left out and with coefficients of either
// form.
func variants(r *rand.Rand, n int) map[string]*Update {
	same := func() Coef { return Coef{All: r.NormFloat64()} }
	each := func() Coef { return Coef{Each: randoms(r, n)} }
	us := map[string]*Update{}
	for name, coef := range map[string]func() Coef{"same": same, "each": each} {
		for _, g := range []bool{false, true} {
			for _, theta := range []bool{false, true} {
				u := &Update{P: coef(), A: coef(), B: same(), Q: coef(), S: coef(), D: coef()}
				if g {
					u.G = randoms(r, n)
				}
				if theta {
					u.Theta = randoms(r, n)
				}
				us[fmt.Sprintf("%s gradient=%v position=%v", name, g, theta)] = u
			}
		}
	}
	return us
}

// The passes take the same rounding steps on every set, so nothing may
// differ. The order of the definition, written here once more, is checked to
// rounding: two units of numbers of size 10 after cancellation.
func TestUpdateFollowsItsDefinition(t *testing.T) {
	for _, n := range lengths {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		for name, u := range variants(r, n) {
			momentum, xi := randoms(r, n), randoms(r, n)
			for _, noise := range [][]float64{nil, xi} {
				theta, want := defined(u, momentum, noise)
				for _, s := range Sets() {
					v := *u
					var whole, whole2 func() bool
					v.R, whole = guarded(momentum)
					v.Theta, whole2 = guarded(u.Theta)
					if u.Theta == nil {
						v.Theta = nil
					}
					s.apply(&v, noise)
					what := fmt.Sprintf("%s: %s, length %d", s.Name(), name, n)
					closeTo(t, what+": momentum", v.R, want)
					closeTo(t, what+": position", v.Theta, theta)
					if !whole() || !whole2() {
						t.Errorf("%s: a write went outside", what)
					}
				}
			}
		}
	}
}

// defined evaluates an update's definition.
func defined(u *Update, momentum, xi []float64) (theta, r []float64) {
	theta, r = append([]float64(nil), u.Theta...), append([]float64(nil), momentum...)
	for i := range r {
		r[i] *= u.P.At(i)
		if u.G != nil {
			r[i] += u.A.At(i) * u.G[i]
		}
		if u.Theta != nil {
			theta[i] += u.B.At(i) * r[i]
		}
		r[i] *= u.Q.At(i)
		if xi != nil {
			r[i] += u.S.At(i) * xi[i]
		}
		if u.Theta != nil {
			theta[i] += u.D.At(i) * r[i]
		}
	}
	return theta, r
}

func closeTo(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(got[i] - want[i]); !(d <= 1e-13) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// An update by a Noise must be that by its next vector, to the last bit on
// the sets that fuse it, as rounding steps are the same.
func TestNoiseUpdateUsesTheNextVector(t *testing.T) {
	for _, n := range lengths {
		r := rand.New(rand.NewPCG(2, uint64(n)))
		for name, u := range variants(r, n) {
			momentum := randoms(r, n)
			for _, s := range Sets() {
				fused, plain := *u, *u
				var whole, whole2 func() bool
				fused.R, whole = guarded(momentum)
				plain.R = append([]float64(nil), momentum...)
				if u.Theta != nil {
					fused.Theta, whole2 = guarded(u.Theta)
					plain.Theta = append([]float64(nil), u.Theta...)
				}
				a, b := newNoise(s, 9, 1), newNoise(s, 9, 1)
				xi := make([]float64, n)
				for step := range 3 {
					a.Update(&fused)
					b.Normal(xi)
					s.apply(&plain, xi)
					for i := range xi {
						if fused.R[i] != plain.R[i] || u.Theta != nil && fused.Theta[i] != plain.Theta[i] {
							t.Fatalf("%s: %s, length %d, step %d: element %d is %v, want %v", s.Name(), name, n, step, i, fused.R[i], plain.R[i])
						}
					}
				}
				if !whole() || whole2 != nil && !whole2() {
					t.Errorf("%s: %s, length %d: a write went outside", s.Name(), name, n)
				}
			}
		}
	}
}

func TestCombine(t *testing.T) {
	for _, n := range lengths {
		for count := 1; count <= maxSummands; count++ {
			r := rand.New(rand.NewPCG(3, uint64(100*n+count)))
			var terms []Summand
			want := make([]float64, n)
			for range count {
				x := Summand{C: Coef{All: r.NormFloat64()}, X: randoms(r, n)}
				if r.IntN(2) == 0 {
					x.C.Each = randoms(r, n)
				}
				for i, v := range x.X {
					want[i] += x.C.At(i) * v
				}
				terms = append(terms, x)
			}
			for _, s := range Sets() {
				dst, whole := guarded(terms[0].X) // the first term is overwritten
				ts := append([]Summand{{C: terms[0].C, X: dst}}, terms[1:]...)
				s.combine(dst, ts)
				closeTo(t, fmt.Sprintf("%s: %d terms, length %d", s.Name(), count, n), dst, want)
				if !whole() {
					t.Errorf("%s: %d terms, length %d: a write went outside", s.Name(), count, n)
				}
			}
		}
	}
}

func TestNarrow(t *testing.T) {
	for _, n := range lengths {
		x := randoms(rand.New(rand.NewPCG(4, uint64(n))), n)
		for _, s := range Sets() {
			f := make([]float32, n+guard)
			s.Narrow(f[:n:n], x)
			for i := range f {
				if i < n && f[i] != float32(x[i]) || i >= n && f[i] != 0 {
					t.Fatalf("%s: length %d element %d is %v", s.Name(), n, i, f[i])
				}
			}
		}
	}
}

func TestPassesAllocateNothing(t *testing.T) {
	const n = 300
	r := rand.New(rand.NewPCG(5, 5))
	x := randoms(r, n)
	for name, u := range variants(r, n) {
		u.R = randoms(r, n)
		for _, s := range Sets() {
			noise := newNoise(s, 1, 1)
			if a := testing.AllocsPerRun(20, func() {
				noise.Update(u)
				noise.Normal(x)
				s.apply(u, x)
				u.Apply(nil)
				Combine(x, Summand{u.P, x}, Summand{u.Q, u.R})
			}); a != 0 {
				t.Errorf("%s: %s: %g allocations, want 0", s.Name(), name, a)
			}
		}
	}
}

func TestMisuseOfPasses(t *testing.T) {
	long, short := make([]float64, 4), make([]float64, 3)
	for name, f := range map[string]func(){
		"short position":    func() { (&Update{R: long, Theta: short}).Apply(nil) },
		"short gradient":    func() { (&Update{R: long, G: short}).Apply(nil) },
		"short coefficient": func() { (&Update{R: long, S: Coef{Each: short}}).Apply(nil) },
		"short noise":       func() { (&Update{R: long}).Apply(short) },
		"no terms":          func() { Combine(long) },
		"short term":        func() { Combine(long, Summand{X: short}) },
		"nine terms":        func() { Combine(long, make([]Summand, 9)...) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
