// Passes generates the assembly of the element-wise passes over a chain's
// state. They work on whole turns of a loop; kernel does what is left in Go.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hambench/internal/gen/simd"
)

// unroll is the number of vectors in a turn of every pass but update's.
const unroll = 4

func main() {
	for _, s := range simd.Sets {
		if s.Float64() && !s.Narrow() {
			narrow(s)
			combine(s)
			update(s)
		}
	}
	Generate()
}

func text(name string, s simd.Set, signature, doc string) {
	TEXT(name+"_"+s.ISA, NOSPLIT, signature)
	Doc(fmt.Sprintf("%s_%s %s", name, s.ISA, doc))
	Pragma("noescape")
}

// half returns the register that holds as many floats as s has doubles.
func half(s simd.Set) reg.VecVirtual {
	if s.Bytes == 64 {
		return YMM()
	}
	return XMM()
}

func elements(s simd.Set) int { return s.Bytes / 8 }

// turns ends a loop of passes.
func turns(n reg.Register, loop string, restore func()) {
	DECQ(n)
	JNZ(LabelRef(loop))
	restore()
	VZEROUPPER()
	RET()
}

func advance(bytes int, pointers ...reg.Register) {
	for _, p := range pointers {
		ADDQ(U32(uint32(bytes)), p)
	}
}

func narrow(s simd.Set) {
	text("narrow", s, "func(dst *float32, x *float64, turns int)", fmt.Sprintf("rounds turns × %d doubles to floats.", unroll*elements(s)))
	dst, x, n := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("turns"), GP64())
	restore := simd.FlushDenormals()
	Label("turn")
	// dst, not read before, is the one to wait for.
	const ahead = 256
	for line := 0; line < unroll*s.Bytes/2; line += 64 {
		PREFETCHT0(Mem{Base: dst, Disp: ahead + line})
	}
	for i := range unroll {
		v := half(s)
		if s.Bytes == 64 {
			VCVTPD2PS(Mem{Base: x, Disp: s.Bytes * i}, v)
		} else {
			VCVTPD2PSY(Mem{Base: x, Disp: s.Bytes * i}, v)
		}
		VMOVUPS(v, Mem{Base: dst, Disp: s.Bytes / 2 * i})
	}
	advance(unroll*s.Bytes, x)
	advance(unroll*s.Bytes/2, dst)
	turns(n, "turn", restore)
}

// Byte offsets in kernel.summand.
const (
	sX      = 0
	sC      = 8
	sEach   = 16 // not 0 if c has a number for each element
	sSingle = 24 // not 0 if x holds floats
	sSize   = 32
)

// combine sums, for one turn after another, over the terms. rounded, if
// there is one, receives the sums as floats.
func combine(s simd.Set) {
	text("combine", s, "func(dst *float64, rounded *float32, terms *byte, n, turns int)", fmt.Sprintf("stores the sum of n terms c∘x, turns × %d numbers.", unroll*elements(s)))
	dst, turnsLeft := Load(Param("dst"), GP64()), Load(Param("turns"), GP64())
	rounded := Load(Param("rounded"), GP64())
	restore := simd.FlushDenormals()
	offset := GP64()
	XORQ(offset, offset)
	Label("turn")
	term, left := Load(Param("terms"), GP64()), Load(Param("n"), GP64())
	var acc []reg.VecVirtual
	for range unroll {
		acc = append(acc, s.Zero())
	}
	Label("term")
	field := func(o int) reg.GPVirtual {
		r := GP64()
		MOVQ(Mem{Base: term, Disp: o}, r)
		return r
	}
	x, c, each, single := field(sX), field(sC), field(sEach), field(sSingle)
	at := func(p reg.Register, i int) Mem { return Mem{Base: p, Index: offset, Scale: 1, Disp: s.Bytes * i} }
	add := func(kind string, number func(i int) Op) {
		TESTQ(each, each)
		JNZ(LabelRef("each" + kind))
		all := s.Broadcast(Mem{Base: c})
		for i, a := range acc {
			s.FMA(number(i), all, a)
		}
		JMP(LabelRef("added"))
		Label("each" + kind)
		for i, a := range acc {
			s.FMA(number(i), s.LoadPart(at(c, i), nil), a)
		}
		JMP(LabelRef("added"))
	}
	TESTQ(single, single)
	JNZ(LabelRef("single"))
	add("", func(i int) Op { return at(x, i) })
	Label("single")
	floats := GP64()
	MOVQ(offset, floats)
	SHRQ(U8(1), floats)
	add("Single", func(i int) Op { return widened(s, Mem{Base: x, Index: floats, Scale: 1, Disp: s.Bytes / 2 * i}) })
	Label("added")
	ADDQ(U32(sSize), term)
	DECQ(left)
	JNZ(LabelRef("term"))
	for i, a := range acc {
		VMOVUPD(a, at(dst, i))
	}
	TESTQ(rounded, rounded)
	JZ(LabelRef("stored"))
	for i, a := range acc {
		storeSingle(s, a, Mem{Base: rounded, Disp: s.Bytes / 2 * i})
	}
	advance(unroll*s.Bytes/2, rounded)
	Label("stored")
	advance(unroll*s.Bytes, offset)
	turns(turnsLeft, "turn", restore)
}

// widened loads floats as doubles, storeSingle stores doubles as floats.
func widened(s simd.Set, m Mem) reg.VecVirtual {
	x := s.New()
	VCVTPS2PD(m, x)
	return x
}

func storeSingle(s simd.Set, x reg.VecVirtual, m Mem) {
	v := half(s)
	if s.Bytes == 64 {
		VCVTPD2PS(x, v)
	} else {
		VCVTPD2PSY(x, v)
	}
	VMOVUPS(v, m)
}

// Byte offsets in kernel.pass.
const (
	pTheta = 8 * iota
	pR
	pG
	pXi
	pLead // not 0 for a whole step, whose gradient is of floats
	pCoef // P, A, B, Q, S, D, E: addresses
	pStep = pCoef + coefs*8
	coefs = 7
)

// update is the pass of vec.Update with a given ξ. Each coefficient has an
// address, of a vector, and the step by which that moves: 0 if the number is
// the same for all coordinates.
func update(s simd.Set) {
	text("update", s, "func(p *byte, turns int)", fmt.Sprintf("updates turns × %d coordinates.", elements(s)))
	p, n := Load(Param("p"), GP64()), Load(Param("turns"), GP64())
	field := func(o int) Mem { return Mem{Base: p, Disp: o} }
	pointer := func(o int) reg.GPVirtual {
		r := GP64()
		MOVQ(field(o), r)
		return r
	}
	r, xi, g, theta := pointer(pR), pointer(pXi), pointer(pG), pointer(pTheta)
	// The other addresses stay in memory: registers are scarce.
	coef := func(i int) Mem { return Mem{Base: pointer(pCoef + 8*i)} }
	restore := simd.FlushDenormals()
	const P, A, B, Q, S, D, E = 0, 1, 2, 3, 4, 5, 6
	var v, t reg.VecVirtual
	begin := func() {
		v = s.LoadPart(Mem{Base: r}, nil)
	}
	kick := func() {
		VMULPD(coef(Q), v, v)
		z := s.LoadPart(Mem{Base: xi}, nil)
		s.FMA(coef(S), z, v)
	}
	move := func() {
		s.FMA(coef(B), v, t)
		kick()
		s.FMA(coef(D), v, t)
		VMOVUPD(t, Mem{Base: theta})
		advance(s.Bytes, theta)
	}
	lead := pointer(pLead)
	Label("turn")
	begin()
	TESTQ(lead, lead)
	JNZ(LabelRef("whole"))
	VMULPD(coef(P), v, v)
	s.FMA(Mem{Base: g}, s.LoadPart(coef(A), nil), v)
	advance(s.Bytes, g)
	TESTQ(theta, theta)
	JZ(LabelRef("still"))
	t = s.LoadPart(Mem{Base: theta}, nil)
	move()
	JMP(LabelRef("moved"))
	Label("still")
	kick()
	JMP(LabelRef("moved"))
	Label("whole")
	t = s.LoadPart(Mem{Base: theta}, nil)
	s.FMA(coef(E), v, t)
	a := widened(s, Mem{Base: g})
	VADDPD(t, a, a)
	advance(s.Bytes/2, g)
	VMULPD(coef(P), v, v)
	s.FMA(coef(A), a, v)
	move()
	s.FMA(coef(E), v, t)
	storeSingle(s, t, Mem{Base: lead})
	advance(s.Bytes/2, lead)
	Label("moved")
	VMOVUPD(v, Mem{Base: r})
	advance(s.Bytes, r, xi)
	step := GP64()
	for i := range coefs {
		MOVQ(field(pStep+8*i), step)
		ADDQ(step, field(pCoef+8*i))
	}
	turns(n, "turn", restore)
}
