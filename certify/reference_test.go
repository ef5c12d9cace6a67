package certify

import (
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"
)

// The reference below decides what is true of a Gaussian problem in arithmetic
// of some 190 digits. It shares nothing with the engine but the problem's
// numbers: steps are written by hand from the papers' formulas, laws are
// advanced as whole matrices, and orders are read off two steps that are 10⁻²⁴
// of the fastest time, where a term of relative size 10⁻¹⁸ still rules over the
// next power.

const refBits = 640

type num = *big.Float

func newNum(x float64) num { return new(big.Float).SetPrec(refBits).SetFloat64(x) }
func ratio(a, b float64) num {
	return new(big.Float).SetPrec(refBits).Quo(newNum(a), newNum(b))
}
func times2(a, b num) num   { return new(big.Float).SetPrec(refBits).Mul(a, b) }
func plus(a, b num) num     { return new(big.Float).SetPrec(refBits).Add(a, b) }
func minus(a, b num) num    { return new(big.Float).SetPrec(refBits).Sub(a, b) }
func over(a, b num) num     { return new(big.Float).SetPrec(refBits).Quo(a, b) }
func negative(a num) num    { return new(big.Float).SetPrec(refBits).Neg(a) }
func root(a num) num        { return new(big.Float).SetPrec(refBits).Sqrt(a) }
func toFloat(a num) float64 { x, _ := a.Float64(); return x }

// exponential is e^x by the series at x/2⁶⁴.
func exponential(x num) num {
	const halvings = 64
	small := new(big.Float).SetMantExp(x, -halvings)
	sum, term := newNum(1), newNum(1)
	for i := 1; i < 40; i++ { // (2⁻⁶⁴)⁴⁰ is below the precision
		term = over(times2(term, small), newNum(float64(i)))
		sum = plus(sum, term)
	}
	for range halvings {
		sum = times2(sum, sum)
	}
	return sum
}

// square is a square matrix of numbers.
type square struct {
	n int
	a []num
}

func newSquare(n int) square {
	m := square{n, make([]num, n*n)}
	for i := range m.a {
		m.a[i] = newNum(0)
	}
	return m
}

func identityOf(n int) square {
	m := newSquare(n)
	for i := range n {
		m.a[i*n+i].SetFloat64(1)
	}
	return m
}

// addProduct adds w·a·b to m.
func (m square) addProduct(w num, a, b square) {
	n := m.n
	t, x := newNum(0), newNum(0)
	for i := range n {
		for k := range n {
			if a.a[i*n+k].Sign() == 0 {
				continue
			}
			x.Mul(w, a.a[i*n+k])
			for j := range n {
				if v := b.a[k*n+j]; v.Sign() != 0 {
					m.a[i*n+j].Add(m.a[i*n+j], t.Mul(x, v))
				}
			}
		}
	}
}

func (m square) then(next square) square {
	out := newSquare(m.n)
	out.addProduct(newNum(1), next, m)
	return out
}

func (m square) add(w num, b square) {
	for i := range m.a {
		m.a[i].Add(m.a[i], times2(w, b.a[i]))
	}
}

// solveNum solves a·x = b in place, by rows with the largest pivot.
func solveNum(a [][]num, b []num) []num {
	n := len(b)
	for c := range n {
		p := c
		for r := c; r < n; r++ {
			if new(big.Float).Abs(a[r][c]).Cmp(new(big.Float).Abs(a[p][c])) > 0 {
				p = r
			}
		}
		a[c], a[p], b[c], b[p] = a[p], a[c], b[p], b[c]
		for r := c + 1; r < n; r++ {
			if a[r][c].Sign() == 0 {
				continue
			}
			w := negative(over(a[r][c], a[c][c]))
			for j := c; j < n; j++ {
				a[r][j] = plus(a[r][j], times2(w, a[c][j]))
			}
			b[r] = plus(b[r], times2(w, b[c]))
		}
	}
	x := make([]num, n)
	for r := n - 1; r >= 0; r-- {
		sum := b[r]
		for j := r + 1; j < n; j++ {
			sum = minus(sum, times2(a[r][j], x[j]))
		}
		x[r] = over(sum, a[r][r])
	}
	return x
}

// form is a linear form in (θ, r, 1, ξ).
type form []num

// refStep is a step under way: θ and r as forms.
type refStep struct {
	d, width int
	theta, r []form
	p, s     []num // the gradient Pθ + s
	h, c     num
	used     int
}

const refNormals = 3 // vectors of normals in a step at most

func newRefStep(d int, p, s []num, h, c num) *refStep {
	z := &refStep{d: d, width: 2*d + 1 + refNormals*d, p: p, s: s, h: h, c: c}
	for i := range 2 * d {
		f := z.zero()
		f[i].SetFloat64(1)
		if i < d {
			z.theta = append(z.theta, f)
		} else {
			z.r = append(z.r, f)
		}
	}
	return z
}

func (z *refStep) zero() form {
	f := make(form, z.width)
	for i := range f {
		f[i] = newNum(0)
	}
	return f
}

// sum is w₁f₁ + w₂f₂ + … for vectors of forms.
func (z *refStep) sum(args ...any) []form {
	out := make([]form, z.d)
	for i := range out {
		out[i] = z.zero()
		for a := 0; a < len(args); a += 2 {
			w, f := args[a].(num), args[a+1].([]form)[i]
			for j := range out[i] {
				out[i][j] = plus(out[i][j], times2(w, f[j]))
			}
		}
	}
	return out
}

// hessian is P times a vector of forms.
func (z *refStep) hessian(v []form) []form {
	out := make([]form, z.d)
	for i := range out {
		out[i] = z.zero()
		for j := range z.d {
			for l := range out[i] {
				out[i][l] = plus(out[i][l], times2(z.p[i*z.d+j], v[j][l]))
			}
		}
	}
	return out
}

func (z *refStep) gradient(theta []form) []form {
	g := z.hessian(theta)
	for i := range g {
		g[i][2*z.d] = plus(g[i][2*z.d], z.s[i])
	}
	return g
}

// normal is the next vector of normals.
func (z *refStep) normal() []form {
	out := make([]form, z.d)
	for i := range out {
		out[i] = z.zero()
		out[i][2*z.d+1+z.used*z.d+i].SetFloat64(1)
	}
	z.used++
	return out
}

func (z *refStep) drift(t num) { z.theta = z.sum(newNum(1), z.theta, t, z.r) }
func (z *refStep) kick(t num)  { z.r = z.sum(newNum(1), z.r, negative(t), z.gradient(z.theta)) }

// ou is friction and noise, exactly, over a time t.
func (z *refStep) ou(t num) {
	e := exponential(negative(times2(z.c, t)))
	z.r = z.sum(e, z.r, root(minus(newNum(1), times2(e, e))), z.normal())
}

// word carries out the letters of a splitting.
func (z *refStep) word(letters string) {
	count := map[rune]float64{}
	for _, l := range letters {
		count[l]++
	}
	for _, l := range letters {
		t := over(z.h, newNum(count[l]))
		switch l {
		case 'A':
			z.drift(t)
		case 'B':
			z.kick(t)
		case 'O':
			z.ou(t)
		}
	}
}

var one, two = newNum(1), newNum(2)

// refSchemes are the steps.
var refSchemes = map[string]func(z *refStep){
	"euler": func(z *refStep) {
		g, h := z.gradient(z.theta), z.h
		theta := z.sum(one, z.theta, h, z.r)
		z.r = z.sum(minus(one, times2(h, z.c)), z.r, negative(h), g, root(times2(two, times2(z.c, h))), z.normal())
		z.theta = theta
	},
	"rk2": func(z *refStep) {
		h, half := z.h, over(z.h, two)
		noise := root(times2(two, times2(z.c, h)))
		g, xi := z.gradient(z.theta), z.normal()
		theta := z.sum(one, z.theta, h, z.r)
		r := z.sum(minus(one, times2(h, z.c)), z.r, negative(h), g, noise, xi)
		g2 := z.gradient(theta)
		halfC := negative(times2(half, z.c))
		next := z.sum(one, z.r, negative(half), g, halfC, z.r, negative(half), g2, halfC, r, noise, xi)
		z.theta = z.sum(one, z.theta, half, z.r, half, r)
		z.r = next
	},
	"leapfrog": func(z *refStep) {
		half := over(z.h, two)
		z.drift(half)
		z.r = z.sum(minus(one, times2(z.h, z.c)), z.r, negative(z.h), z.gradient(z.theta), root(times2(two, times2(z.c, z.h))), z.normal())
		z.drift(half)
	},
	"symmetric": func(z *refStep) {
		half := over(z.h, two)
		e := exponential(negative(times2(z.c, half)))
		z.drift(half)
		z.r = z.sum(e, z.r, negative(z.h), z.gradient(z.theta), root(times2(two, times2(z.c, z.h))), z.normal())
		z.r = z.sum(e, z.r)
		z.drift(half)
	},
	"lietrotter": func(z *refStep) {
		half := over(z.h, two)
		z.drift(half)
		z.kick(z.h)
		z.drift(half)
		z.ou(z.h)
	},
	"baoab": func(z *refStep) { z.word("BAOAB") },
	"obabo": func(z *refStep) { z.word("OBABO") },
	"mt3": func(z *refStep) {
		h, c := z.h, z.c
		h2 := times2(h, h)
		stage := func(a num, explicit []form, theta []form) (f []form) {
			// r = (explicit − a∇U)/(1 + aC), F = −∇U − Cr
			g := z.gradient(theta)
			w := over(one, plus(one, times2(a, c)))
			r := z.sum(w, explicit, negative(times2(w, a)), g)
			return z.sum(negative(one), g, negative(c), r)
		}
		f1 := stage(times2(ratio(7, 24), h), z.r, z.sum(one, z.theta, times2(ratio(7, 24), h), z.r))
		f2 := stage(times2(ratio(3, 8), h), z.sum(one, z.r, times2(ratio(2, 3), h), f1),
			z.sum(one, z.theta, times2(ratio(25, 24), h), z.r, over(h2, two), f1))
		theta3 := z.sum(one, z.theta, h, z.r, times2(ratio(17, 36), h2), f1, times2(ratio(1, 36), h2), f2)
		r3 := z.sum(one, z.r, times2(ratio(2, 3), h), f1, times2(ratio(-2, 3), h), f2)
		f3 := stage(h, r3, theta3)
		r3 = z.sum(one, r3, h, f3)
		w1, w2 := z.normal(), z.normal()
		w2 = z.sum(root(ratio(1, 12)), w2)
		sigma := root(times2(two, c))
		h12 := root(h)
		h32, h52 := times2(h, h12), times2(h2, h12)
		both := z.sum(ratio(1, 2), w1, one, w2)
		z.theta = z.sum(one, theta3, times2(h32, sigma), both, negative(over(times2(h52, times2(sigma, c)), newNum(6))), w1)
		last := over(times2(h52, sigma), newNum(6))
		z.r = z.sum(one, r3, times2(h12, sigma), w1, negative(times2(h32, times2(sigma, c))), both,
			times2(last, times2(c, c)), w1, negative(last), z.hessian(w1))
	},
}

// lift is how (1, E z, E zzᵀ), the last by rows of its upper triangle, goes
// through a step.
func (z *refStep) lift() square {
	d := z.d
	n := 2 * d
	rows := append(append([]form(nil), z.theta...), z.r...)
	at := func(i, j int) int { // of the pair (i, j)
		if i > j {
			i, j = j, i
		}
		return 1 + n + i*n - i*(i-1)/2 + j - i
	}
	m := newSquare(1 + n + n*(n+1)/2)
	m.a[0].SetFloat64(1)
	set := func(row, col int, v num) { m.a[row*m.n+col].Add(m.a[row*m.n+col], v) }
	for i, f := range rows {
		set(1+i, 0, f[n])
		for j := range n {
			set(1+i, 1+j, f[j])
		}
		for k := i; k < n; k++ {
			g := rows[k]
			for a := range n {
				for b := range n {
					set(at(i, k), at(a, b), times2(f[a], g[b]))
				}
				set(at(i, k), 1+a, plus(times2(f[a], g[n]), times2(f[n], g[a])))
			}
			sum := times2(f[n], g[n])
			for l := n + 1; l < len(f); l++ {
				sum = plus(sum, times2(f[l], g[l]))
			}
			set(at(i, k), 0, sum)
		}
	}
	return m
}

// refPeriod averages the products of kernels over a scheme's choices.
func refPeriod(scheme string, kernels []square) square {
	n, k := kernels[0].n, len(kernels)
	mean := newSquare(n)
	switch scheme {
	case "full", "cyclic":
		out := kernels[0]
		for _, m := range kernels[1:] {
			out = out.then(m)
		}
		return out
	case "replacement":
		for _, m := range kernels {
			mean.add(ratio(1, float64(k)), m)
		}
		return mean
	case "symmetric":
		all := words("symmetric", k, 1)
		for _, w := range all {
			out := identityOf(n)
			for _, i := range w {
				out = out.then(kernels[i])
			}
			mean.add(ratio(1, float64(len(all))), out)
		}
		return mean
	}
	of := make([]square, 1<<k) // by the set of the batches that came
	of[0] = identityOf(n)
	for set := 1; set < 1<<k; set++ {
		of[set] = newSquare(n)
		size := 0.0
		for i := range k {
			size += float64(set >> i & 1)
		}
		for i := range k {
			if set>>i&1 == 1 {
				of[set].addProduct(ratio(1, size), kernels[i], of[set&^(1<<i)])
			}
		}
	}
	return of[1<<k-1]
}

// refErrors are the signed errors of the stationary law in coordinates in which
// the target is N(0, I): of the mean, and of the covariance of (θ, r). ok is
// false if the law's covariance is not positive definite.
type refErrors struct {
	mean, cov []num
	colour    []num // U⁻¹, for errors in the problem's units
	d         int
	ok        bool
}

// reference solves for the stationary law.
func reference(p *Problem, integrator, scheme string, h float64) refErrors {
	return referenceAt(p, integrator, scheme, newNum(h))
}

func referenceAt(p *Problem, integrator, scheme string, h num) refErrors {
	d := p.Dim()
	n := 2 * d
	precision, shift := make([][]num, d), make([]num, d)
	k := newNum(float64(p.Batches()))
	for i := range d {
		precision[i], shift[i] = make([]num, d), newNum(0)
		for j := range d {
			precision[i][j] = newNum(0)
			for _, b := range p.gaussian {
				precision[i][j].Add(precision[i][j], newNum(b.Precision[i*d+j]))
			}
			precision[i][j].Quo(precision[i][j], k)
		}
		for _, b := range p.gaussian {
			shift[i].Add(shift[i], newNum(b.Shift[i]))
		}
		shift[i].Quo(shift[i], k)
	}
	u := choleskyNum(precision)
	rows := make([][]num, d)
	for i := range rows {
		rows[i] = append([]num(nil), precision[i]...)
	}
	mu := solveNum(rows, append([]num(nil), shift...))

	var kernels []square
	c := newNum(p.Friction)
	step := func(pr [][]num, s []num) square {
		flat, centred := []num(nil), make([]num, d)
		for i := range d {
			centred[i] = negative(s[i])
			for j := range d {
				flat = append(flat, pr[i][j])
				centred[i] = plus(centred[i], times2(pr[i][j], mu[j]))
			}
		}
		z := newRefStep(d, flat, centred, h, c)
		refSchemes[integrator](z)
		return z.lift()
	}
	if scheme == "full" {
		kernels = append(kernels, step(precision, shift))
	} else {
		for _, b := range p.gaussian {
			pr, s := make([][]num, d), make([]num, d)
			for i := range d {
				s[i] = newNum(b.Shift[i])
				for j := range d {
					pr[i] = append(pr[i], newNum(b.Precision[i*d+j]))
				}
			}
			kernels = append(kernels, step(pr, s))
		}
	}
	t := refPeriod(scheme, kernels)
	a, b := make([][]num, t.n-1), make([]num, t.n-1)
	for i := range a {
		b[i] = t.a[(i+1)*t.n]
		for j := range t.n - 1 {
			v := negative(t.a[(i+1)*t.n+j+1])
			if i == j {
				v = plus(one, v)
			}
			a[i] = append(a[i], v)
		}
	}
	x := solveNum(a, b)
	mean, second := x[:n], x[n:]
	// To x = U(θ − μ).
	white := func(v []num) []num {
		out := append([]num(nil), v...)
		for i := range d {
			out[i] = newNum(0)
			for j := i; j < d; j++ {
				out[i] = plus(out[i], times2(u[i][j], v[j]))
			}
		}
		return out
	}
	cov := make([][]num, n)
	for i := range cov {
		cov[i] = make([]num, n)
	}
	at := 0
	for i := range n {
		for j := i; j < n; j++ {
			v := minus(second[at], times2(mean[i], mean[j]))
			cov[i][j], cov[j][i] = v, v
			at++
		}
	}
	for range 2 { // rows, then columns
		for i := range cov {
			cov[i] = white(cov[i])
		}
		for i := range n {
			for j := range i {
				cov[i][j], cov[j][i] = cov[j][i], cov[i][j]
			}
		}
	}
	out := refErrors{mean: white(mean)[:d], d: d, ok: choleskyNum(cov) != nil}
	for i := range n {
		for j := range n {
			v := cov[i][j]
			if i == j {
				v = minus(v, one)
			}
			out.cov = append(out.cov, v)
		}
	}
	return out
}

// choleskyNum returns the upper U with a = UᵀU, or nil.
func choleskyNum(a [][]num) [][]num {
	n := len(a)
	u := make([][]num, n)
	for i := range u {
		u[i] = make([]num, n)
		for j := range n {
			u[i][j] = newNum(0)
		}
	}
	for i := range n {
		for j := i; j < n; j++ {
			v := a[i][j]
			for k := range i {
				v = minus(v, times2(u[k][i], u[k][j]))
			}
			switch {
			case i < j:
				u[i][j] = over(v, u[i][i])
			case v.Sign() <= 0:
				return nil
			default:
				u[i][i] = root(v)
			}
		}
	}
	return u
}

// sizes are the relative errors of theta.mean, theta.cov and joint.cov.
func (e refErrors) sizes() [3]float64 {
	var out [3]float64
	for _, v := range e.mean {
		out[0] = math.Hypot(out[0], toFloat(v))
	}
	for o, dim := range []int{e.d, 2 * e.d} {
		largest := 0.0
		block := make([]float64, dim*dim)
		for i := range dim {
			for j := range dim {
				block[i*dim+j] = toFloat(e.cov[i*2*e.d+j])
				largest = max(largest, math.Abs(block[i*dim+j]))
			}
		}
		if largest == 0 {
			continue
		}
		for i, v := range block { // round-off beside the largest is flushed: lapack's scaling of tiny blocks panics
			if block[i] = v / largest; math.Abs(block[i]) < 1e-40 {
				block[i] = 0
			}
		}
		var eig mat.EigenSym
		if !eig.Factorize(mat.NewSymDense(dim, block), false) {
			panic("no eigenvalues")
		}
		v := eig.Values(nil)
		out[1+o] = largest * max(math.Abs(v[0]), math.Abs(v[dim-1]))
	}
	return out
}

// leading is an error's lowest power of the step, constant·h^order; of order
// +Inf if the error is 0.
type leading struct{ order, constant float64 }

// trueTerms are the leading terms of the three errors.
func trueTerms(p *Problem, integrator, scheme string, fast float64) ([3]leading, error) {
	const tiny, zero = 1e-24, 1e-150
	h := over(newNum(tiny), newNum(fast))
	a := referenceAt(p, integrator, scheme, h).sizes()
	b := referenceAt(p, integrator, scheme, over(h, two)).sizes()
	var out [3]leading
	for i := range out {
		if a[i] < zero {
			out[i].order = math.Inf(1)
			continue
		}
		slope := math.Log2(a[i] / b[i])
		order := math.Round(slope)
		if math.Abs(slope-order) > 0.01 {
			return out, fmt.Errorf("slope %v of errors %v and %v", slope, a[i], b[i])
		}
		out[i] = leading{order, a[i] / math.Pow(toFloat(h), order)}
	}
	return out, nil
}
