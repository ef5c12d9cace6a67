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

// size is the number of bytes of a number.
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

// Form says how the operands of a product lie.
type Form int

const (
	ByRows Form = iota // as Term and Product say
	// ByColumns is for one or two columns of inner products: A's rows are
	// contiguous, and so are B's columns, BRow apart. The epilogue is Store or
	// Add.
	ByColumns
	// PairForward is for PairRows data rows, as are the names in pairs.go. B is
	// K doubled numbers, C is M numbers as pairs. Columns of A are contiguous;
	// if M is odd, the element that follows each is read. The epilogue is
	// Store, or ReLU of an even M, where H becomes C as doubled numbers.
	PairForward
	// PairBack is for PairRows data rows, too. B is K numbers as pairs; C and H
	// are M numbers as pairs, and M is even. Rows of A are contiguous; if K is
	// odd, the element that follows each is read, and the last pair of B has 0
	// for the number that is not there. The epilogue is Mask.
	PairBack
)

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
	Form     Form
	M, N     int
	Terms    []Term // one or two; one of pairs
	Scale    float64
	C        Operand
	CRow     int
	Epilogue Epilogue
	H        Operand // of C's strides; for Mask and Add
}

// Transpose is D[n][m] = S[m][n] for m < M, n < N. It reads whole vectors of
// S and writes whole vectors of D: both extend to Lanes, in both directions.
// With Pairs, S is M numbers as pairs, n is one of PairRows data rows, and no
// more rows of D are written.
type Transpose struct {
	Pairs bool
	M, N  int
	S     Operand
	SRow  int
	D     Operand
	DRow  int
}

// Program is a sequence of vector operations on the slices of a frame, built
// once and run many times. It allocates nothing when it runs. Operations are
// trusted to be as their comments require; that a frame fits is checked.
type Program[T Float] struct {
	set   Set
	need  []int // least length of each slice of the frame
	plain []func(frame [][]T)
	code  []instruction
}

// NewProgram returns an empty program for a set of kernels.
func NewProgram[T Float](s Set) *Program[T] { return &Program[T]{set: s} }

// Run carries out the program. It panics if the frame lacks a slice or one is
// too short.
func (p *Program[T]) Run(frame [][]T) {
	for i, n := range p.need {
		if len(frame[i]) < n {
			panic(fmt.Sprintf("kernel: slice %d of the frame has %d elements, want %d",
				i, len(frame[i]), n))
		}
	}
	if len(p.code) > 0 {
		run(p.code, unsafe.Pointer(unsafe.SliceData(frame)))
	}
	for _, f := range p.plain {
		f(frame)
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
	// How many elements of its slice each operand needs, from its own offset on: as far as the last
	// one that is read or written, plus one. Rows of B count in whole vectors.
	c := (q.M-1)*q.CRow + q.N
	h := c
	for _, t := range q.Terms {
		a, b := (q.M-1)*t.ARow+(t.K-1)*t.ACol+1, (t.K-1)*t.BRow+RoundUp(q.N, Lanes[T]())
		switch q.Form {
		case ByColumns:
			a, b = (q.M-1)*t.ARow+t.K, (q.N-1)*t.BRow+t.K
		case PairForward:
			a, b = (t.K-1)*t.ACol+2*half(q.M), t.K*PairRow
			c, h = half(q.M)*PairRow, q.M*PairRow
		case PairBack:
			a, b = (q.M-1)*t.ARow+2*half(t.K), half(t.K)*PairRow
			c, h = half(q.M)*PairRow, half(q.M)*PairRow
		}
		p.touch(t.A, a)
		p.touch(t.B, b)
	}
	p.touch(q.C, c)
	if q.Epilogue == Mask || q.Epilogue == Add || q.Form == PairForward && q.Epilogue == ReLU {
		p.touch(q.H, h)
	}
	if p.set == generic {
		p.plain = append(p.plain, func(f [][]T) { product(f, &q) })
		return
	}
	p.code = compileProduct[T](p.code, p.set, &q)
}

// Transpose appends a transposition.
func (p *Program[T]) Transpose(q Transpose) {
	l := Lanes[T]()
	s, rows := (q.M-1)*q.SRow+RoundUp(q.N, l), RoundUp(q.N, l)
	if q.Pairs {
		s, rows = half(q.M)*PairRow, PairRows
	}
	p.touch(q.S, s)
	p.touch(q.D, (rows-1)*q.DRow+RoundUp(q.M, l))
	switch {
	case p.set == generic:
		p.plain = append(p.plain, func(f [][]T) { transpose(f, &q) })
	case q.Pairs: // a transposition of doubles
		// Two float32 of a pair move as one double, so that offsets and strides are halved.
		double := func(o Operand) Operand { return Operand{o.Slice, o.Offset / 2} }
		p.code = compileTranspose[float64](p.code, p.set, &Transpose{
			M: half(q.M), N: PairRows,
			S: double(q.S), SRow: PairRows, D: double(q.D), DRow: q.DRow / 2,
		})
	default:
		p.code = compileTranspose[T](p.code, p.set, &q)
	}
}

// Lanes is the number of elements of the widest vector of any set, 64 bytes.
func Lanes[T Float]() int { return 64 / size[T]() }

// RoundUp returns the least multiple that is n or more.
func RoundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
