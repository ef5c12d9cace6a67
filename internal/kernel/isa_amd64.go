package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"hambench/internal/kernel/amd64"
)

// Sets returns the sets that this machine can run, the fastest first. Each needs the
// extensions that its instructions belong to, fused multiply-add included, and a machine
// that has one has those after it.
func Sets() []Set {
	x := &cpu.X86
	hasAVX2 := x.HasAVX2 && x.HasFMA
	hasAVX512 := x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL
	switch {
	case hasAVX2 && hasAVX512:
		return []Set{avx512, avx2, generic}
	case hasAVX2:
		return []Set{avx2, generic}
	}
	return []Set{generic}
}

// Kernels of amd64/run_amd64.s: for AVX-512 a row of them for each number format,
// then the same for AVX2.
const (
	panel512     = iota // of one vector; the wider ones follow
	narrow512    = 3 + iota
	dots512      = 3 + iota
	transpose512 = 3 + iota
	transposeNarrow512
	dotPairs512
	kernels512

	panel2       = 0 // of one whole vector; that of two follows
	panelMasked2 = 2
	dots2        = 3
	transpose2   = 4
	kernels2     = 5

	pairForward512 = 2 * (kernels512 + kernels2) // of float32 only
	pairBack512    = pairForward512 + 1

	outer512 = pairBack512 + 1 // for each number of rows of B, by width; float64's follow
	outer2   = outer512 + 2*outerCount512*outerWidest
)

// An outer kernel sums a fixed number of outer products, one for each row of B: Least or
// one of the Count − 1 numbers that follow it. Its panel has up to outerWidest vectors,
// for AVX2 exactly so many. More rows of B, up to Most, are cut into parts of such
// numbers; beyond that, tiles were faster.
const (
	outerLeast512, outerCount512, outerMost512 = 7, 3, 9
	outerLeast2, outerCount2, outerMost2       = 3, 2, 40
	outerWidest                                = 3
)

// run carries out instructions on a frame of slice headers.
func run(code []instruction, frame unsafe.Pointer) {
	amd64.Run(unsafe.Pointer(&code[0]), len(code), frame)
}

// kernelIndex returns the table's index of a kernel of a format and a set.
func kernelIndex[T Float](s Set, kernel int) int {
	double := size[T]()/4 - 1
	if s == avx512 {
		return double*kernels512 + kernel
	}
	return 2*kernels512 + double*kernels2 + kernel
}

// laneWords has 32 bytes of ones and then of zeros: a load from n bytes before the zeros
// is the mask of the first n bytes of an AVX2 vector.
var laneWords = func() (w [64]byte) {
	for i := range 32 {
		w[i] = 0xff
	}
	return w
}()

// maskOf returns the mask of a vector's first n numbers: a bit for each for AVX-512, the
// address of a vector of ones and zeros for AVX2.
func maskOf[T Float](s Set, n int) uint64 {
	if s == avx512 {
		return 1<<n - 1
	}
	// The address may be kept as a number: a variable of a package neither moves nor is freed.
	return uint64(uintptr(unsafe.Pointer(&laneWords[32-n*size[T]()])))
}

// compileProduct appends the instructions of a product. One by rows is cut into panels of
// whole vectors, the last vector under a mask.
func compileProduct[T Float](code []instruction, s Set, q *Product) []instruction {
	if q.Form != ByRows {
		return compileForm[T](code, s, q)
	}
	parts := outerParts(s, q)
	for n := 0; n < q.N; {
		p := panelFor[T](s, parts, q.N-n)
		columns := min(p.vectors*p.lanes, q.N-n)
		x := newInstruction[T](p.kernel, q, n)
		// What is left for the last vector of the panel: all of it where it is whole.
		x.mask = maskOf[T](s, columns-(p.vectors-1)*p.lanes)
		if p.outer {
			code = appendOuter(code, s, x, parts)
		} else {
			code = append(code, x)
		}
		n += columns
	}
	return code
}

// compileForm appends the instructions of the other forms: one for pairs, and one for
// each column, or both columns at once, of inner products.
func compileForm[T Float](code []instruction, s Set, q *Product) []instruction {
	switch q.Form {
	case PairForward:
		x := newInstruction[T](pairForward512, q, 0)
		x.m = half(q.M)
		return append(code, x)
	case PairBack:
		x := newInstruction[T](pairBack512, q, 0)
		x.terms[0].k = half(q.Terms[0].K)
		return append(code, x)
	}
	// One instruction for each column of inner products, unless a kernel takes both at once.
	kernel, count := dots512, q.N
	switch {
	case s == avx2:
		kernel = dots2
	case q.N == 2 && q.M >= pairRows:
		kernel, count = dotPairs512, 1
	}
	for n := range count {
		code = append(code, dotsInstruction[T](s, q, kernel, n))
	}
	return code
}

// panel is a part of a product's columns, and the kernel that computes it.
type panel struct {
	// kernel is an index in the table of amd64/run_amd64.s.
	kernel int
	// The panel has vectors × lanes columns.
	vectors, lanes int
	// outer says that the kernel takes a part of the rows of B.
	outer bool
}

// panelFor chooses the first panel of the columns left. parts are those of outerParts.
func panelFor[T Float](s Set, parts []int, columns int) panel {
	if parts != nil {
		if p := outerPanel[T](s, columns); p.vectors > 0 {
			return p
		}
	}
	kernel, vectors, lanes := tilePanel[T](s, columns)
	return panel{kernelIndex[T](s, kernel), vectors, lanes, false}
}

// outerParts cuts the K rows of B into n parts, whose sizes differ by at most one and are
// numbers that outer kernels take. It returns nil for a product that tiles compute: of
// two terms, with an epilogue that cannot be applied part by part, or of another K.
func outerParts(s Set, q *Product) (parts []int) {
	least, count, most := outerLeast512, outerCount512, outerMost512
	if s == avx2 {
		least, count, most = outerLeast2, outerCount2, outerMost2
	}
	k := q.Terms[0].K
	// As few parts as the largest kernel, of least + count − 1 rows, allows.
	n := (k + least + count - 2) / (least + count - 1)
	if len(q.Terms) > 1 || q.Epilogue != Store && q.Epilogue != Add || k > most || k < n*least {
		return nil
	}
	for i := range n {
		parts = append(parts, k*(i+1)/n-k*i/n)
	}
	return parts
}

// appendOuter appends an instruction for each part of the rows of B. The first
// has the epilogue of x, whose kernel is that of the least number of rows; the
// others add.
func appendOuter(code []instruction, s Set, x instruction, parts []int) []instruction {
	least, widths := outerLeast512, outerWidest
	if s == avx2 {
		least, widths = outerLeast2, 1
	}
	kernel := x.kernel
	for i, k := range parts {
		if i > 0 {
			x.epilogue, x.h = Add, x.c
		}
		x.kernel = kernel + (k-least)*widths
		code = append(code, x)
		t := &x.terms[0]
		t.a.offset += k * t.aCol
		t.b.offset += k * t.bRow
	}
	return code
}

// outerPanel returns the first panel of the columns left for the outer kernel of the
// least number of rows of B. AVX2 has none for few columns: vectors is 0 then.
func outerPanel[T Float](s Set, columns int) panel {
	double := size[T]()/4 - 1
	if s == avx2 {
		if lanes := Granule[T](); columns >= outerWidest*lanes {
			return panel{outer2 + outerCount2*double, outerWidest, lanes, true}
		}
		return panel{}
	}
	lanes := Lanes[T]()
	vectors := (columns + lanes - 1) / lanes
	if vectors == outerWidest+1 { // two halves
		vectors /= 2
	}
	vectors = min(vectors, outerWidest)
	return panel{outer512 + outerCount512*outerWidest*double + vectors - 1, vectors, lanes, true}
}

// tilePanel chooses the kernel of tiles for the first of the columns left, and returns its
// number of vectors and their length in numbers.
func tilePanel[T Float](s Set, columns int) (kernel, vectors, lanes int) {
	if s == avx2 {
		lanes = Granule[T]()
		if columns < lanes {
			return panelMasked2, 1, lanes
		}
		vectors = min(2, columns/lanes)
		return panel2 + vectors - 1, vectors, lanes
	}
	lanes = Lanes[T]()
	if columns <= lanes/2 {
		return narrow512, 1, lanes / 2
	}
	vectors = (columns + lanes - 1) / lanes
	if vectors == 5 { // three and two use the registers better than four and one
		vectors = 3
	}
	vectors = min(vectors, 4)
	return panel512 + vectors - 1, vectors, lanes
}

// compileTranspose appends the instruction of a transposition in squares of a vector's
// length, or of half of it if there are no more columns.
func compileTranspose[T Float](code []instruction, s Set, q *Transpose) []instruction {
	kernel, lanes := transpose512, Lanes[T]()
	switch {
	case s == avx2:
		kernel, lanes = transpose2, Granule[T]()
	case q.N <= lanes/2:
		kernel, lanes = transposeNarrow512, lanes/2
	}
	return append(code, transposition[T](kernelIndex[T](s, kernel), lanes, q))
}

// pairRows is the least number of rows that dotPairs512 takes.
const pairRows = 8

// dotsInstruction returns the instruction for the inner products of one column, or of two
// from there on. The last vector of an inner product is under the mask even if it is
// whole.
func dotsInstruction[T Float](s Set, q *Product, kernel, column int) instruction {
	lanes, k := VectorLen[T](s), q.Terms[0].K
	whole := (k - 1) / lanes
	x := newInstruction[T](kernelIndex[T](s, kernel), q, column)
	x.mask = maskOf[T](s, k-whole*lanes)
	for i := range q.Terms {
		x.terms[i].k = whole
	}
	return x
}
