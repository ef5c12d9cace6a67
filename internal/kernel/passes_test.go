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

func floats(x []float64) []float32 {
	f := make([]float32, len(x))
	for i, v := range x {
		f[i] = float32(v)
	}
	return f
}

// guarded returns a copy of x with guards of NaN behind it, and a function
// that says whether they are whole.
func guarded[T Float](x []T) (y []T, whole func() bool) {
	m := append([]T(nil), x...)
	for range guard {
		m = append(m, T(math.NaN()))
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

// guard is a copy of an update's state with guards behind its vectors.
func (u *Update) guard(momentum []float64) (v *Update, whole func() bool) {
	c := *u
	var checks [3]func() bool
	c.R, checks[0] = guarded(momentum)
	c.Theta, checks[1] = guarded(u.Theta)
	c.likelihood.Next, checks[2] = guarded(u.likelihood.Next)
	if u.Theta == nil {
		c.Theta = nil
	}
	if u.likelihood.Next == nil {
		c.likelihood.Next = nil
	}
	return &c, func() bool { return checks[0]() && checks[1]() && checks[2]() }
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
		us[name+" and the position added to the gradient"] = &Update{
			P: coef(), A: coef(), B: same(), Q: coef(), S: coef(), D: coef(),
			Theta: randoms(r, n), likelihood: Likelihood{G: randoms(r, n)},
		}
		us[name+" whole step"] = &Update{
			P: coef(), A: coef(), B: same(), Q: coef(), S: coef(), D: coef(), Theta: randoms(r, n),
			likelihood: Likelihood{Float32: floats(randoms(r, n)), Next: make([]float32, n), Drift: coef()},
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
				theta, want, next := defined(u, momentum, noise)
				for _, s := range Sets() {
					v, whole := u.guard(momentum)
					s.apply(v, noise)
					what := fmt.Sprintf("%s: %s, length %d", s.Name(), name, n)
					closeTo(t, what+": momentum", v.R, want, 1e-13)
					closeTo(t, what+": position", v.Theta, theta, 1e-13)
					if u.likelihood.Next != nil {
						roundedTo(t, what+": next position", v.likelihood.Next, next)
					}
					if !whole() {
						t.Errorf("%s: a write went outside", what)
					}
				}
			}
		}
	}
}

// Assembly and plain Go take the same rounding steps.
func TestUpdateIsTheSameOnEverySet(t *testing.T) {
	for _, n := range lengths {
		r := rand.New(rand.NewPCG(7, uint64(n)))
		for name, u := range variants(r, n) {
			momentum, xi := randoms(r, n), randoms(r, n)
			want, _ := u.guard(momentum)
			Sets()[len(Sets())-1].apply(want, xi)
			for _, s := range Sets() {
				got, _ := u.guard(momentum)
				s.apply(got, xi)
				if i := firstDifference(got, want); i < n {
					t.Errorf("%s: %s, length %d: element %d is %v, want %v", s.Name(), name, n, i, got.R[i], want.R[i])
				}
			}
		}
	}
}

// defined evaluates an update's definition.
func defined(u *Update, momentum, xi []float64) (theta, r, next []float64) {
	theta, r = append([]float64(nil), u.Theta...), append([]float64(nil), momentum...)
	part := u.likelihood
	for i := range r {
		if part.Next != nil {
			theta[i] += part.Drift.At(i) * r[i]
		}
		r[i] *= u.P.At(i)
		switch {
		case part.Next != nil:
			r[i] += u.A.At(i) * (float64(part.Float32[i]) + theta[i])
		case part.G != nil:
			r[i] += u.A.At(i) * (part.G[i] + theta[i])
		case u.G != nil:
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
			next = append(next, theta[i]+part.Drift.At(i)*r[i])
		}
	}
	return theta, r, next
}

// roundedTo allows half a unit of float32's last place.
func roundedTo(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= 0x1p-24*math.Abs(w)+1e-13) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], w)
		}
	}
}

func widened(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}

func closeTo(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(got[i] - want[i]); !(d <= tol) {
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
				fused, whole := u.guard(momentum)
				plain, _ := u.guard(momentum)
				a, b := newNoise(s, 9, 1), newNoise(s, 9, 1)
				xi := make([]float64, n)
				for step := range 3 {
					a.Update(fused)
					b.Normal(xi)
					s.apply(plain, xi)
					if i := firstDifference(fused, plain); i < n {
						t.Fatalf("%s: %s, length %d, step %d: element %d is %v, want %v", s.Name(), name, n, step, i, fused.R[i], plain.R[i])
					}
				}
				if !whole() {
					t.Errorf("%s: %s, length %d: a write went outside", s.Name(), name, n)
				}
			}
		}
	}
}

// firstDifference is the first coordinate in which two states differ.
func firstDifference(a, b *Update) int {
	for i := range a.R {
		if a.R[i] != b.R[i] || a.Theta != nil && a.Theta[i] != b.Theta[i] || a.likelihood.Next != nil && a.likelihood.Next[i] != b.likelihood.Next[i] {
			return i
		}
	}
	return len(a.R)
}

func TestCombine(t *testing.T) {
	for _, n := range lengths {
		for count := 1; count <= 12; count++ {
			r := rand.New(rand.NewPCG(3, uint64(100*n+count)))
			var terms []Summand
			want := make([]float64, n)
			for range count {
				x := Summand{C: Coef{All: r.NormFloat64()}, X: randoms(r, n)}
				if r.IntN(2) == 0 {
					x.C.Each = randoms(r, n)
				}
				term := x.X
				if len(terms) > 0 && r.IntN(2) == 0 {
					x.Float32, x.X = floats(x.X), nil
					term = widened(x.Float32)
				}
				for i := range want {
					want[i] += x.C.At(i) * term[i]
				}
				terms = append(terms, x)
			}
			for _, s := range Sets() {
				for _, round := range []bool{false, true} {
					dst, whole := guarded(terms[0].X) // the first term is overwritten
					rounded, whole2 := guarded(make([]float32, n))
					ts := append([]Summand{{C: terms[0].C, X: dst}}, terms[1:]...)
					if round {
						s.Combine(dst, rounded, ts...)
						closeTo(t, "rounded", widened(rounded), widened(floats(dst)), 0)
					} else {
						s.Combine(dst, nil, ts...)
					}
					what := fmt.Sprintf("%s: %d terms, length %d", s.Name(), count, n)
					closeTo(t, what, dst, want, 1e-13)
					if !whole() || !whole2() {
						t.Errorf("%s: a write went outside", what)
					}
				}
			}
		}
	}
}

func TestPriorsAreTermsOfTheirOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	x, y := randoms(r, 100), randoms(r, 100)
	other := Summand{C: Coef{All: 0.3}, X: y}
	for _, s := range Sets() {
		for _, c := range []Coef{{All: 2}, {Each: randoms(r, 100)}} {
			for _, term := range []Summand{{X: x}, {Float32: floats(x)}} {
				got, want := make([]float64, len(x)), make([]float64, len(x))
				term = term.Times(c)
				s.Combine(want, nil, other, term, Summand{C: c, X: y}, other)
				term.Prior = y
				s.Combine(got, nil, other, term, other)
				closeTo(t, s.Name(), got, want, 0)
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
				Combine(x, u.likelihood.Next, Summand{C: u.P, X: x}, Summand{C: u.Q, X: u.R}, Summand{C: u.A, X: x, Float32: u.likelihood.Float32, Prior: u.R})
			}); a != 0 {
				t.Errorf("%s: %s: %g allocations, want 0", s.Name(), name, a)
			}
		}
	}
}

func wholeStep(x []float64, g, next []float32) *Update {
	return &Update{R: x, Theta: x, likelihood: Likelihood{Float32: g, Next: next}}
}

func TestMisuseOfPasses(t *testing.T) {
	long, short := make([]float64, 4), make([]float64, 3)
	for name, f := range map[string]func(){
		"short position":      func() { (&Update{R: long, Theta: short}).Apply(nil) },
		"short gradient":      func() { (&Update{R: long, G: short}).Apply(nil) },
		"short coefficient":   func() { (&Update{R: long, S: Coef{Each: short}}).Apply(nil) },
		"short noise":         func() { (&Update{R: long}).Apply(short) },
		"no position to add":  func() { (&Update{R: long, likelihood: Likelihood{G: long}}).Apply(nil) },
		"no next position":    func() { wholeStep(long, make([]float32, 4), nil).Apply(nil) },
		"no gradient":         func() { wholeStep(long, nil, make([]float32, 4)).Apply(nil) },
		"short next position": func() { wholeStep(long, make([]float32, 4), make([]float32, 3)).Apply(nil) },
		"no terms":            func() { Combine(long, nil) },
		"empty term":          func() { Combine(long, nil, Summand{}) },
		"short term":          func() { Combine(long, nil, Summand{X: short}) },
		"short float32 term":  func() { Combine(long, nil, Summand{X: long, Float32: make([]float32, 3)}) },
		"short prior":         func() { Combine(long, nil, Summand{X: long, Prior: short}) },
		"short rounded":       func() { Combine(long, make([]float32, 3), Summand{X: long}) },
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
