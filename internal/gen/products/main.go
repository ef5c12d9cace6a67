// Products generates the assembly of the matrix products, transpositions and
// inner products that a kernel.Program is made of.
//
// Each function carries out one instruction, whose layout is that of
// kernel.instruction, on a frame, an array of slice headers.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hambench/internal/gen/simd"
)

// Byte offsets in an instruction: see kernel.instruction.
const (
	oM        = 8
	oC        = 16 // place
	oCRow     = 32
	oH        = 40 // place
	oEpilogue = 56
	oMask     = 64
	oScale    = 72
	oTerms    = 80
)

// Byte offsets in a term: see kernel.term.
const (
	tK    = 0
	tA    = 8 // place
	tARow = 24
	tACol = 32
	tB    = 40 // place
	tBRow = 56
	tMore = 64 // not 0 if a term follows
	tSize = 72
)

// Epilogues: see kernel.Epilogue.
const (
	store = iota
	relu
	mask
	add
)

// tiles gives, for panels of each width in vectors, the heights of the tiles
// of C that are held in registers, the tallest first: accumulators, the
// vectors of B and a broadcast must fit. Every height has its own code, so
// there are few.
func tiles(s simd.Set) map[int][]int {
	switch {
	case s.Narrow():
		return map[int][]int{1: {25, 10, 3, 2, 1}} // small batches only
	case s.Masks:
		return map[int][]int{1: {25, 10, 3, 2, 1}, 2: {13, 12, 3, 2, 1}, 3: {8, 3, 2, 1}, 4: {6, 3, 2, 1}}
	}
	// A tile of few rows cannot hide the latency of its multiply-adds, so that
	// the last rows are shared out.
	return map[int][]int{1: {10, 3, 2, 1}, 2: {6, 5, 4, 3, 2, 1}}
}

// first returns the height of the first tile for so many rows, with which all
// take the least time.
func first(heights []int, width, rows int) int {
	best, least := make([]int, rows+1), make([]int, rows+1)
	for n := 1; n <= rows; n++ {
		for _, h := range heights {
			if h > n {
				continue
			}
			if c := least[n-h] + cost(h, width); best[n] == 0 || c < least[n] {
				best[n], least[n] = h, c
			}
		}
	}
	return best[rows]
}

// cost is the time that a tile takes for one row of B, in half cycles: two
// multiply-adds start in a cycle and take four. One cycle stands for what each
// tile has before and after its rows.
func cost(height, width int) int { return max(height*width, 8) + 2 }

func main() {
	for _, s := range simd.Sets {
		for width := 1; width <= 4; width++ {
			if heights := tiles(s)[width]; heights != nil {
				panel(s, width, heights, s.Masks)
			}
		}
		if !s.Masks {
			panel(s, 1, tiles(s)[1], true)
		}
		if !s.Narrow() {
			dots(s)
		}
		if s.Masks && !s.Narrow() {
			dotPairs(s)
		}
		if !s.Narrow() {
			for _, k := range outerRows(s) {
				for _, width := range outerWidths(s) {
					outer(s, k, width)
				}
			}
		}
		if s.Float64() {
			transpose64(s)
		} else {
			transpose32(s)
		}
	}
	pairs()
	Generate()
}

// instruction and frame are the arguments, loaded anew where they are needed,
// as registers are scarce.
func instruction() reg.GPVirtual { return Load(Param("i"), GP64()).(reg.GPVirtual) }

func frame() reg.GPVirtual { return Load(Param("frame"), GP64()).(reg.GPVirtual) }

func field(base reg.Register, o int) Mem { return Mem{Base: base, Disp: o} }

// place loads the address that the place at offset o of an instruction or
// term stands for: the base of a slice of the frame, and an offset.
func place(base reg.Register, o int) reg.GPVirtual {
	p, f := GP64(), frame()
	MOVQ(field(base, o), p)
	MOVQ(Mem{Base: f, Index: p, Scale: 1}, p)
	ADDQ(field(base, o+8), p)
	return p
}

func load64(base reg.Register, o int) reg.GPVirtual {
	r := GP64()
	MOVQ(field(base, o), r)
	return r
}

// times returns row·stride.
func times(row, stride reg.GPVirtual) reg.GPVirtual {
	p := GP64()
	MOVQ(row, p)
	IMULQ(stride, p)
	return p
}

// panel generates a product whose C is width vectors wide, the last of them
// under the instruction's mask if masked: masked stores cost nothing in
// AVX-512, but are slow in AVX2. Rows are taken in tiles of the heights.
func panel(s simd.Set, width int, heights []int, masked bool) {
	name := fmt.Sprintf("panel%d_%s", width, s.Suffix())
	if masked && !s.Masks {
		name += "_masked"
	}
	TEXT(name, NOSPLIT, "func(i, frame *byte)")
	Doc(name + " is a product of that many vectors' width.")
	Pragma("noescape")
	var lanes Op
	if masked {
		lanes = s.LoadMask(instruction(), oMask)
	}
	row := GP64()
	XORQ(row, row)
	Label("next")
	left := load64(instruction(), oM)
	SUBQ(row, left)
	chooseTile(heights, width, left)
	RET()
	for _, r := range heights {
		tile{s: s, width: width, rows: r, row: row, mask: lanes}.generate()
		ADDQ(U32(uint32(r)), row)
		JMP(LabelRef("next"))
	}
}

// chooseTile jumps to the first tile for the rows that are left, if any are.
// From twice the largest height on that is the largest.
func chooseTile(heights []int, width int, left reg.GPVirtual) {
	for from := 2 * heights[0]; from > 0; {
		h := first(heights, width, from)
		for from > 1 && first(heights, width, from-1) == h {
			from--
		}
		CMPQ(left, U32(uint32(from)))
		JGE(LabelRef(fmt.Sprintf("tile%d", h)))
		from--
	}
}

// tile is a block of C held in registers.
type tile struct {
	s           simd.Set
	width, rows int
	row         reg.GPVirtual // the first one
	mask        Op
}

func (t tile) label(name string) string { return fmt.Sprintf("tile%d%s", t.rows, name) }

func (t tile) generate() {
	Label(t.label(""))
	acc := make([][]reg.VecVirtual, t.rows)
	for i := range acc {
		for range t.width {
			acc[i] = append(acc[i], t.s.Zero())
		}
	}
	term := instruction()
	ADDQ(U32(oTerms), term)
	Label(t.label("term"))
	t.sum(acc, term)
	more := load64(term, tMore)
	ADDQ(U32(tSize), term)
	TESTQ(more, more)
	JNZ(LabelRef(t.label("term")))
	t.finish(acc)
}

// sum adds a term to the accumulators.
func (t tile) sum(acc [][]reg.VecVirtual, term reg.GPVirtual) {
	aRow, aCol, bRow, k := load64(term, tARow), load64(term, tACol), load64(term, tBRow), load64(term, tK)
	b := place(term, tB)
	a := place(term, tA)
	ADDQ(times(t.row, aRow), a)
	rowsOfA := newRows(a, aRow, t.rows)
	alignLine()
	Label(t.label("k"))
	var bs []reg.VecVirtual
	for j := range t.width {
		bs = append(bs, t.s.LoadPart(Mem{Base: b, Disp: t.s.Bytes * j}, nil)) // a mask would take a multiply-add's iteration
	}
	for i := range acc {
		m := rowsOfA.at(i)
		if t.width == 1 && t.s.Masks {
			t.s.FMABroadcast(m, bs[0], acc[i][0])
			continue
		}
		x := t.s.Broadcast(m)
		for j := range bs {
			t.s.FMA(x, bs[j], acc[i][j])
		}
	}
	ADDQ(bRow, b)
	for _, p := range rowsOfA.pointers {
		ADDQ(aCol, p)
	}
	DECQ(k)
	JNZ(LabelRef(t.label("k")))
}

// alignLine starts what follows on a cache line: where an inner loop lies
// changes the speed of AVX2's by a percent or two.
func alignLine() { Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}}) }

// rows addresses rows of a matrix by pointers, each of which serves nine rows
// by multiples of the stride as an index: what else moves takes iterations from
// the multiply-adds, which fill their ports.
type rows struct {
	pointers []reg.GPVirtual
	strides  map[int]reg.GPVirtual // odd multiples of the stride
}

// rowsEach is the number of rows a pointer, as 8 is the largest scale.
const rowsEach = 9

func newRows(first, stride reg.GPVirtual, n int) *rows {
	x := &rows{[]reg.GPVirtual{first}, map[int]reg.GPVirtual{1: stride}}
	for odd := 3; odd < min(rowsEach, n); odd += 2 {
		x.strides[odd] = GP64()
		LEAQ(Mem{Base: x.strides[odd-2], Index: stride, Scale: 2}, x.strides[odd])
	}
	for i := rowsEach; i < n; i += rowsEach {
		p, last := GP64(), x.pointers[len(x.pointers)-1]
		LEAQ(Mem{Base: last, Index: stride, Scale: 8}, p)
		ADDQ(stride, p)
		x.pointers = append(x.pointers, p)
	}
	return x
}

// at is the address of row i.
func (x *rows) at(i int) Mem {
	m := Mem{Base: x.pointers[i/rowsEach]}
	for odd := i % rowsEach; odd > 0; odd /= 2 {
		if odd%2 == 1 {
			return m.Idx(x.strides[odd], uint8(i%rowsEach/odd))
		}
	}
	return m
}

// part is the mask of vector j of the panel, nil for a whole vector.
func (t tile) part(j int) Op {
	if j == t.width-1 {
		return t.mask
	}
	return nil
}

// finish scales the sums and stores them by the instruction's epilogue.
func (t tile) finish(acc [][]reg.VecVirtual) {
	i := instruction()
	cRow, epilogue := load64(i, oCRow), load64(i, oEpilogue)
	c := place(i, oC)
	scale := t.s.Broadcast(field(i, oScale))
	all := []int{relu, mask, add, store}
	for _, e := range all[:len(all)-1] {
		CMPQ(epilogue, U32(uint32(e)))
		JEQ(LabelRef(t.label(names[e])))
	}
	JMP(LabelRef(t.label(names[store])))
	for _, e := range all {
		Label(t.label(names[e]))
		t.epilogue(e, acc, scale, i, c, cRow)
		if e != store {
			JMP(LabelRef(t.label("end")))
		}
	}
	Label(t.label("end"))
}

var names = [...]string{store: "store", relu: "relu", mask: "mask", add: "add"}

func (t tile) epilogue(e int, acc [][]reg.VecVirtual, scale reg.VecVirtual, i, c, cRow reg.GPVirtual) {
	s := t.s
	offset := times(t.row, cRow)
	var zero reg.VecVirtual
	var h reg.GPVirtual
	switch e {
	case relu:
		zero = s.Zero()
	case mask:
		zero = s.Zero()
		h = place(i, oH)
	case add:
		h = place(i, oH)
	}
	ADDQ(offset, c)
	if h != nil {
		ADDQ(offset, h)
	}
	for r := range acc {
		for j, x := range acc[r] {
			at := func(p reg.GPVirtual) Mem { return Mem{Base: p, Disp: s.Bytes * j} }
			switch e {
			case store:
				s.Mul(scale, x, x)
			case relu:
				s.Mul(scale, x, x)
				s.Max(x, zero, x) // in this order NaN stays NaN
			case mask:
				s.MulWhere(zero, s.LoadPart(at(h), t.part(j)), scale, x)
			case add:
				y := s.LoadPart(at(h), t.part(j))
				s.FMA(scale, x, y)
				x = y
			}
			s.StorePart(x, at(c), t.part(j))
		}
		ADDQ(cRow, c)
		if h != nil {
			ADDQ(cRow, h)
		}
	}
}

// dots generates a column of inner products, up to four rows at a time. A
// term's tK counts whole vectors here, without the last one, which is under
// the mask.
func dots(s simd.Set) {
	TEXT("dots_"+s.Suffix(), NOSPLIT, "func(i, frame *byte)")
	Doc("dots_" + s.Suffix() + " is a column of inner products.")
	Pragma("noescape")
	lanes := s.LoadMask(instruction(), oMask)
	row := GP64()
	XORQ(row, row)
	Label("next")
	left := load64(instruction(), oM)
	SUBQ(row, left)
	for rows := dotRowsMost; rows > 0; rows-- {
		CMPQ(left, U32(uint32(rows)))
		JGE(LabelRef(fmt.Sprintf("rows%d", rows)))
	}
	RET()
	for rows := dotRowsMost; rows > 0; rows-- {
		name := fmt.Sprintf("rows%d", rows)
		Label(name)
		dotRows(s, name, rows, row, lanes)
		ADDQ(U32(uint32(rows)), row)
		JMP(LabelRef("next"))
	}
}

// dotRowsMost is the number of rows whose sums of lanes are made together.
const dotRowsMost = 4

func dotRows(s simd.Set, name string, rows int, row reg.GPVirtual, lanes Op) {
	var acc []reg.VecVirtual
	for range rows {
		acc = append(acc, s.Zero())
	}
	term := instruction()
	ADDQ(U32(oTerms), term)
	Label(name + "term")
	aRow, k := load64(term, tARow), load64(term, tK)
	a, b := place(term, tA), place(term, tB)
	ADDQ(times(row, aRow), a)
	p := []reg.GPVirtual{a}
	for i := 1; i < rows; i++ {
		p = append(p, GP64())
		LEAQ(Mem{Base: p[i-1], Index: aRow, Scale: 1}, p[i])
	}
	step := func(part Op) {
		y := s.LoadPart(Mem{Base: b}, part)
		for i := range acc {
			s.FMA(s.LoadPart(Mem{Base: p[i]}, part), y, acc[i])
		}
	}
	TESTQ(k, k)
	JZ(LabelRef(name + "rest"))
	Label(name + "k")
	step(nil)
	for _, q := range append(p, b) {
		ADDQ(U32(uint32(s.Bytes)), q)
	}
	DECQ(k)
	JNZ(LabelRef(name + "k"))
	Label(name + "rest")
	step(lanes)
	more := load64(term, tMore)
	ADDQ(U32(tSize), term)
	TESTQ(more, more)
	JNZ(LabelRef(name + "term"))

	i := instruction()
	cRow, epilogue := load64(i, oCRow), load64(i, oEpilogue)
	offset := times(row, cRow)
	c := place(i, oC)
	ADDQ(offset, c)
	sums := s.Sums(acc)
	for j := range sums {
		s.MulScalar(field(i, oScale), sums[j])
	}
	CMPQ(epilogue, U32(add))
	JNE(LabelRef(name + "store"))
	h := place(i, oH)
	ADDQ(offset, h)
	for j := range sums {
		s.AddScalar(Mem{Base: h}, sums[j])
		ADDQ(cRow, h)
	}
	Label(name + "store")
	for j := range sums {
		s.StoreScalar(sums[j], Mem{Base: c})
		ADDQ(cRow, c)
	}
}

// pairRows is the number of rows of a block of dotPairs.
const pairRows = 8

// dotPairs generates two columns of inner products, of at least pairRows
// rows. Blocks of rows have all their sums made at once; the last block may go
// over rows of the one before, but does not store these.
func dotPairs(s simd.Set) {
	TEXT("dotPairs_"+s.Suffix(), NOSPLIT, "func(i, frame *byte)")
	Doc("dotPairs_" + s.Suffix() + " is two columns of inner products.")
	Pragma("noescape")
	lanes := s.LoadMask(instruction(), oMask)
	row, done := GP64(), GP64()
	XORQ(done, done)
	Label("block")
	m := load64(instruction(), oM)
	CMPQ(done, m)
	JL(LabelRef("more"))
	RET()
	Label("more")
	SUBQ(U32(pairRows), m)
	MOVQ(done, row)
	CMPQ(row, m)
	CMOVQGT(m, row)

	var acc []reg.VecVirtual // by rows, two columns each
	for range 2 * pairRows {
		acc = append(acc, s.Zero())
	}
	term := instruction()
	ADDQ(U32(oTerms), term)
	Label("term")
	aRow, bRow, k := load64(term, tARow), load64(term, tBRow), load64(term, tK)
	a, b := place(term, tA), place(term, tB)
	ADDQ(times(row, aRow), a)
	p := newRows(a, aRow, pairRows)
	step := func(part Op) {
		y := [2]reg.VecVirtual{s.LoadPart(Mem{Base: b}, part), s.LoadPart(Mem{Base: b, Index: bRow, Scale: 1}, part)}
		for i := range pairRows {
			x := s.LoadPart(p.at(i), part)
			s.FMA(x, y[0], acc[2*i])
			s.FMA(x, y[1], acc[2*i+1])
		}
	}
	TESTQ(k, k)
	JZ(LabelRef("rest"))
	Label("k")
	step(nil)
	for _, q := range append(p.pointers, b) {
		ADDQ(U32(uint32(s.Bytes)), q)
	}
	DECQ(k)
	JNZ(LabelRef("k"))
	Label("rest")
	step(lanes)
	more := load64(term, tMore)
	ADDQ(U32(tSize), term)
	TESTQ(more, more)
	JNZ(LabelRef("term"))

	sums := s.PairSums(acc, s.Broadcast(field(instruction(), oScale)))
	// done becomes the number of rows to skip.
	SUBQ(row, done)
	epilogue := load64(instruction(), oEpilogue)
	CMPQ(epilogue, U32(add))
	JEQ(LabelRef(names[add]))
	for _, e := range []int{store, add} {
		Label(names[e])
		storePairs(s, e, sums, row, done)
		JMP(LabelRef("stored"))
	}
	Label("stored")
	LEAQ(Mem{Base: row, Disp: pairRows}, done)
	JMP(LabelRef("block"))
}

// storePairs stores the sums of a block's rows from one on.
func storePairs(s simd.Set, epilogue int, sums []reg.VecVirtual, row, from reg.GPVirtual) {
	i := instruction()
	cRow := load64(i, oCRow)
	c := place(i, oC)
	offset := times(row, cRow)
	ADDQ(offset, c)
	var h reg.GPVirtual
	if epilogue != store {
		h = place(i, oH)
		ADDQ(offset, h)
	}
	pair := s.Elem * 2
	for r := range pairRows {
		skip := fmt.Sprintf("%s%d", names[epilogue], r)
		CMPQ(from, U32(uint32(r)))
		JG(LabelRef(skip))
		y := XMM()
		perVector := s.Bytes / pair
		VEXTRACTF64X2(U8(uint8(r%perVector*pair/16)), sums[r/perVector], y)
		switch {
		case s.Float64() && h != nil:
			VADDPD(Mem{Base: h}, y, y)
		case !s.Float64():
			if r%2 == 1 {
				VPERMILPD(U8(1), y, y)
			}
			if h != nil {
				x := XMM()
				VMOVSD(Mem{Base: h}, x)
				VADDPS(x, y, y)
			}
		}
		if s.Float64() {
			VMOVUPD(y, Mem{Base: c})
		} else {
			VMOVSD(y, Mem{Base: c})
		}
		Label(skip)
		ADDQ(cRow, c)
		if h != nil {
			ADDQ(cRow, h)
		}
	}
}

// transposer generates the frame of a transposition: it loads a square of up
// to n rows of S (of oM in all; what the last square lacks counts as zeros),
// transposes it in registers, stores it as n rows of D, and goes on to the
// next square of the same rows, tK squares in all; then to the next rows. whole
// loads and transposes all n rows; shuffle transposes what some rows have left
// in registers.
func transposer(s simd.Set, n int, whole func(p, sRow reg.GPVirtual) []reg.VecVirtual, shuffle func(r []reg.VecVirtual) []reg.VecVirtual) {
	TEXT("transpose_"+s.Suffix(), NOSPLIT, "func(i, frame *byte)")
	Doc(fmt.Sprintf("transpose_%s transposes squares of %d rows.", s.Suffix(), n))
	Pragma("noescape")
	i := instruction()
	rows, dRow := load64(i, oM), load64(i, oCRow)
	result := place(i, oC)
	ADDQ(U32(oTerms), i)
	sRow := load64(i, tARow)
	source := place(i, tA)
	p, d, squares := GP64(), GP64(), GP64()
	store := func(out []reg.VecVirtual) {
		for _, x := range out {
			VMOVUPS(x, Mem{Base: d})
			ADDQ(dRow, d)
		}
	}
	Label("band")
	MOVQ(source, p)
	MOVQ(result, d)
	MOVQ(field(i, tK), squares)
	Label("square")
	CMPQ(rows, U32(uint32(n)))
	JLT(LabelRef("some"))
	store(whole(p, sRow))
	JMP(LabelRef("stored"))
	Label("some")
	r := make([]reg.VecVirtual, n)
	for j := range r {
		r[j] = s.Zero()
	}
	q := GP64()
	MOVQ(p, q)
	for j := range r {
		CMPQ(rows, U32(uint32(j)))
		JLE(LabelRef("loaded"))
		VMOVUPS(Mem{Base: q}, r[j])
		ADDQ(sRow, q)
	}
	Label("loaded")
	store(shuffle(r))
	Label("stored")
	ADDQ(U32(uint32(s.Bytes)), p)
	DECQ(squares)
	JNZ(LabelRef("square"))
	for range n / 4 {
		LEAQ(Mem{Base: source, Index: sRow, Scale: 4}, source)
	}
	ADDQ(U32(uint32(s.Bytes)), result)
	SUBQ(U32(uint32(n)), rows)
	JG(LabelRef("band"))
	RET()
}

// loadLanes returns a function that loads n rows of one vector's length so
// that transposing the 16-byte lanes by themselves, as lanes does, is all that
// is left: a lane that comes from memory costs no shuffle, of which only one
// starts in a cycle. Lane l of register j of group g has part g of row
// j + l·rows, where rows is the number of registers in a group.
func loadLanes(s simd.Set, n int, lanes func(r []reg.VecVirtual) []reg.VecVirtual) func(p, sRow reg.GPVirtual) []reg.VecVirtual {
	groups := s.Bytes / 16
	rows := n / groups
	return func(p, sRow reg.GPVirtual) (out []reg.VecVirtual) {
		at := make([]reg.GPVirtual, groups) // the row of each lane
		for l := range at {
			at[l] = GP64()
			if l == 0 {
				MOVQ(p, at[l])
			} else {
				LEAQ(Mem{Base: at[l-1], Index: sRow, Scale: uint8(rows)}, at[l])
			}
		}
		r := make([][]reg.VecVirtual, groups)
		for range rows {
			for g := range r {
				x := s.BroadcastLane(Mem{Base: at[0], Disp: 16 * g})
				for l := 1; l < groups; l++ {
					s.InsertLane(l, Mem{Base: at[l], Disp: 16 * g}, x)
				}
				r[g] = append(r[g], x)
			}
			for _, q := range at {
				ADDQ(sRow, q)
			}
		}
		for g := range r {
			out = append(out, lanes(r[g])...)
		}
		return out
	}
}

// unpack interleaves the low and the high numbers of a and b.
func unpack(s simd.Set, lo, hi func(ops ...Op), a, b reg.VecVirtual) (x, y reg.VecVirtual) {
	x, y = s.New(), s.New()
	lo(b, a, x)
	hi(b, a, y)
	return x, y
}

// quarters gathers 128-bit lanes of four registers that hold four groups of
// rows: result q is lane q of each.
func quarters(g [4]reg.VecVirtual) [4]reg.VecVirtual {
	shuffle := func(imm uint64, a, b reg.VecVirtual) reg.VecVirtual {
		x := ZMM()
		VSHUFF64X2(U8(imm), b, a, x)
		return x
	}
	const even, odd = 0x88, 0xdd // lanes 0, 2 and 1, 3 of both
	a0, a1 := shuffle(even, g[0], g[1]), shuffle(odd, g[0], g[1])
	b0, b1 := shuffle(even, g[2], g[3]), shuffle(odd, g[2], g[3])
	return [4]reg.VecVirtual{shuffle(even, a0, b0), shuffle(even, a1, b1), shuffle(odd, a0, b0), shuffle(odd, a1, b1)}
}

// halves does the same with two registers of two lanes.
func halves(a, b reg.VecVirtual) (x, y reg.VecVirtual) {
	x, y = YMM(), YMM()
	VPERM2F128(U8(0x20), b, a, x)
	VPERM2F128(U8(0x31), b, a, y)
	return x, y
}

func lo32(o ...Op) { VUNPCKLPS(o...) }
func hi32(o ...Op) { VUNPCKHPS(o...) }
func lo64(o ...Op) { VUNPCKLPD(o...) }
func hi64(o ...Op) { VUNPCKHPD(o...) }

func transpose32(s simd.Set) {
	n := s.Bytes / 4
	// Lane q of result c is column 4q+c of four rows.
	lanes := func(r []reg.VecVirtual) []reg.VecVirtual {
		t, u := make([]reg.VecVirtual, 4), make([]reg.VecVirtual, 4)
		for i := 0; i < 4; i += 2 {
			t[i], t[i+1] = unpack(s, lo32, hi32, r[i], r[i+1])
		}
		u[0], u[1] = unpack(s, lo64, hi64, t[0], t[2])
		u[2], u[3] = unpack(s, lo64, hi64, t[1], t[3])
		return u
	}
	shuffle := func(r []reg.VecVirtual) []reg.VecVirtual {
		var u []reg.VecVirtual
		for i := 0; i < n; i += 4 {
			u = append(u, lanes(r[i:i+4])...)
		}
		out := make([]reg.VecVirtual, n)
		for c := range 4 {
			if n == 8 {
				out[c], out[4+c] = halves(u[c], u[4+c])
				continue
			}
			for q, x := range quarters([4]reg.VecVirtual{u[c], u[4+c], u[8+c], u[12+c]}) {
				out[4*q+c] = x
			}
		}
		return out
	}
	transposer(s, n, loadLanes(s, n, lanes), shuffle)
}

func transpose64(s simd.Set) {
	n := s.Bytes / 8
	// Lane q of result c is column 2q+c of two rows.
	lanes := func(r []reg.VecVirtual) []reg.VecVirtual {
		x, y := unpack(s, lo64, hi64, r[0], r[1])
		return []reg.VecVirtual{x, y}
	}
	shuffle := func(r []reg.VecVirtual) []reg.VecVirtual {
		var t []reg.VecVirtual
		for i := 0; i < n; i += 2 {
			t = append(t, lanes(r[i:i+2])...)
		}
		out := make([]reg.VecVirtual, n)
		for c := range 2 {
			if n == 4 {
				out[c], out[2+c] = halves(t[c], t[2+c])
				continue
			}
			for q, x := range quarters([4]reg.VecVirtual{t[c], t[2+c], t[4+c], t[6+c]}) {
				out[2*q+c] = x
			}
		}
		return out
	}
	transposer(s, n, loadLanes(s, n, lanes), shuffle)
}
