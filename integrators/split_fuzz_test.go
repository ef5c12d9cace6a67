package integrators

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hambench/usage"
)

// FuzzSplitWord: whatever the word, a scheme or a one-line usage error. The
// letters of a word that is accepted share the step and the friction among
// them, its map preserves what exact flows preserve, and the errors of first
// order in its stationary law are those that its claims say there are.
func FuzzSplitWord(f *testing.F) {
	for _, w := range []string{
		"BAOAB", "ABOBA", "OBABO", "BAOA", "OABAO", "ABO", "OBA", "AABBOO", "BAAOBO", "abAoBo", "ABOABO", "BAO ", "BAXAB", "", "θAO",
		"AOB\n", "A\x00BO", strings.Repeat("ABO", 21), strings.Repeat("BAO", 22), "BAOABBAOAB", "OOBAAAB",
	} {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, word string) {
		m, err := Builtin().Lookup(splitPrefix + word)
		if err != nil {
			var bad *usage.Error
			if !errors.As(err, &bad) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%q is not a one-line usage error", err)
			}
			return
		}
		word = strings.ToUpper(word)
		if again, err := Builtin().Lookup(m.Name); err != nil || m.Name != splitPrefix+word || again.Name != m.Name || again.Claims != m.Claims {
			t.Fatalf("%s: looked up again as %+v, error %v", m.Name, again.Name, err)
		}
		var spelt strings.Builder
		for _, s := range segments(word) {
			spelt.WriteString(s.run + strings.Repeat("A", s.drifts))
		}
		if spelt.String() != word {
			t.Fatalf("the segments of %q spell %q", word, spelt.String())
		}
		checkShares(t, m)
		checkFirstOrder(t, m, word)
	})
}

// oneDimensional is the problem U = ½kθ² − sθ in one dimension.
func oneDimensional(k, s, c float64) target {
	return target{"1-D", newGaussian([]float64{k}, []float64{s}), nil, c}
}

// checkShares holds the shares of drift, kick and friction to a sum of one.
func checkShares(t *testing.T, m Integrator) {
	t.Helper()
	const h, c = 0.5, 1.3
	// A free particle all but without friction drifts by h·r, and a constant
	// force kicks it by h.
	free := oneDimensional(0, 1, 1e-14)
	a := probe(free.newAt(t, m, h, 1), free.force, 1)
	if drift, kick := a.m.At(0, 1), a.c.AtVec(1); math.Abs(drift-h) > roundOff || math.Abs(kick-h) > roundOff {
		t.Errorf("%s: a step of %v drifts by %.15f and kicks by %.15f", m.Name, h, drift, kick)
	}
	// Without a force, friction and noise keep r ~ N(0, 1).
	damped := oneDimensional(0, 0, c)
	a = probe(damped.newAt(t, m, h, 1), damped.force, 1)
	var noise mat.Dense
	noise.Mul(a.n, a.n.T())
	decay, variance := a.m.At(1, 1), noise.At(1, 1)
	if math.Abs(decay-math.Exp(-c*h)) > roundOff || math.Abs(decay*decay+variance-1) > roundOff {
		t.Errorf("%s: momentum decays by %.15f and gains the variance %.15f in a step of %v", m.Name, decay, variance, h)
	}
	// With one, volume contracts as the exact flow contracts it.
	bound := oneDimensional(1.7, 0, c)
	if det := mat.Det(probe(bound.newAt(t, m, h, 1), bound.force, 1).m); math.Abs(det-math.Exp(-c*h)) > roundOff {
		t.Errorf("%s: volume contracts by %.15f, want %.15f", m.Name, det, math.Exp(-c*h))
	}
}

// checkFirstOrder compares the first-order errors of the stationary law on
// U = ½kθ² with theory (wordOrders has it), and the claims with both: for the
// variance of θ it is hCS/k, S = α_AB + α_BO + α_OA; for the covariance of θ
// and r it is −hα_AB; for the variance of r, 0.
func checkFirstOrder(t *testing.T, m Integrator, word string) {
	t.Helper()
	const k, c = 1.7, 1.3
	ab, bo, oa := bracket(word, 'A', 'B'), bracket(word, 'B', 'O'), bracket(word, 'O', 'A')
	got := firstOrder(t, m, oneDimensional(k, 0, c))
	want := [3]float64{c * (ab + bo + oa) / k, -ab, 0}
	for i, name := range []string{"variance of θ", "covariance of θ and r", "variance of r"} {
		// Extrapolation leaves a term of the size h³ = 1e-6 times a fourth
		// derivative below 10; the smallest bracket that is not 0, of a word of 64
		// letters, is 1/(2·21·21·22) = 5e-5.
		if math.Abs(got[i]-want[i]) > 1e-5 {
			t.Errorf("%s: first-order error of the %s is %.3g, want %.3g", m.Name, name, got[i], want[i])
		}
	}
	const none = 1e-9 // round-off of sums over pairs of letters
	claimed := [3]bool{m.Claims.WeakOrder == 2, m.Claims.ErgodicOrder == 2, m.Claims.PositionOrder == 2}
	zero := func(x float64) bool { return math.Abs(x) < none }
	due := [3]bool{zero(ab) && zero(bo) && zero(oa), zero(ab) && zero(bo+oa), zero(ab + bo + oa)}
	if claimed != due {
		t.Errorf("%s: second order (weak, joint, θ) claimed %v, due %v", m.Name, claimed, due)
	}
}

// bracket is the coefficient of h²[X, Y] in the logarithm of a word, summed
// over its pairs of letters.
func bracket(word string, x, y byte) (sum float64) {
	share := 1 / (2 * float64(strings.Count(word, string(x))) * float64(strings.Count(word, string(y))))
	for i := range len(word) {
		for j := i + 1; j < len(word); j++ {
			if word[i] == x && word[j] == y {
				sum += share
			}
			if word[i] == y && word[j] == x {
				sum -= share
			}
		}
	}
	return sum
}

// firstOrder extrapolates the errors of a stationary covariance, divided by
// the step, to step 0: of the variance of θ, the covariance, the variance of
// r.
func firstOrder(t *testing.T, m Integrator, p target) [3]float64 {
	t.Helper()
	_, truth := p.law(t)
	at := func(h float64) (e [3]float64) {
		_, cov := probe(p.newAt(t, m, h, 1), p.force, 1).stationary(t)
		for i, place := range [3][2]int{{0, 0}, {0, 1}, {1, 1}} {
			e[i] = (cov.At(place[0], place[1]) - truth.At(place[0], place[1])) / h
		}
		return e
	}
	const h = 0.02
	e1, e2, e3 := at(h), at(h/2), at(h/4)
	var out [3]float64
	for i := range out {
		out[i] = (e1[i] - 6*e2[i] + 8*e3[i]) / 3 // exact for a + bh + ch²
	}
	return out
}
