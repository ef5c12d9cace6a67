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
func loop(s isa, use func(z vector, offset int), advance func()) {
	c, turns := Load(Param("c"), GP64()).(reg.GPVirtual), Load(Param("turns"), GP64())
	ctr, step := s.new(), s.new()
	VPBROADCASTQ(Mem{Base: c, Disp: oBlock}, ctr)
	VPADDQ(lanes(s), ctr, ctr)
	VPBROADCASTQ(u64(uint64(s.bytes/8)), step)
	restore := simd.FlushDenormals()
	Label("turn")
	for i, u := range philox(s, c, ctr, step) {
		for half, x := range boxMuller(s, u[0], u[1]) {
			// The first vector's partners are half a group further on; an
			// AVX2 turn is one group in two vectors.
			offset := i*groupBytes + half*groupBytes/2
			if !s.wide() {
				offset = i*groupBytes/4 + half*groupBytes/2
			}
			for j, z := range widen(s, x) {
				use(z, offset+j*s.bytes)
			}
		}
	}
	advance()
	DECQ(turns)
	JNZ(LabelRef("turn"))
	restore()
	VZEROUPPER()
	RET()
}

// philox returns, for two vectors of block numbers, 32 random bits in each
// lane for radii and for angles, and advances the block numbers.
func philox(s isa, c reg.GPVirtual, ctr, step vector) [2][2]vector {
	var b [2][4]vector
	for i := range b {
		for w := range b[i] {
			b[i][w] = s.new()
		}
		s.copy(ctr, b[i][0])
		for w := 1; w < 4; w++ {
			VPBROADCASTQ(Mem{Base: c, Disp: oWords + 8*(w-1)}, b[i][w])
		}
		VPADDQ(step, ctr, ctr)
	}
	m0, m1 := s.new(), s.new()
	VPBROADCASTQ(u64(0xD2511F53), m0)
	VPBROADCASTQ(u64(0xCD9E8D57), m1)
	for round := range 10 {
		for i := range b {
			b[i] = philoxRound(s, b[i], m0, m1, Mem{Base: c, Disp: oKeys + 16*round})
		}
	}
	return [2][2]vector{{merge(s, b[0][0], b[0][1]), merge(s, b[0][2], b[0][3])}, {merge(s, b[1][0], b[1][1]), merge(s, b[1][2], b[1][3])}}
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
func boxMuller(s isa, u1, u2 vector) [2]vector {
	r := radius(s, u1)
	a := s.new()
	VPSLLD(U8(2), u2, a)
	VCVTDQ2PS(a, a)
	VMULPS(f32(s, 0x1p-32), a, a)
	a2 := s.new()
	VMULPS(a, a, a2)
	sn, cs := horner(s, sine, a2), horner(s, cosine, a2)
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
func radius(s isa, u1 vector) vector {
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
	p := horner(s, logarithm, m)
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
func horner(s isa, c []float64, t vector) vector {
	p := s.new()
	VBROADCASTSS(word(math.Float32bits(float32(c[len(c)-1]))), p)
	for i := len(c) - 2; i >= 0; i-- {
		VFMADD213PS(f32(s, c[i]), t, p)
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
