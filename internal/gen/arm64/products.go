package main

import "fmt"

// Byte offsets in an instruction: see kernel.instruction.
const (
	oM        = 8
	oC        = 16 // place
	oCRow     = 32
	oH        = 40 // place
	oEpilogue = 56
	oRest     = 64 // numbers beyond whole vectors
	oScale    = 72
	oTerms    = 80
	oSize     = oTerms + 2*tSize
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

var names = [...]string{store: "store", relu: "relu", mask: "mask", add: "add"}

// What kernels of a program may not change: run needs them. The rest, but for
// R18 and from R27 on, is theirs.
const (
	rInstruction x = 0
	rFrame       x = 1
	rCount       x = 19
	rMode        x = 20
)

// kernels are the functions of a program's instructions, of each format, in
// the order of kernel's isa_arm64.go.
var kernels = []string{"panelRest", "panel1", "panel2", "panel4", "dots", "transpose"}

func products() *text {
	t := newText()
	for i, f := range []format{float32s, float64s} {
		for j, k := range kernels {
			fmt.Fprintf(t, "DATA kernels<>+%d(SB)/8, $%s_%s<>(SB)\n", 8*(i*len(kernels)+j), k, f.suffix())
		}
	}
	fmt.Fprintf(t, "GLOBL kernels<>(SB), RODATA, $%d\n", 2*8*len(kernels))
	run(t)
	for _, f := range []format{float32s, float64s} {
		for _, p := range panels {
			panel(t, f, p)
		}
		dots(t, f)
		transpose(t, f)
		peak(t, f)
	}
	return t
}

// run is the loop over a program's instructions.
func run(t *text) {
	t.startPublic(t.f, "Run", "(instructions unsafe.Pointer, n int, frame unsafe.Pointer)", 16, 24)
	t.line("MOVD instructions+0(FP), %v", rInstruction)
	t.line("MOVD n+8(FP), %v", rCount)
	t.line("MOVD frame+16(FP), %v", rFrame)
	t.flushDenormals(rMode, 2)
	t.label("next")
	t.line("MOVD (%v), R2", rInstruction)
	t.line("MOVD $kernels<>(SB), R3")
	t.line("MOVD (R3)(R2<<3), R2")
	t.line("CALL (R2)")
	t.line("ADD $%d, %v, %v", oSize, rInstruction, rInstruction)
	t.line("SUB $1, %v, %v", rCount, rCount)
	t.line("CBNZ %v, next", rCount)
	t.restore(rMode)
	t.line("RET")
}

// place loads the address that the place at an offset of base stands for: the
// base of a slice of the frame, and an offset.
func (t *text) place(base x, offset int, to, scratch x) {
	t.line("MOVD %d(%v), %v", offset, base, to)
	t.line("MOVD (%v)(%v), %v", rFrame, to, to)
	t.line("MOVD %d(%v), %v", offset+8, base, scratch)
	t.line("ADD %v, %v, %v", scratch, to, to)
}

func (t *text) field(base x, offset int, to x) { t.line("MOVD %d(%v), %v", offset, base, to) }

// panels are products so many vectors wide, whose rows are taken in tiles of
// so many rows, the tallest first: accumulators, the vectors of B and a few
// numbers of A must fit 32 registers, and there must be enough of them to hide
// a multiply-add's latency. The one without a width is for the numbers beyond
// whole vectors.
var panels = []panelShape{
	{"panelRest", 1, []int{12, 6, 3, 2, 1}, true},
	{"panel1", 1, []int{16, 12, 8, 5, 3, 2, 1}, false},
	{"panel2", 2, []int{12, 8, 7, 5, 3, 2, 1}, false},
	{"panel4", 4, []int{6, 5, 4, 3, 2, 1}, false},
}

type panelShape struct {
	name    string
	width   int
	heights []int
	rest    bool
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

// Registers of a panel.
const (
	rRow  x = 2
	rTerm x = 4
	rA    x = 5
	rB    x = 8
	rBRow x = 9
	rACol x = 10
	rK    x = 11
)

// rOffsets hold the offsets of the tile's rows of A, from the second one on.
var rOffsets = []x{6, 3, 7, 12, 13, 14, 15, 21, 22, 23, 24, 25, 26, 16, 17}

func panel(t *text, f format, p panelShape) {
	t.start(f, p.name+"_"+f.suffix())
	t.line("MOVD ZR, %v", rRow)
	t.label("next")
	t.field(rInstruction, oM, 3)
	t.line("SUB %v, R3, R3", rRow)
	for from := 2 * p.heights[0]; from > 0; from-- {
		h := first(p.heights, p.width, from)
		for from > 1 && first(p.heights, p.width, from-1) == h {
			from--
		}
		t.line("CMP $%d, R3", from)
		t.line("BGE tile%d", h)
	}
	t.line("RET")
	for _, h := range p.heights {
		newTile(t, p, h).generate()
		t.line("ADD $%d, %v, %v", h, rRow, rRow)
		t.line("JMP next")
	}
}

// tile is a block of C held in registers, whose rows are as wide as the panel.
type tile struct {
	*text
	panelShape
	acc  [][]v
	b    []v
	free []v
}

func newTile(t *text, p panelShape, height int) *tile {
	c := &tile{text: t, panelShape: p}
	next := v(0)
	for range height {
		var row []v
		for range p.width {
			row = append(row, next)
			next++
		}
		c.acc = append(c.acc, row)
	}
	for range p.width {
		c.b = append(c.b, next)
		next++
	}
	for ; next < 32; next++ {
		c.free = append(c.free, next)
	}
	return c
}

func (t *tile) at(name string) string { return fmt.Sprintf("tile%d%s", len(t.acc), name) }

func (t *tile) generate() {
	t.label(t.at(""))
	for _, row := range t.acc {
		t.zero(row...)
	}
	t.line("ADD $%d, %v, %v", oTerms, rInstruction, rTerm)
	t.label(t.at("term"))
	t.sum()
	t.field(rTerm, tMore, 6)
	t.line("ADD $%d, %v, %v", tSize, rTerm, rTerm)
	t.line("CBNZ R6, %s", t.at("term"))
	t.finish()
}

// sum adds a term to the accumulators.
func (t *tile) sum() {
	t.place(rTerm, tB, rB, 6)
	t.place(rTerm, tA, rA, 6)
	t.field(rTerm, tBRow, rBRow)
	t.field(rTerm, tACol, rACol)
	t.field(rTerm, tK, rK)
	t.field(rTerm, tARow, 6)
	t.line("MUL R6, %v, R7", rRow)
	t.line("ADD R7, %v, %v", rA, rA)
	for i := 1; i < len(t.acc)-1; i++ {
		t.line("ADD R6, %v, %v", rOffsets[i-1], rOffsets[i])
	}
	t.line("PCALIGN $16")
	t.label(t.at("k"))
	for j, b := range t.b {
		t.load(whole, rB, vectorBytes*j, b)
	}
	for i, row := range t.acc {
		a := t.free[i%len(t.free)]
		if i == 0 {
			t.load(one, rA, 0, a)
		} else {
			t.loadAt(one, rA, rOffsets[i-1], a)
		}
		for j, c := range row {
			t.fmlaLane(a, 0, t.b[j], c)
		}
	}
	t.line("ADD %v, %v, %v", rBRow, rB, rB)
	t.line("ADD %v, %v, %v", rACol, rA, rA)
	t.line("SUB $1, %v, %v", rK, rK)
	t.line("CBNZ %v, %s", rK, t.at("k"))
}

// Registers of a tile's end.
const (
	rC        x = 5
	rCRow     x = 6
	rH        x = 7
	rEpilogue x = 8
	rLeft     x = 9  // columns
	rCFirst   x = 10 // the first row's
	rHFirst   x = 11
)

// finish scales the sums and stores them by the instruction's epilogue.
func (t *tile) finish() {
	t.field(rInstruction, oCRow, rCRow)
	t.field(rInstruction, oEpilogue, rEpilogue)
	t.place(rInstruction, oC, rC, 12)
	t.line("MUL %v, %v, R13", rCRow, rRow)
	t.line("ADD R13, %v, %v", rC, rC)
	t.line("ADD $%d, %v, R12", oScale, rInstruction)
	t.broadcast(12, t.b[0])
	for _, e := range []int{relu, mask, add} {
		t.line("CMP $%d, %v", e, rEpilogue)
		t.line("BEQ %s", t.at(names[e]))
	}
	for _, e := range []int{store, relu, mask, add} {
		t.label(t.at(names[e]))
		if e == mask || e == add {
			t.place(rInstruction, oH, rH, 12)
			t.line("ADD R13, %v, %v", rH, rH)
		}
		if t.rest {
			t.columns(e)
		} else {
			t.epilogue(e, whole)
		}
		if e != add {
			t.line("JMP %s", t.at("end"))
		}
	}
	t.label(t.at("end"))
}

// columns takes one column after another, each in the lowest lane.
func (t *tile) columns(e int) {
	t.field(rInstruction, oRest, rLeft)
	t.line("MOVD %v, %v", rC, rCFirst)
	t.line("MOVD %v, %v", rH, rHFirst)
	t.label(t.at(names[e] + "column"))
	t.epilogue(e, one)
	for _, row := range t.acc {
		t.rotate(row[0])
	}
	for _, p := range [][2]x{{rC, rCFirst}, {rH, rHFirst}} {
		t.line("ADD $%d, %v, %v", t.f.elem, p[1], p[1])
		t.line("MOVD %v, %v", p[1], p[0])
	}
	t.line("SUB $1, %v, %v", rLeft, rLeft)
	t.line("CBNZ %v, %s", rLeft, t.at(names[e]+"column"))
}

// epilogue stores vectors or their lowest lanes.
func (t *tile) epilogue(e int, w width) {
	scale, free := t.b[0], t.free
	zero := free[0]
	if e == relu {
		t.clear(zero)
		free = free[1:]
	}
	for i, row := range t.acc {
		for j, c := range row {
			y := free[(i*len(row)+j)%(len(free)/2)]
			h := free[len(free)/2+(i*len(row)+j)%(len(free)/2)]
			if e == add {
				t.load(w, rH, vectorBytes*j, y)
				t.fmla(scale, c, y)
			} else {
				t.fmul(scale, c, y)
			}
			switch e {
			case relu:
				t.fmax(zero, y, y) // NaN stays NaN
			case mask:
				t.load(w, rH, vectorBytes*j, h)
				t.positive(h, h)
				t.and(h, y, y)
			}
			t.store(w, y, rC, vectorBytes*j)
		}
		t.line("ADD %v, %v, %v", rCRow, rC, rC)
		if e == mask || e == add {
			t.line("ADD %v, %v, %v", rCRow, rH, rH)
		}
	}
}

// dots generates a column of inner products, up to eight rows at a time: of so
// many whole vectors as a term's tK says, and then of single numbers.
func dots(t *text, f format) {
	t.start(f, "dots_"+f.suffix())
	t.line("MOVD ZR, %v", rRow)
	heights := []int{8, 4, 2, 1}
	t.label("next")
	t.field(rInstruction, oM, 3)
	t.line("SUB %v, R3, R3", rRow)
	for _, h := range heights {
		t.line("CMP $%d, R3", h)
		t.line("BGE rows%d", h)
	}
	t.line("RET")
	for _, h := range heights {
		dotRows(t, h)
		t.line("ADD $%d, %v, %v", h, rRow, rRow)
		t.line("JMP next")
	}
}

func dotRows(t *text, rows int) {
	at := func(name string) string { return fmt.Sprintf("rows%d%s", rows, name) }
	t.label(at(""))
	var acc []v
	for i := range rows {
		acc = append(acc, v(i))
	}
	const b, a = v(16), v(17)
	t.zero(acc...)
	t.line("ADD $%d, %v, %v", oTerms, rInstruction, rTerm)
	t.label(at("term"))
	t.place(rTerm, tB, rB, 6)
	t.place(rTerm, tA, rA, 6)
	t.field(rTerm, tARow, 6)
	t.line("MUL R6, %v, R7", rRow)
	t.line("ADD R7, %v, %v", rA, rA)
	for i := 1; i < rows-1; i++ {
		t.line("ADD R6, %v, %v", rOffsets[i-1], rOffsets[i])
	}
	part := func(name string, w width, bytes int) {
		t.line("CBZ %v, %s", rK, at(name+"end"))
		t.label(at(name))
		t.load(w, rB, 0, b)
		for i, c := range acc {
			if i == 0 {
				t.load(w, rA, 0, a)
			} else {
				t.loadAt(w, rA, rOffsets[i-1], a+v(i))
			}
			t.fmla(b, a+v(i), c)
		}
		t.line("ADD $%d, %v, %v", bytes, rB, rB)
		t.line("ADD $%d, %v, %v", bytes, rA, rA)
		t.line("SUB $1, %v, %v", rK, rK)
		t.line("CBNZ %v, %s", rK, at(name))
		t.label(at(name + "end"))
	}
	t.field(rTerm, tK, rK)
	part("vectors", whole, vectorBytes)
	t.field(rInstruction, oRest, rK)
	part("rest", one, t.f.elem)
	t.field(rTerm, tMore, 6)
	t.line("ADD $%d, %v, %v", tSize, rTerm, rTerm)
	t.line("CBNZ R6, %s", at("term"))

	t.field(rInstruction, oCRow, rCRow)
	t.field(rInstruction, oEpilogue, rEpilogue)
	t.place(rInstruction, oC, rC, 12)
	t.line("MUL %v, %v, R13", rCRow, rRow)
	t.line("ADD R13, %v, %v", rC, rC)
	t.line("ADD $%d, %v, R12", oScale, rInstruction)
	t.broadcast(12, b)
	for _, c := range acc {
		for n := 1; n < t.f.lanes(); n *= 2 {
			t.faddp(c, c, c)
		}
		t.fmul(b, c, c)
	}
	t.line("CMP $%d, %v", add, rEpilogue)
	t.line("BNE %s", at("store"))
	t.place(rInstruction, oH, rH, 12)
	t.line("ADD R13, %v, %v", rH, rH)
	for _, c := range acc {
		t.load(one, rH, 0, a)
		t.fadd(a, c, c)
		t.line("ADD %v, %v, %v", rCRow, rH, rH)
	}
	t.label(at("store"))
	for _, c := range acc {
		t.store(one, c, rC, 0)
		t.line("ADD %v, %v, %v", rCRow, rC, rC)
	}
}

// transpose generates the transposition by squares of a vector's length. Where
// rows are missing, the last one stands in for them.
func transpose(t *text, f format) {
	n := f.lanes()
	const (
		rows   x = 2
		source x = 3
		result x = 4
		square x = 5
		to     x = 6
		dRow   x = 7
		sRow   x = 8
		step   x = 9
		term   x = 14
	)
	from := []x{10, 11, 12, 13}[:n] // a pointer for each row
	t.start(f, "transpose_"+f.suffix())
	t.field(rInstruction, oM, rows)
	t.field(rInstruction, oCRow, dRow)
	t.place(rInstruction, oC, result, step)
	t.line("ADD $%d, %v, %v", oTerms, rInstruction, term)
	t.field(term, tARow, sRow)
	t.place(term, tA, source, step)
	t.label("band")
	t.line("MOVD %v, %v", source, from[0])
	for i := 1; i < n; i++ {
		t.line("CMP $%d, %v", i, rows)
		t.line("CSEL GT, %v, ZR, %v", sRow, step)
		t.line("ADD %v, %v, %v", step, from[i-1], from[i])
	}
	t.line("MOVD %v, %v", result, to)
	t.field(term, tK, square)
	t.label("square")
	var in, half, out []v
	for i := range n {
		in, half, out = append(in, v(i)), append(half, v(8+i)), append(out, v(16+i))
		t.load(whole, from[i], 0, in[i])
		t.line("ADD $%d, %v, %v", vectorBytes, from[i], from[i])
	}
	if f.double() {
		t.permute("zip", 0, in[1], in[0], out[0])
		t.permute("zip", 1, in[1], in[0], out[1])
	} else {
		for i := range 2 {
			t.permute("trn", i, in[1], in[0], half[i])
			t.permute("trn", i, in[3], in[2], half[2+i])
		}
		pairs := t.with(float64s)
		for i := range 2 {
			pairs.permute("zip", 0, half[2+i], half[i], out[i])
			pairs.permute("zip", 1, half[2+i], half[i], out[2+i])
		}
	}
	for _, r := range out {
		t.store(whole, r, to, 0)
		t.line("ADD %v, %v, %v", dRow, to, to)
	}
	t.line("SUB $1, %v, %v", square, square)
	t.line("CBNZ %v, square", square)
	t.line("ADD %v<<%d, %v, %v", sRow, map[int]int{2: 1, 4: 2}[n], source, source)
	t.line("ADD $%d, %v, %v", vectorBytes, result, result)
	t.line("SUBS $%d, %v, %v", n, rows, rows)
	t.line("BGT band")
	t.line("RET")
}

// chains is the number of accumulators of the yardstick.
const chains = 24

// peak generates a loop of independent multiply-adds in registers: what a core
// can do at most.
func peak(t *text, f format) {
	t.startPublic(f, fmt.Sprintf("MultiplyAddsFloat%d", 8*f.elem), "(iterations int)", 0, 8)
	t.line("MOVD iterations+0(FP), R2")
	all := make([]v, chains+2)
	for i := range all {
		all[i] = v(i)
	}
	t.zero(all...)
	t.label("iteration")
	for _, c := range all[:chains] {
		t.fmla(all[chains], all[chains+1], c)
	}
	t.line("SUB $1, R2, R2")
	t.line("CBNZ R2, iteration")
	t.line("RET")
}
