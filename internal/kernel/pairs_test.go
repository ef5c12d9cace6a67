package kernel

import (
	"fmt"
	"testing"
)

// pairSet is the set whose pairs are tested.
func pairSet(t *testing.T) Set {
	for _, s := range assemblySets(t) {
		if s.HasPairs() {
			return s
		}
	}
	t.Skip("no set with pairs")
	return generic
}

// pairs adds n numbers as pairs to the frame, with 0 for a number that is not
// there.
func (x *tester[T]) pairs(n int) Operand {
	o := x.slice(half(n) * PairRow)
	for _, f := range x.frame {
		for b := range PairRows {
			if n%2 != 0 {
				f[o.Slice][PairIndex(n, b)] = 0
			}
		}
	}
	return o
}

func TestPairForwardFollowsItsDefinition(t *testing.T) {
	s := pairSet(t)
	for m := 1; m <= 120; m++ {
		for _, e := range []Epilogue{Store, ReLU} {
			if e == ReLU && m%2 != 0 {
				continue
			}
			x := newTester[float32](t, s, uint64(m))
			k, column := 1+x.rng.IntN(60), m+x.rng.IntN(3)
			q := Product{Form: PairForward, M: m, N: PairRows, Scale: x.rng.Float64(), Epilogue: e}
			a, b := x.slice((k-1)*column+2*half(m)), x.slice(k*PairRow)
			q.Terms = []Term{{K: k, A: a, ACol: column, B: b}}
			for _, f := range x.frame { // doubled
				b := f[b.Slice]
				for i := 0; i < len(b); i += 2 {
					b[i+1] = b[i]
				}
			}
			q.C = x.pairs(m)
			if e == ReLU {
				q.H = x.slice(m * PairRow)
			}
			x.program[0].Product(q)
			x.program[1].plain = append(x.program[1].plain, func(f [][]float32) { pairForward(f, &q) })
			if m%2 != 0 { // the number that is not there may be anything
				x.program[0].plain = append(x.program[0].plain, func([][]float32) {
					for b := range PairRows {
						x.frame[0][q.C.Slice][PairIndex(m, b)] = 0
					}
				})
			}
			x.compare(fmt.Sprintf("forward %+v", q), tolerance[float32](k))
		}
	}
}

func TestPairBackFollowsItsDefinition(t *testing.T) {
	s := pairSet(t)
	for m := 2; m <= 120; m += 2 {
		for range 4 {
			x := newTester[float32](t, s, uint64(m))
			k := 1 + x.rng.IntN(60)
			row := k + x.rng.IntN(3)
			q := Product{Form: PairBack, M: m, N: PairRows, Scale: x.rng.Float64(), Epilogue: Mask}
			q.Terms = []Term{{K: k, A: x.slice((m-1)*row + 2*half(k)), ARow: row, B: x.pairs(k)}}
			q.C, q.H = x.slice(m/2*PairRow), x.slice(m/2*PairRow)
			x.program[0].Product(q)
			x.program[1].plain = append(x.program[1].plain, func(f [][]float32) { pairBack(f, &q) })
			x.compare(fmt.Sprintf("back %+v", q), tolerance[float32](k))
		}
	}
}

// pairForward and pairBack are what the two forms are defined to be.
func pairForward(f [][]float32, q *Product) {
	t := q.Terms[0]
	a, b, c := at(f, t.A), at(f, t.B), at(f, q.C)
	for m := range q.M {
		for row := range PairRows {
			var x float32
			for k := range t.K {
				x += a[k*t.ACol+m] * b[k*PairRow+2*row]
			}
			x *= float32(q.Scale)
			if q.Epilogue == ReLU {
				x = max(x, 0)
				d := at(f, q.H)[m*PairRow+2*row:]
				d[0], d[1] = x, x
			}
			c[PairIndex(m, row)] = x
		}
	}
}

func pairBack(f [][]float32, q *Product) {
	t := q.Terms[0]
	a, b, c, h := at(f, t.A), at(f, t.B), at(f, q.C), at(f, q.H)
	for m := range q.M {
		for row := range PairRows {
			var x float32
			for k := range t.K {
				x += a[m*t.ARow+k] * b[PairIndex(k, row)]
			}
			i := PairIndex(m, row)
			c[i] = 0
			if h[i] > 0 {
				c[i] = float32(q.Scale) * x
			}
		}
	}
}

func TestPairTranspose(t *testing.T) {
	s := pairSet(t)
	for m := 1; m <= 70; m++ {
		x := newTester[float32](t, s, uint64(m))
		q := Transpose{Pairs: true, M: m, N: PairRows, DRow: RoundUp(m, Lanes[float32]()) + 2*x.rng.IntN(3)}
		q.S, q.D = x.pairs(m), x.slice((PairRows-1)*q.DRow+RoundUp(m, Lanes[float32]()))
		x.program[0].Transpose(q)
		f := x.frame[0]
		x.program[0].Run(f)
		for i := range m {
			for b := range PairRows {
				if d, want := f[q.D.Slice][b*q.DRow+i], f[q.S.Slice][PairIndex(i, b)]; d != want {
					t.Fatalf("%+v: number %d of row %d is %v, want %v", q, i, b, d, want)
				}
			}
		}
	}
}
