package integrators

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// generator is plain noise for sampled chains.
type generator struct {
	rng *rand.Rand
	xi  []float64
}

func newGenerator(seed uint64, dim int) *generator {
	return &generator{rand.New(rand.NewPCG(seed, 0)), make([]float64, dim)}
}

func (n *generator) Normal(dst []float64) {
	for i := range dst {
		dst[i] = n.rng.NormFloat64()
	}
}

func (n *generator) Update(u *Update) {
	n.Normal(n.xi)
	u.Apply(n.xi)
}

// Frozen before its first step sghmc is leapfrog, to the last bit, and so is
// sghmc-adaptive.
func TestFrozenIsLeapfrog(t *testing.T) {
	for _, name := range []string{"sghmc", "sghmc-adaptive"} {
		for _, p := range targets()[1:] {
			a, b := p.newAt(t, lookup(t, name), 0.1, 1), p.newAt(t, lookup(t, "leapfrog"), 0.1, 1)
			x, y := NewState(3), NewState(3)
			n, m := newGenerator(1, 3), newGenerator(1, 3)
			for range 100 {
				a.Kernel.Step(x, p.force, n)
				b.Kernel.Step(y, p.force, m)
			}
			for i := range 3 {
				if x.Theta[i] != y.Theta[i] || x.R[i] != y.R[i] {
					t.Errorf("%s, %s: state %v, leapfrog's %v", name, p.name, x, y)
					break
				}
			}
		}
	}
}

// The injected noise and that of the gradient, h²V̂, add up to 2Ch; where V̂ is
// too large for that, nothing is injected.
func TestSGHMCNoiseIsCorrected(t *testing.T) {
	const h, c = 0.1, 2.0
	in, err := lookup(t, "sghmc").New(3, Params{Step: h, Friction: c})
	if err != nil {
		t.Fatal(err)
	}
	s := in.Kernel.(VarianceCorrected)
	variance := []float64{0, 25, 1000}
	s.SetGradientVariance(variance)
	cov := probe(in, newGaussian(make([]float64, 9), make([]float64, 3)), 3).noiseCov()
	for i, v := range variance {
		want := max(0, 2*c*h-h*h*v)
		if got := cov.At(3+i, 3+i); math.Abs(got-want) > 1e-15 {
			t.Errorf("V̂ = %v: noise variance %v, want %v", v, got, want)
		}
		if got := s.GradientVariance()[i]; got != v {
			t.Errorf("V̂ is %v after it was set to %v", got, v)
		}
	}
}

// shifted is a target whose batches differ by their shift, ±σ_i: the scaled
// gradient has the variance σ_i² at every θ.
type shifted struct {
	gaussian
	sign, sigma []float64
}

func (f shifted) Gradient(g, theta []float64) {
	f.gaussian.Gradient(g, theta)
	for i := range g {
		g[i] += f.sign[0] * f.sigma[i]
	}
}

func TestSGHMCEstimatesTheBatchVariance(t *testing.T) {
	p := targets()[1]
	const h = 0.02
	f := shifted{p.force, []float64{1}, []float64{3, 6, 0}}
	in, err := lookup(t, "sghmc").New(3, Params{Step: h, Friction: p.c})
	if err != nil {
		t.Fatal(err)
	}
	s, z, n := in.Kernel.(VarianceCorrected), NewState(3), newGenerator(3, 3)
	for k := range 20000 {
		f.sign[0] = float64(2*n.rng.IntN(2) - 1)
		s.Step(z, f, n)
		// A short burn-in suffices, since the first window is a plain mean: its relative standard
		// deviation is 6 % at 300: 0.3 is five of these, once in a million seeds.
		if early := s.GradientVariance(); k == 300 && math.Abs(early[0]/9-1) > 0.3 {
			t.Errorf("V̂ is %.3f after %d steps, want 9", early[0], k)
		}
	}
	v := s.GradientVariance()
	for i, want := range []float64{9, 36} {
		// Half squared differences are 0 or 2σ², each half the time: over the
		// window of 1000 the relative standard deviation is √(1/2000) = 2.2 %,
		// a little more by their correlation. Five of these are 12 %: one of two
		// coordinates is further off once in a million seeds.
		if math.Abs(v[i]/want-1) > 0.12 {
			t.Errorf("V̂ of coordinate %d is %.3f, want %v", i, v[i], want)
		}
	}
	// Without batch noise V̂ is what ∇U moves in a step, ½h²·E(∇²U r)² ~ h²; its
	// own variance along the chain would be P₃₃ = 0.7.
	if v[2] > h*h {
		t.Errorf("V̂ of a coordinate without batch noise is %.2g, want at most h² = %.2g", v[2], h*h)
	}
	// In random orders of two batches half of the neighbours are different for sure, so that the
	// standard deviation is 1.1 %: 6 % are more than five of these, once in 10 million seeds.
	for k := range 20000 {
		f.sign[0] = -f.sign[0]
		if k%2 == 0 {
			f.sign[0] = float64(2*n.rng.IntN(2) - 1)
		}
		s.Step(z, f, n)
	}
	if v := s.GradientVariance(); math.Abs(v[0]/(1.5*9)-1) > 0.06 {
		t.Errorf("V̂ is %.3f in random orders of two batches, want (K + 1)/K·9", v[0])
	}
	v = slices.Clone(s.GradientVariance())
	s.Freeze()
	s.Step(z, f, n)
	if got := s.GradientVariance(); got[0] != v[0] {
		t.Errorf("V̂ moved from %v to %v after Freeze", v[0], got[0])
	}
}

// The first steps of the recursions, worked out by hand for gradients 3, 1, 1
// from τ = g = V̂ = 1 with old values on the right-hand sides:
//
//	τ' = 2:   τ = 1 + 1 − 1 = 1,        g = 1/2 + 3/2 = 2,      V̂ = 1/2 + 9/2 = 5
//	τ' = 2:   τ = 1 + 1 − 4/5 = 1.2,    g = 2/2 + 1/2 = 1.5,    V̂ = 5/2 + 1/2 = 3
//	τ' = 2.2: τ = 2.2 − 2.25·1.2/3 = 1.3, g = 1.5 − .5/2.2,     V̂ = 3 − 2/2.2.
func TestAdaptiveRecursions(t *testing.T) {
	in, err := lookup(t, "sghmc-adaptive").New(1, Params{Step: 0.1, Friction: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := in.Kernel.(*sghmcAdaptive)
	r := []float64{1}
	want := []struct{ tau, avg, v float64 }{{1, 2, 5}, {1.2, 1.5, 3}, {1.3, 1.5 - 0.5/2.2, 3 - 2/2.2}}
	for i, g := range []float64{3, 1, 1} {
		s.observe([]float64{g}, r)
		checkRelative(t, "τ", s.tau[0], want[i].tau)
		checkRelative(t, "g", s.avg[0], want[i].avg)
		checkRelative(t, "V̂", s.v[0], want[i].v)
		checkRelative(t, "M⁻¹", in.InvMass()[0], 1/math.Sqrt(want[i].v))
		// r ~ N(0, M) stays so: r/√M is the same after every change of M.
		checkRelative(t, "r/√M", r[0]*math.Sqrt(in.InvMass()[0]), 1)
	}
}

// On a Gaussian target E g² is the diagonal of P, so M⁻¹ becomes P_ii^{−1/2};
// frozen, the chain samples the target with that mass.
func TestAdaptiveFindsTheScale(t *testing.T) {
	p := target{"scaled", newGaussian([]float64{400, 0, 0, 1}, []float64{20, 1}), nil, 1.1}
	in, err := lookup(t, "sghmc-adaptive").New(2, Params{Step: 0.05, Friction: p.c})
	if err != nil {
		t.Fatal(err)
	}
	z, n := NewState(2), newGenerator(5, 2)
	squares := make([]float64, 2)
	const burn, steps = 20000, 80000
	for step := range burn + steps {
		in.Kernel.Step(z, p.force, n)
		if step >= burn {
			for i, m := range in.InvMass() {
				squares[i] += z.R[i] * z.R[i] * m / steps
			}
		}
	}
	in.Freeze()
	mass := in.InvMass()
	for i, want := range []float64{1. / 20, 1} {
		// V̂ remembers at least half of the 5000 units of time. Energies of
		// the first coordinate forget at the rate C M⁻¹ = 0.055: some 140
		// independent squares or more, so that M⁻¹ = V̂^{−½} has a relative
		// standard deviation of half of √(2/140) at most, and of 4 % over seeds;
		// 0.2 is five of these, once in a million seeds.
		if math.Abs(mass[i]/want-1) > 0.2 {
			t.Errorf("M⁻¹ of coordinate %d is %.4f, want about %.4f", i, mass[i], want)
		}
		// While M moves the momentum stays N(0, M), up to the step's error,
		// h²P M⁻¹/4 = 1 %, and the sampling error of some 200 independent
		// squares, 10 %; 0.4 is four of these, which their mean, skew to the
		// right, exceeds at one seed in 10 000. The seed is pinned.
		if math.Abs(squares[i]-1) > 0.4 {
			t.Errorf("r²/M of coordinate %d is %.3f on average, want 1", i, squares[i])
		}
	}
	p.invMass = mass
	in.Kernel.Step(z, p.force, n)
	if got := in.InvMass(); got[0] != mass[0] || got[1] != mass[1] {
		t.Errorf("M⁻¹ moved from %v to %v after Freeze", mass, got)
	}
	if e := p.errors(t, in); e.mean > roundOff || e.theta > roundOff {
		t.Errorf("frozen chain errs by %.2g in the mean, %.2g in the θ covariance", e.mean, e.theta)
	}
}

// A coordinate that feels no force keeps a finite mass.
func TestAdaptiveWithoutForce(t *testing.T) {
	in, err := lookup(t, "sghmc-adaptive").New(1, Params{Step: 0.01, Friction: 1})
	if err != nil {
		t.Fatal(err)
	}
	free := newGaussian([]float64{0}, []float64{0})
	z, n := NewState(1), newGenerator(7, 1)
	for range 1000 {
		in.Kernel.Step(z, free, n)
	}
	if m := in.InvMass()[0]; math.IsNaN(m) || math.IsInf(m, 0) {
		t.Errorf("M⁻¹ is %v", m)
	}
}

// A start from a mass is the steady state of gradients whose squares are those of V̂ = M²; V̂ stays
// above 10⁻¹⁶, which is 10⁸ of M⁻¹.
func TestAdaptiveStartsFromTheMass(t *testing.T) {
	for _, c := range []struct{ invMass, gradient, want float64 }{
		{0.25, 4, 0.25}, {1e9, 0, 1e8},
	} {
		in, err := lookup(t, "sghmc-adaptive").New(1, Params{
			Step: 0.1, Friction: 1, InvMass: []float64{c.invMass},
		})
		if err != nil {
			t.Fatal(err)
		}
		in.Kernel.(*sghmcAdaptive).observe([]float64{c.gradient}, []float64{1})
		checkRelative(t, "M⁻¹", in.InvMass()[0], c.want)
	}
}

// Successive gradients that are alike set τ to 1: it is raised to half of the number of gradients,
// here 100, so that another one changes V̂ by a share of 1/51.
func TestAdaptiveRemembersHalfOfItsGradients(t *testing.T) {
	in, err := lookup(t, "sghmc-adaptive").New(1, Params{Step: 0.1, Friction: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, r := in.Kernel.(*sghmcAdaptive), []float64{1}
	for range 100 {
		s.observe([]float64{2}, r)
	}
	before := s.v[0]
	s.observe([]float64{0}, r)
	checkRelative(t, "V̂", s.v[0], before*50/51)
}

// The running variance remembers a thousand steps: of 2000 equal gradients nothing is left to see,
// and half the square of a jump by 2 counts one part in a thousand.
func TestTheRunningVarianceRemembersAThousandSteps(t *testing.T) {
	in, err := lookup(t, "sghmc").New(1, Params{Step: 0.1, Friction: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := in.Kernel.(*sghmc)
	for range 2000 {
		s.observe([]float64{5}, nil)
	}
	s.observe([]float64{7}, nil)
	checkRelative(t, "V̂", s.v[0], 0.002)
}
