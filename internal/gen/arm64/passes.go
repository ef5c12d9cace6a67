package main

// unroll is the number of vectors of doubles in an iteration of a pass.
const unroll = 4

const turnBytes = unroll * vectorBytes

func passes() *text {
	t := newText()
	narrow(t)
	combine(t)
	update(t)
	return t
}

// iterations ends a loop.
func (t *text) iterations(n x, loop string, old x) {
	t.line("SUB $1, %v, %v", n, n)
	t.line("CBNZ %v, %s", n, loop)
	t.restore(old)
	t.line("RET")
}

func (t *text) advance(bytes int, pointers ...x) {
	for _, p := range pointers {
		t.line("ADD $%d, %v, %v", bytes, p, p)
	}
}

// loadAll loads an iteration, storeAll stores one.
func (t *text) loadAll(from x, d []v) {
	for i, r := range d {
		t.load(whole, from, vectorBytes*i, r)
	}
}

func (t *text) storeAll(s []v, to x) {
	for i, r := range s {
		t.store(whole, r, to, vectorBytes*i)
	}
}

// loadFloats loads an iteration of floats as doubles, storeFloats stores one.
func (t *text) loadFloats(from x, d []v) {
	for i := 0; i < len(d); i += 2 {
		t.load(whole, from, vectorBytes*i/2, d[i+1])
		t.widen(0, d[i+1], d[i])
		t.widen(1, d[i+1], d[i+1])
	}
}

func (t *text) storeFloats(s []v, to x, scratch v) {
	for i := 0; i < len(s); i += 2 {
		t.narrow(0, s[i], scratch)
		t.narrow(1, s[i+1], scratch)
		t.store(whole, scratch, to, vectorBytes*i/2)
	}
}

// group returns the iteration's registers from one on.
func group(from v) (r []v) {
	for i := range unroll {
		r = append(r, from+v(i))
	}
	return r
}

func narrow(t *text) {
	t.startPublic(float64s, "Narrow", "(dst *float32, x *float64, iterations int)", 0, 24)
	t.arguments(2, "dst", "x", "iterations")
	t.flushDenormals(5, 6)
	t.label("iteration")
	t.loadAll(3, group(0))
	t.storeFloats(group(0), 2, 4)
	t.advance(turnBytes, 3)
	t.advance(turnBytes/2, 2)
	t.iterations(4, "iteration", 5)
}

// Byte offsets in kernel.Summand, which begins with a number: of slices'
// addresses, 0 for those that are not there.
const (
	sEach    = 8
	sX       = 32
	sFloat32 = 56
	sPrior   = 80
	sSize    = 104
)

// combine sums, for one iteration after another, over the terms. rounded, if
// there is one, receives the sums as floats.
func combine(t *text) {
	const (
		dst, rounded, terms, n, iterations x = 2, 3, 4, 5, 6
		offset, floats                     x = 7, 8 // bytes, of doubles and of floats
		term, left, px, pc, prior          x = 9, 10, 11, 12, 13
	)
	acc, number, coef := group(0), group(8), group(16)
	t.startPublic(float64s, "Combine", "(dst *float64, rounded *float32, summands unsafe.Pointer, n, iterations int)", 0, 40)
	t.arguments(dst, "dst", "rounded", "summands", "n", "iterations")
	t.flushDenormals(14, 15)
	t.line("MOVD ZR, %v", offset)
	t.line("MOVD ZR, %v", floats)
	t.label("iteration")
	t.zero(acc...)
	t.line("MOVD %v, %v", terms, term)
	t.line("MOVD %v, %v", n, left)
	t.label("term")
	t.field(term, sPrior, prior)
	t.field(term, sFloat32, px)
	t.line("CBNZ %v, float32", px)
	t.field(term, sX, px)
	t.label("float64")
	t.line("ADD %v, %v, %v", offset, px, px)
	t.loadAll(px, number)
	t.line("JMP loaded")
	t.label("float32")
	t.line("ADD %v, %v, %v", floats, px, px)
	t.loadFloats(px, number)
	t.label("loaded")
	t.field(term, sEach, pc)
	t.line("CBNZ %v, each", pc)
	t.broadcast(term, coef[0])
	for i, a := range acc {
		t.fmla(number[i], coef[0], a)
	}
	t.line("JMP added")
	t.label("each")
	t.line("ADD %v, %v, %v", offset, pc, pc)
	t.loadAll(pc, coef)
	for i, a := range acc {
		t.fmla(number[i], coef[i], a)
	}
	t.label("added")
	t.line("MOVD %v, %v", prior, px)
	t.line("MOVD ZR, %v", prior)
	t.line("CBNZ %v, float64", px)
	t.advance(sSize, term)
	t.line("SUB $1, %v, %v", left, left)
	t.line("CBNZ %v, term", left)
	t.line("ADD %v, %v, %v", dst, offset, px)
	t.storeAll(acc, px)
	t.line("CBZ %v, stored", rounded)
	t.storeFloats(acc, rounded, number[0])
	t.advance(turnBytes/2, rounded)
	t.label("stored")
	t.advance(turnBytes, offset)
	t.advance(turnBytes/2, floats)
	t.iterations(iterations, "iteration", 14)
}

// Byte offsets in kernel.pass.
const (
	pTheta = 8 * iota
	pR
	pG
	pXi
	pNext     // not 0 for a whole step, whose gradient is of floats
	pAddTheta // not 0 if theta is to be added to the gradient
	pCoef     // P, A, B, Q, S, D, E: addresses
	pStep     = pCoef + coefs*8
	coefs     = 7
)

// The coefficients' places.
const (
	cP = iota
	cA
	cB
	cQ
	cS
	cD
	cE
)

// updater has the registers of update: pointers, one for each coefficient
// included, momenta and positions of an iteration, and room for what is added.
type updater struct {
	*text
	theta, r, g, xi, next, addTheta x
	coef, step                      [coefs]x
	v, t, add, c                    []v
}

// update is the pass of kernel.Update with a given ξ. Each coefficient has an
// address, of a iteration's numbers, and the step by which that moves: 0 if the
// number is the same for all coordinates.
func update(t *text) {
	const pass, iterations, old x = 0, 1, 26
	u := &updater{
		text: t, theta: 2, r: 3, g: 4, xi: 5, next: 6, addTheta: 7,
		v: group(0), t: group(8), add: group(16), c: group(24),
	}
	t.startPublic(float64s, "Update", "(pass unsafe.Pointer, iterations int)", 0, 16)
	t.arguments(pass, "pass", "iterations")
	for i, p := range []x{u.theta, u.r, u.g, u.xi, u.next, u.addTheta} {
		t.field(pass, 8*i, p)
	}
	pool := []x{8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22}
	for i := range coefs {
		u.coef[i], u.step[i] = pool[i], pool[coefs+i]
		t.field(pass, pCoef+8*i, u.coef[i])
		t.field(pass, pStep+8*i, u.step[i])
	}
	t.flushDenormals(old, 25)
	t.label("iteration")
	t.loadAll(u.r, u.v)
	t.line("CBNZ %v, whole", u.next)
	u.multiply(cP, u.v)
	t.line("CBZ %v, still", u.theta)
	t.loadAll(u.theta, u.t)
	t.loadAll(u.g, u.add)
	t.line("CBZ %v, all", u.addTheta)
	for i, a := range u.add {
		t.fadd(u.t[i], a, a)
	}
	t.label("all")
	u.addTo(cA, u.add, u.v)
	u.move()
	t.line("JMP moved")

	t.label("still")
	t.loadAll(u.g, u.add)
	u.addTo(cA, u.add, u.v)
	u.kick()
	t.label("moved")
	t.advance(turnBytes, u.g)
	t.line("JMP done")

	t.label("whole")
	t.loadAll(u.theta, u.t)
	u.addTo(cE, u.v, u.t)
	u.multiply(cP, u.v)
	t.loadFloats(u.g, u.add)
	for i, a := range u.add {
		t.fadd(u.t[i], a, a)
	}
	u.addTo(cA, u.add, u.v)
	u.move()
	u.addTo(cE, u.v, u.t)
	t.storeFloats(u.t, u.next, u.add[0])
	t.advance(turnBytes/2, u.g, u.next)

	t.label("done")
	t.storeAll(u.v, u.r)
	t.advance(turnBytes, u.r, u.xi)
	for i, p := range u.coef {
		t.line("ADD %v, %v, %v", u.step[i], p, p)
	}
	t.iterations(iterations, "iteration", old)
}

// multiply is v ← c∘v, addTo is y ← y + c∘x.
func (u *updater) multiply(coef int, v []v) {
	u.loadAll(u.coef[coef], u.c)
	for i, r := range v {
		u.fmul(u.c[i], r, r)
	}
}

func (u *updater) addTo(coef int, x, y []v) {
	u.loadAll(u.coef[coef], u.c)
	for i, r := range y {
		u.fmla(u.c[i], x[i], r)
	}
}

func (u *updater) kick() {
	u.multiply(cQ, u.v)
	u.loadAll(u.xi, u.add)
	u.addTo(cS, u.add, u.v)
}

// move is the kick and the drifts before and after it.
func (u *updater) move() {
	u.addTo(cB, u.v, u.t)
	u.kick()
	u.addTo(cD, u.v, u.t)
	u.storeAll(u.t, u.theta)
	u.advance(turnBytes, u.theta)
}
