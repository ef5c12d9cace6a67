// Package simd lets a generator write one program for several instruction
// sets, vector widths and number formats.
package simd

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Set is a vector of numbers of one format in one instruction set.
type Set struct {
	ISA   string // avx512, avx2
	Bytes int    // of a vector
	Elem  int    // bytes of a number
	Masks bool   // AVX-512's mask registers and its 32 vector registers
}

// Sets are what the products are generated for. Narrow AVX-512 vectors serve
// batches that would leave half a wide one empty.
var Sets = []Set{
	{"avx512", 64, 4, true}, {"avx512", 64, 8, true},
	{"avx512", 32, 4, true}, {"avx512", 32, 8, true},
	{"avx2", 32, 4, false}, {"avx2", 32, 8, false},
}

// Narrow says that the set is AVX-512's with half the width.
func (s Set) Narrow() bool { return s.Masks && s.Bytes == 32 }

// Suffix ends the names of the set's functions.
func (s Set) Suffix() string {
	n := fmt.Sprintf("%s_f%d", s.ISA, 8*s.Elem)
	if s.Narrow() {
		n += "_narrow"
	}
	return n
}

// Public ends the names of functions that package kernel calls.
func (s Set) Public() string { return strings.ToUpper(s.ISA) }

// Float64 says that the numbers are doubles.
func (s Set) Float64() bool { return s.Elem == 8 }

// New returns a fresh vector register.
func (s Set) New() reg.VecVirtual {
	if s.Bytes == 64 {
		return ZMM()
	}
	return YMM()
}

// Zero returns a register of zeros. It is made by VXORPS, as avo's analysis of
// live registers takes VPXORD of a register with itself for a use of it.
func (s Set) Zero() reg.VecVirtual {
	x := s.New()
	VXORPS(x, x, x)
	return x
}

// pick chooses an instruction by number format.
func (s Set) pick(single, double func(...Op)) func(...Op) {
	if s.Float64() {
		return double
	}
	return single
}

// LoadMask returns the mask of a last vector that the instruction holds at an
// offset: lane bits for AVX-512, the address of lane words for AVX2.
func (s Set) LoadMask(instruction reg.Register, offset int) Op {
	m := GP64()
	MOVQ(Mem{Base: instruction, Disp: offset}, m)
	if s.Masks {
		k := K()
		KMOVW(m.As32(), k)
		return k
	}
	y := YMM()
	VMOVUPS(Mem{Base: m}, y)
	return y
}

// LoadPart loads a vector, or the lanes of a mask and zeros elsewhere.
func (s Set) LoadPart(m Mem, mask Op) reg.VecVirtual {
	x := s.New()
	switch {
	case mask == nil:
		s.pick(VMOVUPS, VMOVUPD)(m, x)
	case s.Masks && s.Float64():
		VMOVUPD_Z(m, mask, x)
	case s.Masks:
		VMOVUPS_Z(m, mask, x)
	case s.Float64():
		VMASKMOVPD(m, mask, x)
	default:
		VMASKMOVPS(m, mask, x)
	}
	return x
}

// StorePart stores a vector, or the lanes of a mask.
func (s Set) StorePart(x reg.VecVirtual, m Mem, mask Op) {
	switch {
	case mask == nil:
		s.pick(VMOVUPS, VMOVUPD)(x, m)
	case s.Masks:
		s.pick(VMOVUPS, VMOVUPD)(x, mask, m)
	case s.Float64():
		VMASKMOVPD(x, mask, m)
	default:
		VMASKMOVPS(x, mask, m)
	}
}

// BroadcastLane fills a register's 16-byte lanes with one from memory,
// InsertLane replaces lane l by one.
func (s Set) BroadcastLane(m Mem) reg.VecVirtual {
	x := s.New()
	if s.Bytes == 64 {
		VBROADCASTF32X4(m, x)
	} else {
		VBROADCASTF128(m, x)
	}
	return x
}

func (s Set) InsertLane(l int, m Mem, x reg.VecVirtual) {
	if s.Bytes == 64 {
		VINSERTF32X4(U8(uint8(l)), m, x, x)
	} else {
		VINSERTF128(U8(uint8(l)), m, x, x)
	}
}

// Broadcast fills a register with one number.
func (s Set) Broadcast(m Mem) reg.VecVirtual {
	x := s.New()
	s.pick(func(o ...Op) { VBROADCASTSS(o...) }, func(o ...Op) { VBROADCASTSD(o[0], o[1]) })(m, x)
	return x
}

// FMA adds x·y to z, FMABroadcast a number times y.
func (s Set) FMA(x, y, z Op) { s.pick(VFMADD231PS, VFMADD231PD)(x, y, z) }

func (s Set) FMABroadcast(m Mem, y, z Op) {
	s.pick(VFMADD231PS_BCST, VFMADD231PD_BCST)(m, y, z)
}

// Mul stores x·y in z, Max the larger of x and y, and x if one is NaN.
func (s Set) Mul(x, y, z Op) { s.pick(VMULPS, VMULPD)(x, y, z) }
func (s Set) Max(x, y, z Op) { s.pick(VMAXPS, VMAXPD)(x, y, z) }

// MulWhere multiplies x by scale where h is above zero and clears it where it
// is not.
func (s Set) MulWhere(zero, h, scale, x reg.VecVirtual) {
	const below = 1 // the predicate "less, ordered"
	if !s.Masks {
		s.pick(VCMPPS, VCMPPD)(U8(below), h, zero, h)
		s.Mul(scale, x, x)
		s.pick(VANDPS, VANDPD)(h, x, x)
		return
	}
	k := K()
	s.pick(VCMPPS, VCMPPD)(U8(below), h, zero, k)
	if s.Float64() {
		VMULPD_Z(scale, x, k, x)
	} else {
		VMULPS_Z(scale, x, k, x)
	}
}

// Sums returns, for each of one to four registers, one whose first lane is
// the sum of its lanes.
func (s Set) Sums(v []reg.VecVirtual) []reg.VecVirtual {
	for i := range v {
		v[i] = s.fold(v[i])
	}
	if s.Float64() {
		return s.sums64(v)
	}
	return s.sums32(v)
}

// PairSums returns the scaled sums of the lanes of 16 AVX-512 registers, in
// one register of floats or two of doubles, in the order given.
func (s Set) PairSums(v []reg.VecVirtual, scale reg.VecVirtual) []reg.VecVirtual {
	add := s.pick(VADDPS, VADDPD)
	// merge adds what two shuffles take from a and b.
	merge := func(shuffle [2]func(b, a, x Op), v []reg.VecVirtual) (sums []reg.VecVirtual) {
		for i := 0; i < len(v); i += 2 {
			x, y := ZMM(), ZMM()
			shuffle[0](v[i+1], v[i], x)
			shuffle[1](v[i+1], v[i], y)
			add(y, x, x)
			sums = append(sums, x)
		}
		return sums
	}
	singles := [2]func(b, a, x Op){
		func(b, a, x Op) { VUNPCKLPS(b, a, x) },
		func(b, a, x Op) { VUNPCKHPS(b, a, x) },
	}
	doubles := [2]func(b, a, x Op){
		func(b, a, x Op) { VUNPCKLPD(b, a, x) },
		func(b, a, x Op) { VUNPCKHPD(b, a, x) },
	}
	quarters := [2]func(b, a, x Op){ // lanes of 128 bits: the even ones, the odd ones
		func(b, a, x Op) { VSHUFF64X2(U8(0x88), b, a, x) },
		func(b, a, x Op) { VSHUFF64X2(U8(0xdd), b, a, x) },
	}
	if !s.Float64() {
		v = merge(singles, v)
	}
	v = merge(quarters, merge(quarters, merge(doubles, v)))
	for _, x := range v {
		s.Mul(scale, x, x)
	}
	return v
}

// fold adds the upper half of a wide register to the lower.
func (s Set) fold(x reg.VecVirtual) reg.VecVirtual {
	if s.Bytes == 32 {
		return x
	}
	y := YMM()
	VEXTRACTF64X4(U8(1), x, y)
	s.pick(VADDPS, VADDPD)(x.AsY(), y, y)
	return y
}

// lower adds the upper half of a 256-bit register to the lower.
func (s Set) lower(y reg.VecVirtual) reg.VecVirtual {
	x := XMM()
	VEXTRACTF128(U8(1), y.AsY(), x)
	s.pick(VADDPS, VADDPD)(y.AsX(), x, x)
	return x
}

func (s Set) sums32(v []reg.VecVirtual) []reg.VecVirtual {
	at := func(i int) reg.VecVirtual { return v[min(i, len(v)-1)] }
	pair := func(i int) reg.VecVirtual {
		y := YMM()
		VHADDPS(at(i+1).AsY(), at(i).AsY(), y)
		return y
	}
	a, b := pair(0), pair(2)
	VHADDPS(b, a, a)
	x := s.lower(a) // the four sums
	sums := []reg.VecVirtual{x}
	for i := 1; i < len(v); i++ {
		y := XMM()
		VPERMILPS(U8(uint8(i)), x, y)
		sums = append(sums, y)
	}
	return sums
}

func (s Set) sums64(v []reg.VecVirtual) []reg.VecVirtual {
	var sums []reg.VecVirtual
	for i := 0; i < len(v); i += 2 {
		y := YMM()
		VHADDPD(v[min(i+1, len(v)-1)].AsY(), v[i].AsY(), y)
		x := s.lower(y)
		sums = append(sums, x)
		if i+1 < len(v) {
			z := XMM()
			VPERMILPD(U8(1), x, z)
			sums = append(sums, z)
		}
	}
	return sums
}

// MulScalar multiplies, AddScalar adds to, StoreScalar stores the first lane.
func (s Set) MulScalar(m Mem, x reg.VecVirtual) { s.pick(VMULSS, VMULSD)(m, x.AsX(), x.AsX()) }
func (s Set) AddScalar(m Mem, x reg.VecVirtual) { s.pick(VADDSS, VADDSD)(m, x.AsX(), x.AsX()) }

func (s Set) StoreScalar(x reg.VecVirtual, m Mem) {
	s.pick(func(o ...Op) { VMOVSS(o...) }, func(o ...Op) { VMOVSD(o...) })(x.AsX(), m)
}

// FlushDenormals sets FTZ and DAZ in MXCSR until the returned function is
// called: denormal numbers slow arithmetic many-fold.
func FlushDenormals() (restore func()) {
	old, now := AllocLocal(8), AllocLocal(8)
	r := GP32()
	STMXCSR(old)
	MOVL(old, r)
	ORL(U32(0x8040), r)
	MOVL(r, now)
	LDMXCSR(now)
	return func() { LDMXCSR(old) }
}
