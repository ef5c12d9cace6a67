package kernel

import (
	"fmt"
	"unsafe"
)

// Float is a number format of the products.
type Float interface{ float32 | float64 }

// Granule is the number of elements in 32 bytes, the shortest vector of any
// set. AVX2's products whose N is a multiple of it need no masks.
func Granule[T Float]() int { return 32 / size[T]() }

func size[T Float]() int {
	var x T
	return int(unsafe.Sizeof(x))
}

// Aligned returns n zeros that start on a cache line. Vectors that straddle
// lines cost the products up to a third of their speed.
func Aligned[T Float](n int) []T {
	const line = 64
	s := make([]T, n+line/size[T]())
	skip := int(-uintptr(unsafe.Pointer(&s[0]))%line) / size[T]()
	return s[skip : skip+n : skip+n]
}

// Operand is a place in a program's frame: an element of one of its slices.
type Operand struct {
	Slice, Offset int
}

// Term is a matrix product A·B. Element (m, k) of A is ARow·m + ACol·k
// elements after A; row k of B is BRow·k elements after B. Rows of B are read
// in whole vectors: B extends to Lanes.
type Term struct {
	K          int
	A          Operand
	ARow, ACol int
	B          Operand
	BRow       int
}

// Epilogue says what happens to an element x of the scaled sum before it is
// stored; h is the element of H at the same place as the one of C.
type Epilogue int

const (
	Store Epilogue = iota // x
	ReLU                  // max(x, 0)
	Mask                  // x where h > 0, else 0
	Add                   // x + h; H may be C itself
)

// Product is C = epilogue(Scale · Σ terms): M rows of N elements, CRow apart.
type Product struct {
	M, N     int
	Terms    []Term // one or two
	Scale    float64
	C        Operand
	CRow     int
	Epilogue Epilogue
	H        Operand // of C's strides; for Mask and Add
}

// Transpose is D[n][m] = S[m][n] for m < M, n < N. It reads whole vectors of
// S and writes whole vectors of D: both extend to Lanes, in both directions.
type Transpose struct {
	M, N int
	S    Operand
	SRow int
	D    Operand
	DRow int
}

// Dots is C[CRow·m + n] = epilogue(Scale · Σ over terms of A[m]·B[n]), one
// or two columns of inner products: here A's rows are contiguous, and B's,
// BRow apart. The epilogue is Store or Add.
type Dots struct {
	M, N     int
	Terms    []Term // one or two; ACol is not used
	Scale    float64
	C        Operand
	CRow     int
	Epilogue Epilogue
	H        Operand
}

// Program is a sequence of vector operations on the slices of a frame, built
// once and run many times. It allocates nothing when it runs.
type Program[T Float] struct {
	set   *Set
	need  []int // least length of each slice of the frame
	plain []func(frame [][]T)
	code  []instruction
}

// NewProgram returns an empty program for a set of kernels.
func NewProgram[T Float](s *Set) *Program[T] { return &Program[T]{set: s} }

// Run carries out the program. It panics if the frame lacks a slice or one is
// too short.
func (p *Program[T]) Run(frame [][]T) {
	for i, n := range p.need {
		if len(frame[i]) < n {
			panic(fmt.Sprintf("kernel: slice %d of the frame has %d elements, want %d", i, len(frame[i]), n))
		}
	}
	if len(p.code) > 0 {
		run(p.code, unsafe.Pointer(unsafe.SliceData(frame)))
	}
	for _, f := range p.plain {
		f(frame)
	}
}

// touchResult records the use of C and H by rows of n elements.
func (p *Program[T]) touchResult(e Epilogue, c, h Operand, m, n, row int) {
	n = (m-1)*row + n
	p.touch(c, n)
	if e == Mask || e == Add {
		p.touch(h, n)
	}
}

// touch records that the program uses n elements from o on.
func (p *Program[T]) touch(o Operand, n int) {
	for len(p.need) <= o.Slice {
		p.need = append(p.need, 0)
	}
	p.need[o.Slice] = max(p.need[o.Slice], o.Offset+n)
}

// Product appends a product.
func (p *Program[T]) Product(q Product) {
	checkTerms(q.M, q.N, q.Terms)
	for _, t := range q.Terms {
		p.touch(t.A, (q.M-1)*t.ARow+(t.K-1)*t.ACol+1)
		p.touch(t.B, (t.K-1)*t.BRow+roundUp(q.N, Lanes[T]()))
	}
	p.touchResult(q.Epilogue, q.C, q.H, q.M, q.N, q.CRow)
	if p.set.level == generic {
		p.plain = append(p.plain, func(f [][]T) { product(f, &q) })
		return
	}
	p.code = compileProduct[T](p.code, p.set, &q)
}

// Transpose appends a transposition.
func (p *Program[T]) Transpose(q Transpose) {
	checkTerms(q.M, q.N, nil)
	l := Lanes[T]()
	m, n := roundUp(q.M, l), roundUp(q.N, l)
	p.touch(q.S, (q.M-1)*q.SRow+n)
	p.touch(q.D, (n-1)*q.DRow+m)
	if p.set.level == generic {
		p.plain = append(p.plain, func(f [][]T) { transpose(f, &q) })
		return
	}
	p.code = compileTranspose[T](p.code, p.set, &q)
}

// Dots appends columns of inner products.
func (p *Program[T]) Dots(q Dots) {
	checkTerms(q.M, q.N, q.Terms)
	if q.N > 2 {
		panic(fmt.Sprintf("kernel: %d columns of inner products: want one or two", q.N))
	}
	for _, t := range q.Terms {
		p.touch(t.A, (q.M-1)*t.ARow+t.K)
		p.touch(t.B, (q.N-1)*t.BRow+t.K)
	}
	p.touchResult(q.Epilogue, q.C, q.H, q.M, q.N, q.CRow)
	if p.set.level == generic {
		p.plain = append(p.plain, func(f [][]T) { dots(f, &q) })
		return
	}
	p.code = compileDots[T](p.code, p.set, &q)
}

// Lanes is the number of elements of the widest vector of any set, 64 bytes.
func Lanes[T Float]() int { return 64 / size[T]() }

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

func checkTerms(m, n int, terms []Term) {
	ok := m > 0 && n > 0 && len(terms) <= 2
	for _, t := range terms {
		ok = ok && t.K > 0
	}
	if !ok {
		panic(fmt.Sprintf("kernel: operation with M %d, N %d, terms %v: want positive sizes and at most two terms", m, n, terms))
	}
}
