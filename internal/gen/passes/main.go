// Passes generates the assembly of the element-wise passes over a chain's
// state. They work on whole iterations of a loop; kernel does what is left in Go.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hambench/internal/gen/simd"
)

// unroll is the number of vectors in an iteration of every pass.
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
	name += s.Public()
	TEXT(name, NOSPLIT, signature)
	Doc(name + " " + doc)
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

// iterations ends a loop of passes.
func iterations(n reg.Register, loop string, restore func()) {
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
	text("Narrow", s, "func(dst *float32, x *float64, iterations int)", fmt.Sprintf("rounds iterations × %d doubles to floats.", unroll*elements(s)))
	dst, x, n := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("iterations"), GP64())
	restore := simd.FlushDenormals()
	Label("iteration")
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
	iterations(n, "iteration", restore)
}

// Byte offsets in kernel.Summand: of a number and of slices' addresses, 0 for
// those that are not there.
const (
	sAll     = 0
	sEach    = 8
	sX       = 32
	sFloat32 = 56
	sPrior   = 80
	sSize    = 104
)

// combine sums, for one iteration after another, over the terms. rounded, if
// there is one, receives the sums as floats.
func combine(s simd.Set) {
	text("Combine", s, "func(dst *float64, rounded *float32, summands *byte, n, iterations int)", fmt.Sprintf("stores the sum of n terms, iterations × %d numbers.", unroll*elements(s)))
	dst, turnsLeft := Load(Param("dst"), GP64()), Load(Param("iterations"), GP64())
	rounded := Load(Param("rounded"), GP64())
	restore := simd.FlushDenormals()
	offset := GP64()
	XORQ(offset, offset)
	Label("iteration")
	term, left := Load(Param("summands"), GP64()), Load(Param("n"), GP64())
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
	x, each, prior := field(sFloat32), field(sEach), field(sPrior)
	at := func(p reg.Register, i int) Mem { return Mem{Base: p, Index: offset, Scale: 1, Disp: s.Bytes * i} }
	add := func(kind string, number func(i int) Op) {
		TESTQ(each, each)
		JNZ(LabelRef("each" + kind))
		all := s.Broadcast(Mem{Base: term, Disp: sAll})
		for i, a := range acc {
			s.FMA(number(i), all, a)
		}
		JMP(LabelRef("added"))
		Label("each" + kind)
		for i, a := range acc {
			s.FMA(number(i), s.LoadPart(at(each, i), nil), a)
		}
	}
	TESTQ(x, x)
	JNZ(LabelRef("float32"))
	MOVQ(Mem{Base: term, Disp: sX}, x)
	Label("float64")
	add("", func(i int) Op { return at(x, i) })
	JMP(LabelRef("added"))
	Label("float32")
	floats := GP64()
	MOVQ(offset, floats)
	SHRQ(U8(1), floats)
	add("Float32", func(i int) Op { return widened(s, Mem{Base: x, Index: floats, Scale: 1, Disp: s.Bytes / 2 * i}) })
	Label("added")
	MOVQ(prior, x)
	XORQ(prior, prior)
	TESTQ(x, x)
	JNZ(LabelRef("float64"))
	ADDQ(U32(sSize), term)
	DECQ(left)
	JNZ(LabelRef("term"))
	for i, a := range acc {
		VMOVUPD(a, at(dst, i))
	}
	TESTQ(rounded, rounded)
	JZ(LabelRef("stored"))
	for i, a := range acc {
		storeFloats(s, a, Mem{Base: rounded, Disp: s.Bytes / 2 * i})
	}
	advance(unroll*s.Bytes/2, rounded)
	Label("stored")
	advance(unroll*s.Bytes, offset)
	iterations(turnsLeft, "iteration", restore)
}

// widened loads floats as doubles, storeFloats stores doubles as floats.
func widened(s simd.Set, m Mem) reg.VecVirtual {
	x := s.New()
	VCVTPS2PD(m, x)
	return x
}

func storeFloats(s simd.Set, x reg.VecVirtual, m Mem) {
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
	pNext     // not 0 for a whole step, whose gradient is of floats
	pAddTheta // not 0 if theta is to be added to the gradient
	pCoef     // P, A, B, Q, S, D, E: addresses
	pStep     = pCoef + coefs*8
	coefs     = 7
)

// update is the pass of Update with a given ξ. Each coefficient has an
// address, of a iteration's numbers, and the step by which that moves: 0 if the
// number is the same for all coordinates. These stay in memory: registers are
// scarce.
func update(s simd.Set) {
	text("Update", s, "func(pass *byte, iterations int)", fmt.Sprintf("updates iterations × %d coordinates.", unroll*elements(s)))
	u := &updater{s: s, p: Load(Param("pass"), GP64())}
	n := Load(Param("iterations"), GP64())
	u.r, u.xi, u.g, u.theta, u.next = u.pointer(pR), u.pointer(pXi), u.pointer(pG), u.pointer(pTheta), u.pointer(pNext)
	restore := simd.FlushDenormals()
	Label("iteration")
	u.v = u.load(u.r)
	TESTQ(u.next, u.next)
	JNZ(LabelRef("whole"))
	u.multiply(cP, u.v)
	TESTQ(u.theta, u.theta)
	JZ(LabelRef("still"))
	u.t = u.load(u.theta)
	u.push()
	u.move()
	JMP(LabelRef("moved"))
	Label("still")
	u.each(cA, func(i int, c Mem) { u.s.FMA(u.at(u.g, i), s.LoadPart(c, nil), u.v[i]) })
	advance(unroll*s.Bytes, u.g)
	u.kick()
	JMP(LabelRef("moved"))
	Label("whole")
	u.step()
	Label("moved")
	u.store(u.v, u.r)
	advance(unroll*s.Bytes, u.r, u.xi)
	step := GP64()
	for i := range coefs {
		MOVQ(u.field(pStep+8*i), step)
		ADDQ(step, u.field(pCoef+8*i))
	}
	iterations(n, "iteration", restore)
}

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

// updater holds the registers of update: momenta v and positions t of an iteration.
type updater struct {
	s                     simd.Set
	p                     reg.Register
	r, xi, g, theta, next reg.GPVirtual
	v, t                  []reg.VecVirtual
}

func (u *updater) field(o int) Mem { return Mem{Base: u.p, Disp: o} }

func (u *updater) pointer(o int) reg.GPVirtual {
	r := GP64()
	MOVQ(u.field(o), r)
	return r
}

func (u *updater) at(p reg.Register, i int) Mem { return Mem{Base: p, Disp: u.s.Bytes * i} }

func (u *updater) load(p reg.Register) (v []reg.VecVirtual) {
	for i := range unroll {
		v = append(v, u.s.LoadPart(u.at(p, i), nil))
	}
	return v
}

func (u *updater) store(v []reg.VecVirtual, p reg.Register) {
	for i, x := range v {
		VMOVUPD(x, u.at(p, i))
	}
}

// each hands out a coefficient for each vector of the iteration.
func (u *updater) each(coef int, use func(i int, c Mem)) {
	p := u.pointer(pCoef + 8*coef)
	for i := range unroll {
		use(i, u.at(p, i))
	}
}

// multiply is v ← c∘v, add is y ← y + c∘x.
func (u *updater) multiply(coef int, v []reg.VecVirtual) {
	u.each(coef, func(i int, c Mem) { VMULPD(c, v[i], v[i]) })
}

func (u *updater) add(coef int, x, y []reg.VecVirtual) {
	u.each(coef, func(i int, c Mem) { u.s.FMA(c, x[i], y[i]) })
}

func (u *updater) kick() {
	u.multiply(cQ, u.v)
	u.each(cS, func(i int, c Mem) { u.s.FMA(c, u.s.LoadPart(u.at(u.xi, i), nil), u.v[i]) })
}

// push adds the gradient to the momenta.
func (u *updater) push() {
	g := u.load(u.g)
	CMPQ(u.field(pAddTheta), U32(0))
	JEQ(LabelRef("all"))
	for i, x := range g {
		VADDPD(u.t[i], x, x)
	}
	Label("all")
	u.add(cA, g, u.v)
	advance(unroll*u.s.Bytes, u.g)
}

// move is the kick and the drifts before and after it.
func (u *updater) move() {
	u.add(cB, u.v, u.t)
	u.kick()
	u.add(cD, u.v, u.t)
	u.store(u.t, u.theta)
	advance(unroll*u.s.Bytes, u.theta)
}

// step is a whole step, with a first drift, and the next position in float32.
func (u *updater) step() {
	u.t = u.load(u.theta)
	u.add(cE, u.v, u.t)
	u.multiply(cP, u.v)
	u.each(cA, func(i int, c Mem) {
		g := widened(u.s, Mem{Base: u.g, Disp: u.s.Bytes / 2 * i})
		VADDPD(u.t[i], g, g)
		u.s.FMA(c, g, u.v[i])
	})
	advance(unroll*u.s.Bytes/2, u.g)
	u.move()
	u.add(cE, u.v, u.t)
	for i, x := range u.t {
		storeFloats(u.s, x, Mem{Base: u.next, Disp: u.s.Bytes / 2 * i})
	}
	advance(unroll*u.s.Bytes/2, u.next)
}
