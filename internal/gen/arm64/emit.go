package main

import (
	"fmt"
	"strings"
)

// text is a Go assembly file in the making. Instructions on vectors are
// written as words, as Go's assembler lacks most of them, with what they are
// in a comment; all others are in Go's syntax.
type text struct {
	*strings.Builder
	f format
}

func newText() *text { return &text{&strings.Builder{}, float64s} }

// with writes to the same file in another format.
func (t *text) with(f format) *text { return &text{t.Builder, f} }

// format is a number format in vectors of 16 bytes.
type format struct {
	elem int // bytes of a number
}

var (
	float32s = format{4}
	float64s = format{8}
)

// vectorBytes is the length of a vector register.
const vectorBytes = 16

func (f format) double() bool { return f.elem == 8 }
func (f format) lanes() int   { return vectorBytes / f.elem }

// suffix ends names of functions, arrangement is what follows a register.
func (f format) suffix() string { return fmt.Sprintf("f%d", 8*f.elem) }

func (f format) arrangement() string {
	if f.double() {
		return "2d"
	}
	return "4s"
}

func (f format) letter() string {
	if f.double() {
		return "d"
	}
	return "s"
}

// pick chooses an encoding by format.
func (f format) pick(single, double uint32) uint32 {
	if f.double() {
		return double
	}
	return single
}

// v is a vector register, x a general one.
type (
	v uint32
	x uint32
)

func (r x) String() string { return fmt.Sprintf("R%d", uint32(r)) }

// line writes an instruction in Go's syntax.
func (t *text) line(format string, args ...any) { fmt.Fprintf(t, "\t"+format+"\n", args...) }

func (t *text) label(name string) { fmt.Fprintf(t, "%s:\n", name) }

// word writes an instruction's encoding.
func (t *text) word(encoding uint32, format string, args ...any) {
	fmt.Fprintf(t, "\tWORD $0x%08x // %s\n", encoding, fmt.Sprintf(format, args...))
}

// three writes an instruction of two sources on whole vectors.
func (t *text) three(op string, encoding uint32, arrangement string, m, n, d v) {
	t.word(encoding|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s, v%d.%s", op, d, arrangement, n, arrangement, m, arrangement)
}

// two writes an instruction of one source.
func (t *text) two(op string, encoding uint32, to, from string, n, d v) {
	t.word(encoding|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s", op, d, to, n, from)
}

// In all that follows the destination comes last, as in Go.

func (t *text) fmul(m, n, d v) {
	t.three("fmul", t.f.pick(0x6e20dc00, 0x6e60dc00), t.f.arrangement(), m, n, d)
}

func (t *text) fadd(m, n, d v) {
	t.three("fadd", t.f.pick(0x4e20d400, 0x4e60d400), t.f.arrangement(), m, n, d)
}

// fsub is n − m.
func (t *text) fsub(m, n, d v) {
	t.three("fsub", t.f.pick(0x4ea0d400, 0x4ee0d400), t.f.arrangement(), m, n, d)
}

func (t *text) fmax(m, n, d v) {
	t.three("fmax", t.f.pick(0x4e20f400, 0x4e60f400), t.f.arrangement(), m, n, d)
}

// fmla adds m·n to d.
func (t *text) fmla(m, n, d v) {
	t.three("fmla", t.f.pick(0x4e20cc00, 0x4e60cc00), t.f.arrangement(), m, n, d)
}

// faddp adds pairs of neighbours of n, then of m.
func (t *text) faddp(m, n, d v) {
	t.three("faddp", t.f.pick(0x6e20d400, 0x6e60d400), t.f.arrangement(), m, n, d)
}

// byElement encodes the lane i of m.
func (t *text) byElement(m v, i int) uint32 {
	e := uint32(m) << 16
	if t.f.double() {
		return e | uint32(i)<<11
	}
	return e | uint32(i&1)<<21 | uint32(i>>1)<<11
}

// fmlaLane adds lane i of m, times n, to d; fmulLane multiplies by it.
func (t *text) fmlaLane(m v, i int, n, d v) {
	t.word(t.f.pick(0x4f801000, 0x4fc01000)|t.byElement(m, i)|uint32(n)<<5|uint32(d),
		"fmla v%d.%s, v%d.%s, v%d.%s[%d]", d, t.f.arrangement(), n, t.f.arrangement(), m, t.f.letter(), i)
}

func (t *text) fmulLane(m v, i int, n, d v) {
	t.word(t.f.pick(0x4f809000, 0x4fc09000)|t.byElement(m, i)|uint32(n)<<5|uint32(d),
		"fmul v%d.%s, v%d.%s, v%d.%s[%d]", d, t.f.arrangement(), n, t.f.arrangement(), m, t.f.letter(), i)
}

// positive sets the lanes of d whose number in n is above zero.
func (t *text) positive(n, d v) {
	a := t.f.arrangement()
	t.word(t.f.pick(0x4ea0c800, 0x4ee0c800)|uint32(n)<<5|uint32(d), "fcmgt v%d.%s, v%d.%s, #0.0", d, a, n, a)
}

// Lanes of 32 bits.

func (t *text) uadd(m, n, d v) { t.three("add", 0x4ea08400, "4s", m, n, d) }
func (t *text) usub(m, n, d v) { t.three("sub", 0x6ea08400, "4s", m, n, d) } // n − m
func (t *text) umax(m, n, d v) { t.three("umax", 0x6ea06400, "4s", m, n, d) }

func (t *text) shift(op string, encoding uint32, field, bits int, n, d v) {
	t.word(encoding|uint32(field)<<16|uint32(n)<<5|uint32(d), "%s v%d.4s, v%d.4s, #%d", op, d, n, bits)
}

func (t *text) shiftLeft(bits int, n, d v) { t.shift("shl", 0x4f005400, 32+bits, bits, n, d) }

// shiftRight keeps the sign.
func (t *text) shiftRight(bits int, n, d v) { t.shift("sshr", 0x4f000400, 64-bits, bits, n, d) }

// signed and unsigned are numbers / 2^bits.
func (t *text) signed(bits int, n, d v)   { t.shift("scvtf", 0x4f00e400, 64-bits, bits, n, d) }
func (t *text) unsigned(bits int, n, d v) { t.shift("ucvtf", 0x6f00e400, 64-bits, bits, n, d) }

func (t *text) integer(n, d v) { t.two("scvtf", 0x4e21d800, "4s", "4s", n, d) }
func (t *text) negative(n, d v) {
	t.word(0x4ea0a800|uint32(n)<<5|uint32(d), "cmlt v%d.4s, v%d.4s, #0", d, n)
}
func (t *text) root(n, d v) { t.two("fsqrt", 0x6ea1f800, "4s", "4s", n, d) }

// multiply stores the products of 64 bits of the lower or upper two lanes of n
// with lane i of m.
func (t *text) multiply(half int, m v, i int, n, d v) {
	from, op := [...]string{"2s", "4s"}[half], [...]string{"umull", "umull2"}[half]
	t.word(0x2f80a000|uint32(half)<<30|t.with(float32s).byElement(m, i)|uint32(n)<<5|uint32(d), "%s v%d.2d, v%d.%s, v%d.s[%d]", op, d, n, from, m, i)
}

// widen makes doubles of the lower or upper two floats; narrow stores floats
// there, and clears the upper ones with the lower.
func (t *text) widen(half int, n, d v) {
	t.two([...]string{"fcvtl", "fcvtl2"}[half], 0x0e617800|uint32(half)<<30, "2d", [...]string{"2s", "4s"}[half], n, d)
}

func (t *text) narrow(half int, n, d v) {
	t.two([...]string{"fcvtn", "fcvtn2"}[half], 0x0e616800|uint32(half)<<30, [...]string{"2s", "4s"}[half], "2d", n, d)
}

func (t *text) copy(n, d v) {
	t.word(0x4ea01c00|uint32(n)<<16|uint32(n)<<5|uint32(d), "mov v%d.16b, v%d.16b", d, n)
}

func (t *text) and(m, n, d v) { t.three("and", 0x4e201c00, "16b", m, n, d) }
func (t *text) eor(m, n, d v) { t.three("eor", 0x6e201c00, "16b", m, n, d) }

// choose stores, in the mask d, m where it is clear and n where it is set.
func (t *text) choose(m, n, d v) { t.three("bsl", 0x6e601c00, "16b", m, n, d) }

func (t *text) clear(d v) { t.word(0x6f00e400|uint32(d), "movi v%d.2d, #0", d) }

// rotate moves the lanes of d down by one, the lowest to the top.
func (t *text) rotate(d v) {
	t.word(0x6e000000|uint32(t.f.elem)<<11|uint32(d)<<16|uint32(d)<<5|uint32(d), "ext v%d.16b, v%d.16b, v%d.16b, #%d", d, d, d, t.f.elem)
}

// lanes of 32 or 64 bits, by the format: zip interleaves the lower or upper
// halves of n and m, uzp takes the even or odd lanes of both, trn transposes
// squares of two lanes.
func (t *text) permute(op string, half int, m, n, d v) {
	e := map[string]uint32{"zip": 0x4e803800, "uzp": 0x4e801800, "trn": 0x4e802800}[op]
	t.three(fmt.Sprintf("%s%d", op, 1+half), e|uint32(half)<<14|t.f.pick(0, 1<<22), t.f.arrangement(), m, n, d)
}

// Loads and stores of 16 bytes, or of one number to and from the lowest lane.

type width int

const (
	whole width = iota // a vector
	one                // a number
)

// memory are the encodings of a load by an immediate offset and by a register,
// and what distinguishes a store.
func (t *text) memory(w width) (byOffset, byRegister, store uint32, bytes int, letter string) {
	switch {
	case w == whole:
		return 0x3dc00000, 0x3ce06800, 0x00400000, vectorBytes, "q"
	case t.f.double():
		return 0xfd400000, 0xfc606800, 0x00400000, 8, "d"
	}
	return 0xbd400000, 0xbc606800, 0x00400000, 4, "s"
}

func (t *text) load(w width, base x, offset int, d v) {
	e, _, _, bytes, letter := t.memory(w)
	t.word(e|scaled(offset, bytes)<<10|uint32(base)<<5|uint32(d), "ldr %s%d, [x%d, #%d]", letter, d, base, offset)
}

func (t *text) loadAt(w width, base, index x, d v) {
	_, e, _, _, letter := t.memory(w)
	t.word(e|uint32(index)<<16|uint32(base)<<5|uint32(d), "ldr %s%d, [x%d, x%d]", letter, d, base, index)
}

func (t *text) store(w width, d v, base x, offset int) {
	e, _, store, bytes, letter := t.memory(w)
	t.word(e&^store|scaled(offset, bytes)<<10|uint32(base)<<5|uint32(d), "str %s%d, [x%d, #%d]", letter, d, base, offset)
}

// scaled is an unsigned offset of 12 bits.
func scaled(offset, bytes int) uint32 {
	if offset < 0 || offset%bytes != 0 || offset/bytes >= 1<<12 {
		panic(fmt.Sprintf("arm64: offset %d of %d bytes", offset, bytes))
	}
	return uint32(offset / bytes)
}

// broadcast fills a register with the number at an address.
func (t *text) broadcast(base x, d v) {
	t.word(t.f.pick(0x4d40c800, 0x4d40cc00)|uint32(base)<<5|uint32(d), "ld1r {v%d.%s}, [x%d]", d, t.f.arrangement(), base)
}

// start begins a function in the file alone, startPublic one that Go calls.
func (t *text) start(f format, name string) {
	t.f = f
	fmt.Fprintf(t, "\nTEXT %s<>(SB), NOSPLIT|NOFRAME, $0\n", name)
}

func (t *text) startPublic(f format, name, signature string, frame, arguments int) {
	t.f = f
	fmt.Fprintf(t, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $%d-%d\n", name, signature, name, frame, arguments)
}

// arguments loads them, each of 8 bytes, in registers from one on.
func (t *text) arguments(from x, names ...string) {
	for i, n := range names {
		t.line("MOVD %s+%d(FP), %v", n, 8*i, from+x(i))
	}
}

func (t *text) zero(d ...v) {
	for _, r := range d {
		t.clear(r)
	}
}

// flushDenormals has denormal numbers taken for zeros, until restore: they
// slow arithmetic on some processors many-fold. old keeps the state.
func (t *text) flushDenormals(old, scratch x) {
	const flushToZero = 1 << 24 // FZ
	t.line("MOVD FPCR, %v", old)
	t.line("ORR $%d, %v, %v", flushToZero, old, scratch)
	t.line("MOVD %v, FPCR", scratch)
}

func (t *text) restore(old x) { t.line("MOVD %v, FPCR", old) }
