// Normals generates the assembly that makes standard-normal vectors from
// Philox4x32-10 blocks, alone or inside the update of a chain's state.
//
// AVX-512 and AVX2 take the same rounding steps, so their numbers are equal
// bit for bit.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hambench/internal/gen/simd"
)

// Byte offsets in kernel.counter.
const (
	oBlock = 0  // number of the first block
	oWords = 8  // the counter's other words, of 8 bytes each
	oKeys  = 32 // two for each round, of 8 bytes each
)

// Byte offsets in kernel.coefficients, doubles.
const (
	cP = 8 * iota
	cA
	cB
	cQ
	cS
	cD
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

// groups is how many groups of 32 normals are made at once: two vectors of
// counters, enough independent work to hide the multiplications' latency.
func (s isa) groups() int { return s.bytes / 32 }

func main() {
	for _, s := range []isa{{"avx512", 64}, {"avx2", 32}} {
		fill(s)
		update(s)
	}
	Generate()
}

func fill(s isa) {
	TEXT("normals_"+s.name, NOSPLIT, "func(c *byte, dst *float64, turns int)")
	Doc("normals_" + s.name + fmt.Sprintf(" stores turns × %d normals.", 32*s.groups()))
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	loop(s, func(z vector, offset int) { VMOVUPD(z, Mem{Base: dst, Disp: offset}) }, func() {
		ADDQ(U32(uint32(groupBytes*s.groups())), dst)
	})
}

// update is the pass of vec.Update with normals for ξ and one number for
// each coefficient. A nil theta is left out.
func update(s isa) {
	TEXT("noiseUpdate_"+s.name, NOSPLIT, "func(c, coefficients *byte, theta, r, grad *float64, turns int)")
	Doc("noiseUpdate_" + s.name + fmt.Sprintf(" updates turns × %d coordinates.", 32*s.groups()))
	Pragma("noescape")
	k := Load(Param("coefficients"), GP64())
	theta, r, g := Load(Param("theta"), GP64()), Load(Param("r"), GP64()), Load(Param("grad"), GP64())
	coef := func(o int) vector {
		x := s.new()
		VBROADCASTSD(Mem{Base: k, Disp: o}, x)
		return x
	}
	n := 0
	loop(s, func(z vector, offset int) {
		at := func(p reg.Register) Mem { return Mem{Base: p, Disp: offset} }
		v, t := s.new(), s.new()
		VMOVUPD(at(r), v)
		VMULPD(coef(cP), v, v)
		VFMADD231PD(at(g), coef(cA), v)
		n++
		still, done := fmt.Sprintf("still%d", n), fmt.Sprintf("done%d", n)
		TESTQ(theta, theta)
		JZ(LabelRef(still))
		VMOVUPD(at(theta), t)
		VFMADD231PD(coef(cB), v, t)
		VMULPD(coef(cQ), v, v)
		VFMADD231PD(coef(cS), z, v)
		VFMADD231PD(coef(cD), v, t)
		VMOVUPD(t, at(theta))
		JMP(LabelRef(done))
		Label(still)
		VMULPD(coef(cQ), v, v)
		VFMADD231PD(coef(cS), z, v)
		Label(done)
		VMOVUPD(v, at(r))
	}, func() {
		step := U32(uint32(groupBytes * s.groups()))
		ADDQ(step, r)
		ADDQ(step, g)
		TESTQ(theta, theta)
		JZ(LabelRef("nodrift"))
		ADDQ(step, theta)
		Label("nodrift")
	})
}

// loop makes turns × groups() groups of normals, hands each vector of doubles
// to use, with its byte offset within the turn, and ends a turn by advance.
//
// Both Philox and Box-Muller are long chains of dependent instructions. Where
// registers suffice, a turn makes its normals while it draws the bits of the
// next turn, instruction by instruction; the last turn's draw is wasted.
func loop(s isa, use func(z vector, offset int), advance func()) {
	c, turns := Load(Param("c"), GP64()).(reg.GPVirtual), Load(Param("turns"), GP64())
	p := newPhilox(s, c)
	restore := simd.FlushDenormals()
	var bits [2][2]vector
	if s.wide() {
		p.start()
		bits = p.finish()
		Label("turn")
		p.start()
		normals(s, bits, p.tick, use)
		for i, next := range p.finish() {
			s.copy(next[0], bits[i][0])
			s.copy(next[1], bits[i][1])
		}
	} else {
		Label("turn")
		p.start()
		normals(s, p.finish(), func() {}, use)
	}
	advance()
	DECQ(turns)
	JNZ(LabelRef("turn"))
	restore()
	VZEROUPPER()
	RET()
}

// normals makes a turn's doubles of its bits, and calls tick now and then.
func normals(s isa, bits [2][2]vector, tick func(), use func(z vector, offset int)) {
	// A vector's partners are half a group further on. An AVX2 turn is one
	// group, in two vectors.
	second := groupBytes
	if !s.wide() {
		second = groupBytes / 4
	}
	for i, u := range bits {
		for half, x := range boxMuller(s, u[0], u[1], tick) {
			for j, z := range widen(s, x) {
				use(z, i*second+half*groupBytes/2+j*s.bytes)
			}
		}
	}
}

// philox draws two vectors of blocks at a time.
type philox struct {
	s         isa
	c         reg.GPVirtual // kernel.counter
	ctr, step vector        // numbers of the next blocks, and their increase
	m0, m1    vector        // the multipliers
	blocks    [2][4]vector  // in work
	done      int           // rounds of both together
}

func newPhilox(s isa, c reg.GPVirtual) *philox {
	p := &philox{s: s, c: c, ctr: s.new(), step: s.new()}
	VPBROADCASTQ(Mem{Base: c, Disp: oBlock}, p.ctr)
	VPADDQ(lanes(s), p.ctr, p.ctr)
	VPBROADCASTQ(u64(uint64(s.bytes/8)), p.step)
	if s.wide() {
		p.multipliers()
	}
	return p
}

// multipliers loads them: once where registers suffice, else at every start.
func (p *philox) multipliers() {
	p.m0, p.m1 = p.s.new(), p.s.new()
	VPBROADCASTQ(u64(0xD2511F53), p.m0)
	VPBROADCASTQ(u64(0xCD9E8D57), p.m1)
}

// start takes up the next blocks.
func (p *philox) start() {
	if !p.s.wide() {
		p.multipliers()
	}
	p.done = 0
	for i := range p.blocks {
		for w := range p.blocks[i] {
			p.blocks[i][w] = p.s.new()
		}
		p.s.copy(p.ctr, p.blocks[i][0])
		for w := 1; w < 4; w++ {
			VPBROADCASTQ(Mem{Base: p.c, Disp: oWords + 8*(w-1)}, p.blocks[i][w])
		}
		VPADDQ(p.step, p.ctr, p.ctr)
	}
}

// tick does the next round of one of the blocks, if any is left.
func (p *philox) tick() {
	if round, i := p.done/2, p.done%2; round < 10 {
		p.blocks[i] = philoxRound(p.s, p.blocks[i], p.m0, p.m1, Mem{Base: p.c, Disp: oKeys + 16*round})
		p.done++
	}
}

// finish does what is left and returns, for each vector of blocks, 32 random
// bits in each lane for radii and for angles.
func (p *philox) finish() (bits [2][2]vector) {
	for p.done < 20 {
		p.tick()
	}
	for i, b := range p.blocks {
		bits[i] = [2]vector{merge(p.s, b[0], b[1]), merge(p.s, b[2], b[3])}
	}
	return bits
}

func (s isa) copy(from, to vector) {
	if s.wide() {
		VMOVDQA64(from, to)
	} else {
		VMOVDQA(from, to)
	}
}

// philoxRound works on the lower 32 bits of each 64-bit lane; the upper ones
// are not defined.
func philoxRound(s isa, b [4]vector, m0, m1 vector, keys Mem) [4]vector {
	p0, p1, x0, x2 := s.new(), s.new(), s.new(), s.new()
	VPMULUDQ(m0, b[0], p0)
	VPMULUDQ(m1, b[2], p1)
	const upper = 0xF5 // copies the odd words down
	VPSHUFD(U8(upper), p1, x0)
	VPSHUFD(U8(upper), p0, x2)
	xor3(s, x0, b[1], keys)
	xor3(s, x2, b[3], keys.Offset(8))
	return [4]vector{x0, p1, x2, p0}
}

// xor3 stores x ^ y ^ (key in each lane) in x.
func xor3(s isa, x, y vector, key Mem) {
	if s.wide() {
		VPTERNLOGQ_BCST(U8(0x96), key, y, x)
		return
	}
	k := s.new()
	VPBROADCASTQ(key, k)
	VPXOR(y, x, x)
	VPXOR(k, x, x)
}

// merge puts the lower words of a and b into the even and the odd lanes.
func merge(s isa, a, b vector) vector {
	x := s.new()
	VPSLLQ(U8(32), b, b)
	if !s.wide() {
		VPBLENDD(U8(0xAA), b, a, x)
		return x
	}
	odd, bits := K(), GP32()
	MOVL(U32(0xAAAA), bits)
	KMOVW(bits, odd)
	VPBLENDMD(b, a, odd, x)
	return x
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

// boxMuller turns lanes of random bits into pairs of independent normals of
// float32: kernel.boxMuller in plain Go says how.
func boxMuller(s isa, u1, u2 vector, tick func()) [2]vector {
	r := radius(s, u1, tick)
	a := s.new()
	VPSLLD(U8(2), u2, a)
	VCVTDQ2PS(a, a)
	VMULPS(f32(s, 0x1p-32), a, a)
	a2 := s.new()
	VMULPS(a, a, a2)
	sn, cs := horner(s, sine, a2, tick), horner(s, cosine, a2, tick)
	VMULPS(a, sn, sn)
	return quadrant(s, r, sn, cs, u2)
}

// quadrant lets the top bit of u2 turn the cosine's sign and the next one
// swap sine and cosine, and multiplies by the radius.
func quadrant(s isa, r, sn, cs, u2 vector) [2]vector {
	n1, n2 := s.new(), s.new()
	sign, swap := s.new(), s.new()
	if s.wide() {
		VPANDD(u32(s, 1<<31), u2, sign)
		VPXORD(sign, cs, cs)
		k := K()
		VPTESTMD(u32(s, 1<<30), u2, k)
		VPBLENDMD(sn, cs, k, n1)
		VPBLENDMD(cs, sn, k, n2)
	} else {
		VPAND(u32(s, 1<<31), u2, sign)
		VPXOR(sign, cs, cs)
		VPSLLD(U8(1), u2, swap)
		VBLENDVPS(swap, sn, cs, n1)
		VBLENDVPS(swap, cs, sn, n2)
	}
	VMULPS(r, n1, n1)
	VMULPS(r, n2, n2)
	return [2]vector{n1, n2}
}

// radius returns √(−2 ln u), u = max(u1, 1)/2³².
func radius(s isa, u1 vector, tick func()) vector {
	x := toFloat(s, u1)
	// ln x = e ln 2 + ln m, with m = x/2ᵉ between ¾ and 3/2: subtracting the
	// bits of ¾ leaves e in the exponent's place.
	e, m := s.new(), s.new()
	VPSUBD(u32(s, math.Float32bits(0.75)), x, e)
	VPSRAD(U8(23), e, e)
	VPSLLD(U8(23), e, m)
	VPSUBD(m, x, m)
	VCVTDQ2PS(e, e)
	VSUBPS(f32(s, 1), m, m)
	p := horner(s, logarithm, m, tick)
	VMULPS(m, p, p)
	VFMADD231PS(f32(s, math.Ln2), e, p)
	VMULPS(f32(s, -2), p, p)
	zero := s.new()
	VXORPS(zero, zero, zero)
	VMAXPS(zero, p, p) // the polynomial may make ln 1 a little more than 0
	VSQRTPS(p, p)
	return p
}

// toFloat converts unsigned words, at least 1, to numbers in (0, 1].
func toFloat(s isa, u vector) vector {
	x := s.new()
	VPMAXUD(u32(s, 1), u, u)
	if s.wide() {
		VCVTUDQ2PS(u, x)
	} else {
		// AVX2 converts signed words only; the sum of exact halves rounds
		// once, as the one instruction does.
		lo := s.new()
		VPSRLD(U8(16), u, x)
		VPSLLD(U8(16), u, lo)
		VPSRLD(U8(16), lo, lo)
		VCVTDQ2PS(x, x)
		VCVTDQ2PS(lo, lo)
		VFMADD132PS(f32(s, 0x1p16), lo, x)
	}
	VMULPS(f32(s, 0x1p-32), x, x)
	return x
}

// horner evaluates a polynomial, lowest coefficient first.
func horner(s isa, c []float64, t vector, tick func()) vector {
	p := s.new()
	VBROADCASTSS(word(math.Float32bits(float32(c[len(c)-1]))), p)
	for i := len(c) - 2; i >= 0; i-- {
		VFMADD213PS(f32(s, c[i]), t, p)
		tick()
	}
	return p
}

// widen converts a vector of floats to two of doubles.
func widen(s isa, x vector) [2]vector {
	lo, hi := s.new(), s.new()
	if s.wide() {
		t := YMM()
		VCVTPS2PD(x.AsY(), lo)
		VEXTRACTF64X4(U8(1), x, t)
		VCVTPS2PD(t, hi)
	} else {
		t := XMM()
		VCVTPS2PD(x.AsX(), lo)
		VEXTRACTF128(U8(1), x, t)
		VCVTPS2PD(t, hi)
	}
	return [2]vector{lo, hi}
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

func word(x uint32) Mem {
	name := fmt.Sprintf("word_%08x", x)
	return constant(name, func() Mem { return ConstData(name, U32(x)) })
}

func u64(x uint64) Mem {
	name := fmt.Sprintf("quad_%016x", x)
	return constant(name, func() Mem { return ConstData(name, U64(x)) })
}

// u32 and f32 return registers whose lanes are all x.
func u32(s isa, x uint32) vector {
	r := s.new()
	VPBROADCASTD(word(x), r)
	return r
}

func f32(s isa, x float64) vector {
	r := s.new()
	VBROADCASTSS(word(math.Float32bits(float32(x))), r)
	return r
}

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
