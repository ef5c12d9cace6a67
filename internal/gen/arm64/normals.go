package main

import (
	"fmt"
	"math"
	"slices"
)

// The normals take the same rounding steps as amd64's, so that their numbers
// are equal bit for bit: internal/gen/normals says more about the method.

// Byte offsets in kernel.counter.
const (
	oBlock = 0   // number of the first block
	oKeys  = 32  // two for each round, of 8 bytes each
	oStart = 192 // what the first rounds make of the words that all blocks share
)

// Byte offsets in kernel.coefficients: P, A, B, Q, S, D, E, of 8 bytes.
const (
	oThetaStep = 56 // bytes that theta advances in an iteration
	oAddTheta  = 64 // all ones if theta is to be added to the gradient, else 0
)

const (
	philoxM0  = 0xD2511F53
	philoxM1  = 0xCD9E8D57
	rounds    = 10
	groupLen  = 32            // normals of an iteration: a group of 8 blocks
	groupSize = 8 * groupLen  // bytes
	keyWords  = 2*rounds + 4  // of a counter: keys, and what is shared
	frameSize = 16 * keyWords // where they are spread over vectors
)

// Registers of the loop. Coefficients are two to a register.
const (
	rConstants x = 0
	rSpread    x = 1 // keys
	rCounter   x = 2
	rUse       x = 3 // arguments of a use, up to rTurns
	rTurns     x = 8
	rOld       x = 9
	rScratch   x = 10
	rStep      x = 11

	vMultipliers v = 31 // lanes 0 and 1
	vCounter     v = 30
	vCoef        v = 26 // four registers
	vAddTheta    v = 25
)

// normalizer generates a loop that makes normals.
type normalizer struct {
	*text         // of doubles
	single *text  // of floats
	table  *table // constants
	free   []v    // registers that hold nothing
}

func normals() *text {
	t := newText()
	constants := &table{offset: map[[4]uint32]int{}}
	n := &normalizer{text: t, single: t.with(float32s), table: constants}
	n.fill()
	n.update()
	n.step()
	constants.write(t)
	return t
}

// thread is a sequence of instructions to be written.
type thread []func()

func (t thread) emit() {
	for _, instruction := range t {
		instruction()
	}
}

// weave merges threads and keeps each one's order, all of them spread evenly:
// all are long chains of dependent instructions.
func weave(threads ...thread) (all thread) {
	next, total := make([]int, len(threads)), 0
	for _, t := range threads {
		total += len(t)
	}
	for range total {
		best, least := 0, 2.
		for i, t := range threads {
			if at := (float64(next[i]) + 0.5) / float64(len(t)); at < least {
				best, least = i, at
			}
		}
		all = append(all, threads[best][next[best]])
		next[best]++
	}
	return all
}

func (n *normalizer) take() v {
	if len(n.free) == 0 {
		panic("arm64: no register is free")
	}
	r := n.free[0]
	n.free = n.free[1:]
	return r
}

func (n *normalizer) give(r ...v) { n.free = append(n.free, r...) }

// use is what becomes of four normals in x and y, two doubles each, that are
// so many bytes of doubles into the iteration.
type use func(x, y v, offset int) thread

func (n *normalizer) fill() {
	n.startPublic(float64s, "Normals", "(counter unsafe.Pointer, dst *float64, iterations int)", frameSize, 24)
	n.arguments(rCounter, "counter", "dst")
	n.line("MOVD iterations+16(FP), %v", rTurns)
	n.loop(func(x, y v, offset int) thread {
		return thread{
			func() { n.store(whole, x, rUse, offset) },
			func() { n.store(whole, y, rUse, offset+vectorBytes) },
		}
	}, func() { n.advance(groupSize, rUse) })
}

// coefficients loads them.
func (n *normalizer) coefficients() {
	for i := range 4 {
		n.load(whole, rScratch, vectorBytes*i, vCoef+v(i))
	}
	n.field(rScratch, oThetaStep, rStep)
	n.advance(oAddTheta, rScratch)
	n.broadcast(rScratch, vAddTheta)
}

// times is y ← c∘y, plus y ← y + c∘x, for a coefficient.
func (n *normalizer) times(coef int, y v) func() {
	return func() { n.fmulLane(vCoef+v(coef/2), coef%2, y, y) }
}

func (n *normalizer) plus(coef int, x, y v) func() {
	return func() { n.fmlaLane(vCoef+v(coef/2), coef%2, x, y) }
}

// update is the pass of kernel.Update with normals for ξ and one number for
// each coefficient.
func (n *normalizer) update() {
	const theta, r, g = rUse, rUse + 1, rUse + 2
	n.startPublic(float64s, "NoiseUpdate", "(counter, coefficients unsafe.Pointer, theta, r, grad *float64, iterations int)", frameSize, 48)
	n.arguments(rCounter, "counter")
	n.line("MOVD coefficients+8(FP), %v", rScratch)
	n.line("MOVD theta+16(FP), %v", theta)
	n.line("MOVD r+24(FP), %v", r)
	n.line("MOVD grad+32(FP), %v", g)
	n.line("MOVD iterations+40(FP), %v", rTurns)
	n.coefficients()
	one := func(z v, offset int) thread {
		momentum, position, force, a := n.take(), n.take(), n.take(), n.take()
		defer n.give(momentum, position, force, a)
		return slices.Concat(thread{
			func() { n.load(whole, r, offset, momentum) },
			func() { n.load(whole, theta, offset, position) },
			func() { n.load(whole, g, offset, force) },
			func() { n.and(vAddTheta, position, a) },
			func() { n.fadd(force, a, a) },
			n.times(cP, momentum),
			n.plus(cA, a, momentum),
		}, n.move(z, momentum, position), thread{
			func() { n.store(whole, momentum, r, offset) },
			func() { n.store(whole, position, theta, offset) },
		})
	}
	n.loop(func(x, y v, offset int) thread {
		// What the first one gives back, the second one takes last.
		return weave(one(x, offset), one(y, offset+vectorBytes))
	}, func() {
		n.advance(groupSize, r, g)
		n.line("ADD %v, %v, %v", rStep, theta, theta)
	})
}

// move is the kick and the drifts before and after it.
func (n *normalizer) move(z, momentum, position v) thread {
	return thread{
		n.plus(cB, momentum, position),
		n.times(cQ, momentum),
		n.plus(cS, z, momentum),
		n.plus(cD, momentum, position),
	}
}

// step is the same pass with a first drift, and with a gradient and the next position
// in float32.
func (n *normalizer) step() {
	const theta, r, g, next = rUse, rUse + 1, rUse + 2, rUse + 3
	n.startPublic(float64s, "NoiseStep", "(counter, coefficients unsafe.Pointer, theta, r *float64, grad, next *float32, iterations int)", frameSize, 56)
	n.arguments(rCounter, "counter")
	n.line("MOVD coefficients+8(FP), %v", rScratch)
	n.line("MOVD theta+16(FP), %v", theta)
	n.line("MOVD r+24(FP), %v", r)
	n.line("MOVD grad+32(FP), %v", g)
	n.line("MOVD next+40(FP), %v", next)
	n.line("MOVD iterations+48(FP), %v", rTurns)
	n.coefficients()
	n.loop(func(x, y v, offset int) thread {
		floats := n.take() // forces, then leads
		one := func(half int, z v) thread {
			momentum, position, a := n.take(), n.take(), n.take()
			at := offset + vectorBytes*half
			return slices.Concat(thread{
				func() { n.load(whole, r, at, momentum) },
				func() { n.load(whole, theta, at, position) },
				func() { n.widen(half, floats, a) },
				n.plus(cE, momentum, position),
				func() { n.fadd(position, a, a) },
				n.times(cP, momentum),
				n.plus(cA, a, momentum),
			}, n.move(z, momentum, position), thread{
				func() { n.store(whole, momentum, r, at) },
				func() { n.store(whole, position, theta, at) },
				n.plus(cE, momentum, position),
				func() { n.narrow(half, position, floats) },
			})
		}
		taken := n.free[:6]
		both := weave(one(0, x), one(1, y))
		n.give(taken...)
		n.give(floats)
		return slices.Concat(thread{func() { n.load(whole, g, offset/2, floats) }}, both,
			thread{func() { n.store(whole, floats, next, offset/2) }})
	}, func() { n.advance(groupSize, theta, r); n.advance(groupSize/2, g, next) })
}

// loop makes iterations × a group of normals, hands them to use, and ends an iteration by
// advance.
func (n *normalizer) loop(use use, advance func()) {
	n.start()
	n.label("iteration")
	radii, angles := n.draw()
	// Four vectors of pairs of normals: two are made at a time.
	for set := range 2 {
		n.normals(radii[2*set:][:2], angles[2*set:][:2], set*groupSize/4, use)
	}
	advance()
	n.iterations(rTurns, "iteration", rOld)
}

// start spreads the keys over vectors, and sets counters and multipliers.
func (n *normalizer) start() {
	n.free = nil
	for r := v(0); r < vAddTheta; r++ {
		n.free = append(n.free, r)
	}
	n.flushDenormals(rOld, rScratch)
	n.line("MOVD $constants<>(SB), %v", rConstants)
	n.line("MOVD $spread-%d(SP), %v", frameSize, rSpread)
	n.line("ADD $%d, %v, %v", oKeys, rCounter, rScratch)
	for i := range keyWords {
		n.single.broadcast(rScratch, 0)
		n.store(whole, 0, rSpread, 16*i)
		n.advance(8, rScratch)
	}
	n.single.broadcast(rCounter, vCounter)
	n.constant([4]uint32{0, 1, 2, 3}, 0)
	n.uadd(0, vCounter, vCounter)
	n.constant([4]uint32{philoxM0, philoxM1}, vMultipliers)
}

// key loads word i of the keys, shared the words that follow.
func (n *normalizer) key(i int, d v)    { n.load(whole, rSpread, 16*i, d) }
func (n *normalizer) shared(i int, d v) { n.key((oStart-oKeys)/8+i, d) }

// draw makes the next 8 blocks: 32 random bits for each of 16 radii and
// angles, in four vectors.
func (n *normalizer) draw() (radii, angles []v) {
	var sets [2]philox
	for i := range sets {
		sets[i].normalizer = n
		for j := range sets[i].w {
			sets[i].w[j] = n.take()
		}
		for j := range sets[i].t {
			sets[i].t[j] = n.take()
		}
	}
	key := [2]v{n.take(), n.take()}
	counter := func() { n.copy(vCounter, sets[0].w[0]) }
	next := func() {
		n.constant([4]uint32{4, 4, 4, 4}, key[0])
		n.uadd(key[0], vCounter, sets[1].w[0])
		n.uadd(key[0], sets[1].w[0], vCounter)
	}
	thread{counter, next}.emit()
	both := func(part func(p *philox) thread) { weave(part(&sets[0]), part(&sets[1])).emit() }
	n.shared(0, key[0])
	both(func(p *philox) thread { return p.round1(key[0]) })
	n.shared(1, key[0])
	n.shared(2, key[1])
	both(func(p *philox) thread { return p.round2(key) })
	for round := 2; round < rounds; round++ {
		n.key(2*round, key[0])
		if round == 2 {
			n.shared(3, key[1]) // with word 3
		} else {
			n.key(2*round+1, key[1])
		}
		both(func(p *philox) thread { return p.round(round, key) })
	}
	for i := range sets {
		r, a := sets[i].pairs()
		radii, angles = append(radii, r...), append(angles, a...)
		n.give(sets[i].t[2:]...)
	}
	n.give(key[:]...)
	return radii, angles
}

// philox has the registers of 4 blocks: their words, and what is between.
type philox struct {
	*normalizer
	w, t [4]v
}

// product stores the lower and upper words of x times a multiplier in t[at]
// and t[at+1], whichever are asked for.
func (p *philox) product(multiplier int, x v, at int) thread {
	return thread{
		func() { p.multiply(0, vMultipliers, multiplier, x, p.t[at]) },
		func() { p.multiply(1, vMultipliers, multiplier, x, p.t[at+1]) },
	}
}

func (p *philox) lower(at int, d v) func() {
	return func() { p.single.permute("uzp", 0, p.t[at+1], p.t[at], d) }
}

func (p *philox) upper(at int, d v) func() {
	return func() { p.single.permute("uzp", 1, p.t[at+1], p.t[at], d) }
}

func (p *philox) flip(y, x v) func() { return func() { p.eor(y, x, x) } }

// Three of the counter's words are the same for all blocks, so that the first
// two rounds have one multiplication each: kernel.counter has the rest ready.
func (p *philox) round1(shared v) thread {
	return append(p.product(0, p.w[0], 0), p.upper(0, p.w[2]), p.lower(0, p.w[3]), p.flip(shared, p.w[2]))
}

func (p *philox) round2(shared [2]v) thread {
	return append(p.product(1, p.w[2], 0),
		p.upper(0, p.w[0]), p.lower(0, p.w[1]), p.flip(shared[0], p.w[0]),
		func() { p.eor(shared[1], p.w[3], p.w[2]) })
}

func (p *philox) round(round int, key [2]v) thread {
	t := slices.Concat(p.product(1, p.w[2], 0), p.product(0, p.w[0], 2), thread{
		p.upper(0, p.w[0]), p.upper(2, p.w[2]),
		p.flip(p.w[1], p.w[0]), p.flip(key[1], p.w[2]),
		p.flip(key[0], p.w[0]),
	})
	if round > 2 {
		t = append(t, p.flip(p.w[3], p.w[2]))
	}
	return append(t, p.lower(0, p.w[1]), p.lower(2, p.w[3]))
}

// pairs interleaves words 0 and 1, for radii, and 2 and 3, for angles.
func (p *philox) pairs() (radii, angles []v) {
	p.single.permute("zip", 0, p.w[1], p.w[0], p.t[0])
	p.single.permute("zip", 1, p.w[1], p.w[0], p.t[1])
	p.single.permute("zip", 0, p.w[3], p.w[2], p.w[0])
	p.single.permute("zip", 1, p.w[3], p.w[2], p.w[1])
	p.give(p.w[2:]...)
	return p.t[:2], p.w[:2]
}

// normals iterations two vectors of random bits for radii and for angles into pairs
// of normals, of which the first are at offset and the second half a group
// further on.
func (n *normalizer) normals(radii, angles []v, offset int, use use) {
	var makers [2]maker
	var threads [2]thread
	for i := range makers {
		makers[i] = newMaker(n, radii[i], angles[i])
		threads[i] = makers[i].thread()
	}
	weave(threads[:]...).emit()
	for _, m := range makers {
		n.give(m.t[:]...)
	}
	for i, m := range makers {
		for half, z := range []v{m.first, m.second} {
			x := n.take()
			n.widen(0, z, x)
			n.widen(1, z, z)
			use(x, z, offset+half*groupSize/2+i*groupSize/8).emit()
			n.give(x, z)
		}
	}
}

// Polynomials in t = m − 1, ¾ ≤ m < 3/2: ln(1+t)/t; and in the square of a,
// |a| ≤ ½: sin(πa/2)/a and cos(πa/2), as in internal/gen/normals.
var (
	logarithm = []float64{0.99999999372923020768, -0.50000065986244690563, 0.33333602532761619219, -0.24993263551409303225, 0.19975553916590524373, -0.16822814000369115672, 0.1499683244188498854, -0.12091521102129000609, 0.054259425286966075919}
	sine      = []float64{1.5707963219600262761, -0.64596347815341337295, 0.079680222858100710481, -0.004602163104806820601}
	cosine    = []float64{0.99999999995254462704, -1.2337005406402441476, 0.25366920379679491759, -0.020860070407082050015, 0.00090362988002926417346}
)

// maker has the registers of one vector of pairs: random bits, the normals
// that take their places, and six for what is between.
type maker struct {
	*normalizer
	first, second v
	t             [6]v
}

func newMaker(n *normalizer, radii, angles v) maker {
	m := maker{normalizer: n, first: radii, second: angles}
	for i := range m.t {
		m.t[i] = n.take()
	}
	return m
}

func (m *maker) thread() thread {
	sn, cs, angle := m.angle()
	return slices.Concat(m.radius(), angle, m.quadrant(sn, cs))
}

// radius replaces u by √(−2 ln max(u, 1)/2³²). ln u = e ln 2 + ln m, with m =
// u/2ᵉ between ¾ and 3/2: subtracting the bits of ¾ leaves e in the exponent's
// place.
func (m *maker) radius() thread {
	s, u, e, t, p, c := m.single, m.first, m.t[0], m.t[1], m.t[2], m.t[3]
	logarithms, p := m.horner(logarithm, -2, t, p, c)
	if c == p {
		c = m.t[2]
	}
	begin := thread{
		func() { m.all(1, c) },
		func() { m.umax(c, u, u) },
		func() { m.unsigned(32, u, u) },
		func() { m.all(math.Float32bits(0.75), c) },
		func() { m.usub(c, u, e) },
		func() { m.shiftRight(23, e, e) },
		func() { m.shiftLeft(23, e, t) },
		func() { m.usub(t, u, t) },
		func() { m.integer(e, e) },
		func() { m.number(1, c) },
		func() { s.fsub(c, t, t) },
	}
	return slices.Concat(begin, logarithms, thread{
		func() { s.fmul(t, p, p) },
		func() { m.number(-2*math.Ln2, c) },
		func() { s.fmla(c, e, p) },
		func() { m.clear(c) },
		func() { s.fmax(c, p, p) }, // the polynomial may make ln 1 a little more than 0
		func() { m.root(p, u) },
	})
}

// angle returns sine and cosine of the position in the quadrant.
func (m *maker) angle() (v, v, thread) {
	s, a, a2 := m.single, m.t[0], m.t[1]
	t := thread{
		func() { m.shiftLeft(2, m.second, a) },
		func() { m.signed(32, a, a) },
		func() { s.fmul(a, a, a2) },
	}
	sines, sn := m.horner(sine, 1, a2, m.t[2], m.t[3])
	cosines, cs := m.horner(cosine, 1, a2, m.t[4], m.t[5])
	t = append(t, weave(sines, cosines)...)
	return a, cs, append(t, func() { s.fmul(a, sn, a) })
}

// quadrant lets the top bit of the angle flip the cosine's sign and the next
// one swap sine and cosine, and multiplies by the radius.
func (m *maker) quadrant(sn, cs v) thread {
	s, c, n1 := m.single, m.t[1], m.t[2]
	return thread{
		func() { m.all(1<<31, c) },
		func() { m.and(m.second, c, c) },
		func() { m.eor(c, cs, cs) },
		func() { m.shiftLeft(1, m.second, c) },
		func() { m.negative(c, c) },
		func() { m.copy(c, n1) },
		func() { m.choose(cs, sn, n1) },
		func() { m.choose(sn, cs, c) },
		func() { s.fmul(m.first, c, m.second) },
		func() { s.fmul(m.first, n1, m.first) },
	}
}

// horner evaluates a polynomial, lowest coefficient first, times a power of
// two, which changes no rounding. Its value is in the register returned, p or
// other.
func (m *maker) horner(c []float64, factor float64, t, p, other v) (steps thread, result v) {
	last, begin := len(c)-1, p
	steps = thread{func() { m.number(factor*c[last], begin) }}
	for i := last - 1; i >= 0; i-- {
		from, to := p, other
		steps = append(steps,
			func() { m.number(factor*c[i], to) },
			func() { m.single.fmla(from, t, to) },
		)
		p, other = to, from
	}
	return steps, p
}

// number loads a float in all lanes, all a word.
func (n *normalizer) number(f float64, d v) { n.all(math.Float32bits(float32(f)), d) }
func (n *normalizer) all(word uint32, d v)  { n.constant([4]uint32{word, word, word, word}, d) }

func (n *normalizer) constant(words [4]uint32, d v) {
	n.load(whole, rConstants, n.table.place(words), d)
}

// table holds constants of a vector's length.
type table struct {
	vectors [][4]uint32
	offset  map[[4]uint32]int
}

func (t *table) place(words [4]uint32) int {
	if _, ok := t.offset[words]; !ok {
		t.offset[words] = vectorBytes * len(t.vectors)
		t.vectors = append(t.vectors, words)
	}
	return t.offset[words]
}

func (t *table) write(to *text) {
	to.WriteString("\n")
	for i, words := range t.vectors {
		for j := 0; j < len(words); j += 2 {
			fmt.Fprintf(to, "DATA constants<>+%d(SB)/8, $0x%016x\n", vectorBytes*i+4*j, uint64(words[j])|uint64(words[j+1])<<32)
		}
	}
	fmt.Fprintf(to, "GLOBL constants<>(SB), RODATA|NOPTR, $%d\n", vectorBytes*len(t.vectors))
}
