package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hambench/internal/gen/simd"
)

// outerRows are the numbers of rows of B for which outer products are
// generated, those of which other numbers are sums. Tiles of few rows of B cost
// half as much again before and after as they take.
func outerRows(s simd.Set) []int {
	if s.Masks {
		return []int{7, 8, 9}
	}
	return []int{3, 4}
}

// outerWidths are the widths in vectors; outerWidest rows of B fill the
// registers. AVX2's are of whole vectors only.
func outerWidths(s simd.Set) []int {
	if s.Masks {
		return []int{1, 2, outerWidest}
	}
	return []int{outerWidest}
}

const outerWidest = 3

// outer generates a product of one term of k rows of B, width vectors wide,
// for the epilogues that store and add. B, times the scale, stays in registers
// while the rows of C pass.
func outer(s simd.Set, k, width int) {
	name := fmt.Sprintf("outer%dx%d_%s", k, width, s.Suffix())
	TEXT(name, NOSPLIT, "func(i, frame *byte)")
	Doc(name + fmt.Sprintf(" is a product of %d rows of B, of %d vectors.", k, width))
	Pragma("noescape")
	i := instruction()
	var lanes Op
	if s.Masks {
		lanes = s.LoadMask(i, oMask)
	}
	term := GP64()
	LEAQ(field(i, oTerms), term)
	bs := scaledRows(s, k, width, place(term, tB), load64(term, tBRow), s.Broadcast(field(i, oScale)))
	a, aRow, aCol := place(term, tA), load64(term, tARow), load64(term, tACol)
	columns := newRows(a, aCol, k)
	i = instruction()
	c, cRow, m, epilogue := place(i, oC), load64(i, oCRow), load64(i, oM), load64(i, oEpilogue)
	CMPQ(epilogue, U32(add))
	JEQ(LabelRef(names[add]))
	for _, e := range []int{store, add} {
		Label(names[e])
		var h reg.GPVirtual
		if e == add {
			h = place(instruction(), oH)
		}
		alignLine()
		Label(names[e] + "row")
		for j, x := range outerRow(s, bs, columns, h, lanes) {
			s.StorePart(x, Mem{Base: c, Disp: s.Bytes * j}, lastOnly(lanes, j, width))
		}
		ADDQ(aRow, a)
		ADDQ(cRow, c)
		if e == add {
			ADDQ(cRow, h)
		}
		DECQ(m)
		JNZ(LabelRef(names[e] + "row"))
		RET()
	}
}

// scaledRows loads the rows of B, times the scale.
func scaledRows(s simd.Set, k, width int, b, bRow reg.GPVirtual, scale reg.VecVirtual) [][]reg.VecVirtual {
	rows := make([][]reg.VecVirtual, k)
	for i := range rows {
		for j := range width {
			x := s.New()
			s.Mul(Mem{Base: b, Disp: s.Bytes * j}, scale, x)
			rows[i] = append(rows[i], x)
		}
		ADDQ(bRow, b)
	}
	return rows
}

// outerRow sums a row of C, from h on if there is one.
func outerRow(s simd.Set, bs [][]reg.VecVirtual, columns *rows, h reg.GPVirtual, lanes Op) []reg.VecVirtual {
	width := len(bs[0])
	acc := make([]reg.VecVirtual, width)
	for j := range acc {
		if h != nil {
			acc[j] = s.LoadPart(Mem{Base: h, Disp: s.Bytes * j}, lastOnly(lanes, j, width))
		}
	}
	for i, row := range bs {
		x := s.Broadcast(columns.at(i))
		for j := range acc {
			if acc[j] == nil {
				acc[j] = s.New()
				s.Mul(x, row[j], acc[j])
				continue
			}
			s.FMA(x, row[j], acc[j])
		}
	}
	return acc
}

// lastOnly is the mask for the last vector, nil for the others.
func lastOnly(lanes Op, j, width int) Op {
	if j == width-1 {
		return lanes
	}
	return nil
}
