//go:build amd64 || arm64

package kernel

import (
	"math"
	"unsafe"
)

// instruction is an operation as the assembly reads it: internal/gen/products
// and internal/gen/arm64 have its byte offsets. Lengths are in bytes.
type instruction struct {
	// kernel is an index in the assembly's table.
	kernel int
	// m is the number of rows of C.
	m        int
	c        place
	cRow     int
	h        place
	epilogue Epilogue
	// mask is that of the last vector; for NEON, the number of elements beyond whole
	// vectors.
	mask uint64
	// scale has the bits of the number, float32 in the low half.
	scale uint64
	terms [2]term
}

// place is an operand: the position of a slice's header in the frame, and an
// offset in the slice.
type place struct{ header, offset int }

// term is a Term: k rows of B, and the operands' strides in bytes.
type term struct {
	k          int
	a          place
	aRow, aCol int
	b          place
	bRow       int
	more       int // 1 if a term follows
}

// placeOf returns the place of an operand whose slice has elements of type T.
func placeOf[T Float](o Operand) place {
	return place{o.Slice * int(unsafe.Sizeof([]float64{})), o.Offset * size[T]()}
}

// scaleBits returns the bits of a number in the format T.
func scaleBits[T Float](s float64) uint64 {
	if size[T]() == 4 {
		return uint64(math.Float32bits(float32(s)))
	}
	return math.Float64bits(s)
}

// transposition returns the instruction of a transposition in squares of so many lanes, by a kernel
// of the assembly's table.
func transposition[T Float](kernel, lanes int, q *Transpose) instruction {
	x := instruction{kernel: kernel, m: q.M, c: placeOf[T](q.D), cRow: q.DRow * size[T]()}
	x.terms[0] = term{
		k: (q.N + lanes - 1) / lanes, a: placeOf[T](q.S), aRow: q.SRow * size[T](),
	}
	return x
}

// newInstruction returns the instruction for the columns of a product from a given one
// on, by a kernel of the assembly's table; how many columns depends on the kernel. The
// caller sets mask.
func newInstruction[T Float](kernel int, q *Product, column int) instruction {
	c, h := q.C, q.H
	c.Offset += column
	h.Offset += column
	x := instruction{
		kernel: kernel, m: q.M,
		c: placeOf[T](c), cRow: q.CRow * size[T](),
		h: placeOf[T](h), epilogue: q.Epilogue, scale: scaleBits[T](q.Scale),
	}
	for i, t := range q.Terms {
		if q.Form == ByColumns {
			t.B.Offset += column * t.BRow
		} else {
			t.B.Offset += column
		}
		x.terms[i] = term{
			k: t.K, a: placeOf[T](t.A), aRow: t.ARow * size[T](), aCol: t.ACol * size[T](),
			b: placeOf[T](t.B), bRow: t.BRow * size[T](),
		}
	}
	if len(q.Terms) == 2 {
		x.terms[0].more = 1
	}
	return x
}
