package certify

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

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

// refStep is a step under way: θ, r and an estimator's variables as forms, in units in which
// the mass is the identity.
type refStep struct {
	d, n, width int
	theta, r    []form
	aux         [][]form // the anchor of svrg, or the table of saga
	p, s        []num    // the gradient Pθ + s
	mean        []num    // that of all batches
	estimator   string
	batch       int
	plus        []form // what saga adds, once the step's first gradient is known
	h           num
	c           []num // of every coordinate
	used        int
}

const refNormals = 3 // vectors of normals in a step at most

func newRefStep(d, variables int, p, s []num, h num, c []num) *refStep {
	n := (2 + variables) * d
	z := &refStep{d: d, n: n, width: n + 1 + refNormals*d, p: p, s: s, h: h, c: c}
	vectors := make([][]form, 2+variables)
	for v := range vectors {
		for i := range d {
			f := z.zero()
			f[v*d+i].SetFloat64(1)
			vectors[v] = append(vectors[v], f)
		}
	}
	z.theta, z.r, z.aux = vectors[0], vectors[1], vectors[2:]
	return z
}

// by is a weight of every coordinate, by its friction.
func (z *refStep) by(w func(c num) num) (out []num) {
	for _, c := range z.c {
		out = append(out, w(c))
	}
	return out
}

func (z *refStep) zero() form {
	f := make(form, z.width)
	for i := range f {
		f[i] = newNum(0)
	}
	return f
}

// sum is w₁f₁ + w₂f₂ + … for vectors of forms; a weight is a number, or one a coordinate.
func (z *refStep) sum(args ...any) []form {
	out := make([]form, z.d)
	for i := range out {
		out[i] = z.zero()
		for a := 0; a < len(args); a += 2 {
			w, f := args[a], args[a+1].([]form)[i]
			if each, ok := w.([]num); ok {
				w = each[i]
			}
			for j := range out[i] {
				out[i][j] = plus(out[i][j], times2(w.(num), f[j]))
			}
		}
	}
	return out
}

// hessian is P times a vector of forms.
func (z *refStep) hessian(v []form) []form { return z.times(z.p, v) }

func (z *refStep) times(p []num, v []form) []form {
	out := make([]form, z.d)
	for i := range out {
		out[i] = z.zero()
		for j := range z.d {
			for l := range out[i] {
				out[i][l] = plus(out[i][l], times2(p[i*z.d+j], v[j][l]))
			}
		}
	}
	return out
}

func (z *refStep) gradient(theta []form) []form {
	g := z.hessian(theta)
	if z.estimator == "svrg" { // the shifts cancel
		return z.sum(one, g, negative(one), z.hessian(z.aux[0]), one, z.times(z.mean, z.aux[0]))
	}
	for i := range g {
		g[i][z.n] = plus(g[i][z.n], z.s[i])
	}
	if z.estimator != "saga" {
		return g
	}
	if z.plus == nil {
		z.plus = z.sum(negative(one), z.aux[z.batch])
		for _, a := range z.aux {
			z.plus = z.sum(one, z.plus, ratio(1, float64(len(z.aux))), a)
		}
		z.aux[z.batch] = g
	}
	return z.sum(one, g, one, z.plus)
}

// normal is the next vector of normals.
func (z *refStep) normal() []form {
	out := make([]form, z.d)
	for i := range out {
		out[i] = z.zero()
		out[i][z.n+1+z.used*z.d+i].SetFloat64(1)
	}
	z.used++
	return out
}

func (z *refStep) drift(t num) { z.theta = z.sum(newNum(1), z.theta, t, z.r) }
func (z *refStep) kick(t num)  { z.r = z.sum(newNum(1), z.r, negative(t), z.gradient(z.theta)) }

// ou is friction and noise, exactly, over a time t.
func (z *refStep) ou(t num) {
	e := z.by(func(c num) num { return exponential(negative(times2(c, t))) })
	spread := make([]num, z.d)
	for i, x := range e { // that of this e, so that its rounding is no error
		spread[i] = root(minus(newNum(1), times2(x, x)))
	}
	z.r = z.sum(e, z.r, spread, z.normal())
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

// loss is 1 − hC, and kicked √(2Ch).
func (z *refStep) loss() []num {
	return z.by(func(c num) num { return minus(one, times2(z.h, c)) })
}

func (z *refStep) kicked() []num {
	return z.by(func(c num) num { return root(times2(two, times2(c, z.h))) })
}

// refSchemes are the steps.
var refSchemes = map[string]func(z *refStep){
	"euler": func(z *refStep) {
		g, h := z.gradient(z.theta), z.h
		theta := z.sum(one, z.theta, h, z.r)
		z.r = z.sum(z.loss(), z.r, negative(h), g, z.kicked(), z.normal())
		z.theta = theta
	},
	"rk2": func(z *refStep) {
		h, half := z.h, over(z.h, two)
		noise := z.kicked()
		g, xi := z.gradient(z.theta), z.normal()
		theta := z.sum(one, z.theta, h, z.r)
		r := z.sum(z.loss(), z.r, negative(h), g, noise, xi)
		g2 := z.gradient(theta)
		halfC := z.by(func(c num) num { return negative(times2(half, c)) })
		next := z.sum(one, z.r, negative(half), g, halfC, z.r, negative(half), g2, halfC, r, noise, xi)
		z.theta = z.sum(one, z.theta, half, z.r, half, r)
		z.r = next
	},
	"leapfrog": func(z *refStep) {
		half := over(z.h, two)
		z.drift(half)
		z.r = z.sum(z.loss(), z.r, negative(z.h), z.gradient(z.theta), z.kicked(), z.normal())
		z.drift(half)
	},
	"symmetric": func(z *refStep) {
		half := over(z.h, two)
		e := z.by(func(c num) num { return exponential(negative(times2(c, half))) })
		z.drift(half)
		z.r = z.sum(e, z.r, negative(z.h), z.gradient(z.theta), z.kicked(), z.normal())
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
		h := z.h
		h2 := times2(h, h)
		friction := z.by(negative)
		stage := func(a num, explicit []form, theta []form) (f []form) {
			// r = (explicit − a∇U)/(1 + aC), F = −∇U − Cr
			g := z.gradient(theta)
			w := func(c num) num { return over(one, plus(one, times2(a, c))) }
			wa := func(c num) num { return negative(times2(w(c), a)) }
			r := z.sum(z.by(w), explicit, z.by(wa), g)
			return z.sum(negative(one), g, friction, r)
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
		// h^n/2 σ, times powers of C.
		sigma := func(n int) func(c num) num {
			power := one
			for range n {
				power = times2(power, root(h))
			}
			return func(c num) num { return times2(power, root(times2(two, c))) }
		}
		both := z.sum(ratio(1, 2), w1, one, w2)
		sixth := func(c num) num { return over(sigma(5)(c), newNum(6)) }
		z.theta = z.sum(one, theta3, z.by(sigma(3)), both,
			z.by(func(c num) num { return negative(times2(c, sixth(c))) }), w1)
		z.r = z.sum(one, r3, z.by(sigma(1)), w1,
			z.by(func(c num) num { return negative(times2(c, sigma(3)(c))) }), both,
			z.by(func(c num) num { return times2(times2(c, c), sixth(c)) }), w1,
			negative(one), z.hessian(z.sum(z.by(sixth), w1)))
	},
}

// lift is how (1, E z, E zzᵀ), the last by rows of its upper triangle, goes
// through a step.
func (z *refStep) lift() square {
	n := z.n
	rows := append(append([]form(nil), z.theta...), z.r...)
	for _, a := range z.aux {
		rows = append(rows, a...)
	}
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

// refPeriod averages the products of so many kernels over a scheme's choices of the k batches;
// kernel is that of a step's number and batch.
func refPeriod(scheme string, k, length int, kernel func(step, batch int) square) square {
	n := kernel(0, 0).n
	epoch := func(first int) square { // from a step on, and how long it is
		mean := newSquare(n)
		switch scheme {
		case "full":
			return kernel(first, 0)
		case "cyclic":
			return kernel(first, first%k)
		case "replacement":
			for i := range k {
				mean.add(ratio(1, float64(k)), kernel(first, i))
			}
			return mean
		case "symmetric":
			all := words("symmetric", k, 1)
			for _, w := range all {
				out := identityOf(n)
				for j, i := range w {
					out = out.then(kernel(first+j, i))
				}
				mean.add(ratio(1, float64(len(all))), out)
			}
			return mean
		}
		of := make([]square, 1<<k) // by the set of the batches that came
		of[0] = identityOf(n)
		for set := 1; set < 1<<k; set++ {
			of[set] = newSquare(n)
			size := bits.OnesCount(uint(set))
			for i := range k {
				if set>>i&1 == 1 {
					of[set].addProduct(ratio(1, float64(size)), kernel(first+size-1, i), of[set&^(1<<i)])
				}
			}
		}
		return of[1<<k-1]
	}
	out := identityOf(n)
	for first := 0; first < length; first += refEpoch(scheme, k) {
		out = out.then(epoch(first))
	}
	return out
}

// refEpoch is the number of steps after which a scheme's choices start again.
func refEpoch(scheme string, k int) int {
	switch scheme {
	case "reshuffle":
		return k
	case "symmetric":
		return 2 * k
	}
	return 1
}

// refErrors are the signed errors of the stationary law in coordinates in which
// the target is N(0, I): of the mean, and of the covariance of (θ, r). ok is
// false if the law's covariance is not positive definite.
type refErrors struct {
	mean, cov []num
	d         int
	ok        bool
}

// refCase is a chain: N_l is 0 for 1, an estimator "" for plain.
type refCase struct {
	problem            *Problem
	integrator, scheme string
	invMass            []float64
	inner              int
	estimator          string
}

// at solves for the stationary law at a step.
func (r refCase) at(h num) refErrors {
	p, d, n := r.problem, r.problem.Dim(), 2*r.problem.Dim()
	// In units in which the mass is 1, every coordinate has a friction of its own.
	scale, c := make([]num, d), make([]num, d)
	for i := range d {
		scale[i], c[i] = newNum(1), newNum(p.Friction)
		if r.invMass != nil {
			scale[i] = root(newNum(r.invMass[i]))
			c[i] = times2(c[i], newNum(r.invMass[i]))
		}
	}
	// The batches, and in the end their mean.
	var precisions [][][]num
	var shifts [][]num
	k := p.Batches()
	precision, shift := make([][]num, d), make([]num, d)
	for i := range d {
		shift[i] = newNum(0)
		for range d {
			precision[i] = append(precision[i], newNum(0))
		}
	}
	for _, b := range p.gaussian {
		pr, s := make([][]num, d), make([]num, d)
		for i := range d {
			s[i] = times2(newNum(b.Shift[i]), scale[i])
			shift[i] = plus(shift[i], over(s[i], newNum(float64(k))))
			for j := range d {
				v := times2(newNum(b.Precision[i*d+j]), times2(scale[i], scale[j]))
				pr[i] = append(pr[i], v)
				precision[i][j] = plus(precision[i][j], over(v, newNum(float64(k))))
			}
		}
		precisions, shifts = append(precisions, pr), append(shifts, s)
	}
	u := choleskyNum(precision)
	rows := make([][]num, d)
	for i := range rows {
		rows[i] = append([]num(nil), precision[i]...)
	}
	mu := solveNum(rows, append([]num(nil), shift...))
	variables, estimator := map[string]int{"svrg": 1, "saga": k}[r.estimator], r.estimator
	if r.scheme == "full" {
		precisions, shifts, variables, estimator = [][][]num{precision}, [][]num{shift}, 0, ""
	}
	flat := func(pr [][]num) (out []num) {
		for _, row := range pr {
			out = append(out, row...)
		}
		return out
	}
	type which struct {
		batch            int
		anchors, refresh bool
	}
	kernels := map[which]square{}
	inner := max(r.inner, 1)
	kernel := func(step, i int) square {
		w := which{i, estimator == "svrg" && step%k == 0, r.inner > 0 && (step+1)%inner == 0}
		if m, ok := kernels[w]; ok {
			return m
		}
		centred := make([]num, d)
		for a := range d {
			centred[a] = negative(shifts[i][a])
			for j := range d {
				centred[a] = plus(centred[a], times2(precisions[i][a][j], mu[j]))
			}
			if estimator == "cv" { // batches agree at the mode
				centred[a] = newNum(0)
			}
		}
		z := newRefStep(d, variables, flat(precisions[i]), centred, h, c)
		z.mean, z.estimator, z.batch = flat(precision), estimator, i
		if w.anchors {
			z.aux[0] = z.theta
		}
		if r.inner > 0 { // of lietrotter
			z.drift(over(h, two))
			z.kick(h)
			z.drift(over(h, two))
			if w.refresh {
				z.ou(times2(h, newNum(float64(inner))))
			}
		} else {
			refSchemes[r.integrator](z)
		}
		kernels[w] = z.lift()
		return kernels[w]
	}
	length := inner
	for length%refEpoch(r.scheme, k) != 0 || r.scheme == "cyclic" && length%k != 0 ||
		estimator == "svrg" && length%k != 0 {
		length += inner
	}
	t := refPeriod(r.scheme, k, length, kernel)
	total := n + variables*d
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
	mean, second := x[:total], x[total:]
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
	cov := make([][]num, total)
	for i := range cov {
		cov[i] = make([]num, total)
	}
	at := 0
	for i := range total {
		for j := i; j < total; j++ {
			v := minus(second[at], times2(mean[i], mean[j]))
			cov[i][j], cov[j][i] = v, v
			at++
		}
	}
	cov = cov[:n] // what saga keeps of one batch may be a function of θ and r
	for i := range cov {
		cov[i] = cov[i][:n]
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
func (r refCase) trueTerms(fast float64) ([3]leading, error) {
	const tiny, zero = 1e-24, 1e-130
	h := over(newNum(tiny), newNum(fast))
	a := r.at(h).sizes()
	b := r.at(over(h, two)).sizes()
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
