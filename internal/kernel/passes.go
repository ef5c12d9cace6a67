package kernel

import (
	"fmt"
	"math"
	"slices"
)

// The passes below do what fits whole turns in assembly and the rest here.
// Both take the same rounding steps, fused multiply-adds included, so that a
// result does not depend on a coordinate's place.

// Coef is a coefficient of an update: the same number for every coordinate,
// or, where Each is not nil, one number per coordinate (a diagonal mass
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
type Update struct {
	Theta, R, G      []float64
	P, A, B, Q, S, D Coef

	likelihood Likelihood // in place of G
}

// Likelihood is the gradient of a target with the prior N(0, I) without the
// prior's part. That part is θ itself, and costs least inside a pass that
// reads θ anyway. It is either G or Float32.
//
// With Float32, the pass is a whole step that drifts first, whose gradient is
// that at θ + Drift∘r in float32, and it hands the position of the next
// gradient on:
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

func (s *Set) apply(u *Update, xi []float64) {
	u.check(xi)
	var still [2 * groupLen]float64
	for i := updateVectors(s.level, u, xi); i < len(u.R); {
		x := still[:min(len(still), len(u.R)-i)]
		if xi != nil {
			x = xi[i:len(u.R)]
		}
		u.span(i, x)
		i += len(x)
	}
}

// span updates coordinates lo, lo+1, … with the noise given.
func (u *Update) span(lo int, xi []float64) {
	switch {
	case !u.uniform() || u.Theta == nil || u.G == nil && u.likelihood.G == nil && u.likelihood.Next == nil:
		for i, x := range xi {
			u.coordinate(lo+i, x)
		}
	case u.likelihood.Next != nil:
		u.steps(lo, xi)
	default:
		u.moves(lo, xi)
	}
}

// coordinate updates one coordinate.
func (u *Update) coordinate(i int, xi float64) {
	part := &u.likelihood
	r := u.P.At(i) * u.R[i]
	switch {
	case part.Next != nil:
		u.Theta[i] = math.FMA(part.Drift.At(i), u.R[i], u.Theta[i])
		r = math.FMA(u.A.At(i), float64(part.Float32[i])+u.Theta[i], r)
	case part.G != nil:
		r = math.FMA(u.A.At(i), part.G[i]+u.Theta[i], r)
	case u.G != nil:
		r = math.FMA(u.A.At(i), u.G[i], r)
	}
	kicked := r
	r = math.FMA(u.S.At(i), xi, u.Q.At(i)*r)
	u.R[i] = r
	if u.Theta != nil {
		u.Theta[i] = math.FMA(u.D.At(i), r, math.FMA(u.B.At(i), kicked, u.Theta[i]))
	}
	if part.Next != nil {
		part.Next[i] = float32(math.FMA(part.Drift.At(i), r, u.Theta[i]))
	}
}

// moves is coordinate where all coefficients are uniform and neither gradient
// nor position is missing, steps the same of a whole step.
func (u *Update) moves(lo int, xi []float64) {
	g, part := u.G, u.likelihood.G != nil
	if part {
		g = u.likelihood.G
	}
	theta, r, g := u.Theta[lo:][:len(xi)], u.R[lo:][:len(xi)], g[lo:][:len(xi)]
	p, a, b, q, s, d := u.P.All, u.A.All, u.B.All, u.Q.All, u.S.All, u.D.All
	for i, x := range xi {
		force := g[i]
		if part {
			force += theta[i]
		}
		kicked := math.FMA(a, force, p*r[i])
		v := math.FMA(s, x, q*kicked)
		theta[i], r[i] = math.FMA(d, v, math.FMA(b, kicked, theta[i])), v
	}
}

func (u *Update) steps(lo int, xi []float64) {
	theta, r := u.Theta[lo:][:len(xi)], u.R[lo:][:len(xi)]
	g, next := u.likelihood.Float32[lo:][:len(xi)], u.likelihood.Next[lo:][:len(xi)]
	p, a, b, q, s, d, e := u.P.All, u.A.All, u.B.All, u.Q.All, u.S.All, u.D.All, u.likelihood.Drift.All
	for i, x := range xi {
		t := math.FMA(e, r[i], theta[i])
		kicked := math.FMA(a, float64(g[i])+t, p*r[i])
		v := math.FMA(s, x, q*kicked)
		t = math.FMA(d, v, math.FMA(b, kicked, t))
		theta[i], r[i], next[i] = t, v, float32(math.FMA(e, v, t))
	}
}

// coefs are the coefficients in the assembly's order.
func (u *Update) coefs() [7]*Coef {
	return [...]*Coef{&u.P, &u.A, &u.B, &u.Q, &u.S, &u.D, &u.likelihood.Drift}
}

// check panics unless all vectors fit R.
func (u *Update) check(xi []float64) {
	n := len(u.R)
	ok := (u.Theta == nil || len(u.Theta) >= n) && (u.G == nil || len(u.G) >= n) && (xi == nil || len(xi) >= n)
	part := &u.likelihood
	ok = ok && (part.Float32 == nil) == (part.Next == nil) && (part.G == nil || part.Next == nil)
	if part.G != nil {
		ok = ok && len(u.Theta) >= n && len(part.G) >= n
	}
	if part.Next != nil {
		ok = ok && len(u.Theta) >= n && len(part.Float32) >= n && len(part.Next) >= n
	}
	for _, c := range u.coefs() {
		ok = ok && (c.Each == nil || len(c.Each) >= n)
	}
	if !ok {
		panic(fmt.Sprintf("kernel: update of %d momenta with a shorter vector", n))
	}
}

// uniform says that no coefficient differs by coordinate.
func (u *Update) uniform() bool {
	for _, c := range u.coefs() {
		if c.Each != nil {
			return false
		}
	}
	return true
}

// Summand is a term c∘x of a linear combination, or c∘x + c∘prior if there is
// a Prior. Where Float32 is not nil, x is that, and X is not used.
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

// at is the term's element i.
func (t *Summand) at(i int) float64 {
	if t.Float32 != nil {
		return float64(t.Float32[i])
	}
	return t.X[i]
}

// fits says that the term has n elements.
func (t *Summand) fits(n int) bool {
	return (len(t.X) >= n || t.Float32 != nil) && (t.Float32 == nil || len(t.Float32) >= n) && (t.C.Each == nil || len(t.C.Each) >= n)
}

// Combine stores the sum of the terms in dst, which may be one of the terms'
// vectors, and, if rounded is not nil, what it is in float32 there.
func Combine(dst []float64, rounded []float32, terms ...Summand) {
	chosen.Combine(dst, rounded, terms...)
}

// maxSummands is what combine's assembly has room for.
const maxSummands = 10

// Combine is the function Combine on a given set.
func (s *Set) Combine(dst []float64, rounded []float32, terms ...Summand) {
	var few [maxSummands]Summand
	terms = split(few[:0], terms)
	if len(terms) == 0 || len(terms) > maxSummands {
		panic(fmt.Sprintf("kernel: combination of %d terms: want 1 … %d", len(terms), maxSummands))
	}
	if rounded != nil && len(rounded) < len(dst) {
		panic(fmt.Sprintf("kernel: combination of %d numbers, room for %d rounded ones", len(dst), len(rounded)))
	}
	for i := range terms {
		if !terms[i].fits(len(dst)) {
			panic(fmt.Sprintf("kernel: combination of %d numbers with a shorter term %d", len(dst), i))
		}
	}
	for i := combineVectors(s.level, dst, rounded, terms); i < len(dst); i += sumsAtOnce {
		combineSpan(dst, rounded, terms, i, min(i+sumsAtOnce, len(dst)))
	}
}

// sumsAtOnce is the number of elements that plain Go sums term by term.
const sumsAtOnce = 64

// combineSpan stores elements lo to hi of a combination.
func combineSpan(dst []float64, rounded []float32, terms []Summand, lo, hi int) {
	var room [sumsAtOnce]float64
	sums := room[:hi-lo]
	for j := range terms {
		terms[j].addTo(sums, lo)
	}
	copy(dst[lo:], sums)
	if rounded != nil {
		for i, x := range sums {
			rounded[lo+i] = float32(x)
		}
	}
}

// addTo adds the term's elements from lo on to sums.
func (t *Summand) addTo(sums []float64, lo int) {
	switch {
	case t.C.Each != nil:
		for i, c := range t.C.Each[lo:][:len(sums)] {
			sums[i] = math.FMA(c, t.at(lo+i), sums[i])
		}
	case t.Float32 != nil:
		for i, x := range t.Float32[lo:][:len(sums)] {
			sums[i] = math.FMA(t.C.All, float64(x), sums[i])
		}
	default:
		for i, x := range t.X[lo:][:len(sums)] {
			sums[i] = math.FMA(t.C.All, x, sums[i])
		}
	}
}

// split returns the terms with priors as terms of their own, in the room given
// if there are any.
func split(room, terms []Summand) []Summand {
	if !slices.ContainsFunc(terms, func(t Summand) bool { return t.Prior != nil }) {
		return terms
	}
	for _, t := range terms {
		room = append(room, t)
		if t.Prior != nil {
			room = append(room, Summand{C: t.C, X: t.Prior})
		}
	}
	return room
}

// Narrow stores x, rounded to float32, in dst, of the same length.
func (s *Set) Narrow(dst []float32, x []float64) {
	dst = dst[:len(x)]
	for i := narrowVectors(s.level, dst, x); i < len(x); i++ {
		dst[i] = float32(x[i])
	}
}
