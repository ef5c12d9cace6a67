package kernel

import (
	"unsafe"

	"hambench/internal/kernel/arm64"
)

// Sets returns the sets that this machine can run, the fastest first: NEON is
// part of its architecture.
func Sets() []Set { return []Set{neon, generic} }

// Kernels in the table of arm64/products_arm64.s: those of float32, then the
// same for float64.
const (
	panelRest = iota // of the numbers beyond whole vectors
	panel1           // of one vector
	panel2
	panel4
	dotsColumn
	transposeSquares
	kernelsNeon
)

// vectorBytes is the length of a NEON vector.
const vectorBytes = 16

// run carries out instructions on a frame of slice headers.
func run(code []instruction, frame unsafe.Pointer) {
	arm64.Run(unsafe.Pointer(&code[0]), len(code), frame)
}

// kernelIndex returns the table's index of a kernel of a format.
func kernelIndex[T Float](kernel int) int { return (size[T]()/4-1)*kernelsNeon + kernel }

// compileProduct appends the instructions of a product. One by rows is cut into panels of
// whole vectors and one of the columns beyond them, one by columns into its columns.
func compileProduct[T Float](code []instruction, _ Set, q *Product) []instruction {
	lanes := vectorBytes / size[T]()
	for n := 0; n < q.N; {
		kernel, columns := dotsColumn, 1
		if q.Form == ByRows {
			kernel, columns = panelFor(q.N-n, lanes)
		}
		x := newInstruction[T](kernelIndex[T](kernel), q, n)
		x.mask = uint64(columns % lanes)
		if q.Form == ByColumns {
			x.mask = uint64(q.Terms[0].K % lanes)
			for i, t := range q.Terms {
				x.terms[i].k = t.K / lanes
			}
		}
		code = append(code, x)
		n += columns
	}
	return code
}

// panelFor chooses the kernel for the first of the columns left, and returns how many of
// them it takes.
func panelFor(columns, lanes int) (kernel, taken int) {
	switch vectors := columns / lanes; {
	case vectors >= 4:
		return panel4, 4 * lanes
	case vectors >= 2:
		return panel2, 2 * lanes
	case vectors == 1:
		return panel1, lanes
	}
	return panelRest, columns
}

// compileTranspose appends the instruction of a transposition in squares of a vector's
// length.
func compileTranspose[T Float](code []instruction, _ Set, q *Transpose) []instruction {
	lanes := vectorBytes / size[T]()
	return append(code, transposition[T](kernelIndex[T](transposeSquares), lanes, q))
}
