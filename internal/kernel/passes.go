package kernel

import (
	"fmt"
	"math"
)

// The passes below do whole iterations of the assembly's loops in assembly, and the
// rest here. Both take the same rounding steps, fused multiply-adds included, so that
// a result does not depend on a coordinate's place, of finite numbers that are not
// denormal: the assembly takes those for 0, and to it 0·∞ of a part that is left out is NaN.

// Coef is a coefficient of an update: the same number for every coordinate
// or, if Each is not nil, one number per coordinate (a diagonal mass
// matrix).
type Coef struct {
	All  float64
	Each []float64
}

// At returns the coefficient of coordinate i.
func (c Coef) At(i int) float64 {
	if c.Each != nil {
		return c.Each[i]
	}
	return c.All
}

// Update is one pass over a state: a kick, a drift, an exact or explicit
// friction with noise, and a second drift,
//
//	r ← P∘r + A∘g,   θ ← θ + B∘r,   r ← Q∘r + S∘ξ,   θ ← θ + D∘r.
//
// Every update of the integrators between two gradients has this form, so a
// generator that makes ξ inside the pass touches memory once. G may be nil
// (A∘g is then left out); Theta may be nil (no drift).
//
// Vectors are at least as long as R; a shorter one makes Apply panic.
type Update struct {
	Theta, R, G      []float64
	P, A, B, Q, S, D Coef

	likelihood Likelihood // in place of G
}

// Likelihood is the gradient of a target with the prior N(0, I) without the
// prior's part. That part is θ itself, and is cheapest to add in a pass that
// reads θ anyway. The gradient is given as either G or Float32.
//
// With Float32, the pass is a whole step that drifts first. Its gradient is
// that at θ + Drift∘r in float32, and it passes on the position of the next
// gradient:
//
//	θ ← θ + Drift∘r,   r ← P∘r + A∘(Float32 + θ),   θ ← θ + B∘r,
//	r ← Q∘r + S∘ξ,   θ ← θ + D∘r,   Next ← θ + Drift∘r.
type Likelihood struct {
	G             []float64
	Float32, Next []float32
	Drift         Coef
}

// SetLikelihood makes l the gradient of the update in place of u.G; its zero
// value makes it u.G again. Theta is needed with it.
func (u *Update) SetLikelihood(l Likelihood) { u.likelihood = l }

// Apply carries out the update with the given noise vector; a nil xi stands
// for zero noise.
func (u *Update) Apply(xi []float64) { chosen.apply(u, xi) }

// apply is Apply on a given set.
func (s Set) apply(u *Update, xi []float64) {
	u.check(xi)
	var still [atOnce]float64
	for i := updateVectors(s, u, xi); i < len(u.R); {
		x := still[:min(atOnce, len(u.R)-i)]
		if xi != nil {
			x = xi[i:len(u.R)]
		}
		u.span(i, x)
		i += len(x)
	}
}

// atOnce is the most elements that plain Go works on at a time.
const atOnce = 2 * groupLen

// span updates coordinates lo, lo+1, … with the noise given, one for each.
func (u *Update) span(lo int, xi []float64) {
	noGradient := u.G == nil && u.likelihood.G == nil && u.likelihood.Next == nil
	switch {
	case !u.uniform() || u.Theta == nil || noGradient:
		for i, x := range xi {
			u.coordinate(lo+i, x)
		}
	case u.likelihood.Next != nil:
		u.steps(lo, xi)
	default:
		u.moves(lo, xi)
	}
}

// coordinate updates coordinate i, with coefficients and parts of any form.
func (u *Update) coordinate(i int, xi float64) {
	part := &u.likelihood
	r := u.P.At(i) * u.R[i]
	switch {
	// The first drift is along the momentum as the last step left it: r has P already.
	case part.Next != nil:
		u.Theta[i] = math.FMA(part.Drift.At(i), u.R[i], u.Theta[i])
		r = math.FMA(u.A.At(i), float64(part.Float32[i])+u.Theta[i], r)
	case part.G != nil:
		r = math.FMA(u.A.At(i), part.G[i]+u.Theta[i], r)
	case u.G != nil:
		r = math.FMA(u.A.At(i), u.G[i], r)
	}
	// B drifts with the momentum before friction and noise, D with that after them.
	kicked := r
	r = math.FMA(u.S.At(i), xi, u.Q.At(i)*r)
	u.R[i] = r
	if u.Theta != nil {
		u.Theta[i] = math.FMA(u.D.At(i), r, math.FMA(u.B.At(i), kicked, u.Theta[i]))
	}
	// Where the next step's first drift will lead, from the position and momentum just stored.
	if part.Next != nil {
		part.Next[i] = float32(math.FMA(part.Drift.At(i), r, u.Theta[i]))
	}
}

// moves is coordinate for a range of them, where all coefficients are uniform and
// neither gradient nor position is missing.
func (u *Update) moves(lo int, xi []float64) {
	g, addTheta := u.force()
	theta, r, g := u.Theta[lo:][:len(xi)], u.R[lo:][:len(xi)], g[lo:][:len(xi)]
	p, a, b, q, s, d := u.P.All, u.A.All, u.B.All, u.Q.All, u.S.All, u.D.All
	for i, x := range xi {
		force := g[i]
		if addTheta {
			force += theta[i]
		}
		kicked := math.FMA(a, force, p*r[i])
		v := math.FMA(s, x, q*kicked)
		theta[i], r[i] = math.FMA(d, v, math.FMA(b, kicked, theta[i])), v
	}
}

// steps is moves for an update with a Likelihood in float32, which drifts first.
func (u *Update) steps(lo int, xi []float64) {
	theta, r := u.Theta[lo:][:len(xi)], u.R[lo:][:len(xi)]
	g, next := u.likelihood.Float32[lo:][:len(xi)], u.likelihood.Next[lo:][:len(xi)]
	p, a, b, q, s, d := u.P.All, u.A.All, u.B.All, u.Q.All, u.S.All, u.D.All
	e := u.likelihood.Drift.All
	for i, x := range xi {
		t := math.FMA(e, r[i], theta[i])
		kicked := math.FMA(a, float64(g[i])+t, p*r[i])
		v := math.FMA(s, x, q*kicked)
		t = math.FMA(d, v, math.FMA(b, kicked, t))
		theta[i], r[i], next[i] = t, v, float32(math.FMA(e, v, t))
	}
}

// force returns the gradient in float64, nil if there is none, and whether θ, the prior's
// part, is to be added to it.
func (u *Update) force() (g []float64, addTheta bool) {
	if g := u.likelihood.G; g != nil {
		return g, true
	}
	return u.G, false
}

// coefCount is the number of an update's coefficients.
const coefCount = 7

// coefs are the coefficients in the assembly's order.
func (u *Update) coefs() [coefCount]*Coef {
	return [...]*Coef{&u.P, &u.A, &u.B, &u.Q, &u.S, &u.D, &u.likelihood.Drift}
}

// uniform reports whether every coefficient is one number for all coordinates.
func (u *Update) uniform() bool {
	for _, c := range u.coefs() {
		if c.Each != nil {
			return false
		}
	}
	return true
}

// check panics unless all vectors fit R.
func (u *Update) check(xi []float64) {
	n, part := len(u.R), &u.likelihood
	fits := func(x []float64) bool { return x == nil || len(x) >= n }
	ok := fits(u.Theta) && fits(u.G) && fits(xi) && fits(part.G)
	// The likelihood's gradient is given in one format; in float32 it comes with room for the next
	// position. Either way θ is added to it, and must be there.
	ok = ok && (part.G == nil || part.Next == nil)
	if part.Float32 != nil || part.Next != nil {
		ok = ok && min(len(part.Float32), len(part.Next)) >= n
	}
	if part.G != nil || part.Next != nil {
		ok = ok && len(u.Theta) >= n
	}
	for _, c := range u.coefs() {
		ok = ok && fits(c.Each)
	}
	if !ok {
		panic(fmt.Sprintf("kernel: update of %d momenta with a shorter vector", n))
	}
}

// Summand is a term c∘x of a linear combination, or c∘x + c∘prior if there is
// a Prior. Where Float32 is not nil, x is that, and X is not used. The assembly
// reads it: internal/gen/passes and internal/gen/arm64 have its byte offsets.
type Summand struct {
	C       Coef
	X       []float64
	Float32 []float32
	Prior   []float64
}

// Times returns the same term with the coefficient c.
func (t Summand) Times(c Coef) Summand {
	t.C = c
	return t
}

// fits reports whether all parts of the term have n elements or more.
func (t *Summand) fits(n int) bool {
	x := len(t.X)
	if t.Float32 != nil {
		x = len(t.Float32)
	}
	each, prior := t.C.Each == nil || len(t.C.Each) >= n, t.Prior == nil || len(t.Prior) >= n
	return x >= n && each && prior
}

// Combine stores the sum of the terms in dst, which may be one of the terms'
// vectors, and, if rounded is not nil, the sum in float32 in rounded. It panics without
// terms, and for a vector shorter than dst.
func Combine(dst []float64, rounded []float32, terms ...Summand) {
	chosen.Combine(dst, rounded, terms...)
}

// Combine is the function Combine on a given set.
func (s Set) Combine(dst []float64, rounded []float32, terms ...Summand) {
	if len(terms) == 0 {
		panic("kernel: combination of no terms")
	}
	if rounded != nil && len(rounded) < len(dst) {
		panic(fmt.Sprintf("kernel: combination of %d numbers, room for %d rounded ones",
			len(dst), len(rounded)))
	}
	for i := range terms {
		if !terms[i].fits(len(dst)) {
			panic(fmt.Sprintf("kernel: combination of %d numbers with a shorter term %d",
				len(dst), i))
		}
	}
	for i := combineVectors(s, dst, rounded, terms); i < len(dst); i += atOnce {
		combineSpan(dst, rounded, terms, i, min(i+atOnce, len(dst)))
	}
}

// combineSpan stores elements lo to hi of a combination, atOnce at most.
func combineSpan(dst []float64, rounded []float32, terms []Summand, lo, hi int) {
	// Sums have room of their own: dst may be a vector of a term that is still to be read.
	var room [atOnce]float64
	sums := room[:hi-lo]
	for i := range terms {
		t := &terms[i]
		if t.Float32 != nil {
			addTo(sums, &t.C, t.Float32, lo)
		} else {
			addTo(sums, &t.C, t.X, lo)
		}
		if t.Prior != nil {
			addTo(sums, &t.C, t.Prior, lo)
		}
	}
	copy(dst[lo:], sums)
	if rounded != nil {
		for i, x := range sums {
			rounded[lo+i] = float32(x)
		}
	}
}

// addTo adds c∘x from element lo on to sums.
func addTo[T Float](sums []float64, c *Coef, x []T, lo int) {
	x = x[lo:][:len(sums)]
	if c.Each == nil {
		for i, v := range x {
			sums[i] = math.FMA(c.All, float64(v), sums[i])
		}
		return
	}
	for i, each := range c.Each[lo:][:len(sums)] {
		sums[i] = math.FMA(each, float64(x[i]), sums[i])
	}
}

// Narrow stores x, rounded to float32, in dst, of the same length.
func (s Set) Narrow(dst []float32, x []float64) {
	dst = dst[:len(x)]
	for i := narrowVectors(s, dst, x); i < len(x); i++ {
		dst[i] = float32(x[i])
	}
}
