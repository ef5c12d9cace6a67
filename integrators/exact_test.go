package integrators

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
)

// noiseCov is the covariance of a step's noise.
func (a affineMap) noiseCov() *mat.Dense {
	var cov mat.Dense
	cov.Mul(a.n, a.n.T())
	return &cov
}

// twice is the affine map of two steps in law.
func (a affineMap) twice() (m, cov *mat.Dense, c *mat.VecDense) {
	var half mat.Dense
	m, cov, c = new(mat.Dense), new(mat.Dense), new(mat.VecDense)
	m.Mul(a.m, a.m)
	half.Mul(a.m, a.noiseCov())
	cov.Mul(&half, a.m.T())
	cov.Add(cov, a.noiseCov())
	c.MulVec(a.m, a.c)
	c.AddVec(c, a.c)
	return m, cov, c
}

// dampings are underdamped, critical, nearly critical, and overdamped modes,
// for P = 1.7 and M⁻¹ = 0.8 of the 1-D target.
func dampings() map[string]float64 {
	critical := 2 * math.Sqrt(1.7*0.8) / 0.8
	return map[string]float64{
		"underdamped": 0.5, "critical": critical, "nearly critical": critical * (1 + 1e-9), "overdamped": 20,
	}
}

func TestExactIsASemigroup(t *testing.T) {
	for name, c := range dampings() {
		for _, p := range targets() {
			for _, h := range []float64{1e-3, 0.1, 1.5, 20} {
				p.c = c
				d := len(p.force.affine.Shift)
				one := probe(p.newAt(t, lookup(t, "exact"), h, 1), p.force, d)
				two := probe(p.newAt(t, lookup(t, "exact"), 2*h, 1), p.force, d)
				m, cov, shift := one.twice()
				// Each doubling may double the rounding error, and there are
				// up to 13 at h = 20, C = 20: 2e-16·2¹³ is 2e-12.
				if e := max(largestDifference(m, two.m), largestDifference(cov, two.noiseCov()), largestDifference(shift, two.c)); e > 1e-11 {
					t.Errorf("%s, %s, h = %v: step(h)∘step(h) differs from step(2h) by %.2g", p.name, name, h, e)
				}
				if e := p.errors(t, p.newAt(t, lookup(t, "exact"), max(h, 0.1), 1)); e.joint > roundOff || e.mean > roundOff {
					t.Errorf("%s, %s, h = %v: stationary law errs by %.2g, %.2g", p.name, name, h, e.mean, e.joint)
				}
			}
		}
	}
}

// The closed forms of one mode, θ″ + 2γθ′ + ω²θ = 0 with 2γ = CM⁻¹ and
// ω² = PM⁻¹, released at θ = 1 at rest.
func TestExactMatchesClosedForms(t *testing.T) {
	p := targets()[0]
	const precision, m, h = 1.7, 0.8, 0.7
	p.force = newGaussian([]float64{precision}, []float64{0})
	for name, c := range dampings() {
		p.c = c
		gamma, w2 := c*m/2, precision*m
		var want float64
		switch d := gamma*gamma - w2; {
		case name == "critical":
			want = math.Exp(-gamma*h) * (1 + gamma*h)
		case d < 0:
			w := math.Sqrt(-d)
			want = math.Exp(-gamma*h) * (math.Cos(w*h) + gamma/w*math.Sin(w*h))
		default:
			w := math.Sqrt(d)
			want = math.Exp(-gamma*h) * (math.Cosh(w*h) + gamma/w*math.Sinh(w*h))
		}
		got := probe(p.newAt(t, lookup(t, "exact"), h, 1), p.force, 1).m.At(0, 0)
		if math.Abs(got-want) > roundOff {
			t.Errorf("%s: θ after h is %.15f, want %.15f", name, got, want)
		}
	}
}

// For a short step the noise of θ has the variance 2C M⁻² h³/3, which a closed
// form by differences loses altogether at h = 1e-6.
func TestExactNoiseOfAShortStep(t *testing.T) {
	for _, p := range targets() {
		const h = 1e-6
		d := len(p.force.affine.Shift)
		cov := probe(p.newAt(t, lookup(t, "exact"), h, 1), p.force, d).noiseCov()
		for i := range d {
			m := Coef{All: 1, Each: p.invMass}.At(i)
			// The next term is relatively of the size C M⁻¹ h ~ 2e-6.
			if got, want := cov.At(i, i), 2*p.c*m*m*h*h*h/3; math.Abs(got/want-1) > 1e-5 {
				t.Errorf("%s: variance of θ_%d is %.6g, want %.6g", p.name, i, got, want)
			}
		}
	}
}

// The two ways through a step, by modes and by the whole flow, agree where
// both can go.
func TestModesMatchTheDenseFlow(t *testing.T) {
	p := targets()[2]
	const h, m = 0.4, 0.7
	p.invMass = []float64{m, m, m}
	modes := probe(p.newAt(t, lookup(t, "exact"), h, 1), p.force, 3)
	in := p.newAt(t, lookup(t, "exact"), h, 1)
	s := in.Kernel.(*exact)
	flow, err := s.derive(p.force.affine)
	if err != nil {
		t.Fatal(err)
	}
	flow.vectors = nil
	flow.flow, err = newLinearFlow(mat.NewSymDense(3, p.force.affine.Precision), p.invMass, p.c, h)
	if err != nil {
		t.Fatal(err)
	}
	s.flows[p.force.affine] = flow
	dense := probe(in, p.force, 3)
	if e := max(largestDifference(modes.m, dense.m), largestDifference(modes.c, dense.c), largestDifference(modes.noiseCov(), dense.noiseCov())); e > 1e-13 {
		t.Errorf("modes and whole flow differ by %.2g", e)
	}
}

func TestExactKeepsWhatItDerives(t *testing.T) {
	in := targets()[1].newAt(t, lookup(t, "exact"), 0.1, 1)
	a, b := targets()[1].force, targets()[1].force
	for range 3 {
		in.Kernel.Step(NewState(3), a, ones{0, 0, 0})
		in.Kernel.Step(NewState(3), b, ones{0, 0, 0})
	}
	if got := len(in.Kernel.(*exact).flows); got != 2 {
		t.Errorf("%d flows kept for two forces", got)
	}
}

// Under a scheme whose batches are new ones every epoch, no more flows are
// kept than there is room for, and a flow that was dropped comes back the same.
func TestExactDropsFlows(t *testing.T) {
	first := targets()[1].force
	in := targets()[1].newAt(t, lookup(t, "exact"), 0.1, 1)
	s := in.Kernel.(*exact)
	if s.most < fewestFlows {
		t.Fatalf("room for %d flows, want %d or more", s.most, fewestFlows)
	}
	s.most = 3
	before, after := NewState(3), NewState(3)
	s.Step(before, first, ones{0, 0, 0})
	for range 10 {
		s.Step(NewState(3), targets()[1].force, ones{0, 0, 0})
		if len(s.flows) > s.most {
			t.Fatalf("%d flows kept, room for %d", len(s.flows), s.most)
		}
	}
	s.Step(after, first, ones{0, 0, 0})
	if !slices.Equal(before.Theta, after.Theta) || !slices.Equal(before.R, after.R) {
		t.Errorf("step to %v with a flow that was dropped, %v before", after, before)
	}
}

// bare is a force with nothing but a gradient.
type bare struct{ Force }

func TestAStepSaysWhatItsForceLacks(t *testing.T) {
	sphere := newGaussian([]float64{1}, []float64{0})
	for _, tt := range []struct {
		integrator string
		force      Force
		want       string
	}{
		{"exact", newGaussian([]float64{-1}, []float64{0}), "integrators: affine force: its precision is not positive definite"},
		{"exact", newGaussian([]float64{1, 0}, []float64{0}), "integrators: affine force: precision of 2 and shift of 1 numbers in 1 dimensions"},
		{"exact", bare{sphere}, "integrators: a step needs an affine gradient, which force integrators.bare does not have: see Integrator.Check"},
		{"mt3", bare{sphere}, "integrators: a step needs Hessian-vector products, which force integrators.bare does not have: see Integrator.Check"},
	} {
		func() {
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("%s: panic %v, want %q", tt.integrator, got, tt.want)
				}
			}()
			targets()[0].newAt(t, lookup(t, tt.integrator), 0.1, 1).Kernel.Step(NewState(1), tt.force, ones{0})
		}()
	}
}

// Without a force ubu is U(h), whose law is an integral over the response to
// the Wiener increments: θ answers by (1 − e^{−CM⁻¹s})/C, r by e^{−CM⁻¹s}.
func TestUBUWithoutForceIsTheExactFlow(t *testing.T) {
	free := newGaussian([]float64{0}, []float64{0})
	for _, m := range []float64{1, 0.3} {
		for _, ch := range []float64{1e-8, 1e-4, 0.1, 1, 2.5, 40} {
			const c = 1.6
			h := ch / c
			in, err := lookup(t, "ubu").New(1, Params{Step: h, Friction: c, InvMass: []float64{m}})
			if err != nil {
				t.Fatal(err)
			}
			a := probe(in, free, 1)
			cov := a.noiseCov()
			theta := func(s float64) float64 { return -math.Expm1(-c*m*s) / c }
			r := func(s float64) float64 { return math.Exp(-c * m * s) }
			// 200 Gauss–Legendre nodes are exact to round-off for these
			// exponentials, whose arguments stay below 80.
			integral := func(f, g func(float64) float64) float64 {
				return quad.Fixed(func(s float64) float64 { return 2 * c * f(s) * g(s) }, 0, h, 200, nil, 0)
			}
			checkRelative(t, "Var θ", cov.At(0, 0), integral(theta, theta))
			checkRelative(t, "Cov", cov.At(0, 1), integral(theta, r))
			checkRelative(t, "Var r", cov.At(1, 1), integral(r, r))
			checkRelative(t, "θ after r", a.m.At(0, 1), theta(h))
			checkRelative(t, "r after r", a.m.At(1, 1), r(h))
		}
	}
}

// checkRelative compares to a relative 1e-12: a thousand roundings, of which
// quadrature does most.
func checkRelative(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12*math.Abs(want) {
		t.Errorf("%s is %.15g, want %.15g", what, got, want)
	}
}

// The table's formulas for U(t), M = I: Var_θ = (2Ct − 3 + 4e − e²)/C², and so on.
func TestUBUMatchesTheTable(t *testing.T) {
	const c, h = 1.3, 1.7
	in, err := lookup(t, "ubu").New(1, Params{Step: h, Friction: c})
	if err != nil {
		t.Fatal(err)
	}
	cov := probe(in, newGaussian([]float64{0}, []float64{0}), 1).noiseCov()
	e := math.Exp(-c * h)
	checkRelative(t, "Var θ", cov.At(0, 0), (2*c*h-3+4*e-e*e)/(c*c))
	checkRelative(t, "Var r", cov.At(1, 1), 1-e*e)
	checkRelative(t, "Cov", cov.At(0, 1), (1-e)*(1-e)/c)
}

func TestTanhDefect(t *testing.T) {
	// Reference values: y³/3 − 2y⁵/15 + 17y⁷/315 at 1e-3, whose next term is 2e-26;
	// and the difference itself on both sides of the switch at 1.
	small := 1e-3
	checkRelative(t, "1e-3", tanhDefect(small), math.Pow(small, 3)/3-2*math.Pow(small, 5)/15+17*math.Pow(small, 7)/315)
	for _, y := range []float64{0.9, 1, 1.1, 5} {
		checkRelative(t, "around 1", tanhDefect(y), y-math.Tanh(y))
		checkRelative(t, "e^−x − 1 + x", expDefect(y), math.Exp(-y)-1+y)
	}
	series := 0.0 // x²/2! − x³/3! + …, whose terms fall fast at 1e-3
	for k, term := 7, 0.0; k >= 2; k-- {
		term = math.Pow(-small, float64(k)) / math.Gamma(float64(k+1))
		series += term
	}
	checkRelative(t, "e^−x − 1 + x at 1e-3", expDefect(small), series)
}

// What is kept of the flows that a chain no longer asks for takes no more than it may, whatever the
// dimension: with a batch drawn at every step, each step adds one.
func TestKeptFlowsTakeABoundedMemory(t *testing.T) {
	var before, after runtime.MemStats
	for _, mass := range [][]float64{{1}, {1, 1, 1}, {1, 2, 3}, slices.Repeat([]float64{1, 2}, 20)} {
		d := len(mass)
		s := newExact(d, Params{Step: 0.1, Friction: 1, InvMass: mass})
		flows := 20_000 / (d * d)
		runtime.GC()
		runtime.ReadMemStats(&before)
		z := NewState(d)
		for range flows {
			f := newGaussian(make([]float64, d*d), make([]float64, d))
			for i := range d {
				f.affine.Precision[i*d+i] = 1
			}
			s.Step(z, f, silent{})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		each := float64(after.HeapAlloc-before.HeapAlloc) / float64(len(s.flows))
		if all := each * float64(s.most); len(s.flows) != flows || all > 350e6 {
			t.Errorf("%d dimensions: %d flows of %.0f bytes, %.0f MB", d, s.most, each, all/1e6)
		}
		runtime.KeepAlive(s)
	}
}
