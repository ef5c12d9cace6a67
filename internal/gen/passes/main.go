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
	sX    = 0
	sC    = 8
	sEach = 16 // all ones if c has a number for each element, else 0
	sSize = 24
)

// combine sums, for one turn after another, over the terms.
func combine(s simd.Set) {
	text("combine", s, "func(dst *float64, terms *byte, n, turns int)", fmt.Sprintf("stores the sum of n terms c∘x, turns × %d numbers.", unroll*elements(s)))
	dst, turnsLeft := Load(Param("dst"), GP64()), Load(Param("turns"), GP64())
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
	x, c, each := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: term, Disp: sX}, x)
	MOVQ(Mem{Base: term, Disp: sC}, c)
	MOVQ(Mem{Base: term, Disp: sEach}, each)
	at := func(p reg.Register, i int) Mem { return Mem{Base: p, Index: offset, Scale: 1, Disp: s.Bytes * i} }
	TESTQ(each, each)
	JNZ(LabelRef("each"))
	all := s.Broadcast(Mem{Base: c})
	for i, a := range acc {
		s.FMA(at(x, i), all, a)
	}
	JMP(LabelRef("added"))
	Label("each")
	for i, a := range acc {
		s.FMA(at(x, i), s.LoadPart(at(c, i), nil), a)
	}
	Label("added")
	ADDQ(U32(sSize), term)
	DECQ(left)
	JNZ(LabelRef("term"))
	for i, a := range acc {
		VMOVUPD(a, at(dst, i))
	}
	advance(unroll*s.Bytes, offset)
	turns(turnsLeft, "turn", restore)
}

// Byte offsets in kernel.pass.
const (
	pTheta = 8 * iota
	pR
	pG
	pXi
	pCoef // P, A, B, Q, S, D: addresses
	pStep = pCoef + 6*8
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
	theta, r, g, xi := pointer(pTheta), pointer(pR), pointer(pG), pointer(pXi)
	var coef []reg.GPVirtual
	for i := range 6 {
		coef = append(coef, pointer(pCoef+8*i))
	}
	restore := simd.FlushDenormals()
	const P, A, B, Q, S, D = 0, 1, 2, 3, 4, 5
	Label("turn")
	v := s.New()
	VMOVUPD(Mem{Base: r}, v)
	VMULPD(Mem{Base: coef[P]}, v, v)
	a := s.LoadPart(Mem{Base: coef[A]}, nil)
	s.FMA(Mem{Base: g}, a, v)
	TESTQ(theta, theta)
	JZ(LabelRef("still"))
	t := s.LoadPart(Mem{Base: theta}, nil)
	s.FMA(Mem{Base: coef[B]}, v, t)
	kick := func() {
		VMULPD(Mem{Base: coef[Q]}, v, v)
		z := s.LoadPart(Mem{Base: xi}, nil)
		s.FMA(Mem{Base: coef[S]}, z, v)
	}
	kick()
	s.FMA(Mem{Base: coef[D]}, v, t)
	VMOVUPD(t, Mem{Base: theta})
	advance(s.Bytes, theta)
	JMP(LabelRef("moved"))
	Label("still")
	kick()
	Label("moved")
	VMOVUPD(v, Mem{Base: r})
	advance(s.Bytes, r, g, xi)
	for i, c := range coef {
		ADDQ(field(pStep+8*i), c)
	}
	turns(n, "turn", restore)
}
