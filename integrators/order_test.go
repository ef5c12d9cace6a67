package integrators

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The order tests' tolerance: slopes are taken at h = 0.02 and below, free of
// the next term of the error's expansion; the one after is a few times h².
const slopeTolerance = 0.05

// isOrder says whether a slope agrees with a claim; a law that is exact for a
// Gaussian agrees with any claim.
func isOrder(slope, claim float64) bool {
	return math.IsInf(slope, 1) || math.Abs(slope-claim) < slopeTolerance
}

// everyIntegrator returns the table and splitting words of several kinds.
func everyIntegrator(t *testing.T) []Integrator {
	t.Helper()
	methods := Builtin()
	for _, word := range []string{"ABO", "OBA", "BAO", "ABOA", "OBAB", "ABAO", "BAOABO", "OBOA", "ABBOOABAB", "bABOABb"} {
		methods = append(methods, lookup(t, "split:"+word))
	}
	return methods
}

// affineIntegrators are those whose steps are affine where the force is; the others
// are tested in files of their own.
func affineIntegrators(t *testing.T) []Integrator {
	return slices.DeleteFunc(everyIntegrator(t), func(m Integrator) bool {
		return m.Nonlinear || m.Mixes()
	})
}

func lookup(t *testing.T, name string) Integrator {
	t.Helper()
	m, err := Builtin().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestErgodicOrderMatchesClaim(t *testing.T) {
	for _, m := range affineIntegrators(t) {
		for _, p := range targets() {
			t.Run(m.Name+"/"+p.name, func(t *testing.T) {
				joint, theta := p.ergodicOrders(t, func(h float64) *Instance { return p.newAt(t, m, h, 1) })
				// No scheme but the exact flow has an exact joint law.
				if !isOrder(joint, m.Claims.ErgodicOrder) || math.IsInf(joint, 1) != m.Needs.Affine {
					t.Errorf("joint covariance is of order %.3f, claim %v", joint, m.Claims.ErgodicOrder)
				}
				if !isOrder(theta, m.Claims.PositionOrder) {
					t.Errorf("θ covariance is of order %.3f, claim %v", theta, m.Claims.PositionOrder)
				}
			})
		}
	}
}

// What the schemes' documentation says of a Gaussian target: a stationary mean
// without error, and for some an exact covariance of θ.
func TestExactOnGaussians(t *testing.T) {
	exactTheta := []string{"leapfrog", "sghmc", "sghmc-adaptive", "exact", "baoab", "aboba", "baoa"}
	for _, m := range affineIntegrators(t) {
		for _, p := range targets() {
			e := p.errors(t, p.newAt(t, m, 0.1, 1))
			if e.mean > roundOff {
				t.Errorf("%s, %s: mean errs by %.2g", m.Name, p.name, e.mean)
			}
			if exact := e.theta < roundOff; exact != slices.Contains(exactTheta, m.Name) {
				t.Errorf("%s, %s: θ covariance errs by %.2g", m.Name, p.name, e.theta)
			}
		}
	}
}

// stepError is the largest error of the one-step law, mean map and noise
// covariance, against that of the exact flow.
func (p target) stepError(t *testing.T, m Integrator, h float64) float64 {
	t.Helper()
	d := len(p.force.affine.Shift)
	a, b := probe(p.newAt(t, m, h, 1), p.force, d), probe(p.newAt(t, lookup(t, "exact"), h, 1), p.force, d)
	if m.PositionOnly {
		b = p.langevin(h)
	}
	var ca, cb mat.Dense
	ca.Mul(a.n, a.n.T())
	cb.Mul(b.n, b.n.T())
	return max(largestDifference(a.m, b.m), largestDifference(a.c, b.c), largestDifference(&ca, &cb))
}

// langevin is the exact flow of dθ = −M⁻¹(Pθ − s) dt + √(2M⁻¹) dW over a step, on
// (θ, 0).
func (p target) langevin(h float64) affineMap {
	d := len(p.force.affine.Shift)
	rate := mat.NewDense(d, d, nil)
	rate.Apply(func(i, j int, v float64) float64 {
		return -h * (Coef{All: 1, Each: p.invMass}).At(i) * v
	}, mat.NewDense(d, d, p.force.affine.Precision))
	var decay, mean, cov, moved, half mat.Dense
	decay.Exp(rate)
	_ = cov.Inverse(mat.NewDense(d, d, p.force.affine.Precision))
	mean.Mul(&cov, mat.NewDense(d, 1, p.force.affine.Shift))
	half.Mul(&decay, &cov)
	moved.Mul(&half, decay.T())
	cov.Sub(&cov, &moved)
	out := affineMap{m: mat.NewDense(2*d, 2*d, nil), n: mat.NewDense(2*d, d, nil), c: mat.NewVecDense(2*d, nil)}
	out.m.Slice(0, d, 0, d).(*mat.Dense).Copy(&decay)
	shift := mat.NewDense(d, 1, nil)
	shift.Mul(&decay, &mean)
	shift.Sub(&mean, shift)
	out.c.SliceVec(0, d).(*mat.VecDense).CopyVec(shift.ColView(0))
	var chol mat.Cholesky
	var l mat.TriDense
	sym := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			sym.SetSym(i, j, (cov.At(i, j)+cov.At(j, i))/2)
		}
	}
	chol.Factorize(sym)
	chol.LTo(&l)
	out.n.Slice(0, d, 0, d).(*mat.Dense).Copy(&l)
	return out
}

func largestDifference(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return max(mat.Max(&d), -mat.Min(&d))
}

// A scheme of weak order p errs by h^{p+1} in one step.
func TestWeakOrderMatchesClaim(t *testing.T) {
	for _, m := range affineIntegrators(t) {
		for _, p := range targets() {
			const h = 0.02
			coarse, fine := p.stepError(t, m, h), p.stepError(t, m, h/2)
			slope := order(coarse, fine) - 1
			if !isOrder(slope, m.Claims.WeakOrder) || math.IsInf(slope, 1) != m.Needs.Affine {
				t.Errorf("%s, %s: weak order %.3f, claim %v", m.Name, p.name, slope, m.Claims.WeakOrder)
			}
		}
	}
}

// lietrotter keeps order 2 for any N_l and for full refreshment.
func TestLieTrotterInnerStepsAndFullRefreshment(t *testing.T) {
	m := lookup(t, "lietrotter")
	for _, p := range targets() {
		for _, c := range []float64{p.c, math.Inf(1)} {
			for _, inner := range []int{1, 3, 8} {
				p.c = c
				joint, theta := p.ergodicOrders(t, func(h float64) *Instance { return p.newAt(t, m, h, inner) })
				if !isOrder(joint, 2) || !isOrder(theta, 2) {
					t.Errorf("%s, C = %v, N_l = %d: orders %.3f and %.3f, want 2", p.name, c, inner, joint, theta)
				}
			}
		}
	}
}

// A word takes C = +Inf if, and only if, its law is then right for small steps: all words of up
// to five letters, where an unbalanced one is off by a tenth at the least.
func TestBalancedWordsTakeFullRefreshment(t *testing.T) {
	p, of := targets()[0], map[bool]int{}
	p.c = math.Inf(1)
	var try func(word string)
	try = func(word string) {
		if len(word) < 5 {
			for _, letter := range []string{"A", "B", "O"} {
				try(word + letter)
			}
		}
		scheme, err := parseSplit(splitPrefix + word)
		if err != nil {
			return // a letter is missing
		}
		balanced := scheme.FullRefreshment
		scheme.FullRefreshment = true
		taken := Define(scheme, func(dim int, p Params) (Stepper, Stepper) {
			return newSplitting(dim, p, word, segments(word)), nil
		})
		step, off := probe(p.newAt(t, taken, 0.005, 1), p.force, 1), math.Inf(1)
		m := step.m.At
		if (1-m(0, 0))*(1-m(1, 1)) > m(0, 1)*m(1, 0) { // otherwise the O's leave no trace of the force
			_, cov := step.stationary(t)
			off = math.Abs(cov.At(0, 0)*p.force.affine.Precision[0] - 1)
		}
		of[balanced]++
		if balanced != (off < 0.05) {
			t.Errorf("%s: balanced %t, the variance of θ is off by %.3f", word, balanced, off)
		}
	}
	try("")
	if of[true] < 10 || of[false] < 10 {
		t.Errorf("%v words", of)
	}
}

// With C = +Inf nothing of the old momentum is left.
func TestFullRefreshmentForgetsTheMomentum(t *testing.T) {
	in, err := lookup(t, "lietrotter").New(1, Params{Step: 0.1, Friction: math.Inf(1), InvMass: []float64{4}})
	if err != nil {
		t.Fatal(err)
	}
	a := probe(in, newGaussian([]float64{1}, []float64{0}), 1)
	if a.m.At(1, 0) != 0 || a.m.At(1, 1) != 0 || a.n.At(1, 0) != 0.5 {
		t.Errorf("momentum row %v, noise %v; want zeros and 1/√4", mat.Row(nil, 1, a.m), a.n.At(1, 0))
	}
}

// Bugs planted in a scheme must change its order, or the tests above see
// nothing.
func TestPlantedBugsAreSeen(t *testing.T) {
	tests := []struct {
		name         string
		method       string
		plant        func(in *Instance, h float64)
		joint, theta float64
	}{
		{"variance 1 of w₂", "mt3", func(in *Instance, _ float64) {
			in.Params.Values[w2Variance] = 1
			in.Kernel = newMT3(3, in.Params)
		}, 2, 2},
		{"noise scale off by √2", "leapfrog", func(in *Instance, _ float64) {
			in.Kernel.(*Kick).update.S.All *= math.Sqrt2
		}, 0, 0},
		// Conjugate to leapfrog by half a drift: θ is still of order 2, but
		// no longer exact.
		{"both half drifts before the kick", "leapfrog", func(in *Instance, h float64) {
			s := in.Kernel.(*Kick)
			s.drift, s.update.D = in.Params.Drift(h), in.Params.Drift(0)
		}, 1, 2},
		{"second half drift before the noise", "leapfrog", func(in *Instance, h float64) {
			s := in.Kernel.(*Kick)
			s.update.B, s.update.D = s.drift, in.Params.Drift(0)
		}, 1, 1},
		{"both half frictions before the kick", "symmetric", func(in *Instance, h float64) {
			s := in.Kernel.(*Kick)
			s.update.A, s.update.S = Coef{All: -h}, Coef{All: math.Sqrt(2 * in.Params.Friction * h)}
		}, 1, 1},
		{"noise behind the friction", "symmetric", func(in *Instance, h float64) {
			in.Kernel.(*Kick).update.S = Coef{All: math.Sqrt(2 * in.Params.Friction * h)}
		}, 1, 1},
		{"half of the gradient's way to θ", "ubu", func(in *Instance, h float64) {
			scale(in, 1, 3, 0.5) // θ⁺ of the gradient
		}, 1, 1},
		{"noise of θ* that the end of the step forgets", "ubu", func(in *Instance, h float64) {
			scale(in, 2, 1, 0) // r⁺ of ξ₁
		}, 0, 0},
		{"variance 1/6 of H", "quicsort", func(in *Instance, _ float64) {
			scale(in, 0, 1, math.Sqrt2) // ṽ of H
			scale(in, 6, 4, math.Sqrt2) // r⁺ of H
		}, 2, 2},
		{"the nodes of the gradients' way to r exchanged", "quicsort", func(in *Instance, h float64) {
			of := in.Kernel.(*Stages).sums[6][2:4] // r⁺ of F₁ and of the second gradient
			of[0].C, of[1].C = scaled(of[1].C, 1/h), scaled(of[0].C, h)
		}, 2, 2},
		{"half of the first gradient's way to the second", "quicsort", func(in *Instance, h float64) {
			scale(in, 4, 3, 0.5) // θ₂ of F₁
		}, 2, 2},
		{"noise scale off by √2", "sgld", func(in *Instance, h float64) {
			in.Kernel.(*sgld).kick.S = Coef{All: math.Sqrt(h)}
		}, 0, 0},
	}
	for _, tt := range tests {
		p := targets()[1]
		joint, theta := p.ergodicOrders(t, func(h float64) *Instance {
			in := p.newAt(t, lookup(t, tt.method), h, 1)
			tt.plant(in, h)
			return in
		})
		if !(math.Abs(joint-tt.joint) < slopeTolerance) || !(math.Abs(theta-tt.theta) < slopeTolerance) {
			t.Errorf("%s with %s: orders %.3f and %.3f, want %v and %v", tt.method, tt.name, joint, theta, tt.joint, tt.theta)
		}
	}
}

// scaled is a coefficient times a number.
func scaled(c Coef, by float64) Coef {
	out := Coef{All: c.All * by}
	for _, v := range c.Each {
		out.Each = append(out.Each, v*by)
	}
	return out
}

// scale multiplies a coefficient of a step in stages: of a sum, counted from 0
// as the formulas have them, and of one of its terms.
func scale(in *Instance, sum, term int, by float64) {
	c := &in.Kernel.(*Stages).sums[sum][term].C
	*c = scaled(*c, by)
}

// letterByLetter is the law of a word by a product of its letters' matrices:
// the plain meaning that the fused passes must have.
func (p target) letterByLetter(word string, h float64) (m, cov *mat.Dense) {
	d := len(p.force.affine.Shift)
	shares := map[rune]float64{}
	for _, c := range word {
		shares[c]++
	}
	m, cov = identityMatrix(2*d), mat.NewDense(2*d, 2*d, nil)
	for _, c := range word {
		step, t := identityMatrix(2*d), h/shares[c]
		noise := mat.NewDense(2*d, 2*d, nil)
		for i := range d {
			mass := Coef{All: 1, Each: p.invMass}.At(i)
			switch c {
			case 'A':
				step.Set(i, d+i, t*mass)
			case 'B':
				for j := range d {
					step.Set(d+i, j, -t*p.force.affine.Precision[i*d+j])
				}
			case 'O':
				step.Set(d+i, d+i, math.Exp(-p.c*mass*t))
				noise.Set(d+i, d+i, (1-math.Exp(-2*p.c*mass*t))/mass)
			}
		}
		var next, half mat.Dense
		next.Mul(step, m)
		m.Copy(&next)
		half.Mul(step, cov)
		next.Mul(&half, step.T())
		cov.Add(&next, noise)
	}
	return m, cov
}

func identityMatrix(n int) *mat.Dense {
	id := mat.NewDense(n, n, nil)
	for i := range n {
		id.Set(i, i, 1)
	}
	return id
}

// randomWords are valid words of a pinned seed.
func randomWords(count, longest int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	var words []string
	for len(words) < count {
		word := make([]byte, 3+rng.IntN(longest-2))
		for i := range word {
			word[i] = "ABO"[rng.IntN(3)]
		}
		if _, err := parseSplit(splitPrefix + string(word)); err == nil {
			words = append(words, string(word))
		}
	}
	return words
}

func TestFusedPassesMeanTheWord(t *testing.T) {
	for _, word := range append(randomWords(200, 12), "BAOAB", "ABOBA", "OBABO", "BAOA") {
		for _, p := range targets() {
			const h = 0.3
			d := len(p.force.affine.Shift)
			got := probe(p.newAt(t, lookup(t, "split:"+word), h, 1), p.force, d)
			m, cov := p.letterByLetter(word, h)
			var gotCov mat.Dense
			gotCov.Mul(got.n, got.n.T())
			// A few dozen operations on numbers of order 1.
			if e := max(largestDifference(got.m, m), largestDifference(&gotCov, cov)); e > 1e-13 {
				t.Errorf("%s, %s: errs by %.2g", word, p.name, e)
			}
		}
	}
}

// The orders that wordOrders derives are those that are measured, also on
// words that nobody has looked at.
func TestWordOrders(t *testing.T) {
	p := targets()[1]
	for _, word := range randomWords(60, 7) {
		m := lookup(t, "split:"+word)
		joint, theta := p.ergodicOrders(t, func(h float64) *Instance { return p.newAt(t, m, h, 1) })
		// Words of several letters have smaller leading terms beside the same
		// next ones: the tolerance is wide, but far from the next integer.
		if !(math.Abs(joint-m.Claims.ErgodicOrder) < 0.2) {
			t.Errorf("%s: joint order %.3f, derived %v", word, joint, m.Claims.ErgodicOrder)
		}
		if !(math.Abs(theta-m.Claims.PositionOrder) < 0.2) && !math.IsInf(theta, 1) {
			t.Errorf("%s: θ order %.3f, derived %v", word, theta, m.Claims.PositionOrder)
		}
	}
}

// One pass and two passes are the same map, to rounding.
func TestFusedLieTrotterIsTheComposition(t *testing.T) {
	for _, p := range targets() {
		m := lookup(t, "lietrotter")
		fused := p.newAt(t, m, 0.1, 1)
		apart := p.newAt(t, m, 0.1, 1)
		dim := len(p.force.Affine().Shift)
		u := &apart.Kernel.(*Kick).update
		apart.Refresh = &flow{Update{P: one, Q: u.Q, S: u.S}}
		u.Q, u.S = one, Coef{}
		a, b := probe(fused, p.force, dim), probe(apart, p.force, dim)
		if d := max(largestDifference(a.m, b.m), largestDifference(a.c, b.c), largestDifference(a.n, b.n)); d > 1e-14 {
			t.Errorf("%s: the maps differ by %g", p.name, d)
		}
	}
}
