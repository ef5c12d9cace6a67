package integrators

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// grid calls f at the nodes of a product of Gauss–Hermite rules for n standard
// normals, with their weights.
func grid(n, nodes int, f func(x []float64, w float64)) {
	at, weights := make([]float64, nodes), make([]float64, nodes)
	quad.Hermite{}.FixedLocations(at, weights, math.Inf(-1), math.Inf(1))
	x := make([]float64, n)
	var next func(i int, w float64)
	next = func(i int, w float64) {
		if i == n {
			f(x, w)
			return
		}
		for k, v := range at {
			x[i] = math.Sqrt2 * v
			next(i+1, w*weights[k]/math.SqrtPi)
		}
	}
	next(0, 1)
}

// thermalProblem is a Gaussian target of two positions with unequal masses.
type thermalProblem struct {
	method Integrator
	plant  func(in *Instance, h float64)
}

var thermalMasses = []float64{0.8, 1.3}

const thermalFriction, thermalMass = 1.2, 0.7

func (p thermalProblem) at(t *testing.T, h float64) *Instance {
	t.Helper()
	in, err := p.method.New(2, Params{Step: h, Friction: thermalFriction, InvMass: thermalMasses, Values: map[string]float64{massOfZeta: thermalMass}})
	if err != nil {
		t.Fatal(err)
	}
	if p.plant != nil {
		p.plant(in, h)
	}
	return in
}

// observed are functions of a state, none of them odd in all that the law of the
// chain is even in.
func observed(z *State) []float64 {
	a, b, r, s, zeta := z.Theta[0], z.Theta[1], z.R[0], z.R[1], z.Aux[0][0]
	return []float64{a * a, a * b, b * b, a * r, b * s, a * s, r * r, r * s, s * s, zeta, zeta * zeta, zeta * r * r, zeta * a * a, a * a * r * r}
}

// defect is the largest change of an expectation that a step makes of the target's
// law, N(0, P⁻¹) × N(0, M) × N(C, 1/(dμ)): of order h^{p+1} for a scheme of ergodic
// order p. Nodes are exact for the polynomials observed after a step of sgnht;
// the decay of badodab is as good as a polynomial of low degree where h is small.
func (p thermalProblem) defect(t *testing.T, h float64) float64 {
	// θ = (x, 0.4x + 0.9y) has the covariance (1, 0.4; 0.4, 0.97).
	f := newGaussian([]float64{0.97 / 0.81, -0.4 / 0.81, -0.4 / 0.81, 1 / 0.81}, []float64{0, 0})
	in := p.at(t, h)
	z, sum := in.NewState(), make([]float64, len(observed(in.NewState())))
	n := &replay{}
	grid(7, 4, func(x []float64, w float64) {
		z.Theta[0], z.Theta[1] = x[0], 0.4*x[0]+0.9*x[1]
		z.R[0], z.R[1] = x[2]/math.Sqrt(thermalMasses[0]), x[3]/math.Sqrt(thermalMasses[1])
		z.Aux[0][0] = thermalFriction + x[4]/math.Sqrt(2*thermalMass)
		for i, v := range observed(z) {
			sum[i] -= w * v
		}
		n.xi, n.at = x[5:], 0
		in.OuterSteps(z, func() Force { return f }, n, 1)
		for i, v := range observed(z) {
			sum[i] += w * v
		}
	})
	return slices.Max(absolute(sum))
}

// weakError is the largest difference, over what is observed, between one step
// and two of half the length from a fixed state: of order h^{p+1} for a scheme
// of weak order p.
func (p thermalProblem) weakError(t *testing.T, h float64) float64 {
	n := &replay{}
	after := func(h float64, steps int) []float64 {
		in := p.at(t, h)
		sum := make([]float64, len(observed(in.NewState())))
		grid(2*steps, 6, func(x []float64, w float64) {
			z := in.NewState()
			copy(z.Theta, []float64{0.7, -0.4})
			copy(z.R, []float64{-0.3, 1.1})
			z.Aux[0][0] = 1.9
			n.xi, n.at = x, 0
			for range steps {
				in.OuterSteps(z, func() Force { return quartic{} }, n, 1)
			}
			for i, v := range observed(z) {
				sum[i] += w * v
			}
		})
		return sum
	}
	one, two := after(h, 1), after(h/2, 2)
	for i := range one {
		one[i] -= two[i]
	}
	return slices.Max(absolute(one))
}

func absolute(x []float64) []float64 {
	for i, v := range x {
		x[i] = math.Abs(v)
	}
	return x
}

// slope is the order of an error over one step.
func slope(f func(t *testing.T, h float64) float64, t *testing.T) float64 {
	const h = 0.02
	a, b, c := f(t, h), f(t, h/2), f(t, h/4)
	return 2*math.Log2(b/c) - math.Log2(a/b) - 1
}

// ζ has the stationary law N(C, 1/(dμ)).
func TestThermostatsStateTheLawOfTheirVariable(t *testing.T) {
	p := Params{Friction: 1.5, Values: map[string]float64{massOfZeta: 0.25}}
	for _, name := range []string{"sgnht", "badodab"} {
		v := lookup(t, name).Variables(9, p)
		if len(v) != 1 || !slices.Equal(v[0].Start, []float64{1.5}) || v[0].Deviation != 1/1.5 {
			t.Errorf("%s: %+v, want a start at 1.5 and a deviation of 1/√(9/4)", name, v)
		}
	}
}

// A step of sgnht is that of Ding et al., algorithm 2, whose position follows the new momentum.
func TestSGNHTFollowsItsFormulas(t *testing.T) {
	const h, zeta = 0.1, 1.9
	theta, r, xi := []float64{0.7, -0.4}, []float64{0.3, 1.1}, ones{0.6, -0.9}
	in := thermalProblem{method: lookup(t, "sgnht")}.at(t, h)
	z := in.NewState()
	copy(z.Theta, theta)
	copy(z.R, r)
	z.Aux[0][0] = zeta
	f := newGaussian([]float64{2, 0.3, 0.3, 1.5}, []float64{1, -0.5})
	g := make([]float64, 2)
	f.Gradient(g, theta)
	in.OuterSteps(z, func() Force { return f }, xi, 1)
	heat := 0.0
	for i, m := range thermalMasses { // M⁻¹
		r := r[i] - h*g[i] - h*zeta*m*r[i] + math.Sqrt(2*thermalFriction*h)*xi[i]
		heat += m*m*r*r - m
		if at := theta[i] + h*m*r; math.Abs(z.R[i]-r) > 1e-14 || math.Abs(z.Theta[i]-at) > 1e-14 {
			t.Errorf("coordinate %d: θ = %v and r = %v, want %v and %v", i, z.Theta[i], z.R[i], at, r)
		}
	}
	if want := zeta + h*heat/(2*thermalMass); math.Abs(z.Aux[0][0]-want) > 1e-14 {
		t.Errorf("ζ = %v, want %v", z.Aux[0][0], want)
	}
}

func TestThermostatsHaveTheOrdersTheyClaim(t *testing.T) {
	for _, name := range []string{"sgnht", "badodab"} {
		p := thermalProblem{method: lookup(t, name)}
		if got := slope(p.weakError, t); !(math.Abs(got-p.method.Claims.WeakOrder) < slopeTolerance) {
			t.Errorf("%s: weak order %.3f, claim %v", name, got, p.method.Claims.WeakOrder)
		}
		if got := slope(p.defect, t); !(math.Abs(got-p.method.Claims.ErgodicOrder) < slopeTolerance) {
			t.Errorf("%s: ergodic order %.3f, claim %v", name, got, p.method.Claims.ErgodicOrder)
		}
	}
}

func TestBugsInThermostatsAreSeen(t *testing.T) {
	for _, tt := range []struct {
		name, method string
		plant        func(in *Instance, h float64)
		ergodic      float64
	}{
		{"noise scale off by √2", "sgnht", func(in *Instance, _ float64) { in.Kernel.(*sgnht).kick.update.S.All *= math.Sqrt2 }, 0},
		{"a thermostat without the number of positions", "sgnht", func(in *Instance, _ float64) { in.Kernel.(*sgnht).inertia /= 2 }, 0},
		{"the mass left out of the friction", "sgnht", func(in *Instance, _ float64) {
			in.Kernel.(*sgnht).mass = Coef{All: 1, Each: []float64{1, 1}}
		}, 0},
		{"ζ moved by half a step", "badodab", func(in *Instance, _ float64) { in.Kernel.(sequence)[1].(*bath).inertia *= 2 }, 0},
		{"noise without the friction's decay", "badodab", func(in *Instance, h float64) {
			b := in.Kernel.(sequence)[1].(*bath)
			in.Kernel.(sequence)[1] = stepFunc(func(z *State, n Noise) {
				b.heat(z, h/2)
				zeta := z.Aux[0][0]
				b.p.set(&b.u.P, func(m float64) float64 { return math.Exp(-zeta * m * h) })
				b.p.set(&b.u.S, func(float64) float64 { return math.Sqrt(2 * b.p.Friction * h) })
				update(&b.u, z, n)
				b.heat(z, h/2)
			})
		}, 1},
		{"ζ moved once, behind the friction", "badodab", func(in *Instance, h float64) {
			b := in.Kernel.(sequence)[1].(*bath)
			in.Kernel.(sequence)[1] = stepFunc(func(z *State, n Noise) {
				b.heat(z, -h/2)
				b.Step(z, nil, n)
				b.heat(z, h/2)
			})
		}, 1},
	} {
		p := thermalProblem{lookup(t, tt.method), tt.plant}
		// Wrong laws have larger next terms: far from the next integer, still.
		if got := slope(p.defect, t); !(math.Abs(got-tt.ergodic) < 0.2) {
			t.Errorf("%s with %s: ergodic order %.3f, want %v", tt.method, tt.name, got, tt.ergodic)
		}
	}
}

// stepFunc is a step as a function.
type stepFunc func(z *State, n Noise)

func (f stepFunc) Step(z *State, _ Force, n Noise) { f(z, n) }

// The noise of the exact friction at fixed ζ has a limit where ζ passes 0.
func TestThermostatAtZeroFriction(t *testing.T) {
	std := func(zeta float64) float64 {
		b := newBath(1, Params{Step: 0.1, Friction: 2, Values: map[string]float64{massOfZeta: math.Inf(1)}})
		z := &State{Theta: []float64{0}, R: []float64{0}, Aux: [][]float64{{zeta}}}
		b.Step(z, nil, ones{1})
		return z.R[0]
	}
	if at := std(0); at != math.Sqrt(0.4) || math.Abs(std(1e-9)-at) > 1e-9 || math.Abs(std(-1e-9)-at) > 1e-9 {
		t.Errorf("noise of deviation %v at ζ = 0, %v and %v beside: want √(2Ch) = %v", at, std(1e-9), std(-1e-9), math.Sqrt(0.4))
	}
}
