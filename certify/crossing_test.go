package certify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"hambench/certify/spectral"
	"hambench/integrators"
)

// crossingOf has two batches of slopes s(1 ± 0.5).
func crossingOf(s float64) *Problem {
	return &Problem{Name: "test", Kind: Crossing, Friction: 1, valleys: []spectral.Valley{
		{Slope: s * 0.5, Precision: 1}, {Slope: s * 1.5, Precision: 1}}}
}

// predictedOf are the predictions of a row, by observable.
func predictedOf(t *testing.T, p *Problem, integrator, scheme string) map[string]Observable {
	t.Helper()
	m, err := integrators.Builtin().Lookup(integrator)
	if err != nil {
		t.Fatal(err)
	}
	schemes, err := Schemes(scheme)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Run(context.Background(), Options{Problem: p, Integrators: []integrators.Integrator{m}, Schemes: schemes})
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]Observable)
	for _, o := range rows[0].Observables {
		out[o.Name] = o
	}
	return out
}

// What random orders add at a minimum that is no point is a sum over the plane, here on a grid of its own: −cη² Cov(f, E|δ|²) over f's
// deviation, also of batches that pull apart and have priors of their own.
func TestCrossingPredictionsAreSumsOverThePlane(t *testing.T) {
	pulled := crossingOf(30)
	pulled.valleys = []spectral.Valley{{Slope: 10, Pull: 2, Precision: 0.5}, {Slope: 50, Pull: -1, Precision: 2}, {Slope: 30, Pull: -1, Precision: 1.1}}
	for _, c := range []struct {
		p          *Problem
		integrator string
		law        float64 // c of the law of orders
	}{
		{crossingOf(1), "leapfrog", 3. / 12},
		{crossingOf(1), "baoab", 3. / 24},
		{pulled, "quicsort", 3. / 12},
	} {
		var s, gamma float64
		for _, v := range c.p.valleys {
			s, gamma = s+v.Slope/float64(c.p.Batches()), gamma+v.Precision/float64(c.p.Batches())
		}
		fs := map[string]func(a, b float64) float64{
			"theta1^2":          func(a, _ float64) float64 { return a * a },
			"theta1^2*theta2^2": func(a, b float64) float64 { return a * a * b * b },
			"cos(theta1)":       func(a, _ float64) float64 { return math.Cos(a) },
		}
		found := predictedOf(t, c.p, c.integrator, "reshuffle")
		for name, f := range fs {
			var mass, ef, eff, ev, efv float64
			const end, n = 8, 500
			for i := range n {
				a := end * (2*(float64(i)+0.5)/n - 1)
				for j := range n {
					b := end * (2*(float64(j)+0.5)/n - 1)
					w := math.Exp(-(s*a*a*b*b + gamma*(a*a+b*b)) / 2)
					v := 0.0
					for _, u := range c.p.valleys {
						x, g := (u.Slope-s)*a*b-u.Pull, u.Precision-gamma
						da, db := x*b+g*a, x*a+g*b
						v += (da*da + db*db) / float64(c.p.Batches())
					}
					mass, ef, eff, ev, efv = mass+w, ef+w*f(a, b), eff+w*f(a, b)*f(a, b), ev+w*v, efv+w*v*f(a, b)
				}
			}
			ef, eff, ev, efv = ef/mass, eff/mass, ev/mass, efv/mass
			want := c.law * math.Abs(efv-ef*ev) / math.Sqrt(eff-ef*ef)
			got := found[name]
			if math.Abs(float64(got.Predicted)-want) > 1e-6*want || got.PredictedOrder != 2 || got.Verdict != Alone {
				t.Errorf("%s on %v, %s: predicted %v h^%d (%s), want %v", c.integrator, c.p.valleys, name, got.Predicted, got.PredictedOrder, got.Verdict, want)
			}
			if partial := c.integrator != "quicsort"; (got.Reason == batchesAlone) != partial || !partial && got.Reason != "" {
				t.Errorf("%s: reason %q", c.integrator, got.Reason)
			}
		}
	}
}

// Order two survives a minimum that is no point, with the constant that is predicted: on a crossing of two mild valleys the errors of a chain under
// random orders less those with all data are c h² to the predicted c. The stationary laws here are of matrices in polynomials of both positions and
// momenta that share no code with the engines; two steps take away the next power.
func TestRandomOrdersAddWhatIsPredictedAtACrossing(t *testing.T) {
	p := crossingOf(1)
	b := newPlane(1, 6)
	for _, integrator := range []string{"leapfrog", "baoab"} {
		want := predictedOf(t, p, integrator, "reshuffle")
		for name, f := range map[string]func(a, b float64) float64{
			"theta1^2":          func(a, _ float64) float64 { return a * a },
			"theta1^2*theta2^2": func(a, b float64) float64 { return a * a * b * b },
		} {
			of, sd := b.expand(f)
			var at []float64
			for _, h := range []float64{0.02, 0.01} {
				at = append(at, -b.added(integrator, p, h, of)/sd/(h*h)/float64(want[name].Predicted))
			}
			if got := 2*at[1] - at[0]; math.Abs(got-1) > 0.01 {
				t.Errorf("%s, %s: %.4f of the prediction as h falls (%.4f at h = 0.02, 0.01)", integrator, name, got, at)
			}
		}
	}
}

// plane is a basis of polynomials of (a, b), orthonormal under the target of slope s and precision 1, times Hermite polynomials of their momenta, of
// a total degree, even under a change of sign of either position with its momentum; with a quadrature rule.
type plane struct {
	s        float64
	degree   int
	powers   [][2]int // of the polynomials of the positions
	inverse  *mat.TriDense
	elements [][3]int // polynomial of the positions, degrees in the momenta
	a, b, w  []float64
	r, wr    []float64
	kicks    map[[2]float64]*mat.Dense // by slope and length
}

func newPlane(s float64, degree int) *plane {
	p := &plane{s: s, degree: degree, kicks: make(map[[2]float64]*mat.Dense)}
	// Gauss's rule for normals; a by a trapezoidal sum, and by symmetry only a, b > 0.
	const na = 40
	p.r, p.wr = make([]float64, 10), make([]float64, 10)
	quad.Hermite{}.FixedLocations(p.r, p.wr, math.Inf(-1), math.Inf(1)) // of exp(−x²)
	for i := range p.r {
		p.r[i], p.wr[i] = p.r[i]*math.Sqrt2, p.wr[i]/math.Sqrt(math.Pi)
	}
	end, mass := math.Asinh(math.Sqrt(80*s)), 0.0
	for i := range na / 2 {
		sinh := math.Sinh(end * (2*float64(i) + 1) / na)
		for j, x := range p.r {
			if a, w := sinh/math.Sqrt(s), math.Exp(-sinh*sinh/(2*s))*p.wr[j]; x > 0 {
				p.a, p.b, p.w, mass = append(p.a, a), append(p.b, x/math.Sqrt(s*a*a+1)), append(p.w, w), mass+w
			}
		}
	}
	for i := range p.w {
		p.w[i] /= mass
	}
	for total := range degree + 1 {
		for i := range total + 1 {
			p.powers = append(p.powers, [2]int{i, total - i})
		}
	}
	// Cholesky's factor of the Gram matrix of Hermite products is the change of basis.
	gram := mat.NewSymDense(len(p.powers), nil)
	raw := make([][]float64, len(p.w))
	for n := range p.w {
		raw[n] = p.raw(p.a[n], p.b[n])
	}
	for i, pi := range p.powers {
		for j := i; j < len(p.powers); j++ {
			if pj := p.powers[j]; (pi[0]+pj[0])%2+(pi[1]+pj[1])%2 == 0 {
				sum := 0.0
				for n, w := range p.w {
					sum += w * raw[n][i] * raw[n][j]
				}
				gram.SetSym(i, j, sum)
			}
		}
	}
	var c mat.Cholesky
	if !c.Factorize(gram) {
		panic("the Gram matrix is not definite")
	}
	var lower mat.TriDense
	c.LTo(&lower)
	p.inverse = mat.NewTriDense(len(p.powers), mat.Lower, nil)
	if err := p.inverse.InverseTri(&lower); err != nil {
		panic(err)
	}
	for k, at := range p.powers {
		for m := 0; at[0]+at[1]+m <= degree; m++ {
			for n := 0; at[0]+at[1]+m+n <= degree; n++ {
				if (at[0]+m)%2 == 0 && (at[1]+n)%2 == 0 {
					p.elements = append(p.elements, [3]int{k, m, n})
				}
			}
		}
	}
	return p
}

// hermiteAt are the normalised Hermite polynomials at x.
func hermiteAt(degree int, x float64) []float64 {
	h := []float64{1, x}
	for k := 1; k < degree; k++ {
		h = append(h, (x*h[k]-math.Sqrt(float64(k))*h[k-1])/math.Sqrt(float64(k+1)))
	}
	return h
}

func (p *plane) raw(a, b float64) []float64 {
	ha, hb := hermiteAt(p.degree, a), hermiteAt(p.degree, b)
	out := make([]float64, len(p.powers))
	for i, at := range p.powers {
		out[i] = ha[at[0]] * hb[at[1]]
	}
	return out
}

// at are the elements at a point.
func (p *plane) at(a, b, ra, rb float64) []float64 {
	q, raw := make([]float64, len(p.powers)), p.raw(a, b)
	for i := range q {
		q[i] = floats.Dot(p.inverse.RawTriangular().Data[i*len(q):i*len(q)+i+1], raw[:i+1])
	}
	ha, hb := hermiteAt(p.degree, ra), hermiteAt(p.degree, rb)
	out := make([]float64, len(p.elements))
	for i, e := range p.elements {
		out[i] = q[e[0]] * ha[e[1]] * hb[e[2]]
	}
	return out
}

// expand are the coefficients of a function of the positions, and its deviation.
func (p *plane) expand(f func(a, b float64) float64) (of []float64, sd float64) {
	of = make([]float64, len(p.elements))
	var first, second float64
	for n, w := range p.w {
		v := f(p.a[n], p.b[n])
		first, second = first+w*v, second+w*v*v
		for i, x := range p.at(p.a[n], p.b[n], 0, 0) {
			if p.elements[i][1]+p.elements[i][2] == 0 {
				of[i] += w * v * x
			}
		}
	}
	return of, math.Sqrt(second - first*first)
}

// matrix is that of a map of the plane's phase space, by which laws as rows are multiplied.
func (p *plane) matrix(step func(a, b, ra, rb float64) (float64, float64, float64, float64)) *mat.Dense {
	n, nr := len(p.elements), len(p.r)*len(p.r)
	m := mat.NewDense(n, n, nil)
	left, right := mat.NewDense(nr, n, nil), mat.NewDense(nr, n, nil)
	for i, w := range p.w {
		if w < 1e-14 {
			continue
		}
		for j := range nr {
			ra, rb := p.r[j/len(p.r)], p.r[j%len(p.r)]
			weight := w * p.wr[j/len(p.r)] * p.wr[j%len(p.r)]
			from := p.at(p.a[i], p.b[i], ra, rb)
			for k, v := range from {
				left.Set(j, k, weight*v)
			}
			right.SetRow(j, p.at(step(p.a[i], p.b[i], ra, rb)))
		}
		var add mat.Dense
		add.Mul(left.T(), right)
		m.Add(m, &add)
	}
	return m
}

// added is what random orders of two batches add to the mean of an observable.
func (p *plane) added(integrator string, of *Problem, h float64, observable []float64) float64 {
	n := len(p.elements)
	word := map[string]string{"leapfrog": "AKOA", "baoab": "kAOAk"}[integrator]
	drift := p.matrix(func(a, b, ra, rb float64) (float64, float64, float64, float64) {
		return a + h/2*ra, b + h/2*rb, ra, rb
	})
	friction := mat.NewDense(n, n, nil)
	for i, e := range p.elements {
		friction.Set(i, i, math.Exp(-of.Friction*h*float64(e[1]+e[2])))
	}
	slopes := []float64{of.valleys[0].Slope, of.valleys[1].Slope, p.s}
	var steps []*mat.Dense
	for _, s := range slopes {
		by := h
		if word[0] == 'k' {
			by = h / 2
		}
		kick := p.kicks[[2]float64{s, by}]
		if kick == nil {
			kick = p.matrix(func(a, b, ra, rb float64) (float64, float64, float64, float64) {
				return a, b, ra - by*(s*a*b*b+a), rb - by*(s*a*a*b+b)
			})
			p.kicks[[2]float64{s, by}] = kick
		}
		step := mat.NewDense(n, n, nil)
		for i := range n {
			step.Set(i, i, 1)
		}
		for _, c := range strings.ToUpper(word) {
			var next mat.Dense
			next.Mul(step, map[rune]*mat.Dense{'A': drift, 'K': kick, 'O': friction}[c])
			step.Copy(&next)
		}
		steps = append(steps, step)
	}
	mean := func(period *mat.Dense) float64 {
		// x(I − P) = 0 with the constant's coefficient 1.
		left := mat.NewDense(n-1, n-1, nil)
		first := mat.NewVecDense(n-1, nil)
		for i := 1; i < n; i++ {
			first.SetVec(i-1, period.At(0, i))
			for j := 1; j < n; j++ {
				left.Set(i-1, j-1, -period.At(j, i))
			}
			left.Set(i-1, i-1, left.At(i-1, i-1)+1)
		}
		var x mat.VecDense
		if err := x.SolveVec(left, first); err != nil {
			panic(err)
		}
		sum := observable[0]
		for i := 1; i < n; i++ {
			sum += observable[i] * x.AtVec(i-1)
		}
		return sum
	}
	var one, other, both mat.Dense
	one.Mul(steps[0], steps[1])
	other.Mul(steps[1], steps[0])
	both.Add(&one, &other)
	both.Scale(0.5, &both)
	return mean(&both) - mean(steps[2])
}

// The constants of docs/theory.md.
func TestTheTableOfCrossings(t *testing.T) {
	page, err := os.ReadFile("../docs/theory.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []float64{1, 10, 100, 1000, 1e4, 1e6} {
		p := crossingProblem()
		for i := range p.valleys {
			p.valleys[i].Slope *= s / 1000
		}
		found := predictedOf(t, p, "quicsort", "reshuffle")
		line := fmt.Sprintf("| %.7g |", s)
		for _, name := range []string{"theta1^2", "theta1^2*theta2^2", "cos(theta1)"} {
			line += fmt.Sprintf(" %.2g |", float64(found[name].Predicted)/s)
		}
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/theory.md lacks the line %s", line)
		}
	}
}

// Of a crossing nothing else is known: what is asked for and cannot be had is refused with one line.
func TestCrossingRefusesWhatIsNotPredicted(t *testing.T) {
	full, err := Schemes("full")
	if err != nil {
		t.Fatal(err)
	}
	for what, o := range map[string]Options{
		"two positions in a potential that is not quadratic": {Schemes: full},
		"has predictions alone":                              {Stability: true},
		"one step of a crossing problem":                     {OneStep: true},
		"inverse mass for a crossing problem":                {InvMass: []float64{1, 2}},
	} {
		o.Problem = crossingProblem()
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	for text, want := range map[string]string{
		`{"kind": "crossing", "friction": 1, "batches": [{"slope": 0, "precision": 1}]}`:              "want the first two > 0 and the last 0",
		`{"kind": "crossing", "friction": 1, "batches": [{"slope": 1, "precision": 1, "pull": 1}]}`:   "want the first two > 0 and the last 0",
		`{"kind": "crossing", "friction": 1, "batches": [{"slope": 1, "precision": 1, "centre": 1}]}`: "centre",
	} {
		if _, err := ParseProblem("p", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// High energies grow where gradients grow faster than linearly and batches differ: of Uᵢ = sᵢθ⁴/4, by
// exact flows that span many periods, ln H grows by 0.128 an epoch in the mean, less 4CKη/3 by
// friction. The share of the potential energy at a random time is that of an oscillation θ = sin φ
// with the time element dφ/√(1 + sin² φ). The mean gain of 1600 chains has a standard error of
// 0.0047; four of them are allowed, which a right program exceeds at 6 of 100 000 seeds.
func TestHighEnergiesGrow(t *testing.T) {
	slopes := []float64{0.4, 0.8, 1.2, 1.6}
	over := func(f func(share float64) float64) float64 {
		return quad.Fixed(func(phi float64) float64 {
			x := math.Sin(phi) * math.Sin(phi)
			return f(x*x) / math.Sqrt(1+x)
		}, 0, math.Pi/2, 100, nil, 0)
	}
	period := over(func(float64) float64 { return 1 })
	var pairs float64 // the mean gain of a change to a batch that is drawn independently
	for _, a := range slopes {
		for _, b := range slopes {
			pairs += over(func(v float64) float64 { return math.Log1p((b/a - 1) * v) }) / period / 16
		}
	}
	want := 3*pairs*4/3 + pairs // within an epoch another one follows, and then any
	page, err := os.ReadFile("../docs/theory.md")
	if err != nil {
		t.Fatal(err)
	}
	if says := fmt.Sprintf("ln H grows by %.3f an epoch", want); !strings.Contains(string(page), says) {
		t.Errorf("docs/theory.md does not say %q", says)
	}
	const h, friction, epochs, chains = 0.01, 1.0, 10, 1600
	rng := rand.New(rand.NewPCG(32, 1))
	energy := func(x, r, slope float64) float64 { return r*r/2 + slope*x*x*x*x/4 }
	var gains []float64
	for range chains {
		x, r := 1e4*rng.Float64(), 0.
		var start float64
		for epoch := range 1 + epochs {
			if epoch == 1 { // from a turning point to a random phase
				start = math.Log(energy(x, r, 1))
			}
			for _, i := range rng.Perm(len(slopes)) {
				s := slopes[i]
				// Sixty steps of leapfrog a period, 7.42/√(s·amplitude²).
				n := math.Ceil(60 * h / 7.42 * math.Pow(4*s*energy(x, r, s), 0.25))
				step := h / n
				loss := math.Exp(-friction * step)
				for range int(n) {
					x += step / 2 * r
					r = loss * (r - step*s*x*x*x)
					x += step / 2 * r
				}
			}
		}
		gains = append(gains, (math.Log(energy(x, r, 1))-start)/epochs)
	}
	if got := stat.Mean(gains, nil) + 4*friction*4*h/3; math.Abs(got-want) > 0.019 {
		t.Errorf("ln H grows by %.3f an epoch, want %.3f", got, want)
	}
}
