package certify

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/certify/spectral"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/noise"
)

// The plain solver below shares nothing with the engine but the problem: the
// steps are written as matrices by hand, orders of the batches are walked
// through one by one, and the moments' equation is one dense system in
// vec(second moment).

// plainStep is z⁺ = Az + c + noise of covariance q, z = (θ, r).
type plainStep struct{ a, c, q *mat.Dense }

// compose is first, then second.
func compose(first, second plainStep) plainStep {
	var a, c, q, t mat.Dense
	a.Mul(second.a, first.a)
	c.Mul(second.a, first.c)
	c.Add(&c, second.c)
	t.Mul(second.a, first.q)
	q.Mul(&t, second.a.T())
	q.Add(&q, second.q)
	return plainStep{&a, &c, &q}
}

// plainLinear is a step that moves θ or r by a linear function of the other.
func plainLinear(d int, set func(a, c, q *mat.Dense)) plainStep {
	s := plainStep{mat.NewDense(2*d, 2*d, nil), mat.NewDense(2*d, 1, nil), mat.NewDense(2*d, 2*d, nil)}
	for i := range 2 * d {
		s.a.Set(i, i, 1)
	}
	set(s.a, s.c, s.q)
	return s
}

func drift(d int, t float64) plainStep {
	return plainLinear(d, func(a, _, _ *mat.Dense) {
		for i := range d {
			a.Set(i, d+i, t)
		}
	})
}

// kick is r ← decay·r − t(Pθ − s) + noise of the given variance.
func kick(d int, f *affineForce, t, decay, variance float64) plainStep {
	return plainLinear(d, func(a, c, q *mat.Dense) {
		for i := range d {
			a.Set(d+i, d+i, decay)
			q.Set(d+i, d+i, variance)
			if f == nil {
				continue
			}
			c.Set(d+i, 0, t*f.Shift[i])
			for j := range d {
				a.Set(d+i, j, -t*f.Precision[i*d+j])
			}
		}
	})
}

// plainSchemes are steps by hand: what comes with every batch, and what comes
// after N_l of them.
var plainSchemes = map[string]struct {
	kernel func(d int, f *affineForce, h, c float64) plainStep
	after  func(d int, t, c float64) plainStep
}{
	"leapfrog": {kernel: func(d int, f *affineForce, h, c float64) plainStep {
		return compose(compose(drift(d, h/2), kick(d, f, h, 1-h*c, 2*c*h)), drift(d, h/2))
	}},
	"obabo": {kernel: func(d int, f *affineForce, h, c float64) plainStep {
		o := kick(d, nil, 0, math.Exp(-c*h/2), 1-math.Exp(-c*h))
		b := kick(d, f, h/2, 1, 0)
		return compose(compose(compose(compose(o, b), drift(d, h)), b), o)
	}},
	"lietrotter": {
		kernel: func(d int, f *affineForce, h, c float64) plainStep {
			return compose(compose(drift(d, h/2), kick(d, f, h, 1, 0)), drift(d, h/2))
		},
		after: func(d int, t, c float64) plainStep {
			return kick(d, nil, 0, math.Exp(-c*t), 1-math.Exp(-2*c*t))
		},
	},
}

// words are the equally likely sequences of batches in a period.
func words(scheme string, k, inner int) [][]int {
	var all [][]int
	var permute func(head, tail []int)
	permute = func(head, tail []int) {
		if len(tail) == 0 {
			all = append(all, append([]int(nil), head...))
		}
		for i := range tail {
			rest := append(append([]int(nil), tail[:i]...), tail[i+1:]...)
			permute(append(append([]int(nil), head...), tail[i]), rest)
		}
	}
	ordered := make([]int, k)
	for i := range ordered {
		ordered[i] = i
	}
	power := func(blocks [][]int, length int) [][]int {
		out := [][]int{nil}
		for len(out[0]) == 0 || len(out[0])%length != 0 {
			var next [][]int
			for _, w := range out {
				for _, b := range blocks {
					next = append(next, append(append([]int(nil), w...), b...))
				}
			}
			out = next
		}
		return out
	}
	switch scheme {
	case "full":
		return power([][]int{{-1}}, inner)
	case "replacement":
		var single [][]int
		for i := range k {
			single = append(single, []int{i})
		}
		return power(single, inner)
	case "cyclic":
		return power([][]int{ordered}, inner)
	}
	permute(nil, ordered)
	if scheme == "symmetric" {
		for i, w := range all {
			for j := range w {
				all[i] = append(all[i], w[len(w)-1-j])
			}
		}
	}
	return power(all, inner)
}

// plainErrors solves the stationary moments and compares with the target.
func plainErrors(t *testing.T, p *Problem, name, scheme string, h float64, inner int) []float64 {
	t.Helper()
	d := p.Dim()
	n := 2 * d
	by := plainSchemes[name]
	steps := []plainStep{by.kernel(d, gaussian.Mean(p.gaussian), h, p.Friction)}
	for _, f := range p.gaussian {
		steps = append(steps, by.kernel(d, f, h, p.Friction))
	}
	id := plainLinear(d, func(_, _, _ *mat.Dense) {})
	var aBar, cBar = mat.NewDense(n, n, nil), mat.NewDense(n, 1, nil)
	kron, right := mat.NewDense(n*n, n*n, nil), mat.NewDense(n*n, 1, nil)
	cross := mat.NewDense(n*n, n, nil)
	all := words(scheme, p.Batches(), inner)
	w := 1 / float64(len(all))
	add := func(dst *mat.Dense, m mat.Matrix) {
		var s mat.Dense
		s.Scale(w, m)
		dst.Add(dst, &s)
	}
	for _, word := range all {
		s := id
		for i, b := range word {
			s = compose(s, steps[b+1])
			if by.after != nil && (i+1)%inner == 0 {
				s = compose(s, by.after(d, h*float64(inner), p.Friction))
			}
		}
		add(aBar, s.a)
		add(cBar, s.c)
		var k, ac, ca, cc mat.Dense
		k.Kronecker(s.a, s.a) // of row-major vec
		add(kron, &k)
		ac.Kronecker(s.a, s.c)
		ca.Kronecker(s.c, s.a)
		ac.Add(&ac, &ca)
		add(cross, &ac)
		cc.Kronecker(s.c, s.c)
		add(right, &cc)
		add(right, mat.NewDense(n*n, 1, mat.DenseCopyOf(s.q).RawMatrix().Data))
	}
	mean := solvePlain(t, aBar, cBar)
	var cm mat.Dense
	cm.Mul(cross, mean)
	right.Add(right, &cm)
	second := solvePlain(t, kron, right)
	whole := gaussian.Mean(p.gaussian)
	var cov, centre mat.Dense
	if err := cov.Inverse(mat.NewDense(d, d, whole.Precision)); err != nil {
		t.Fatal(err)
	}
	centre.Mul(&cov, mat.NewDense(d, 1, whole.Shift))
	truth := mat.NewDense(n, n, nil)
	for i := range d {
		truth.Set(d+i, d+i, 1)
	}
	truth.Slice(0, d, 0, d).(*mat.Dense).Copy(&cov)
	out := make([]float64, 3)
	for i := range n {
		if i < d {
			out[0] = max(out[0], math.Abs(mean.At(i, 0)-centre.At(i, 0)))
		}
		for j := range n {
			e := math.Abs(second.At(i*n+j, 0) - mean.At(i, 0)*mean.At(j, 0) - truth.At(i, j))
			out[2] = max(out[2], e)
			if i < d && j < d {
				out[1] = max(out[1], e)
			}
		}
	}
	return out
}

// solvePlain solves x = ax + b.
func solvePlain(t *testing.T, a, b *mat.Dense) *mat.Dense {
	t.Helper()
	n, _ := a.Dims()
	var m, x mat.Dense
	m.Scale(-1, a)
	for i := range n {
		m.Set(i, i, 1+m.At(i, i))
	}
	if err := x.Solve(&m, b); err != nil {
		t.Fatal(err)
	}
	return &x
}

// threeDimensional is a problem like those that nobody tuned: 3 positions, 4
// batches.
func threeDimensional() *Problem {
	return &Problem{Name: "3-D", Kind: Gaussian, Friction: 1.7, gaussian: []*affineForce{
		newAffineForce([]float64{2, 0.3, -0.2, 0.3, 1.5, 0.1, -0.2, 0.1, 0.7}, []float64{1, -0.5, 0.2}),
		newAffineForce([]float64{0.8, 0, 0.1, 0, 2.5, 0.4, 0.1, 0.4, 1.2}, []float64{0, 0.7, -0.6}),
		newAffineForce([]float64{1.1, -0.4, 0, -0.4, 0.9, 0, 0, 0, 1.9}, []float64{-1.2, 0.1, 0.5}),
		newAffineForce([]float64{3, 0.5, 0.2, 0.5, 0.6, 0.1, 0.2, 0.1, 1}, []float64{0.4, 0.9, 0}),
	}}
}

func TestGaussianEngineAgreesWithOrdersOneByOne(t *testing.T) {
	// Both solvers are good to 1e-13; h = 0.2 is far from asymptotic, so that
	// every term of the errors counts.
	const tolerance = 1e-12
	for _, c := range []struct {
		integrator string
		inner      int
	}{{"leapfrog", 1}, {"obabo", 1}, {"lietrotter", 1}, {"lietrotter", 2}, {"lietrotter", 4}, {"lietrotter", 8}} {
		for _, s := range ExactSchemes() {
			if c.inner == 8 && s.Name != "full" && s.Name != "cyclic" && s.Name != "reshuffle" {
				continue // 4⁸ words
			}
			t.Run(fmt.Sprintf("%s/%s/nl=%d", c.integrator, s.Name, c.inner), func(t *testing.T) {
				for _, h := range []float64{0.2, 0.02} {
					p := threeDimensional()
					want := plainErrors(t, p, c.integrator, s.Name, h, c.inner)
					row := errorsOne(t, Options{Problem: p, Steps: []float64{h}, Inner: c.inner}, c.integrator, s.Name)
					for i, o := range row.Observables {
						if d := math.Abs(float64(o.Errors[0]) - want[i]); !(d <= tolerance) {
							t.Errorf("h = %v: %s: error %.17g, want %.17g", h, o.Name, o.Errors[0], want[i])
						}
					}
				}
			})
		}
	}
}

// certifyOne certifies one integrator under one scheme.
func certifyOne(t testing.TB, o Options, integrator, scheme string) Row {
	t.Helper()
	return rowOf(t, Run, o, integrator, scheme)
}

// errorsOne is certifyOne without orders.
func errorsOne(t testing.TB, o Options, integrator, scheme string) Row {
	t.Helper()
	return rowOf(t, Errors, o, integrator, scheme)
}

func rowOf(t testing.TB, find func(context.Context, Options) ([]Row, error), o Options, integrator, scheme string) Row {
	t.Helper()
	m, err := integrators.Builtin().Lookup(integrator)
	if err != nil {
		t.Fatal(err)
	}
	o.Integrators = []integrators.Integrator{m}
	if o.Schemes, err = Schemes(scheme); err != nil {
		t.Fatal(err)
	}
	rows, err := find(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

func (r Row) observable(t testing.TB, name string) Observable {
	t.Helper()
	for _, o := range r.Observables {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("no observable %q", name)
	return Observable{}
}

func TestEnginesAgreeOnScalarGaussian(t *testing.T) {
	for _, apart := range []float64{1, 0} { // without shifts all means are 0
		enginesAgree(t, apart)
	}
}

func enginesAgree(t *testing.T, apart float64) {
	scalar := &Problem{Kind: Scalar, Friction: 1.2, scalar: spectral.Mean{
		spectral.Oscillator{Stiffness: 0.7, Center: 0.9 * apart}, spectral.Oscillator{Stiffness: 1.6, Center: -0.4 * apart},
	}}
	gaussian := &Problem{Kind: Gaussian, Friction: 1.2, gaussian: []*affineForce{
		newAffineForce([]float64{0.7}, []float64{0.63 * apart}), newAffineForce([]float64{1.6}, []float64{-0.64 * apart}),
	}}
	// Polynomials of degree 2 are in every basis, so the Galerkin errors are
	// exact but for round-off, which the ladder's first rungs keep at 1e-12.
	const tolerance = 1e-10
	const h = 0.1
	rows := rowsOn(t, Errors, Options{Problem: scalar, Steps: []float64{h}})
	named := 4 // sgnht, badodab, psgld and midpoint are certified where they are named
	if got, want := len(All(scalar)), len(integrators.Builtin())-named; got != want {
		t.Errorf("%d integrators, want %d: all others, exact included, take linear forces", got, want)
	}
	if want := len(All(scalar)) * len(ExactSchemes()); *all && len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	for _, a := range rows {
		b := errorsOne(t, Options{Problem: gaussian, Steps: []float64{h}}, a.Integrator, a.Scheme)
		theta, r := secondMoments(t, gaussian, a.Integrator, a.Scheme, h)
		want := map[string]float64{"theta^1": float64(b.observable(t, "theta.mean").Errors[0]), "theta^2": theta, "r^2": r}
		if a.Integrator == "sgld" || apart != 0 {
			delete(want, "r^2") // r is no part of its state, or has a mean
		}
		for name, want := range want {
			if got := float64(a.observable(t, name).Errors[0]); !(math.Abs(got-want) <= tolerance) {
				t.Errorf("%s under %s: %s off by %.12g, Gaussian engine %.12g", a.Integrator, a.Scheme, name, got, want)
			}
		}
	}
}

// secondMoments are the errors of E θ², and of E r² where all means are 0, from the
// Gaussian engine's mean and covariance in coordinates in which the target is N(0, 1).
func secondMoments(t *testing.T, p *Problem, name, scheme string, h float64) (theta, r float64) {
	t.Helper()
	w := whiteningOf(t, p)
	chain, s := run{problem: p, integrator: methodOf(t, name), scheme: schemeOf(t, scheme), h: h}, schemeOf(t, scheme)
	at, err := chain.chain(t).(markov.Chain).Solve(t.Context(), s, false)
	if err != nil {
		t.Fatal(err)
	}
	mean, cov, sd := at.Observed[0].Signed[0], at.Observed[2].Signed, 1/w.u.At(0, 0)
	return math.Abs(sd*sd*(cov[0]+mean*mean) + 2*w.centre[0]*sd*mean), math.Abs(cov[3])
}

func TestEnginesAgreeWithSampledChains(t *testing.T) {
	// E θ², averaged over every step of 64 chains, within 4.5 standard errors
	// (from the spread of the chains): with 6 cases the false-alarm rate is
	// 6·2·Φ(−4.5) ≈ 4e-5 for normal means, about 1e-3 with 63 degrees of
	// freedom; the seed is pinned.
	const chains, burn, length, sigmas = 64, 100, 3000, 4.5
	p := scalarBuiltin()
	const h = 0.5 // errors of some 1e-2, several standard errors
	for _, name := range sampled([]string{"leapfrog", "baoab", "mt3"}, 2) {
		for _, scheme := range sampled([]string{"reshuffle", "replacement"}, 1) {
			row := errorsOne(t, Options{Problem: p, Steps: []float64{h}, EveryStep: true}, name, scheme)
			bias := float64(row.observable(t, "theta^2").Errors[0])
			truth := targetOf(p).expect(squared)
			var sum, sum2 float64
			for c := range chains {
				v := sampledSecondMoment(t, p, name, scheme, h, uint64(1000+c), burn, length)
				sum, sum2 = sum+v, sum2+v*v
			}
			mean := sum / chains
			se := math.Sqrt((sum2/chains - mean*mean) / (chains - 1))
			got := math.Abs(mean - truth)
			if math.Abs(got-bias) > sigmas*se {
				t.Errorf("%s under %s: sampled error of θ² is %.4g ± %.2g, engine says %.4g", name, scheme, got, se, bias)
			}
		}
	}
}

func sampledSecondMoment(t *testing.T, p *Problem, name, scheme string, h float64, key uint64, burn, length int) float64 {
	t.Helper()
	m, err := integrators.Builtin().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.New(1, integrators.Params{Step: h, Friction: p.Friction})
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := minibatch.Builtin().Lookup(scheme)
	if err != nil {
		t.Fatal(err)
	}
	batches := drawn.Index(p.Batches(), noise.New(key, noise.StreamBatches).Rand())
	noise := noise.New(key, noise.StreamNoise)
	z := integrators.NewState(1)
	next := func() integrators.Force {
		i := batches.Next()
		return p.scalar[i : i+1]
	}
	sum := 0.0
	for i := range burn + length {
		in.OuterSteps(z, next, noise, 1)
		if i >= burn {
			sum += z.Theta[0] * z.Theta[0]
		}
	}
	return sum / float64(length)
}
