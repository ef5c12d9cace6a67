package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// tester runs a program on a set of kernels and in plain Go, on equal frames
// whose slices are embedded in guard zones of NaN: a read outside poisons the
// result, a write outside is found.
type tester[T Float] struct {
	*testing.T
	set     Set
	rng     *rand.Rand
	memory  [2][][]T // guards included
	frame   [2][][]T
	program [2]*Program[T]
}

const guard = 64 // elements

func newTester[T Float](t *testing.T, s Set, seed uint64) *tester[T] {
	x := &tester[T]{T: t, set: s, rng: rand.New(rand.NewPCG(9, seed))}
	x.program = [2]*Program[T]{NewProgram[T](s), NewProgram[T](Plain())}
	return x
}

// slice adds a slice of n random numbers, misaligned at random, to the frame.
func (x *tester[T]) slice(n int) Operand {
	offset := guard + x.rng.IntN(9)
	m := make([]T, offset+n+guard)
	for i := range m {
		m[i] = T(math.NaN())
	}
	for i := range n {
		m[offset+i] = T(x.rng.NormFloat64())
	}
	for side := range 2 {
		c := append([]T(nil), m...)
		x.memory[side] = append(x.memory[side], c)
		x.frame[side] = append(x.frame[side], c[offset:offset+n:offset+n])
	}
	return Operand{Slice: len(x.frame[0]) - 1}
}

// compare runs both programs and compares all memory: elements are within
// tol, guards are NaN still.
func (x *tester[T]) compare(what string, tol float64) {
	x.Helper()
	for side := range 2 {
		x.program[side].Run(x.frame[side])
	}
	for s := range x.memory[0] {
		for i, a := range x.memory[0][s] {
			b := x.memory[1][s][i]
			if d := math.Abs(float64(a - b)); d <= tol || a != a && b != b {
				continue
			}
			x.Fatalf("%s %s: slice %d element %d is %v, in plain Go %v", x.set.Name(), what, s, i, a, b)
		}
	}
}

// tolerance is for sums of k products of standard normals: in each step a
// rounding of a sum of at most about 6√k.
func tolerance[T Float](k int) float64 {
	unit := 0x1p-53
	if size[T]() == 4 {
		unit = 0x1p-24
	}
	return unit * 6 * math.Sqrt(float64(k)) * float64(k+4)
}

// assemblySets are those that differ from plain Go.
func assemblySets(t *testing.T) []Set {
	s := Sets()
	if len(s) == 1 {
		t.Skip("this machine has no assembly kernels")
	}
	return s[:len(s)-1]
}

func eachFormat(t *testing.T, single func(*testing.T, Set), double func(*testing.T, Set)) {
	for _, s := range assemblySets(t) {
		t.Run(s.Name()+"/float32", func(t *testing.T) { single(t, s) })
		t.Run(s.Name()+"/float64", func(t *testing.T) { double(t, s) })
	}
}

func TestProductsAgreeWithPlainGo(t *testing.T) {
	eachFormat(t, testProducts[float32], testProducts[float64])
}

func testProducts[T Float](t *testing.T, s Set) {
	seed := uint64(0)
	for m := 1; m <= 14; m++ {
		for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 31, 32, 33, 40, 47, 48, 49, 50, 63, 64, 65, 71, 80, 81, 100, 128} {
			for _, e := range []Epilogue{Store, ReLU, Mask, Add} {
				seed++
				testProduct[T](t, s, seed, m, n, e)
			}
		}
	}
	for _, m := range []int{17, 33, 50, 51} {
		testProduct[T](t, s, uint64(m), m, 50, Add)
	}
}

// testProduct checks a product of one or two terms, with A in either
// orientation and rows of any length.
func testProduct[T Float](t *testing.T, s Set, seed uint64, m, n int, e Epilogue) {
	x := newTester[T](t, s, seed)
	q := Product{M: m, N: n, Scale: x.rng.Float64(), Epilogue: e, CRow: n + x.rng.IntN(3)}
	k := 0
	for range 1 + x.rng.IntN(2) {
		a := Term{K: 1 + x.rng.IntN(45), BRow: n + x.rng.IntN(3)}
		a.ARow, a.ACol = a.K+x.rng.IntN(3), 1
		if x.rng.IntN(2) == 0 {
			a.ARow, a.ACol = 1, m+x.rng.IntN(3)
		}
		a.A, a.B = x.slice((m-1)*a.ARow+(a.K-1)*a.ACol+1), x.slice((a.K-1)*a.BRow+RoundUp(n, Lanes[T]()))
		q.Terms = append(q.Terms, a)
		k += a.K
	}
	length := (m-1)*q.CRow + n
	q.C = x.slice(length)
	q.H = q.C
	if e == Mask || e == Add && x.rng.IntN(2) == 0 {
		q.H = x.slice(length)
	}
	for _, p := range x.program {
		p.Product(q)
	}
	x.compare(fmt.Sprintf("product %+v", q), tolerance[T](k))
}

func TestDotsAgreeWithPlainGo(t *testing.T) { eachFormat(t, testDots[float32], testDots[float64]) }

func testDots[T Float](t *testing.T, s Set) {
	for m := 1; m <= 27; m++ {
		for k := 1; k <= 40; k++ {
			x := newTester[T](t, s, uint64(100*m+k))
			q := Product{Form: ByColumns, M: m, N: 1 + x.rng.IntN(2), Scale: x.rng.Float64(), CRow: 2 + x.rng.IntN(3), Epilogue: []Epilogue{Store, Add}[x.rng.IntN(2)]}
			for range 1 + x.rng.IntN(2) {
				row := k + x.rng.IntN(3)
				q.Terms = append(q.Terms, Term{K: k, A: x.slice((m-1)*row + k), ARow: row, B: x.slice((q.N-1)*row + k), BRow: row})
			}
			q.C, q.H = x.slice((m-1)*q.CRow+q.N), x.slice((m-1)*q.CRow+q.N)
			for _, p := range x.program {
				p.Product(q)
			}
			x.compare(fmt.Sprintf("dots %+v", q), tolerance[T](2*k))
		}
	}
}

func TestTransposesAgreeWithPlainGo(t *testing.T) {
	eachFormat(t, testTransposes[float32], testTransposes[float64])
}

func testTransposes[T Float](t *testing.T, s Set) {
	l := Lanes[T]()
	for m := 1; m <= 2*l+1; m++ {
		for n := 1; n <= 2*l+1; n++ {
			x := newTester[T](t, s, uint64(100*m+n))
			mm, nn := RoundUp(m, l), RoundUp(n, l)
			q := Transpose{M: m, N: n, SRow: nn + x.rng.IntN(3), DRow: mm + x.rng.IntN(3)}
			q.S, q.D = x.slice((m-1)*q.SRow+nn), x.slice((nn-1)*q.DRow+mm)
			for _, p := range x.program {
				p.Transpose(q)
			}
			x.transposed(q)
		}
	}
}

// transposed checks D on the assembly's side, as what lies beyond M and N is
// anybody's, and that the guards are whole.
func (x *tester[T]) transposed(q Transpose) {
	x.Helper()
	f := x.frame[0]
	x.program[0].Run(f)
	for m := range q.M {
		for n := range q.N {
			if d, s := f[q.D.Slice][n*q.DRow+m], f[q.S.Slice][m*q.SRow+n]; d != s {
				x.Fatalf("%s: %+v: row %d column %d is %v, want %v", x.set.Name(), q, n, m, d, s)
			}
		}
	}
	d := x.memory[0][q.D.Slice]
	inside := 0
	for _, v := range d {
		if v == v {
			inside++
		}
	}
	if inside != len(f[q.D.Slice]) {
		x.Fatalf("%s: %+v: %d numbers where %d were: a write went outside", x.set.Name(), q, inside, len(f[q.D.Slice]))
	}
}

// Denormals must not slow a program down, so it flushes them, and gives the
// arithmetic back as it was.
func TestProgramFlushesDenormals(t *testing.T) {
	for _, s := range assemblySets(t) {
		p := NewProgram[float32](s)
		p.Product(Product{M: 1, N: 1, Scale: 1, CRow: 1, Terms: []Term{{K: 1, BRow: 1}}, C: Operand{Slice: 1}})
		frame := [][]float32{make([]float32, Lanes[float32]()), {1}}
		frame[0][0] = 1e-22 // A and B share the slice: 1e-44 is denormal
		p.Run(frame)
		if frame[1][0] != 0 {
			t.Errorf("%s: %g was not flushed", s.Name(), frame[1][0])
		}
		if x := frame[0][0] * frame[0][0]; x == 0 {
			t.Errorf("%s: denormals are flushed after the program", s.Name())
		}
	}
}

// NaN must reach the result, where a diverged chain is noticed.
func TestReLUKeepsNaN(t *testing.T) {
	for _, s := range Sets() {
		p := NewProgram[float64](s)
		p.Product(Product{M: 1, N: 1, Scale: 1, CRow: 1, Terms: []Term{{K: 1, BRow: 1}}, C: Operand{Slice: 1}, Epilogue: ReLU})
		frame := [][]float64{make([]float64, Lanes[float64]()), {1}}
		frame[0][0] = math.NaN()
		if p.Run(frame); frame[1][0] == frame[1][0] {
			t.Errorf("%s: ReLU of NaN is %g", s.Name(), frame[1][0])
		}
	}
}

func TestRunChecksTheFrame(t *testing.T) {
	for _, s := range Sets() {
		p := NewProgram[float32](s)
		p.Product(Product{M: 2, N: 3, Scale: 1, CRow: 3, Terms: []Term{{K: 1, BRow: 3, ARow: 1}}, C: Operand{Slice: 1}})
		func() {
			defer func() {
				if r := recover(); r != "kernel: slice 1 of the frame has 5 elements, want 6" {
					t.Errorf("%s: a short slice gives %v", s.Name(), r)
				}
			}()
			p.Run([][]float32{make([]float32, Lanes[float32]()), make([]float32, 5)})
		}()
	}
}

func TestChoose(t *testing.T) {
	have := []Set{avx2, generic}
	for _, c := range []struct{ want, got, err string }{
		{"", "avx2", ""},
		{"avx2", "avx2", ""},
		{"generic", "generic", ""},
		{"avx512", "generic", "HAMBENCH_ISA=avx512: this machine lacks it: want one of avx2, generic"},
		{"sve", "generic", `HAMBENCH_ISA: unknown instruction set "sve": want one of avx2, generic`},
	} {
		s, err := choose(c.want, have)
		if s.Name() != c.got || err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("choose(%q) = %s, %v; want %s, %s", c.want, s.Name(), err, c.got, c.err)
		}
	}
}
