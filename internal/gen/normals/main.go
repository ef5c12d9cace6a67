// Normals generates the assembly that makes standard-normal vectors from
// Philox4x32-10 blocks, alone or inside the update of a chain's state.
//
// AVX-512 and AVX2 take the same rounding steps, so their numbers are equal
// bit for bit.
package main

import (
	"fmt"
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hambench/internal/gen/simd"
)

// Byte offsets in kernel.counter.
const (
	oBlock = 0   // number of the first block
	oKeys  = 32  // two for each round, of 8 bytes each
	oStart = 192 // what the first rounds make of the words that all blocks share
)

// Byte offsets in kernel.coefficients, doubles but for the last.
const (
	cP = 8 * iota
	cA
	cB
	cQ
	cS
	cD
	cE
	cThetaStep // bytes that theta advances in an iteration
	cAddTheta  // all ones if theta is to be added to the gradient, else 0
)

// groupBytes are the doubles of one group of 8 blocks.
const groupBytes = 8 * 32

type vector = reg.VecVirtual

// isa is an instruction set and its vectors' length.
type isa struct {
	name  string
	bytes int
}

func (s isa) wide() bool { return s.bytes == 64 }

func (s isa) new() vector {
	if s.wide() {
		return ZMM()
	}
	return YMM()
}

// groups is how many groups of 32 normals an iteration of the loops makes: two
// vectors of Philox blocks.
func (s isa) groups() int { return s.bytes / 32 }

func main() {
	for _, s := range []isa{{"AVX512", 64}, {"AVX2", 32}} {
		fill(s)
		update(s)
		step(s)
	}
	Generate()
}

func fill(s isa) {
	TEXT("Normals"+s.name, NOSPLIT, "func(counter *byte, dst *float64, iterations int)")
	Doc("Normals" + s.name + fmt.Sprintf(" stores iterations × %d normals.", 32*s.groups()))
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	loop(s, func(z vector, offset int) thread {
		return thread{func() { VMOVUPD(z, Mem{Base: dst, Disp: offset}) }}
	}, func() {
		ADDQ(U32(uint32(groupBytes*s.groups())), dst)
	})
}

// update is the pass of Update with normals for ξ and one number for
// each coefficient.
func update(s isa) {
	TEXT("NoiseUpdate"+s.name, NOSPLIT, "func(counter, coefficients *byte, theta, r, grad *float64, iterations int)")
	Doc("NoiseUpdate" + s.name + fmt.Sprintf(" updates iterations × %d coordinates.", 32*s.groups()))
	Pragma("noescape")
	k := Load(Param("coefficients"), GP64())
	theta, r, g := Load(Param("theta"), GP64()), Load(Param("r"), GP64()), Load(Param("grad"), GP64())
	coef := func(o int) Mem { return Mem{Base: k, Disp: o} }
	loop(s, func(z vector, offset int) thread {
		at := func(p reg.Register) Mem { return Mem{Base: p, Disp: offset} }
		v, a, t := s.new(), s.new(), s.new()
		return thread{
			func() { VMOVUPD(at(r), v) },
			s.by64(VMULPD, VMULPD_BCST, coef(cP), v, v),
			func() { VMOVUPD(at(theta), t) },
			s.by64(func(o ...Op) { VANDPD(o...) }, func(o ...Op) { VANDPD_BCST(o...) }, coef(cAddTheta), t, a),
			func() { VADDPD(at(g), a, a) },
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cA), a, v),
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cB), v, t),
			s.by64(VMULPD, VMULPD_BCST, coef(cQ), v, v),
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cS), z, v),
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cD), v, t),
			func() { VMOVUPD(v, at(r)) },
			func() { VMOVUPD(t, at(theta)) },
		}
	}, func() {
		step := U32(uint32(groupBytes * s.groups()))
		ADDQ(step, r)
		ADDQ(step, g)
		ADDQ(coef(cThetaStep), theta)
	})
}

// step is the same pass with a first drift, and with a gradient and the next position
// in float32.
func step(s isa) {
	TEXT("NoiseStep"+s.name, NOSPLIT, "func(counter, coefficients *byte, theta, r *float64, grad, next *float32, iterations int)")
	Doc("NoiseStep" + s.name + fmt.Sprintf(" takes iterations × %d coordinates a step on.", 32*s.groups()))
	Pragma("noescape")
	k := Load(Param("coefficients"), GP64())
	theta, r := Load(Param("theta"), GP64()), Load(Param("r"), GP64())
	g, next := Load(Param("grad"), GP64()), Load(Param("next"), GP64())
	coef := func(o int) Mem { return Mem{Base: k, Disp: o} }
	loop(s, func(z vector, offset int) thread {
		at := func(p reg.Register) Mem { return Mem{Base: p, Disp: offset} }
		single := func(p reg.Register) Mem { return Mem{Base: p, Disp: offset / 2} }
		v, a, t := s.new(), s.new(), s.new()
		return thread{
			func() { VMOVUPD(at(r), v) },
			func() { VMOVUPD(at(theta), t) },
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cE), v, t),
			func() { VCVTPS2PD(single(g), a) },
			func() { VADDPD(t, a, a) },
			s.by64(VMULPD, VMULPD_BCST, coef(cP), v, v),
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cA), a, v),
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cB), v, t),
			s.by64(VMULPD, VMULPD_BCST, coef(cQ), v, v),
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cS), z, v),
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cD), v, t),
			func() { VMOVUPD(v, at(r)) },
			func() { VMOVUPD(t, at(theta)) },
			s.by64(VFMADD231PD, VFMADD231PD_BCST, coef(cE), v, t),
			func() { s.storeFloats(t, single(next)) },
		}
	}, func() {
		step := groupBytes * s.groups()
		ADDQ(U32(uint32(step)), theta)
		ADDQ(U32(uint32(step)), r)
		ADDQ(U32(uint32(step/2)), g)
		ADDQ(U32(uint32(step/2)), next)
	})
}

// storeFloats stores a vector of doubles as floats.
func (s isa) storeFloats(x vector, m Mem) {
	if s.wide() {
		VCVTPD2PS(x, x.AsY())
		VMOVUPS(x.AsY(), m)
		return
	}
	VCVTPD2PSY(x, x.AsX())
	VMOVUPS(x.AsX(), m)
}

// thread is a sequence of instructions to be emitted.
type thread []func()

func (t thread) emit() {
	for _, instruction := range t {
		instruction()
	}
}

// weave merges threads and keeps each one's order, all of them spread evenly.
// Philox and Box-Muller are long chains of dependent instructions; woven,
// there is always something else to do while one of them waits.
func weave(threads ...thread) thread {
	next, total := make([]int, len(threads)), 0
	for _, t := range threads {
		total += len(t)
	}
	var all thread
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

// loop makes iterations × groups() groups of normals, hands each vector of doubles
// to use, with its byte offset within the iteration, and ends an iteration by advance.
//
// It is a pipeline. An iteration of AVX-512 uses the normals that the one before it made,
// makes those of the next, from bits drawn one iteration earlier, and draws the bits of the
// one after that, so that none of the three waits for another; the last one, behind the loop,
// uses what is there. AVX2, with half as many registers, has two stages: it makes normals and
// uses them, and draws the next bits. The last draw is wasted.
func loop(s isa, use func(z vector, offset int) thread, advance func()) {
	c, iterations := Load(Param("counter"), GP64()).(reg.GPVirtual), Load(Param("iterations"), GP64())
	p := newPhilox(s, c)
	buffer := aligned(8 * s.bytes)
	var bits, normals [4]*place
	for i := range bits {
		bits[i] = &place{m: Mem{Base: buffer, Disp: i * s.bytes}, reads: 1}
		normals[i] = &place{m: Mem{Base: buffer, Disp: (4 + i) * s.bytes}, reads: 2}
	}
	restore := simd.FlushDenormals()
	draws := func() thread { return p.draw(bits) }
	makes := func() thread { return boxMuller(s, bits, normals) }
	uses := func() thread { return consume(s, normals, use) }
	draws().emit()
	var body thread
	if s.wide() {
		makes().emit()
		DECQ(iterations)
		JZ(LabelRef("last"))
		draws().emit()
		body = weave(uses(), makes(), draws())
	} else {
		body = weave(append(makes(), uses()...), draws())
	}
	Label("iteration")
	body.emit()
	advance()
	DECQ(iterations)
	JNZ(LabelRef("iteration"))
	if s.wide() {
		Label("last")
		uses().emit()
	}
	restore()
	VZEROUPPER()
	RET()
}

// place is a vector in memory between two stages. The generator fails if instructions
// overwrite one before its last read, or read one before it is written.
type place struct {
	m     Mem
	reads int // of each value
	left  int // of the present value
}

func (p *place) read(instruction func(Mem)) func() {
	return func() {
		if p.left--; p.left < 0 {
			panic("normals: a vector is read before it is written")
		}
		instruction(p.m)
	}
}

func (p *place) write(x vector) func() {
	return func() {
		if p.left > 0 {
			panic("normals: a vector is overwritten before it is read")
		}
		p.left = p.reads
		VMOVUPS(x, p.m)
	}
}

// aligned returns the address of so many bytes of the stack that start on a
// cache line.
func aligned(bytes int) reg.GPVirtual {
	const line = 64
	p := GP64()
	LEAQ(AllocLocal(bytes+line).Offset(line-1), p)
	ANDQ(I32(-line), p)
	return p
}

// consume hands an iteration's normals to use as doubles, two vectors at a time where there
// are registers for it.
func consume(s isa, normals [4]*place, use func(z vector, offset int) thread) thread {
	var uses []thread
	// A vector's partners are half a group further on. An AVX2 iteration is one
	// group, in two vectors.
	second := groupBytes
	if !s.wide() {
		second = groupBytes / 4
	}
	for i := range 2 {
		for half := range 2 {
			for j := range 2 {
				z := s.new()
				load := normals[2*i+half].read(func(m Mem) { VCVTPS2PD(m.Offset(j*s.bytes/2), z) })
				uses = append(uses, append(thread{load}, use(z, i*second+half*groupBytes/2+j*s.bytes)...))
			}
		}
	}
	if !s.wide() {
		return slices.Concat(uses...)
	}
	var t thread
	for i := 0; i < len(uses); i += 2 {
		t = append(t, weave(uses[i], uses[i+1])...)
	}
	return t
}

// philox draws two vectors of blocks at a time.
type philox struct {
	s      isa
	c      reg.GPVirtual // kernel.counter
	ctr    vector        // numbers of the next blocks
	m0, m1 Op            // the multipliers
	even   reg.OpmaskVirtual
}

func newPhilox(s isa, c reg.GPVirtual) *philox {
	p := &philox{s: s, c: c, ctr: s.new()}
	VPBROADCASTQ(Mem{Base: c, Disp: oBlock}, p.ctr)
	VPADDQ(lanes(s), p.ctr, p.ctr)
	m0, m1 := u64(0xD2511F53), u64(0xCD9E8D57)
	if !s.wide() {
		p.m0, p.m1 = repeated[m0.Symbol.Name](), repeated[m1.Symbol.Name]()
		return p
	}
	x, y := s.new(), s.new()
	VPBROADCASTQ(m0, x)
	VPBROADCASTQ(m1, y)
	p.m0, p.m1 = x, y
	p.even = K()
	lanes := GP32()
	MOVL(U32(0x5555), lanes)
	KMOVW(lanes, p.even)
	return p
}

// draw makes the next blocks, one vector of them after the other, and stores of each
// 32 random bits in each lane for radii, and then for angles.
func (p *philox) draw(bits [4]*place) (t thread) {
	for i := 0; i < len(bits); i += 2 {
		x := [2]vector{p.s.new(), p.s.new()}
		t = append(t, p.block(x)...)
		t = append(t, bits[i].write(x[0]), bits[i+1].write(x[1]))
	}
	return t
}

// block makes one vector of blocks, and works on the lower
// 32 bits of each 64-bit lane; the upper ones are not defined. Three of the
// counter's words are the same for all blocks, so that the first two rounds
// have one multiplication each: kernel.counter has the rest ready.
func (p *philox) block(bits [2]vector) (t thread) {
	s := p.s
	times := func(m Op, x, y vector) func() { return func() { VPMULUDQ(m, x, y) } }
	ready := func(i int) Mem { return Mem{Base: p.c, Disp: oStart + 8*i} }
	key := func(round, i int) Mem { return Mem{Base: p.c, Disp: oKeys + 16*round + 8*i} }
	p0, y2, p1, x0, x2 := s.new(), s.new(), s.new(), s.new(), s.new()
	t = thread{
		times(p.m0, p.ctr, p0),
		s.by64(VPADDQ, VPADDQ_BCST, u64(uint64(s.bytes/8)), p.ctr, p.ctr),
		s.upper(p0, y2),
		s.by64(three(VPXOR), VPXORQ_BCST, ready(0), y2, y2),
		times(p.m1, y2, p1),
		s.upper(p1, x0),
		s.by64(three(VPXOR), VPXORQ_BCST, ready(1), x0, x0),
		s.by64(three(VPXOR), VPXORQ_BCST, ready(2), p0, x2),
	}
	b := [4]vector{x0, p1, x2} // word 3 is in ready(3)
	for round := 2; round < 10; round++ {
		p0, p1, x0, x2 := s.new(), s.new(), s.new(), s.new()
		w := b
		t = append(t, times(p.m1, w[2], p1), times(p.m0, w[0], p0))
		switch round {
		case 2:
			t = append(t, s.upper(p1, x0), s.upper(p0, x2), s.xor3(key(round, 0), w[1], x0),
				s.by64(three(VPXOR), VPXORQ_BCST, ready(3), x2, x2))
		case 9:
			t = append(t, p.merge(p1, w[1], key(round, 0), bits[0])...)
			t = append(t, p.merge(p0, w[3], key(round, 1), bits[1])...)
		default:
			t = append(t, s.upper(p1, x0), s.upper(p0, x2), s.xor3(key(round, 0), w[1], x0), s.xor3(key(round, 1), w[3], x2))
		}
		b = [4]vector{x0, p1, x2, p0}
	}
	return t
}

// upper copies the upper word of each lane down.
func (s isa) upper(x, y vector) func() {
	const odd = 0xF5
	return func() { VPSHUFD(U8(odd), x, y) }
}

// xor3 stores x ^ y ^ (key in each lane) in x.
func (s isa) xor3(key Mem, y, x vector) func() {
	return func() {
		if s.wide() {
			VPTERNLOGQ_BCST(U8(0x96), key, y, x)
			return
		}
		k := s.new()
		VPBROADCASTQ(key, k)
		VPXOR(y, x, x)
		VPXOR(k, x, x)
	}
}

// merge ends the last round: it stores, in the even words of x, those that
// the round makes of a product, its partner y and a key, and in the odd
// words the product's lower words.
func (p *philox) merge(product, y vector, key Mem, x vector) thread {
	const swap = 0xB1
	t := thread{func() { VPSHUFD(U8(swap), product, x) }}
	if p.s.wide() {
		return append(t, func() { VPTERNLOGD_BCST(U8(0x96), key, y, p.even, x) })
	}
	k := p.s.new()
	return append(t, func() {
		VPBROADCASTQ(key, k)
		VPXOR(y, k, k)
		VPXOR(x, k, k)
		VPBLENDD(U8(0x55), k, x, x)
	})
}

// by32 and by64 are an instruction whose first source is one number in all
// lanes.
func (s isa) by32(op, broadcast func(...Op), number Mem, ops ...Op) func() {
	return s.by(func(x vector) { VBROADCASTSS(number, x) }, op, broadcast, number, ops)
}

func (s isa) by64(op, broadcast func(...Op), number Mem, ops ...Op) func() {
	return s.by(func(x vector) { VBROADCASTSD(number, x) }, op, broadcast, number, ops)
}

// three lets an instruction that has a form for AVX only stand where one that
// has several does.
func three(op func(a, b, c Op)) func(...Op) { return func(o ...Op) { op(o[0], o[1], o[2]) } }

func (s isa) by(load func(vector), op, broadcast func(...Op), number Mem, ops []Op) func() {
	return func() {
		if s.wide() {
			broadcast(append([]Op{number}, ops...)...)
			return
		}
		if all, ok := repeated[number.Symbol.Name]; ok {
			op(append([]Op{all()}, ops...)...)
			return
		}
		x := s.new()
		load(x)
		op(append([]Op{x}, ops...)...)
	}
}

// Polynomials in t = m − 1, ¾ ≤ m < 3/2: ln(1+t)/t; and in the square of a,
// |a| ≤ ½: sin(πa/2)/a and cos(πa/2). Fits of least relative error at
// Chebyshev points; their errors, below 2e-8, are under half a unit of
// float32.
var (
	logarithm = []float64{0.99999999372923020768, -0.50000065986244690563, 0.33333602532761619219, -0.24993263551409303225, 0.19975553916590524373, -0.16822814000369115672, 0.1499683244188498854, -0.12091521102129000609, 0.054259425286966075919}
	sine      = []float64{1.5707963219600262761, -0.64596347815341337295, 0.079680222858100710481, -0.004602163104806820601}
	cosine    = []float64{0.99999999995254462704, -1.2337005406402441476, 0.25366920379679491759, -0.020860070407082050015, 0.00090362988002926417346}
)

// boxMuller makes lanes of random bits into pairs of independent normals of
// float32, of each two vectors of bits two vectors: kernel.boxMuller in plain Go says how.
func boxMuller(s isa, bits, normals [4]*place) (t thread) {
	for i := 0; i < len(bits); i += 2 {
		u1, u2 := s.new(), s.new()
		r, radii := radius(s, u1)
		sn, cs, angles := angle(s, u2)
		radii = append(thread{bits[i].read(func(m Mem) { VMOVUPS(m, u1) })}, radii...)
		angles = append(thread{bits[i+1].read(func(m Mem) { VMOVUPS(m, u2) })}, angles...)
		if s.wide() {
			t = append(t, weave(radii, angles)...)
		} else {
			t = append(t, append(radii, angles...)...)
		}
		t = append(t, quadrant(s, r, sn, cs, u2, [2]*place{normals[i], normals[i+1]})...)
	}
	return t
}

// angle returns sine and cosine of u2's position in its quadrant.
func angle(s isa, u2 vector) (sn, cs vector, t thread) {
	a, a2 := s.new(), s.new()
	sn, sines := horner(s, sine, 1, a2)
	cs, cosines := horner(s, cosine, 1, a2)
	t = thread{
		func() { VPSLLD(U8(2), u2, a) },
		func() { VCVTDQ2PS(a, a) },
		s.by32(VMULPS, VMULPS_BCST, f32(0x1p-32), a, a),
		func() { VMULPS(a, a, a2) },
	}
	t = append(t, weave(sines, cosines)...)
	return sn, cs, append(t, func() { VMULPS(a, sn, sn) })
}

// quadrant lets the top bit of u2 flip the cosine's sign and the next one
// swap sine and cosine, multiplies by the radius, and stores.
func quadrant(s isa, r, sn, cs, u2 vector, dst [2]*place) thread {
	n1, n2 := s.new(), s.new()
	var t thread
	if s.wide() {
		k := K()
		const flip = 0x78 // cs ^ (u2 & sign)
		t = thread{
			func() { VPTERNLOGD_BCST(U8(flip), word(1<<31), u2, cs) },
			func() { VPTESTMD_BCST(word(1<<30), u2, k) },
			func() { VPBLENDMD(sn, cs, k, n1) },
			func() { VPBLENDMD(cs, sn, k, n2) },
		}
	} else {
		sign, swap := s.new(), s.new()
		t = thread{
			s.by32(three(VPAND), nil, word(1<<31), u2, sign),
			func() { VPXOR(sign, cs, cs) },
			func() { VPSLLD(U8(1), u2, swap) },
			func() { VBLENDVPS(swap, sn, cs, n1) },
			func() { VBLENDVPS(swap, cs, sn, n2) },
		}
	}
	return append(t,
		func() { VMULPS(r, n1, n1) },
		dst[0].write(n1),
		func() { VMULPS(r, n2, n2) },
		dst[1].write(n2),
	)
}

// radius returns √(−2 ln u), u = max(u1, 1)/2³².
//
// ln u = e ln 2 + ln m, with m = u/2ᵉ between ¾ and 3/2.
func radius(s isa, u1 vector) (p vector, t thread) {
	e, m := s.new(), s.new()
	if s.wide() {
		t = split512(s, u1, e, m)
	} else {
		t = split2(s, u1, e, m)
	}
	t = append(t, s.by32(VSUBPS, VSUBPS_BCST, f32(1), m, m))
	p, logarithms := horner(s, logarithm, -2, m)
	t = append(t, logarithms...)
	return p, append(t,
		func() { VMULPS(m, p, p) },
		s.by32(VFMADD231PS, VFMADD231PS_BCST, f32(-2*math.Ln2), e, p),
		s.by32(VMAXPS, VMAXPS_BCST, f32(0), p, p), // the polynomial may make ln 1 a little more than 0
		func() { VSQRTPS(p, p) },
	)
}

// split512 makes e and m of u1.
func split512(s isa, u1, e, m vector) thread {
	x := s.new()
	const threeQuarters = 3 // the interval's lower end; its upper one is 3/2
	return thread{
		s.by32(nil, VPMAXUD_BCST, word(1), u1, x),
		func() { VCVTUDQ2PS(x, x) },
		func() { VGETMANTPS(U8(threeQuarters), x, m) },
		// The exponent of 4/3 u is e: rounding takes no number across ¾.
		s.by32(nil, VMULPS_BCST, f32(0x1p-30/3), x, e),
		func() { VGETEXPPS(e, e) },
	}
}

// split2 does the same: subtracting the bits of ¾ leaves e in the exponent's
// place.
func split2(s isa, u1, e, m vector) thread {
	x := s.new()
	return append(toFloat(s, u1, x),
		s.by32(VPSUBD, nil, word(math.Float32bits(0.75)), x, e),
		func() { VPSRAD(U8(23), e, e) },
		func() { VPSLLD(U8(23), e, m) },
		func() { VPSUBD(m, x, m) },
		func() { VCVTDQ2PS(e, e) },
	)
}

// toFloat converts unsigned words, at least 1, to numbers in (0, 1]. AVX2
// converts signed words only; the sum of exact halves rounds once, as the one
// instruction of AVX-512 does.
func toFloat(s isa, u, x vector) thread {
	lo := s.new()
	return thread{
		s.by32(VPMAXUD, nil, word(1), u, u),
		func() { VPSRLD(U8(16), u, x) },
		func() { VPSLLD(U8(16), u, lo) },
		func() { VPSRLD(U8(16), lo, lo) },
		func() { VCVTDQ2PS(x, x) },
		func() { VCVTDQ2PS(lo, lo) },
		s.by32(VFMADD132PS, nil, f32(0x1p16), lo, x),
		s.by32(VMULPS, nil, f32(0x1p-32), x, x),
	}
}

// horner evaluates a polynomial, lowest coefficient first, times a power of
// two, which changes no rounding.
func horner(s isa, c []float64, factor float64, t vector) (p vector, steps thread) {
	p = s.new()
	last := len(c) - 1
	steps = thread{func() { VBROADCASTSS(f32(factor*c[last]), p) }}
	for i := last - 1; i >= 0; i-- {
		steps = append(steps, s.by32(VFMADD213PS, VFMADD213PS_BCST, f32(factor*c[i]), t, p))
	}
	return p, steps
}

// Constants live in memory, in one symbol each.
var constants = map[string]Mem{}

func constant(name string, data func() Mem) Mem {
	m, ok := constants[name]
	if !ok {
		m = data()
		constants[name] = m
	}
	return m
}

func word(x uint32) Mem { return repeatable(fmt.Sprintf("word_%08x", x), U32(x), 4) }

func u64(x uint64) Mem { return repeatable(fmt.Sprintf("quad_%016x", x), U64(x), 8) }

// repeatable is a constant that repeated has a vector of: AVX2's instructions
// take such a source from memory, but not one number for all lanes.
func repeatable(name string, x Constant, bytes int) Mem {
	repeated[name] = func() Mem {
		return constant(name+"_all", func() Mem {
			m := GLOBL(name+"_all", RODATA|NOPTR)
			for i := 0; i < 32; i += bytes {
				DATA(i, x)
			}
			return m
		})
	}
	return constant(name, func() Mem { return ConstData(name, x) })
}

var repeated = map[string]func() Mem{}

func f32(x float64) Mem { return word(math.Float32bits(float32(x))) }

// lanes holds 0, 1, 2 … in 64-bit lanes.
func lanes(s isa) Mem {
	const name = "lanes"
	return constant(name, func() Mem {
		m := GLOBL(name, RODATA|NOPTR)
		for i := range 8 {
			DATA(8*i, U64(uint64(i)))
		}
		return m
	})
}
