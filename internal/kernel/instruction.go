//go:build amd64 || arm64

package kernel

import (
	"math"
	"unsafe"
)

// instruction is an operation as the assembly reads it: internal/gen/products
// and internal/gen/arm64 have its byte offsets. Lengths are in bytes.
type instruction struct {
	kernel   int // index in the assembly's table
	m        int
	c        place
	cRow     int
	h        place
	epilogue Epilogue
	mask     uint64 // of the last vector; for NEON, the numbers beyond whole ones
	scale    uint64 // the number's bits
	terms    [2]term
}

// place is an operand: the position of a slice's header in the frame, and an
// offset in the slice.
type place struct{ header, offset int }

type term struct {
	k          int
	a          place
	aRow, aCol int
	b          place
	bRow       int
	more       int // 1 if a term follows
}

func placeOf[T Float](o Operand) place { return placeIn(o, size[T]()) }

func placeIn(o Operand, unit int) place {
	return place{o.Slice * int(unsafe.Sizeof([]float64{})), o.Offset * unit}
}

func scaleBits[T Float](s float64) uint64 {
	if size[T]() == 4 {
		return uint64(math.Float32bits(float32(s)))
	}
	return math.Float64bits(s)
}

// termsOf converts terms; columns are skipped in every B.
func termsOf[T Float](terms []Term, columns int) (t [2]term) {
	for i, x := range terms {
		x.B.Offset += columns
		t[i] = term{
			k: x.K, a: placeOf[T](x.A), aRow: x.ARow * size[T](), aCol: x.ACol * size[T](),
			b: placeOf[T](x.B), bRow: x.BRow * size[T](),
		}
	}
	if len(terms) == 2 {
		t[0].more = 1
	}
	return t
}
