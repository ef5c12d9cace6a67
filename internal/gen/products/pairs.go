package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"hambench/internal/gen/simd"
)

// vectorBytes is the length of a row in either layout.
const vectorBytes = 64

// pairs generates the products for up to eight data rows in float32, in
// AVX-512: two numbers of each row fill a vector. kernel's pairs.go says how.
func pairs() {
	pairForward()
	pairBack()
}

// heights of the tiles that are held in registers: of pairs of outputs in
// forward; in back, which adds up two registers for each of a pair, of
// inputs.
var (
	forwardHeights = []int{25, 10, 3, 2, 1}
	backHeights    = []int{26, 24, 8, 2}
)

func pairText(name string) {
	TEXT("pair"+name+"_avx512", NOSPLIT, "func(i, frame *byte)")
	Doc("pair" + name + "_avx512 carries out a kernel.Pair" + name + ".")
	Pragma("noescape")
}

// pairTiles goes over the instruction's rows.
func pairTiles(heights []int, tile func(label string, height int, row reg.GPVirtual)) {
	row := GP64()
	XORQ(row, row)
	Label("next")
	left := load64(instruction(), oM)
	SUBQ(row, left)
	label := func(h int) string { return fmt.Sprintf("tile%d", h) }
	for _, h := range heights {
		CMPQ(left, U32(uint32(h)))
		JGE(LabelRef(label(h)))
	}
	RET()
	for _, h := range heights {
		Label(label(h))
		tile(label(h), h, row)
		ADDQ(U32(uint32(h)), row)
		JMP(LabelRef("next"))
	}
}

// pairSum adds, for each k, pairs of numbers times a row of B. at is where the
// pairs for the first k are, pointers are what moves by step from k to k.
func pairSum(label string, acc []reg.VecVirtual, at func(i int) Mem, pointers []reg.GPVirtual, step Op, b, k reg.GPVirtual) {
	loop := label + "k"
	Label(loop)
	y := ZMM()
	VMOVUPS(Mem{Base: b}, y)
	for i := range acc {
		x := ZMM()
		VBROADCASTSD(at(i), x)
		VFMADD231PS(x, y, acc[i])
	}
	ADDQ(U32(vectorBytes), b)
	for _, p := range pointers {
		ADDQ(step, p)
	}
	DECQ(k)
	JNZ(LabelRef(loop))
}

func zeros(n int) (v []reg.VecVirtual) {
	for range n {
		v = append(v, simd.Sets[0].Zero())
	}
	return v
}

// shifted returns p + row·bytes.
func shifted(p, row reg.GPVirtual, bytes int) reg.GPVirtual {
	x := GP64()
	IMUL3Q(U32(uint32(bytes)), row, x)
	ADDQ(p, x)
	return x
}

func scaleOf(i reg.GPVirtual) reg.VecVirtual {
	x := ZMM()
	VBROADCASTSS(field(i, oScale), x)
	return x
}

func pairForward() {
	pairText("Forward")
	pairTiles(forwardHeights, func(label string, height int, row reg.GPVirtual) {
		i := instruction()
		ADDQ(U32(oTerms), i)
		a, b := shifted(place(i, tA), row, 8), place(i, tB)
		aCol, k := load64(i, tACol), load64(i, tK)
		acc := zeros(height)
		pairSum(label, acc, func(i int) Mem { return Mem{Base: a, Disp: 8 * i} }, []reg.GPVirtual{a}, aCol, b, k)

		i = instruction()
		c, scale := shifted(place(i, oC), row, vectorBytes), scaleOf(i)
		epilogue := load64(i, oEpilogue)
		CMPQ(epilogue, U32(relu))
		JEQ(LabelRef(label + "relu"))
		for j, x := range acc {
			VMULPS(scale, x, x)
			VMOVUPS(x, Mem{Base: c, Disp: vectorBytes * j})
		}
		JMP(LabelRef(label + "end"))
		Label(label + "relu")
		d := shifted(place(i, oH), row, 2*vectorBytes)
		zero := zeros(1)[0]
		for j, x := range acc {
			VMULPS(scale, x, x)
			VMAXPS(x, zero, x) // in this order NaN stays NaN
			VMOVUPS(x, Mem{Base: c, Disp: vectorBytes * j})
			for half, duplicate := range []func(...Op){VMOVSLDUP, VMOVSHDUP} {
				y := ZMM()
				duplicate(x, y)
				VMOVUPS(y, Mem{Base: d, Disp: vectorBytes * (2*j + half)})
			}
		}
		Label(label + "end")
	})
}

func pairBack() {
	pairText("Back")
	even, odd, lanes := K(), K(), GP32()
	MOVL(U32(0x5555), lanes)
	KMOVW(lanes, even)
	KNOTW(even, odd)
	pairTiles(backHeights, func(label string, height int, row reg.GPVirtual) {
		i := instruction()
		ADDQ(U32(oTerms), i)
		a, aRow := place(i, tA), load64(i, tARow)
		ADDQ(times(row, aRow), a)
		rows := newRows(a, aRow, height)
		b, k := place(i, tB), load64(i, tK)
		acc := zeros(height)
		pairSum(label, acc, rows.at, rows.pointers, U32(8), b, k)

		i = instruction()
		c, h := shifted(place(i, oC), row, vectorBytes/2), shifted(place(i, oH), row, vectorBytes/2)
		scale, zero := scaleOf(i), zeros(1)[0]
		for j := 0; j < height; j += 2 {
			// Even and odd lanes hold two parts of the sum for an input; they
			// become the lanes of two inputs.
			x, y := acc[j], acc[j+1]
			t := ZMM()
			VMOVAPS(x, t)
			VMOVSLDUP(y, odd, x)
			VMOVSHDUP(t, even, y)
			VADDPS(y, x, x)
			positive := K()
			const below = 1 // the predicate "less, ordered"
			VCMPPS(U8(below), Mem{Base: h, Disp: vectorBytes * j / 2}, zero, positive)
			VMULPS_Z(scale, x, positive, x)
			VMOVUPS(x, Mem{Base: c, Disp: vectorBytes * j / 2})
		}
	})
}
