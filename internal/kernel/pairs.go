package kernel

// Up to PairRows data rows fill half a vector of float32 or less. The
// operations of this file, for float32 programs, put two numbers of each of
// them into one:
//
//   - in a row of pairs m, element 2b+j is number 2m+j of data row b;
//   - in a row of doubled numbers m, elements 2b and 2b+1 both are number m
//     of data row b.
//
// Either row has PairRow elements, starts PairRow after the one before it, and
// has anything where there is no data row or number.
const (
	PairRows = 8
	PairRow  = 2 * PairRows
)

// HasPairs says whether a set has these operations: AVX-512 does, and plain
// Go, to test against. Other sets' vectors are full with eight data rows.
func (s *Set) HasPairs() bool { return s.level == avx512 || s.level == generic }

// PairForward is C = Scale · A·B, or max(Scale · A·B, 0) with the ReLU.
// Element (m, k) of A is ACol·k + m elements after A; B is K doubled numbers,
// C is M numbers as pairs. With the ReLU, M is even and D is C as doubled
// numbers. If M is odd, the element that follows each column of A is read.
type PairForward struct {
	M, K     int
	A        Operand
	ACol     int
	B        Operand
	Scale    float64
	C, D     Operand
	WithReLU bool
}

// PairBack is C = Scale · A·B where H > 0, else 0. Element (m, k) of A is
// ARow·m + k elements after A; B is K numbers as pairs; C and H are M numbers
// as pairs, and M is even. If K is odd, the last pair of B has 0 for the
// number that is not there, and the element that follows each row of A is
// read.
type PairBack struct {
	M, K  int
	A     Operand
	ARow  int
	B     Operand
	Scale float64
	C, H  Operand
}

// PairTranspose is D[b][m] = number m of data row b, for M numbers as pairs at
// S. It writes whole lines of D, whose rows are DRow apart.
type PairTranspose struct {
	M    int
	S, D Operand
	DRow int
}

func half(m int) int { return (m + 1) / 2 }

func (p *Program[T]) checkPairs(m, k int) {
	if size[T]() != 4 || !p.set.HasPairs() {
		panic("kernel: pairs: want a program of float32 for a set that has them")
	}
	checkTerms(m, k, nil)
}

// PairForward appends a product.
func (p *Program[T]) PairForward(q PairForward) {
	p.checkPairs(q.M, q.K)
	p.touch(q.A, (q.K-1)*q.ACol+2*half(q.M))
	p.touch(q.B, q.K*PairRow)
	p.touch(q.C, half(q.M)*PairRow)
	if q.WithReLU {
		evenOnly(q.M)
		p.touch(q.D, q.M*PairRow)
	}
	if p.set.level == generic {
		p.plain = append(p.plain, func(f [][]T) { pairForward(f, &q) })
		return
	}
	p.code = compilePairForward(p.code, &q)
}

// PairBack appends a product.
func (p *Program[T]) PairBack(q PairBack) {
	p.checkPairs(q.M, q.K)
	evenOnly(q.M)
	p.touch(q.A, (q.M-1)*q.ARow+2*half(q.K))
	p.touch(q.B, half(q.K)*PairRow)
	p.touch(q.C, half(q.M)*PairRow)
	p.touch(q.H, half(q.M)*PairRow)
	if p.set.level == generic {
		p.plain = append(p.plain, func(f [][]T) { pairBack(f, &q) })
		return
	}
	p.code = compilePairBack(p.code, &q)
}

// PairTranspose appends a transposition: that of a matrix of doubles.
func (p *Program[T]) PairTranspose(q PairTranspose) {
	p.checkPairs(q.M, 1)
	p.touch(q.S, half(q.M)*PairRow)
	p.touch(q.D, (PairRows-1)*q.DRow+roundUp(q.M, Lanes[T]()))
	if p.set.level == generic {
		p.plain = append(p.plain, func(f [][]T) { pairTranspose(f, &q) })
		return
	}
	double := func(o Operand) Operand { return Operand{o.Slice, o.Offset / 2} }
	p.code = compileTranspose[float64](p.code, p.set, &Transpose{
		M: half(q.M), N: PairRows, S: double(q.S), SRow: PairRows, D: double(q.D), DRow: q.DRow / 2,
	})
}

func evenOnly(m int) {
	if m%2 != 0 {
		panic("kernel: pairs of an odd number of numbers")
	}
}

// The plain Go twins.

func pairForward[T Float](f [][]T, q *PairForward) {
	a, b, c := at(f, q.A), at(f, q.B), at(f, q.C)
	for m := range q.M {
		for row := range PairRows {
			var x T
			for k := range q.K {
				x += a[k*q.ACol+m] * b[k*PairRow+2*row]
			}
			x *= T(q.Scale)
			if q.WithReLU {
				x = max(x, 0)
				d := at(f, q.D)[m*PairRow+2*row:]
				d[0], d[1] = x, x
			}
			c[PairIndex(m, row)] = x
		}
	}
}

// PairIndex is where number m of data row b is among pairs.
func PairIndex(m, b int) int { return m/2*PairRow + 2*b + m%2 }

func pairBack[T Float](f [][]T, q *PairBack) {
	a, b, c, h := at(f, q.A), at(f, q.B), at(f, q.C), at(f, q.H)
	for m := range q.M {
		for row := range PairRows {
			var x T
			for k := range q.K {
				x += a[m*q.ARow+k] * b[PairIndex(k, row)]
			}
			i := PairIndex(m, row)
			c[i] = 0
			if h[i] > 0 {
				c[i] = T(q.Scale) * x
			}
		}
	}
}

func pairTranspose[T Float](f [][]T, q *PairTranspose) {
	s, d := at(f, q.S), at(f, q.D)
	for m := range q.M {
		for row := range PairRows {
			d[row*q.DRow+m] = s[PairIndex(m, row)]
		}
	}
}
