package kernel

import (
	"fmt"
	"testing"
)

// pairSet is the set whose pairs are tested.
func pairSet(t *testing.T) *Set {
	for _, s := range assemblySets(t) {
		if s.HasPairs() {
			return s
		}
	}
	t.Skip("no set with pairs but plain Go")
	return nil
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

func TestPairForwardAgreesWithPlainGo(t *testing.T) {
	s := pairSet(t)
	for m := 1; m <= 120; m++ {
		for _, relu := range []bool{false, true} {
			if relu && m%2 != 0 {
				continue
			}
			x := newTester[float32](t, s, uint64(m))
			q := PairForward{M: m, K: 1 + x.rng.IntN(60), ACol: m + x.rng.IntN(3), Scale: x.rng.Float64(), WithReLU: relu}
			q.A, q.B = x.slice((q.K-1)*q.ACol+2*half(m)), x.slice(q.K*PairRow)
			for _, f := range x.frame { // doubled
				b := f[q.B.Slice]
				for i := 0; i < len(b); i += 2 {
					b[i+1] = b[i]
				}
			}
			q.C = x.pairs(m)
			if relu {
				q.D = x.slice(m * PairRow)
			}
			for _, p := range x.program {
				p.PairForward(q)
			}
			if m%2 != 0 { // the number that is not there may be anything
				x.program[0].plain = append(x.program[0].plain, func([][]float32) {
					for b := range PairRows {
						x.frame[0][q.C.Slice][PairIndex(m, b)] = 0
					}
				})
			}
			x.compare(fmt.Sprintf("forward %+v", q), tolerance[float32](q.K))
		}
	}
}

func TestPairBackAgreesWithPlainGo(t *testing.T) {
	s := pairSet(t)
	for m := 2; m <= 120; m += 2 {
		for range 4 {
			x := newTester[float32](t, s, uint64(m))
			k := 1 + x.rng.IntN(60)
			q := PairBack{M: m, K: k, ARow: k + x.rng.IntN(3), Scale: x.rng.Float64()}
			q.A, q.B = x.slice((m-1)*q.ARow+2*half(k)), x.pairs(k)
			q.C, q.H = x.slice(m/2*PairRow), x.slice(m/2*PairRow)
			for _, p := range x.program {
				p.PairBack(q)
			}
			x.compare(fmt.Sprintf("back %+v", q), tolerance[float32](k))
		}
	}
}

func TestPairTranspose(t *testing.T) {
	s := pairSet(t)
	for m := 1; m <= 70; m++ {
		x := newTester[float32](t, s, uint64(m))
		q := PairTranspose{M: m, DRow: roundUp(m, Lanes[float32]()) + 2*x.rng.IntN(3)}
		q.S, q.D = x.pairs(m), x.slice((PairRows-1)*q.DRow+roundUp(m, Lanes[float32]()))
		x.program[0].PairTranspose(q)
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
